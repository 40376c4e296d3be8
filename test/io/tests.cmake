# Tests of loading that compare with the newest MuJoCo wait until it is fetched.
set_tests_properties(io/mesh_newest io/urdf_newest PROPERTIES FIXTURES_REQUIRED mujoco_wasm)

# What is refused as too old.
add_library(old_hdf5 MODULE ${CMAKE_CURRENT_SOURCE_DIR}/io/old_hdf5.c)
target_include_directories(old_hdf5 PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(old_hdf5 PRIVATE tribo_flags)
target_compile_definitions(test_io_hdf5 PRIVATE OLD_HDF5="$<TARGET_FILE:old_hdf5>")
add_dependencies(test_io_hdf5 old_hdf5)
