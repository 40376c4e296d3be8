// MuJoCo's soft law in the table of laws.
#include "forces/implicit_inertia.h"
#include "laws/soft/soft.h"

static bool has_partials(const tbStep* s, bool forces_only) {
  (void)forces_only;
  const tbOption* opt = &s->m->opt;
  if (opt->noslip_iterations > 0) return false;
  if (opt->integrator == TB_INTEGRATOR_IMPLICITFAST) return tb_implicit_fast_is_all(s->m, s->d);
  return opt->integrator != TB_INTEGRATOR_IMPLICIT || tb_deriv_is_plain(s->m);
}

const tbLawType tb_law_soft = {
    .solvers = 1u << TB_SOLVER_AUTO | 1u << TB_SOLVER_NEWTON | 1u << TB_SOLVER_PGS,
    .velocity = tb_soft_velocity,
    .has_partials = has_partials,
    .linearize = tb_soft_linearize,
    .inverse = tb_soft_inverse,
};
