# MuJoCo is a peer: its columns are there only where it is installed.
find_library(MUJOCO_LIBRARY NAMES mujoco)
add_executable(tribo-bench-load ${sources})
target_link_libraries(tribo-bench-load PRIVATE tribo_bench_common)
target_include_directories(tribo-bench-load PRIVATE ${PROJECT_SOURCE_DIR}/test)
if(MUJOCO_LIBRARY)
  target_compile_definitions(tribo-bench-load PRIVATE TB_BENCH_MUJOCO=1)
  target_link_libraries(tribo-bench-load PRIVATE ${MUJOCO_LIBRARY})
endif()
