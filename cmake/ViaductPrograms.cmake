# Programs and tests.

# What uses sockets needs more than C17 from the system headers; stack/ does not. The empty value
# lets a source file say `#define _GNU_SOURCE` as well.
set(VIADUCT_SYSTEM_DEFINITIONS _GNU_SOURCE=)

# viaduct_add_tests(AREA area LIBRARIES library... [SERIAL])
#
# Every test/test_NAME.c of the calling folder becomes a program of its own, linked with CUnit and
# with the libraries given, and is registered in CTest as AREA/NAME. The C files in test/support/
# are compiled once and linked into each; those of stack/ are there for the other areas too. SERIAL
# keeps the tests of the area from running beside others (they use fixed ports or a lot of
# processor).
#
# A test that exits with 77 counts as skipped.

if(BUILD_TESTING)
    if(NOT PKG_CONFIG_FOUND)
        message(FATAL_ERROR "The tests need pkg-config (or configure with -DBUILD_TESTING=OFF)")
    endif()
    pkg_check_modules(CUNIT REQUIRED IMPORTED_TARGET cunit)
endif()

function(viaduct_add_tests)
    cmake_parse_arguments(PARSE_ARGV 0 arg "SERIAL" "AREA" "LIBRARIES")
    if(NOT BUILD_TESTING)
        return()
    endif()

    set(folder "${CMAKE_CURRENT_SOURCE_DIR}/test")
    file(GLOB tests CONFIGURE_DEPENDS "${folder}/test_*.c")
    file(GLOB support CONFIGURE_DEPENDS "${folder}/support/*.c")
    set(includes "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}")
    set(libraries ${arg_LIBRARIES} PkgConfig::CUNIT Threads::Threads)

    set(support_libraries "")
    if(support)
        add_library(${arg_AREA}_test_support STATIC EXCLUDE_FROM_ALL ${support})
        target_compile_definitions(${arg_AREA}_test_support PRIVATE ${VIADUCT_SYSTEM_DEFINITIONS})
        target_include_directories(${arg_AREA}_test_support
            PUBLIC "${folder}/support" PRIVATE ${includes})
        target_link_libraries(${arg_AREA}_test_support PRIVATE ${libraries})
        list(APPEND support_libraries ${arg_AREA}_test_support)
    endif()
    if(NOT arg_AREA STREQUAL "stack" AND TARGET stack_test_support)
        if(support)
            target_link_libraries(${arg_AREA}_test_support PUBLIC stack_test_support)
        endif()
        list(APPEND support_libraries stack_test_support)
    endif()

    foreach(source IN LISTS tests)
        cmake_path(GET source STEM stem)
        string(REGEX REPLACE "^test_" "" name "${stem}")
        set(target "${arg_AREA}_${stem}")
        add_executable(${target} ${source})
        set_target_properties(${target} PROPERTIES
            OUTPUT_NAME ${stem}
            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/test/${arg_AREA}")
        target_compile_definitions(${target} PRIVATE
            ${VIADUCT_SYSTEM_DEFINITIONS} VIADUCT_TEST_FOLDER="${folder}")
        target_include_directories(${target} PRIVATE ${includes})
        target_link_libraries(${target} PRIVATE ${support_libraries} ${libraries})
        target_link_options(${target} PRIVATE ${VIADUCT_NO_LTO_LINK_OPTIONS})
        add_test(NAME ${arg_AREA}/${name} COMMAND ${target} WORKING_DIRECTORY "${folder}")
        set_tests_properties(${arg_AREA}/${name} PROPERTIES
            LABELS ${arg_AREA} SKIP_RETURN_CODE 77 TIMEOUT 600)
        if(arg_SERIAL)
            set_tests_properties(${arg_AREA}/${name} PROPERTIES RUN_SERIAL ON)
        endif()
    endforeach()
endfunction()

# viaduct_add_program(name SOURCES file... LIBRARIES library...)
#
# A program that lands in bin/, linked with link-time optimisation when that is on.
function(viaduct_add_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} Threads::Threads)
    target_compile_definitions(${name} PRIVATE ${VIADUCT_SYSTEM_DEFINITIONS})
    target_compile_options(${name} PRIVATE ${VIADUCT_LTO_COMPILE_OPTIONS})
    target_link_options(${name} PRIVATE ${VIADUCT_LTO_LINK_OPTIONS})
endfunction()
