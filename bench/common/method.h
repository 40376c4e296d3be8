// A law with a solver, its cost along a trajectory, and its convergence on one problem.
#ifndef TRIBO_BENCH_METHOD_H_
#define TRIBO_BENCH_METHOD_H_

#include "tribo/tribo.h"

// As a figure's legend names it.
typedef struct {
  const char* label;  // "ccp/admm"
  int law;            // tbLaw or TB_LAW_SOFT
  int solver;         // tbSolverKind
} Method;

// Mean of the solve over the steps of a trajectory.
typedef struct {
  double microseconds, iterations;
  double residual;  // worst
  int failed;       // steps that did not converge
} Cost;

// Push the first body with force * sin(2 t + axis) for `steps` steps of 1 ms from keyframe 0, after
// the first contact and 50 that are not counted. The options other than law, solver, step and warm
// start are the model's.
Cost method_cost(tbModel* model, Method method, int warm, double force, int steps);

// The problem `steps` such steps after the first contact; NULL if there is none. tb_problem_free.
tbProblem* pushed_problem(tbModel* model, double force, int steps);

// Solve from zero; residuals by iteration into `history` (capacity `most`). The count of entries.
int method_convergence(const tbProblem* problem, tbSolveSettings settings, Method method,
                       tbSolveHistory* history, int most);

// A model, NULL with a message on stderr if the file is there but does not load.
tbModel* load_scene(const char* path);

#endif
