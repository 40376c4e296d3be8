// tb_rne_post_constraint: the checked call for users. Force and torque sensors are in values.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/workspace.h"
#include "sensors/evaluate.h"
#include "spatial/motion.h"
#include "tribo/contact.h"
#include "world/state.h"

enum { MOST_DOFS = 6 };

// Rates of the dofs of a body, whose columns S are in cdof, from its velocity relative to its
// parent: S x = v, by orthogonal columns. A column along those before it gets none.
static void rates_of(const tbReal* S, int n, const tbReal v[6], tbReal* x) {
  tbReal Q[MOST_DOFS][6], R[MOST_DOFS][MOST_DOFS] = {{0}}, rest[6];
  memcpy(rest, v, sizeof rest);
  for (int j = 0; j < n; j++) {
    memcpy(Q[j], S + 6 * j, sizeof Q[j]);
    tbReal whole = sqrt(tb_dot6(Q[j], Q[j]));
    for (int i = 0; i < j; i++) {
      R[i][j] = tb_dot6(Q[i], Q[j]);
      tb_add_scaled6(Q[j], Q[j], -R[i][j], Q[i]);
    }
    tbReal left = sqrt(tb_dot6(Q[j], Q[j]));
    R[j][j] = left > 1e-9 * whole ? left : 0;
    for (int k = 0; k < 6; k++) Q[j][k] = R[j][j] > 0 ? Q[j][k] / left : 0;
    x[j] = tb_dot6(Q[j], rest);
    tb_add_scaled6(rest, rest, -x[j], Q[j]);
  }
  for (int j = n - 1; j >= 0; j--) {
    for (int i = j + 1; i < n; i++) x[j] -= R[j][i] * x[i];
    x[j] = R[j][j] > 0 ? x[j] / R[j][j] : 0;
  }
}

// The velocity to which frames, cvel and forces belong: after a step data->qvel is a newer one.
static void velocity_of_frames(const tbModel* m, const tbData* d, tbReal* qvel) {
  for (int i = 1; i < m->nbody; i++) {
    int first = m->body_dofadr[i], n = m->body_dofnum[i];
    const tbReal* S = d->cdof + 6 * first;
    tbReal v[6], more[MOST_DOFS], *x = qvel + first;
    if (n <= 0 || n > MOST_DOFS) continue;
    tb_add_scaled6(v, d->cvel + 6 * i, -1, d->cvel + 6 * m->body_parentid[i]);
    rates_of(S, n, v, x);
    // Once more with what rounding has left.
    for (int j = 0; j < n; j++) tb_add_scaled6(v, v, -x[j], S + 6 * j);
    rates_of(S, n, v, more);
    for (int j = 0; j < n; j++) x[j] += more[j];
  }
}

tbResult tb_rne_post_constraint(const tbModel* m, tbData* d, tbError* error) {
  tb_error_clear(error);
  if (!m || !d) return tb_fail(error, TB_ERROR_ARGUMENT, "%s is NULL", m ? "data" : "model");
  if (!tb_is_world_of(m, d)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "data is a world of another model");
  }
  const tbStepState* state = d->work->step;
  if (!state || d->status != TB_OK || d->work->halfway || !d->work->arena.used) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "data has no forces of constraints yet: call tb_step or tb_forward first");
  }
  tbReal *qvel = d->qvel, *before = malloc(((size_t)m->nv + 1) * sizeof *before);
  if (!before) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  memcpy(before, qvel, sizeof *before * (size_t)m->nv);
  velocity_of_frames(m, d, before);
  d->qvel = before;
  tb_reactions(m, d, &state->constraints, state->row_force);
  d->qvel = qvel;
  free(before);
  return TB_OK;
}
