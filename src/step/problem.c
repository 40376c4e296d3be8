// The contact problem that a rigid step solves, as a tbProblem for the user.
#include <string.h>

#include "base/error.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "step/check.h"
#include "forces/implicit_inertia.h"
#include "world/state.h"
#include "model/law_kinds.h"
#include "tribo/step.h"

// Join all islands into one problem: rows and columns are concatenated.
static tbProblem* join(tbArena* arena, const tbIslands* islands, tbError* error) {
  int n = 0, nblock = 0, ncol = 0, count = 0;
  for (int i = 0; i < islands->count; i++) {
    const tbProblem* p = &islands->island[i].problem;
    n += p->n;
    nblock += p->nblock;
    ncol += p->G.ncol;
    count += p->G.row_start[p->n];
  }
  tbBlock* block = TB_ARENA_NEW(arena, tbBlock, nblock + 1);
  int* start = TB_ARENA_NEW(arena, int, n + 1);
  int* column = TB_ARENA_NEW(arena, int, count + 1);
  tbReal* value = TB_ARENA_NEW(arena, tbReal, count + 1);
  tbReal* g = TB_ARENA_NEW(arena, tbReal, n + 1);
  tbReal* R = TB_ARENA_NEW(arena, tbReal, n + 1);
  if (!block || !start || !column || !value || !g || !R) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory for the contact problem");
    return NULL;
  }
  n = nblock = ncol = count = 0;
  for (int i = 0; i < islands->count; i++) {
    const tbProblem* p = &islands->island[i].problem;
    for (int b = 0; b < p->nblock; b++) {
      block[nblock] = p->block[b];
      block[nblock++].row += n;
    }
    for (int r = 0; r < p->n; r++) {
      start[n + r] = count;
      g[n + r] = p->g[r];
      R[n + r] = p->R ? p->R[r] : 0;
      for (int k = p->G.row_start[r]; k < p->G.row_start[r + 1]; k++) {
        column[count] = ncol + p->G.row_column[k];
        value[count++] = p->G.row_value[k];
      }
    }
    n += p->n;
    ncol += p->G.ncol;
  }
  start[n] = count;
  return tb_problem_create_product(nblock, block, ncol, start, column, value, R, g, error);
}

tbProblem* tb_step_problem(const tbModel* m, tbData* d, tbError* error) {
  tb_error_clear(error);
  if (!m || !d || !tb_is_world_of(m, d)) {
    tb_fail(error, TB_ERROR_ARGUMENT, "a model and data of that model are required");
    return NULL;
  }
  tbStepState* state = d->work->step;
  if (!state || d->status != TB_OK || !tb_law_has(&m->opt, TB_TRAIT_RIGID) ||
      !d->work->arena.used) {
    tb_fail(error, TB_ERROR_ARGUMENT, "call tb_forward under a rigid law first");
    return NULL;
  }

  if (d->work->queried) {
    tb_fail(error, TB_ERROR_ARGUMENT,
            "tb_find_contacts has replaced the contacts of tb_forward: call tb_forward again");
    return NULL;
  }

  // v_free as in the step, then the islands with all their terms.
  tbForest forest = tb_forest(m);
  tbReal* v_free = TB_ARENA_NEW(&d->work->arena, tbReal, m->nv + 1);
  tbInertiaFactor factor;
  tbIslands islands;
  tbResult result = v_free ? tb_implicit_factor(m, d, TB_IMPLICIT_STIFF, &factor) : TB_ERROR_MEMORY;
  if (result == TB_OK) {
    memcpy(v_free, d->qfrc_smooth, sizeof(tbReal) * (size_t)m->nv);
    tb_ltdl_solve(forest, factor.LD, factor.inverse, v_free);
    for (int i = 0; i < m->nv; i++) v_free[i] = d->qvel[i] + m->opt.timestep * v_free[i];
    result = tb_assemble_groups(m, d, &state->constraints, &islands);
  }
  if (result == TB_OK)
    result = tb_assemble_terms(m, d, &state->constraints, factor, v_free, &islands);
  if (result == TB_OK) result = tb_assemble_delassus(m, d, &state->constraints, factor, &islands);
  if (result != TB_OK) {
    tb_fail(error, result, "the contact problem could not be assembled");
    return NULL;
  }
  return join(&d->work->arena, &islands, error);
}
