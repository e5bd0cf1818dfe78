# penstock_re2: RE2, the regular expressions that TensorFlow's ops speak, as a static library that can be linked into
# a shared one. Debian's libre2.a is not position independent, and its libre2.so would meet other copies in the
# process; so it is compiled here from Debian's source package, as protobuf is. PENSTOCK_RE2_SOURCE names another place.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(cache $ENV{XDG_CACHE_HOME})
else()
  set(cache $ENV{HOME}/.cache)
endif()
set(PENSTOCK_RE2_SOURCE ${cache}/penstock/re2 CACHE PATH "source tree of RE2")
if(NOT EXISTS ${PENSTOCK_RE2_SOURCE}/re2/re2.h)
  message(STATUS "Fetching the source of RE2")
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/cmake/fetch_source.sh re2 "" re2/re2.h ${PENSTOCK_RE2_SOURCE}
                  RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "The source of RE2 could not be fetched. Unpack it anywhere and configure with "
                        "-DPENSTOCK_RE2_SOURCE=<that directory>.")
  endif()
endif()

# Debian's source lacks three tables, which its own scripts make from perl and from the package unicode-data.
if(NOT EXISTS /usr/share/unicode/UnicodeData.txt)
  message(FATAL_ERROR "RE2's tables are made from Debian's package unicode-data, which is not installed")
endif()
find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
set(re2_tables ${CMAKE_BINARY_DIR}/generated/re2)
file(READ ${PENSTOCK_RE2_SOURCE}/re2/unicode.py unicode_py)
string(REPLACE "from six.moves import urllib" "import urllib.request" unicode_py "${unicode_py}")
file(CONFIGURE OUTPUT ${re2_tables}/unicode.py CONTENT "${unicode_py}" @ONLY)
foreach(table unicode_casefold unicode_groups)
  configure_file(${PENSTOCK_RE2_SOURCE}/re2/make_${table}.py ${re2_tables}/make_${table}.py COPYONLY)
  add_custom_command(OUTPUT ${re2_tables}/${table}.cc DEPENDS ${re2_tables}/make_${table}.py ${re2_tables}/unicode.py
                     COMMAND ${Python_EXECUTABLE} ${re2_tables}/make_${table}.py > ${re2_tables}/${table}.cc VERBATIM)
endforeach()
add_custom_command(OUTPUT ${re2_tables}/perl_groups.cc DEPENDS ${PENSTOCK_RE2_SOURCE}/re2/make_perl_groups.pl
                   COMMAND perl ${PENSTOCK_RE2_SOURCE}/re2/make_perl_groups.pl > ${re2_tables}/perl_groups.cc VERBATIM)

foreach(name bitstate compile dfa nfa onepass parse prefilter prog re2 regexp simplify stringpiece tostring)
  list(APPEND re2_sources ${PENSTOCK_RE2_SOURCE}/re2/${name}.cc)
endforeach()
list(APPEND re2_sources ${PENSTOCK_RE2_SOURCE}/util/rune.cc ${PENSTOCK_RE2_SOURCE}/util/strutil.cc
     ${re2_tables}/perl_groups.cc ${re2_tables}/unicode_casefold.cc ${re2_tables}/unicode_groups.cc)
add_library(penstock_re2 STATIC ${re2_sources})
target_include_directories(penstock_re2 SYSTEM PUBLIC ${PENSTOCK_RE2_SOURCE})
set(re2_flags -w)
if(PENSTOCK_SANITIZE STREQUAL undefined)
  list(APPEND re2_flags -fno-sanitize=undefined)
endif()
target_compile_options(penstock_re2 PRIVATE ${re2_flags})
target_link_libraries(penstock_re2 PUBLIC Threads::Threads)
