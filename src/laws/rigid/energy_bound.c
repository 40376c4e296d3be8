#include "laws/rigid/energy_bound.h"

#include <math.h>
#include <stdbool.h>

#include "base/minmax.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "laws/certificate.h"
#include "tribo/dynamics.h"

// Impulses that add more than this multiple of the available energy are wrong.
static const tbReal TOO_MUCH = 10;

// Impulses more than this multiple of those that stop a single body's approach are examined,
// whatever their residual, which is relative to them.
static const tbReal LARGE = 1e4;

static bool has_large_impulses(const tbIsland* island) {
  tbReal natural = 0, largest = 0;
  for (int r = 0; r < island->problem.n; r++) {
    natural = tb_max(natural, fabs(island->problem.g[r]) / island->rho[r]);
    largest = tb_max(largest, fabs(island->lambda[r]));
  }
  return largest > LARGE * natural;
}

// The available energy of an island, J: that of the free velocity, and that of the total mass
// moving at the largest speed of a row. Impulses that stop the approach g = J v_f + gamma add no
// more, by the Cauchy-Schwarz inequality: under every law lambda . sigma <= 0, so that lambda . G
// lambda <= -lambda . g.
static tbReal available_energy(const tbModel* m, tbReal kinetic, const tbIsland* island) {
  tbReal fastest = 0, turns = 0;
  for (int r = 0; r < island->problem.n; r++) {
    tbReal g = island->problem.g[r];
    fastest = tb_max(fastest, fabs(g));
    turns += g * g / island->rho[r];
  }
  return kinetic + m->total_mass * fastest * fastest + turns;
}

// Energy that an island's impulses alone add, lambda . G lambda = u . M u, J: summed over the trees
// that they move, without cancellation between large numbers. `power` is u_i (M u)_i; entries that
// were summed are set to zero.
static tbReal added_energy(const tbModel* m, const tbConstraints* cs, const tbIsland* island,
                           tbReal* power) {
  tbReal sum = 0;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &cs->list[island->member[k]];
    for (int e = 0; e < c->nnz; e++) {
      int tree = m->dof_treeid[c->col[e]], first = m->tree_dofadr[tree];
      for (int i = first; i < first + m->tree_dofnum[tree]; i++) {
        sum += power[i];
        power[i] = 0;
      }
      // Continue with the next tree.
      while (e + 1 < c->nnz && m->dof_treeid[c->col[e + 1]] == tree) e++;
    }
  }
  return sum;
}

// Scale an island's impulses; the residual is recomputed for the scaled ones.
static void scale_island(const tbModel* m, const tbIsland* island, tbReal share, tbReal* sigma,
                         tbSolveInfo* info) {
  const tbProblem* p = &island->problem;
  for (int r = 0; r < p->n; r++) {
    sigma[r] = p->g[r] + share * (sigma[r] - p->g[r]);
    island->lambda[r] *= share;
    // Rows with overflowed numbers get zero impulse.
    if (!isfinite(sigma[r]) || !isfinite(island->lambda[r])) {
      sigma[r] = p->g[r];
      island->lambda[r] = 0;
    }
  }
  // RaiSim's residual would need G.
  int law = m->opt.law == TB_LAW_RAISIM ? TB_LAW_NCP : m->opt.law;
  tbSolveInfo one = {.law = info->law, .solver = info->solver, .status = TB_SOLVE_STALLED};
  one.residual = tb_residual(p, (tbLaw)law, island->lambda, sigma);
  one.residual_exact = tb_residual(p, TB_LAW_NCP, island->lambda, sigma);
  tb_certificate_add(info, &one);
}

tbResult tb_bound_impulse_energy(const tbModel* m, tbData* d, const tbConstraints* constraints,
                                 tbInertiaFactor factor, const tbReal* v_free,
                                 const tbIslands* islands) {
  bool doubtful = d->solve.status != TB_SOLVE_CONVERGED;
  for (int i = 0; i < islands->count && !doubtful; i++) {
    doubtful = has_large_impulses(&islands->island[i]);
  }
  if (!doubtful) return TB_OK;
  tbForest forest = tb_forest(m);
  tbReal* v = TB_ARENA_NEW(&d->work->arena, tbReal, 2 * m->nv);
  tbReal* sigma = TB_ARENA_NEW(&d->work->arena, tbReal, constraints->nrow + 1);
  if (!v || !sigma) return TB_ERROR_MEMORY;
  tbReal *power = v + m->nv, kinetic = 0;
  tb_mul_m(m, d, power, v_free);
  for (int i = 0; i < m->nv; i++) kinetic += power[i] * v_free[i];

  // The change u = H^-1 J^T lambda of the velocity, and its energy by dof.
  tb_gather_impulse(constraints, islands, v);
  tb_ltdl_solve(forest, factor.LD, factor.inverse, v);
  tb_mul_m(m, d, power, v);
  for (int i = 0; i < m->nv; i++) power[i] *= v[i];
  for (int i = 0; i < m->nv; i++) v[i] += v_free[i];
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    tbReal made = added_energy(m, constraints, island, power);
    tbReal hand = available_energy(m, kinetic, island);
    if (made <= TOO_MUCH * hand) continue;
    tb_assembled_velocity(constraints, island, v_free, v, sigma);
    scale_island(m, island, isfinite(made) ? sqrt(hand / made) : 0, sigma, &d->solve);
  }
  return TB_OK;
}
