# What is installed for the Python package, all of it in the folder mjgear of the package:
#   lib/libmjgear-RELEASE.so           the plugin for a MuJoCo release; names here are those of Linux
#   lib/libmjgear_core.so.0            the core
#   lib/libmjgear_bench.so             what mjgear.identify simulates with
#   bin/RELEASE/mjgear, ...            the programs for a release
#   scenes/, models/, data/            what they play
# MJGEAR_MUJOCO_DIRS lists further releases, as MUJOCO_DIR; each is a build of its own.

set(MJGEAR_MUJOCO_DIRS "" CACHE STRING "further MuJoCo releases to build the plugin for")
option(MJGEAR_COPY_OPENBLAS "put OpenBLAS beside our libraries; off where auditwheel does" ON)

# ------------------------------------ for this release -------------------------------------------

set_target_properties(mjgear PROPERTIES OUTPUT_NAME mjgear-${MuJoCo_VERSION})
install(TARGETS mjgear LIBRARY DESTINATION lib COMPONENT release)
foreach(program mjgear-tool mjgear-run mjgear-view)
  if(TARGET ${program})
    string(REPLACE "@loader_path" "@executable_path" here "${MJGEAR_RPATH}")
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "${here}/../../lib")
    install(TARGETS ${program} RUNTIME DESTINATION bin/${MuJoCo_VERSION} COMPONENT release)
  endif()
endforeach()


# ------------------------------------ for all releases -------------------------------------------

if(MJGEAR_CORE_ARCHIVE)
  return()
endif()
set_target_properties(mjgear_core_shared PROPERTIES VERSION 0)  # one file: wheels have no links
install(TARGETS mjgear_core_shared mjgear_bench LIBRARY DESTINATION lib NAMELINK_SKIP RUNTIME DESTINATION lib)
if(MJGEAR_COPY_OPENBLAS)
  # of a DLL the linker was given the import library beside it
  string(REGEX REPLACE "\\.lib$" ".dll" openblas "${OpenBLAS_LIBRARY}")
  install(FILES "${openblas}" DESTINATION lib)
endif()
# licences of what comes along: OpenBLAS has its own beside its library; the window's libraries are Debian's
cmake_path(SET beside NORMALIZE "${OpenBLAS_LIBRARY}/../../..")
file(GLOB license "${beside}/scipy_openblas32-*.dist-info/licenses/LICENSE.txt")
if(license)
  install(FILES ${license} DESTINATION licenses RENAME OpenBLAS.txt)
endif()
if(TARGET mjgear-view)
  foreach(name libglfw3-dev libpng-dev zlib1g-dev)
    install(FILES "/usr/share/doc/${name}/copyright" DESTINATION licenses RENAME ${name}.txt OPTIONAL)
  endforeach()
endif()
install(FILES core/law/law.h core/solvers/lanes.h core/solvers/dense_newton.h DESTINATION warp)  # which mjgear.warp compiles
install(DIRECTORY scenes models data DESTINATION . FILES_MATCHING PATTERN "*.xml" PATTERN "*.csv.gz" PATTERN "LICENSE*"
  PATTERN "README.md")

include(ExternalProject)
# a toolchain file names the compiler; a second name for it makes CMake empty its cache when it configures again
set(compiler "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}")
if(CMAKE_TOOLCHAIN_FILE)
  set(compiler "-DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}")
endif()
foreach(folder IN LISTS MJGEAR_MUJOCO_DIRS)
  string(MD5 name "${folder}")
  string(SUBSTRING "${name}" 0 8 name)
  set(stage "${PROJECT_BINARY_DIR}/releases/${name}/stage")
  ExternalProject_Add(release-${name}
    SOURCE_DIR "${PROJECT_SOURCE_DIR}"
    BINARY_DIR "${PROJECT_BINARY_DIR}/releases/${name}/build"
    CMAKE_ARGS
      -DMJGEAR_PYTHON=ON
      "-DMJGEAR_CORE_ARCHIVE=$<TARGET_FILE:mjgear_core>"
      "-DMUJOCO_DIR=${folder}"
      "-DOpenBLAS_LIBRARY=${OpenBLAS_LIBRARY}"
      -DMJGEAR_BUILD_VIEWER=${MJGEAR_BUILD_VIEWER}
      -DMJGEAR_AVX=${MJGEAR_AVX}
      -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
      "${compiler}"
      "-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}"
    INSTALL_COMMAND "${CMAKE_COMMAND}" --install <BINARY_DIR> --prefix "${stage}" --component release --strip
    DEPENDS mjgear_core
    BUILD_ALWAYS ON
    USES_TERMINAL_BUILD ON)
  install(DIRECTORY "${stage}/" DESTINATION . USE_SOURCE_PERMISSIONS)
endforeach()
