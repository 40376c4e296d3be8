// FNV-1a over bytes: checksums of files, golden hashes of states, and slots of hash tables.
#ifndef TRIBO_BASE_HASH_H_
#define TRIBO_BASE_HASH_H_

#include <stddef.h>
#include <stdint.h>

#define TB_HASH_SEED UINT64_C(0xcbf29ce484222325)

static inline uint64_t tb_hash(uint64_t hash, const void* data, size_t bytes) {
  const unsigned char* p = (const unsigned char*)data;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  return hash;
}

// The slot at which the search for a key starts in a table of `capacity` slots, a power of two.
static inline size_t tb_hash_slot(uint64_t key, int capacity) {
  uint64_t mixed = (key ^ (key >> 29)) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(mixed >> 20) & (size_t)(capacity - 1);
}

#endif
