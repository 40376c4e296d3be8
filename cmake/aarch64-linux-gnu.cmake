# Cross-compile for 64-bit ARM with Debian's gcc-aarch64-linux-gnu; tests run under qemu-user.
# TRIBO_SYSROOT is a folder with Debian's arm64 libraries, as scripts/aarch64.sh fills it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TRIBO_SYSROOT)
set(CMAKE_SYSROOT ${TRIBO_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${TRIBO_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Libraries of libraries (libxml2 needs ICU) are found in the sysroot as well.
set(triplet ${TRIBO_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${triplet} -Wl,-rpath-link,${TRIBO_SYSROOT}/lib/aarch64-linux-gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TRIBO_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${triplet}/pkgconfig:${TRIBO_SYSROOT}/usr/share/pkgconfig)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;${TRIBO_SYSROOT})
