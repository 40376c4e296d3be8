# The bits of runs: as a test, they must not depend on the number of threads; scripts/same_bits.sh
# compares builds.
add_executable(tribo_hashes ${CMAKE_CURRENT_LIST_DIR}/hashes.c)
target_link_libraries(tribo_hashes PRIVATE tribo_test_flags)
add_test(NAME determinism/threads COMMAND tribo_hashes 1 2 4)
set_tests_properties(determinism/threads PROPERTIES TIMEOUT ${TEST_TIMEOUT})
