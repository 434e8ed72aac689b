# What cmake --install brings: headers, the shared core with its CMake package and pkg-config file, the plugin, the
# programs with their scenes.

include(CMakePackageConfigHelpers)
set(config "${CMAKE_INSTALL_LIBDIR}/cmake/mjgear")

set(headers core/mjgear.h core/mjgear_backlash.h core/mjgear_paper.h core/mjgear_catalogue.h core/mjgear_text.h core/mjgear_report.h
  "${PROJECT_BINARY_DIR}/core/mjgear_version.h")
if(MJGEAR_BUILD_PLUGIN)
  list(APPEND headers plugin/mjgear_plugin.h)
endif()
install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mjgear")

install(TARGETS mjgear_core_shared EXPORT mjgear
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/mjgear")
install(EXPORT mjgear NAMESPACE mjgear:: FILE mjgearTargets.cmake DESTINATION "${config}")
configure_package_config_file(cmake/mjgearConfig.cmake.in "${PROJECT_BINARY_DIR}/mjgearConfig.cmake"
  INSTALL_DESTINATION "${config}" PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/mjgearConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/mjgearConfig.cmake" "${PROJECT_BINARY_DIR}/mjgearConfigVersion.cmake"
  DESTINATION "${config}")

# the folder of the file is the folder of the library, wherever the tree is moved
file(RELATIVE_PATH MJGEAR_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/mjgear.pc.in "${PROJECT_BINARY_DIR}/mjgear.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/mjgear.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The programs, and what they play. They find MuJoCo in the folder of our libraries, if it is installed there too, else
# in a copy that is theirs alone: the plugin takes the MuJoCo that has loaded it, and must not bring a second one.
option(MJGEAR_INSTALL_MUJOCO "install a copy of MuJoCo's library for the programs" ON)
set(private "${CMAKE_INSTALL_LIBDIR}/mjgear")
set(programs)
foreach(program mjgear-tool mjgear-run mjgear-view)
  if(TARGET ${program})
    list(APPEND programs ${program})
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_BINDIR}" "/")
    set_target_properties(${program} PROPERTIES
      INSTALL_RPATH "$ORIGIN/${up}${CMAKE_INSTALL_LIBDIR};$ORIGIN/${up}${private};${MJGEAR_RPATH}")
  endif()
endforeach()
if(programs)
  install(TARGETS ${programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(MJGEAR_INSTALL_MUJOCO)
    file(REAL_PATH "${MuJoCo_LIBRARY}" library)
    install(FILES "${library}" DESTINATION "${private}")
  endif()
  install(DIRECTORY scenes models data DESTINATION "${CMAKE_INSTALL_DATADIR}/mjgear"
    FILES_MATCHING PATTERN "*.xml" PATTERN "*.csv.gz" PATTERN "LICENSE*" PATTERN "README.md")
endif()

if(MJGEAR_BUILD_PLUGIN)
  install(TARGETS mjgear LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
