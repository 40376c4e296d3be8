#include "step/warm.h"

#include <stdlib.h>
#include <string.h>

static size_t first_slot(const tbWarmTable* table, uint64_t key) {
  uint64_t mixed = (key ^ (key >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(mixed >> 20) & (size_t)(table->capacity - 1);
}

// The slot that holds `key`, or the empty one where it belongs.
static tbWarmEntry* slot_of(const tbWarmTable* table, uint64_t key) {
  size_t i = first_slot(table, key);
  while (table->slot[i].dim && table->slot[i].key != key) {
    i = (i + 1) & (size_t)(table->capacity - 1);
  }
  return &table->slot[i];
}

void tb_warm_free(tbWarmTable* table) {
  free(table->slot);
  memset(table, 0, sizeof *table);
}

bool tb_warm_clear(tbWarmTable* table, int count) {
  if (table->capacity < 2 * count) {
    int capacity = 64;
    while (capacity < 4 * count) capacity *= 2;
    tbWarmEntry* grown = malloc(sizeof(tbWarmEntry) * (size_t)capacity);
    if (!grown) return false;
    free(table->slot);
    table->slot = grown;
    table->capacity = capacity;
    table->allocations++;
  }
  for (int i = 0; i < table->capacity; i++) table->slot[i].dim = 0;
  return true;
}

void tb_warm_put(tbWarmTable* table, uint64_t key, int dim, const tbReal* lambda) {
  tbWarmEntry* entry = slot_of(table, key);
  entry->key = key;
  entry->dim = dim;
  memcpy(entry->lambda, lambda, sizeof(tbReal) * (size_t)dim);
}

void tb_warm_get(const tbWarmTable* table, uint64_t key, int dim, tbReal* lambda) {
  if (table->capacity) {
    const tbWarmEntry* entry = slot_of(table, key);
    if (entry->dim == dim) {
      memcpy(lambda, entry->lambda, sizeof(tbReal) * (size_t)dim);
      return;
    }
  }
  memset(lambda, 0, sizeof(tbReal) * (size_t)dim);
}
