// FNV-1a over bytes: checksums of files and golden hashes of states.
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

#endif
