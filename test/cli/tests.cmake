# These start the command line.
foreach(target test_cli_files test_cli_interrupts test_cli_mistakes)
  add_dependencies(${target} tribo)
endforeach()
