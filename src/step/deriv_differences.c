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
  } else {
    d->ctrl[column - 2 * m->nv - m->na] += e;
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

static tbResult columns(const tbModel* m, const Start* start, tbData* low, tbData* high, tbReal eps,
                        int centred, tbReal* column, tbReal* A, tbReal* B) {
  int nx = 2 * m->nv + m->na;
  tbResult result = centred ? TB_OK : moved_step(m, start, low, 0, 0, column);
  for (int k = 0; k < nx + m->nu && result == TB_OK; k++) {
    if ((k < nx && !A) || (k >= nx && !B)) continue;
    result = moved_step(m, start, high, k, eps, column);
    if (result == TB_OK && centred) result = moved_step(m, start, low, k, -eps, column);
    if (result != TB_OK) break;
    displacement(m, low, high, centred ? 2 * eps : eps, column);
    for (int i = 0; i < nx; i++) {
      if (k < nx) A[(size_t)i * (size_t)nx + (size_t)k] = column[i];
      if (k >= nx) B[(size_t)i * (size_t)m->nu + (size_t)(k - nx)] = column[i];
    }
  }
  return result;
}

tbResult tb_step_differences(const tbModel* m, tbData* d, tbReal eps, int centred, tbReal* A,
                             tbReal* B) {
  if (!m || !d || !(eps > 0)) return TB_ERROR_ARGUMENT;
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  Start start = {NULL, 0};
  tbData *low = tb_data_new(m), *high = tb_data_new(m);
  tbReal* column = calloc((size_t)(2 * m->nv + m->na + 1), sizeof(tbReal));
  result = low && high && column ? start_take(&start, m, d) : TB_ERROR_MEMORY;
  if (result == TB_OK) result = columns(m, &start, low, high, eps, centred, column, A, B);
  tb_data_free(low);
  tb_data_free(high);
  free(start.bytes);
  free(column);
  return result;
}

// The mean of A and B over states spread about this one: the gradient of a smoothed step.
tbResult tb_deriv_samples(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                          tbDerivatives* x) {
  tbDerivativeSettings one = *settings;
  one.samples = 0;
  size_t na = (size_t)x->nx * (size_t)x->nx, nb = (size_t)x->nx * (size_t)x->nu;
  tbReal* sum = calloc(2 * (na + nb) + 1, sizeof(tbReal));
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
    tbReal *A = sum + na + nb, *B = A + na;
    tb_derivatives_dense(x, A, B);
    for (size_t i = 0; i < na + nb; i++) sum[i] += A[i] / settings->samples;
  }
  // Contacts and modes that the info tells are those of the state itself.
  if (result == TB_OK) result = tb_deriv_linearize(m, d, &one, x);
  if (result == TB_OK) {
    x->dense_A = TB_ARENA_NEW(&x->arena, tbReal, na + 1);
    x->dense_B = TB_ARENA_NEW(&x->arena, tbReal, nb + 1);
    if (x->dense_A && x->dense_B) {
      memcpy(x->dense_A, sum, sizeof(tbReal) * na);
      memcpy(x->dense_B, sum + na, sizeof(tbReal) * nb);
      x->ready = 2;
    } else {
      result = TB_ERROR_MEMORY;
    }
  }
  tb_data_free(sample);
  free(start.bytes);
  free(sum);
  return result;
}
