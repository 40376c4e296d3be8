# Calls to malloc, and of the medium's force, are counted where the linker can put a counter between.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TRIBO_SANITIZE)
  target_compile_definitions(test_step_allocations PRIVATE TB_WRAPS_MALLOC)
  target_link_options(test_step_allocations PRIVATE
                      -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
  target_compile_definitions(test_laws_soft PRIVATE TB_WRAPS_FLUID)
  target_link_options(test_laws_soft PRIVATE -Wl,--wrap=tb_fluid)
endif()

# Minutes under a sanitizer.
set_tests_properties(derivatives/robots PROPERTIES LABELS slow)

# The largest robots, under one law of each kind: a system of contacts, a cost, a closed form, springs.
foreach(law ncp soft comfree expo)
  add_test(NAME derivatives/robots_large_${law} COMMAND test_derivatives_robots)
  set_tests_properties(derivatives/robots_large_${law} PROPERTIES LABELS slow TIMEOUT 900
                       ENVIRONMENT "TRIBO_TEST_ROBOTS=large;TRIBO_TEST_FILTER=test_${law}")
endforeach()
