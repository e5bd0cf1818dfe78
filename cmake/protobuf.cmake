# penstock_protobuf: protobuf as a static library that can be linked into a shared one.
#
# Debian's libprotobuf.a is not position independent, and its libprotobuf.so would meet other copies of protobuf in the
# process (TensorFlow brings one). So the library is compiled here, from the source package of the installed protoc. The
# source lies in the user's cache, where every build tree finds it; PENSTOCK_PROTOBUF_SOURCE names another place.
find_program(PENSTOCK_PROTOC protoc REQUIRED)
execute_process(COMMAND ${PENSTOCK_PROTOC} --version OUTPUT_VARIABLE protoc_version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" protoc_version "${protoc_version}")

if(DEFINED ENV{XDG_CACHE_HOME})
  set(cache $ENV{XDG_CACHE_HOME})
else()
  set(cache $ENV{HOME}/.cache)
endif()
set(PENSTOCK_PROTOBUF_SOURCE ${cache}/penstock/protobuf-${protoc_version} CACHE PATH "source tree of protobuf")
if(NOT EXISTS ${PENSTOCK_PROTOBUF_SOURCE}/src/google/protobuf/message.cc)
  message(STATUS "Fetching the source of protobuf ${protoc_version}")
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_source.sh protobuf ${protoc_version}
                          src/google/protobuf/message.cc ${PENSTOCK_PROTOBUF_SOURCE}
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "The source of protobuf ${protoc_version} could not be fetched. Unpack it anywhere and "
                        "configure with -DPENSTOCK_PROTOBUF_SOURCE=<that directory>.")
  endif()
endif()

# The lists of files are protobuf's own. Compilers of .proto files, JSON and field masks stay out: nothing uses them.
foreach(part libprotobuf-lite libprotobuf)
  file(STRINGS ${PENSTOCK_PROTOBUF_SOURCE}/cmake/${part}.cmake names REGEX "src/google/.*\\.cc$")
  list(APPEND protobuf_sources ${names})
endforeach()
list(TRANSFORM protobuf_sources REPLACE " *\\\${protobuf_SOURCE_DIR}" "${PENSTOCK_PROTOBUF_SOURCE}")
list(FILTER protobuf_sources EXCLUDE REGEX "/protobuf/(compiler|util)/")

add_library(penstock_protobuf STATIC ${protobuf_sources})
target_include_directories(penstock_protobuf SYSTEM PUBLIC ${PENSTOCK_PROTOBUF_SOURCE}/src)
# Undefined behaviour in it is not ours to find, and looking for it doubles the time of such a build.
set(protobuf_flags -w)
if(PENSTOCK_SANITIZE STREQUAL undefined)
  list(APPEND protobuf_flags -fno-sanitize=undefined)
endif()
target_compile_options(penstock_protobuf PRIVATE ${protobuf_flags})
target_link_libraries(penstock_protobuf PUBLIC Threads::Threads)
target_precompile_headers(penstock_protobuf PRIVATE ${PENSTOCK_PRECOMPILED})
