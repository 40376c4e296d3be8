// Locates mode changes of contacts within a step: separation, start of slip, end of slip.
//
// Forces are continuous at a mode change but their slopes are not, and the exponential integrator,
// which uses one mode for the whole step, has an error of first order in the step at each mode
// change. Here its time is found on the oscillators themselves, by bisection with their exact
// motion up to a trial time.
#include <string.h>

#include "laws/viscoelastic/expo_system.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/step.h"

// Bisections of the step: the time is found to a thousandth of the step.
enum { BISECTIONS = 10 };

static bool one_sided(const tbExpoContext* x, const tbConstraint* c) {
  return c->source >= TB_SOURCE_LIMIT_JOINT &&
         !(c->source == TB_SOURCE_CONTACT && x->m->opt.contact_bilateral);
}

// Whether after tb_expo_integrate over t some member is no longer in its initial mode.
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

// Modes just after the start: members that would pull at once are off, those whose slip reverses at
// once stick.
static void set_start_modes(const tbExpoContext* x, tbExpoSystem* s) {
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

  // Start from the modes just after the start; then there may be no further mode change.
  set_start_modes(x, s);
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

  // Restore the rows and integrals.
  tb_expo_gather(x, s);
  tb_expo_integrate(x, s, h);
}
