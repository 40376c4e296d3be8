# Headers, both libraries, the command line, find_package(tribo) and pkg-config.
include(CMakePackageConfigHelpers)
install(DIRECTORY include/tribo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Two sets: only what links the static library needs the libraries behind it.
install(TARGETS tribo_shared EXPORT triboTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tribo_static EXPORT triboStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tribo)
  install(TARGETS tribo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tribo/scenes)
foreach(set triboTargets triboStaticTargets)
  install(EXPORT ${set} NAMESPACE tribo:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
endforeach()
configure_package_config_file(cmake/triboConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/triboConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/triboConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/triboConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/triboConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
# The prefix is found from where the file lies, so that an install may be moved.
file(RELATIVE_PATH TRIBO_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
# What `pkg-config --static` adds: the names of the libraries that the static one was built with. As
# Requires.private libxml2 would have to be installed with its headers for programs that link the
# shared library, too.
set(TRIBO_PC_PRIVATE "-lxml2")
foreach(library ${TRIBO_OPTION_LIBRARIES})
  get_filename_component(name ${library} NAME_WE)
  string(REGEX REPLACE "^lib" "-l" name ${name})
  string(APPEND TRIBO_PC_PRIVATE " ${name}")
endforeach()
string(APPEND TRIBO_PC_PRIVATE " -lm -lpthread")
foreach(library ${CMAKE_DL_LIBS})
  string(APPEND TRIBO_PC_PRIVATE " -l${library}")
endforeach()
string(REGEX REPLACE "/$" "" TRIBO_PC_TO_PREFIX "${TRIBO_PC_TO_PREFIX}")
configure_file(cmake/tribo.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tribo.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tribo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
