// A forwarded function in an ELF file (Linux).

#ifndef MJGEAR_PLUGIN_FORWARD_ELF_H_
#define MJGEAR_PLUGIN_FORWARD_ELF_H_

// clang-format off
#if defined(__x86_64__)
#define mjgpJUMP(name) "jmp *mjgp_slot_" #name "(%rip)\n"
#else  // aarch64, whose calling convention leaves the register x16 to such code
#define mjgpJUMP(name) \
  "adrp x16, mjgp_slot_" #name "\nldr x16, [x16, :lo12:mjgp_slot_" #name "]\nbr x16\n"
#endif

#define mjgpFORWARD(name)                                                                    \
  extern void* mjgp_slot_##name;                                                             \
  __attribute__((visibility("hidden"), used)) void* mjgp_slot_##name;                        \
  __asm__(".pushsection .text\n.p2align 4\n.globl " #name "\n.hidden " #name "\n"             \
          ".type " #name ", %function\n" #name ":\n" mjgpJUMP(name)                          \
          ".size " #name ", . - " #name "\n.popsection\n");
// clang-format on

#endif  // MJGEAR_PLUGIN_FORWARD_ELF_H_
