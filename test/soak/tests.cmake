# Minutes under a sanitizer.
set_tests_properties(soak/robots step/derivatives_robots PROPERTIES LABELS slow)

# The largest robots, under one law of each kind: a system of contacts, a cost, a closed form, springs.
foreach(law ncp soft comfree expo)
  add_test(NAME step/derivatives_robots_large_${law} COMMAND test_step_derivatives_robots)
  set_tests_properties(step/derivatives_robots_large_${law} PROPERTIES LABELS slow TIMEOUT 900
                       ENVIRONMENT "TRIBO_TEST_ROBOTS=large;TRIBO_TEST_FILTER=test_${law}")
endforeach()
