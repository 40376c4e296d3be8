# Commands in the test's own process, so that it can change what a step says of itself.
file(GLOB CLI_UNDER_TEST CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c ${PROJECT_SOURCE_DIR}/cli/*/*.c ${PROJECT_SOURCE_DIR}/page/*.c)
list(FILTER CLI_UNDER_TEST EXCLUDE REGEX "/cli/main\\.c$")
target_sources(test_cli_warnings PRIVATE ${CLI_UNDER_TEST})
target_include_directories(test_cli_warnings PRIVATE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/page)
target_compile_definitions(test_cli_warnings PRIVATE
  TRIBO_SCENES_FROM_PROGRAM="${TRIBO_SCENES_FROM_PROGRAM}")
target_link_options(test_cli_warnings PRIVATE -Wl,--wrap=tb_step)

# These start the command line.
foreach(target test_cli_compare test_cli_convert test_cli_drive test_cli_files test_cli_interrupts test_cli_mistakes)
  add_dependencies(${target} tribo)
endforeach()
