// A forwarded function in a Mach-O file (macOS).

#ifndef MJGEAR_PLUGIN_FORWARD_MACHO_H_
#define MJGEAR_PLUGIN_FORWARD_MACHO_H_

// clang-format off
#if defined(__x86_64__)
#define mjgpJUMP(name) "jmpq *_mjgp_slot_" #name "(%rip)\n"
#else  // arm64, whose calling convention leaves the register x16 to such code
#define mjgpJUMP(name) \
  "adrp x16, _mjgp_slot_" #name "@PAGE\nldr x16, [x16, _mjgp_slot_" #name "@PAGEOFF]\nbr x16\n"
#endif

#define mjgpFORWARD(name)                                                                    \
  extern void* mjgp_slot_##name;                                                             \
  __attribute__((visibility("hidden"), used)) void* mjgp_slot_##name;                        \
  __asm__(".section __TEXT,__text,regular,pure_instructions\n.p2align 4\n"                  \
          ".globl _" #name "\n.private_extern _" #name "\n_" #name ":\n" mjgpJUMP(name));
// clang-format on

#endif  // MJGEAR_PLUGIN_FORWARD_MACHO_H_
