// Resting warm start (docs/notebook/active-set.md, "Impulses at rest"). The velocity error that one
// step leaves within its tolerance is removed by the next step. The impulse that removes it must
// not be part of the warm start of the step after, which would have to remove that impulse again,
// and so on for ever. The better guess is the impulse of the same modes without the carried
// velocity error; it costs one solve with existing factors.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "solvers/active_set/state.h"

// Impulses that alternate by less than this share of their size are set to the mean of the last
// two.
static const tbReal SWING = 1e-3;
// Solves for the resting impulses of free-floating bodies; other islands take one.
enum { RESTING_FREE_FLOATING = 2 };

// The weight of a row's velocity in the residual, relative to that of sliding: torsion and rolling,
// in rad/s, count by their coefficients.
static tbReal felt_share(const tbBlock* b, int k) {
  enum { SLIDING = 3 };
  bool turns = b->type == TB_BLOCK_CONE && k >= SLIDING && b->mu[k - 1] < b->mu[0];
  return turns ? b->mu[k - 1] / b->mu[0] : 1;
}

// Whether a row's velocity is zero by its mode.
static bool is_active_row(const tbActiveState* s, const tbBlock* b, int row) {
  bool whole = b->type == TB_BLOCK_CONE && s->a->law != TB_LAW_LCP;
  int mode = s->mode[whole ? b->row : row];
  bool normal = mode == TB_MODE_SLIDE && row == b->row;
  return mode == TB_MODE_ACTIVE || mode == TB_MODE_STICK || normal;
}

// The velocity error of a row carried over from the last step. If free-floating bodies have
// compliant contacts, an impulse holds the overlap as it is, so that overlap is not an error to
// remove: the guess only lacked that impulse.
static tbReal carried_error(const tbActiveState* s, const tbReal* lambda, int row) {
  const tbActive* a = s->a;
  return a->carried_error[row] +
         (a->free_floating ? s->p->R[row] * (lambda[row] - s->guess[row]) : 0);
}

bool tb_active_is_at_rest(const tbActiveState* s, const tbReal* lambda) {
  const tbProblem* p = s->p;
  if (!s->a->resting_start) return false;
  tbReal most = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int row = b->row; row < b->row + b->dim; row++) {
      if (!is_active_row(s, b, row)) continue;
      most = tb_max(most, felt_share(b, row - b->row) * fabs(carried_error(s, lambda, row)));
    }
  }
  return most <= TB_CARRIED_ERROR_MOST * s->a->last_residual * s->max_speed;
}

// The mean of two impulses of a block that differ by little.
static void mean_of_swing(const tbBlock* b, const tbReal* before, tbReal* lambda) {
  tbReal size = 0, change = 0;
  for (int row = b->row; row < b->row + b->dim; row++) {
    size = tb_max(size, fabs(lambda[row]));
    change = tb_max(change, fabs(lambda[row] - before[row]));
  }
  if (!(change <= SWING * size)) return;
  for (int row = b->row; row < b->row + b->dim; row++) {
    lambda[row] = 0.5 * (lambda[row] + before[row]);
  }
}

// Without modes or factors: the impulse that removes an error and the previous one lie on opposite
// sides of the resting impulse, so the mean of both approximates it if they differ by little.
static void rest_by_mean(const tbActiveState* s) {
  for (int i = 0; i < s->p->nblock; i++)
    mean_of_swing(&s->p->block[i], s->guess, s->a->resting_start);
}

// Whether modes are unchanged and the factors in memory belong to them, with a small proximal
// weight.
static bool has_factors(const tbActiveState* s) {
  const tbVelocity* system = s->a->system;
  bool factored = !system || system->dense || system->rows;
  tbReal most = s->small ? TB_ACTIVE_FIRST_WEIGHT : TB_ACTIVE_LEAST_WEIGHT;
  return !s->changed && factored && !(s->proximal_weight > most);
}

void tb_active_resting_start(tbActiveState* s, const tbReal* lambda) {
  const tbActive* a = s->a;
  const tbProblem* p = s->p;
  memcpy(a->resting_start, lambda, sizeof(tbReal) * (size_t)p->n);
  if (!has_factors(s)) {
    rest_by_mean(s);
    return;
  }
  if (!tb_active_is_at_rest(s, lambda)) return;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int row = b->row; row < b->row + b->dim; row++) {
      if (is_active_row(s, b, row)) s->sigma[row] -= carried_error(s, lambda, row);
    }
  }
  // One solve more than seems necessary: between heavy and light bodies, a small error of an
  // impulse is a large velocity.
  for (int k = 0; k < (a->free_floating ? RESTING_FREE_FLOATING : 1); k++) {
    tb_active_set_center(s);
    if (!s->form->refine(s)) return;
    tb_active_set_iterate(s, s->next, s->next_sigma);
  }
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], a->law, s->lambda + row, a->resting_start + row);
  }
  if (a->carried_error_removed) *a->carried_error_removed = true;
}
