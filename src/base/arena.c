#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel.h"

enum { ALIGNMENT = 64, MINIMUM_BLOCK = 1 << 16 };

// With the address sanitizer, memory outside allocations is poisoned and a gap follows every
// allocation, so that a write beyond its end is found, as it is with malloc.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = ALIGNMENT };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

struct tbArenaBlock {
  tbArenaBlock* next;
  size_t size;
  size_t offset;
  unsigned char* bytes;  // aligned to ALIGNMENT inside the same malloc
};

static tbArenaBlock* new_block(tbArena* arena, size_t size) {
  if (size > SIZE_MAX - sizeof(tbArenaBlock) - ALIGNMENT) return NULL;
  size_t bytes = sizeof(tbArenaBlock) + ALIGNMENT + size;
  if (arena->limit && (bytes > arena->limit || arena->bytes > arena->limit - bytes)) return NULL;
  tbArenaBlock* block = malloc(bytes);
  if (!block) return NULL;
  uintptr_t start = (uintptr_t)(block + 1);
  block->next = NULL;
  block->size = size;
  block->offset = 0;
  block->bytes = (unsigned char*)((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
  arena->allocations++;
  arena->bytes += bytes;
  ASAN_POISON_MEMORY_REGION(block->bytes, size);
  return block;
}

static void free_blocks(tbArena* arena, tbArenaBlock* block) {
  while (block) {
    tbArenaBlock* next = block->next;
    arena->bytes -= sizeof *block + ALIGNMENT + block->size;
    free(block);
    block = next;
  }
}

void tb_arena_init(tbArena* arena) {
  memset(arena, 0, sizeof *arena);
}

void tb_arena_free(tbArena* arena) {
  free_blocks(arena, arena->first);
  tb_arena_init(arena);
}

// Free the memory after `offset`.
static void give_back(tbArenaBlock* block, size_t offset) {
  block->offset = offset;
  ASAN_POISON_MEMORY_REGION(block->bytes + offset, block->size - offset);
}

void tb_arena_reset(tbArena* arena) {
  if (arena->first && arena->first->next) {
    // Several blocks were needed: replace them by one of the whole size. If that is not available,
    // the chain stays.
    size_t total = 0;
    for (tbArenaBlock* b = arena->first; b; b = b->next) total += b->size;
    tbArenaBlock* merged = new_block(arena, total);
    if (merged) {
      free_blocks(arena, arena->first);
      arena->first = merged;
    }
  }
  for (tbArenaBlock* b = arena->first; b; b = b->next) give_back(b, 0);
  arena->current = arena->first;
  arena->used = 0;
  arena->failed = false;
}

// Advance to a block with enough memory, or append one.
TB_COLD bool make_room(tbArena* arena, size_t size) {
  while (arena->current && arena->current->size - arena->current->offset < size) {
    if (!arena->current->next) {
      // Grow geometrically, so that few blocks are ever chained.
      size_t grown = 2 * arena->current->size;
      arena->current->next = new_block(arena, size > grown ? size : grown);
      if (!arena->current->next && size < grown) arena->current->next = new_block(arena, size);
      if (!arena->current->next) return false;
    }
    arena->current = arena->current->next;
    give_back(arena->current, 0);
  }
  if (!arena->current) {
    arena->first = arena->current = new_block(arena, size > MINIMUM_BLOCK ? size : MINIMUM_BLOCK);
  }
  return arena->current != NULL;
}

void* tb_arena_alloc(tbArena* arena, size_t bytes) {
  // Zero bytes take memory too, so that every result has its own address.
  size_t size = bytes ? (bytes + ALIGNMENT - 1 + GAP) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
  tbArenaBlock* block = arena->current;
  if (!block || size < bytes || block->size - block->offset < size) {
    if (size < bytes || !make_room(arena, size)) {
      arena->failed = true;
      return NULL;
    }
    block = arena->current;
  }
  void* result = block->bytes + block->offset;
  ASAN_UNPOISON_MEMORY_REGION(result, bytes);
  block->offset += size;
  arena->used += size;
  if (arena->used > arena->high_water) arena->high_water = arena->used;
  return result;
}

void* tb_arena_calloc(tbArena* arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) {
    arena->failed = true;
    return NULL;
  }
  void* result = tb_arena_alloc(arena, count * size);
  if (result) memset(result, 0, count * size);
  return result;
}

tbArenaMark tb_arena_mark(const tbArena* arena) {
  return (tbArenaMark){arena->current, arena->current ? arena->current->offset : 0, arena->used};
}

void tb_arena_release(tbArena* arena, tbArenaMark mark) {
  arena->current = mark.block ? mark.block : arena->first;
  if (arena->current) give_back(arena->current, mark.block ? mark.offset : 0);
  arena->used = mark.used;
}
