# Golden lines: as a test, those that are stored; steps must not depend on the number of threads.
# scripts/same_bits.sh compares builds.
file(GLOB GOLDEN_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
add_executable(tribo_golden ${GOLDEN_SOURCES})
target_link_libraries(tribo_golden PRIVATE tribo_test_common)
add_test(NAME golden/lines COMMAND tribo_golden --check ${CMAKE_CURRENT_LIST_DIR}/lines.txt)
add_test(NAME golden/threads COMMAND tribo_golden 1 2 4)
set_tests_properties(golden/lines golden/threads PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS slow)
