// Shortest and longest length of an actuator: the robot is pulled both ways by the actuator alone,
// against its limits and equality constraints, until it rests (docs/constants.md, eq. 6). The
// procedure is MuJoCo's, so that the numbers are.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/kernel.h"
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

// Is a simulation needed? Ranges that are there, or that a limit gives, are final.
static bool needs_range(tbModel* m, const tbLengthRangeOptions* o, int u) {
  int gain = m->actuator_gaintype[u], bias = m->actuator_biastype[u];
  bool muscle = gain == TB_GAIN_MUSCLE || bias == TB_BIAS_MUSCLE;
  bool user = gain == TB_GAIN_USER || bias == TB_BIAS_USER;
  if (o->mode == TB_LENGTHRANGE_NONE) return false;
  if (o->mode == TB_LENGTHRANGE_MUSCLE && !muscle) return false;
  if (o->mode == TB_LENGTHRANGE_MUSCLEUSER && !muscle && !user) return false;
  tbReal* range = m->actuator_lengthrange + 2 * u;
  if (o->useexisting && range[0] < range[1]) return false;
  int type = m->actuator_trntype[u], id = m->actuator_trnid[2 * u];
  const tbReal* limit = NULL;
  if (type == TB_TRN_JOINT || type == TB_TRN_JOINTINPARENT) {
    if (m->jnt_limited[id]) limit = m->jnt_range + 2 * id;
  } else if (type == TB_TRN_TENDON && m->tendon_limited[id]) {
    limit = m->tendon_range + 2 * id;
  }
  if (!o->uselimit || !limit) return true;
  memcpy(range, limit, 2 * sizeof(tbReal));
  return false;
}

static tbReal norm(const tbReal* x, int n) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static void scale(tbReal* x, int n, tbReal a) {
  for (int i = 0; i < n; i++) x[i] *= a;
}

// The force along the actuator's moment that gives the acceleration asked for.
static void set_force(const tbModel* m, tbData* d, const tbLengthRangeOptions* o, int u,
                      tbReal sign) {
  tbReal *force = d->qfrc_applied, *acceleration = d->scratch_nv;
  memset(force, 0, (size_t)m->nv * sizeof(tbReal));
  for (int s = m->actuator_Jadr[u]; s < m->actuator_Jadr[u] + m->actuator_Jnnz[u]; s++) {
    force[m->Jmom_colind[s]] = d->actuator_moment[s];
  }
  tb_solve_m(m, d, acceleration, force, 1);
  scale(force, m->nv, sign * o->accel / fmax(TB_TINY, norm(acceleration, m->nv)));
  tbReal size = norm(force, m->nv);
  if (o->maxforce > 0 && size > o->maxforce) scale(force, m->nv, o->maxforce / size);
}

// Pull one way; lengths near the end lie in low ... high.
static tbResult pull(const tbModel* m, tbData* d, const tbLengthRangeOptions* o, int u, tbReal sign,
                     tbReal* low, tbReal* high) {
  tbReal decay = exp(-m->opt.timestep / fmax(0.01, o->timeconst));
  *low = INFINITY;
  *high = -INFINITY;
  tb_reset(m, d);
  while (d->time < o->inttotal) {
    scale(d->qvel, m->nv, decay);
    tbResult result = tb_step1(m, d);
    if (result == TB_OK) set_force(m, d, o, u, sign);
    if (result == TB_OK) result = tb_step2(m, d);
    if (result != TB_OK) return result;
    if (d->time > o->inttotal - o->interval) {
      *low = fmin(*low, d->actuator_length[u]);
      *high = fmax(*high, d->actuator_length[u]);
    }
  }
  return TB_OK;
}

static tbResult set_range(tbModel* m, tbData* d, const tbLengthRangeOptions* o, int u,
                          tbError* error) {
  const char* name = tb_id2name(m, TB_OBJ_ACTUATOR, u);
  tbReal low[2], high[2];
  for (int side = 0; side < 2; side++) {
    if (pull(m, d, o, u, side ? 1 : -1, &low[side], &high[side]) != TB_OK) {
      return tb_fail(error, TB_ERROR_NUMERIC,
                     "actuator %d '%s': its length range cannot be found: %s; give lengthrange", u,
                     name, d->message);
    }
  }
  tbReal range = high[1] - low[0];
  if (!(range > 0)) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "actuator %d '%s': its lengths range from %g to %g; give lengthrange", u, name,
                   low[0], high[1]);
  }
  for (int side = 0; side < 2; side++) {
    if (high[side] - low[side] <= o->tolrange * range) continue;
    return tb_fail(error, TB_ERROR_MODEL,
                   "actuator %d '%s': its %s length did not settle: between %g and %g at the end, "
                   "of a range from %g to %g; limit the joints, give lengthrange or change "
                   "compiler/lengthrange",
                   u, name, side ? "longest" : "shortest", low[side], high[side], low[0], high[1]);
  }
  m->actuator_lengthrange[2 * u] = low[0];
  m->actuator_lengthrange[2 * u + 1] = high[1];
  return TB_OK;
}

// Only what keeps the robot together and within its limits acts.
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

tbResult tb_set_length_ranges(tbModel* m, const tbLengthRangeOptions* options, int* failed,
                              tbError* error) {
  tbLengthRangeOptions defaults = tbDefaultLengthRangeOptions();
  const tbLengthRangeOptions* o = options ? options : &defaults;
  if (failed) *failed = -1;
  if (!m) return tb_fail(error, TB_ERROR_ARGUMENT, "NULL model");
  tbOption saved = m->opt, pulling = pulling_options(m, o);
  // A clear end, and room for a length in the interval.
  if (!(o->inttotal > 0 && o->interval > 0 && o->inttotal / pulling.timestep <= 20000)) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "lengthrange: inttotal %g, interval %g and timestep %g do not make a simulation",
                   o->inttotal, o->interval, pulling.timestep);
  }
  tbData* d = NULL;
  tbResult result = TB_OK;
  for (int u = 0; u < m->nu && result == TB_OK; u++) {
    if (!needs_range(m, o, u)) continue;
    m->opt = pulling;
    if (!d) d = tb_data_new(m);
    result = d ? set_range(m, d, o, u, error) : TB_ERROR_MEMORY;
    if (result == TB_ERROR_MEMORY) tb_fail(error, result, "out of memory for length ranges");
    if (result != TB_OK && failed) *failed = u;
    m->opt = saved;
  }
  tb_data_free(d);
  return result;
}
