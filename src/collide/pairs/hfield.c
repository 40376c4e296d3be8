// Height field against convex shapes: each triangle under the shape is the top of a prism, and the
// pair prism-shape is solved like any convex pair. The prisms act as one terrain
// (docs/notebook/hfield.md): a contact counts only if its point is a local minimum of the distance
// over the whole surface, so that walls and edges between prisms never push.
#include <string.h>

#include "base/minmax.h"
#include "collide/convex/convex.h"
#include "collide/pairs/hfield_choice.h"
#include "collide/convex/feature_facing.h"

// For shapes with more corners, only the corners of one face are used.
#define MAX_CORNERS 32
// Number of cached directions that separate the shape from recent prisms.
#define MAX_SEPARATING 4
// GJK's tolerance where only bounds of the distance are needed.
#define COARSE 1e-3

// The kind of feature that identifies a contact: a point of the shape, a grid point, two crossing
// edges, an outer wall. On a tie the first of this order is preferred.
enum { BY_SHAPE, BY_GRID, BY_EDGES, BY_WALL };
// Triangles whose normal has a smaller z count as the sides of walls.
#define STEEP 0.9
// A face at a smaller angle (sine) to a triangle counts as parallel to it.
#define PARALLEL 0.02
// Maximum distance beyond the border of the field, in cells, of a shape point that gets a contact.
#define BEYOND 0.01
// Factor by which the verified depth may be smaller than the depth of the contact.
#define DEPTH_FACTOR 4
// Slopes below this have no direction sector.
#define LEVEL 0.02

typedef struct {
  const tbHField* field;
  tbConvexPair pair;  // a is the current prism, in the field's frame
  tbReal step[2];     // cell size along x, y
  tbReal base;        // bottom of all prisms
  tbReal margin;
  int closest;      // only the deepest contact is needed: the margin shrinks to it
  tbReal rounding;  // slack of the test for a local minimum, as a slope
  // The current triangle: grid points (row, column) of its corners, unit normal.
  int grid[3][2];
  tbReal prism[18];
  tbReal normal[3];
  int triangle;
  // The core's lowest point along the triangle's normal, and its height above the triangle's plane.
  tbReal low[3], above;
  // Directions that separated the last prisms from the shape, and the shape's minimum along them.
  tbReal separating[MAX_SEPARATING][3], lowest[MAX_SEPARATING];
  int nseparating, next_separating, last_separating;
  bool second_pass;  // also solve triangles that could only give a spare contact
  bool skipped;      // a triangle that could have a contact was not solved
  bool overlap;      // some prism and the shape overlap
  bool meets;        // the current prism and the shape overlap
  tbReal depth;      // signed distance of that pair if known, else infinity
  // Corners of the shape, if they are few.
  tbReal corner[MAX_CORNERS][3];
  int ncorner;
  tbTerrainFound found;
  // The deepest contact that is not a local minimum, for use if no other is found.
  tbContactPoint spare;
  int has_spare;
  // The deepest contact of a shape that reaches through a thin wall.
  tbContactPoint through;
  bool pierced;
} Terrain;

// Grid points adjacent to a grid point.
static const int around[6][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};

static void grid_point(const Terrain* t, int row, int column, tbReal p[3]) {
  const tbHField* f = t->field;
  tb_set3(p, column * t->step[0] - f->size[0], row * t->step[1] - f->size[1],
          f->size[2] * f->data[(size_t)row * (size_t)f->ncol + (size_t)column]);
}

static int on_grid(const Terrain* t, int row, int column) {
  return row >= 0 && row < t->field->nrow && column >= 0 && column < t->field->ncol;
}

// Whether the surface at grid point (row, column) is below the plane through p with normal n, up to
// rounding.
static int stays_below(const Terrain* t, const tbReal p[3], const tbReal n[3], int row,
                       int column) {
  if (!on_grid(t, row, column)) return 1;
  tbReal q[3];
  grid_point(t, row, column, q);
  tb_sub3(q, q, p);
  tbReal rise = tb_dot3(n, q);
  return rise <= t->rounding * t->step[0] || rise <= t->rounding * tb_norm3(q);
}

// Whether both triangles that share the edge between grid points u and v are below the plane
// through p with normal n; tests their corners opposite to the edge. Diagonals of the grid run
// along (+1, +1).
static int edge_is_ridge(const Terrain* t, const tbReal p[3], const tbReal n[3], const int u[2],
                         const int v[2]) {
  int dr = v[0] - u[0], dc = v[1] - u[1];
  if (dr != 0 && dc != 0) {
    return stays_below(t, p, n, u[0], v[1]) && stays_below(t, p, n, v[0], u[1]);
  }
  // An edge along a row or column has one triangle on each side; both contain a diagonal.
  int low[2] = {u[0] < v[0] ? u[0] : v[0], u[1] < v[1] ? u[1] : v[1]};
  if (dr == 0) {
    return stays_below(t, p, n, low[0] + 1, low[1] + 1) && stays_below(t, p, n, low[0] - 1, low[1]);
  }
  return stays_below(t, p, n, low[0] + 1, low[1] + 1) && stays_below(t, p, n, low[0], low[1] - 1);
}

// Barycentric weights of the point's vertical projection on the triangle.
static void triangle_weights(const Terrain* t, const tbReal p[3], tbReal weight[3]) {
  const tbReal* v = t->prism;
  tbReal x1 = v[3] - v[0], y1 = v[4] - v[1], x2 = v[6] - v[0], y2 = v[7] - v[1];
  tbReal x = p[0] - v[0], y = p[1] - v[1], area = x1 * y2 - x2 * y1;
  weight[1] = (x * y2 - x2 * y) / area;
  weight[2] = (x1 * y - x * y1) / area;
  weight[0] = 1 - weight[1] - weight[2];
}

// Whether the surface point p, with contact normal n, is a local minimum of the distance over the
// terrain.
static int is_local_minimum(const Terrain* t, const tbReal p[3], const tbReal n[3]) {
  tbReal weight[3], small = 1e-6;
  triangle_weights(t, p, weight);
  int inside[3], count = 0;
  for (int i = 0; i < 3; i++) {
    if (weight[i] < -small) return 0;
    inside[i] = weight[i] > small;
    count += inside[i];
  }
  // For a point inside the triangle, only the triangle's own normal passes this test.
  for (int i = 0; i < 3; i++) {
    if (!stays_below(t, p, n, t->grid[i][0], t->grid[i][1])) return 0;
  }
  if (count == 3) return 1;
  if (count == 2) {
    int i = inside[0] ? 0 : 1, j = inside[2] ? 2 : 1;
    return edge_is_ridge(t, p, n, t->grid[i], t->grid[j]);
  }
  // For a corner, all six grid points around it are tested.
  int corner = inside[0] ? 0 : (inside[1] ? 1 : 2);
  for (int k = 0; k < 6; k++) {
    int row = t->grid[corner][0] + around[k][0], column = t->grid[corner][1] + around[k][1];
    if (!stays_below(t, p, n, row, column)) return 0;
  }
  return 1;
}

// Whether the contact's point on the field lies in the triangle's plane.
static int is_on_triangle(const Terrain* t, const tbReal p[3]) {
  tbReal arm[3];
  tb_sub3(arm, p, t->prism);
  return fabs(tb_dot3(arm, t->normal)) <= 1e-7 * t->pair.scale;
}

static int is_outer_wall(const Terrain* t, const tbReal p[3], const tbReal n[3]) {
  const tbReal* size = t->field->size;
  tbReal small = 1e-7 * t->pair.scale;
  return (fabs(p[0]) >= size[0] - small && n[0] * p[0] > 0 && fabs(n[0]) > 0.999) ||
         (fabs(p[1]) >= size[1] - small && n[1] * p[1] > 0 && fabs(n[1]) > 0.999) ||
         (p[2] <= t->base + small && n[2] < -0.999);
}

static uint32_t identity_of(int by, uint32_t what) {
  return (uint32_t)by << 30 | (what & UINT32_C(0x3fffffff));
}

static uint32_t mix(uint32_t x, uint32_t y) {
  uint32_t z = x * UINT32_C(0x9e3779b1) ^ (y + UINT32_C(0x7f4a7c15)) * UINT32_C(0x85ebca6b);
  return z ^ z >> 15;
}

// Sector of the slope's direction, since one point of the shape may touch both sides of a valley.
// Sector borders avoid the directions of the grid.
static uint32_t slope_of(const tbReal n[3]) {
  if (!(n[0] * n[0] + n[1] * n[1] > LEVEL * LEVEL)) return 0;
  tbReal x = n[0] + 0.3 * n[1], y = n[1] - 0.3 * n[0];
  return 4 | (x > 0) << 1 | (y > 0);
}

// Whether a grid point lies in the plane of the current triangle.
static bool is_level(const Terrain* t, int row, int column) {
  tbReal q[3];
  if (!on_grid(t, row, column)) return false;
  grid_point(t, row, column, q);
  tb_sub3(q, q, t->prism);
  return fabs(tb_dot3(t->normal, q)) <= 1e-9 * tb_norm3(q);
}

// The surface point of a contact.
static void surface_point(const tbContactPoint* c, tbReal p[3]) {
  tb_add_scaled3(p, c->pos, -0.5 * c->dist, c->frame);
}

// The corner of the current triangle at which the prism's feature of a contact is, or at which its
// edge starts. The edge is identified by the place p, since walls of the prism share the same
// edges.
static int corner_of(const Terrain* t, uint32_t feature, const tbReal p[3]) {
  if (feature >> 30 != 3) return (int)(feature >> 15 & 0x7fff);
  tbReal weight[3];
  triangle_weights(t, p, weight);
  for (int i = 0; i < 3; i++) weight[i] = fabs(weight[i]);
  // The corner opposite to the edge.
  int far = weight[1] < weight[0] ? 1 : 0;
  far = weight[2] < weight[far] ? 2 : far;
  return (far + 1) % 3;
}

// Whether the contact's feature of the prism is an edge or point inside flat ground. The shape's
// own corners then give all contacts, as on a plane.
static bool is_inside_flat_ground(const Terrain* t, uint32_t feature, const tbReal p[3]) {
  uint32_t kind = feature >> 30;
  int i = corner_of(t, feature, p);
  if ((kind != 1 && kind != 3) || i > 2) return false;
  const int *from = t->grid[i], *to = t->grid[(i + 1) % 3], *other = t->grid[(i + 2) % 3];
  if (kind == 3) return is_level(t, from[0] + to[0] - other[0], from[1] + to[1] - other[1]);
  bool level = true;
  for (int k = 0; k < 6 && level; k++) {
    level = is_level(t, from[0] + around[k][0], from[1] + around[k][1]);
  }
  return level;
}

// The identity of a contact depends on the features in contact, not on the triangle, so that a
// corner that slides from cell to cell keeps its identity. Grid points and edges are identified by
// their indices in the grid.
static uint32_t feature_of(const Terrain* t, const tbContactPoint* c, bool top) {
  uint32_t kind = c->feature >> 30, i = c->feature >> 15 & 0x7fff, j = c->feature & 0x7fff;
  if (!top) return identity_of(BY_WALL, mix((uint32_t)t->triangle, c->feature));
  if (kind == 2) return identity_of(BY_SHAPE, slope_of(c->frame) << 15 | i);
  if (kind == 0) return identity_of(BY_SHAPE, slope_of(c->frame) << 15 | 0x40000);
  bool rim = kind == 3 && j & 0x4000;
  tbReal p[3];
  surface_point(c, p);
  int corner = corner_of(t, c->feature, p);
  if (corner > 2) return identity_of(BY_WALL, mix((uint32_t)t->triangle, c->feature));
  const int *from = t->grid[corner], *to = t->grid[(corner + 1) % 3];
  uint32_t start = (uint32_t)from[0] * (uint32_t)t->field->ncol + (uint32_t)from[1];
  uint32_t end = (uint32_t)to[0] * (uint32_t)t->field->ncol + (uint32_t)to[1];
  if (kind == 1) return identity_of(BY_GRID, start);
  // Both triangles of an edge give it one identity. From the other side, the order of its two
  // intersections with a rim is reversed.
  bool ahead = start < end;
  uint32_t edge = ahead ? mix(start, end) : mix(end, start);
  return identity_of(BY_EDGES, mix(edge, rim ? 0x8000 | (uint32_t)((i & 1) == ahead) : j));
}

// The point of the shape's core that is lowest along n, both in the field's frame.
static void lowest_along(Terrain* t, const tbReal n[3], tbReal x[3]) {
  tbReal d[3], p[3], down[3] = {-n[0], -n[1], -n[2]};
  tb_mul_mat3t_vec3(d, t->pair.mat, down);
  tb_core_support(&t->pair.b, d, p);
  tb_pair_b_to_a(&t->pair, p, x);
}

// The core point of a contact.
static void core_point(const Terrain* t, const tbContactPoint* c, tbReal x[3]) {
  tb_add_scaled3(x, c->pos, 0.5 * c->dist + t->pair.b.radius, c->frame);
}

// Whether separation along the normal of contact c also resolves contact d: that holds if d's
// surface point is not above the plane of c (docs/notebook/hfield.md eq. 4). Contacts whose core
// points are more than a cell apart are at different ridges.
static bool is_resolved_by(const Terrain* t, const tbContactPoint* c, const tbContactPoint* d) {
  tbReal x[3], y[3];
  if (tb_dot3(c->frame, d->frame) > TB_TERRAIN_SAME) return false;
  surface_point(c, x);
  surface_point(d, y);
  tb_sub3(y, y, x);
  if (!(tb_dot3(c->frame, y) <= 1e-9 * t->pair.scale)) return false;
  core_point(t, c, x);
  core_point(t, d, y);
  return fabs(x[0] - y[0]) <= t->step[0] && fabs(x[1] - y[1]) <= t->step[1];
}

// Penetration of the core below the plane of a contact; NAN if the contact does not penetrate,
// which compares as no separation at all.
static tbReal penetration_along(Terrain* t, const tbContactPoint* c) {
  tbReal p[3], x[3];
  if (!(c->dist + t->pair.b.radius < 0)) return NAN;
  surface_point(c, p);
  lowest_along(t, c->frame, x);
  tb_sub3(x, p, x);
  return tb_dot3(c->frame, x);
}

// Over a ridge, contacts with two different normals separate the shape towards the two sides, and a
// convex shape needs only the shorter separation; the other leads through the ridge and is dropped.
static void drop_through_ridges(Terrain* t) {
  tbContactPoint* found = t->found.contact;
  tbReal way[TB_TERRAIN_FOUND], small = 1e-9 * t->pair.scale;
  bool through[TB_TERRAIN_FOUND] = {false};
  int kept = 0;
  for (int i = 0; i < t->found.count; i++) way[i] = penetration_along(t, &found[i]);
  for (int i = 0; i < t->found.count; i++) {
    for (int j = 0; j < t->found.count; j++) {
      through[j] |= way[j] > way[i] + small && is_resolved_by(t, &found[i], &found[j]);
    }
  }
  for (int i = 0; i < t->found.count; i++) {
    if (!through[i]) found[kept++] = found[i];
  }
  t->found.count = kept;
}

// Adds a contact. Neighbouring triangles find the same contact on shared edges and corners; one is
// kept, with the smaller identity.
static void add(Terrain* t, const tbContactPoint* c, uint32_t feature) {
  tbReal near2 = 1e-12 * t->pair.scale * t->pair.scale, p[3], q[3];
  surface_point(c, p);
  for (int i = 0; i < t->found.count; i++) {
    tbContactPoint* known = &t->found.contact[i];
    if (!(tb_dot3(known->frame, c->frame) > TB_TERRAIN_SAME)) continue;
    surface_point(known, q);
    tb_sub3(q, q, p);
    if (!(tb_dot3(q, q) <= near2)) continue;
    if (feature < known->feature) known->feature = feature;
    return;
  }
  // Contacts through ridges are dropped first; otherwise thinning out might keep only these.
  if (t->found.count == TB_TERRAIN_FOUND) drop_through_ridges(t);
  if (t->found.count == TB_TERRAIN_FOUND) tb_terrain_thin_out(&t->found);
  tbContactPoint* place = &t->found.contact[t->found.count++];
  *place = *c;
  place->feature = feature;
  if (t->closest) t->margin = tb_min(t->margin, c->dist);
}

static int clamp_index(tbReal x, int max) {
  // The negated comparison also handles NAN.
  return !(x > 0) ? 0 : (x > max ? max : (int)x);
}

// Whether x is below the surface. Up to `beyond` outside the border, the height at the border is
// used.
static int is_buried(const Terrain* t, const tbReal x[3], tbReal beyond) {
  const tbHField* f = t->field;
  tbReal inside[2] = {tb_min(tb_max(x[0], -f->size[0]), f->size[0]),
                      tb_min(tb_max(x[1], -f->size[1]), f->size[1])};
  if (!(fabs(x[0] - inside[0]) <= beyond) || !(fabs(x[1] - inside[1]) <= beyond)) return 0;
  tbReal u = (inside[0] + f->size[0]) / t->step[0], v = (inside[1] + f->size[1]) / t->step[1];
  int c = clamp_index(u, f->ncol - 2), r = clamp_index(v, f->nrow - 2);
  // Interpolate from the corner of the triangle that is not on the diagonal, along its two sides.
  tbReal p[3], q[3], o[3];
  int upper = v - r > u - c;
  grid_point(t, r + upper, c + 1 - upper, o);
  grid_point(t, r + upper, c + upper, p);
  grid_point(t, r + 1 - upper, c + 1 - upper, q);
  tbReal along = upper ? u - c : 1 - (u - c), across = upper ? 1 - (v - r) : v - r;
  tbReal z = o[2] + along * (p[2] - o[2]) + across * (q[2] - o[2]);
  return x[2] <= z + 1e-9 * t->pair.scale;
}

// Whether a contact of a grid point or edge has an admissible normal. Under a face of the shape,
// the contact normal is that of the face. The triangle's normal is admissible only if the face is
// parallel to it, and then not deeper than the shape's lowest point.
static bool has_admissible_normal(const Terrain* t, const tbContactPoint* c, const tbReal p[3]) {
  uint32_t kind = c->feature >> 30;
  if ((kind != 1 && kind != 3) || tb_dot3(c->frame, t->normal) < TB_TERRAIN_SAME) return true;
  tbReal offset[3], rise = c->dist + t->pair.b.radius - t->above;
  tb_sub3(offset, p, t->low);
  return rise <= PARALLEL * tb_norm3(offset) + 1e-9 * t->pair.scale;
}

// The condition for contacts below a triangle's plane: none, the shape's point must be below the
// surface, or either that or the surface point must be inside the shape.
typedef enum { ANY, BURIED, MUTUAL } Proof;

// Whether the surface point p is inside the shape, about as deep as the contact. For a convex shape
// the separation along another normal than the nearest is longer, but not by much on a near tie.
static bool is_in_shape(const Terrain* t, const tbReal p[3], tbReal dist) {
  tbReal arm[3], x[3];
  tb_sub3(arm, p, t->pair.pos);
  tb_mul_mat3t_vec3(x, t->pair.mat, arm);
  tbReal depth = tb_core_depth(&t->pair.b, x);
  return -dist <= DEPTH_FACTOR * depth + 1e-9 * t->pair.scale;
}

// Adds those of a triangle's contacts that belong to the terrain and satisfy the condition; returns
// their number. Corners come before crossing edges.
static int filter(Terrain* t, const tbContactPoint* contact, int count, Proof proof) {
  int kept = 0;
  tbReal proven = 0;
  for (int i = 0; i < count; i++) {
    const tbContactPoint* c = &contact[i];
    tbReal p[3];
    surface_point(c, p);
    bool top = is_on_triangle(t, p);
    int valid = top ? is_local_minimum(t, p, c->frame) : is_outer_wall(t, p, c->frame);
    // A contact below the plane must satisfy the condition; a spare contact must not push sideways.
    int inside = 0;
    if (proof != ANY && c->dist + t->pair.b.radius < 0) {
      tbReal x[3];
      core_point(t, c, x);
      // A point slightly beyond the border is accepted if the shape overlaps this prism.
      tbReal beyond = t->meets ? tb_min(-c->dist, BEYOND * t->step[0]) : 0;
      inside = is_buried(t, x, beyond) || (proof == MUTUAL && is_in_shape(t, p, c->dist));
      // Two crossing sharp edges satisfy neither condition, but a corner nearby or the pair's depth
      // suffices as evidence.
      inside |= proof == MUTUAL && ((c->feature >> 30 == 3 && -c->dist <= DEPTH_FACTOR * proven) ||
                                    c->dist >= t->depth - 1e-9 * t->pair.scale);
      valid = valid && inside;
      if (valid) proven = tb_max(proven, -c->dist);
    }
    int usable = proof != ANY ? inside : t->closest || c->dist > 0 || c->frame[2] > 0.1;
    valid = valid && (proof != BURIED || has_admissible_normal(t, c, p));
    if (valid && !(top && is_inside_flat_ground(t, c->feature, p))) {
      add(t, c, feature_of(t, c, top));
      kept++;
    } else if (usable && (!t->has_spare || c->dist < t->spare.dist)) {
      t->spare = *c;
      t->spare.feature = feature_of(t, c, top);
      t->has_spare = 1;
    }
  }
  return kept;
}

// Adds the corners of the shape below the triangle, including those outside the lowest face: all
// deep corners count, as on a plane.
static int add_corners(Terrain* t, Proof proof) {
  int kept = 0;
  tbReal level = tb_dot3(t->normal, t->prism), radius = t->pair.b.radius;
  for (int i = 0; i < t->ncorner; i++) {
    tbContactPoint contact;
    tbReal pos[3], dist = tb_dot3(t->normal, t->corner[i]) - level - radius;
    if (!(dist <= t->margin)) continue;
    tb_add_scaled3(pos, t->corner[i], -radius - 0.5 * dist, t->normal);
    tb_contact_set(&contact, pos, t->normal, dist, TB_FEATURE(2, i, 0));
    kept += filter(t, &contact, 1, proof);
  }
  return kept;
}

// All corners of a box or small hull, or the ends of a capsule's core, in the field's frame.
static void set_corners(Terrain* t) {
  const tbCore* core = &t->pair.b;
  t->ncorner = 0;
  if (core->kind == TB_CORE_BOX) t->ncorner = 8;
  if (core->kind == TB_CORE_SEGMENT && core->size[2] > 0) t->ncorner = 2;
  if (core->kind == TB_CORE_HULL && core->hull->nvert <= MAX_CORNERS)
    t->ncorner = core->hull->nvert;
  for (int i = 0; i < t->ncorner; i++) {
    const tbReal* h = core->size;
    tbReal p[3] = {i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]};
    if (core->kind == TB_CORE_SEGMENT) tb_set3(p, 0, 0, i ? h[2] : -h[2]);
    tb_pair_b_to_a(&t->pair, core->hull ? core->hull->vert + 3 * i : p, t->corner[i]);
  }
}

// Adds contacts along the normal of `r`: the corners of the overlap polygon of triangle and shape,
// and the shape's lowest point, which need not belong to the lowest face.
static int add_region(Terrain* t, const tbConvexResult* r, Proof proof) {
  tbContactPoint contact[TB_TERRAIN_MANIFOLD];
  int kept = filter(t, contact, tb_convex_manifold_terrain(&t->pair, r, t->margin, contact), proof);
  tbSupportPoint at;
  tbReal radius = t->pair.b.radius, dist = tb_pair_separation(&t->pair, r->normal, &at) - radius;
  if (r->dist > 0 || dist > t->margin) return kept;
  tbReal pos[3];
  if (tb_dot3(r->normal, t->normal) > TB_TERRAIN_SAME) kept += add_corners(t, proof);
  tb_add_scaled3(pos, at.b, -radius - 0.5 * dist, r->normal);
  tb_contact_set(contact, pos, r->normal, dist, TB_FEATURE(2, at.ib, 0));
  return kept + filter(t, contact, 1, proof);
}

// A shape below the triangle's plane: finds the local maximum of the separation that the ascent
// from the triangle's normal reaches. A shorter separation through a wall of the prism does not
// leave the terrain.
static void solve_from_above(Terrain* t, tbReal limit, tbConvexResult* r) {
  r->dist = -INFINITY;
  r->count = r->capped = 0;
  tbAscent ascent = tb_normal_ascent(&t->pair, limit, r);
  if (ascent == TB_ASCENT_OPEN) {
    tb_copy3(r->normal, t->normal);
    tb_convex_solve(&t->pair, limit, r);
  } else {
    r->certified = ascent >= TB_ASCENT_LOCAL;
    bool separated = ascent == TB_ASCENT_APART || r->dist > limit;
    r->state = separated ? TB_CONVEX_APART : (r->dist > 0 ? TB_CONVEX_NEAR : TB_CONVEX_OVERLAP);
  }
  if (ascent != TB_ASCENT_LOCAL) t->depth = r->dist - t->pair.b.radius;
}

// Whether a cached direction separates this prism from the shape by more than `far`; neighbouring
// prisms often share such directions.
static bool is_separated_by_cache(Terrain* t, tbReal far) {
  for (int c = 0, k = t->last_separating; c < t->nseparating;
       c++, k = k + 1 < t->nseparating ? k + 1 : 0) {
    const tbReal* n = t->separating[k];
    tbReal most = -INFINITY, bottom = n[2] * t->base;
    for (int i = 0; i < 3; i++) {
      const tbReal* v = t->prism + 3 * i;
      tbReal up = n[2] * v[2], along = n[0] * v[0] + n[1] * v[1] + (up > bottom ? up : bottom);
      most = along > most ? along : most;
    }
    if (!(t->lowest[k] - most > far)) continue;
    t->last_separating = k;
    return true;
  }
  return false;
}

static void cache_direction(Terrain* t, const tbReal n[3]) {
  tbReal x[3];
  int k = t->next_separating;
  t->last_separating = k;
  t->next_separating = (k + 1) % MAX_SEPARATING;
  if (t->nseparating < MAX_SEPARATING) t->nseparating++;
  lowest_along(t, n, x);
  tb_copy3(t->separating[k], n);
  t->lowest[k] = tb_dot3(n, x);
}

// The shape is below the triangle, and the shortest separation from the prism does not leave the
// terrain, or the shape is beside the prism: adds contacts along the triangle's own normal, for the
// part under the triangle.
static void push_along_normal(Terrain* t, const tbReal lowest[3], tbReal above) {
  tbConvexResult r;
  memset(&r, 0, sizeof r);
  tb_copy3(r.normal, t->normal);
  r.dist = above;
  tb_copy3(r.point_b, lowest);
  tb_add_scaled3(r.point_a, lowest, -above, r.normal);
  add_region(t, &r, BURIED);
}

// Whether the shape may touch an edge of the triangle along a normal between those of the edge's
// two triangles. That requires that the surface falls off beyond the edge, and that the shape's
// lowest point lies beyond it along this triangle's normal (by `weight`) but not along the other's;
// otherwise a neighbour, or the triangle along its own normal, has the contact. At the border of
// the field the answer is true, since there is no second triangle.
static bool may_touch_edge(Terrain* t, const tbReal weight[3]) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    if (weight[k] > 1e-6) continue;
    int row = t->grid[i][0] + t->grid[j][0] - t->grid[k][0];
    int column = t->grid[i][1] + t->grid[j][1] - t->grid[k][1];
    if (!on_grid(t, row, column)) return true;
    const tbReal *u = t->prism + 3 * i, *v = t->prism + 3 * j;
    tbReal q[3], e[3], normal[3], out[3], y[3];
    grid_point(t, row, column, q);
    tb_sub3(q, q, u);
    if (tb_dot3(t->normal, q) >= 0) continue;
    tb_sub3(e, v, u);
    tb_cross(normal, q, e);
    tb_cross(out, e, normal);
    lowest_along(t, normal, y);
    tb_sub3(y, y, u);
    if (!(tb_dot3(out, y) > 1e-9 * t->pair.scale * tb_norm3(out))) return true;
  }
  return false;
}

// Coarse position of the shape relative to the prism. True if no further test is needed: the shape
// is separated by more than `far`, or beside the prism.
static bool is_separated_or_beside(Terrain* t, tbReal limit, tbReal far, bool* beside) {
  tbConvexResult r;
  r.certified = 0;
  tb_copy3(r.normal, t->nseparating ? t->separating[t->last_separating] : t->normal);
  t->pair.early_stop = limit;
  tb_gjk(&t->pair, far, COARSE, 0, &r);
  t->pair.early_stop = INFINITY;
  *beside = r.state == TB_CONVEX_NEAR && r.dist > limit;
  t->meets = r.state == TB_CONVEX_OVERLAP && t->pair.b.radius == 0;
  if (r.state == TB_CONVEX_APART) cache_direction(t, r.normal);
  return *beside || r.state == TB_CONVEX_APART;
}

// A shape that reaches through a thin wall, or is beside it: the contacts of the prism alone are
// used where the terrain accepts them. The deepest one that is not accepted is stored for use if no
// other contact is found.
static void collide_thin(Terrain* t, tbReal far) {
  tbConvexResult r;
  memset(&r, 0, sizeof r);
  tb_copy3(r.normal, t->normal);
  tb_convex_solve(&t->pair, far, &r);
  tbReal pos[3], dist = r.dist - t->pair.b.radius;
  if (r.state == TB_CONVEX_APART) return;
  t->depth = dist;
  int kept = add_region(t, &r, r.dist <= 0 ? MUTUAL : ANY);
  if (kept > 0 || r.dist > 0) return;
  if (t->pierced && t->through.dist <= dist) return;
  t->pierced = true;
  tb_add_scaled3(pos, r.point_b, -t->pair.b.radius - 0.5 * dist, r.normal);
  tb_contact_set(&t->through, pos, r.normal, dist, identity_of(BY_WALL, (uint32_t)t->triangle));
}

// Contacts of the triangle and the shape, whose lowest point along the normal is at the height
// `above` over the triangle's plane.
static void collide_near(Terrain* t, const tbReal lowest[3], tbReal above, tbReal far) {
  tbConvexResult r;
  memset(&r, 0, sizeof r);
  tb_copy3(r.normal, t->normal);
  if (!(above < 0)) {
    tb_convex_solve(&t->pair, far, &r);
    if (r.state == TB_CONVEX_APART) return;
    add_region(t, &r, r.dist <= 0 ? MUTUAL : ANY);
    add_corners(t, MUTUAL);
    return;
  }
  tbReal weight[3], small = 1e-6;
  r.dist = above;
  tb_copy3(r.point_b, lowest);
  tb_add_scaled3(r.point_a, lowest, -above, r.normal);
  triangle_weights(t, r.point_a, weight);
  if (weight[0] > small && weight[1] > small && weight[2] > small) {
    // The lowest point is under the triangle, so the triangle's normal is the contact normal,
    // unless the wall is so thin that the point has come out at its other side, or was not
    // inside.
    if (is_buried(t, lowest, 0)) {
      t->overlap = true;
      add_region(t, &r, MUTUAL);
    } else {
      collide_thin(t, far);
    }
    return;
  }
  if (may_touch_edge(t, weight)) {
    solve_from_above(t, far, &r);
    if (r.state == TB_CONVEX_APART || add_region(t, &r, r.dist <= 0 ? MUTUAL : ANY) > 0) return;
  }
  // Over a sharp ridge neither side's normal leads to it, since a negative s is not concave.
  if (t->normal[2] < STEEP && !is_buried(t, lowest, 0)) collide_thin(t, far);
  t->overlap |= r.dist <= 0;
  push_along_normal(t, lowest, above);
}

static void collide_triangle(Terrain* t) {
  // No contact if the shape is above the triangle's plane by more than the margin.
  tbReal limit = t->margin + t->pair.b.radius, lowest[3];
  lowest_along(t, t->normal, lowest);
  tbReal above = tb_dot3(t->normal, lowest) - tb_dot3(t->normal, t->prism);
  if (above > limit) return;
  tb_copy3(t->low, lowest);
  t->above = above;
  // A point below a slope may lie in the next prism, which then has the contact. Only if no contact
  // is found, prisms as far aside as the point is deep are solved, too.
  tbReal far = t->second_pass ? tb_max(limit, -above) : limit;
  t->skipped |= far < -above;
  if (is_separated_by_cache(t, far)) return;
  bool beside = t->meets = false;
  t->depth = INFINITY;
  if (far < INFINITY && is_separated_or_beside(t, limit, far, &beside)) {
    if (beside && above <= 0) push_along_normal(t, lowest, above);
    return;
  }
  collide_near(t, lowest, above, far);
}

// Sets the prism below the triangle of three grid points, counter-clockwise from above.
static int set_triangle(Terrain* t, const int grid[3][2], int triangle) {
  tbReal e1[3], e2[3], sum = 0;
  memcpy(t->grid, grid, sizeof t->grid);
  t->triangle = triangle;
  for (int i = 0; i < 3; i++) {
    grid_point(t, grid[i][0], grid[i][1], t->prism + 3 * i);
    tb_set3(t->prism + 9 + 3 * i, t->prism[3 * i], t->prism[3 * i + 1], t->base);
    sum += t->prism[3 * i + 2];
  }
  tb_sub3(e1, t->prism + 3, t->prism);
  tb_sub3(e2, t->prism + 6, t->prism);
  tb_cross(t->normal, e1, e2);
  tb_normalize3(t->normal);
  return isfinite(sum);
}

static tbReal highest(const Terrain* t) {
  return tb_max(t->prism[2], tb_max(t->prism[5], t->prism[8]));
}

// Whether all four corners of a cell are lower than z.
static bool cell_is_below(const tbHField* f, int row, int column, tbReal z) {
  const tbReal *h = f->data + (size_t)row * (size_t)f->ncol + (size_t)column, *g = h + f->ncol;
  return (f->size[2] * h[0] < z) & (f->size[2] * h[1] < z) & (f->size[2] * g[0] < z) &
         (f->size[2] * g[1] < z);
}

// All triangles under the bounding box of the shape, grown by the margin.
static void collide_cells(Terrain* t, const tbReal low[3], const tbReal high[3]) {
  const tbHField* f = t->field;
  if (low[0] > f->size[0] || high[0] < -f->size[0] || low[1] > f->size[1] ||
      high[1] < -f->size[1]) {
    return;
  }
  int c0 = clamp_index((low[0] + f->size[0]) / t->step[0], f->ncol - 2);
  int c1 = clamp_index((high[0] + f->size[0]) / t->step[0], f->ncol - 2);
  int r0 = clamp_index((low[1] + f->size[1]) / t->step[1], f->nrow - 2);
  int r1 = clamp_index((high[1] + f->size[1]) / t->step[1], f->nrow - 2);
  for (int r = r0; r <= r1; r++) {
    for (int c = c0; c <= c1; c++) {
      if (cell_is_below(f, r, c, low[2])) continue;
      // The diagonal joins (r, c) and (r+1, c+1), as in MuJoCo.
      const int lower[3][2] = {{r, c + 1}, {r + 1, c + 1}, {r, c}};
      const int upper[3][2] = {{r + 1, c}, {r, c}, {r + 1, c + 1}};
      for (int k = 0; k < 2; k++) {
        if (!set_triangle(t, k ? upper : lower, 2 * (r * (f->ncol - 1) + c) + k)) continue;
        if (highest(t) < low[2]) continue;
        collide_triangle(t);
      }
    }
  }
}

static void to_world(const tbShape* a, tbContactPoint* c) {
  tb_mul_mat3_vec3(c->pos, a->mat, c->pos);
  tb_add3(c->pos, c->pos, a->pos);
  tb_mul_mat3_vec3(c->frame, a->mat, c->frame);
}

static int collide_within(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out) {
  const tbHField* f = a->hfield;
  Terrain t;
  t.field = f;
  t.found.count = t.has_spare = t.nseparating = t.next_separating = t.last_separating = 0;
  t.margin = margin;
  t.closest = margin == INFINITY;
  t.base = -f->size[3];
  t.step[0] = 2 * f->size[0] / (f->ncol - 1);
  t.step[1] = 2 * f->size[1] / (f->nrow - 1);
  if (!(t.step[0] > 0) || !(t.step[1] > 0)) return 0;

  // The shape's pose in the field's frame.
  tbShape local = *b;
  tb_convex_pair_init_prism(&t.pair, a, b, t.prism);
  t.pair.scale += t.step[0] + t.step[1];
  t.found.scale = t.pair.scale;
  t.found.margin = margin;
  t.rounding = 1e-7;
  set_corners(&t);
  tb_copy3(local.pos, t.pair.pos);
  memcpy(local.mat, t.pair.mat, sizeof local.mat);
  tbReal low[3], high[3];
  tb_shape_aabb(&local, low, high);
  for (int i = 0; i < 3; i++) {
    low[i] -= margin;
    high[i] += margin;
  }
  if (high[2] < t.base) return 0;
  t.second_pass = t.skipped = t.overlap = t.pierced = false;
  collide_cells(&t, low, high);
  if (t.found.count == 0 && t.skipped && t.overlap) {
    t.second_pass = true;
    collide_cells(&t, low, high);
  }
  if (t.found.count == 0 && t.has_spare) add(&t, &t.spare, t.spare.feature);
  if (t.found.count == 0 && t.pierced) add(&t, &t.through, t.through.feature);
  drop_through_ridges(&t);
  int count = tb_terrain_choose(&t.found, out);
  for (int i = 0; i < count; i++) to_world(a, &out[i]);
  return count;
}

int tb_collide_hfield(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                      tbCollideCache* warm) {
  (void)warm;
  if (margin < INFINITY) return collide_within(a, b, margin, out);
  // A distance query: search near the shape first, then with growing margins.
  tbReal far = a->hfield->size[0] + a->hfield->size[1];
  for (tbReal near = 0.01 * far; near < far; near *= 4) {
    int count = collide_within(a, b, near, out);
    if (count > 0) return count;
  }
  return collide_within(a, b, margin, out);
}
