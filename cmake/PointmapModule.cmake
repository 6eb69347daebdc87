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
endif()
if(POINTMAP_FUZZ)
  # Coverage in every library, or libFuzzer would be blind beyond the fuzz target's own file.
  target_compile_options(pointmap_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# pointmap_module(NAME SOURCES a.cc b.cc [PUBLIC deps] [PRIVATE deps])
# A static library pointmap_NAME. PUBLIC deps are those that its headers need.
function(pointmap_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(pointmap_${name} STATIC ${ARG_SOURCES})
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
  # A test runs for less time than its compilation takes: half of that under the sanitizers without optimisation, three quarters with -O1.
  # The libraries that it tests are compiled as ever.
  if(POINTMAP_SANITIZE)
    target_compile_options(${name}_test PRIVATE -O0)
  else()
    target_compile_options(${name}_test PRIVATE -O1)
  endif()
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
