# penstock_nghttp2: nghttp2, HTTP/2's framing and header compression, as a static library that can be linked into a
# shared one. Debian's libnghttp2.so would meet other copies in the process; so its source package, which Debian patches
# for security, is compiled here, as RE2's is. PENSTOCK_NGHTTP2_SOURCE names another place.
enable_language(C)
if(DEFINED ENV{XDG_CACHE_HOME})
  set(cache $ENV{XDG_CACHE_HOME})
else()
  set(cache $ENV{HOME}/.cache)
endif()
set(PENSTOCK_NGHTTP2_SOURCE ${cache}/penstock/nghttp2 CACHE PATH "source tree of nghttp2")
if(NOT EXISTS ${PENSTOCK_NGHTTP2_SOURCE}/lib/nghttp2_session.c)
  message(STATUS "Fetching the source of nghttp2")
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_source.sh nghttp2 "" lib/nghttp2_session.c
                          ${PENSTOCK_NGHTTP2_SOURCE}
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "The source of nghttp2 could not be fetched. Unpack it anywhere and configure with "
                        "-DPENSTOCK_NGHTTP2_SOURCE=<that directory>.")
  endif()
endif()

# The header that its own build system makes.
file(STRINGS ${PENSTOCK_NGHTTP2_SOURCE}/CMakeLists.txt version REGEX "^project\\(nghttp2 VERSION ")
string(REGEX MATCH "([0-9]+)\\.([0-9]+)\\.([0-9]+)" PACKAGE_VERSION "${version}")
math(EXPR PACKAGE_VERSION_NUM "(${CMAKE_MATCH_1} << 16) + (${CMAKE_MATCH_2} << 8) + ${CMAKE_MATCH_3}"
     OUTPUT_FORMAT HEXADECIMAL)
configure_file(${PENSTOCK_NGHTTP2_SOURCE}/lib/includes/nghttp2/nghttp2ver.h.in
               ${CMAKE_BINARY_DIR}/generated/nghttp2/nghttp2/nghttp2ver.h @ONLY)

file(GLOB nghttp2_sources ${PENSTOCK_NGHTTP2_SOURCE}/lib/*.c)
add_library(penstock_nghttp2 STATIC ${nghttp2_sources})
target_include_directories(penstock_nghttp2 SYSTEM PUBLIC ${PENSTOCK_NGHTTP2_SOURCE}/lib/includes
                                                          ${CMAKE_BINARY_DIR}/generated/nghttp2)
target_compile_definitions(penstock_nghttp2 PUBLIC NGHTTP2_STATICLIB
                                            PRIVATE HAVE_ARPA_INET_H HAVE_NETINET_IN_H HAVE_TIME_H HAVE_CLOCK_GETTIME)
set(nghttp2_flags -w -fvisibility=hidden)
if(PENSTOCK_SANITIZE STREQUAL undefined)
  list(APPEND nghttp2_flags -fno-sanitize=undefined)
endif()
target_compile_options(penstock_nghttp2 PRIVATE ${nghttp2_flags})
