# Minutes under a sanitizer.
set_tests_properties(soak/robots step/derivatives_robots PROPERTIES LABELS slow)

# All robots, the largest too: minutes.
add_test(NAME step/derivatives_robots_all COMMAND test_step_derivatives_robots)
set_tests_properties(step/derivatives_robots_all PROPERTIES LABELS slow TIMEOUT 1800
                     ENVIRONMENT TRIBO_TEST_ALL=1)
