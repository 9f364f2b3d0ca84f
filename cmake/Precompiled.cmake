# The headers that most sources need, compiled once. use_precompiled(TARGET NAME) has the sources of TARGET start from
#   precompiled_values   the standard library, fmt, Boost.JSON
#   precompiled_async    these and Asio: for what may see async
#   precompiled_session  these and what the layers above the transcript share: for what may see async and transcript
#   precompiled_tools    these and what a tool is: for the tools and the layers that may see them
#   precompiled_app      these, the runtime and what the commands share
#   precompiled_test, precompiled_session_test, …   these and GoogleTest, without optimisation
#   precompiled_world_test   these and the whole runtime in a simulated world

target_link_libraries(deputy_flags INTERFACE fmt::fmt Boost::json)

function(precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PACKAGES")
  # Compiled like any source, to get the same flags and dependency tracking; the object is the precompiled header.
  set(header cmake/${name}.h)
  add_library(${name} OBJECT ${header})
  set_source_files_properties(${header} PROPERTIES LANGUAGE CXX)
  target_compile_options(${name} PRIVATE -xc++-header -fpch-instantiate-templates -Xclang -fno-pch-timestamp)
  target_link_libraries(${name} PRIVATE deputy_flags ${arg_PACKAGES})
  # Not cached, since it names the directory it was made in; the cache goes by the checksum that is written beside it.
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/compile-with-sum)
endfunction()

function(use_precompiled target name)
  if(NOT TARGET ${name})
    return()
  endif()
  set(object CMakeFiles/${name}.dir/cmake/${name}.h.o)
  target_compile_options(${target} PRIVATE "SHELL:-include-pch ${object}")
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${PROJECT_BINARY_DIR}/${object})
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  precompile(precompiled_values)
  precompile(precompiled_async)
  precompile(precompiled_session PACKAGES base async transcript)
  precompile(precompiled_tools PACKAGES tools)
  precompile(precompiled_app PACKAGES app)
  if(DEPUTY_TESTS)
    precompile(precompiled_test PACKAGES GTest::gmock)
    precompile(precompiled_session_test PACKAGES base async transcript GTest::gmock)
    precompile(precompiled_tools_test PACKAGES tools GTest::gmock)
    precompile(precompiled_app_test PACKAGES app GTest::gmock)
    precompile(precompiled_world_test PACKAGES sim_world)
    for_tests(
      precompiled_test precompiled_session_test precompiled_tools_test precompiled_app_test precompiled_world_test)
  endif()
endif()
