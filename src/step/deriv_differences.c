// Derivatives that ask for more steps: differences of whole steps, and means over random states.
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "step/deriv.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// Move a state by e along one of its directions, or along those of `dx` where it is not NULL.
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

// A copy of the world's inputs and state with warm starts off: the same answer in any order.
static void place(const tbModel* m, const tbData* from, tbData* to) {
  memcpy(to->qpos, from->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(to->qvel, from->qvel, sizeof(tbReal) * (size_t)m->nv);
  memcpy(to->act, from->act, sizeof(tbReal) * (size_t)m->na);
  memcpy(to->ctrl, from->ctrl, sizeof(tbReal) * (size_t)m->nu);
  memcpy(to->qfrc_applied, from->qfrc_applied, sizeof(tbReal) * (size_t)m->nv);
  memcpy(to->xfrc_applied, from->xfrc_applied, sizeof(tbReal) * 6 * (size_t)m->nbody);
  memcpy(to->mocap_pos, from->mocap_pos, sizeof(tbReal) * 3 * (size_t)m->nmocap);
  memcpy(to->mocap_quat, from->mocap_quat, sizeof(tbReal) * 4 * (size_t)m->nmocap);
  memcpy(to->eq_active, from->eq_active, sizeof *to->eq_active * (size_t)m->neq);
  to->time = from->time;
}

static tbResult columns(const tbModel* m, const tbData* d, tbData* low, tbData* high, tbReal eps,
                        int centred, tbReal* column, tbReal* A, tbReal* B) {
  int nx = 2 * m->nv + m->na;
  tbResult result = TB_OK;
  if (!centred) {
    place(m, d, low);
    result = tb_step(m, low);
  }
  for (int k = 0; k < nx + m->nu && result == TB_OK; k++) {
    place(m, d, high);
    shift(m, high, k, eps, column);
    result = tb_step(m, high);
    if (result != TB_OK) break;
    if (centred) {
      place(m, d, low);
      shift(m, low, k, -eps, column);
      result = tb_step(m, low);
      if (result != TB_OK) break;
    }
    displacement(m, low, high, centred ? 2 * eps : eps, column);
    for (int i = 0; i < nx; i++) {
      if (k < nx && A) A[(size_t)i * (size_t)nx + (size_t)k] = column[i];
      if (k >= nx && B) B[(size_t)i * (size_t)m->nu + (size_t)(k - nx)] = column[i];
    }
  }
  return result;
}

tbResult tb_step_differences(const tbModel* m, tbData* d, tbReal eps, int centred, tbReal* A,
                             tbReal* B) {
  if (!m || !d || !(eps > 0)) return TB_ERROR_ARGUMENT;
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  tbData *low = tb_data_copy(m, d), *high = tb_data_copy(m, d);
  tbReal* column = calloc((size_t)(2 * m->nv + m->na + 1), sizeof(tbReal));
  result = low && high && column ? TB_OK : TB_ERROR_MEMORY;
  if (result == TB_OK) result = columns(m, d, low, high, eps, centred, column, A, B);
  tb_data_free(low);
  tb_data_free(high);
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
  tbData* sample = tb_data_copy(m, d);
  tbRng rng = {settings->seed};
  tbResult result = sum && sample ? TB_OK : TB_ERROR_MEMORY;
  for (int s = 0; s < settings->samples && result == TB_OK; s++) {
    place(m, d, sample);
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
  free(sum);
  return result;
}
