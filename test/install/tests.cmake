# Installed and inside other projects: tests that build programs the way a user does.
foreach(script examples package subproject commands)
  add_test(NAME install/${script} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/install/${script}.sh
           ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER}
           "${CMAKE_C_COMPILER_LAUNCHER}")
  set_tests_properties(install/${script} PROPERTIES LABELS install TIMEOUT 1500)
endforeach()

# What commands.sh needs to look at the pictures.
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  add_executable(picture ${CMAKE_CURRENT_SOURCE_DIR}/install/picture.c)
  target_link_libraries(picture PRIVATE tribo_flags ZLIB::ZLIB)
endif()
