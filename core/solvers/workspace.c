#include <stdint.h>
#include <string.h>

#include "solvers/simd.h"
#include "solvers/workspace.h"

enum {
  mjgiALIGN = 64
};


// an arena; without memory it only counts
typedef struct Arena_ {
  unsigned char* memory;
  size_t used;
  int overflow;  // 1: more bytes than a size_t counts
} Arena;


static void* take(Arena* arena, size_t count, size_t size) {
  size_t left = SIZE_MAX - 2 * mjgiALIGN - arena->used;
  if (count > left / size) {
    arena->overflow = 1;
    return NULL;
  }
  size_t nbyte = (count * size + mjgiALIGN - 1) / mjgiALIGN * mjgiALIGN;
  void* piece = arena->memory ? arena->memory + arena->used : NULL;
  arena->used += nbyte;
  return piece;
}


// arrays of length numbers, one for each of count addresses
static void takeDoubles(Arena* arena, double*** addresses, size_t count, size_t length) {
  for (size_t i = 0; i < count; i++) {
    *addresses[i] = take(arena, length, sizeof(double));
  }
}


static mjgWorkspace* layOut(Arena* arena, int n, int nmax) {
  mjgWorkspace counted = {0};
  mjgWorkspace* result = take(arena, 1, sizeof(mjgWorkspace));
  mjgWorkspace* w = result ? result : &counted;
  mjgiBlock* b = &w->block;
  mjgiScratch* s = &w->scratch;
  size_t nv = (size_t)nmax, nn = nv * nv;

  double** matrices[] = {&b->A, &b->P, &w->matrix};
  takeDoubles(arena, matrices, sizeof(matrices) / sizeof(*matrices), nn);
  b->K = take(arena, nv * (size_t)mjgi_simdEnd(nmax), sizeof(double));
  double** vectors[] = {&b->alpha,  &b->beta,     &b->p,    &b->v,        &b->phi, &b->c,
                        &b->rp,     &b->rm,       &b->root, &b->scale,    &b->t,   &b->w,
                        &b->lambda, &b->residual, &b->x,    &b->y,        &b->z,   &s->best.t,
                        &s->path.t, &s->end.t,    &s->c,    &s->diagonal, &s->u,   &s->Au,
                        &s->row,    &s->rate};
  takeDoubles(arena, vectors, sizeof(vectors) / sizeof(*vectors), nv);
  int** integers[] = {&b->piece,      &b->pivot,      &b->fixed,    &s->next_piece,
                      &s->best.piece, &s->path.piece, &s->end.piece};
  for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++) {
    *integers[i] = take(arena, nv, sizeof(int));
  }
  for (size_t i = 0; i < sizeof(w->vector) / sizeof(*w->vector); i++) {
    w->vector[i] = take(arena, (size_t)n, sizeof(double));
  }
  w->mode = take(arena, (size_t)n, sizeof(int));
  w->n = n;
  w->nmax = nmax;
  return result;
}


size_t mjg_memsize(int n, int nmax) {
  if (n < 0 || nmax < 0 || nmax > n || nmax > mjgMAXBLOCK) {
    return 0;
  }
  Arena arena = {0};
  layOut(&arena, n, nmax);
  return arena.overflow ? 0 : arena.used + mjgiALIGN;
}


mjgWorkspace* mjg_create(void* memory, size_t size, int n, int nmax) {
  size_t need = mjg_memsize(n, nmax);
  if (!memory || need == 0 || size < need) {
    return NULL;
  }

  // zeroed: leftovers may be denormals, which are slow
  memset(memory, 0, size);
  uintptr_t address = (uintptr_t)memory;
  Arena arena = {.memory = (unsigned char*)memory + (mjgiALIGN - address % mjgiALIGN) % mjgiALIGN};
  return layOut(&arena, n, nmax);
}
