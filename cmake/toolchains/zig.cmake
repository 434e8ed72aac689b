# Cross builds with `zig cc` of the Python package ziglang, which brings headers and libraries of all its targets along.
# The files beside this one name a target each: MJGEAR_ZIG_TARGET and what CMake calls its system.

file(GLOB zig "${CMAKE_CURRENT_LIST_DIR}/../../build/venv-wheel/lib/python3*/site-packages/ziglang/zig")
if(DEFINED ENV{MJGEAR_ZIG})
  set(zig "$ENV{MJGEAR_ZIG}")
endif()
if(NOT zig)
  message(FATAL_ERROR "ziglang is missing: ./wheel installs it in build/venv-wheel, or set MJGEAR_ZIG to the program zig")
endif()

# CMake runs each of these as one program
set(tools "${CMAKE_BINARY_DIR}/zig")
foreach(tool cc ar ranlib rc dlltool)
  if(NOT EXISTS "${tools}/${tool}")
    set(words "${tool}")
    if(tool STREQUAL cc)
      set(words "cc -target ${MJGEAR_ZIG_TARGET}")
    endif()
    file(WRITE "${tools}/${tool}" "#!/bin/sh\nexec '${zig}' ${words} \"$@\"\n")
    file(CHMOD "${tools}/${tool}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE)
  endif()
endforeach()
set(CMAKE_C_COMPILER "${tools}/cc")
# zig adds debug information, with paths of this machine; without -O it builds a runtime of sanitizers for CMake's first look at it
set(CMAKE_C_FLAGS_INIT "-g0 -O2")
set(CMAKE_AR "${tools}/ar")
set(CMAKE_RANLIB "${tools}/ranlib")
set(CMAKE_RC_COMPILER "${tools}/rc")
set(CMAKE_DLLTOOL "${tools}/dlltool")
set(CMAKE_STRIP "")  # its own takes the signature of a Mach-O file away
set(CMAKE_C_COMPILER_AR "${tools}/ar")
set(CMAKE_C_COMPILER_RANLIB "${tools}/ranlib")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
