// Siconos' solvers on an FCLIB problem, each run in a child process with a time limit: they print,
// may end the process, and cannot be interrupted.
#ifndef TRIBO_BENCH_FCLIB_SICONOS_H_
#define TRIBO_BENCH_FCLIB_SICONOS_H_

#include <stdbool.h>

#include "tribo/fclib.h"

typedef enum {
  SICONOS_NSGS,       // Gauss-Seidel, default local solver
  SICONOS_NSGS_FULL,  // the same, with the full error after each sweep
  SICONOS_NSN,        // nonsmooth Newton, Alart-Curnier
  SICONOS_ADMM,       // ADMM with its default (residual balancing) penalty
  SICONOS_PROX,       // proximal point with an inner nonsmooth Newton
  SICONOS_METHODS
} SiconosMethod;

typedef struct {
  bool finished;  // false: time limit, crash, or no Siconos in this build
  int info;       // 0 when Siconos itself says that it converged
  int iterations;
  double seconds;  // median of the runs
} SiconosRun;

bool siconos_available(void);
const char* siconos_name(SiconosMethod method);

// Solve the local problem `fclib` (3-D, no equalities) from zero to Siconos' own tolerance `tol`.
// r: 3 * contacts. Small problems are solved up to `repeats` times for the median.
SiconosRun siconos_solve(const tbFclib* fclib, SiconosMethod method, double tol, double limit,
                         int repeats, double* r);

#endif
