# Allocations fail one after the other: the test counts and refuses them at the linker.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_compile_definitions(test_model_memory PRIVATE TB_WRAPS_MALLOC)
  target_link_options(test_model_memory PRIVATE
                      -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endif()
