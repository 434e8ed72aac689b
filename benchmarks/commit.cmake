# Write the commit of the sources to a header: cmake -DSOURCE=dir -DHEADER=file -P commit.cmake
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=10
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define MJGEAR_COMMIT \"${commit}\"\n")
