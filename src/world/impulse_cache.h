// Impulses of the last step by constraint key, the warm start of the next solve. A contact with a
// new key (a corner that rounding moves from one side of an edge to the other) takes the impulse
// that is nearest by position among those of the same geom pair.
#ifndef TRIBO_WORLD_IMPULSE_CACHE_H_
#define TRIBO_WORLD_IMPULSE_CACHE_H_

#include <stdbool.h>

#include "tribo/problem.h"

typedef struct {
  uint64_t key;
  int dim;          // 0: an empty slot
  int taken;        // 1: matched to a contact of this step
  tbReal residual;  // relative residual of its island after the step
  tbReal pos[3];
  tbReal lambda[TB_MAX_BLOCK_DIM];
} tbCachedImpulse;

// Open addressing over a power of two, at most half full.
typedef struct {
  tbCachedImpulse* slot;
  int capacity;
  int filled;  // entries
  int left;    // entries not yet matched
  size_t allocations;
} tbImpulseCache;

void tb_impulse_cache_free(tbImpulseCache* table);
size_t tb_impulse_cache_bytes(const tbImpulseCache* table);

// Empty the table and make room for `count` entries; false when out of memory.
bool tb_impulse_cache_clear(tbImpulseCache* table, int count);
void tb_impulse_cache_put(tbImpulseCache* table, uint64_t key, const tbReal pos[3], int dim,
                          const tbReal* lambda, tbReal residual);

// Set the cached impulse of `key` to zero, where the next solve then starts.
void tb_impulse_cache_forget(tbImpulseCache* table, uint64_t key);

// Copy the cached impulse of `key` with the same dimension into lambda, and mark it as matched;
// *residual becomes the larger one of its value and the residual of the impulse's island. False,
// and zeros, if there is none.
bool tb_impulse_cache_get(tbImpulseCache* table, uint64_t key, int dim, tbReal* lambda,
                          tbReal* residual);

// Whether the cached impulse of `key` is nonzero.
bool tb_impulse_cache_pushes(const tbImpulseCache* table, uint64_t key);

// Add the unmatched impulse of the same geom pair that is nearest to `pos` and within `reach`;
// false if there is none.
bool tb_impulse_cache_add_near(tbImpulseCache* table, uint64_t key, const tbReal pos[3],
                               tbReal reach, int dim, tbReal* lambda);

#endif
