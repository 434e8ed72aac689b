#include "solving.h"

#include <stdlib.h>
#include <string.h>


int mjg_newPlace(mjgPlace* place, int n, int nmax) {
  size_t count = n > 0 ? (size_t)n : 1;
  size_t size = mjg_memsize(n, nmax);
  memset(place, 0, sizeof(*place));

  // 64 bytes is a cache line; the size must be a multiple of it
  void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
  place->solution.t = calloc(3 * count, sizeof(double));
  place->solution.mode = calloc(count, sizeof(int));
  place->work = memory ? mjg_create(memory, size, n, nmax) : NULL;
  if (!place->work || !place->solution.t || !place->solution.mode) {
    free(memory);
    place->work = NULL;
    mjg_freePlace(place);
    return 0;
  }
  place->solution.v = place->solution.t + count;
  place->solution.lambda = place->solution.t + 2 * count;
  return 1;
}


void mjg_freePlace(mjgPlace* place) {
  free(place->work);
  free(place->solution.t);
  free(place->solution.mode);
  memset(place, 0, sizeof(*place));
}


int mjg_largestBlock(const mjgProblem* problem) {
  int largest = problem->nblock ? 0 : problem->n;
  for (int i = 0; i < problem->nblock; i++) {
    largest = problem->block[i] > largest ? problem->block[i] : largest;
  }
  return largest;
}
