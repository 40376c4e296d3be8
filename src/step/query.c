// The public queries: checks of their arguments, and the world's detector.
#include "tribo/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "detect/query.h"
#include "model/workspace.h"
#include "step/step.h"

// The message of a query that fails; data->status stays that of the last step.
static tbResult refuse(tbData* d, tbResult result, const char* message) {
  snprintf(d->message, sizeof d->message, "%.250s", message);
  return result;
}

static bool is_vector(const tbReal* x) {
  return x && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

// The pose of a geom: computed, and finite.
static tbResult check_pose(tbData* d, int geom) {
  const tbReal *pos = d->geom_xpos + 3 * geom, *mat = d->geom_xmat + 9 * geom;
  tbReal sum = 0, size = 0;
  for (int i = 0; i < 3; i++) sum += 0 * pos[i];
  for (int i = 0; i < 9; i++) {
    sum += 0 * mat[i];
    size += mat[i] * mat[i];
  }
  if (sum == 0 && size > 0) return TB_OK;
  snprintf(d->message, sizeof d->message,
           sum == 0 ? "the pose of geom %d is not computed yet: call tb_kinematics first"
                    : "the pose of geom %d is not finite: correct qpos and call tb_kinematics",
           geom);
  return sum == 0 ? TB_ERROR_ARGUMENT : TB_ERROR_NUMERIC;
}

// The world's detector, after checks of the world and of all poses; NULL with a result and message.
static tbDetector* detector_of(const tbModel* m, tbData* d, tbResult* result) {
  *result = TB_ERROR_ARGUMENT;
  if (!d) return NULL;
  if (!m || !tb_is_world_of(m, d)) {
    refuse(d, TB_ERROR_ARGUMENT, m ? "model: this world is of another model" : "model is NULL");
    return NULL;
  }
  tbStepState* state = tb_step_state(m, d);
  if (!state) {
    *result = refuse(d, TB_ERROR_MEMORY, "out of memory for the world's shapes");
    return NULL;
  }
  *result = TB_OK;
  for (int g = 0; g < m->ngeom && *result == TB_OK; g++) *result = check_pose(d, g);
  return *result == TB_OK ? state->detector : NULL;
}

tbReal tb_ray(const tbModel* m, tbData* d, const tbReal pnt[3], const tbReal vec[3],
              const uint8_t* geomgroup, int flg_static, int bodyexclude, int* geomid,
              tbReal normal[3]) {
  tbResult result;
  if (geomid) *geomid = -1;
  if (normal) memset(normal, 0, 3 * sizeof(tbReal));
  tbDetector* detector = detector_of(m, d, &result);
  if (!detector) return NAN;
  const char* invalid = NULL;
  if (!is_vector(pnt)) invalid = "pnt: a ray needs three finite coordinates";
  if (!is_vector(vec) || (vec[0] == 0 && vec[1] == 0 && vec[2] == 0)) {
    invalid = "vec: a ray needs a finite direction that is not zero";
  }
  if (bodyexclude < -1 || bodyexclude >= m->nbody) invalid = "bodyexclude: no such body (-1: none)";
  if (invalid) {
    refuse(d, TB_ERROR_ARGUMENT, invalid);
    return NAN;
  }
  tbRayQuery ray = {pnt, vec, geomgroup, !flg_static, bodyexclude};
  return tb_query_ray(detector, m, d, &ray, geomid, normal);
}

tbReal tb_geom_distance(const tbModel* m, tbData* d, int geom1, int geom2, tbReal distmax,
                        tbReal fromto[6]) {
  if (fromto) memset(fromto, 0, 6 * sizeof(tbReal));
  if (!m || !d || !tb_is_world_of(m, d)) {
    if (d) refuse(d, TB_ERROR_ARGUMENT, "model: this world is of another model");
    return NAN;
  }
  const char* invalid = NULL;
  if (isnan(distmax)) invalid = "distmax: the largest distance is not a number";
  if (geom2 < 0 || geom2 >= m->ngeom) invalid = "geom2: no such geom";
  if (geom1 < 0 || geom1 >= m->ngeom) invalid = "geom1: no such geom";
  tbStepState* state = tb_step_state(m, d);
  if (!state) invalid = "out of memory for the world's shapes";
  if (invalid) refuse(d, TB_ERROR_ARGUMENT, invalid);
  if (invalid || check_pose(d, geom1) != TB_OK || check_pose(d, geom2) != TB_OK) return NAN;
  return tb_query_distance(state->detector, m, d, geom1, geom2, distmax, fromto);
}

tbResult tb_visit_pairs(const tbModel* m, tbData* d, tbReal margin, tbPairVisitor visit,
                        void* user) {
  tbResult result;
  const tbDetector* detector = detector_of(m, d, &result);
  if (!detector) return result;
  if (!(margin >= 0)) return refuse(d, TB_ERROR_ARGUMENT, "margin: a distance >= 0 is required");
  if (!visit) return refuse(d, TB_ERROR_ARGUMENT, "visit: a function is required");
  tbArena* arena = &d->work->query;
  tbArenaMark mark = tb_arena_mark(arena);
  const tbPair* pairs = NULL;
  int count = tb_query_pairs(detector, m, d, margin, arena, &pairs);
  if (count < 0) result = refuse(d, TB_ERROR_MEMORY, "out of memory for pairs of geoms");
  d->work->visiting++;
  for (int k = 0; k < count; k++) {
    if (visit(user, pairs[k].first, pairs[k].second)) break;
  }
  d->work->visiting--;
  tb_arena_release(arena, mark);
  return result;
}

tbResult tb_find_contacts(const tbModel* m, tbData* d) {
  tbResult result;
  const tbDetector* detector = detector_of(m, d, &result);
  if (!detector) return result;
  if (d->work->halfway) {
    return refuse(d, TB_ERROR_ARGUMENT,
                  "tb_find_contacts between tb_step1 and tb_step2 would replace the contacts of "
                  "that step, which data->contact already has");
  }
  if (d->work->visiting) {
    return refuse(d, TB_ERROR_ARGUMENT, "tb_find_contacts inside tb_visit_pairs: call it after");
  }
  const tbLawType* law = tb_law_type(m->opt.law);
  if (!law) return refuse(d, TB_ERROR_ARGUMENT, "model: opt.law is no law of a step");
  // Soft and comfree contacts act within their margin, those of the other laws by touching.
  result = tb_query_contacts(detector, m, d, law->reach ? TB_TOUCHING : 0);
  return result == TB_ERROR_MEMORY ? refuse(d, result, "out of memory for contacts") : result;
}
