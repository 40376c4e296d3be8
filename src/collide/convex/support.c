// Support points of the cores.
#include <string.h>

#include "base/minmax.h"
#include "collide/convex/convex.h"
#include "collide/hull/cells.h"

static int segment_support(const tbCore* core, const tbReal d[3], tbReal p[3]) {
  int top = d[2] >= 0;
  tb_set3(p, 0, 0, top ? core->size[2] : -core->size[2]);
  return top;
}

static int box_support(const tbCore* core, const tbReal d[3], tbReal p[3]) {
  // A table instead of branches, since signs are unpredictable.
  static const tbReal sign[2] = {-1, 1};
  int x = d[0] >= 0, y = d[1] >= 0, z = d[2] >= 0;
  tb_set3(p, sign[x] * core->size[0], sign[y] * core->size[1], sign[z] * core->size[2]);
  return x | y << 1 | z << 2;
}

static int prism_support(const tbCore* core, const tbReal d[3], tbReal p[3]) {
  int best = 0;
  tbReal most = tb_dot3(core->prism, d);
  for (int v = 1; v < 6; v++) {
    tbReal along = tb_dot3(core->prism + 3 * v, d);
    best = along > most ? v : best;
    most = along > most ? along : most;
  }
  tb_copy3(p, core->prism + 3 * best);
  return best;
}

// The surface point with normal d: S^2 d / |S d| with S the diagonal matrix of the radii.
static int ellipsoid_support(const tbCore* core, const tbReal d[3], tbReal p[3]) {
  const tbReal* r = core->size;
  tbReal q[3] = {r[0] * d[0], r[1] * d[1], r[2] * d[2]};
  tbReal length = tb_norm3(q), scale = length > 0 ? 1 / length : 0;
  tb_set3(p, r[0] * q[0] * scale, r[1] * q[1] * scale, r[2] * q[2] * scale);
  return 0;
}

static int cylinder_support(const tbCore* core, const tbReal d[3], tbReal p[3]) {
  tbReal across = sqrt(d[0] * d[0] + d[1] * d[1]);
  tbReal scale = across > 0 ? core->size[0] / across : 0;
  int top = d[2] >= 0;
  tb_set3(p, scale * d[0], scale * d[1], top ? core->size[2] : -core->size[2]);
  return top;
}

// The support vertex of a hull is looked up in its direction table. Where the hull has no table, or
// the table does not decide, hill climbing starts from the seed vertex for this direction or,
// without seeds, from the last support vertex.
static inline int hull_support(tbCore* core, const tbReal d[3], tbReal p[3]) {
  const tbHull* hull = core->hull;
  bool climb = !tb_hull_cache(hull)->cells;
  int vertex = climb ? -1 : tb_hull_cells_find(hull, d, &climb);
  if (climb) vertex = tb_hull_support(hull, d, tb_hull_cache(hull)->seed ? -1 : core->hint);
  core->hint = vertex;
  tb_copy3(p, hull->vert + 3 * core->hint);
  return core->hint;
}

int tb_core_support(tbCore* core, const tbReal d[3], tbReal p[3]) {
  switch (core->kind) {
    case TB_CORE_SEGMENT: return segment_support(core, d, p);
    case TB_CORE_BOX: return box_support(core, d, p);
    case TB_CORE_HULL: return hull_support(core, d, p);
    case TB_CORE_PRISM: return prism_support(core, d, p);
    case TB_CORE_ELLIPSOID: return ellipsoid_support(core, d, p);
    case TB_CORE_CYLINDER: return cylinder_support(core, d, p);
    default: tb_zero3(p); return 0;
  }
}

tbReal tb_core_depth(const tbCore* core, const tbReal x[3]) {
  const tbReal* h = core->size;
  tbReal across = sqrt(x[0] * x[0] + x[1] * x[1]), depth = INFINITY;
  switch (core->kind) {
    case TB_CORE_BOX:
      return tb_min(h[0] - fabs(x[0]), tb_min(h[1] - fabs(x[1]), h[2] - fabs(x[2])));
    case TB_CORE_CYLINDER: return tb_min(h[0] - across, h[2] - fabs(x[2]));
    case TB_CORE_ELLIPSOID: {
      tbReal u = x[0] / h[0], v = x[1] / h[1], w = x[2] / h[2];
      return (1 - sqrt(u * u + v * v + w * w)) * tb_min(h[0], tb_min(h[1], h[2]));
    }
    case TB_CORE_HULL:
      for (int f = 0; f < core->hull->nface; f++) {
        const tbReal* plane = core->hull->plane + 4 * f;
        depth = tb_min(depth, plane[3] - tb_dot3(plane, x));
      }
      return core->hull->nface > 0 ? depth : -INFINITY;
    default: {
      tbReal beyond = core->kind == TB_CORE_SEGMENT ? tb_max(fabs(x[2]) - h[2], 0) : fabs(x[2]);
      return core->radius - sqrt(across * across + beyond * beyond);
    }
  }
}

#ifdef TB_CELLS_WIDE
// Support vertices of two hulls with direction tables, interleaved so that neither search waits for
// the other. Returns false for an invalid direction.
TB_WIDE static bool two_hulls_wide(tbConvexPair* pair, const tbReal n[3], tbSupportPoint* out) {
  const tbHull *a = pair->a.hull, *b = pair->b.hull;
  const tbReal* mat = pair->mat;
  const __m256i xyz = _mm256_set_epi64x(0, -1, -1, -1);
  __m256d along = _mm256_set_pd(0, n[2], n[1], n[0]);
  // -mat^T n, with the operation order of tb_mul_mat3t_vec3.
  __m256d rows =
      _mm256_add_pd(_mm256_mul_pd(_mm256_maskload_pd(mat, xyz), _mm256_set1_pd(-n[0])),
                    _mm256_mul_pd(_mm256_maskload_pd(mat + 3, xyz), _mm256_set1_pd(-n[1])));
  __m256d back =
      _mm256_add_pd(rows, _mm256_mul_pd(_mm256_maskload_pd(mat + 6, xyz), _mm256_set1_pd(-n[2])));
  int cell[2];
  if (!tb_simd2_cells_wide(a, b, &along, &back, cell)) return false;
  bool climb_a, climb_b;
  int i = tb_hull_cell_find_wide(a, cell[0], &along, &climb_a);
  int j = tb_hull_cell_find_wide(b, cell[1], &back, &climb_b);
  if (climb_a) i = tb_hull_support(a, n, -1);
  if (climb_b) {
    tbReal d[4];
    _mm256_storeu_pd(d, back);
    j = tb_hull_support(b, d, -1);
  }
  out->ia = pair->a.hint = i;
  out->ib = pair->b.hint = j;
  tb_copy3(out->a, a->vert + 3 * i);
  tb_pair_b_to_a(pair, b->vert + 3 * j, out->b);
  tb_sub3(out->w, out->b, out->a);
  return true;
}
#endif

void tb_pair_support(tbConvexPair* pair, const tbReal n[3], tbSupportPoint* out) {
  tbReal d[3], p[3];
  pair->evaluations++;
#ifdef TB_CELLS_WIDE
  bool hulls = pair->a.kind == TB_CORE_HULL && pair->b.kind == TB_CORE_HULL;
  bool tables = hulls && tb_hull_cache(pair->a.hull)->cells && tb_hull_cache(pair->b.hull)->cells;
  if (tables && tb_wide() && two_hulls_wide(pair, n, out)) return;
#endif
  tbReal opposite[3] = {-n[0], -n[1], -n[2]};
  tb_mul_mat3t_vec3(d, pair->mat, opposite);
  out->ia = tb_core_support(&pair->a, n, out->a);
  out->ib = tb_core_support(&pair->b, d, p);
  tb_pair_b_to_a(pair, p, out->b);
  tb_sub3(out->w, out->b, out->a);
}

// Initializes the core of a shape; returns its size.
static tbReal core_init(tbCore* core, const tbShape* s) {
  memset(core, 0, sizeof *core);
  core->hint = core->known = -1;
  switch (s->type) {
    case TB_GEOM_SPHERE:
      core->kind = TB_CORE_POINT;
      core->radius = s->size[0];
      return s->size[0];
    case TB_GEOM_CAPSULE:
      core->kind = TB_CORE_SEGMENT;
      core->radius = s->size[0];
      core->size[2] = s->size[1];
      return s->size[0] + s->size[1];
    case TB_GEOM_ELLIPSOID:
      core->kind = TB_CORE_ELLIPSOID;
      tb_copy3(core->size, s->size);
      return tb_max(s->size[0], tb_max(s->size[1], s->size[2]));
    case TB_GEOM_CYLINDER:
      core->kind = TB_CORE_CYLINDER;
      core->size[0] = s->size[0];
      core->size[2] = s->size[1];
      return s->size[0] + s->size[1];
    case TB_GEOM_BOX:
      core->kind = TB_CORE_BOX;
      tb_copy3(core->size, s->size);
      return s->size[0] + s->size[1] + s->size[2];
    default:
      core->kind = TB_CORE_HULL;
      core->hull = s->hull;
      return s->hull->radius + tb_norm3(s->hull->center);
  }
}

static void place(tbConvexPair* pair, const tbShape* a, const tbShape* b) {
  tbReal apart[3];
  tb_sub3(apart, b->pos, a->pos);
  tb_mul_mat3t_vec3(pair->pos, a->mat, apart);
  tb_mul_mat3t_mat3(pair->mat, a->mat, b->mat);
  pair->polyhedral = pair->a.kind < TB_CORE_ELLIPSOID && pair->b.kind < TB_CORE_ELLIPSOID;
  pair->evaluations = 0;
  pair->touching = 0;
  pair->early_stop = INFINITY;
}

void tb_convex_pair_init(tbConvexPair* pair, const tbShape* a, const tbShape* b) {
  tbReal size_a = core_init(&pair->a, a), size_b = core_init(&pair->b, b);
  pair->scale = size_a + size_b;
  place(pair, a, b);
}

void tb_convex_pair_init_prism(tbConvexPair* pair, const tbShape* a, const tbShape* b,
                               const tbReal prism[18]) {
  memset(&pair->a, 0, sizeof pair->a);
  pair->a.kind = TB_CORE_PRISM;
  pair->a.prism = prism;
  pair->scale = core_init(&pair->b, b);
  place(pair, a, b);
}
