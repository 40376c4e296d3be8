// Calls to malloc and its like, counted at the linker (TB_WRAPS_MALLOC), so that no part of the
// library can forget to count its own. Header only: each test that includes it is linked with the
// wraps (tests.cmake of its folder).
#ifndef TRIBO_TEST_COUNT_MALLOC_H_
#define TRIBO_TEST_COUNT_MALLOC_H_

#include <stdatomic.h>
#include <stdlib.h>

static atomic_long calls;

#ifdef TB_WRAPS_MALLOC
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* memory, size_t size);

void* __wrap_malloc(size_t size) {
  atomic_fetch_add(&calls, 1);
  return __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size) {
  atomic_fetch_add(&calls, 1);
  return __real_calloc(count, size);
}

void* __wrap_realloc(void* memory, size_t size) {
  atomic_fetch_add(&calls, 1);
  return __real_realloc(memory, size);
}
#endif

#endif
