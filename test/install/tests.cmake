# The README's example builds and runs against the installed package, by find_package and pkg-config.
add_test(NAME install/example COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh
         ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
set_tests_properties(install/example PROPERTIES LABELS install TIMEOUT 300)
