// Impulses of the last step by constraint identity: where the next solve starts. Contacts whose
// identity is new (a corner that is on one side of an edge or on the other by rounding alone) go by
// place among those of the same pair.
#ifndef TRIBO_WORLD_IMPULSE_CACHE_H_
#define TRIBO_WORLD_IMPULSE_CACHE_H_

#include <stdbool.h>

#include "tribo/problem.h"

typedef struct {
  uint64_t key;
  int dim;          // 0: an empty slot
  int taken;        // by a contact of this step
  tbReal residual;  // relative, that the step left in its island
  tbReal pos[3];
  tbReal lambda[TB_MAX_BLOCK_DIM];
} tbCachedImpulse;

// Open addressing over a power of two, at most half full.
typedef struct {
  tbCachedImpulse* slot;
  int capacity;
  int filled;  // entries
  int left;    // entries that nobody has taken yet
  size_t allocations;
} tbImpulseCache;

void tb_impulse_cache_free(tbImpulseCache* table);
size_t tb_impulse_cache_bytes(const tbImpulseCache* table);

// Empty the table and make room for `count` entries; false when out of memory.
bool tb_impulse_cache_clear(tbImpulseCache* table, int count);
void tb_impulse_cache_put(tbImpulseCache* table, uint64_t key, const tbReal pos[3], int dim,
                          const tbReal* lambda, tbReal residual);

// Let the next solve start from zero at `key`.
void tb_impulse_cache_forget(tbImpulseCache* table, uint64_t key);

// Copy what is known of `key` with the same dimension into lambda; *residual grows to that of its
// island. False, and zeros, where nothing is.
bool tb_impulse_cache_get(tbImpulseCache* table, uint64_t key, int dim, tbReal* lambda,
                          tbReal* residual);

// Whether the impulse that is known of `key` is not zero.
bool tb_impulse_cache_pushes(const tbImpulseCache* table, uint64_t key);

// Add what nobody has taken yet of the same pair, nearest to `pos` and within `reach`; false where
// there is nothing.
bool tb_impulse_cache_add_near(tbImpulseCache* table, uint64_t key, const tbReal pos[3],
                               tbReal reach, int dim, tbReal* lambda);

#endif
