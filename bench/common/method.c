#include "common/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bench.h"

enum { MOST_FALL = 600 };  // steps

tbModel* load_scene(const char* path) {
  if (access(path, R_OK) != 0) return NULL;
  tbError error;
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fprintf(stderr, "%s\n", error.message);
  return m;
}

static void push(const tbModel* m, tbData* d, double force) {
  for (int k = 0; k < 3 && m->nbody > 1; k++) d->xfrc_applied[6 + k] = force * sin(2 * d->time + k);
}

static tbData* start(tbModel* m, Method method, int warm) {
  m->opt.law = method.law;
  m->opt.solver = method.solver;
  m->opt.timestep = 1e-3;
  m->opt.warmstart = warm;
  tbData* d = tb_data_new(m);
  if (d && m->nkey > 0) tb_reset_keyframe(m, d, 0);
  return d;
}

// Steps until the first contact: measurements of falls start there.
static void land(const tbModel* m, tbData* d) {
  for (int i = 0; i < MOST_FALL && d->ncon == 0; i++) {
    if (tb_step(m, d) != TB_OK) break;
  }
}

// One run; the seconds of each step's solve are lowered to what this run took.
static Cost run_once(tbModel* m, Method method, int warm, double force, int steps,
                     double* seconds) {
  Cost cost = {0};
  tbData* d = start(m, method, warm);
  if (!d) return (Cost){NAN, NAN, NAN, steps};
  land(m, d);
  for (int i = -50; i < steps; i++) {
    push(m, d, force);
    if (tb_step(m, d) != TB_OK) {
      cost.failed = steps;
      break;
    }
    if (i < 0) continue;
    seconds[i] = fmin(seconds[i], d->seconds.solve);
    cost.iterations += d->solve.iterations / (double)steps;
    cost.residual = fmax(cost.residual, d->solve.residual.relative);
    cost.failed += d->solve.status != TB_SOLVE_CONVERGED;
  }
  tb_data_free(d);
  return cost;
}

Cost method_cost(tbModel* m, Method method, int warm, double force, int steps) {
  // Every run does the same work, so the least time of a step is the one that nothing disturbed.
  enum { RUNS = 3 };
  const double enough = 0.3;  // s
  Cost cost = {NAN, NAN, NAN, steps};
  double* seconds = malloc(sizeof(double) * (size_t)steps);
  if (!seconds) return cost;
  for (int i = 0; i < steps; i++) seconds[i] = INFINITY;
  tbClock clock = tb_bench_clock();
  for (int k = 0; k < RUNS && (k == 0 || tb_bench_since(clock) < enough); k++) {
    cost = run_once(m, method, warm, force, steps, seconds);
  }
  cost.microseconds = 0;
  for (int i = 0; i < steps; i++) {
    if (isfinite(seconds[i])) cost.microseconds += 1e6 * seconds[i] / steps;
  }
  free(seconds);
  return cost;
}

tbProblem* pushed_problem(tbModel* m, double force, int steps) {
  tbData* d = start(m, (Method){"ncp", TB_LAW_NCP, TB_SOLVER_AUTO}, 1);
  if (!d) return NULL;
  bool ok = true;
  land(m, d);
  for (int i = 0; i < steps && ok; i++) {
    push(m, d, force);
    ok = tb_step(m, d) == TB_OK;
  }
  tbError error;
  tbProblem* problem = ok && tb_forward(m, d) == TB_OK ? tb_step_problem(m, d, &error) : NULL;
  tb_data_free(d);
  if (problem && problem->n > 0) return problem;
  tb_problem_free(problem);
  return NULL;
}

int method_convergence(const tbProblem* problem, tbSolveSettings settings, Method method,
                       tbSolveHistory* history, int most) {
  tbReal* lambda = calloc((size_t)problem->n + 1, sizeof *lambda);
  const char* slash = strchr(method.label, '/');
  tbSolveInfo info = {0};
  settings.law = method.law;
  settings.solver = slash ? slash + 1 : "auto";
  settings.history = history;
  settings.history_capacity = most;
  settings.max_iter = most;
  bool ok = lambda && tb_solve(problem, &settings, lambda, NULL, &info, NULL) == TB_OK;
  free(lambda);
  return ok ? info.history_count < most ? info.history_count : most : 0;
}
