// Declarations that the files of the FCLIB benchmark share.
#ifndef TRIBO_BENCH_FCLIB_H_
#define TRIBO_BENCH_FCLIB_H_

#include <stdbool.h>

#include "common/bench.h"
#include "page/plot.h"
#include "tribo/fclib.h"
#include "tribo/problem.h"

typedef struct {
  char name[128];   // file name without extension
  char family[64];  // from the corpus' index
  bool global;
  int contacts;
  tbFclib* fclib;
  tbProblem* problem;
} Case;

typedef struct {
  char solver[64];  // "ncp/auto", "siconos/nsgs", ...
  bool solved;  // relative residual of the exact law (of the own law for others) within tolerance
  double seconds;  // of one solve, median; the limit where it was not solved
  int iterations, factorizations;
  double setting;  // Siconos: the tolerance that it needed
  const char* status;
  tbResidual residual, residual_exact;
} Run;

typedef struct {
  tbBench* bench;
  Case* cases;
  int case_count;
  double tol;    // relative residual to reach
  double limit;  // seconds for one solve
  int repeats;
  bool peers;  // run Siconos
  bool all_laws;
  bool intervals;        // ADMM's interval of looking at the penalty: a study
  const char* problems;  // only problems whose file name contains this
  const char* only;      // only these solvers of ours, "ncp/auto,ncp/admm"; "": all
  // Results: runs[case * solver_count + solver].
  Run* runs;
  char (*solvers)[64];
  int solver_count;
} Bench;

// Read the corpus below `folder`. False (after a message) if it is not there.
bool bench_load(Bench* b, const char* folder);
void bench_free(Bench* b);

// Solve a case with one of our solvers and settings; `lambda` gets the answer (n entries).
Run bench_solve(const Bench* b, const Case* c, const tbSolveSettings* settings, tbReal* lambda);

// The same with Siconos, tightening its tolerance until our residual agrees.
Run bench_siconos(const Bench* b, const Case* c, int method);

// Every problem with every solver: fills `runs` and the table "problems".
void bench_run_all(Bench* b);

// Tables "summary", "auto_vs_siconos", "profile", and the figure of the profiles.
void bench_report(Bench* b);

// Performance profile of some solvers over some cases (Dolan and More 2002) as lines of the current
// panel of `plot` (may be NULL) and rows of `table` (may be NULL).
void bench_profile(const Bench* b, const bool* use_case, const bool* use_solver, const char* label,
                   tbPlot* plot, tbTable* table);

// `count` random problems of every family and size of test/common/hard_problems.h, with ncp/auto,
// ncp/admm and ncp/pgs: table "hard".
void bench_hard(Bench* b, int count);

// ADMM paper: tables III and IV, figures 4 and 7.
void bench_paper(Bench* b);

#endif
