# How every target of ours is compiled: language, warnings, sanitizers, where the results go.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "kind of build" FORCE)
endif()

set(MJGEAR_SANITIZE "" CACHE STRING "value of -fsanitize= for all targets, for example address,undefined")
option(MJGEAR_FUZZ "build the fuzzers (clang's libFuzzer)" OFF)
# MuJoCo's own library for these machines needs AVX, so that it costs no user anything
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(has_avx ON)
else()
  set(has_avx OFF)
endif()
option(MJGEAR_AVX "use the AVX instructions of x86-64" ${has_avx})
option(MJGEAR_WERROR "treat warnings as errors; the developers' presets do" OFF)

include(GNUInstallDirs)
set(MJGEAR_LIBM $<$<NOT:$<PLATFORM_ID:Windows>>:m>)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# libraries are called as each system calls them, and macOS finds them beside each other
if(WIN32)
  set(CMAKE_SHARED_LIBRARY_PREFIX "")
  set(CMAKE_SHARED_MODULE_PREFIX "")
elseif(APPLE)
  set(CMAKE_INSTALL_NAME_DIR "@rpath")
  set(CMAKE_BUILD_WITH_INSTALL_NAME_DIR ON)
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ${MJGEAR_PYTHON})  # a cross build has no install_name_tool that would set it later
  # which CMake knows only where it can ask a macOS for its release
  set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG "-Wl,-rpath,")
  set(CMAKE_EXECUTABLE_RUNTIME_C_FLAG "-Wl,-rpath,")
endif()

# the plugin is where users look for it, build/lib, and programs in build/bin; tests stay with the build
if(PROJECT_IS_TOP_LEVEL)
  foreach(kind LIBRARY ARCHIVE)
    if(NOT CMAKE_${kind}_OUTPUT_DIRECTORY)
      set(CMAKE_${kind}_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
    endif()
  endforeach()
  if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  endif()
endif()

add_library(mjgear_options INTERFACE)
target_compile_definitions(mjgear_options INTERFACE _POSIX_C_SOURCE=200809L)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(mjgear_options INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wundef
    # the same arithmetic from every compiler: no fused multiply-add behind our back
    -ffp-contract=off
    $<$<CONFIG:Debug>:-fno-omit-frame-pointer>
    $<$<PLATFORM_ID:Linux>:-fno-plt>
    $<$<BOOL:${MJGEAR_AVX}>:-mavx>
    # short loops take up to 5 % longer where they happen to lie across lines of the cache
    "$<$<CONFIG:RelWithDebInfo,Release>:-O3;-falign-loops=32>")
endif()

set(sanitize "${MJGEAR_SANITIZE}")
if(MJGEAR_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "MJGEAR_FUZZ needs clang (libFuzzer): configure with the preset 'fuzz'")
  endif()
  set(sanitize "fuzzer-no-link,address,undefined")
endif()
if(MJGEAR_WERROR AND NOT sanitize)
  # not with sanitizers: what they insert leads gcc to warn of things that cannot happen
  target_compile_options(mjgear_options INTERFACE -Werror)
endif()
if(sanitize)
  target_compile_options(mjgear_options INTERFACE -fsanitize=${sanitize} -fno-sanitize-recover=all)
  string(REPLACE "fuzzer-no-link," "" sanitize_link "${sanitize}")
  target_link_options(mjgear_options INTERFACE -fsanitize=${sanitize_link})
  if(CMAKE_C_COMPILER_ID MATCHES Clang)
    # clang's has a word for a null pointer plus 0 too, which C++ allows, and C from its next edition on; gcc's, in the
    # preset debug, asks for the rest
    target_compile_options(mjgear_options INTERFACE -fno-sanitize=pointer-overflow)
  endif()
endif()
