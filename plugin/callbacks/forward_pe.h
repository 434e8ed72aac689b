// A forwarded function in a PE file (Windows): an imported function is called through the pointer
// __imp_NAME, which registration fills instead of the loader.

#ifndef MJGEAR_PLUGIN_FORWARD_PE_H_
#define MJGEAR_PLUGIN_FORWARD_PE_H_

#define mjgpFORWARD(name)                                \
  extern void* mjgp_slot_##name __asm__("__imp_" #name); \
  __attribute__((used)) void* mjgp_slot_##name;

#endif  // MJGEAR_PLUGIN_FORWARD_PE_H_
