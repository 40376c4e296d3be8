// Shortest and longest length of an actuator: a simulation with the force of this actuator alone,
// in both directions, against limits and equality constraints, until the robot is at rest
// (docs/manual/constants.md, eq. 6). The procedure is MuJoCo's, so that the results agree.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "base/error.h"
#include "base/kernel.h"
#include "load/actuator_range_model.h"
#include "model/equality_kinds.h"
#include "model/transmission_kinds.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

tbLengthRangeOptions tbDefaultLengthRangeOptions(void) {
  return (tbLengthRangeOptions){.mode = TB_LENGTHRANGE_MUSCLE,
                                .useexisting = 1,
                                .accel = 20,
                                .timeconst = 1,
                                .timestep = 0.01,
                                .inttotal = 10,
                                .interval = 2,
                                .tolrange = 0.05};
}

// Whether a simulation is needed: ranges that are given, or determined by a limit, are final.
static bool needs_range(tbModel* m, const tbLengthRangeOptions* o, int u) {
  int gain = m->actuator_gaintype[u], bias = m->actuator_biastype[u];
  bool muscle = gain == TB_GAIN_MUSCLE || bias == TB_BIAS_MUSCLE;
  bool user = gain == TB_GAIN_USER || bias == TB_BIAS_USER;
  if (o->mode == TB_LENGTHRANGE_NONE) return false;
  if (o->mode == TB_LENGTHRANGE_MUSCLE && !muscle) return false;
  if (o->mode == TB_LENGTHRANGE_MUSCLEUSER && !muscle && !user) return false;
  tbReal* range = m->actuator_lengthrange + 2 * u;
  if (o->useexisting && range[0] < range[1]) return false;
  int joint = tb_geared_joint(m, u), tendon = tb_geared_tendon(m, u);
  const tbReal* limit = NULL;
  if (joint >= 0 && m->jnt_limited[joint]) limit = m->jnt_range + 2 * joint;
  if (tendon >= 0 && m->tendon_limited[tendon]) limit = m->tendon_range + 2 * tendon;
  if (!o->uselimit || !limit) return true;
  memcpy(range, limit, 2 * sizeof(tbReal));
  return false;
}

// --- actuators that can be simulated together -------------------------------------------------

// Actuators of parts of the model that are not coupled are simulated together.
typedef struct {
  int* part;     // ntree + 1: a tree's part (the last entry is for fixed bodies)
  int* next;     // nu: the next actuator of the same part that needs a range, or -1
  int* head;     // ntree + 1: the first actuator of a part without a range yet, or -1
  int* pulled;   // nu: the actuators of the current simulation
  tbReal* ends;  // nu x 4: shortest and longest length while shortening, while lengthening
  tbReal* size;  // ntree + 1: |M^-1 moment|^2, |force|^2 of a part
} Pulls;

static int part_of(const int* part, int tree) {
  while (part[tree] != tree) tree = part[tree];
  return tree;
}

// Join two parts under the lower index. Fixed bodies (-1) join nothing.
static void join(int* part, int* first, int tree) {
  if (tree < 0) return;
  if (*first >= 0) {
    int a = part_of(part, *first), b = part_of(part, tree);
    part[a > b ? a : b] = a > b ? b : a;
  }
  *first = tree;
}

static int object_tree(const tbModel* m, int objtype, int id) {
  if (id < 0) return -1;
  if (objtype == TB_OBJ_SITE) return m->body_treeid[m->site_bodyid[id]];
  if (objtype == TB_OBJ_GEOM) return m->body_treeid[m->geom_bodyid[id]];
  return m->body_treeid[id];
}

static void join_dofs(const tbModel* m, int* part, int* first, const int* dofs, int n) {
  for (int k = 0; k < n; k++) join(part, first, m->dof_treeid[dofs[k]]);
}

static void join_tendon(const tbModel* m, int* part, int* first, int t) {
  if (t >= 0) join_dofs(m, part, first, m->Jten_colind + m->tendon_Jadr[t], m->tendon_Jnnz[t]);
}

// Trees that a tendon, an actuator or an equality constraint couples form one part.
static void find_parts(const tbModel* m, int* part) {
  for (int t = 0; t <= m->ntree; t++) part[t] = t;
  for (int t = 0; t < m->ntendon; t++) {
    int first = -1;
    join_tendon(m, part, &first, t);
  }
  for (int u = 0; u < m->nu; u++) {
    int first = -1;
    join_dofs(m, part, &first, m->Jmom_colind + m->actuator_Jadr[u], m->actuator_Jnnz[u]);
  }
  for (int e = 0; e < m->neq; e++) {
    int ends[2] = {m->eq_obj1id[e], m->eq_obj2id[e]}, first = -1;
    for (int k = 0; k < 2; k++) {
      if (ends[k] < 0) continue;
      if (tb_equality_ends(m, e) == TB_ENDS_TENDONS) {
        join_tendon(m, part, &first, ends[k]);
      } else if (tb_equality_ends(m, e) == TB_ENDS_JOINTS) {
        join(part, &first, m->dof_treeid[m->jnt_dofadr[ends[k]]]);
      } else {
        join(part, &first, object_tree(m, m->eq_objtype[e], ends[k]));
      }
    }
  }
  for (int t = 0; t <= m->ntree; t++) part[t] = part_of(part, t);
}

// An actuator's part; an actuator that moves no dof belongs to the part of the fixed bodies.
static int actuator_part(const tbModel* m, const int* part, int u) {
  if (m->actuator_Jnnz[u] == 0) return part[m->ntree];
  return part[m->dof_treeid[m->Jmom_colind[m->actuator_Jadr[u]]]];
}

// --- one simulation ---------------------------------------------------------------------------

// Set the forces along the moments of all actuators of m, each in a part of its own, that give the
// requested acceleration.
static void set_forces(const tbModel* m, tbData* d, const tbLengthRangeOptions* o, const Pulls* p,
                       tbReal sign) {
  tbReal *force = d->qfrc_applied, *acceleration = d->work->scratch_nv;
  tbReal *reached = p->size, *size = p->size + m->ntree + 1;
  memset(force, 0, (size_t)m->nv * sizeof(tbReal));
  memset(p->size, 0, 2 * ((size_t)m->ntree + 1) * sizeof(tbReal));
  for (int u = 0; u < m->nu; u++) {
    int at = m->actuator_Jadr[u], end = at + m->actuator_Jnnz[u];
    for (int s = at; s < end; s++) force[m->Jmom_colind[s]] = d->actuator_moment[s];
  }
  tb_solve_m(m, d, acceleration, force, 1);
  for (int i = 0; i < m->nv; i++) {
    int part = p->part[m->dof_treeid[i]];
    reached[part] += acceleration[i] * acceleration[i];
    size[part] += force[i] * force[i];
  }
  for (int i = 0; i < m->nv; i++) {
    int part = p->part[m->dof_treeid[i]];
    tbReal scale = o->accel / tb_max(TB_TINY, sqrt(reached[part]));
    tbReal most = scale * sqrt(size[part]);
    if (o->maxforce > 0 && most > o->maxforce) scale *= o->maxforce / most;
    force[i] *= sign * scale;
  }
}

// Whether the motion has ended: the remaining motion would change no significant digit.
static bool at_rest(const tbModel* m, const tbData* d) {
  tbReal fastest = 0;
  for (int i = 0; i < m->nv; i++) fastest = tb_max(fastest, fabs(d->qvel[i]));
  return fastest < 1e-10;
}

// Apply all actuators of m, a part of the model, in one direction; ends[0] ... ends[1] is the range
// of their lengths in the final interval. The simulation ends early once all have been at rest for
// a tenth of the interval (a start at rest moves within the first step, unless it cannot move).
static tbResult pull(const tbModel* m, tbData* d, const tbLengthRangeOptions* o, const Pulls* p,
                     int side) {
  tbReal decay = tb_exp(-m->opt.timestep / tb_max(0.01, o->timeconst)), rested = 0;
  for (int k = 0; k < m->nu; k++) {
    p->ends[4 * p->pulled[k] + 2 * side] = INFINITY;
    p->ends[4 * p->pulled[k] + 2 * side + 1] = -INFINITY;
  }
  tb_reset(m, d);
  while (d->time < o->inttotal) {
    for (int i = 0; i < m->nv; i++) d->qvel[i] *= decay;
    tbResult result = tb_step1(m, d);
    if (result == TB_OK) set_forces(m, d, o, p, side ? 1 : -1);
    if (result == TB_OK) result = tb_step2(m, d);
    if (result != TB_OK) return result;
    rested = at_rest(m, d) ? rested + m->opt.timestep : 0;
    bool done = rested > 0.1 * o->interval;
    if (done || d->time > o->inttotal - o->interval) {
      for (int k = 0; k < m->nu; k++) {
        tbReal* ends = p->ends + 4 * p->pulled[k] + 2 * side;
        tbReal length = d->actuator_length[k];
        ends[0] = tb_min(ends[0], length);
        ends[1] = tb_max(ends[1], length);
      }
    }
    if (done) break;
  }
  return TB_OK;
}

// Compute the range from the lengths in both directions.
static tbResult set_range(tbModel* m, const tbLengthRangeOptions* o, int u, const tbReal ends[4],
                          tbError* error) {
  const char* name = tb_id2name(m, TB_OBJ_ACTUATOR, u);
  tbReal range = ends[3] - ends[0];
  if (!(range > 0)) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "actuator %d '%s': its lengths range from %g to %g; give lengthrange", u, name,
                   ends[0], ends[3]);
  }
  for (int side = 0; side < 2; side++) {
    tbReal low = ends[2 * side], high = ends[2 * side + 1];
    if (high - low <= o->tolrange * range) continue;
    return tb_fail(error, TB_ERROR_MODEL,
                   "actuator %d '%s': its %s length did not settle: between %g and %g at the end, "
                   "of a range from %g to %g; limit the joints, give lengthrange or change "
                   "compiler/lengthrange",
                   u, name, side ? "longest" : "shortest", low, high, ends[0], ends[3]);
  }
  m->actuator_lengthrange[2 * u] = ends[0];
  m->actuator_lengthrange[2 * u + 1] = ends[3];
  return TB_OK;
}

// Both directions, with a world of its own. `message` describes an error.
static tbResult pull_both(const tbModel* m, const tbLengthRangeOptions* o, const tbOption* pulling,
                          const Pulls* p, int n, tbError* message) {
  tbModelPart part;
  tbResult result = tb_model_part(m, p->pulled, n, &part);
  if (result != TB_OK) return result;
  part.model.opt = *pulling;
  tbData* d = tb_data_new(&part.model);
  if (!d) result = TB_ERROR_MEMORY;
  for (int side = 0; result == TB_OK && side < 2; side++) {
    result = pull(&part.model, d, o, p, side);
    if (result != TB_OK) tb_fail(message, result, "%s", d->message);
  }
  tb_data_free(d);
  free(part.memory);
  return result;
}

// Both directions for one set of actuators. On error *failed is the actuator.
static tbResult round_of(tbModel* m, const tbLengthRangeOptions* o, const tbOption* pulling,
                         Pulls* p, int n, int* failed, tbError* error) {
  tbError message;
  tbResult result = pull_both(m, o, pulling, p, n, &message);
  if (result == TB_ERROR_MEMORY) return result;
  if (result != TB_OK) {
    // Simulating the actuators one by one finds the failing one.
    for (int k = 0; k < n && n > 1; k++) {
      int all = p->pulled[0];
      p->pulled[0] = p->pulled[k];
      result = round_of(m, o, pulling, p, 1, failed, error);
      p->pulled[0] = all;
      if (result != TB_OK) return result;
    }
    if (n > 1) return TB_OK;
    *failed = p->pulled[0];
    return tb_fail(error, TB_ERROR_NUMERIC,
                   "actuator %d '%s': its length range cannot be found: %s; give lengthrange",
                   *failed, tb_id2name(m, TB_OBJ_ACTUATOR, *failed), message.message);
  }
  for (int k = 0; k < n; k++) {
    *failed = p->pulled[k];
    result = set_range(m, o, *failed, p->ends + 4 * *failed, error);
    if (result != TB_OK) return result;
  }
  *failed = -1;
  return TB_OK;
}

// Simulations with one actuator of each part, until all have a range.
static tbResult all_rounds(tbModel* m, const tbLengthRangeOptions* o, const tbOption* pulling,
                           Pulls* p, int* failed, tbError* error) {
  for (;;) {
    int n = 0;
    for (int t = 0; t <= m->ntree; t++) {
      if (p->head[t] < 0) continue;
      p->pulled[n++] = p->head[t];
      p->head[t] = p->next[p->head[t]];
    }
    if (n == 0) return TB_OK;
    tbResult result = round_of(m, o, pulling, p, n, failed, error);
    if (result != TB_OK) return result;
  }
}

// Queue the actuators that need a range by part, in their order. Returns their number.
static int queue(tbModel* m, const tbLengthRangeOptions* o, Pulls* p) {
  int n = 0;
  for (int t = 0; t <= m->ntree; t++) p->head[t] = -1;
  for (int u = m->nu - 1; u >= 0; u--) {
    if (!needs_range(m, o, u)) continue;
    int part = actuator_part(m, p->part, u);
    p->next[u] = p->head[part];
    p->head[part] = u;
    n++;
  }
  return n;
}

// Checks that the total time and the interval are positive and the steps at most 1e6. A motion that
// comes to rest ends much earlier.
static tbResult check_time(const tbLengthRangeOptions* o, tbReal timestep, tbError* error) {
  const tbReal MOST_STEPS = 1e6;
  if (o->inttotal > 0 && o->interval > 0 && o->inttotal / timestep <= MOST_STEPS) return TB_OK;
  return tb_fail(error, TB_ERROR_MODEL,
                 "lengthrange: inttotal %g, interval %g and timestep %g do not define a simulation "
                 "of up to 1e6 steps",
                 o->inttotal, o->interval, timestep);
}

// Options with only the constraints that keep the robot together and within its limits.
static tbOption pulling_options(const tbModel* m, const tbLengthRangeOptions* o) {
  tbOption option = m->opt;
  option.law = TB_LAW_SOFT;
  option.disableflags = TB_DISABLE_FRICTIONLOSS | TB_DISABLE_CONTACT | TB_DISABLE_SPRING |
                        TB_DISABLE_DAMPER | TB_DISABLE_GRAVITY | TB_DISABLE_ACTUATION |
                        TB_DISABLE_SENSOR;
  option.enableflags &= ~TB_ENABLE_ENERGY;
  if (option.integrator == TB_INTEGRATOR_RK4) option.integrator = TB_INTEGRATOR_EULER;
  if (o->timestep > 0) option.timestep = o->timestep;
  return option;
}

static tbResult set_ranges(tbModel* m, const tbLengthRangeOptions* o, const tbOption* pulling,
                           int* failed, tbError* error) {
  size_t nu = (size_t)m->nu, parts = (size_t)m->ntree + 1;
  int* indices = malloc(2 * (nu + parts) * sizeof(int));
  tbReal* reals = malloc((4 * nu + 2 * parts) * sizeof(tbReal));
  tbResult result = TB_ERROR_MEMORY;
  if (indices && reals) {
    Pulls p = {.part = indices,
               .head = indices + parts,
               .next = indices + 2 * parts,
               .pulled = indices + 2 * parts + nu,
               .ends = reals,
               .size = reals + 4 * nu};
    find_parts(m, p.part);
    result = queue(m, o, &p) > 0 ? check_time(o, pulling->timestep, error) : TB_OK;
    if (result == TB_OK) result = all_rounds(m, o, pulling, &p, failed, error);
  }
  if (result == TB_ERROR_MEMORY) tb_fail(error, result, "out of memory for length ranges");
  free(indices);
  free(reals);
  return result;
}

// Values of zero or below have a meaning for each field; values that are not numbers are errors.
static tbResult check(const tbLengthRangeOptions* o, tbError* error) {
  const struct {
    const char* name;
    tbReal value;
  } REALS[] = {{"accel", o->accel},       {"maxforce", o->maxforce}, {"timeconst", o->timeconst},
               {"timestep", o->timestep}, {"inttotal", o->inttotal}, {"interval", o->interval},
               {"tolrange", o->tolrange}};
  for (size_t i = 0; i < sizeof REALS / sizeof *REALS; i++) {
    if (isnan(REALS[i].value)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "lengthrange: %s is not a number", REALS[i].name);
    }
  }
  if (o->mode >= TB_LENGTHRANGE_NONE && o->mode <= TB_LENGTHRANGE_ALL) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "lengthrange: mode %d, expected 0 to %d", o->mode,
                 TB_LENGTHRANGE_ALL);
}

tbResult tb_set_length_ranges(tbModel* m, const tbLengthRangeOptions* options, int* failed,
                              tbError* error) {
  tbLengthRangeOptions defaults = tbDefaultLengthRangeOptions();
  const tbLengthRangeOptions* o = options ? options : &defaults;
  int unused;
  if (!failed) failed = &unused;
  *failed = -1;
  if (!m) return tb_fail(error, TB_ERROR_ARGUMENT, "NULL model");
  if (check(o, error) != TB_OK) return TB_ERROR_ARGUMENT;
  tbOption pulling = pulling_options(m, o);
  return m->nu > 0 ? set_ranges(m, o, &pulling, failed, error) : TB_OK;
}
