#include "laws/viscoelastic/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

// The slot that holds `key`, or the empty one where it belongs.
static tbAnchor* slot_of(const tbAnchorTable* table, uint64_t key) {
  size_t mask = (size_t)(table->capacity - 1), i = tb_hash_slot(key, table->capacity);
  while (table->slot[i].used && table->slot[i].key != key) i = (i + 1) & mask;
  return &table->slot[i];
}

void tb_anchors_free(tbAnchorTable* table) {
  free(table->slot);
  memset(table, 0, sizeof *table);
}

size_t tb_anchors_bytes(const tbAnchorTable* table) {
  return sizeof(tbAnchor) * (size_t)table->capacity;
}

bool tb_anchors_clear(tbAnchorTable* table, int count) {
  if (table->capacity < 2 * count) {
    int capacity = 16;
    while (capacity < 4 * count) capacity *= 2;
    tbAnchor* grown = malloc(sizeof(tbAnchor) * (size_t)capacity);
    if (!grown) return false;
    free(table->slot);
    table->slot = grown;
    table->capacity = capacity;
    table->allocations++;
  }
  table->count = 0;
  for (int i = 0; i < table->capacity; i++) table->slot[i].used = 0;
  return true;
}

void tb_anchors_put(tbAnchorTable* table, const tbAnchor* anchor) {
  tbAnchor* slot = slot_of(table, anchor->key);
  if (!slot->used) table->count++;
  *slot = *anchor;
  slot->used = 1;
}

const tbAnchor* tb_anchors_get(const tbAnchorTable* table, uint64_t key) {
  if (table->count == 0) return NULL;
  const tbAnchor* slot = slot_of(table, key);
  return slot->used ? slot : NULL;
}
