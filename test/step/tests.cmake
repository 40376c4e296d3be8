# Calls to malloc are counted where the linker can put a counter between.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TRIBO_SANITIZE)
  target_compile_definitions(test_step_allocations PRIVATE TB_WRAPS_MALLOC)
  target_link_options(test_step_allocations PRIVATE
                      -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endif()
