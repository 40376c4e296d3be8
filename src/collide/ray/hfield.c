// Ray against a height field: the columns of cells under the ray in order, then the walls and the
// bottom that close the field.
#include <math.h>

#include "base/minmax.h"
#include "collide/ray/ray.h"
#include "spatial/vec3.h"

// Cells within this distance (in cells) of those under the ray are tested, too, so that rounding
// misses none.
#define BESIDE 1e-9

// A ray in the field's frame; `major` is the grid axis along which it crosses most cells.
typedef struct {
  const tbHField* field;
  tbReal o[3], d[3];
  int major, minor;  // 0: x, columns; 1: y, rows
  int cells[2];      // along x and y
  tbReal width[2];   // of a cell
} Ray;

static tbReal height(const tbHField* f, int row, int column) {
  return f->size[2] * f->data[(size_t)row * (size_t)f->ncol + (size_t)column];
}

// The two triangles of a cell, the same as for contacts.
static tbReal ray_cell(const Ray* ray, int row, int column) {
  tbReal corner[12];
  for (int k = 0; k < 4; k++) {
    int r = row + k / 2, c = column + k % 2;
    tb_set3(corner + 3 * k, c * ray->width[0] - ray->field->size[0],
            r * ray->width[1] - ray->field->size[1], height(ray->field, r, c));
  }
  tbReal lower = tb_ray_triangle(corner, corner + 3, corner + 9, ray->o, ray->d);
  return tb_ray_nearer(lower, tb_ray_triangle(corner, corner + 9, corner + 6, ray->o, ray->d));
}

// Clips the part [t[0], t[1]] of the ray to [low, high] along an axis.
static bool cut(tbReal o, tbReal d, tbReal low, tbReal high, tbReal t[2]) {
  if (d == 0) return o >= low && o <= high;
  tbReal in = (low - o) / d, out = (high - o) / d;
  t[0] = tb_max(t[0], tb_min(in, out));
  t[1] = tb_min(t[1], tb_max(in, out));
  return t[0] <= t[1];
}

// Index along an axis of the cell under the ray at parameter t, shifted by `beside` cells.
static int cell_at(const Ray* ray, int axis, tbReal t, tbReal beside) {
  tbReal x = ray->o[axis] + t * ray->d[axis] + ray->field->size[axis];
  tbReal cell = floor(x / ray->width[axis] + beside);
  return (int)tb_min(tb_max(cell, 0), ray->cells[axis] - 1);
}

// The cells of one column along the minor axis that the ray passes over between t[0] and t[1].
static tbReal ray_column(const Ray* ray, int column, const tbReal t[2]) {
  int forward = ray->d[ray->minor] >= 0;
  int first = cell_at(ray, ray->minor, t[!forward], -BESIDE);
  int last = cell_at(ray, ray->minor, t[forward], BESIDE);
  tbReal best = -1;
  for (int i = first; i <= last; i++) {
    best =
        tb_ray_nearer(best, ray->major == 0 ? ray_cell(ray, i, column) : ray_cell(ray, column, i));
  }
  return best;
}

static tbReal ray_surface(const Ray* ray) {
  const tbHField* f = ray->field;
  tbReal t[2] = {0, INFINITY};
  bool over = cut(ray->o[0], ray->d[0], -f->size[0], f->size[0], t) &&
              cut(ray->o[1], ray->d[1], -f->size[1], f->size[1], t) &&
              cut(ray->o[2], ray->d[2], 0, f->size[2], t);
  if (!over || !(t[1] < INFINITY)) return -1;
  int axis = ray->major, step = ray->d[axis] >= 0 ? 1 : -1;
  int i = cell_at(ray, axis, t[0], -step * BESIDE), end = cell_at(ray, axis, t[1], step * BESIDE);
  for (;; i += step) {
    // The ray leaves this column at the border; the next column starts there.
    tbReal part[2] = {t[0], t[1]};
    if (ray->d[axis] != 0) {
      tbReal border = (i + (step > 0)) * ray->width[axis] - f->size[axis];
      part[1] = tb_min(t[1], tb_max(t[0], (border - ray->o[axis]) / ray->d[axis]));
    }
    tbReal hit = ray_column(ray, i, part);
    if (hit >= 0 || i == end) return hit;
    t[0] = part[1];
  }
}

// A wall at the border of the field, from z = 0 up to the surface.
static tbReal ray_wall(const Ray* ray, int axis, int side) {
  const tbHField* f = ray->field;
  int along = 1 - axis;
  if (ray->d[axis] == 0) return -1;
  tbReal t = (side * f->size[axis] - ray->o[axis]) / ray->d[axis];
  tbReal x = (ray->o[along] + t * ray->d[along] + f->size[along]) / ray->width[along];
  tbReal z = ray->o[2] + t * ray->d[2];
  if (!(t >= 0) || !(x >= 0 && x <= ray->cells[along]) || !(z >= 0)) return -1;
  int i = (int)tb_min(floor(x), ray->cells[along] - 1), j = side > 0 ? ray->cells[axis] : 0;
  tbReal low = axis == 0 ? height(f, i, j) : height(f, j, i);
  tbReal high = axis == 0 ? height(f, i + 1, j) : height(f, j, i + 1);
  return z <= low + (x - i) * (high - low) ? t : -1;
}

tbReal tb_ray_hfield(const tbHField* f, const tbReal pos[3], const tbReal mat[9],
                     const tbReal origin[3], const tbReal direction[3]) {
  Ray ray = {.field = f, .cells = {f->ncol - 1, f->nrow - 1}};
  tb_sub3(ray.o, origin, pos);
  tb_mul_mat3t_vec3(ray.o, mat, ray.o);
  tb_mul_mat3t_vec3(ray.d, mat, direction);
  for (int i = 0; i < 2; i++) ray.width[i] = 2 * f->size[i] / ray.cells[i];
  ray.major = fabs(ray.d[0]) / ray.width[0] >= fabs(ray.d[1]) / ray.width[1] ? 0 : 1;
  ray.minor = 1 - ray.major;
  tbReal best = ray_surface(&ray);
  for (int axis = 0; axis < 2; axis++) {
    best = tb_ray_nearer(best, ray_wall(&ray, axis, -1));
    best = tb_ray_nearer(best, ray_wall(&ray, axis, 1));
  }
  static const tbReal SAME[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const tbReal half[3] = {f->size[0], f->size[1], f->size[3] / 2}, middle[3] = {0, 0, -half[2]};
  return tb_ray_nearer(best, tb_ray_shape(TB_GEOM_BOX, half, middle, SAME, ray.o, ray.d));
}

// Slopes of the surface below or above a point of the field's frame, and its height there.
static tbReal surface_at(const tbHField* f, const tbReal p[3], tbReal slope[2]) {
  const int cells[2] = {f->ncol - 1, f->nrow - 1};
  tbReal width[2], part[2];
  int at[2];
  for (int k = 0; k < 2; k++) {
    width[k] = 2 * f->size[k] / cells[k];
    tbReal x = tb_min(tb_max((p[k] + f->size[k]) / width[k], 0), cells[k]);
    at[k] = (int)tb_min(floor(x), cells[k] - 1);
    part[k] = x - at[k];
  }
  tbReal z[2][2];
  for (int r = 0; r < 2; r++) {
    for (int c = 0; c < 2; c++) z[r][c] = height(f, at[1] + r, at[0] + c);
  }
  // The two triangles of a cell meet at the diagonal from its first to its last corner.
  bool lower = part[0] >= part[1];
  tbReal rise[2] = {lower ? z[0][1] - z[0][0] : z[1][1] - z[1][0],
                    lower ? z[1][1] - z[0][1] : z[1][0] - z[0][0]};
  for (int k = 0; k < 2; k++) slope[k] = rise[k] / width[k];
  return z[0][0] + part[0] * rise[0] + part[1] * rise[1];
}

void tb_ray_hfield_normal(const tbHField* f, const tbReal pos[3], const tbReal mat[9],
                          const tbReal point[3], tbReal normal[3]) {
  const tbReal rounding = 1e-9;
  tbReal p[3], n[3] = {0, 0, 0}, slope[2];
  tb_sub3(p, point, pos);
  tb_mul_mat3t_vec3(p, mat, p);
  tbReal away = fabs(p[2] - surface_at(f, p, slope));
  int wall = fabs(p[0]) - f->size[0] > fabs(p[1]) - f->size[1] ? 0 : 1;
  if (away <= rounding * (f->size[0] + f->size[1] + f->size[2])) {
    tb_set3(n, -slope[0], -slope[1], 1);
  } else if (-f->size[3] - p[2] > fabs(p[wall]) - f->size[wall]) {
    n[2] = -1;
  } else {
    n[wall] = p[wall];
  }
  tb_mul_mat3_vec3(normal, mat, n);
  tb_normalize3(normal);
}
