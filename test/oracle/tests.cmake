# Fetch the newest MuJoCo (WebAssembly) once, before the tests that compare with it. Where it cannot
# be fetched this entry is skipped, and those tests skip with a message.
add_test(NAME oracle/setup COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/setup.sh)
set_tests_properties(oracle/setup PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
                     FIXTURES_SETUP mujoco_wasm)

# The tests that use it.
set_tests_properties(oracle/oracle_reader PROPERTIES FIXTURES_REQUIRED mujoco_wasm)
set_tests_properties(oracle/cases PROPERTIES FIXTURES_REQUIRED mujoco_wasm)
set_tests_properties(io/oracle_load PROPERTIES FIXTURES_REQUIRED mujoco_wasm TIMEOUT 900)
# What one of them asked of MuJoCo the other finds.
set_tests_properties(dynamics/newest PROPERTIES DEPENDS io/oracle_load)
set_tests_properties(step/newest PROPERTIES FIXTURES_REQUIRED mujoco_wasm TIMEOUT 900)
