// A forwarded function in a PE file (Windows): the engine's header says that it is imported, and an imported function is
// called through the pointer __imp_NAME, which the loader would fill. Here registration does.

#ifndef MJGEAR_PLUGIN_FORWARD_PE_H_
#define MJGEAR_PLUGIN_FORWARD_PE_H_

#define mjgpFORWARD(name)                                \
  extern void* mjgp_slot_##name __asm__("__imp_" #name); \
  __attribute__((used)) void* mjgp_slot_##name;

#endif  // MJGEAR_PLUGIN_FORWARD_PE_H_
