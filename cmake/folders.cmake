# penstock_folder(FOLDER [PROTO] [PRECOMPILE HEADER...]): the static library penstock_FOLDER from src/penstock/FOLDER.
#
# It links every folder declared before it and nothing else, so that an arrow in the wrong direction does not link.
# PROTO: the folder may use protobuf messages; the dependency is private, so their headers reach no other folder.
# PRECOMPILE: headers of ours that nearly all of the folder's files include; without it the folder shares base's.
set(PENSTOCK_FOLDERS "")

function(penstock_folder folder)
  cmake_parse_arguments(arg "PROTO" "" "PRECOMPILE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target penstock_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/penstock/${folder}/*.cc)
  # These are compiled in ways of their own, see kernels_cpu.cmake.
  list(FILTER sources EXCLUDE REGEX "/kernels/cpu/(loops|onednn|multiversion)/")

  add_library(${target} STATIC ${sources})
  if(arg_PRECOMPILE OR folder STREQUAL base)
    list(TRANSFORM arg_PRECOMPILE PREPEND ${CMAKE_SOURCE_DIR}/src/penstock/)
    target_precompile_headers(${target} PRIVATE ${PENSTOCK_PRECOMPILED} ${arg_PRECOMPILE})
  else()
    target_precompile_headers(${target} REUSE_FROM penstock_base)
  endif()
  if(arg_PROTO)
    target_link_libraries(${target} PRIVATE penstock_proto)
  endif()
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  set(above ${PENSTOCK_FOLDERS})
  list(REVERSE above)
  foreach(other ${above})
    target_link_libraries(${target} PUBLIC penstock_${other})
  endforeach()
  if(folder STREQUAL base)
    target_link_libraries(${target} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  endif()
  set(PENSTOCK_FOLDERS ${PENSTOCK_FOLDERS} ${name} PARENT_SCOPE)
endfunction()
