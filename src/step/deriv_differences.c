// Derivatives that ask for more steps: differences of whole steps, and means over random states.
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "step/deriv.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// Move a state by e along one of its directions.
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

// Where every evaluation starts: state, inputs, warm starts and anchors of springs.
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

// The step from the start, moved by e along one direction.
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
  if (!m || !d || !(eps > 0)) return TB_ERROR_ARGUMENT;
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  Start start = {NULL, 0};
  tbData *low = tb_data_new(m), *high = tb_data_new(m);
  tbReal* column = calloc((size_t)(2 * m->nv + m->na + 1), sizeof(tbReal));
  tbReal* const out[3] = {A, B, F};
  result = low && high && column ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  if (result == TB_OK) result = columns(m, &start, low, high, eps, centred, column, out);
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

// F (nx x nv) of what is linearised, column by column.
static void force_columns(tbDerivatives* x, tbReal* F, tbReal* unit, tbReal* column) {
  memset(unit, 0, sizeof(tbReal) * (size_t)x->nv);
  for (int k = 0; k < x->nv; k++) {
    unit[k] = 1;
    tb_derivatives_force(x, unit, column);
    unit[k] = 0;
    for (int i = 0; i < x->nx; i++) F[(size_t)i * (size_t)x->nv + (size_t)k] = column[i];
  }
}

// The mean of A, B and F over states spread about this one: the gradient of a smoothed step.
tbResult tb_deriv_samples(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                          tbDerivatives* x) {
  tbDerivativeSettings one = *settings;
  one.samples = 0;
  size_t nx = (size_t)x->nx, na = nx * nx, nb = nx * (size_t)x->nu, nf = nx * (size_t)x->nv;
  size_t all = na + nb + nf;
  tbReal* sum = calloc(2 * all + nx + (size_t)x->nv + 1, sizeof(tbReal));
  tbData* sample = tb_data_new(m);
  Start start = {NULL, 0};
  tbRng rng = {settings->seed};
  tbResult result = sum && sample ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  for (int s = 0; s < settings->samples && result == TB_OK; s++) {
    result = place(m, &start, sample);
    if (result != TB_OK) break;
    for (int k = 0; k < x->ncol; k++) {
      shift(m, sample, k, settings->spread * tb_rng_normal(&rng), sample->scratch_nv);
    }
    result = tb_deriv_linearize(m, sample, &one, x);
    if (result != TB_OK) break;
    tbReal *A = sum + all, *B = A + na, *F = B + nb, *column = F + nf;
    tb_derivatives_dense(x, A, B);
    force_columns(x, F, column + nx, column);
    for (size_t i = 0; i < all; i++) sum[i] += A[i] / settings->samples;
  }
  // Contacts and modes that the info tells are those of the state itself.
  if (result == TB_OK) result = tb_deriv_linearize(m, d, &one, x);
  if (result == TB_OK) result = tb_deriv_keep_dense(x);
  if (result == TB_OK) {
    memcpy(x->dense_A, sum, sizeof(tbReal) * na);
    memcpy(x->dense_B, sum + na, sizeof(tbReal) * nb);
    memcpy(x->dense_F, sum + na + nb, sizeof(tbReal) * nf);
  }
  tb_data_free(sample);
  free(start.bytes);
  free(sum);
  return result;
}
