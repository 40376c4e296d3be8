// The contract of a contact, checked for one pair.
#include "base/elementary.h"
#include "common/shapes.h"
#include "spatial/quat.h"

static void print_shape(const char* name, const tbShape* s) {
  print_error("%s: %s size %.17g %.17g %.17g pos %.17g %.17g %.17g\n  mat", name,
              tb_geom_type_name(s->type), s->size[0], s->size[1], s->size[2], s->pos[0], s->pos[1],
              s->pos[2]);
  for (int i = 0; i < 9; i++) print_error(" %.17g", s->mat[i]);
  print_error("\n");
}

static void require(bool ok, const char* what, double got, double limit, const tbShape* a,
                    const tbShape* b) {
  if (ok) return;
  print_error("contract: %s: %.17g, limit %.17g\n", what, got, limit);
  print_shape("a", a);
  print_shape("b", b);
  fail();
}

// Shapes with an interior to sample directions for.
static bool bounded(const tbShape* s) {
  return s->type != TB_GEOM_PLANE && s->type != TB_GEOM_HFIELD;
}

static void check_frame(const tbContactPoint* c, const tbShape* a, const tbShape* b) {
  tbReal gram[9];
  tb_mul_mat3_mat3t(gram, c->frame, c->frame);
  for (int i = 0; i < 9; i++) {
    tbReal error = fabs(gram[i] - (i % 4 == 0));
    require(error < 1e-12, "frame orthonormal", error, 1e-12, a, b);
  }
  tbReal cross[3];
  tb_cross(cross, c->frame, c->frame + 3);
  require(tb_dot3(cross, c->frame + 6) > 0.999, "frame right-handed", 0, 0, a, b);
}

// The normal must prove the distance, the witness points must lie on the shapes, and no other
// direction may separate more.
static void check_distance(tbRng* rng, const tbShape* a, const tbShape* b, tbReal limit,
                           const tbReal n[3], tbReal dist, const tbReal pa[3], const tbReal pb[3]) {
  tbReal separation = tb_test_separation(a, b, n);

  // Distance is flat around the closest direction, so a normal from closest points is known less
  // well than the distance, down to the root of rounding.
  tbReal blunt = 2000 * limit;
  require(separation <= dist + limit && separation >= dist - blunt,
          "separation along the normal minus dist", separation - dist, limit, a, b);
  tbReal outside = fmax(tb_test_outside(a, pa), tb_test_outside(b, pb));
  require(outside <= limit, "witness point outside", outside, limit, a, b);
  if (!bounded(a) || !bounded(b)) return;
  for (int i = 0; i < 24; i++) {
    // Half of the directions anywhere, half around the normal.
    tbReal d[3];
    tb_test_random_direction(rng, d);
    if (i % 2) {
      tb_add_scaled3(d, n, tb_pow(10, tb_rng_uniform(rng, -6, 0)), d);
      tb_normalize3(d);
    }
    tbReal other = tb_test_separation(a, b, d);
    require(other <= dist + limit, "a direction separates more", other - dist, limit, a, b);
  }
}

// Translating b by -dist along the normal makes the shapes touch.
static void check_parting(const tbShape* a, const tbShape* b, tbReal limit, const tbReal n[3],
                          tbReal dist) {
  tbShape moved = *b;
  tb_add_scaled3(moved.pos, b->pos, -dist, n);
  tbReal rest = tb_distance(a, &moved, NULL, NULL, NULL, NULL);
  require(fabs(rest) <= limit, "distance after parting", rest, limit, a, b);
}

// The distance changes by no more than the way b moved.
static void check_continuity(tbRng* rng, const tbShape* a, const tbShape* b, tbReal limit,
                             tbReal dist) {
  tbShape moved = *b;
  tbReal way[3], step = tb_pow(10, tb_rng_uniform(rng, -10, -1));
  tb_test_random_direction(rng, way);
  tb_add_scaled3(moved.pos, b->pos, step, way);
  tbReal after = tb_distance(a, &moved, NULL, NULL, NULL, NULL);
  require(fabs(after - dist) <= step + limit, "continuity", fabs(after - dist), step + limit, a, b);
}

static void check_symmetries(tbRng* rng, const tbShape* a, const tbShape* b, tbReal limit,
                             tbReal dist) {
  tbReal swapped = tb_distance(b, a, NULL, NULL, NULL, NULL);
  require(fabs(swapped - dist) <= limit, "swapped distance", swapped - dist, limit, a, b);

  // A rigid motion of both.
  tbShape ma = *a, mb = *b;
  tbReal R[9], shift[3], R2[9];
  tb_test_random_rotation(rng, R);
  tb_test_random_direction(rng, shift);
  for (int i = 0; i < 2; i++) {
    tbShape* s = i ? &mb : &ma;
    tb_mul_mat3_vec3(s->pos, R, s->pos);
    tb_add3(s->pos, s->pos, shift);
    tb_mul_mat3(R2, R, s->mat);
    for (int k = 0; k < 9; k++) s->mat[k] = R2[k];
  }
  tbReal moved = tb_distance(&ma, &mb, NULL, NULL, NULL, NULL);
  require(fabs(moved - dist) <= limit, "distance after rigid motion", moved - dist, limit, a, b);
}

static void check_manifold(const tbContactPoint* c, int count, const tbShape* a, const tbShape* b,
                           tbReal margin, tbReal limit, tbReal dist) {
  require(count >= 0 && count <= TB_MAX_PAIR_CONTACTS, "count", count, 0, a, b);
  tbReal deepest = INFINITY;
  for (int i = 0; i < count; i++) {
    check_frame(&c[i], a, b);
    require(c[i].dist <= margin, "dist over margin", c[i].dist, margin, a, b);
    deepest = fmin(deepest, c[i].dist);
    for (int j = 0; j < i; j++) {
      require(c[i].feature != c[j].feature, "feature twice", c[i].feature, 0, a, b);
    }

    // Each contact alone must be a gap between points of the shapes.
    tbReal pa[3], pb[3];
    tb_add_scaled3(pa, c[i].pos, -0.5 * c[i].dist, c[i].frame);
    tb_add_scaled3(pb, c[i].pos, 0.5 * c[i].dist, c[i].frame);
    tbReal outside = fmax(tb_test_outside(a, pa), tb_test_outside(b, pb));
    require(outside <= limit, "manifold point outside", outside, limit, a, b);
  }
  if (count > 0) {
    require(fabs(deepest - dist) <= limit, "deepest against distance", deepest - dist, limit, a, b);
  } else {
    require(dist >= margin - limit, "missed contact", dist, margin, a, b);
  }
}

static bool has_faces(const tbShape* s) {
  return s->type == TB_GEOM_BOX || s->type == TB_GEOM_MESH || s->type == TB_GEOM_CYLINDER;
}

void tb_test_contract(tbRng* rng, const tbShape* a, const tbShape* b, tbReal margin,
                      tbReal tolerance) {
  tbReal scale = tb_test_size(a) + tb_test_size(b), diff[3];
  tb_sub3(diff, b->pos, a->pos);
  tbReal limit = tolerance * (scale + tb_norm3(diff)), pa[3], pb[3], n[3];
  tbReal dist = tb_distance(a, b, pa, pb, n, NULL);
  require(isfinite(dist), "finite distance", dist, 0, a, b);
  check_distance(rng, a, b, limit, n, dist, pa, pb);
  check_parting(a, b, limit, n, dist);
  check_continuity(rng, a, b, limit, dist);
  check_symmetries(rng, a, b, limit, dist);
  tbContactPoint contacts[TB_MAX_PAIR_CONTACTS];
  int count = tb_collide(a, b, margin, contacts, NULL);
  // Contacts of flat shapes that touch along edges are those of the first face, within 1e-8 of the
  // sizes; boxes have a little more of them past their edges.
  bool boxes = a->type == TB_GEOM_BOX && b->type == TB_GEOM_BOX;
  bool touching = has_faces(a) && has_faces(b) && fabs(dist) <= 2e-8 * scale;
  tbReal loose = boxes || touching ? fmax(limit, 3e-8 * scale) : limit;
  check_manifold(contacts, count, a, b, margin, loose, dist);
}
