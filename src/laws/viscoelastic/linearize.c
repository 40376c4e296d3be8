// The viscoelastic law with explicit Euler, differentiated (docs/notebook/derivatives.md, eq. 63):
// forces f = limit(-K stretch - B J v) are a function of the state alone.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "laws/viscoelastic/expo_linearize.h"
#include "forces/implicit_inertia.h"
#include "laws/viscoelastic/viscoelastic.h"

static tbResult add_spring(tbDerivatives* x, tbData* d, const tbStepState* state, const tbSpring* s,
                           tbReal near) {
  const tbConstraint* c = &state->constraints.list[s->constraint];
  tbReal L[TB_MAX_DIM * TB_MAX_DIM], by_friction[TB_MAX_DIM];
  int changes = tb_limit_slope(x->m, d, c, s->raw, L, by_friction), pushes = 0;
  if (tb_limit_near(x->m, d, c, s->raw, near)) tb_springs_kink(x, "limit of constraint", c->row);
  for (int r = 0; r < c->dim; r++) pushes |= s->force[r] != 0;
  if (c->source == TB_SOURCE_CONTACT) {
    x->info.separated += !pushes;
    x->info.sliding += pushes && s->slipping;
    x->info.sticking += pushes && !s->slipping;
  }
  if ((!changes && !pushes) || c->nnz == 0) return TB_OK;
  tbActiveRows* a = tb_deriv_activate(x, c);
  tbReal* stretch = TB_ARENA_NEW(&x->arena, tbReal, c->dim * c->nnz + 1);
  if (!a || !stretch) return TB_ERROR_MEMORY;
  memcpy(a->force, s->force, sizeof(tbReal) * (size_t)c->dim);
  tbResult result = tb_deriv_rows(x, d, c, a);
  if (result != TB_OK) return result;
  for (int r = 0; r < c->dim; r++) a->by_force[r * c->dim + r] = 1;
  memcpy(a->by_friction, by_friction, sizeof(tbReal) * (size_t)c->dim);
  tbPartials partials = {x->law.force, x->ncol};
  tb_active_force(a, &partials);
  if (!changes) return TB_OK;

  // df = -L (B d(J v) + K dstretch)
  size_t width = (size_t)x->ncol, n = (size_t)a->nnz;
  tb_stretch_partials(x, d, state, c, a, stretch);
  tb_active_velocity(a, d->qvel, 1, x->S + (size_t)a->row * width, x->ncol);
  for (int r = 0; r < c->dim; r++) {
    for (int q = 0; q < c->dim; q++) a->by_sigma[r * c->dim + q] = L[r * c->dim + q] * s->B[q];
    for (size_t k = 0; k < n; k++) {
      x->S[(size_t)(a->row + r) * width + (size_t)(x->nv + a->col[k])] += a->J[(size_t)r * n + k];
      for (int q = 0; q < c->dim; q++) {
        x->E[(size_t)(a->row + r) * width + (size_t)a->col[k]] -=
            L[r * c->dim + q] * s->K[q] * stretch[(size_t)q * n + k];
      }
    }
  }
  return TB_OK;
}

tbReal tb_springs_largest(const tbSprings* springs) {
  tbReal largest = 0;
  for (int i = 0; i < springs->count; i++) {
    const tbSpring* s = &springs->list[i];
    for (int r = 0; r < s->dim; r++) {
      largest = tb_max(largest, tb_max(fabs(s->raw[r]), s->B[r] * fabs(s->velocity[r])));
    }
  }
  return largest;
}

// The forces at a state.
static tbResult forces_linearize(tbDerivatives* x, const tbStep* step,
                                 const tbDerivativeSettings* settings) {
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbModel* m = x->m;
  if (!tb_deriv_reserve_sources(x, &state->constraints)) return TB_ERROR_MEMORY;
  memcpy(x->law.LD, d->qLD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->law.inverse, d->qLDiagInv, sizeof(tbReal) * (size_t)m->nv);
  tbPartials partials = {x->law.force, x->ncol};
  tbResult result = tb_deriv_inertia(x, d, d->qacc, &partials);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, d->qacc, TB_IMPLICIT_NOTHING, &partials);
  x->c = 0;
  x->explicit_law = 1;
  x->move_share = 0.5;
  tbReal near = settings->mode_tolerance * tb_springs_largest(&own->springs);
  for (int i = 0; result == TB_OK && i < own->springs.count; i++) {
    result = add_spring(x, d, state, &own->springs.list[i], near);
  }
  return result;
}

tbResult tb_viscoelastic_linearize(tbDerivatives* x, const tbStep* step,
                                   const tbDerivativeSettings* settings) {
  return tb_integrator_is_explicit(step->m) ? forces_linearize(x, step, settings)
                                            : tb_expo_linearize(x, step, settings);
}
