# Tests of loading that compare with the newest MuJoCo wait until it is fetched.
set_tests_properties(io/mesh_newest io/urdf_newest PROPERTIES FIXTURES_REQUIRED mujoco_wasm)
