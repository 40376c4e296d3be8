# What the library links. libxml2 is required; the rest are options: the library builds without
# them and says at run time which feature is missing. Each found option defines TB_WITH_<NAME>.
# HDF5 is none of them: src/io/hdf5.c loads it when a program reads or writes its files.
find_package(Threads REQUIRED)
find_package(LibXml2 REQUIRED)

add_library(tribo_dependencies INTERFACE)
set(TRIBO_LINK_LIBRARIES m Threads::Threads ${CMAKE_DL_LIBS} LibXml2::LibXml2)
target_link_libraries(tribo_dependencies INTERFACE Threads::Threads LibXml2::LibXml2)

set(TRIBO_FOUND_OPTIONS "")
set(TRIBO_OPTION_LIBRARIES "")
macro(tribo_option_dependency name libraries includes)
  option(TRIBO_WITH_${name} "use ${name}" ON)
  if(TRIBO_WITH_${name} AND NOT "${libraries}" MATCHES "NOTFOUND" AND NOT "${libraries}" STREQUAL "")
    target_compile_definitions(tribo_dependencies INTERFACE TB_WITH_${name}=1)
    target_include_directories(tribo_dependencies SYSTEM INTERFACE ${includes})
    list(APPEND TRIBO_LINK_LIBRARIES ${libraries})
    list(APPEND TRIBO_OPTION_LIBRARIES ${libraries})
    list(APPEND TRIBO_FOUND_OPTIONS ${name})
  endif()
endmacro()

# Convex hulls of meshes.
find_library(QHULL_LIBRARY NAMES qhull_r)
find_path(QHULL_INCLUDE NAMES libqhull_r/libqhull_r.h)
tribo_option_dependency(QHULL "${QHULL_LIBRARY}" "${QHULL_INCLUDE}")

# Height fields from images.
find_package(PNG)
tribo_option_dependency(PNG "${PNG_LIBRARIES}" "${PNG_INCLUDE_DIRS}")

# Pictures.
find_package(ZLIB)
tribo_option_dependency(ZLIB "${ZLIB_LIBRARIES}" "${ZLIB_INCLUDE_DIRS}")

message(STATUS "tribo options found: ${TRIBO_FOUND_OPTIONS}")
