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

#
# The Python package brings the OpenBLAS of PyPI's scipy-openblas32 along, also a pthread build, whose functions have
# names of their own, so that it may live in a process beside another.

if(MJGEAR_PYTHON AND NOT OpenBLAS_LIBRARY)
  find_package(Python REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "import scipy_openblas32 as o; print(o.get_lib_dir())"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_library(OpenBLAS_LIBRARY NAMES scipy_openblas HINTS "${folder}" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
endif()

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
  if(OpenBLAS_LIBRARY MATCHES "scipy_openblas")
    set_target_properties(OpenBLAS::OpenBLAS PROPERTIES INTERFACE_COMPILE_DEFINITIONS BLAS_SYMBOL_PREFIX=scipy_)
  endif()
endif()
