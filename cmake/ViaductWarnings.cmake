# Warnings, as errors unless the builder says otherwise
# (-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF or cmake --compile-no-warning-as-error).

if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR)
    set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wconversion)
