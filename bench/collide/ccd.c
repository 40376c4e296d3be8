// libccd's MPR (the faster of its two methods, and the one that gives contacts) with support
// functions as its users write them; meshes search all vertices.
#include "collide/peers.h"

#ifdef TB_BENCH_CCD

#include <ccd/ccd.h>
#include <ccd/quat.h>
#include <math.h>

#include "spatial/vec3.h"

static void local_support(const tbShape* s, const tbReal d[3], tbReal x[3]) {
  const tbReal* size = s->size;
  tb_zero3(x);
  tbReal length = tb_norm3(d), side = sqrt(d[0] * d[0] + d[1] * d[1]), best = -INFINITY;
  switch (s->type) {
    case TB_GEOM_SPHERE: tb_scale3(x, d, size[0] / length); return;
    case TB_GEOM_CAPSULE:
      tb_scale3(x, d, size[0] / length);
      x[2] += d[2] > 0 ? size[1] : -size[1];
      return;
    case TB_GEOM_ELLIPSOID:
      for (int i = 0; i < 3; i++) x[i] = d[i] * size[i];
      length = tb_norm3(x);
      for (int i = 0; i < 3; i++) x[i] *= size[i] / length;
      return;
    case TB_GEOM_CYLINDER:
      side = side > 0 ? size[0] / side : 0;
      tb_set3(x, d[0] * side, d[1] * side, d[2] > 0 ? size[1] : -size[1]);
      return;
    case TB_GEOM_BOX:
      for (int i = 0; i < 3; i++) x[i] = d[i] > 0 ? size[i] : -size[i];
      return;
    default: break;
  }
  for (int v = 0; v < s->hull->nvert; v++) {
    tbReal dot = tb_dot3(d, s->hull->vert + 3 * v);
    if (dot > best) {
      best = dot;
      tb_copy3(x, s->hull->vert + 3 * v);
    }
  }
}

static void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* out) {
  const tbShape* s = (const tbShape*)object;
  tbReal world[3] = {ccdVec3X(direction), ccdVec3Y(direction), ccdVec3Z(direction)}, d[3], x[3];
  tb_mul_mat3t_vec3(d, s->mat, world);
  local_support(s, d, x);
  tb_mul_mat3_vec3(world, s->mat, x);
  tb_add3(world, world, s->pos);
  ccdVec3Set(out, world[0], world[1], world[2]);
}

static void center(const void* object, ccd_vec3_t* out) {
  const tbShape* s = (const tbShape*)object;
  ccdVec3Set(out, s->pos[0], s->pos[1], s->pos[2]);
}

static void* make(const Batch* batch) {
  if (batch->type_a == TB_GEOM_PLANE || batch->type_a == TB_GEOM_HFIELD) return NULL;
  return (void*)(uintptr_t)batch;
}

static long run(void* objects) {
  const Batch* batch = (const Batch*)objects;
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support;
  ccd.center1 = ccd.center2 = center;
  ccd.max_iterations = 50;
  ccd.mpr_tolerance = 1e-6;
  long count = 0;
  for (int k = 0; k < BATCH; k++) {
    ccd_real_t depth;
    ccd_vec3_t direction, position;
    count +=
        ccdMPRPenetration(&batch->a[k], &batch->b[k], &ccd, &depth, &direction, &position) == 0;
  }
  return count;
}

static void drop(void* objects) {
  (void)objects;
}

const PairPeer* peer_ccd(void) {
  static const PairPeer peer = {"libccd", make, run, drop};
  return &peer;
}

#else

const PairPeer* peer_ccd(void) {
  return NULL;
}

#endif
