# Sanitizers (VIADUCT_SANITIZE) and libFuzzer instrumentation (VIADUCT_FUZZING).

set(VIADUCT_SANITIZE "" CACHE STRING "Comma-separated list for -fsanitize=, or empty")
option(VIADUCT_FUZZING "Build the library and the fuzz targets for libFuzzer (clang only)" OFF)

if(VIADUCT_FUZZING AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "VIADUCT_FUZZING needs clang; the C compiler is ${CMAKE_C_COMPILER_ID}")
endif()

if(VIADUCT_SANITIZE)
    add_compile_options(
        -fsanitize=${VIADUCT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${VIADUCT_SANITIZE})
endif()

if(VIADUCT_FUZZING)
    add_compile_options(-fsanitize=fuzzer-no-link)
    # The shared library leaves the sanitizer runtime to the program that loads it.
    add_link_options(-fsanitize=fuzzer-no-link)
endif()
