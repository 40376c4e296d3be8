// Every solver on twelve problems, of one family each.
#include <stdio.h>
#include <stdlib.h>

#include "common/contact_problems.h"
#include "common/hard_problems.h"
#include "golden/golden.h"

enum { PROBLEMS = 12, SEED = 11, ITERATIONS = 300 };

static void solve(const tbProblem* p, int index, const char* family) {
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.law = tb_solver_law(index);
  settings.solver = tb_solver_name(index);
  settings.max_iter = ITERATIONS;
  tbReal* lambda = calloc((size_t)p->n + 1, sizeof(tbReal));
  tbSolveInfo info = {0};
  tbError error;
  tbResult result = tb_solve(p, &settings, lambda, NULL, &info, &error);
  int said[] = {(int)result, info.status, info.iterations};
  uint64_t hash = golden_ints(TB_HASH_SEED, said, 3);
  hash = golden_reals(hash, lambda, p->n);
  hash = golden_reals(hash, &info.residual.relative, 1);
  char name[96];
  snprintf(name, sizeof name, "%s/%s %s", tb_law_name((tbLaw)settings.law), settings.solver,
           family);
  golden_line("solver", name, hash);
  free(lambda);
}

void golden_solvers(void) {
  for (int family = 0; family < PROBLEMS; family++) {
    tbProblem* p = tb_hard_problem(family, 0, SEED);
    if (!p) exit(1);
    for (int i = 0; i < tb_solver_count(); i++) {
      if (tb_test_supports(p, i)) solve(p, i, tb_hard_family_name(family));
    }
    tb_problem_free(p);
  }
}
