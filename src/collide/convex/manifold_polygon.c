// The contact manifold of two cores: corners of their overlap polygon (overlap_polygon.h), with the
// gap along the normal at each, and the witness points if these are deeper.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "collide/convex/convex.h"
#include "collide/convex/overlap_polygon.h"

// Contacts closer to each other than this, relative to the size of the pair, count as one place.
#define STRETCH 1e-3

// A candidate position for the witness points, and their error there: lateral and along the normal.
typedef struct {
  tbReal u, v, h, off;
} Place;

// Whether all candidates lie within `reach` of the first.
static int is_one_place(const tbOverlapPolygon* p, tbReal reach) {
  for (int i = 1; i < p->count; i++) {
    tbReal du = p->point[i].u - p->point[0].u, dv = p->point[i].v - p->point[0].v;
    if (du * du + dv * dv > reach * reach) return 0;
  }
  return 1;
}

// Twice the area of the convex hull of the chosen points, which are sorted by angle first.
static tbReal chosen_area(const tbOverlapPolygon* p, const int* chosen, int count) {
  tbReal cu = 0, cv = 0, area = 0, angle[TB_MAX_MANIFOLD];
  int order[TB_MAX_MANIFOLD];
  for (int i = 0; i < count; i++) {
    cu += p->point[chosen[i]].u / count;
    cv += p->point[chosen[i]].v / count;
  }
  for (int i = 0; i < count; i++) {
    tbReal a = tb_atan2(p->point[chosen[i]].v - cv, p->point[chosen[i]].u - cu);
    int k = i;
    for (; k > 0 && angle[k - 1] > a; k--) {
      angle[k] = angle[k - 1];
      order[k] = order[k - 1];
    }
    angle[k] = a;
    order[k] = chosen[i];
  }
  for (int i = 0; i < count; i++) {
    const tbManifoldPoint *x = &p->point[order[i]], *y = &p->point[order[(i + 1) % count]];
    area += (x->u - cu) * (y->v - cv) - (y->u - cu) * (x->v - cv);
  }
  return area;
}

// Chooses four contacts, or up to eight if the hull of four is much smaller.
static int choose(const tbOverlapPolygon* p, int* chosen) {
  if (is_one_place(p, p->tolerance)) {
    chosen[0] = 0;
    for (int i = 1; i < p->count; i++) {
      if (p->point[i].dist < p->point[chosen[0]].dist) chosen[0] = i;
    }
    return 1;
  }
  int four[4], kept = tb_manifold_choose(p->point, p->count, 4, four);
  if (kept == 4 && p->count > 4) {
    int more = tb_manifold_choose(p->point, p->count, TB_MAX_MANIFOLD, chosen);
    if (more > 4 && chosen_area(p, chosen, more) > 1.2 * chosen_area(p, four, kept)) return more;
  }
  memcpy(chosen, four, (size_t)kept * sizeof *four);
  return kept;
}

// Pairs of a corner of f and an edge of g, where g is above f for sign 1; keeps the best.
static void nearest_corner(const tbOverlapPolygon* p, const tbFlatFeature* f,
                           const tbFlatFeature* g, tbReal sign, Place* best) {
  int n = g->facing->count;
  for (int i = 0; i < f->facing->count; i++) {
    for (int j = 0; j < n; j++) {
      int k = j + 1 < n ? j + 1 : 0;
      tbReal du = g->u[k] - g->u[j], dv = g->v[k] - g->v[j], length2 = du * du + dv * dv;
      tbReal u = f->u[i] - g->u[j], v = f->v[i] - g->v[j];
      tbReal t = length2 > 0 ? tb_min(tb_max((u * du + v * dv) / length2, 0), 1) : 0;
      tbReal h = g->h[j] + t * (g->h[k] - g->h[j]);
      u -= t * du;
      v -= t * dv;
      tbReal off = sqrt(u * u + v * v) + fabs(sign * (h - f->h[i]) - p->least);
      if (!(off < best->off)) continue;
      *best = (Place){f->u[i] - 0.5 * u, f->v[i] - 0.5 * v, 0.5 * (f->h[i] + h), off};
    }
  }
}

// The witness points in the polygon's coordinates. EPA's points may be offset laterally; then the
// point of a core with a point feature is used, or else the best of the lowest corner and of the
// corners and edges of the features.
static Place witness_place(const tbOverlapPolygon* p, const tbConvexResult* r,
                           const tbFacingFeature* pa, const tbFacingFeature* pb,
                           const Place* corner) {
  tbReal rest[3], x[3];
  tb_sub3(rest, r->point_b, r->point_a);
  tb_add_scaled3(rest, rest, -r->dist, r->normal);
  Place best = {.off = tb_norm3(rest)};
  bool off = best.off > 0.1 * p->tolerance;
  bool point_a = pa->kind == TB_FACING_POINT, point_b = pb->kind == TB_FACING_POINT;
  if (off && point_a) {
    tb_add_scaled3(x, pa->point[0], 0.5 * r->dist, r->normal);
  } else if (off && point_b) {
    tb_add_scaled3(x, pb->point[0], -0.5 * r->dist, r->normal);
  } else {
    tb_copy3(x, p->origin);
  }
  tb_overlap_polygon_project(p, x, &best.u, &best.v, &best.h);
  if (!off || point_a || point_b) return best;
  if (corner->off < best.off) best = *corner;
  nearest_corner(p, &p->a, &p->b, 1, &best);
  nearest_corner(p, &p->b, &p->a, -1, &best);
  return best;
}

// Adds the witness points as a contact. The deepest contact (-1: none) is replaced if it is at the
// same place, and its identity is kept.
static void add_witness(tbOverlapPolygon* p, const tbConvexResult* r, const tbFacingFeature* pa,
                        const tbFacingFeature* pb, Place at, int deepest) {
  int count = p->count;
  // A point feature gives the contact its identity.
  uint32_t feature = TB_FEATURE(0, 0, 0);
  if (pa->kind == TB_FACING_POINT) feature = TB_FEATURE(1, pa->id[0], 0);
  if (pb->kind == TB_FACING_POINT) feature = TB_FEATURE(2, pb->id[0], 0);
  if (deepest >= 0) {
    tbReal du = at.u - p->point[deepest].u, dv = at.v - p->point[deepest].v;
    tbReal same = 1e3 * p->tolerance;
    if (du * du + dv * dv < same * same) {
      feature = p->feature[deepest];
      p->count = deepest;
    }
  }
  tb_overlap_polygon_add(p, at.u, at.v, at.h - 0.5 * r->dist, at.h + 0.5 * r->dist, feature);
  if (p->count < count) p->count = count;
}

// The corner with the smallest gap, and by how much that gap exceeds s(n). An excess up to the
// tolerance comes from rounding along a nearly parallel edge and is removed. (A larger excess is
// real; removing it would move the points off the shapes.)
static Place lowest_corner(tbOverlapPolygon* p) {
  int k = 0;
  if (p->count == 0) return (Place){.off = INFINITY};
  for (int i = 1; i < p->count; i++) {
    if (p->point[i].dist < p->point[k].dist) k = i;
  }
  tbReal more = p->point[k].dist - p->least;
  if (more > 0 && more <= p->tolerance && !p->terrain) {
    p->ha[k] += 0.5 * more;
    p->hb[k] -= 0.5 * more;
    p->point[k].dist = p->least;
  }
  return (Place){p->point[k].u, p->point[k].v, 0.5 * (p->ha[k] + p->hb[k]), more};
}

// Keeps the contacts within the limit, and leaves room for one more. Returns the deepest, or -1.
static int keep_within(tbOverlapPolygon* p, tbReal limit) {
  int kept = 0, deepest = -1;
  for (int i = 0; i < p->count; i++) {
    if (!(p->point[i].dist <= limit)) continue;
    p->point[kept] = p->point[i];
    p->ha[kept] = p->ha[i];
    p->hb[kept] = p->hb[i];
    p->feature[kept] = p->feature[i];
    if (deepest < 0 || p->point[kept].dist < p->point[deepest].dist) deepest = kept;
    kept++;
  }
  p->count = kept < TB_MANIFOLD_MAX ? kept : TB_MANIFOLD_MAX - 1;
  return deepest;
}

// Contact k of the polygon, midway between the surfaces around the cores.
static void set_contact(const tbOverlapPolygon* p, const tbConvexPair* pair, int k,
                        tbContactPoint* out) {
  tbReal ra = pair->a.radius, rb = pair->b.radius;
  tbReal pos[3], middle = 0.5 * (p->ha[k] + ra + p->hb[k] - rb);
  tb_add_scaled3(pos, p->origin, p->point[k].u, p->e1);
  tb_add_scaled3(pos, pos, p->point[k].v, p->e2);
  tb_add_scaled3(pos, pos, middle, p->n);
  tb_contact_set(out, pos, p->n, p->point[k].dist - ra - rb, p->feature[k]);
}

// With `terrain`, all corners of the overlap polygon are kept, and nothing beyond it is added.
static int manifold(tbConvexPair* pair, const tbConvexResult* r, tbReal margin, int terrain,
                    tbContactPoint* out) {
  tbReal limit = margin + pair->a.radius + pair->b.radius, d[3];
  if (!(r->dist <= limit)) return 0;
  tbFacingFeature pa, pb;
  tb_feature_facing(&pair->a, r->normal, &pa);
  tb_mul_mat3t_vec3(d, pair->mat, r->normal);
  tb_scale3(d, d, -1);
  tb_feature_facing(&pair->b, d, &pb);
  tb_feature_facing_move(&pb, pair->mat, pair->pos);

  // The overlap polygon, and the witness points if no corner is as deep. On a terrain, overlapping
  // shapes get only the polygon's corners, except where the polygon is a single point, which
  // rounding may drop.
  tbOverlapPolygon p;
  tb_overlap_polygon_find(&p, pair, r, &pa, &pb, terrain);
  Place corner = lowest_corner(&p);
  int deepest = keep_within(&p, limit);
  bool single = pa.kind == TB_FACING_POINT || pb.kind == TB_FACING_POINT;
  bool allowed = !terrain || single || r->dist > 0 || (r->certified && p.count == 0);
  bool missing = deepest < 0 || !(p.point[deepest].dist <= r->dist + p.tolerance);
  if (missing && allowed) {
    add_witness(&p, r, &pa, &pb, witness_place(&p, r, &pa, &pb, &corner), deepest);
  }
  if (p.count == 0) return 0;

  int chosen[TB_TERRAIN_MANIFOLD], count = p.count;
  if (!terrain) {
    count = choose(&p, chosen);
  } else {
    if (count > TB_TERRAIN_MANIFOLD) count = TB_TERRAIN_MANIFOLD;
    for (int i = 0; i < count; i++) chosen[i] = i;
  }
  for (int i = 0; i < count; i++) set_contact(&p, pair, chosen[i], &out[i]);
  // (For touching shapes the polygon already contains both ends of the edge.)
  bool edges = r->dist > 0 && !(pair->touching > 0) && pa.kind == TB_FACING_POLYGON &&
               pb.kind == TB_FACING_POLYGON;
  if (!edges || terrain || isinf(margin) || !is_one_place(&p, STRETCH * pair->scale)) return count;
  return tb_parallel_edges(&pa, &pb, r->normal, STRETCH * pair->scale, margin, out, count);
}

int tb_convex_manifold(tbConvexPair* pair, const tbConvexResult* r, tbReal margin,
                       tbContactPoint* out) {
  return manifold(pair, r, margin, 0, out);
}

int tb_convex_manifold_terrain(tbConvexPair* pair, const tbConvexResult* r, tbReal margin,
                               tbContactPoint* out) {
  return manifold(pair, r, margin, 1, out);
}
