// Sensors of geometry: distances between geoms, points in sites and in pictures.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "base/kernel.h"
#include "detect/query.h"
#include "spatial/vec3.h"
#include "sensors/values.h"
#include "world/state.h"

static const tbReal PI = 3.14159265358979323846;

typedef struct {
  int first, count;
} Geoms;

static Geoms geoms_of(const tbModel* m, int type, int id) {
  if (type == TB_OBJ_GEOM) return (Geoms){id, 1};
  return (Geoms){m->body_geomadr[id], m->body_geomnum[id]};
}

// The nearest pair within the cutoff; the segment between the two, zero where there is none.
static tbReal nearest(const tbModel* m, tbData* d, int s, tbReal segment[6]) {
  const tbStepState* state = tb_step_state(m, d);
  tbReal best = m->sensor_cutoff[s];
  memset(segment, 0, 6 * sizeof(tbReal));
  if (!state) return best;
  Geoms a = geoms_of(m, m->sensor_objtype[s], m->sensor_objid[s]);
  Geoms b = geoms_of(m, m->sensor_reftype[s], m->sensor_refid[s]);
  for (int i = a.first; i < a.first + a.count; i++) {
    for (int j = b.first; j < b.first + b.count; j++) {
      tbReal points[6], distance = tb_query_distance(state->detector, m, d, i, j, best, points);
      if (!(distance < best)) continue;
      best = distance;
      memcpy(segment, points, sizeof points);
    }
  }
  return best;
}

void tb_sensor_distance(const tbSensorContext* x, int s, tbReal* out) {
  tbReal segment[6], distance = nearest(x->m, x->d, s, segment);
  switch (x->m->sensor_type[s]) {
    case TB_SENS_GEOMDIST: out[0] = distance; break;
    case TB_SENS_GEOMNORMAL:
      // As in MuJoCo the way of the segment: it turns round when the geoms overlap.
      tb_sub3(out, segment + 3, segment);
      if (out[0] != 0 || out[1] != 0 || out[2] != 0) tb_normalize3(out);
      break;
    default: memcpy(out, segment, sizeof segment);
  }
}

void tb_sensor_camprojection(const tbSensorContext* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  int site = m->sensor_objid[s], cam = m->sensor_refid[s];
  const int* pixels = m->cam_resolution + 2 * cam;
  const tbReal *chip = m->cam_sensorsize + 2 * cam, *lens = m->cam_intrinsic + 4 * cam;
  tbReal focal[2];
  focal[0] = focal[1] = 0.5 / tb_tan(m->cam_fovy[cam] * PI / 360) * pixels[1];
  if (chip[0] > 0 && chip[1] > 0) {
    for (int k = 0; k < 2; k++) focal[k] = lens[k] / chip[k] * pixels[k];
  }
  tbReal point[3];
  tb_sub3(point, d->site_xpos + 3 * site, d->cam_xpos + 3 * cam);
  tb_mul_mat3t_vec3(point, d->cam_xmat + 9 * cam, point);
  tbReal depth = point[2];
  if (fabs(depth) < TB_TINY) depth = depth < 0 ? -TB_TINY : TB_TINY;
  out[0] = -focal[0] * point[0] / depth + 0.5 * pixels[0];
  out[1] = focal[1] * point[1] / depth + 0.5 * pixels[1];
}

bool tb_inside_site(const tbModel* m, const tbData* d, int site, const tbReal point[3]) {
  const tbReal* size = m->site_size + 3 * site;
  tbReal p[3];
  tb_sub3(p, point, d->site_xpos + 3 * site);
  tb_mul_mat3t_vec3(p, d->site_xmat + 9 * site, p);
  tbReal across = p[0] * p[0] + p[1] * p[1], radius = size[0] * size[0];
  switch (m->site_type[site]) {
    case TB_GEOM_SPHERE: return across + p[2] * p[2] <= radius;
    case TB_GEOM_CAPSULE: {
      tbReal beyond = tb_max(0, fabs(p[2]) - size[1]);
      return across + beyond * beyond <= radius;
    }
    case TB_GEOM_CYLINDER: return across <= radius && fabs(p[2]) <= size[1];
    case TB_GEOM_ELLIPSOID: {
      tbReal sum = 0;
      for (int k = 0; k < 3; k++) sum += p[k] * p[k] / (size[k] * size[k]);
      return sum <= 1;
    }
    default: return fabs(p[0]) <= size[0] && fabs(p[1]) <= size[1] && fabs(p[2]) <= size[2];
  }
}

void tb_sensor_insidesite(const tbSensorContext* x, int s, tbReal* out) {
  const tbReal *pos, *mat;
  tb_object_pose(x->d, x->m->sensor_objtype[s], x->m->sensor_objid[s], &pos, &mat);
  out[0] = tb_inside_site(x->m, x->d, x->m->sensor_refid[s], pos);
}
