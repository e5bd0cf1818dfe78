# tests/fuzz: a libFuzzer target over all that reads foreign bytes. GCC instruments, libFuzzer's runtime is clang's.
find_program(PENSTOCK_CLANG NAMES clang++ clang++-14 REQUIRED)
execute_process(COMMAND ${PENSTOCK_CLANG} -print-runtime-dir OUTPUT_VARIABLE clang_runtime
                OUTPUT_STRIP_TRAILING_WHITESPACE)
find_library(PENSTOCK_LIBFUZZER NAMES libclang_rt.fuzzer-x86_64.a libclang_rt.fuzzer.a HINTS ${clang_runtime} REQUIRED)

# Of the kernels only the readers of files and messages.
set(readers image/gif image/jpeg image/png io/example io/example_json strings/unicode)
list(TRANSFORM readers REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/\\1.cc")
add_executable(fuzz_readers tests/fuzz/readers.cc tests/fuzz/coverage.cc ${readers})
target_link_libraries(fuzz_readers PRIVATE penstock_io ${PENSTOCK_JPEG} ${PENSTOCK_LIBFUZZER})
# The runtime has a __sanitizer_cov_trace_pc of its own, which only refuses: ours comes first.
target_link_options(fuzz_readers PRIVATE -Wl,--allow-multiple-definition)
set_target_properties(fuzz_readers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
