# The build fails where code goes round a seam (scripts/check-seams has the rules) or includes a layer that its own does not
# name (scripts/check-layers).

file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  src/*.cc src/*.h tests/*.cc tests/*.h fuzz/*.cc fuzz/*.h bench/*.cc bench/*.h)
add_custom_command(OUTPUT seams.stamp
  COMMAND scripts/check-seams
  COMMAND scripts/check-layers
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/seams.stamp
  DEPENDS scripts/check-seams scripts/check-layers src/CMakeLists.txt ${sources}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Checking the seams and layers"
  VERBATIM)
add_custom_target(seams ALL DEPENDS seams.stamp)
