# The documented extension: its kinds and the sources that read the lists, linked before the library.
tribo_extension_objects(tribo_extension_example ${PROJECT_SOURCE_DIR}/examples/extension)
target_link_libraries(test_extension_example PRIVATE tribo_extension_example)
target_compile_definitions(test_extension_example PRIVATE
                           TB_EXAMPLES_DIR="${PROJECT_SOURCE_DIR}/examples")
