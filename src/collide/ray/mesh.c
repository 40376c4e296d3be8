// Ray against a mesh: only triangles whose bounding boxes the ray crosses are tested, by a tree of
// boxes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "collide/ray/ray.h"
#include "spatial/vec3.h"

// Boxes are extended by this fraction of the largest coordinate, so that rounding misses no
// triangle.
#define BESIDE 1e-9

// ---- the tree ----------------------------------------------------------------------------------

static void bound_triangle(const tbReal* vert, const int* v, tbAabb* box) {
  tbReal low[3], high[3];
  for (int i = 0; i < 3; i++) {
    low[i] = tb_min(vert[3 * v[0] + i], tb_min(vert[3 * v[1] + i], vert[3 * v[2] + i]));
    high[i] = tb_max(vert[3 * v[0] + i], tb_max(vert[3 * v[1] + i], vert[3 * v[2] + i]));
  }
  tb_aabb_round(box, low, high);
}

size_t tb_ray_tree_build(tbRayTree* tree, const tbReal* vert, const int* face, int nface) {
  // The build needs more memory than the tree that rays use.
  size_t n = (size_t)nface;
  tbBvh full = {.nodes = malloc(sizeof(tbBvhNode) * (n + 1)),
                .order = malloc(sizeof(int) * (n + 1)),
                .place = malloc(sizeof(int) * (n + 1)),
                .boxes = malloc(sizeof(tbAabb) * (n + 1)),
                .key = malloc(sizeof(float) * (n + 1))};
  tbAabb* box = malloc(sizeof(tbAabb) * (n + 1));
  size_t bytes = 0;
  *tree = (tbRayTree){0};
  if (full.nodes && full.order && full.place && full.boxes && full.key && box && nface > 0) {
    for (int f = 0; f < nface; f++) {
      bound_triangle(vert, face + 3 * f, &box[f]);
      full.order[f] = f;
    }
    tb_bvh_build(&full, box, nface);
    size_t nodes = sizeof(tbBvhNode) * (size_t)full.nnode, order = sizeof(int) * n;
    tree->node = malloc(nodes + order);
    if (tree->node) {
      tree->order = (int*)(tree->node + full.nnode);
      memcpy(tree->node, full.nodes, nodes);
      memcpy(tree->order, full.order, order);
      bytes = nodes + order;
    }
  }
  void* const scratch[] = {full.nodes, full.order, full.place, full.boxes, full.key, box};
  for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) free(scratch[i]);
  return bytes;
}

void tb_ray_tree_free(tbRayTree* tree) {
  free(tree->node);
  *tree = (tbRayTree){0};
}

// ---- the ray -----------------------------------------------------------------------------------

typedef struct {
  tbReal o[3], d[3], inverse[3];  // in the mesh's frame; 1 / d
  tbReal beside;                  // extension of the boxes, m
} Ray;

// The ray parameter of entry into a box, at least 0; INFINITY if the ray misses it. For a ray
// parallel to a side and on it, 0 times infinity is NAN, which the comparisons ignore.
static tbReal entry(const Ray* ray, const tbAabb* box) {
  tbReal in = 0, out = INFINITY;
  for (int i = 0; i < 3; i++) {
    tbReal low = (box->low[i] - ray->beside - ray->o[i]) * ray->inverse[i];
    tbReal high = (box->high[i] + ray->beside - ray->o[i]) * ray->inverse[i];
    bool forward = ray->inverse[i] > 0;
    tbReal first = forward ? low : high, last = forward ? high : low;
    if (first > in) in = first;
    if (last < out) out = last;
  }
  return in <= out ? in : INFINITY;
}

// The triangles to test, in the mesh's order or in the tree's.
typedef struct {
  const tbReal* vert;
  const int *face, *order;
} Triangles;

// The nearest hit so far.
typedef struct {
  tbReal t;  // -1: none
  int face;
} Hit;

// The nearest hit of the triangles in [first, last), or `best`.
static Hit ray_some(const Triangles* x, int first, int last, const Ray* ray, Hit best) {
  for (int p = first; p < last; p++) {
    int face = x->order ? x->order[p] : p;
    const int* v = x->face + 3 * face;
    const tbReal *a = x->vert + 3 * v[0], *b = x->vert + 3 * v[1], *c = x->vert + 3 * v[2];
    tbReal t = tb_ray_triangle(a, b, c, ray->o, ray->d);
    if (t >= 0 && (best.t < 0 || t < best.t)) best = (Hit){t, face};
  }
  return best;
}

// Visits the nearer child first, and skips boxes behind the nearest hit.
static Hit ray_tree(const tbBvhNode* tree, const Triangles* x, const Ray* ray) {
  struct {
    int node;
    tbReal in;
  } stack[64] = {{0, 0}};  // halving bounds the depth by 32
  Hit best = {-1, -1};
  for (int depth = 1; depth > 0;) {
    int k = stack[--depth].node;
    const tbBvhNode* node = &tree[k];
    if (best.t >= 0 && stack[depth].in > best.t) continue;
    if (node->leaf >= 0) {
      best = ray_some(x, tb_bvh_first(node), tb_bvh_last(node), ray, best);
      continue;
    }
    int child[2] = {k + 1, tree[k + 1].skip};
    tbReal in[2] = {entry(ray, &tree[child[0]].box), entry(ray, &tree[child[1]].box)};
    for (int i = 0; i < 2; i++) {
      int which = in[0] < in[1] ? 1 - i : i;
      if (!(in[which] < INFINITY)) continue;
      stack[depth].node = child[which];
      stack[depth++].in = in[which];
    }
  }
  return best;
}

tbReal tb_ray_mesh(const tbRayTree* tree, const tbReal* vert, const int* face, int nface,
                   const tbReal pos[3], const tbReal mat[9], const tbReal origin[3],
                   const tbReal direction[3], int* hit) {
  Triangles x = {vert, face, tree->order};
  Ray ray;
  tb_sub3(ray.o, origin, pos);
  tb_mul_mat3t_vec3(ray.o, mat, ray.o);
  tb_mul_mat3t_vec3(ray.d, mat, direction);
  Hit best = {-1, -1};
  if (!tree->node) {
    best = ray_some(&x, 0, nface, &ray, best);
    if (hit) *hit = best.face;
    return best.t;
  }
  tbReal size = 0;
  for (int i = 0; i < 3; i++) {
    const tbAabb* all = &tree->node[0].box;
    ray.inverse[i] = 1 / ray.d[i];
    size = tb_max(size, tb_max(fabs(ray.o[i]), tb_max(fabsf(all->low[i]), fabsf(all->high[i]))));
  }
  ray.beside = BESIDE * size;
  best = ray_tree(tree->node, &x, &ray);
  if (hit) *hit = best.face;
  return best.t;
}
