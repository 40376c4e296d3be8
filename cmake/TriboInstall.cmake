# Headers, both libraries, the command line, find_package(tribo) and pkg-config.
include(CMakePackageConfigHelpers)
install(DIRECTORY include/tribo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tribo_static tribo_shared EXPORT triboTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tribo)
  install(TARGETS tribo RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tribo/scenes)
install(EXPORT triboTargets NAMESPACE tribo:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
configure_package_config_file(cmake/triboConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/triboConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/triboConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/triboConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/triboConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tribo)
# The prefix is found from where the file lies, so that an install may be moved.
file(RELATIVE_PATH TRIBO_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/tribo.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tribo.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tribo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
