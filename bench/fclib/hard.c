// Random problems that no setting was tuned for: how many does each solver reach?
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hard_problems.h"
#include "fclib/fclib_bench.h"

static const char* const SIZES[] = {"small", "medium", "large"};

void bench_hard(Bench* b, int count) {
  static const char* const solvers[] = {"auto", "admm", "pgs"};
  tbTable* table = tb_bench_table(b->bench, "hard");
  int families = tb_hard_family_count(), all[3] = {0}, total = 0;
  int sizes = tb_bench_short(b->bench) ? 1 : 2;
  double* seconds = calloc((size_t)count + 1, sizeof *seconds);
  for (int size = 0; size < sizes && seconds; size++) {
    for (int f = 0; f < families; f++) {
      tb_bench_progress(b->bench, size * families + f, sizes * families, tb_hard_family_name(f));
      for (int s = 0; s < 3; s++) {
        int solved = 0, largest = 0;
        for (int seed = 0; seed < count; seed++) {
          Case c;
          memset(&c, 0, sizeof c);
          c.problem = tb_hard_problem(f, size, 1000 + (uint64_t)seed);
          if (!c.problem) continue;
          tbReal* lambda = calloc((size_t)c.problem->n + 1, sizeof *lambda);
          tbSolveSettings set = tbDefaultSolveSettings();
          set.solver = solvers[s];
          set.tol = b->tol;
          set.max_iter = 1000000;
          set.time_limit = b->limit;
          Run run = bench_solve(b, &c, &set, lambda);
          if (run.solved) seconds[solved++] = run.seconds;
          if (c.problem->nblock > largest) largest = c.problem->nblock;
          free(lambda);
          tb_problem_free(c.problem);
        }
        all[s] += solved;
        if (s == 0) total += count;
        tb_table_row(table);
        tb_table_text(table, "family", tb_hard_family_name(f));
        tb_table_text(table, "size", SIZES[size]);
        tb_table_text(table, "solver", solvers[s]);
        tb_table_int(table, "problems", count);
        tb_table_int(table, "solved", solved);
        tb_table_int(table, "largest", largest);
        tb_table_real(table, "geomean_seconds_of_solved", tb_bench_geomean(seconds, solved));
      }
    }
  }
  free(seconds);
  tb_bench_progress(b->bench, 1, 1, "");
  tb_bench_note(b->bench, "Random hard problems, %d: auto %d, admm %d, pgs %d within %g s each.",
                total, all[0], all[1], all[2], b->limit);
}
