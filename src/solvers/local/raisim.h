// One contact under RaiSim's law, as an equation for Newton's method.
#ifndef TRIBO_SOLVERS_LOCAL_RAISIM_H_
#define TRIBO_SOLVERS_LOCAL_RAISIM_H_

#include "tribo/problem.h"

typedef struct {
  const tbBlock* block;  // a cone
  const tbReal* A;       // its block of G + R (dim x dim, positive diagonal); see local/raisim.c
  tbReal* slip;          // one entry that tb_local_raisim keeps
} tbRaisimCone;

// F = 0 if the law holds, in m/s; `answer` receives the impulse of the cone that the law assigns to
// lambda and sigma. If C is not NULL, also the derivatives C = dF/dlambda and D = dF/dsigma.
void tb_raisim_cone(const tbRaisimCone* cone, const tbReal* lambda, const tbReal* sigma,
                    tbReal* answer, tbReal* F, tbReal* C, tbReal* D);

#endif
