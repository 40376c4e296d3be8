#include "collide/peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "collide/convex/convex.h"
#include "collide/pairs.h"
#include "spatial/quat.h"

const char* regime_name(Regime regime) {
  static const char* const names[NREGIMES] = {"separated", "touching", "overlapping"};
  return names[regime];
}

static void random_shape(tbRng* rng, int type, const tbHull* hull, const tbHField* hfield,
                         tbShape* s) {
  memset(s, 0, sizeof(*s));
  s->type = type;
  s->hull = type == TB_GEOM_MESH ? hull : NULL;
  s->hfield = type == TB_GEOM_HFIELD ? hfield : NULL;
  tbReal q[4];
  for (int i = 0; i < 3; i++) s->size[i] = tb_rng_uniform(rng, 0.2, 0.5);
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
  tb_quat_to_mat(s->mat, q);
  for (int i = 0; i < 3; i++) s->pos[i] = tb_rng_uniform(rng, -1, 1);
}

bool batch_fill(Batch* batch, int type_a, int type_b, const tbHull* hull, const tbHField* hfield,
                Regime regime, tbReal radius) {
  if (!tb_collide_supported(type_a, type_b)) return false;
  memset(batch, 0, sizeof(*batch));
  batch->type_a = type_a;
  batch->type_b = type_b;
  batch->regime = regime;
  batch->mesh_size = type_b == TB_GEOM_MESH ? hull->nvert : 0;
  tbRng rng = {(uint64_t)(100 * type_a + 10 * type_b + (int)regime)};
  static const tbReal range[NREGIMES][2] = {{0.02, 0.1}, {-1e-4, 0}, {-0.08, -0.01}};
  for (int k = 0; k < BATCH; k++) {
    tbShape *a = &batch->a[k], *b = &batch->b[k];
    random_shape(&rng, type_a, hull, hfield, a);
    random_shape(&rng, type_b, hull, hfield, b);
    for (int i = 0; i < 3 && radius > 0; i++) a->size[i] = b->size[i] = radius;

    // Move b along the normal until the pair has the distance of the regime; a few iterations,
    // because over a height field the nearest place changes.
    tbReal wanted = tb_rng_uniform(&rng, range[regime][0], range[regime][1]), n[3];
    if (type_a == TB_GEOM_HFIELD) {
      tbReal up = hfield->size[2] + 0.5, x[3] = {0.3 * b->pos[0], 0.3 * b->pos[1], up};
      tb_mul_mat3_vec3(b->pos, a->mat, x);
      tb_add3(b->pos, b->pos, a->pos);
    }
    for (int round = 0; round < 4; round++) {
      tbReal dist = tb_distance(a, b, NULL, NULL, n, NULL);
      if (isfinite(dist)) tb_add_scaled3(b->pos, b->pos, wanted - dist, n);
    }
  }
  return true;
}

// Our pair functions as the pipeline calls them: normals only, as the peers give, input checked
// before.
static void* ours_make(const Batch* batch) {
  return (void*)(uintptr_t)batch;
}

static long pipeline_run(void* objects) {
  const Batch* batch = (const Batch*)objects;
  tbContactPoint out[TB_MAX_PAIR_CONTACTS];
  long count = 0;
  for (int k = 0; k < BATCH; k++) {
    count += tb_collide_normals(&batch->a[k], &batch->b[k], batch->margin, out, NULL);
  }
  return count;
}

// As the pipeline does from step to step: with what each pair remembers, and the second shape moved
// by a step of 2 ms at 0.5 m/s, forth and back. (Bullet keeps its caches too, without moving.)
typedef struct {
  const Batch* batch;
  tbShape moved[BATCH];
  tbCollideCache warm[BATCH];
  // Of the last query by GJK alone: the normal, and what vertices its simplex had.
  tbReal normal[BATCH][3];
  uint16_t vertex[BATCH][4][2];
  int count[BATCH];
  int round;
} Warm;

static void* warm_make(const Batch* batch) {
  Warm* w = calloc(1, sizeof(Warm));
  w->batch = batch;
  tbRng rng = {5};
  for (int k = 0; k < BATCH; k++) {
    tbReal way[3];
    tb_rng_normals(&rng, 3, way);
    tb_normalize3(way);
    w->moved[k] = batch->b[k];
    tb_add_scaled3(w->moved[k].pos, batch->b[k].pos, 1e-3, way);
  }
  return w;
}

static long warm_run(void* objects) {
  Warm* w = (Warm*)objects;
  tbContactPoint out[TB_MAX_PAIR_CONTACTS];
  long count = 0;
  const tbShape* b = w->round++ % 2 ? w->moved : w->batch->b;
  for (int k = 0; k < BATCH; k++) {
    count += tb_collide_normals(&w->batch->a[k], &b[k], w->batch->margin, out, &w->warm[k]);
  }
  return count;
}

// The public call: checks of input and whole frames included.
static long public_run(void* objects) {
  const Batch* batch = (const Batch*)objects;
  tbContactPoint out[TB_MAX_PAIR_CONTACTS];
  long count = 0;
  for (int k = 0; k < BATCH; k++) {
    count += tb_collide(&batch->a[k], &batch->b[k], batch->margin, out, NULL);
  }
  return count;
}

// GJK alone from centre to centre, as a query of the distance: the cost of a support function.
static long gjk_from(const Batch* batch, bool centres) {
  long near = 0;
  for (int k = 0; k < BATCH; k++) {
    tbConvexPair pair;
    tbConvexResult r = {.count = 0};
    tb_convex_pair_init(&pair, &batch->a[k], &batch->b[k]);
    if (centres) tb_copy3(r.normal, pair.pos);
    if (!(tb_normalize3(r.normal) > 0)) r.normal[0] = 1;
    tb_gjk(&pair, INFINITY, 1e-6, 1, &r);
    near += r.state == TB_CONVEX_NEAR;
  }
  return near;
}

// The same from step to step, the second shape moved as above: from the vertices of the last
// simplex, or where a shape has none from the last direction.
static long gjk_warm_run(void* objects) {
  Warm* w = (Warm*)objects;
  long near = 0;
  bool vertices = w->batch->type_a == TB_GEOM_MESH && w->batch->type_b == TB_GEOM_MESH;
  const tbShape* b = w->round++ % 2 ? w->moved : w->batch->b;
  for (int k = 0; k < BATCH; k++) {
    tbConvexPair pair;
    tbConvexResult r = {.count = 0};
    tb_convex_pair_init(&pair, &w->batch->a[k], &b[k]);
    tb_copy3(r.normal, w->normal[k]);
    if (!(tb_normalize3(r.normal) > 0)) r.normal[0] = 1;
    r.count = w->count[k];
    for (int i = 0; i < r.count; i++) {
      r.simplex[i].ia = w->vertex[k][i][0];
      r.simplex[i].ib = w->vertex[k][i][1];
    }
    if (r.count == 0 || !tb_gjk_again(&pair, INFINITY, 1e-6, &r)) {
      tb_gjk(&pair, INFINITY, 1e-6, 1, &r);
    }
    tb_copy3(w->normal[k], r.normal);
    w->count[k] = vertices ? r.count : 0;
    for (int i = 0; i < w->count[k]; i++) {
      w->vertex[k][i][0] = (uint16_t)r.simplex[i].ia;
      w->vertex[k][i][1] = (uint16_t)r.simplex[i].ib;
    }
    near += r.state == TB_CONVEX_NEAR;
  }
  return near;
}

static long gjk_run(void* objects) {
  return gjk_from((const Batch*)objects, true);
}

static long gjk_blind_run(void* objects) {
  return gjk_from((const Batch*)objects, false);
}

static void ours_drop(void* objects) {
  (void)objects;
}

const PairPeer* peer_tribo(void) {
  static const PairPeer peer = {"tribo", ours_make, pipeline_run, ours_drop};
  return &peer;
}

const PairPeer* peer_tribo_warm(void) {
  static const PairPeer peer = {"tribo_warm", warm_make, warm_run, free};
  return &peer;
}

const PairPeer* peer_tribo_public(void) {
  static const PairPeer peer = {"tribo_api", ours_make, public_run, ours_drop};
  return &peer;
}

const PairPeer* peer_gjk(void) {
  static const PairPeer peer = {"gjk", ours_make, gjk_run, ours_drop};
  return &peer;
}

const PairPeer* peer_gjk_warm(void) {
  static const PairPeer peer = {"gjk_warm", warm_make, gjk_warm_run, free};
  return &peer;
}

const PairPeer* peer_gjk_blind(void) {
  static const PairPeer peer = {"gjk_blind", ours_make, gjk_blind_run, ours_drop};
  return &peer;
}
