// When within a step a contact changes its kind: lets go, begins to slip, stops slipping.
//
// Forces are continuous there but their slopes are not, and the exponential integrator, which
// decides for a step as a whole, is off by an amount of first order times the step at each such
// moment. Here the moment is found on the oscillators themselves, by bisection with their exact
// motion up to a trial time.
#include <string.h>

#include "laws/viscoelastic/expo_system.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/step.h"

// Bisections of the step: the moment is known to a thousandth of it.
enum { BISECTIONS = 10 };

static bool one_sided(const tbExpoContext* x, const tbConstraint* c) {
  return c->source >= TB_SOURCE_LIMIT_JOINT &&
         !(c->source == TB_SOURCE_CONTACT && x->m->opt.contact_bilateral);
}

// Whether after tb_expo_integrate over t some member no longer is what it started as.
static bool violated(const tbExpoContext* x, const tbExpoSystem* s, tbReal t) {
  for (int k = 0, i = 0, j = 0; k < s->nmember; k++) {
    int id = s->member[k];
    const tbConstraint* c = &x->cs->list[id];
    const tbSpring* spring = x->spring[id];
    if (!spring) continue;
    int rows = tb_expo_kept(s->state[k], c->dim);
    tbReal force[6];
    for (int r = 0; r < rows; r++) {
      force[r] = -s->Kk[j + r] * s->end[j + r] - s->Bk[j + r] * s->end[s->kept + j + r];
    }
    if (s->state[k] == TB_ROWS_STICK && tb_spring_limit(x->m, x->d, c, force)) return true;
    if (s->state[k] == TB_ROWS_SLIP && !(force[0] > 0)) return true;
    if (tb_expo_turns(s, k, spring, i, t)) return true;
    i += c->dim;
    j += rows;
  }
  return false;
}

// Members as they are just after the start: those that would pull at once are off, those whose
// slip turns at once stick.
static void settle_start(const tbExpoContext* x, tbExpoSystem* s) {
  memset(s->first, 0, sizeof(tbReal) * (size_t)s->n);
  for (int k = 0, i = 0; k < s->nmember; k++) {
    int id = s->member[k];
    const tbConstraint* c = &x->cs->list[id];
    const tbSpring* spring = x->spring[id];
    if (!spring) continue;
    if (one_sided(x, c) && !(spring->raw[0] > 0)) {
      s->state[k] = TB_ROWS_OFF;
    } else if (tb_expo_turns(s, k, spring, i, 0)) {
      s->state[k] = TB_ROWS_STICK;
      for (int r = 0; r < c->dim; r++) s->v[i + r] = spring->velocity[r];
    }
    i += c->dim;
  }
}

void tb_expo_locate(const tbExpoContext* x, tbExpoSystem* s, tbReal h) {
  if (!violated(x, s, h)) return;

  // Again from what the members really are at the start; then there may be nothing left to find.
  settle_start(x, s);
  tbReal before = 0, after = h;
  bool ok = tb_expo_integrate(x, s, h) && violated(x, s, h);
  for (int i = 0; ok && i < BISECTIONS; i++) {
    tbReal middle = 0.5 * (before + after);
    ok = tb_expo_integrate(x, s, middle);
    if (ok && violated(x, s, middle)) {
      after = middle;
    } else {
      before = middle;
    }
  }
  if (ok && after < *x->event) *x->event = after;

  // As they were.
  tb_expo_gather(x, s);
  tb_expo_integrate(x, s, h);
}

int tb_step_splits(const tbModel* m, const tbStepState* state) {
  return m->opt.law == TB_LAW_VISCOELASTIC && m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT &&
         !state->recall && (state->parts == 0 || state->splits < TB_MOST_SUBSTEPS);
}
