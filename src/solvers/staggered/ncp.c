// ncp/staggered: staggered projections with round friction (CM Alg. 7).
#include "solvers/staggered/staggered.h"

tbResult tb_solve_ncp_staggered(tbSolve* s) {
  return tb_staggered(s, false);
}
