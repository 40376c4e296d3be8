#include "linalg/blockgroups.h"

#include <string.h>

static bool same_neighbours(const tbBlockPattern* p, int i, int j, int* mark, int stamp) {
  if (p->start[i + 1] - p->start[i] != p->start[j + 1] - p->start[j]) return false;
  for (int k = p->start[j]; k < p->start[j + 1]; k++) {
    if (mark[p->column[k]] != stamp) return false;
  }
  return true;
}

bool tb_block_groups(tbArena* arena, const tbBlockPattern* p, tbBlockGroups* g) {
  int n = p->nodes;
  memset(g, 0, sizeof *g);
  g->of = TB_ARENA_NEW(arena, int, n);
  g->weight = TB_ARENA_NEW(arena, int, n);
  g->begin = TB_ARENA_NEW(arena, int, n + 1);
  g->member = TB_ARENA_NEW(arena, int, n);
  g->start = TB_ARENA_NEW(arena, int, n + 1);
  g->column = TB_ARENA_NEW(arena, int, p->start[n] + 1);
  int* mark = TB_ARENA_NEW(arena, int, n);
  if (arena->failed) return false;
  for (int i = 0; i < n; i++) g->of[i] = -1;
  g->count = 0;
  for (int i = 0; i < n; i++) {
    if (g->of[i] >= 0) continue;
    int id = g->count++, stamp = i + 1;
    for (int k = p->start[i]; k < p->start[i + 1]; k++) mark[p->column[k]] = stamp;
    for (int k = p->start[i]; k < p->start[i + 1]; k++) {
      int j = p->column[k];
      if (j != i && (j < i || g->of[j] >= 0 || !same_neighbours(p, i, j, mark, stamp))) continue;
      g->of[j] = id;
      g->weight[id] += p->dim[j];
    }
    g->of[i] = id;
  }
  // Sort members by counting, then build the graph of groups from one member of each.
  for (int i = 0; i < n; i++) g->begin[g->of[i] + 1]++;
  for (int k = 0; k < g->count; k++) g->begin[k + 1] += g->begin[k];
  int* next = TB_ARENA_NEW(arena, int, g->count);
  if (arena->failed) return false;
  for (int i = 0; i < n; i++) g->member[g->begin[g->of[i]] + next[g->of[i]]++] = i;
  memset(mark, 0, (size_t)n * sizeof(int));
  for (int a = 0, edges = 0; a < g->count; a++) {
    int i = g->member[g->begin[a]];
    mark[a] = a + 1;
    for (int k = p->start[i]; k < p->start[i + 1]; k++) {
      int b = g->of[p->column[k]];
      if (mark[b] == a + 1) continue;
      mark[b] = a + 1;
      g->column[edges++] = b;
    }
    g->start[a + 1] = edges;
  }
  return true;
}
