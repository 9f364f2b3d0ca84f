# The build fails where code goes round a seam: scripts/check-seams has the rules.

file(GLOB_RECURSE sources CONFIGURE_DEPENDS
  src/*.cc src/*.h tests/*.cc tests/*.h fuzz/*.cc fuzz/*.h bench/*.cc bench/*.h)
add_custom_command(OUTPUT seams.stamp
  COMMAND scripts/check-seams
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/seams.stamp
  DEPENDS scripts/check-seams ${sources}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Checking the seams"
  VERBATIM)
add_custom_target(seams ALL DEPENDS seams.stamp)
