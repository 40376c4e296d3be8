// lcp/staggered: staggered projections with the pyramid (CM III-A, Alg. 7).
#include "solvers/staggered/staggered.h"

tbResult tb_solve_lcp_staggered(tbSolve* s) {
  return tb_staggered(s, true);
}
