// The functions of the engine, forwarded to the engine that is in this process.
//
// MuJoCo's library has the patch release in its name, and a plugin that needs it by name does not
// load without it. So calls go through pointers, which registration fills (engines.c). If one is
// missing here, the linker takes it from the engine's library, and test_engines.py fails.

#include "callbacks/engines.h"

// mjgpFORWARD(name): a pointer mjgp_slot_name and a function that jumps to it; by CMake one of
// forward_elf.h, forward_macho.h, forward_pe.h
#include mjgpFORWARD_HEADER

// clang-format off
#define mjgpFUNCTIONS(X) \
  X(mj_actuatorArmature) X(mj_actuatorDamping) X(mj_applyFT) X(mj_compile) X(mj_deleteData) \
  X(mj_deleteModel) X(mj_deleteSpec) X(mj_forwardSkip) X(mj_freeStack) X(mj_fwdAcceleration) \
  X(mj_fwdActuation) X(mj_fwdConstraint) X(mj_getPluginConfig) X(mj_id2name) X(mj_invConstraint) \
  X(mj_invPosition) X(mj_invVelocity) X(mj_inverseSkip) X(mj_isSparse) X(mj_makeData) \
  X(mj_markStack) X(mj_mulJacVec) X(mj_mulM) X(mj_name2id) X(mj_parseXMLString) X(mj_referenceConstraint) \
  X(mj_rne) X(mj_solveM) X(mj_stackAllocByte) X(mj_stackAllocInt) X(mj_stackAllocNum) X(mj_step) \
  X(mj_tendonBias) X(mj_version) X(mj_versionString) X(mjd_actuator_vel) X(mjd_smooth_vel) X(mjp_defaultPlugin) \
  X(mjp_getPlugin) X(mjp_getPluginAtSlot) X(mjp_registerPlugin) X(mju_add) X(mju_addScl) X(mju_addScl3) \
  X(mju_addTo) X(mju_addTo3) X(mju_addToScl) X(mju_addToScl3) X(mju_cholFactor) X(mju_cholSolve) X(mju_clip) \
  X(mju_copy) X(mju_copy3) X(mju_cross) X(mju_dot) X(mju_dot3) X(mju_error) X(mju_free) \
  X(mju_isBad) X(mju_isZero) X(mju_malloc) X(mju_max) X(mju_min) X(mju_mulMatMatT) X(mju_mulMatTVec) \
  X(mju_mulMatTVec3) X(mju_mulMatVec) X(mju_mulMatVec3) X(mju_norm) X(mju_normalize3) X(mju_scl) X(mju_scl3) \
  X(mju_sub) X(mju_sub3) X(mju_subFrom) X(mju_type2Str) X(mju_warning) X(mju_zero) \
  X(mjv_connector) X(mjv_initGeom)

mjgpFUNCTIONS(mjgpFORWARD)

#define mjgpROW(name) {#name, &mjgp_slot_##name},
static const mjgpForward kForward[] = {mjgpFUNCTIONS(mjgpROW) {0}};
// clang-format on


const mjgpForward* mjgp_forwards(void) {
  return kForward;
}
