# The CPU kernels: their flags, the inner loops that exist once per instruction set, and the oneDNN module.
set(kernel_flags -fno-math-errno -ffp-contract=off $<$<CONFIG:Release>:-O3>)

get_target_property(kernels_cpu_type penstock_kernels_cpu TYPE)
if(kernels_cpu_type STREQUAL STATIC_LIBRARY)
  target_compile_options(penstock_kernels_cpu PRIVATE ${kernel_flags})
  set(kernels_cpu_scope PUBLIC)
else()
  set(kernels_cpu_scope INTERFACE)
endif()

# Loops over formulas with a choice in them become vector code if a comparison or division that nobody asked for does no
# harm.
set(formulas math/comparison math/math_binary math/math_special math/math_unary nn/activation
             quantization/fake_quant quantization/quantize)
list(TRANSFORM formulas REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/\\1.cc")
set_source_files_properties(${formulas} PROPERTIES COMPILE_OPTIONS -fno-trapping-math)

# Strings: RE2's regular expressions, FarmHash's fingerprints.
include(re2)
find_path(PENSTOCK_FARMHASH_INCLUDE farmhash.h REQUIRED)
find_library(PENSTOCK_FARMHASH libfarmhash.a REQUIRED)
target_include_directories(penstock_kernels_cpu SYSTEM PRIVATE ${PENSTOCK_FARMHASH_INCLUDE})
target_link_libraries(penstock_kernels_cpu PRIVATE penstock_re2 ${PENSTOCK_FARMHASH})

# Image files: libjpeg and zlib, static. libjpeg's own error manager, which is not position independent, stays out:
# jpeg.cc has one.
if(kernels_cpu_scope STREQUAL PUBLIC)
  find_path(PENSTOCK_JPEG_INCLUDE jpeglib.h REQUIRED)
  find_library(PENSTOCK_JPEG NAMES libjpeg.a REQUIRED)
  find_library(PENSTOCK_ZLIB NAMES libz.a REQUIRED)
  target_include_directories(penstock_kernels_cpu SYSTEM PRIVATE ${PENSTOCK_JPEG_INCLUDE})
  target_link_libraries(penstock_kernels_cpu PUBLIC ${PENSTOCK_JPEG} ${PENSTOCK_ZLIB})
endif()

# LAPACK's singular values and what of the reference BLAS they need beside our own products (linalg/lapack.cc).
find_library(PENSTOCK_LAPACK NAMES liblapack.a PATH_SUFFIXES lapack REQUIRED)
find_library(PENSTOCK_BLAS NAMES libblas.a PATH_SUFFIXES blas REQUIRED)
target_link_libraries(penstock_kernels_cpu ${kernels_cpu_scope} ${PENSTOCK_LAPACK} ${PENSTOCK_BLAS})

# loops/: each source is compiled once per instruction set, with PENSTOCK_ISA naming it. Whatever such a file defines
# must sit in a namespace that carries PENSTOCK_ISA: an inline function shared between the copies would be merged by the
# linker, and the AVX-512 one could then run on any machine.
set(isas baseline)
set(isa_flags_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(isas baseline avx2 avx512)
  set(isa_flags_baseline -march=x86-64-v2)
  set(isa_flags_avx2 -march=x86-64-v3)
  set(isa_flags_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
endif()
file(GLOB loops CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/loops/*.cc)
if(loops)
  # Vector code needs to know that a comparison or division that nobody asked for does no harm. Matrix products may
  # join a multiplication and an addition into one rounding.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/loops/gemm.cc
                              ${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/loops/conv.cc PROPERTIES
                              COMPILE_OPTIONS -ffp-contract=fast)
  foreach(isa ${isas})
    add_library(penstock_loops_${isa} STATIC ${loops})
    target_include_directories(penstock_loops_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(penstock_loops_${isa} PRIVATE PENSTOCK_ISA=${isa})
    target_compile_options(penstock_loops_${isa} PRIVATE ${kernel_flags} -fno-trapping-math ${isa_flags_${isa}})
    # What a loop calls lies in the folders above kernels/cpu.
    target_link_libraries(penstock_loops_${isa} PUBLIC penstock_base)
    target_link_libraries(penstock_kernels_cpu ${kernels_cpu_scope} penstock_loops_${isa})
  endforeach()
endif()

# multiversion/: families of kernels of which each file is compiled whole, for the baseline and for AVX2;
# multiversion.cc takes one. The objects of one instruction set are joined, and what they define is made local but for
# what is in namespace penstock::PENSTOCK_ISA, the functions that register them: no inline function or template, of ours
# or of the standard library, is shared with code for another machine.
set(multiversion_isas ${isas})
list(REMOVE_ITEM multiversion_isas avx512)
file(GLOB multiversion CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/multiversion/*.cc)
# Linear algebra's sums may join a multiplication and an addition into one rounding.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/multiversion/vector_ops.cc PROPERTIES
                            COMPILE_OPTIONS -ffp-contract=fast)
if(multiversion)
  foreach(isa ${multiversion_isas})
    add_library(penstock_multiversion_${isa} OBJECT ${multiversion})
    target_include_directories(penstock_multiversion_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(penstock_multiversion_${isa} PRIVATE PENSTOCK_ISA=${isa})
    # Products of complex numbers need no look at infinite parts; quotients still do not overflow.
    target_compile_options(penstock_multiversion_${isa} PRIVATE ${kernel_flags} -fno-trapping-math -fcx-fortran-rules
                           ${isa_flags_${isa}})
    target_precompile_headers(penstock_multiversion_${isa} PRIVATE ${PENSTOCK_PRECOMPILED}
                              ${CMAKE_SOURCE_DIR}/src/penstock/kernel/kernel_registry.h)
    string(LENGTH ${isa} length)
    set(joined ${CMAKE_BINARY_DIR}/penstock_multiversion_${isa}.o)
    set(objects $<FILTER:$<TARGET_OBJECTS:penstock_multiversion_${isa}>,INCLUDE,[.]o$>)  # not the precompiled headers
    add_custom_command(
      OUTPUT ${joined}
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${joined} ${objects}
      COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=_ZN8penstock${length}${isa}* ${joined}
      DEPENDS ${objects}
      COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(penstock_kernels_cpu PRIVATE ${joined})
  endforeach()
endif()

# onednn/: a module of its own, opened with dlopen at first use, since the library behind it is large and slow to load.
# It links nothing of Penstock: one process must not hold two copies of the runtime.
file(GLOB onednn CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/penstock/kernels/cpu/onednn/*.cc)
find_library(PENSTOCK_DNNL dnnl)
if(onednn AND PENSTOCK_DNNL)
  add_library(penstock_onednn MODULE ${onednn})
  target_include_directories(penstock_onednn PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(penstock_onednn PRIVATE ${kernel_flags} -fopenmp)
  target_link_libraries(penstock_onednn PRIVATE ${PENSTOCK_DNNL})
  target_link_options(penstock_onednn PRIVATE -Wl,-z,defs -fopenmp)
  set_target_properties(penstock_onednn PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PENSTOCK_NATIVE_DIR})
  install(TARGETS penstock_onednn LIBRARY DESTINATION penstock)
elseif(onednn)
  message(WARNING "oneDNN (libdnnl-dev) was not found: matrix products and convolutions use the built-in kernels")
endif()
