// The condition for ncp/prox-newton.
#ifndef TRIBO_SOLVERS_PROX_NEWTON_PROX_H_
#define TRIBO_SOLVERS_PROX_NEWTON_PROX_H_

#include <stdbool.h>

#include "tribo/problem.h"

// Whether G is a product with few enough columns for dense Newton in velocity space.
bool tb_prox_fits(const tbProblem* problem);

#endif
