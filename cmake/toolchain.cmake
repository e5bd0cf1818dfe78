# Compiler and linker settings that hold for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(PENSTOCK_CCACHE ccache)
  if(PENSTOCK_CCACHE)
    # What ccache asks for where headers are precompiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_SOURCE_DIR}/cmake/ccache.sh)
  endif()
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)
find_program(PENSTOCK_MOLD mold)
if(PENSTOCK_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(PENSTOCK_SANITIZE)
  # Stacks in reports need frame pointers; an undefined value must fail the test, not only print; an index out of a
  # vector's range, which no sanitizer sees within its capacity, is found by the library's own assertions.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
  add_compile_options(-fsanitize=${PENSTOCK_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PENSTOCK_SANITIZE})
  if(PENSTOCK_FUZZ)
    add_compile_options(-fsanitize-coverage=trace-pc,trace-cmp)
  endif()
  if(PENSTOCK_SANITIZE STREQUAL undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

find_package(Threads REQUIRED)

# The standard library's headers, which cost more time than most of our files: read once for each target that names
# them.
set(PENSTOCK_PRECOMPILED
    <algorithm> <array> <atomic> <charconv> <cmath> <complex> <condition_variable> <cstring> <deque> <functional> <map>
    <memory> <mutex> <optional> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <unordered_set>
    <utility> <variant> <vector>)
