// A contact near a universal joint, for example, may push along a line through the joint's centre,
// inside the friction cone: such an impulse moves nothing, J^T lambda = 0, and satisfies the law at
// any size. A gap of a nanometre that would have to close along this line then requires an
// unbounded impulse, and residuals are relative to that impulse (docs/manual/step.md "Contacts that
// joints hold").
#include "laws/rigid/degenerate_contacts.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"

// m/s: threshold of the velocity change that an impulse would give its bodies if they were free,
// above which the contact is examined; and the threshold of its ratio to the largest approach speed
// of any row of its island.
static const tbReal FAST = 10, FASTER = 30;

// A contact is degenerate if the energy of its impulses is below NOTHING times that for free
// bodies, and the velocity they cause is below SLOW times the largest approach speed: a leg of a
// gram that carries ten tons satisfies the first condition but not the second.
static const tbReal NOTHING = 1e-6, SLOW = 1e-3;

static bool is_large(const tbIsland* island, const tbBlock* b) {
  return b->type == TB_BLOCK_CONE && island->lambda[b->row] * island->rho[b->row] > FAST;
}

// The bodies of member k if it is a contact, in ascending order; false for other constraints.
static bool bodies_of(const tbRigidStep* step, const tbIsland* island, int k, int body[2]) {
  const tbConstraint* c = &step->state->constraints.list[island->member[k]];
  if (c->source != TB_SOURCE_CONTACT) return false;
  const int* geom = step->d->contact[c->id].geom;
  int first = step->m->geom_bodyid[geom[0]], second = step->m->geom_bodyid[geom[1]];
  body[0] = first < second ? first : second;
  body[1] = first < second ? second : first;
  return true;
}

static bool is_between(const tbRigidStep* step, const tbIsland* island, int k, const int body[2]) {
  int own[2];
  return bodies_of(step, island, k, own) && own[0] == body[0] && own[1] == body[1];
}

// The fraction of lambda . rho lambda, the energy of the contacts between two free bodies, that
// belongs to the bodies of one tree.
static tbReal share_of(const tbModel* m, const int body[2], int tree) {
  tbReal own = 0, all = 0;
  for (int i = 0; i < 2; i++) {
    tbReal w = m->body_invweight0[2 * body[i]];
    all += w;
    if (m->body_treeid[body[i]] == tree) own += w;
  }
  return own / all;
}

// Whether all contacts between two bodies alone leave the trees of both nearly at rest. `u` is
// scratch, nv.
static bool move_nothing(const tbRigidStep* step, const tbIsland* island, const int body[2],
                         tbReal fastest, tbReal* u) {
  const tbModel* m = step->m;
  tbReal alone = 0, square = 0;
  memset(u, 0, sizeof(tbReal) * (size_t)m->nv);
  for (int k = 0; k < island->nmember; k++) {
    if (!is_between(step, island, k, body)) continue;
    const tbConstraint* c = &step->state->constraints.list[island->member[k]];
    int row = island->problem.block[k].row;
    for (int r = 0; r < c->dim; r++) {
      const tbReal *J = c->J + (size_t)r * (size_t)c->nnz, lambda = island->lambda[row + r];
      for (int e = c->lead; e < c->nnz; e++) u[c->col[e]] += J[e] * lambda;
      alone += island->rho[row] * lambda * lambda;
      square += lambda * lambda;
    }
  }
  // lambda . G lambda, tree by tree.
  tb_ltdl_half_solve(tb_forest(m), step->factor.LD, step->factor.inverse, u);
  for (int i = 0; i < 2; i++) {
    int tree = m->body_treeid[body[i]];
    if (tree < 0) continue;
    int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
    tbReal made = 0;
    for (int k = first; k < end; k++) made += u[k] * u[k];
    if (!(made < NOTHING * share_of(m, body, tree) * alone)) return false;
    if (!(made < SLOW * fastest * sqrt(square))) return false;
  }
  return true;
}

// Give all contacts between two bodies the compliance of overlaps.
static void soften_between(const tbRigidStep* step, tbIsland* island, const int body[2]) {
  for (int k = 0; k < island->nmember; k++) {
    const tbBlock* b = &island->problem.block[k];
    if (!is_between(step, island, k, body)) continue;
    for (int r = b->row; r < b->row + b->dim; r++) {
      island->R[r] = tb_max(island->R[r], step->m->opt.correction_softness * island->rho[r]);
    }
  }
}

// False: the island has no degenerate contact.
static bool soften(const tbRigidStep* step, tbIsland* island, tbReal* u) {
  const tbProblem* p = &island->problem;
  tbReal fastest = 0;
  bool any = false;
  for (int r = 0; r < p->n; r++) fastest = tb_max(fastest, fabs(p->g[r]));
  for (int k = 0; k < p->nblock; k++) {
    const tbBlock* b = &p->block[k];
    int body[2], row = b->row;
    if (!is_large(island, b) || !bodies_of(step, island, k, body)) continue;
    if (!(island->lambda[row] * island->rho[row] > FASTER * fastest)) continue;
    // A contact that is already soft is left unchanged.
    if (island->R[row] >= step->m->opt.correction_softness * island->rho[row]) continue;
    if (!move_nothing(step, island, body, fastest, u)) continue;
    soften_between(step, island, body);
    any = true;
  }
  return any;
}

// Reset an island as if it had not been solved, with zero impulses.
static void reset_island(tbIsland* island) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  memset(island->lambda, 0, bytes);
  memcpy(island->sigma, island->g, bytes);
  island->solved = island->applied = 0;
  island->start_residual = NAN;
  island->resting_start = NULL;
}

tbResult tb_soften_degenerate_contacts(tbRigidStep* step, bool* any) {
  tbArena* arena = &step->d->work->arena;
  tbReal* u = NULL;
  *any = false;
  for (int i = 0; i < step->islands.count; i++) {
    tbIsland* island = &step->islands.island[i];
    bool large = false;
    for (int k = 0; k < island->problem.nblock && !large && island->solved; k++) {
      large = is_large(island, &island->problem.block[k]);
    }
    if (!large) continue;
    if (!u) u = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(step->m->nv + 1));
    if (!u) return TB_ERROR_MEMORY;
    if (!soften(step, island, u)) continue;
    reset_island(island);
    *any = true;
  }
  return TB_OK;
}
