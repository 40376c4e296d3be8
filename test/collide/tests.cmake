# The contract over a million poses per pair: ctest -L slow
add_test(NAME collide/primitives-soak COMMAND test_collide_primitives)
set_tests_properties(collide/primitives-soak PROPERTIES LABELS slow TIMEOUT 3600
                     ENVIRONMENT TRIBO_TEST_POSES=200000)
add_test(NAME collide/convex-soak COMMAND test_collide_convex)
set_tests_properties(collide/convex-soak PROPERTIES LABELS slow TIMEOUT 3600
                     ENVIRONMENT "TRIBO_TEST_POSES=200000;TRIBO_TEST_SEED=1")
