# Siconos is a peer: its columns are there only where it is installed.
if(EXISTS ${folder}/main.c)
  find_library(SICONOS_NUMERICS_LIBRARY NAMES siconos_numerics)
  find_path(SICONOS_NUMERICS_INCLUDE NAMES FrictionContactProblem.h
            PATH_SUFFIXES siconos/numerics siconos)
  find_path(SICONOS_CONFIG_INCLUDE NAMES SiconosConfig.h PATH_SUFFIXES siconos)
  find_path(SICONOS_SPARSE_INCLUDE NAMES cs.h PATH_SUFFIXES suitesparse)
  find_library(SICONOS_SPARSE_LIBRARY NAMES cxsparse)
  # The random problems are the tests'.
  add_executable(tribo-bench-fclib ${sources}
    ${PROJECT_SOURCE_DIR}/test/common/hard_problems.c ${PROJECT_SOURCE_DIR}/test/common/hard_scenes.c)
  target_include_directories(tribo-bench-fclib PRIVATE ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(tribo-bench-fclib PRIVATE tribo_bench_common)
  if(SICONOS_NUMERICS_LIBRARY AND SICONOS_NUMERICS_INCLUDE AND SICONOS_SPARSE_INCLUDE)
    target_compile_definitions(tribo-bench-fclib PRIVATE TB_BENCH_SICONOS=1)
    target_include_directories(tribo-bench-fclib SYSTEM PRIVATE ${SICONOS_NUMERICS_INCLUDE}
                               ${SICONOS_CONFIG_INCLUDE} ${SICONOS_SPARSE_INCLUDE})
    target_link_libraries(tribo-bench-fclib PRIVATE ${SICONOS_NUMERICS_LIBRARY})
    if(SICONOS_SPARSE_LIBRARY)
      target_link_libraries(tribo-bench-fclib PRIVATE ${SICONOS_SPARSE_LIBRARY})
    endif()
  endif()
endif()
