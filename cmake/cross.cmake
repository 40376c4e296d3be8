# Cross-compile with Debian's gcc for TRIBO_MACHINE (aarch64 or x86_64); tests run under qemu-user.
# TRIBO_SYSROOT is a folder with Debian's libraries for it, as scripts/cross.sh fills it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TRIBO_MACHINE})
set(CMAKE_LIBRARY_ARCHITECTURE ${TRIBO_MACHINE}-linux-gnu)
set(CMAKE_C_COMPILER ${TRIBO_MACHINE}-linux-gnu-gcc)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRIBO_MACHINE TRIBO_SYSROOT)
set(CMAKE_SYSROOT ${TRIBO_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${TRIBO_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Libraries of libraries (libxml2 needs ICU) are found in the sysroot as well.
set(triplet ${TRIBO_SYSROOT}/usr/lib/${TRIBO_MACHINE}-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${triplet} -Wl,-rpath-link,${TRIBO_SYSROOT}/lib/${TRIBO_MACHINE}-linux-gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TRIBO_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${triplet}/pkgconfig:${TRIBO_SYSROOT}/usr/share/pkgconfig)

# With all that the emulator has: the loops of wide registers run as well.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TRIBO_MACHINE};-cpu;max;-L;${TRIBO_SYSROOT})
