# Calls to malloc are counted where the linker can put a counter between.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TRIBO_SANITIZE)
  target_compile_definitions(test_control_loop PRIVATE TB_WRAPS_MALLOC)
  target_link_options(test_control_loop PRIVATE
                      -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
endif()
