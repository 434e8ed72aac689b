# MuJoCo as MuJoCo::MuJoCo, from one of
#   MUJOCO_DIR (cache or environment)   an unpacked official release, or the folder of the Python package
#   the environment                     into which pip installs the Python package, or in which it builds it
#   build/venv                          the Python wheel that ./demo and ./check install
# Sets MuJoCo_VERSION, and MuJoCo_PYTHON where a Python interpreter comes with it.
#
# The wheel has the library under its versioned name only, which is what the loader wants to find too,
# so the target is the file itself and programs get its folder as RPATH.

set(MUJOCO_DIR "$ENV{MUJOCO_DIR}" CACHE PATH "MuJoCo release or Python package; empty: build/venv")

set(venv "${PROJECT_SOURCE_DIR}/build/venv")
if(MUJOCO_DIR)
  set(roots "${MUJOCO_DIR}")
elseif(MJGEAR_PYTHON)
  # the environment into which pip installs (-I), behind the isolated one in which it builds
  find_package(Python REQUIRED COMPONENTS Interpreter)
  set(roots)
  foreach(isolated -I "")
    execute_process(COMMAND "${Python_EXECUTABLE}" ${isolated} -c
      "import importlib.util as u; s = u.find_spec('mujoco'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND roots ${root})
  endforeach()
else()
  file(GLOB roots "${venv}/lib/python3*/site-packages/mujoco")
endif()

# the header, whose version is authoritative
set(MuJoCo_INCLUDE_DIR)
foreach(root ${roots})
  foreach(include IN ITEMS include include/mujoco)  # the second in wheels of 3.x for Windows
    if(NOT MuJoCo_INCLUDE_DIR AND EXISTS "${root}/${include}/mujoco/mujoco.h")
      set(MuJoCo_INCLUDE_DIR "${root}/${include}")
      set(root_found "${root}")
    endif()
  endforeach()
endforeach()
set(MuJoCo_VERSION)
if(MuJoCo_INCLUDE_DIR)
  file(STRINGS "${MuJoCo_INCLUDE_DIR}/mujoco/mujoco.h" line REGEX "^#define +mjVERSION_HEADER +[0-9]+")
  string(REGEX MATCH "[0-9]+" number "${line}")
  # 1000000 * major + 1000 * minor + patch since 3.5, a digit each before
  if(number GREATER 999999)
    math(EXPR major "${number} / 1000000")
    math(EXPR minor "${number} / 1000 % 1000")
    math(EXPR patch "${number} % 1000")
    set(MuJoCo_VERSION ${major}.${minor}.${patch})
  elseif(number MATCHES "^([0-9])([0-9])([0-9])$")
    set(MuJoCo_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
  endif()
endif()

# the library, under its versioned name where there is one
set(MuJoCo_LIBRARY)
set(reason "set MUJOCO_DIR to an unpacked MuJoCo release, or run ./demo, which installs it in build/venv")
if(MJGEAR_PYTHON)
  set(reason "install MuJoCo first, for which the plugin is then built: pip install mujoco, or set MUJOCO_DIR")
endif()
if(WIN32)
  set(versioned_name "no such name")
  set(plain_name mujoco.dll)
elseif(APPLE)
  set(versioned_name libmujoco.*.dylib)
  set(plain_name libmujoco.dylib)
else()
  set(versioned_name libmujoco.so.*)
  set(plain_name libmujoco.so)
endif()
if(MuJoCo_INCLUDE_DIR)
  file(GLOB versioned "${root_found}/${versioned_name}" "${root_found}/lib/${versioned_name}")
  file(GLOB plain "${root_found}/lib/${plain_name}" "${root_found}/bin/${plain_name}" "${root_found}/${plain_name}")
  foreach(candidate ${versioned} ${plain})
    if(candidate MATCHES "\\.${MuJoCo_VERSION}(\\.dylib)?$" OR (NOT versioned AND candidate IN_LIST plain))
      set(MuJoCo_LIBRARY "${candidate}")
      break()
    endif()
  endforeach()
  if(NOT MuJoCo_LIBRARY AND versioned)
    list(JOIN versioned ", " versioned)
    message(FATAL_ERROR "MuJoCo: the header ${MuJoCo_INCLUDE_DIR}/mujoco/mujoco.h is version "
      "${MuJoCo_VERSION}, but the library beside it is ${versioned}; reinstall MuJoCo so that both agree")
  endif()
endif()

# Windows links with an import library; the Python package has none, and one is made of the names that the DLL exports
set(MuJoCo_IMPLIB)
if(WIN32 AND MuJoCo_LIBRARY)
  file(GLOB MuJoCo_IMPLIB "${root_found}/lib/mujoco.lib")
  if(NOT MuJoCo_IMPLIB)
    set(MuJoCo_IMPLIB "${PROJECT_BINARY_DIR}/mujoco-${MuJoCo_VERSION}.lib")
    if("${MuJoCo_LIBRARY}" IS_NEWER_THAN "${MuJoCo_IMPLIB}")
      execute_process(COMMAND "${PROJECT_SOURCE_DIR}/build/venv-wheel/bin/python" "${CMAKE_CURRENT_LIST_DIR}/exports.py" "${MuJoCo_LIBRARY}"
        "${MuJoCo_IMPLIB}.def" COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND "${CMAKE_DLLTOOL}" -m i386:x86-64 -d "${MuJoCo_IMPLIB}.def" -l "${MuJoCo_IMPLIB}"
        COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endif()
endif()

set(MuJoCo_PYTHON)
if(MuJoCo_LIBRARY)
  # the wheel's own Python, or that of build/venv if its MuJoCo is of the same version
  get_filename_component(python "${root_found}/../../../../bin/python" ABSOLUTE)
  file(GLOB twin "${venv}/lib/python3*/site-packages/mujoco/libmujoco.so.${MuJoCo_VERSION}")
  if(WIN32 OR APPLE)
    # a Python of these systems is not looked for
  elseif(EXISTS "${python}")
    set(MuJoCo_PYTHON "${python}")
  elseif(twin)
    set(MuJoCo_PYTHON "${venv}/bin/python")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo
  REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR MuJoCo_VERSION
  VERSION_VAR MuJoCo_VERSION REASON_FAILURE_MESSAGE "${reason}")

if(MuJoCo_FOUND AND NOT TARGET MuJoCo::MuJoCo)
  add_library(MuJoCo::MuJoCo SHARED IMPORTED)
  set_target_properties(MuJoCo::MuJoCo PROPERTIES
    IMPORTED_LOCATION "${MuJoCo_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${MuJoCo_INCLUDE_DIR}"
    IMPORTED_IMPLIB "${MuJoCo_IMPLIB}"
    # mjsan.h would have our sanitized builds call stack functions that only a sanitized MuJoCo has
    INTERFACE_COMPILE_DEFINITIONS MUJOCO_INCLUDE_MJSAN_H_)
endif()
