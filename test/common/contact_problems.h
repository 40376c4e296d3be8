// Contact problems with known answers, for the tests of problem, residual and solvers.
#ifndef TRIBO_TEST_CONTACT_PROBLEMS_H_
#define TRIBO_TEST_CONTACT_PROBLEMS_H_

#include "common/test.h"
#include "tribo/problem.h"

// A problem that owns its arrays, with its solution where one is known.
typedef struct {
  char name[64];
  tbProblem* problem;
  tbReal* lambda;  // NULL: not known
} tbTestProblem;

typedef enum {
  TB_STATE_STICK,  // lambda inside the cone, sigma = 0
  TB_STATE_SLIDE,  // lambda on the cone, sigma_T against it
  TB_STATE_APART,  // lambda = 0, sigma_N > 0
  TB_STATE_TIP,    // degenerate: lambda = 0, sigma_N = 0
  TB_STATE_EDGE,   // degenerate: lambda on the cone, sigma = 0
  TB_STATE_MIXED,  // any of the above, at random
} tbTestState;

// Built backwards: `contacts` cones of `dim` rows (coefficients differing by axis if
// `anisotropic`), a random well-conditioned G, lambda and sigma that obey the exact law, and
// g = sigma - (G + R) lambda.
tbTestProblem tb_test_backward(tbTestState state, int contacts, int dim, bool anisotropic,
                               tbReal compliance, uint64_t seed);

// The same with equality, one-sided and box blocks between the cones.
tbTestProblem tb_test_backward_blocks(int blocks, uint64_t seed);

// A unit cube of mass 1 on `legs` points of the ground: gravity over dt, a horizontal push, mu.
// Hyperstatic for more than two legs. The free velocity's horizontal part is `slip`.
tbTestProblem tb_test_table(int legs, tbReal mu, tbReal slip);

// A column of unit cubes on the ground, four contacts per face, falling for dt.
tbTestProblem tb_test_stack(int cubes, const tbReal* mass, tbReal mu);

// The same problem with G in another form (dense, sparse).
tbProblem* tb_test_convert(const tbProblem* problem, tbDelassusForm form);

// G + R as a dense matrix (caller frees).
tbReal* tb_test_matrix(const tbProblem* problem);

// Does solver number `index` take this problem? Some need a form of G or a kind of block.
bool tb_test_supports(const tbProblem* problem, int index);

void tb_test_problem_free(tbTestProblem* test);

// Solve; fails the test on an error. `work` may be NULL.
tbSolveInfo tb_test_solve(const tbProblem* problem, tbLaw law, const char* solver, tbReal tol,
                          int max_iter, tbReal* lambda);

#endif
