# tests/cc/FOLDER/*_test.cc: the executable test_FOLDER, one CTest test.
find_package(GTest REQUIRED)

# A test links its folder and those above. What it needs beyond that (registered ops, something to run a graph) is
# named here.
set(test_extra_op ops)
set(test_extra_graph engine)
set(test_extra_io ops)
set(test_extra_kernels_cpu engine)
set(test_extra_data engine)
set(test_extra_optimize engine)
set(test_extra_runtime engine)
set(test_extra_distributed engine)

foreach(name ${PENSTOCK_FOLDERS})
  string(REPLACE kernels_cpu kernels/cpu folder ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cc/${folder}/*_test.cc)
  if(NOT sources)
    continue()
  endif()
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(test_${name} PRIVATE -Wno-missing-field-initializers)  # options are given by name
  set(libraries ${test_extra_${name}} ${name})
  list(TRANSFORM libraries PREPEND penstock_)
  target_link_libraries(test_${name} PRIVATE ${libraries} GTest::gtest_main)
  if(TARGET test_base AND NOT name STREQUAL base)
    target_precompile_headers(test_${name} REUSE_FROM test_base)
  else()
    target_precompile_headers(test_${name} PRIVATE ${PENSTOCK_PRECOMPILED} <gtest/gtest.h>)
  endif()
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT PENSTOCK_NATIVE_DIR=${PENSTOCK_NATIVE_DIR})
endforeach()

# A peer for tests/python/rpc.
add_executable(rpc_interop tests/cc/rpc/interop.cc)
target_link_libraries(rpc_interop PRIVATE penstock_rpc)
set_target_properties(rpc_interop PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
