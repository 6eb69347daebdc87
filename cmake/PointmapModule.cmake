# Helpers that keep every folder's CMakeLists.txt to a few lines.

# Flags of all our code. Never -march here: kernels/cpu picks instruction sets at run time.
add_library(pointmap_flags INTERFACE)
# No contraction: a * b + c rounds twice on every machine unless the source says fma, or exactness would depend on the compiler.
target_compile_options(pointmap_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off)
target_include_directories(pointmap_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(pointmap_flags INTERFACE Threads::Threads)
if(POINTMAP_SANITIZE)
  target_compile_options(pointmap_flags INTERFACE -fsanitize=${POINTMAP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(pointmap_flags INTERFACE -fsanitize=${POINTMAP_SANITIZE})
  # Instrumented code makes the compiler large enough to collect its garbage again and again: a twelfth of its time for 200 MB a process.
  target_compile_options(pointmap_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
endif()
if(POINTMAP_FUZZ)
  # Coverage in every library, or libFuzzer would be blind beyond the fuzz target's own file.
  target_compile_options(pointmap_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# pointmap_compile_quickly(TARGET): for what runs for less time than the optimiser would take. In the sanitizers' builds that is nearly all,
# and half of their time was the optimiser's. Fuzzers run for as long as they compile and are built as their preset says.
function(pointmap_compile_quickly target)
  if(POINTMAP_SANITIZE AND NOT POINTMAP_FUZZ)
    target_compile_options(${target} PRIVATE -O0)
  elseif(NOT POINTMAP_FUZZ)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# pointmap_precompile(TARGET SET LINK HEADERS...): HEADERS, which LINK brings, are read once for all targets that name the same SET; these
# must be compiled alike. For large headers of others only, ones that every file of the target includes anyway. A compiler cache cannot see
# into such files and does better than they do.
function(pointmap_precompile target set link)
  if(POINTMAP_FUZZ OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    return()
  endif()
  if(NOT TARGET ${set})
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${set}.cc CONTENT "// Nothing: a target must have a source.\n")
    add_library(${set} OBJECT ${CMAKE_BINARY_DIR}/${set}.cc)
    target_link_libraries(${set} PRIVATE pointmap_flags ${link})
    get_target_property(options ${target} COMPILE_OPTIONS)
    if(options)
      target_compile_options(${set} PRIVATE ${options})
    endif()
    target_precompile_headers(${set} PRIVATE ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${set})
endfunction()

# pointmap_module(NAME SOURCES a.cc b.cc [PUBLIC deps] [PRIVATE deps] [HOT])
# A static library pointmap_NAME. PUBLIC deps are those that its headers need. HOT: a reconstruction's
# time is spent here, so it is optimised under the sanitizers too.
function(pointmap_module name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(pointmap_${name} STATIC ${ARG_SOURCES})
  if(POINTMAP_SANITIZE AND NOT ARG_HOT)
    pointmap_compile_quickly(pointmap_${name})
  endif()
  set_target_properties(pointmap_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(pointmap_${name} PUBLIC pointmap_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# pointmap_test(NAME SOURCES a_test.cc [LINK deps] [LABELS slow golden server gpu])
# A GoogleTest program NAME_test run as one ctest entry. Tests without a label are the fast suite.
function(pointmap_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT POINTMAP_TESTS)
    return()
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE pointmap_flags ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE POINTMAP_SOURCE_DIR="${CMAKE_SOURCE_DIR}" POINTMAP_SHARED_DIR="${CMAKE_SOURCE_DIR}/../shared")
  pointmap_compile_quickly(${name}_test)
  if(POINTMAP_SANITIZE AND "slow" IN_LIST ARG_LABELS)
    set_target_properties(${name}_test PROPERTIES EXCLUDE_FROM_ALL ON)  # takes too long to be run with them: built when it is asked for
  endif()
  pointmap_precompile(${name}_test pointmap_test_headers GTest::gmock <gmock/gmock.h> <gtest/gtest.h>)
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
endfunction()

# pointmap_fuzz(NAME SOURCES a_fuzz.cc [LINK deps]): a libFuzzer program NAME_fuzz, built with POINTMAP_FUZZ (clang).
function(pointmap_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT POINTMAP_FUZZ)
    return()
  endif()
  add_executable(${name}_fuzz ${ARG_SOURCES})
  target_link_libraries(${name}_fuzz PRIVATE pointmap_flags ${ARG_LINK})
  target_compile_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()
