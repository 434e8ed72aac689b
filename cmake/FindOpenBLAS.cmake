# OpenBLAS as OpenBLAS::OpenBLAS.
#
# Models are stepped by many threads at once, so BLAS is called from many threads at once. Debian's and
# Ubuntu's serial build of OpenBLAS returns wrong numbers then (its buffers are shared without a lock);
# the pthread build is safe. It is named by its own folder, because the plain libopenblas.so may stand
# for either. tests/test_openblas.c shows the difference.
#
# Above a size (dpotrf from n = 64, dgemm above 64^3) the pthread build splits a call over a pool of its
# own, behind a lock; several callers then wait for each other, a hundred times slower than one alone.
# Code that may run in many threads keeps its calls below, in tiles of 48 for example.

set(dirs)
foreach(root /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib)
  list(APPEND dirs ${root}/openblas-pthread)
endforeach()
find_library(OpenBLAS_LIBRARY NAMES openblas HINTS ${dirs})
mark_as_advanced(OpenBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY
  REASON_FAILURE_MESSAGE "install libopenblas-pthread-dev (Debian, Ubuntu)")

if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION "${OpenBLAS_LIBRARY}")
endif()
