// Impulses of the last step by constraint identity: where the next solve starts.
#ifndef TRIBO_STEP_WARM_H_
#define TRIBO_STEP_WARM_H_

#include <stdbool.h>

#include "tribo/problem.h"

typedef struct {
  uint64_t key;
  int dim;  // 0: an empty slot
  tbReal lambda[TB_MAX_BLOCK_DIM];
} tbWarmEntry;

// Open addressing over a power of two, at most half full.
typedef struct {
  tbWarmEntry* slot;
  int capacity;
  size_t allocations;
} tbWarmTable;

void tb_warm_free(tbWarmTable* table);

// Empty the table and make room for `count` entries; false when out of memory.
bool tb_warm_clear(tbWarmTable* table, int count);
void tb_warm_put(tbWarmTable* table, uint64_t key, int dim, const tbReal* lambda);

// Copy what is known of `key` with the same dimension into lambda, or zeros.
void tb_warm_get(const tbWarmTable* table, uint64_t key, int dim, tbReal* lambda);

#endif
