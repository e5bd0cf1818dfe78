# penstock_folder(FOLDER [PROTO]): the static library penstock_FOLDER from src/penstock/FOLDER.
#
# It links every folder declared before it and nothing else, so that an arrow in the wrong direction does not link.
# PROTO: the folder may use protobuf messages; the dependency is private, so their headers reach no other folder.
# A folder without sources is an interface target: it costs nothing and others may link it.
set(PENSTOCK_FOLDERS "")

function(penstock_folder folder)
  cmake_parse_arguments(arg "PROTO" "" "" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target penstock_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/penstock/${folder}/*.cc)
  # These two are compiled in a way of their own, see kernels_cpu.cmake.
  list(FILTER sources EXCLUDE REGEX "/kernels/cpu/(loops|onednn)/")

  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    if(arg_PROTO)
      target_link_libraries(${target} PRIVATE penstock_proto)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${CMAKE_SOURCE_DIR}/src)
  set(above ${PENSTOCK_FOLDERS})
  list(REVERSE above)
  foreach(other ${above})
    target_link_libraries(${target} ${scope} penstock_${other})
  endforeach()
  if(folder STREQUAL base)
    target_link_libraries(${target} ${scope} Threads::Threads ${CMAKE_DL_LIBS})
  endif()
  set(PENSTOCK_FOLDERS ${PENSTOCK_FOLDERS} ${name} PARENT_SCOPE)
endfunction()
