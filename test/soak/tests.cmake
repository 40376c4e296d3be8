# Minutes under a sanitizer.
set_tests_properties(soak/robots PROPERTIES LABELS slow)
