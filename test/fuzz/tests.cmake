# Every test/fuzz/fuzz_<name>.c is a fuzz target. It always runs over its corpus, which holds small
# seeds and every input that once failed. With TRIBO_FUZZ (clang) it is a libFuzzer program:
# scripts/fuzz.sh builds and runs these.
option(TRIBO_FUZZ "build the fuzz targets for libFuzzer; needs clang" OFF)
set(FUZZ_DIR ${CMAKE_CURRENT_LIST_DIR})
file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS ${FUZZ_DIR}/fuzz_*.c)
if(TRIBO_FUZZ)
  target_compile_options(tribo_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tribo_flags INTERFACE -fsanitize=address,undefined)
endif()
foreach(source ${FUZZ_SOURCES})
  get_filename_component(target ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${target})
  add_executable(${target} ${source} ${FUZZ_DIR}/use_model.c)
  target_link_libraries(${target} PRIVATE tribo_test_flags)
  if(TRIBO_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${FUZZ_DIR}/driver.c)
    add_test(NAME fuzz/${name} COMMAND ${target} ${FUZZ_DIR}/corpus/${name})
    set_tests_properties(fuzz/${name} PROPERTIES TIMEOUT 120)
  endif()
endforeach()
