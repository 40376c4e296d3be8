# Siconos' headers lie below its own folder and include those of CXSparse.
if(TARGET test_solvers_velocity.siconos)
  find_path(SICONOS_NUMERICS_INCLUDE NAMES FrictionContactProblem.h
            PATH_SUFFIXES siconos/numerics siconos)
  find_path(SICONOS_CONFIG_INCLUDE NAMES SiconosConfig.h PATH_SUFFIXES siconos)
  find_path(SICONOS_SPARSE_INCLUDE NAMES cs.h PATH_SUFFIXES suitesparse)
  find_library(SICONOS_SPARSE_LIBRARY NAMES cxsparse)
  target_include_directories(test_solvers_velocity.siconos SYSTEM PRIVATE
    ${SICONOS_NUMERICS_INCLUDE} ${SICONOS_CONFIG_INCLUDE} ${SICONOS_SPARSE_INCLUDE})
  if(SICONOS_SPARSE_LIBRARY)
    target_link_libraries(test_solvers_velocity.siconos PRIVATE ${SICONOS_SPARSE_LIBRARY})
  endif()
endif()

# Every solver on every problem of the collection.
if(TARGET test_solvers_corpus)
  add_test(NAME solvers/corpus_whole COMMAND test_solvers_corpus whole)
  set_tests_properties(solvers/corpus_whole PROPERTIES LABELS slow TIMEOUT 900)
endif()
