# Kinds from outside src/ (include/tribo/extension.h, docs/manual/extending.md).
#
# -DTRIBO_EXTENSION=FOLDER compiles FOLDER/extension.h and FOLDER/*.c into the library.
#
# tribo_extension_objects(TARGET FOLDER) makes an object library of FOLDER/*.c and of those sources of
# the library that read the lists which FOLDER/extension.h extends. A program that links these objects
# before the library has the extension, without a second build of everything:
#
#   tribo_extension_objects(my_kinds ${CMAKE_CURRENT_SOURCE_DIR}/my_kinds)
#   target_link_libraries(program PRIVATE my_kinds tribo_static)
set(TRIBO_EXTENSION "" CACHE PATH "folder with extension.h and the sources of additional kinds")
set(TRIBO_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)

function(tribo_extension_define target scope folder)
  if(NOT EXISTS ${folder}/extension.h)
    message(FATAL_ERROR "TRIBO_EXTENSION: there is no ${folder}/extension.h; give the folder of extension.h")
  endif()
  target_compile_definitions(${target} ${scope}
                             $<BUILD_INTERFACE:TRIBO_EXTENSION="${folder}/extension.h">)
endfunction()

# The sources that include tribo/extension.h, or, directly or through headers of src/, one of the
# given files.
function(tribo_sources_that_include result)
  set(wanted ${ARGN})
  file(GLOB_RECURSE files ${TRIBO_ROOT}/src/*.h ${TRIBO_ROOT}/src/*.c)
  foreach(file ${files})
    file(STRINGS ${file} lines REGEX "^#include \"")
    string(REGEX REPLACE "#include |\"" "" lines_of_${file} "${lines}")
  endforeach()
  set(found "")
  set(grows TRUE)
  while(grows)
    set(grows FALSE)
    foreach(file ${files})
      foreach(line ${lines_of_${file}})
        if(line IN_LIST wanted OR ("${file}:${line}" MATCHES "\\.c:tribo/extension\\.h$"))
          list(REMOVE_ITEM files ${file})
          if(file MATCHES "\\.c$")
            list(APPEND found ${file})
          else()
            file(RELATIVE_PATH name ${TRIBO_ROOT}/src ${file})
            list(APPEND wanted ${name})
            set(grows TRUE)
          endif()
          break()
        endif()
      endforeach()
    endforeach()
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(tribo_extension_objects target folder)
  # The kinds that the extension has lists of.
  set(headers "")
  file(STRINGS ${folder}/extension.h lists REGEX "define TB_EXTENSION_[A-Z]+\\(")
  foreach(pair SENSORS:sensor GAINS:actuator BIASES:actuator DYNAMICS:actuator
          TRANSMISSIONS:transmission EQUALITIES:equality JOINTS:joint)
    string(REGEX MATCH "^[A-Z]+" list ${pair})
    string(REGEX MATCH "[a-z]+$" kind ${pair})
    if(lists MATCHES "TB_EXTENSION_${list}\\(")
      list(APPEND headers model/${kind}_kinds.h)
    endif()
  endforeach()
  tribo_sources_that_include(sources ${headers})
  file(GLOB own CONFIGURE_DEPENDS ${folder}/*.c)
  add_library(${target} OBJECT ${own} ${sources})
  target_include_directories(${target} PRIVATE ${TRIBO_ROOT}/src PUBLIC ${TRIBO_ROOT}/include)
  target_link_libraries(${target} PRIVATE tribo_flags tribo_dependencies)
  tribo_extension_define(${target} PUBLIC ${folder})
endfunction()
