# The archive of a package that was found, beside its shared library: of another prefix it might be of another version than the
# headers. Empty where there is none.
function(archive_of package result)
  get_target_property(library ${package} LOCATION)
  if(NOT library)  # as pkg-config has it
    get_target_property(library ${package} INTERFACE_LINK_LIBRARIES)
  endif()
  list(GET library 0 library)
  cmake_path(GET library PARENT_PATH folder)
  cmake_path(GET library STEM name)
  set(archive ${folder}/${name}.a)
  if(NOT EXISTS ${archive})
    set(archive "")
  endif()
  set(${result} "${archive}" PARENT_SCOPE)
endfunction()
