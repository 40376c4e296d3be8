// The arena: alignment, growth without moving blocks, marks, and no allocation after warm-up.
#include "base/arena.h"

#include "common/test.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

// Memory outside of allocations is poisoned: the bytes after the last one, and released memory.
static void sanitizer_guards_what_is_free(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  for (size_t size = 1; size < 200; size += 7) {
    tbArenaMark mark = tb_arena_mark(&arena);
    char* p = tb_arena_alloc(&arena, size);
    assert_null(__asan_region_is_poisoned(p, size));
    assert_true(__asan_address_is_poisoned(p + size));
    char* next = tb_arena_alloc(&arena, 8);
    assert_true(__asan_address_is_poisoned(next - 1));
    tb_arena_release(&arena, mark);
    assert_true(__asan_address_is_poisoned(p) && __asan_address_is_poisoned(next));
    p = tb_arena_alloc(&arena, size);
    tb_arena_reset(&arena);
    assert_true(__asan_address_is_poisoned(p));
  }
  tb_arena_free(&arena);
}
#endif

static void growth_keeps_what_was_given(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  int* first = TB_ARENA_NEW(&arena, int, 100);
  for (int i = 0; i < 100; i++) first[i] = i;
  for (int i = 0; i < 50; i++) assert_non_null(tb_arena_alloc(&arena, 100000));
  for (int i = 0; i < 100; i++) assert_int_equal(first[i], i);
  tb_arena_free(&arena);
}

static void warm_rounds_allocate_nothing(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  tbRng rng = {1};
  size_t warm = 0;
  for (int round = 0; round < 20; round++) {
    tb_arena_reset(&arena);
    if (round == 2) warm = arena.allocations;
    tbRng same = rng;
    for (int i = 0; i < 100; i++) {
      unsigned char* p = tb_arena_alloc(&arena, (size_t)tb_rng_int(&same, 9000));
      assert_non_null(p);
      assert_int_equal((uintptr_t)p % 64, 0);
    }
  }
  assert_int_equal(arena.allocations, warm);
  tb_arena_free(&arena);
}

static void marks_give_back(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  tbArenaMark empty = tb_arena_mark(&arena);
  void* a = tb_arena_alloc(&arena, 1000);
  tb_arena_release(&arena, empty);
  assert_ptr_equal(tb_arena_alloc(&arena, 1000), a);
  tbArenaMark mark = tb_arena_mark(&arena);
  for (int i = 0; i < 100; i++) tb_arena_alloc(&arena, 5000);
  tb_arena_release(&arena, mark);
  assert_int_equal(arena.used, mark.used);
  tb_arena_free(&arena);
}

static void absurd_sizes_fail_cleanly(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  assert_null(tb_arena_alloc(&arena, SIZE_MAX - 3));
  assert_null(tb_arena_calloc(&arena, SIZE_MAX / 2, 8));
  assert_true(arena.failed);
  tb_arena_reset(&arena);
  assert_non_null(tb_arena_alloc(&arena, 8));
  tb_arena_free(&arena);
}

// The arena counts the bytes it holds and respects its limit: larger requests are refused.
static void limit_is_kept(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  assert_int_equal(arena.bytes, 0);
  arena.limit = 200000;
  assert_non_null(tb_arena_alloc(&arena, 60000));
  assert_true(arena.bytes >= 60000 && arena.bytes <= 200000);
  // twice the first block would be too much, the size itself is not
  assert_non_null(tb_arena_alloc(&arena, 100000));
  assert_null(tb_arena_alloc(&arena, 100000));
  assert_true(arena.failed);
  assert_true(arena.bytes <= 200000);
  tb_arena_reset(&arena);
  assert_non_null(tb_arena_alloc(&arena, 60000));
  assert_null(tb_arena_alloc(&arena, SIZE_MAX / 2));
  tb_arena_free(&arena);
  assert_int_equal(arena.bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(growth_keeps_what_was_given),
      cmocka_unit_test(warm_rounds_allocate_nothing),
      cmocka_unit_test(marks_give_back),
      cmocka_unit_test(absurd_sizes_fail_cleanly),
      cmocka_unit_test(limit_is_kept),
#ifdef __SANITIZE_ADDRESS__
      cmocka_unit_test(sanitizer_guards_what_is_free),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
