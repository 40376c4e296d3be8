// Derivatives that need further steps: differences of whole steps, and means over random states.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/rng.h"
#include "dynamics/frames.h"
#include "dynamics/regressor.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "step/check.h"
#include "step/step.h"
#include "partials/derivatives.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// Displace a state by e along one of its directions.
static void shift(const tbModel* m, tbData* d, int column, tbReal e, tbReal* unit) {
  if (column < m->nv) {
    memset(unit, 0, sizeof(tbReal) * (size_t)m->nv);
    unit[column] = 1;
    tb_integrate_pos(m, d->qpos, unit, e);
  } else if (column < 2 * m->nv) {
    d->qvel[column - m->nv] += e;
  } else if (column < 2 * m->nv + m->na) {
    d->act[column - 2 * m->nv] += e;
  } else if (column < 2 * m->nv + m->na + m->nu) {
    d->ctrl[column - 2 * m->nv - m->na] += e;
  } else {
    d->qfrc_applied[column - 2 * m->nv - m->na - m->nu] += e;
  }
}

// (to - from) / span as a displacement.
static void displacement(const tbModel* m, const tbData* from, const tbData* to, tbReal span,
                         tbReal* out) {
  tb_differentiate_pos(m, out, span, from->qpos, to->qpos);
  for (int i = 0; i < m->nv; i++) out[m->nv + i] = (to->qvel[i] - from->qvel[i]) / span;
  for (int i = 0; i < m->na; i++) out[2 * m->nv + i] = (to->act[i] - from->act[i]) / span;
}

// The model for the compared steps: rigid laws solve to rounding. With a simulation's tolerance the
// impulses at the start also solve the displaced step, and differences are zero.
static tbModel accurate(const tbModel* m) {
  tbModel out = *m;
  out.opt.solve_tolerance = tb_min(m->opt.solve_tolerance, 1e-12);
  out.opt.solve_absolute = 0;
  return out;
}

// Snapshot to which the world is reset before each evaluation: state, inputs, impulse cache, spring
// anchors.
typedef struct {
  void* bytes;
  size_t size;
} Start;

static tbResult start_take(Start* start, const tbModel* m, const tbData* d) {
  start->size = tb_snapshot_size(m, d);
  start->bytes = malloc(start->size + 1);
  return start->bytes ? tb_snapshot_save(m, d, start->bytes, start->size) : TB_ERROR_MEMORY;
}

static tbResult place(const tbModel* m, const Start* start, tbData* to) {
  return tb_snapshot_load(m, to, start->bytes, start->size, NULL);
}

// The step from the start, displaced by e along one direction.
static tbResult moved_step(const tbModel* m, const Start* start, tbData* d, int column, tbReal e,
                           tbReal* unit) {
  tbResult result = place(m, start, d);
  if (result != TB_OK) return result;
  if (e != 0) shift(m, d, column, e, unit);
  return tb_step(m, d);
}

// Newtons per unit of the increment: forces are larger numbers than positions.
static const tbReal FORCE_SCALE = 1e3;

static tbResult columns(const tbModel* m, const Start* start, tbData* low, tbData* high, tbReal eps,
                        int centred, tbReal* column, tbReal* const out[3]) {
  int nx = 2 * m->nv + m->na, first[4] = {0, nx, nx + m->nu, nx + m->nu + m->nv};
  tbResult result = centred ? TB_OK : moved_step(m, start, low, 0, 0, column);
  for (int part = 0; part < 3; part++) {
    size_t width = (size_t)(first[part + 1] - first[part]);
    tbReal e = part < 2 ? eps : FORCE_SCALE * eps;
    for (int k = first[part]; out[part] && k < first[part + 1] && result == TB_OK; k++) {
      result = moved_step(m, start, high, k, e, column);
      if (result == TB_OK && centred) result = moved_step(m, start, low, k, -e, column);
      if (result != TB_OK) break;
      displacement(m, low, high, centred ? 2 * e : e, column);
      for (int i = 0; i < nx; i++) {
        out[part][(size_t)i * width + (size_t)(k - first[part])] = column[i];
      }
    }
  }
  return result;
}

tbResult tb_deriv_differences(const tbModel* m, tbData* d, tbReal eps, int centred, tbReal* A,
                              tbReal* B, tbReal* F) {
  if (!m || !d) return TB_ERROR_ARGUMENT;
  if (!(eps > 0 && isfinite(eps))) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "differences need a finite increment eps > 0");
  }
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  Start start = {NULL, 0};
  tbData *low = tb_data_new(m), *high = tb_data_new(m);
  tbReal* column = calloc((size_t)(2 * m->nv + m->na + 1), sizeof(tbReal));
  tbReal* const out[3] = {A, B, F};
  const tbModel solved = accurate(m);
  result = low && high && column ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  if (result == TB_OK) result = columns(&solved, &start, low, high, eps, centred, column, out);
  tb_data_free(low);
  tb_data_free(high);
  free(start.bytes);
  free(column);
  return result;
}

tbResult tb_step_differences(const tbModel* m, tbData* d, tbReal eps, int centred, tbReal* A,
                             tbReal* B) {
  return tb_deriv_differences(m, d, eps, centred, A, B, NULL);
}

// ---- by parameters, from a snapshot -------------------------------------------------------------

tbResult tb_deriv_friction_differences(tbDerivatives* x) {
  const tbReal e = 1e-6;
  const tbModel solved = accurate(x->m), *m = &solved;
  size_t nx = (size_t)x->nx, ncon = (size_t)x->ncon;
  tbReal* mu = TB_ARENA_NEW(&x->arena, tbReal, nx * ncon + nx + 1);
  tbData *low = tb_data_new(m), *high = tb_data_new(m);
  tbResult result = mu && low && high ? TB_OK : TB_ERROR_MEMORY;
  Start start = {x->start, x->start_size};
  for (size_t c = 0; c < ncon && result == TB_OK; c++) {
    for (int side = 0; side < 2 && result == TB_OK; side++) {
      tbPurpose purpose = {.friction_key = x->contact_key[c], .friction_shift = side ? e : -e};
      tbData* d = side ? high : low;
      result = place(m, &start, d);
      if (result == TB_OK) result = tb_step_for(m, d, purpose);
    }
    if (result != TB_OK) break;
    displacement(m, low, high, 2 * e, mu + nx * ncon);
    for (size_t i = 0; i < nx; i++) mu[i * ncon + c] = mu[nx * ncon + i];
  }
  tb_data_free(low);
  tb_data_free(high);
  if (result == TB_OK) x->dense_mu = mu;
  return result;
}

tbResult tb_deriv_acceleration_differences(tbDerivatives* x, tbReal* dq, tbReal* dv, tbReal* dtau) {
  const tbReal e = 1e-6;
  const tbModel solved = accurate(x->m), *m = &solved;
  size_t nv = (size_t)m->nv;
  tbReal* const out[3] = {dq, dv, dtau};
  const int first[3] = {0, m->nv, x->ncol};
  if (x->dense_acc) {
    for (size_t part = 0; part < 3; part++) {
      if (out[part]) memcpy(out[part], x->dense_acc + part * nv * nv, sizeof(tbReal) * nv * nv);
    }
    return TB_OK;
  }
  tbData* probe = tb_data_new(m);
  tbResult result = probe ? TB_OK : TB_ERROR_MEMORY;
  Start start = {x->start, x->start_size};
  for (int part = 0; part < 3; part++) {
    tbReal span = part < 2 ? e : FORCE_SCALE * e;
    if (out[part]) memset(out[part], 0, sizeof(tbReal) * nv * nv);
    for (int k = 0; out[part] && k < m->nv && result == TB_OK; k++) {
      for (int side = -1; side <= 1 && result == TB_OK; side += 2) {
        result = place(m, &start, probe);
        if (result != TB_OK) break;
        shift(m, probe, first[part] + k, side * span, probe->work->scratch_nv);
        result = tb_forward(m, probe);
        for (size_t i = 0; i < nv; i++) {
          out[part][i * nv + (size_t)k] += side * probe->qacc[i] / (2 * span);
        }
      }
    }
  }
  tb_data_free(probe);
  return result;
}

// A model that shares all arrays with another except the inertias of its bodies and fields derived
// from them.
typedef struct {
  tbModel m;
  void* memory;
} Inertias;

static tbResult inertias_new(const tbModel* m, int body, Inertias* out) {
  size_t nb = (size_t)m->nbody, reals = nb * (1 + 3 + 4 + 3 + 9);
  size_t ints = nb + (size_t)m->ngeom + (size_t)m->nsite;
  out->m = accurate(m);
  out->memory = malloc(sizeof(tbReal) * reals + sizeof(int) * ints + 1);
  if (!out->memory) return TB_ERROR_MEMORY;
  tbReal* real = out->memory;
  tbReal** const field[] = {&out->m.body_mass, &out->m.body_ipos, &out->m.body_iquat,
                            &out->m.body_inertia, &out->m.body_imat};
  const size_t width[] = {1, 3, 4, 3, 9};
  for (int f = 0; f < 5; f++) {
    memcpy(real, *field[f], sizeof(tbReal) * nb * width[f]);
    *field[f] = real;
    real += nb * width[f];
  }
  int* frame = (int*)real;
  int** const kind[] = {&out->m.body_sameframe, &out->m.geom_sameframe, &out->m.site_sameframe};
  const int* const owner[] = {NULL, m->geom_bodyid, m->site_bodyid};
  const int count[] = {m->nbody, m->ngeom, m->nsite};
  // The body and its geoms and sites must not be marked as sharing its inertial frame.
  for (int f = 0; f < 3; f++) {
    for (int i = 0; i < count[f]; i++) {
      int own = owner[f] ? owner[f][i] == body : i == body;
      frame[i] = own ? TB_FRAME_GENERAL : (*kind[f])[i];
    }
    *kind[f] = frame;
    frame += count[f];
  }
  return TB_OK;
}

tbResult tb_deriv_inertial_differences(const tbModel* m, const tbData* d, int body, tbReal* out) {
  int nx = 2 * m->nv + m->na;
  memset(out, 0, sizeof(tbReal) * (size_t)nx * TB_NINERTIAL);
  if (m->body_lastdof[body] < 0) return TB_OK;
  Inertias other = {.memory = NULL};
  Start start = {NULL, 0};
  tbData *low = tb_data_new(m), *high = tb_data_new(m);
  tbReal* column = calloc((size_t)(nx + 1), sizeof(tbReal));
  tbResult result = low && high && column ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  if (result == TB_OK) result = inertias_new(m, body, &other);
  tbReal parameters[TB_NINERTIAL];
  tb_inertial_get(m, body, parameters);
  // A massless body needs a small mass to have a centre of mass.
  const tbReal some = 1e-9, increment = 1e-5, least = 1e-12;
  parameters[0] = tb_max(parameters[0], some * m->total_mass);
  tbReal inertia = parameters[4] + parameters[6] + parameters[9];
  tbReal mass = parameters[0], size = tb_max(increment * inertia, least);
  for (int p = 0; p < TB_NINERTIAL && result == TB_OK; p++) {
    tbReal e = p == 0 ? increment * mass : p < 4 ? sqrt(increment * mass * size) : size;
    for (int side = -1; side <= 1 && result == TB_OK; side += 2) {
      tbReal changed[TB_NINERTIAL];
      memcpy(changed, parameters, sizeof changed);
      changed[p] += side * e;
      tb_inertial_write(&other.m, body, changed);
      tb_quat_to_mat(other.m.body_imat + 9 * body, other.m.body_iquat + 4 * body);
      result = moved_step(&other.m, &start, side < 0 ? low : high, 0, 0, column);
    }
    if (result != TB_OK) break;
    displacement(m, low, high, 2 * e, column);
    for (int i = 0; i < nx; i++) out[i * TB_NINERTIAL + p] = column[i];
  }
  tb_data_free(low);
  tb_data_free(high);
  free(start.bytes);
  free(other.memory);
  free(column);
  return result;
}

// ---- means over samples -------------------------------------------------------------------------

// F (nx x nv) of the linearised step, column by column.
static void force_columns(tbDerivatives* x, tbReal* F, tbReal* unit, tbReal* column) {
  memset(unit, 0, sizeof(tbReal) * (size_t)x->nv);
  for (int k = 0; k < x->nv; k++) {
    unit[k] = 1;
    tb_derivatives_force(x, unit, column);
    unit[k] = 0;
    for (int i = 0; i < x->nx; i++) F[(size_t)i * (size_t)x->nv + (size_t)k] = column[i];
  }
}

// A random state around the start.
static tbResult sample_place(const tbModel* m, const Start* start,
                             const tbDerivativeSettings* settings, tbRng* rng, tbData* sample) {
  tbResult result = place(m, start, sample);
  int columns = 2 * m->nv + m->na + m->nu;
  for (int k = 0; k < columns && result == TB_OK; k++) {
    shift(m, sample, k, settings->spread * tb_rng_normal(rng), sample->work->scratch_nv);
  }
  return result;
}

// The averaged derivatives, in one array.
typedef struct {
  tbReal *A, *B, *F, *acc, *mu;
  size_t na, nb, nf, nacc, nmu;
  tbReal* column;  // nx + nv
} Means;

static Means means_sizes(const tbDerivatives* x, int ncon) {
  size_t nx = (size_t)x->nx, nv = (size_t)x->nv;
  Means r = {.na = nx * nx, .nb = nx * (size_t)x->nu, .nf = nx * nv, .nacc = 3 * nv * nv};
  r.nmu = nx * (size_t)ncon;
  return r;
}

static Means means_at(const tbDerivatives* x, tbReal* memory, int ncon) {
  Means r = means_sizes(x, ncon);
  r.A = memory;
  r.B = r.A + r.na;
  r.F = r.B + r.nb;
  r.acc = r.F + r.nf;
  r.mu = r.acc + r.nacc;
  r.column = r.mu + r.nmu;
  return r;
}

// One sample's derivatives; those by friction for contacts that exist at the start (`at`) too.
static tbResult sample_read(tbDerivatives* x, const tbData* sample, const tbData* at, Means* out) {
  size_t square = (size_t)x->nv * (size_t)x->nv, nx = (size_t)x->nx;
  tb_derivatives_dense(x, out->A, out->B);
  force_columns(x, out->F, out->column + nx, out->column);
  tbResult result =
      tb_derivatives_acceleration(x, out->acc, out->acc + square, out->acc + 2 * square);
  memset(out->mu, 0, sizeof(tbReal) * out->nmu);
  for (int c = 0; c < sample->ncon && result == TB_OK; c++) {
    int same = 0;
    while (same < at->ncon && at->contact[same].key != sample->contact[c].key) same++;
    if (same == at->ncon) continue;
    result = tb_derivatives_friction(x, c, out->column);
    for (size_t i = 0; i < nx; i++) {
      out->mu[i * (size_t)at->ncon + (size_t)same] += out->column[i];
    }
  }
  return result;
}

// The mean of all derivatives over states around this one: the derivatives of a smoothed step.
tbResult tb_deriv_samples(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                          tbDerivatives* x) {
  tbDerivativeSettings one = *settings;
  one.samples = 0;
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  Means size = means_sizes(x, d->ncon);
  size_t all = size.na + size.nb + size.nf + size.nacc + size.nmu;
  tbReal* sum = calloc(2 * all + (size_t)(x->nx + x->nv) + 1, sizeof(tbReal));
  tbData* sample = tb_data_new(m);
  Start start = {NULL, 0};
  tbRng rng = {settings->seed};
  result = sum && sample ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  for (int s = 0; s < settings->samples && result == TB_OK; s++) {
    result = sample_place(m, &start, settings, &rng, sample);
    if (result == TB_OK) result = tb_deriv_linearize(m, sample, &one, x);
    Means read = means_at(x, sum + all, d->ncon);
    if (result == TB_OK) result = sample_read(x, sample, d, &read);
    for (size_t i = 0; i < all && result == TB_OK; i++) sum[i] += read.A[i] / settings->samples;
  }
  // Contacts and modes in the info are those of the state itself.
  if (result == TB_OK) result = tb_deriv_linearize(m, d, &one, x);
  if (result == TB_OK) result = tb_deriv_keep_dense(x, d);
  if (result == TB_OK) {
    x->dense_mu = TB_ARENA_NEW(&x->arena, tbReal, size.nmu + 1);
    x->dense_acc = TB_ARENA_NEW(&x->arena, tbReal, size.nacc + 1);
    if (!x->dense_mu || !x->dense_acc) result = TB_ERROR_MEMORY;
  }
  if (result == TB_OK) {
    Means mean = means_at(x, sum, d->ncon);
    memcpy(x->dense_A, mean.A, sizeof(tbReal) * mean.na);
    memcpy(x->dense_B, mean.B, sizeof(tbReal) * mean.nb);
    memcpy(x->dense_F, mean.F, sizeof(tbReal) * mean.nf);
    memcpy(x->dense_acc, mean.acc, sizeof(tbReal) * mean.nacc);
    memcpy(x->dense_mu, mean.mu, sizeof(tbReal) * mean.nmu);
    x->sampled = *settings;
  }
  tb_data_free(sample);
  free(start.bytes);
  free(sum);
  return result;
}

tbResult tb_deriv_inertial_samples(tbDerivatives* x, const tbModel* m, tbData* d, int body,
                                   tbReal* out) {
  const tbDerivativeSettings settings = x->sampled;
  tbDerivativeSettings one = settings;
  one.samples = 0;
  size_t count = (size_t)x->nx * TB_NINERTIAL;
  tbReal* part = calloc(count + 1, sizeof(tbReal));
  tbData* sample = tb_data_new(m);
  tbDerivatives* each = tb_derivatives_new(m);
  Start start = {NULL, 0};
  tbRng rng = {settings.seed};
  tbResult result = part && sample && each ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  memset(out, 0, sizeof(tbReal) * count);
  for (int s = 0; s < settings.samples && result == TB_OK; s++) {
    result = sample_place(m, &start, &settings, &rng, sample);
    if (result == TB_OK) result = tb_deriv_linearize(m, sample, &one, each);
    if (result == TB_OK) result = tb_derivatives_inertial(each, m, sample, body, part);
    for (size_t i = 0; i < count && result == TB_OK; i++) out[i] += part[i] / settings.samples;
  }
  tb_derivatives_free(each);
  tb_data_free(sample);
  free(start.bytes);
  free(part);
  return result;
}
