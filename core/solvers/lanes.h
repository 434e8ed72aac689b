// Threads of a GPU's block that share a small dense problem. Each takes every mjgLANES-th entry
// of an array or column of a matrix, and computes scalars by itself. A function ends with a
// barrier, and has one between a write and a read by another thread; calls and branches are the
// same in all threads.
//
//     mjgLANES   number of threads; default one
//     mjgLANE    this thread, from 0 on
//     mjgSYNC()  barrier of these threads and their memory
//
// It needs law/law.h and compiles wherever that header does.

#ifndef MJGEAR_LANES_H_
#define MJGEAR_LANES_H_

#ifndef mjgLANES
#define mjgLANE   0
#define mjgLANES  1
#define mjgSYNC() ((void)0)
#endif

// 1 if entry i of an array belongs to this thread
#define mjgiMINE(i) ((i) % mjgLANES == mjgLANE)

#ifdef __CUDACC__
#define mjgiSQRT(x) sqrt(x)
#else
#define mjgiSQRT(x) ((mjgREAL)__builtin_sqrt((double)(x)))
#endif

#endif  // MJGEAR_LANES_H_
