# Helpers with which the directories declare tests, Python tests and fuzzers.

# what the stages of ./check with few tests build: those with the label threads, and the fuzzers; and under sanitizers those with the
# label long
add_custom_target(tests_threads)
add_custom_target(tests_long)
add_custom_target(fuzzers)
add_custom_target(fuzzers_long)


# tests that take more than two seconds, and about how many, so that the longest begin first; pytest marks these "slow", and of the
# others those in C have the label "fast": pytest -m "not slow" runs those in Python
file(STRINGS "${PROJECT_SOURCE_DIR}/tests/slow.txt" slow_tests)

# cost_and_label(NAME LABELS...)  the labels, with "fast" where that is true
function(cost_and_label name)
  set(labels ${ARGN})
  set(row ${slow_tests})
  list(FILTER row INCLUDE REGEX "^${name} ")
  if(row)
    string(REGEX REPLACE ".* " "" seconds "${row}")
    set_tests_properties(${name} PROPERTIES COST ${seconds})
  elseif(NOT "python" IN_LIST labels)
    list(APPEND labels fast)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endfunction()

# build_for_long(TARGET): not by "all", but by tests_long
function(build_for_long target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(tests_long ${target})
endfunction()

# what is freed stays poisoned until so much is, which makes models in Python compile in three quarters of the time
set(asan_options allocator_may_return_null=1:quarantine_size_mb=8:thread_local_quarantine_size_kb=64:malloc_context_size=10)

# mjgear_add_test(name SOURCES file... [LIBS target...] [ENV NAME=value...] [LABELS label...] [TIMEOUT s] [LONG])
#   A cmocka program and a ctest of the same name. It finds the plugin, the models and the sources by
#   the macros MJGEAR_PLUGIN_PATH and MJGEAR_SOURCE_DIR. The label "threads" selects it for the TSan build; one
#   that needs the core and no MuJoCo has the label "core", by which ./check --valgrind finds it.
#   LONG: measures what many steps amount to, by calls that other tests make too; under sanitizers it has the label long, for
#   ./check --long.
function(mjgear_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "TIMEOUT" "SOURCES;LIBS;ENV;LABELS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mjgear_add_test(${name}): SOURCES missing or unknown arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)  # a hang; machines with much else to do need several times as long as alone
  endif()
  if(CMAKE_CROSSCOMPILING)
    math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")  # emulated
  endif()
  add_executable(${name} ${arg_SOURCES})
  # a test compiles in a third of the time of -O3, and with sanitizers in half the time of -O1; few need cmocka's state
  set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS "$<IF:$<CONFIG:Debug>,-O0,-O1;-g0>;-Wno-unused-parameter")
  target_link_libraries(${name} PRIVATE mjgear_options CMocka::CMocka ${arg_LIBS})
  target_compile_definitions(${name} PRIVATE MJGEAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(TARGET mjgear)
    target_compile_definitions(${name} PRIVATE MJGEAR_PLUGIN_PATH="$<TARGET_FILE:mjgear>")
    add_dependencies(${name} mjgear)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(tests_threads ${name})
    if(TARGET mjgear)
      add_dependencies(tests_threads mjgear)
    endif()
  endif()
  if("mjgear_core" IN_LIST arg_LIBS AND NOT "MuJoCo::MuJoCo" IN_LIST arg_LIBS)
    list(APPEND arg_LABELS core)
  endif()
  if(arg_LONG AND MJGEAR_SANITIZE)
    list(APPEND arg_LABELS long)
    build_for_long(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "ASAN_OPTIONS=${asan_options};${arg_ENV}")
  cost_and_label(${name} ${arg_LABELS})
endfunction()


# mjgear_add_python_test(name SCRIPT file [ARGS ...] [ENV NAME=value...] [LABELS label...] [TIMEOUT s] [PACKAGES | VENV name] [LONG])
#   A script run by the Python that belongs to MuJoCo, with MJGEAR_PLUGIN_PATH and MJGEAR_SOURCE_DIR in its
#   environment, and the package mjgear of python/ with the libraries of this build; skipped when the script exits with
#   77. With VENV it is run in build/venv-NAME, which has what cmake/requirements-NAME.in names; PACKAGES is VENV check. In a sanitized build the runtime is preloaded,
#   because Python itself is not instrumented; leaks of the interpreter are not ours and not counted.
#   As for programs, memory that cannot be allocated gives a null pointer, as without sanitizers.
#   LONG: takes long in Python, and calls nothing that C tests do not call; under sanitizers it has the label long, for
#   ./check --long.
function(mjgear_add_python_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PACKAGES;LONG" "SCRIPT;TIMEOUT;VENV" "ARGS;ENV;LABELS")
  if(NOT arg_SCRIPT OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "mjgear_add_python_test(${name}): SCRIPT missing or unknown arguments")
  endif()
  if(NOT MuJoCo_PYTHON)
    message(STATUS "no Python with the mujoco package: ${name} left out")
    return()
  endif()
  foreach(argument IN LISTS arg_ARGS)
    if(argument MATCHES "^\\$<TARGET_FILE:(.+)>$")
      set(program "${CMAKE_MATCH_1}")
      if(NOT TARGET "${program}")
        message(STATUS "no ${program}: ${name} left out")
        return()
      endif()
    endif()
  endforeach()
  set(python "${MuJoCo_PYTHON}")
  if(arg_PACKAGES)
    set(arg_VENV check)
  endif()
  if(arg_VENV)
    set(python "${PROJECT_SOURCE_DIR}/build/venv-${arg_VENV}/bin/python")
    if(NOT EXISTS "${python}")
      message(STATUS "no build/venv-${arg_VENV}, which ./check makes: ${name} left out")
      return()
    endif()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)  # a hang; machines with much else to do need several times as long as alone
  endif()
  set(env "MJGEAR_PLUGIN_PATH=$<TARGET_FILE:mjgear>" "MJGEAR_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "PYTHONPATH=${PROJECT_SOURCE_DIR}/python" "MJGEAR_LIBRARIES=$<TARGET_FILE_DIR:mjgear>"
    PYTHONDONTWRITEBYTECODE=
    "PYTHONPYCACHEPREFIX=${PROJECT_SOURCE_DIR}/build/pycache"  # modules are compiled once, and not beside the sources
    OPENBLAS_NUM_THREADS=1)  # tests run beside each other, and threads of small matrices wait for each other
  if(MJGEAR_SANITIZE MATCHES address)
    foreach(runtime libasan.so libstdc++.so)
      execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime}
        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      list(APPEND preload "${path}")
    endforeach()
    list(JOIN preload ":" preload)
    list(APPEND env "LD_PRELOAD=${preload}" "ASAN_OPTIONS=detect_leaks=0:${asan_options}")
  endif()
  if(arg_LONG AND MJGEAR_SANITIZE)
    list(APPEND arg_LABELS long)
  endif()
  add_test(NAME ${name} COMMAND "${python}" "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT}" ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
    TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${env};${arg_ENV}")
  cost_and_label(${name} python ${arg_LABELS})
endfunction()


# mjgear_add_fuzzer(name SOURCES file... [LIBS target...] [SECONDS s] [LENGTH bytes] [LONG])
#   A libFuzzer program in fuzz/ of the build, in the preset "fuzz" only, and a ctest of the same name with
#   the label "fuzz": a short run from the inputs in corpus/<name>, if any, with the same random numbers every time. Inputs that reach something new are
#   kept in the build and are where the next run starts. LENGTH: of inputs, the longest at once, where short ones mean
#   little. The engine's memory is not freed where its errors are caught: leaks are asked for where there is no engine.
#   LONG: for ./check --long alone, by the label long, because it takes long to build.
function(mjgear_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "SECONDS;LENGTH" "SOURCES;LIBS")
  if(NOT MJGEAR_FUZZ)
    return()
  endif()
  if(NOT arg_SECONDS)
    set(arg_SECONDS 1)  # of an hour with ./check --long
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mjgear_options ${arg_LIBS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  if(arg_LONG)
    set(kind long)
    add_dependencies(fuzzers_long ${name})
  else()
    set(kind fuzz)
    add_dependencies(fuzzers ${name})
  endif()
  set(found "${PROJECT_BINARY_DIR}/fuzz/corpus/${name}")
  file(MAKE_DIRECTORY "${found}")
  set(given "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
  if(NOT IS_DIRECTORY "${given}")
    set(given)
  endif()
  set(options -seed=1 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1)
  if(arg_LENGTH)
    list(APPEND options -max_len=${arg_LENGTH} -len_control=0)
  endif()
  if("MuJoCo::MuJoCo" IN_LIST arg_LIBS)
    list(APPEND options -detect_leaks=0)
  endif()
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${arg_SECONDS} ${options} "-artifact_prefix=${PROJECT_BINARY_DIR}/fuzz/${name}-"
    "${found}" ${given})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS ${kind})
endfunction()
