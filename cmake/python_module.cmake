# python/bindings: the extension penstock._core.
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind; ./dev build makes an environment that has it")
endif()
# A wheel is built in an environment of its own: the place found last time may be gone.
unset(nanobind_DIR CACHE)
find_package(nanobind CONFIG REQUIRED)

file(GLOB bindings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/bindings/*.cc)
nanobind_add_module(_core NB_STATIC NOMINSIZE NB_DOMAIN penstock ${bindings})
target_link_libraries(_core PRIVATE penstock_engine Python::NumPy)
target_precompile_headers(_core PRIVATE ${PENSTOCK_PRECOMPILED} <nanobind/nanobind.h>)
target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL
                    -Wl,--version-script,${CMAKE_SOURCE_DIR}/python/bindings/exports.map)
set_property(TARGET _core APPEND PROPERTY LINK_DEPENDS ${CMAKE_SOURCE_DIR}/python/bindings/exports.map)
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PENSTOCK_NATIVE_DIR})
install(TARGETS _core LIBRARY DESTINATION penstock)
# What editors and type checkers read. Made with the extension, which knows the ops; a sanitizer's cannot be loaded so.
# pip's clean environment for a build reaches Python by PYTHONPATH: the package's folder comes before it, not instead.
if(NOT PENSTOCK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(stubs ${CMAKE_BINARY_DIR}/stubs)
  file(GLOB_RECURSE stub_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/penstock/*.py)
  add_custom_command(
    OUTPUT ${stubs}/py.typed
    COMMAND ${CMAKE_COMMAND} -E env --modify PYTHONPATH=path_list_prepend:${CMAKE_SOURCE_DIR}/python
            PENSTOCK_NATIVE_DIR=${PENSTOCK_NATIVE_DIR} PYTHONDONTWRITEBYTECODE=1
            ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/stubs.py ${stubs}
    DEPENDS _core ${CMAKE_SOURCE_DIR}/tools/stubs.py ${stub_sources})
  add_custom_target(stubs ALL DEPENDS ${stubs}/py.typed)
  install(DIRECTORY ${stubs}/ DESTINATION penstock)
endif()
# Built with NumPy 2, runs with 1.22 and later.
target_compile_definitions(_core PRIVATE NPY_TARGET_VERSION=NPY_1_22_API_VERSION)
