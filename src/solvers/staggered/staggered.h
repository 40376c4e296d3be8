// Staggered projections, shared by ncp/staggered and lcp/staggered.
#ifndef TRIBO_SOLVERS_STAGGERED_STAGGERED_H_
#define TRIBO_SOLVERS_STAGGERED_STAGGERED_H_

#include "solvers/solver.h"

// CM Alg. 7. With `pyramid` the friction of each axis has its own bound, otherwise a disc bounds
// it.
tbResult tb_staggered(tbSolve* s, bool pyramid);

#endif
