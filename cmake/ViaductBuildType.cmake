# Build type and link-time optimisation.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# GCC's -O3 brings false "may be used uninitialized" warnings. Flags that the builder gives stay.
if(CMAKE_C_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
    set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

option(VIADUCT_LTO "Link the shared library and the programs with link-time optimisation (GCC)" OFF)

# With fat objects the installed static library works with any linker and compiler, and the tests,
# which link the same objects without LTO, stay quick to link. Clang 14 has no fat objects, so with
# clang the option changes nothing.
set(VIADUCT_LTO_COMPILE_OPTIONS "")
set(VIADUCT_LTO_LINK_OPTIONS "")
set(VIADUCT_NO_LTO_LINK_OPTIONS "")
if(VIADUCT_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(VIADUCT_LTO_COMPILE_OPTIONS -flto=auto -ffat-lto-objects)
    set(VIADUCT_LTO_LINK_OPTIONS -flto=auto)
    set(VIADUCT_NO_LTO_LINK_OPTIONS -fno-lto)
elseif(VIADUCT_LTO)
    message(STATUS "VIADUCT_LTO has no effect with ${CMAKE_C_COMPILER_ID}")
endif()
