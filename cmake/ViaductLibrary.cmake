# libviaduct, shared and static, from the objects of stack/ and transport/; its installation,
# its package configuration and its pkg-config file.

include(CMakePackageConfigHelpers)

set(VIADUCT_INCLUDE_FOLDERS
    "${PROJECT_SOURCE_DIR}/stack/include" "${PROJECT_SOURCE_DIR}/transport/include")
file(GLOB VIADUCT_PUBLIC_HEADERS CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/stack/include/viaduct/*.h"
    "${PROJECT_SOURCE_DIR}/transport/include/viaduct/*.h")

foreach(kind IN ITEMS shared static)
    string(TOUPPER ${kind} type)
    add_library(viaduct_${kind} ${type})
    target_sources(viaduct_${kind}
        PRIVATE $<TARGET_OBJECTS:viaduct_stack> $<TARGET_OBJECTS:viaduct_transport>
        PUBLIC FILE_SET HEADERS
            BASE_DIRS ${VIADUCT_INCLUDE_FOLDERS} FILES ${VIADUCT_PUBLIC_HEADERS})
    set_target_properties(viaduct_${kind} PROPERTIES OUTPUT_NAME viaduct LINKER_LANGUAGE C)
endforeach()

set_target_properties(viaduct_shared PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION 0
    EXPORT_NAME viaduct
    VERIFY_INTERFACE_HEADER_SETS ON)
target_link_libraries(viaduct_shared PRIVATE Threads::Threads OpenSSL::SSL viaduct_uring)
target_link_libraries(viaduct_static PUBLIC Threads::Threads OpenSSL::SSL viaduct_uring)
target_link_options(viaduct_shared PRIVATE ${VIADUCT_LTO_LINK_OPTIONS})
add_library(viaduct::viaduct ALIAS viaduct_shared)
add_library(viaduct::viaduct_static ALIAS viaduct_static)

install(TARGETS viaduct_shared viaduct_static viaduct_uring
    EXPORT viaductTargets
    FILE_SET HEADERS)
set(VIADUCT_PACKAGE_FOLDER "${CMAKE_INSTALL_LIBDIR}/cmake/viaduct")
install(EXPORT viaductTargets NAMESPACE viaduct:: DESTINATION "${VIADUCT_PACKAGE_FOLDER}")
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/viaductConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/viaductConfig.cmake"
    INSTALL_DESTINATION "${VIADUCT_PACKAGE_FOLDER}")
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/viaductConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/viaductConfig.cmake"
    "${PROJECT_BINARY_DIR}/viaductConfigVersion.cmake"
    DESTINATION "${VIADUCT_PACKAGE_FOLDER}")

# The folders of the .pc file are written relative to the file itself where they can be, so that
# `cmake --install --prefix` gives a correct one too.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
    BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE VIADUCT_PC_LIBDIR)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
    BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE VIADUCT_PC_INCLUDEDIR)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE VIADUCT_PC_PREFIX)
configure_file("${PROJECT_SOURCE_DIR}/cmake/viaduct.pc.in" "${PROJECT_BINARY_DIR}/viaduct.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/viaduct.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
