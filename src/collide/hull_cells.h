// The farthest vertex of a large hull by a table of directions: each face of a cube is cut into
// square cells, and a cell lists every vertex that is farthest along some direction of it. So a
// search compares a few vertices and neither climbs nor guesses how far (docs/hull.md).
#ifndef TRIBO_COLLIDE_HULL_CELLS_H_
#define TRIBO_COLLIDE_HULL_CELLS_H_

#include <stdint.h>

#include "collide/hull.h"

// Vertices at hand of a cell, ascending, and as many more elsewhere for the few that have them
// (MORE in the first of all). Where still more contend the search climbs from one of them.
#define TB_CELL_FOUR 4
#define TB_CELL_MORE UINT16_C(0x8000)
#define TB_CELL_CLIMB UINT16_MAX

// Cells along a side of the cube's faces (0: none), and the table of all.
int tb_hull_cells_side(const tbHull* hull);
size_t tb_hull_cells_bytes(const tbHull* hull);
void tb_hull_cells_fill(tbHull* hull, uint16_t* cells);

// `yes` where chosen is 1, `no` where it is 0, without a branch that cannot be predicted.
static inline int tb_choose(int chosen, int yes, int no) {
  return no ^ ((no ^ yes) & -chosen);
}

// Cell of a direction of any length, up to what overflows.
static inline int tb_cell_of(const tbReal d[3], int side) {
  tbReal x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]), xy = y > x ? y : x;
  tbReal major = z > xy ? z : xy, half = 0.5 * side, scale = half / major;
  int axis = tb_choose(z > xy, 2, y > x);
  // Also keeps a zero or non-finite direction inside the table.
  if (!(x + y + z > 1e-290) || !(x + y + z < INFINITY)) return 0;
  int i = (int)(scale * d[axis == 0] + half), j = (int)(scale * d[2 - (axis == 2)] + half);
  i -= i == side;
  j -= j == side;
  return side * (side * (2 * axis + (d[axis] < 0)) + i) + j;
}

// A vertex and how far along the direction it is.
typedef struct {
  tbReal along;
  int vertex;
} tbFar;

// The farther of two, the first of equals.
static inline tbFar tb_farther(tbFar a, tbFar b) {
  tbFar best = {b.along > a.along ? b.along : a.along,
                tb_choose(b.along > a.along, b.vertex, a.vertex)};
  return best;
}

static inline tbFar tb_far_of(const tbHull* hull, const tbReal d[3], int vertex) {
  tbFar far = {tb_dot3(hull->vert + 3 * vertex, d), vertex};
  return far;
}

static inline tbFar tb_farthest_of_four(const tbHull* hull, const tbReal d[3], int first,
                                        const uint16_t* four) {
  return tb_farther(tb_farther(tb_far_of(hull, d, first), tb_far_of(hull, d, four[1])),
                    tb_farther(tb_far_of(hull, d, four[2]), tb_far_of(hull, d, four[3])));
}

// The farthest vertex, the first of equals; or, with *climb set, where to climb from.
static inline int tb_hull_cells_find(const tbHull* hull, const tbReal d[3], bool* climb) {
  int side = hull->side, cell = tb_cell_of(d, side);
  const uint16_t *list = hull->cells + TB_CELL_FOUR * cell,
                 *rest = list + TB_CELL_FOUR * 6 * side * side;
  tbFar far = tb_farthest_of_four(hull, d, list[0] & ~TB_CELL_MORE, list);
  *climb = false;
  if (!(list[0] & TB_CELL_MORE)) return far.vertex;
  *climb = rest[0] == TB_CELL_CLIMB;
  return *climb ? far.vertex : tb_farther(far, tb_farthest_of_four(hull, d, rest[0], rest)).vertex;
}

#endif
