# Peers are optional: MuJoCo and libccd in C, FCL and Bullet through small C++ wrappers.
if(EXISTS ${folder}/main.c)
  add_executable(tribo-bench-collide ${sources})
  target_link_libraries(tribo-bench-collide PRIVATE tribo_bench_common)

  find_library(MUJOCO_LIBRARY NAMES mujoco)
  find_library(CCD_LIBRARY NAMES ccd)
  if(MUJOCO_LIBRARY)
    target_compile_definitions(tribo-bench-collide PRIVATE TB_BENCH_MUJOCO=1)
    target_link_libraries(tribo-bench-collide PRIVATE ${MUJOCO_LIBRARY})
  endif()
  if(CCD_LIBRARY)
    target_compile_definitions(tribo-bench-collide PRIVATE TB_BENCH_CCD=1)
    target_link_libraries(tribo-bench-collide PRIVATE ${CCD_LIBRARY})
  endif()

  tribo_bench_cxx_peers(FCL fcl BULLET bullet-float64)
endif()
