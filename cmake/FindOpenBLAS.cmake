# OpenBLAS as OpenBLAS::OpenBLAS.
#
# The serial build is taken where the system has it: many threads may step models at once, each of our
# calls runs in the thread that makes it, and no pool of BLAS threads is started in somebody's process.

set(dirs)
foreach(flavour openblas-serial openblas-pthread)
  foreach(root /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib)
    list(APPEND dirs ${root}/${flavour})
  endforeach()
endforeach()
find_library(OpenBLAS_LIBRARY NAMES openblas HINTS ${dirs})
mark_as_advanced(OpenBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY
  REASON_FAILURE_MESSAGE "install libopenblas-serial-dev (Debian, Ubuntu)")

if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION "${OpenBLAS_LIBRARY}")
endif()
