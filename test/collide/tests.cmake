# The contract over more poses per pair than the plain tests take, about half a minute each. For a
# longer run start the executable with TRIBO_TEST_POSES set: 200000 is a million poses per pair, two
# minutes for primitives and six for convex; TRIBO_TEST_SEED gives other poses.
add_test(NAME collide/primitives_soak COMMAND test_collide_primitives)
set_tests_properties(collide/primitives_soak PROPERTIES LABELS slow TIMEOUT 600
                     ENVIRONMENT TRIBO_TEST_POSES=50000)
add_test(NAME collide/convex_soak COMMAND test_collide_convex)
set_tests_properties(collide/convex_soak PROPERTIES LABELS slow TIMEOUT 600
                     ENVIRONMENT "TRIBO_TEST_POSES=16000;TRIBO_TEST_SEED=1")
