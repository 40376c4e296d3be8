# Compares with the newest MuJoCo, robot by robot.
set_tests_properties(dynamics/newest PROPERTIES FIXTURES_REQUIRED mujoco_wasm LABELS slow)
