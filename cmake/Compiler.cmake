# The compiler, its flags, and the cache in front of it. Everything of ours links deputy_flags.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} miscompiles coroutines: use clang-19 (see CMakePresets.json) or g++ 13 and later")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(LLD ld.lld-19)
if(LLD)
  add_link_options(--ld-path=${LLD})
endif()

# Objects must not depend on where the tree lies, so that a fresh clone finds them in the cache. Paths reach the compiler
# absolute, or relative to the build directory where ccache shortened them: both become relative to the root.
find_program(CCACHE ccache)
if(CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_IGNOREHEADERS=CMakeFiles
      CCACHE_INODECACHE=true
      CCACHE_PCH_EXTSUM=true
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
file(RELATIVE_PATH root ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${PROJECT_BINARY_DIR}=. -ffile-prefix-map=${root}=)

add_library(deputy_flags INTERFACE)
target_compile_options(deputy_flags INTERFACE
  -Wall -Wextra -Wextra-semi -Wimplicit-fallthrough -Wnon-virtual-dtor -Woverloaded-virtual -Wshadow -Werror
  -Wno-missing-designated-field-initializers)
target_compile_definitions(deputy_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_SEPARATE_COMPILATION)

if(DEPUTY_SANITIZE)
  target_compile_options(deputy_flags INTERFACE
    -fsanitize=${DEPUTY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(deputy_flags INTERFACE -fsanitize=${DEPUTY_SANITIZE})
  # Three checks at every use of a pointer take a sixth of the compile time: for null, which AddressSanitizer traps; for
  # alignment, which these machines do not ask for; and for the type behind it, where nothing casts down unseen.
  target_compile_options(deputy_flags INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:FOR_TESTS>>,-fno-sanitize=undefined,-fno-sanitize=null$<COMMA>alignment$<COMMA>vptr>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(deputy_flags INTERFACE -fsanitize-ignorelist=${root}cmake/foreign-code.txt)
  endif()
  # Instrumented code grows with everything that is inlined into it, and its compile time with that.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(deputy_flags INTERFACE "SHELL:-mllvm -inline-threshold=0")
  endif()
  # Recycled coroutine frames would hide use after free from the sanitizers.
  target_compile_definitions(deputy_flags INTERFACE
    _GLIBCXX_ASSERTIONS
    BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING
    BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING)
endif()

# Fuzzers steer by what they reach in the parsers; what a test itself reaches is of no use to them.
if(DEPUTY_FUZZERS)
  target_compile_options(deputy_flags INTERFACE
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:FOR_TESTS>>>:-fsanitize=fuzzer-no-link;-fsanitize-coverage-allowlist=${root}fuzz/steered-by.txt;-fsanitize-coverage-ignorelist=${root}fuzz/not-steered-by.txt>")
  target_link_options(deputy_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# for_tests(TARGET…): code that only tests use. It is compiled as quickly as may be: a test says by itself where it
# failed, and what is undefined is looked for in what it tests.
function(for_tests)
  set_target_properties(${ARGN} PROPERTIES FOR_TESTS ON)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE -O0 -g0)
  endforeach()
endfunction()
