# io_uring through liburing: VIADUCT_IO_URING, and the target viaduct_uring to link with.
#
# The interface of the target keeps the build's paths to itself: what is installed names the library
# alone.

option(VIADUCT_IO_URING "The io_uring selector, which needs liburing" ON)

add_library(viaduct_uring INTERFACE)
set(VIADUCT_PC_URING "")
if(VIADUCT_IO_URING)
    if(NOT PKG_CONFIG_FOUND)
        message(FATAL_ERROR "liburing is found with pkg-config (or give -DVIADUCT_IO_URING=OFF)")
    endif()
    pkg_check_modules(URING liburing>=2.3)
    if(NOT URING_FOUND)
        message(FATAL_ERROR
            "liburing 2.3 was not found (liburing-dev; or give -DVIADUCT_IO_URING=OFF)")
    endif()
    target_include_directories(viaduct_uring SYSTEM
        INTERFACE "$<BUILD_INTERFACE:${URING_INCLUDE_DIRS}>")
    target_link_libraries(viaduct_uring INTERFACE
        "$<BUILD_INTERFACE:${URING_LINK_LIBRARIES}>" "$<INSTALL_INTERFACE:uring>")
    set(VIADUCT_PC_URING ", liburing")
endif()
