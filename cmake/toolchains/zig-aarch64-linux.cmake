# Linux on aarch64 with glibc 2.28 or later: what a wheel with the tag manylinux_2_28 may ask for.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MJGEAR_ZIG_TARGET aarch64-linux-gnu.2.28)
include("${CMAKE_CURRENT_LIST_DIR}/zig.cmake")
