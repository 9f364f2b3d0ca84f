# layer(NAME [PUBLIC layer…] [PRIVATE layer…] [PACKAGES target…])
#
# The static library of src/NAME. It includes its own folder and those of the layers it names, which must have been declared
# before it. PUBLIC is for layers whose types stand in its headers: whoever names this layer can reach those too, and
# scripts/check-layers keeps it from including them unnamed.
# Tests beside the code (*_test.cc) become NAME_test. An empty folder is allowed.
function(layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE;PACKAGES")
  get_property(layers GLOBAL PROPERTY LAYERS)
  foreach(below IN LISTS arg_PUBLIC arg_PRIVATE)
    if(NOT below IN_LIST layers)
      message(FATAL_ERROR "layer(${name}): ${below} is not a layer below it")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY LAYERS ${name})

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${name}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/sandbox/init/|/app/main\\.cc$")
  if(NOT sources)
    set(sources ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  endif()

  add_library(${name} STATIC ${sources})
  show_folder(${name} src/${name})
  target_link_libraries(${name} PUBLIC deputy_flags ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} ${arg_PACKAGES})
  if("runtime" IN_LIST arg_PUBLIC)
    set(precompiled precompiled_app)
  elseif("tools" IN_LIST arg_PUBLIC OR name STREQUAL "tools")
    set(precompiled precompiled_tools)
  elseif("async" IN_LIST arg_PUBLIC AND "transcript" IN_LIST arg_PUBLIC)
    set(precompiled precompiled_session)
  elseif("async" IN_LIST arg_PUBLIC OR name STREQUAL "async")
    set(precompiled precompiled_async)
  else()
    set(precompiled precompiled_values)
  endif()
  use_precompiled(${name} ${precompiled})
  set_property(GLOBAL PROPERTY PRECOMPILED_FOR_${name} ${precompiled})
  if(DEPUTY_TESTS AND tests)
    if(precompiled MATCHES "precompiled_(values|async)")
      set(precompiled precompiled)
    endif()
    test_executable(${name} ${precompiled}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name})
  endif()
endfunction()

# test_executable(NAME PRECOMPILED source…): NAME_test, its cases known to ctest as NAME.Suite.Case.
function(test_executable name precompiled)
  add_executable(${name}_test ${ARGN})
  for_tests(${name}_test)
  cases_of(${name} ${precompiled})
endfunction()

# cases_of(NAME PRECOMPILED): the cases of NAME_test.
function(cases_of name precompiled)
  target_link_libraries(${name}_test PRIVATE support GTest::gmock_main)
  add_dependencies(${name}_test deputy-init)
  use_precompiled(${name}_test ${precompiled})
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}. PROPERTIES LABELS ${name})
endfunction()

# show_folder(TARGET FOLDER): TARGET and its users include FOLDER by its last name, and see no folder beside it: the
# include root is a directory that holds a link to FOLDER alone. It is given relative to the build directory, where the
# compiler runs; in messages and debug info the path is FOLDER again.
function(show_folder target folder)
  cmake_path(GET folder FILENAME name)
  cmake_path(GET folder PARENT_PATH parent)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/layers/${name})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/layers/${name}/${name} SYMBOLIC)
  target_compile_options(${target} PUBLIC -Ilayers/${name} -ffile-prefix-map=layers/${name}=${parent})
endfunction()
