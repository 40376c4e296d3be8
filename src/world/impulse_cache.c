// A hash table of impulses by constraint (world/impulse_cache.h).
#include "world/impulse_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

// Contacts of a geom pair start at the same slot, so that they are in one contiguous sequence.
static const uint64_t CONTACT = UINT64_C(0x8000000000000000), PAIR = UINT64_C(0xffffffff00000000);

static size_t first_slot(const tbImpulseCache* table, uint64_t key) {
  return tb_hash_slot(key & CONTACT ? key & PAIR : key, table->capacity);
}

// The slot of `key`, or the empty slot where it belongs.
static tbCachedImpulse* slot_of(const tbImpulseCache* table, uint64_t key) {
  size_t i = first_slot(table, key);
  while (table->slot[i].dim && table->slot[i].key != key) {
    i = (i + 1) & (size_t)(table->capacity - 1);
  }
  return &table->slot[i];
}

void tb_impulse_cache_free(tbImpulseCache* table) {
  free(table->slot);
  memset(table, 0, sizeof *table);
}

size_t tb_impulse_cache_bytes(const tbImpulseCache* table) {
  return sizeof(tbCachedImpulse) * (size_t)table->capacity;
}

bool tb_impulse_cache_clear(tbImpulseCache* table, int count) {
  bool grown = table->capacity < 2 * count;
  if (grown) {
    int capacity = 64;
    while (capacity < 4 * count) capacity *= 2;
    tbCachedImpulse* slot = malloc(sizeof(tbCachedImpulse) * (size_t)capacity);
    if (!slot) return false;
    free(table->slot);
    table->slot = slot;
    table->capacity = capacity;
    table->allocations++;
  }
  if (table->filled > 0 || grown) {
    for (int i = 0; i < table->capacity; i++) table->slot[i].dim = 0;
  }
  table->filled = table->left = 0;
  return true;
}

void tb_impulse_cache_put(tbImpulseCache* table, uint64_t key, const tbReal pos[3], int dim,
                          const tbReal* lambda, tbReal residual) {
  tbCachedImpulse* entry = slot_of(table, key);
  table->left += entry->dim == 0;
  table->filled += entry->dim == 0;
  entry->key = key;
  entry->dim = dim;
  entry->taken = 0;
  entry->residual = residual;
  memcpy(entry->pos, pos, sizeof entry->pos);
  memcpy(entry->lambda, lambda, sizeof(tbReal) * (size_t)dim);
}

void tb_impulse_cache_forget(tbImpulseCache* table, uint64_t key) {
  if (table->capacity) memset(slot_of(table, key)->lambda, 0, sizeof table->slot->lambda);
}

bool tb_impulse_cache_get(tbImpulseCache* table, uint64_t key, int dim, tbReal* lambda,
                          tbReal* residual) {
  tbCachedImpulse* entry = table->capacity ? slot_of(table, key) : NULL;
  if (!entry || entry->dim != dim) {
    memset(lambda, 0, sizeof(tbReal) * (size_t)dim);
    return false;
  }
  table->left -= !entry->taken;
  entry->taken = 1;
  if (entry->residual > *residual) *residual = entry->residual;
  memcpy(lambda, entry->lambda, sizeof(tbReal) * (size_t)dim);
  return true;
}

bool tb_impulse_cache_pushes(const tbImpulseCache* table, uint64_t key) {
  const tbCachedImpulse* entry = table->filled ? slot_of(table, key) : NULL;
  return entry && entry->dim && entry->lambda[0] != 0;
}

bool tb_impulse_cache_add_near(tbImpulseCache* table, uint64_t key, const tbReal pos[3],
                               tbReal reach, int dim, tbReal* lambda) {
  tbCachedImpulse* best = NULL;
  tbReal nearest = reach * reach;
  if (table->left <= 0 || !(key & CONTACT)) return false;
  for (size_t i = first_slot(table, key); table->slot[i].dim;
       i = (i + 1) & (size_t)(table->capacity - 1)) {
    tbCachedImpulse* entry = &table->slot[i];
    if (((entry->key ^ key) & PAIR) || entry->taken || entry->dim != dim) continue;
    tbReal square = 0;
    for (int k = 0; k < 3; k++) square += (entry->pos[k] - pos[k]) * (entry->pos[k] - pos[k]);
    // The result must not depend on the order of slots.
    bool tie = best && square == nearest && entry->key < best->key;
    if (!(square < nearest) && !tie) continue;
    nearest = square;
    best = entry;
  }
  if (!best) return false;
  table->left--;
  best->taken = 1;
  for (int r = 0; r < dim; r++) lambda[r] += best->lambda[r];
  return true;
}
