# The documented extension: its kinds and the sources that read the lists, linked before the library.
# Not optimised: these are many sources, compiled for these tests only.
tribo_extension_objects(tribo_extension_example ${PROJECT_SOURCE_DIR}/examples/extension)
target_compile_options(tribo_extension_example PRIVATE -O0)

# The tests of every line of the table of joints, also with the line of the extension.
add_executable(test_extension_joint_kinds dynamics/test_joint_kinds.c)
target_link_libraries(test_extension_joint_kinds PRIVATE tribo_test_common)
add_test(NAME extension/joint_kinds COMMAND test_extension_joint_kinds)
set_tests_properties(extension/joint_kinds PROPERTIES TIMEOUT ${TEST_TIMEOUT})

foreach(target test_extension_example test_extension_screw test_extension_joint_kinds)
  target_link_libraries(${target} PRIVATE tribo_extension_example)
  target_compile_definitions(${target} PRIVATE TB_EXAMPLES_DIR="${PROJECT_SOURCE_DIR}/examples")
endforeach()
