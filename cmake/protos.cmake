# proto/**/*.proto: C++ classes in the static library penstock_proto, and all descriptors in one file for Python.
#
# protobuf is linked statically and stays hidden, so that another copy of it in the process is not disturbed.
add_library(penstock_protobuf INTERFACE)
file(GLOB_RECURSE protos RELATIVE ${CMAKE_SOURCE_DIR}/proto CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/*.proto)
set(generated ${CMAKE_BINARY_DIR}/generated)
set(PENSTOCK_DESCRIPTORS ${PENSTOCK_NATIVE_DIR}/descriptors.pb)
file(MAKE_DIRECTORY ${generated} ${PENSTOCK_NATIVE_DIR})

if(NOT protos)
  add_library(penstock_proto INTERFACE)
  return()
endif()

find_program(PENSTOCK_PROTOC protoc REQUIRED)
find_library(PENSTOCK_PROTOBUF NAMES libprotobuf.a REQUIRED)
find_path(PENSTOCK_PROTOBUF_INCLUDE google/protobuf/message.h REQUIRED)
target_link_libraries(penstock_protobuf INTERFACE ${PENSTOCK_PROTOBUF} Threads::Threads)
target_link_options(penstock_protobuf INTERFACE -Wl,--exclude-libs,ALL)
target_include_directories(penstock_protobuf SYSTEM INTERFACE ${PENSTOCK_PROTOBUF_INCLUDE})

set(proto_sources "")
foreach(proto ${protos})
  string(REGEX REPLACE "\\.proto$" ".pb" stem ${generated}/${proto})
  list(APPEND proto_sources ${stem}.cc)
  list(APPEND proto_outputs ${stem}.cc ${stem}.h)
  list(APPEND proto_inputs ${CMAKE_SOURCE_DIR}/proto/${proto})
endforeach()
# One call for all of them: protoc reads imports again for each file otherwise.
add_custom_command(
  OUTPUT ${proto_outputs} ${PENSTOCK_DESCRIPTORS}
  COMMAND ${PENSTOCK_PROTOC} -I ${CMAKE_SOURCE_DIR}/proto --cpp_out=${generated}
          --descriptor_set_out=${PENSTOCK_DESCRIPTORS} --include_imports ${protos}
  DEPENDS ${proto_inputs}
  COMMENT "Generating protocol messages"
  VERBATIM)
add_custom_target(penstock_descriptors ALL DEPENDS ${PENSTOCK_DESCRIPTORS})

add_library(penstock_proto STATIC ${proto_sources})
# Nobody waits for this code: it is compiled for size of build, not for speed.
target_compile_options(penstock_proto PRIVATE -w $<$<CONFIG:Release>:-O1>)
target_include_directories(penstock_proto SYSTEM PUBLIC ${generated})
target_link_libraries(penstock_proto PUBLIC penstock_protobuf)
install(FILES ${PENSTOCK_DESCRIPTORS} DESTINATION penstock)
