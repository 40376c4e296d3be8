# Minutes under a sanitizer.
set_tests_properties(soak/robots step/derivatives_robots PROPERTIES LABELS slow)
