// Threads that share a small dense problem, where a program says that there are several:
// those of a block on a GPU. Each takes every mjgLANES-th entry of an array or column of
// a matrix, and computes by itself what is one number. A function that reads or writes
// arrays ends with a barrier, and has one between what a thread writes and what another
// one reads; calls and branches are the same in all of them.
//
//     mjgLANES   number of threads; default one
//     mjgLANE    this thread, from 0 on
//     mjgSYNC()  barrier of these threads, behind which all see what all have written
//
// It needs law/law.h and compiles where that does.

#ifndef MJGEAR_LANES_H_
#define MJGEAR_LANES_H_

#ifndef mjgLANES
#define mjgLANE   0
#define mjgLANES  1
#define mjgSYNC() ((void)0)
#endif

// whether entry i of an array is this thread's
#define mjgiMINE(i) ((i) % mjgLANES == mjgLANE)

#ifdef __CUDACC__
#define mjgiSQRT(x) sqrt(x)
#else
#define mjgiSQRT(x) ((mjgREAL)__builtin_sqrt((double)(x)))
#endif

#endif  // MJGEAR_LANES_H_
