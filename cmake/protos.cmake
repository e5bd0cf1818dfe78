# proto/**/*.proto: descriptors of all in one file for Python, C++ classes of some in the static library penstock_proto.
file(GLOB_RECURSE protos RELATIVE ${CMAKE_SOURCE_DIR}/proto CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/*.proto)
set(generated ${CMAKE_BINARY_DIR}/generated)
set(PENSTOCK_DESCRIPTORS ${PENSTOCK_NATIVE_DIR}/descriptors.pb)
file(MAKE_DIRECTORY ${generated} ${PENSTOCK_NATIVE_DIR})

if(NOT protos)
  add_library(penstock_proto INTERFACE)
  return()
endif()
include(protobuf)

include(cpp_protos)

foreach(proto ${cpp_protos})
  string(REGEX REPLACE "\\.proto$" ".pb" stem ${generated}/${proto})
  list(APPEND proto_sources ${stem}.cc)
  list(APPEND proto_headers ${stem}.h)
endforeach()
set(proto_path -I ${CMAKE_SOURCE_DIR}/proto -I ${PENSTOCK_PROTOBUF_SOURCE}/src)
list(TRANSFORM protos PREPEND ${CMAKE_SOURCE_DIR}/proto/ OUTPUT_VARIABLE proto_inputs)
list(TRANSFORM cpp_protos PREPEND ${CMAKE_SOURCE_DIR}/proto/ OUTPUT_VARIABLE cpp_proto_inputs)
# One call for all of them: protoc would read the imports again for each file otherwise.
add_custom_command(
  OUTPUT ${proto_sources} ${proto_headers}
  COMMAND ${PENSTOCK_PROTOC} ${proto_path} --cpp_out=${generated} ${cpp_protos}
  DEPENDS ${cpp_proto_inputs}
  COMMENT "Generating protocol messages"
  VERBATIM)
add_custom_command(
  OUTPUT ${PENSTOCK_DESCRIPTORS}
  COMMAND ${PENSTOCK_PROTOC} ${proto_path} --descriptor_set_out=${PENSTOCK_DESCRIPTORS}
          --include_imports ${protos}
  DEPENDS ${proto_inputs}
  COMMENT "Generating message descriptors"
  VERBATIM)
add_custom_target(penstock_descriptors ALL DEPENDS ${PENSTOCK_DESCRIPTORS})

add_library(penstock_proto STATIC ${proto_sources})
# No step waits for this code: a shorter build is worth more than its speed.
target_compile_options(penstock_proto PRIVATE ${protobuf_flags} $<$<CONFIG:Release>:-O1>)
target_include_directories(penstock_proto SYSTEM PUBLIC ${generated})
target_link_libraries(penstock_proto PUBLIC penstock_protobuf)
target_precompile_headers(penstock_proto PRIVATE <google/protobuf/generated_message_reflection.h>
                          <google/protobuf/map_field.h> <google/protobuf/message.h>
                          <google/protobuf/reflection_ops.h> <google/protobuf/wire_format.h>)
install(FILES ${PENSTOCK_DESCRIPTORS} DESTINATION penstock)
