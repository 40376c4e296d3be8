# A library of its own in which mechanisms can be switched off; built by `make ablation` alone.
add_library(tribo_ablation STATIC EXCLUDE_FROM_ALL ${TRIBO_SOURCES})
target_link_libraries(tribo_ablation PUBLIC tribo_flags tribo_dependencies ${TRIBO_LINK_LIBRARIES})
target_include_directories(tribo_ablation PUBLIC ${PROJECT_SOURCE_DIR}/include
                           ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(tribo_ablation PUBLIC TB_ABLATION)
add_executable(tribo-bench-ablation EXCLUDE_FROM_ALL ${sources} ${BENCH_COMMON})
target_include_directories(tribo-bench-ablation PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
                           ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test)
target_compile_definitions(tribo-bench-ablation PRIVATE
  TB_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared" TB_SCENES_DIR="${PROJECT_SOURCE_DIR}/scenes")
target_link_libraries(tribo-bench-ablation PRIVATE tribo_ablation m)
set_target_properties(tribo-bench-ablation PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
