// A growing stack of memory for results and scratch whose size is known only at run time.
//
// Blocks are chained, so that growth never moves earlier allocations. `tb_arena_reset` frees
// everything at once and, if several blocks were in use, replaces them by one that is large enough:
// after a warm-up phase a steady workload calls malloc no more.
#ifndef TRIBO_BASE_ARENA_H_
#define TRIBO_BASE_ARENA_H_

#include <stdbool.h>
#include <stddef.h>

typedef struct tbArenaBlock tbArenaBlock;

typedef struct {
  tbArenaBlock* first;
  tbArenaBlock* current;
  size_t used;         // bytes handed out since the last reset, padding included
  size_t high_water;   // largest `used` ever
  size_t allocations;  // calls to malloc so far: a step that raises this is a defect
  size_t bytes;        // memory held
  size_t limit;        // limit of `bytes`, 0: none
  bool failed;         // an allocation returned NULL since the last reset
} tbArena;

typedef struct {
  tbArenaBlock* block;
  size_t offset;
  size_t used;
} tbArenaMark;

void tb_arena_init(tbArena* arena);
void tb_arena_free(tbArena* arena);
void tb_arena_reset(tbArena* arena);

// Memory aligned to 64 bytes, not cleared. NULL when out of memory (and `failed` is set).
void* tb_arena_alloc(tbArena* arena, size_t bytes);

// As tb_arena_alloc(count * size) with an overflow check, cleared to zero.
void* tb_arena_calloc(tbArena* arena, size_t count, size_t size);

// Scratch memory: take a mark, allocate, then free everything allocated since the mark.
tbArenaMark tb_arena_mark(const tbArena* arena);
void tb_arena_release(tbArena* arena, tbArenaMark mark);

#define TB_ARENA_NEW(arena, type, count) \
  ((type*)tb_arena_calloc((arena), (size_t)(count), sizeof(type)))

#endif
