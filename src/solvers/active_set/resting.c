// Impulses of things at rest (docs/solver-active.md, "Impulses at rest"). What a step leaves within
// the tolerance the next one undoes. The impulse for that is none of the step after: taken as a
// guess there it would have to be undone again, and so on for ever. What the same modes need
// without it is the better guess, and costs a solve with factors that are there.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "solvers/active_set/state.h"

// Impulses that swing to and fro by less than this share of themselves come to rest in the middle.
static const tbReal SWING = 1e-3;
// Solutions for the impulses at rest of loose bodies; one is enough for others.
enum { REST_LOOSE = 2 };

// How much of a row's velocity the residual feels, against that of sliding: torsion and rolling, in
// rad/s, count by their coefficients.
static tbReal felt_share(const tbBlock* b, int k) {
  enum { SLIDING = 3 };
  bool turns = b->type == TB_BLOCK_CONE && k >= SLIDING && b->mu[k - 1] < b->mu[0];
  return turns ? b->mu[k - 1] / b->mu[0] : 1;
}

// Whether a row of a block is held by its mode.
static bool is_held(const tbActiveState* s, const tbBlock* b, int row) {
  bool whole = b->type == TB_BLOCK_CONE && s->a->law != TB_LAW_LCP;
  int mode = s->mode[whole ? b->row : row];
  bool normal = mode == TB_MODE_SLIDE && row == b->row;
  return mode == TB_MODE_ACTIVE || mode == TB_MODE_STICK || normal;
}

// How much of a row's velocity was left over by the last step. Where loose bodies yield to each
// other and an impulse holds an overlap as it is, the overlap is nothing to undo: the guess only
// missed that impulse.
static tbReal inherited(const tbActiveState* s, const tbReal* lambda, int row) {
  const tbActive* a = s->a;
  return a->inherited[row] + (a->loose ? s->p->R[row] * (lambda[row] - s->guess[row]) : 0);
}

bool tb_active_is_at_rest(const tbActiveState* s, const tbReal* lambda) {
  const tbProblem* p = s->p;
  if (!s->a->rest) return false;
  tbReal most = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int row = b->row; row < b->row + b->dim; row++) {
      if (!is_held(s, b, row)) continue;
      most = tb_max(most, felt_share(b, row - b->row) * fabs(inherited(s, lambda, row)));
    }
  }
  return most <= TB_INHERITED_MOST * s->a->left * s->fastest;
}

// The middle of two impulses of a block that differ by little.
static void swing_middle(const tbBlock* b, const tbReal* before, tbReal* lambda) {
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

// Without modes or factors: impulses that undo differ from those of rest as the last ones did, to
// the other side, where they differ by little.
static void rest_in_the_middle(const tbActiveState* s) {
  for (int i = 0; i < s->p->nblock; i++) swing_middle(&s->p->block[i], s->guess, s->a->rest);
}

// Whether modes hold, and the factors that are there are theirs, with little of a proximal term.
static bool has_factors(const tbActiveState* s) {
  const tbVelocity* system = s->a->system;
  bool factored = !system || system->dense || system->rows;
  tbReal most = s->small ? TB_ACTIVE_SOFT_START : TB_ACTIVE_SOFTNESS;
  return !s->changed && factored && !(s->softness > most);
}

void tb_active_rest_impulses(tbActiveState* s, const tbReal* lambda) {
  const tbActive* a = s->a;
  const tbProblem* p = s->p;
  memcpy(a->rest, lambda, sizeof(tbReal) * (size_t)p->n);
  if (!has_factors(s)) {
    rest_in_the_middle(s);
    return;
  }
  if (!tb_active_is_at_rest(s, lambda)) return;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int row = b->row; row < b->row + b->dim; row++) {
      if (is_held(s, b, row)) s->sigma[row] -= inherited(s, lambda, row);
    }
  }
  // One solution more than seems needed: between heavy bodies and light ones what one leaves of an
  // impulse becomes a velocity that is not small.
  for (int k = 0; k < (a->loose ? REST_LOOSE : 1); k++) {
    tb_active_set_center(s);
    if (!s->form->refine(s)) return;
    tb_active_go_to(s, s->next, s->speed);
  }
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], a->law, s->lambda + row, a->rest + row);
  }
  if (a->relieved) *a->relieved = true;
}
