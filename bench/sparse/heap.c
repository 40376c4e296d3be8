#include "heap.h"

#include "base/rng.h"

static int body_at(int side, int layer, int x, int y) {
  return (layer * side + y) * side + x;
}

bool heap_make(Heap* heap, tbArena* arena, int side) {
  int n = heap->bodies = LAYERS * side * side;
  bool* linked = tb_arena_calloc(arena, (size_t)n * (size_t)n, sizeof(bool));
  heap->start = tb_arena_alloc(arena, ((size_t)n + 1) * sizeof(int));
  heap->column = tb_arena_alloc(arena, (size_t)n * 32 * sizeof(int));
  heap->weight = tb_arena_alloc(arena, (size_t)n * sizeof(int));
  if (!linked || !heap->start || !heap->column || !heap->weight) return false;

  tbRng rng = {3};
  for (int a = 0; a < n; a++) {
    int layer = a / (side * side), y = a / side % side, x = a % side;
    heap->weight[a] = ROWS;
    for (int k = 0; k < 6; k++) {
      // Four below, then the next in x and in y.
      int bx = x + (k < 4 ? k % 2 : k == 4), by = y + (k < 4 ? k / 2 : k == 5);
      int below = k < 4 ? layer - 1 : layer;
      bool touch = tb_rng_uniform(&rng, 0, 1) < (k < 4 ? 0.45 : 0.1);
      if (!touch || below < 0 || bx >= side || by >= side) continue;
      int b = body_at(side, below, bx, by);
      linked[(size_t)a * (size_t)n + (size_t)b] = linked[(size_t)b * (size_t)n + (size_t)a] = true;
    }
  }
  int count = 0;
  for (int a = 0; a < n; a++) {
    heap->start[a] = count;
    for (int b = 0; b < n; b++) {
      if (linked[(size_t)a * (size_t)n + (size_t)b]) heap->column[count++] = b;
    }
  }
  heap->start[n] = count;
  return true;
}

void heap_block(const Heap* heap, int a, int b, tbReal block[ROWS * ROWS]) {
  (void)heap;
  // Numbers of the pair, so that both halves of the matrix agree.
  tbRng rng = {(uint64_t)(a < b ? a : b) * 65536 + (uint64_t)(a < b ? b : a) + 1};
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < ROWS; j++) {
      tbReal x = tb_rng_normal(&rng);
      if (a == b && i == j) x += 200;
      if (a == b && j < i) x = block[j * ROWS + i];
      block[a <= b ? i * ROWS + j : j * ROWS + i] = x;
    }
  }
}
