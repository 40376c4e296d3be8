// Computation of a hull's direction table.
#include "collide/hull/cells.h"

#include <string.h>

#include "base/minmax.h"

#define FOUR TB_CELL_FOUR
#define MORE TB_CELL_MORE
#define CLIMB TB_CELL_CLIMB
// Hulls with fewer vertices have no table, since scanning them is as fast.
#define LEAST_VERTS 24
// Cells along a side of the cube's faces; for large hulls chosen for about PER_CELL vertices per
// cell.
#define SMALL_SIDE 8
#define LEAST_SIDE 12
#define MOST_SIDE 48
#define PER_CELL 0.4
// Each cell is extended by BEYOND, since rounding may place a direction on either side of its
// border. A vertex belongs to a cell if it is within CONTEND of the farthest, relative to the size
// of the hull.
#define BEYOND 1e-9
#define CONTEND 1e-10
// Maximum number of corners of a part of a cube face.
#define MAX_CORNERS 64

// Cells along a side of the cube's faces; 0 if the hull gets no table.
static int cells_along(const tbHull* hull) {
  if (hull->nvert < LEAST_VERTS || hull->nvert >= MORE || !hull->adj_start) return 0;
  if (hull->nvert <= TB_HULL_LANES) return SMALL_SIDE;
  int side = (int)sqrt(hull->nvert / (6 * PER_CELL));
  return side < LEAST_SIDE ? LEAST_SIDE : (side > MOST_SIDE ? MOST_SIDE : side);
}

size_t tb_hull_cells_bytes(const tbHull* hull) {
  size_t side = (size_t)cells_along(hull);
  return sizeof(uint16_t) * 2 * FOUR * 6 * side * side;
}

// A convex part of a face of the cube: directions (x, y), with +-1 at the face's axis.
typedef struct {
  tbReal x[MAX_CORNERS], y[MAX_CORNERS];
  int count;
} Part;

// Clips the part to k + a x + b y >= 0. A part with too many corners is left as it is.
static void cut(Part* p, tbReal k, tbReal a, tbReal b) {
  int n = p->count, kept = 0;
  tbReal height[MAX_CORNERS];
  bool all = true;
  for (int i = 0; i < n; i++) {
    height[i] = k + a * p->x[i] + b * p->y[i];
    all &= height[i] >= 0;
  }
  if (all || n + 1 >= MAX_CORNERS) return;
  Part left;
  for (int i = 0; i < n; i++) {
    int j = i + 1 < n ? i + 1 : 0;
    if (height[i] >= 0) {
      left.x[kept] = p->x[i];
      left.y[kept++] = p->y[i];
    }
    if ((height[i] >= 0) != (height[j] >= 0)) {
      tbReal t = height[i] / (height[i] - height[j]);
      left.x[kept] = p->x[i] + t * (p->x[j] - p->x[i]);
      left.y[kept++] = p->y[i] + t * (p->y[j] - p->y[i]);
    }
  }
  memcpy(p->x, left.x, sizeof *p->x * (size_t)kept);
  memcpy(p->y, left.y, sizeof *p->y * (size_t)kept);
  p->count = kept;
}

// The directions of a face of the cube along which a vertex is at least as far as its neighbours.
static void part_of(const tbHull* hull, int vertex, int face, Part* p) {
  static const tbReal square[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  int axis = face / 2, u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
  tbReal sign = face % 2 ? -1 : 1, slack = CONTEND * hull->radius, e[3];
  const tbReal* x = hull->vert + 3 * vertex;
  p->count = 4;
  for (int i = 0; i < 4; i++) {
    p->x[i] = square[i][0];
    p->y[i] = square[i][1];
  }
  for (int k = hull->adj_start[vertex]; k < hull->adj_start[vertex + 1] && p->count > 0; k++) {
    tb_sub3(e, x, hull->vert + 3 * hull->adj[k]);
    // The usual end: the vertex is below this neighbour for all directions of the face.
    tbReal level = sign * e[axis] + slack;
    if (level + fabs(e[u]) + fabs(e[v]) < 0) {
      p->count = 0;
    } else {
      cut(p, level, e[u], e[v]);
    }
  }
}

static int clamp_cell(tbReal x, int side) {
  return x > 0 ? (x < side ? (int)x : side - 1) : 0;
}

static void list_vertex(uint16_t* cells, int cell, int ncell, int vertex) {
  uint16_t *list = cells + FOUR * cell, *rest = list + FOUR * ncell;
  for (int k = 0; k < 2 * FOUR; k++) {
    uint16_t* place = k < FOUR ? list + k : rest + k - FOUR;
    if (*place != CLIMB) continue;
    *place = (uint16_t)vertex;
    return;
  }
  // The list is full: the flag of its first entry marks the overflow.
  list[0] |= MORE;
}

// Adds the vertex to every cell of the face that its part intersects: row by row, from the smallest
// to the largest y of the part within the row.
static void list_part(const Part* p, int vertex, int face, int side, uint16_t* cells) {
  tbReal low = INFINITY, high = -INFINITY, half = 0.5 * side;
  for (int i = 0; i < p->count; i++) {
    low = tb_min(low, p->x[i]);
    high = tb_max(high, p->x[i]);
  }
  int first = clamp_cell(half * (low + 1 - BEYOND), side);
  int last = clamp_cell(half * (high + 1 + BEYOND), side);
  for (int row = first; row <= last; row++) {
    tbReal from = row / half - 1 - BEYOND, to = (row + 1) / half - 1 + BEYOND;
    tbReal least = INFINITY, most = -INFINITY;
    for (int i = 0; i < p->count; i++) {
      int j = i + 1 < p->count ? i + 1 : 0;
      // The section of the edge within the row, as fractions of the edge.
      tbReal dx = p->x[j] - p->x[i], dy = p->y[j] - p->y[i], t0 = 0, t1 = 1;
      if (tb_max(p->x[i], p->x[j]) < from || tb_min(p->x[i], p->x[j]) > to) continue;
      if (fabs(dx) > 1e-12) {
        tbReal a = (from - p->x[i]) / dx, b = (to - p->x[i]) / dx;
        t0 = tb_max(t0, tb_min(a, b));
        t1 = tb_min(t1, tb_max(a, b));
      }
      tbReal y0 = p->y[i] + t0 * dy, y1 = p->y[i] + t1 * dy;
      least = tb_min(least, tb_min(y0, y1));
      most = tb_max(most, tb_max(y0, y1));
    }
    if (!(least <= most)) continue;
    int begin = clamp_cell(half * (least + 1 - BEYOND), side);
    int end = clamp_cell(half * (most + 1 + BEYOND), side);
    for (int column = begin; column <= end; column++) {
      list_vertex(cells, side * (side * face + row) + column, 6 * side * side, vertex);
    }
  }
}

// Completes the lists: unused entries repeat the last vertex and so never win. If the list
// overflowed or is empty, the search must climb.
static void close_list(uint16_t* list, uint16_t* rest) {
  bool full = list[0] != CLIMB && (list[0] & MORE);
  if (list[0] == CLIMB) {
    list[0] = 0;
    full = true;
  }
  list[0] = list[0] & (uint16_t)~MORE;
  for (int k = 1; k < FOUR; k++) list[k] = list[k] == CLIMB ? list[k - 1] : list[k];
  if (full) rest[0] = CLIMB;
  if (full || rest[0] != CLIMB) list[0] |= MORE;
  for (int k = 1; k < FOUR && rest[0] != CLIMB; k++) {
    rest[k] = rest[k] == CLIMB ? rest[k - 1] : rest[k];
  }
}

void tb_hull_cells_fill(const tbHull* hull, tbHullCache* cache, uint16_t* cells) {
  int side = cells_along(hull), ncell = 6 * side * side;
  Part part;
  memset(cells, 0xff, tb_hull_cells_bytes(hull));
  // This order makes the lists ascending, so that the first of equal vertices wins.
  for (int v = 0; v < hull->nvert; v++) {
    for (int face = 0; face < 6; face++) {
      part_of(hull, v, face, &part);
      if (part.count > 0) list_part(&part, v, face, side, cells);
    }
  }
  for (int c = 0; c < ncell; c++) close_list(cells + FOUR * c, cells + FOUR * (ncell + c));
  cache->side = side;
  cache->cells = cells;
}
