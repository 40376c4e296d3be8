#include "common/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// What falls must have landed: step until something touches.
static void land(const tbModel* m, tbData* d) {
  for (int i = 0; i < MOST_FALL && d->ncon == 0; i++) {
    if (tb_step(m, d) != TB_OK) break;
  }
}

Cost method_cost(tbModel* m, Method method, int warm, double force, int steps) {
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
    cost.microseconds += 1e6 * d->seconds.solve / steps;
    cost.iterations += d->solve.iterations / (double)steps;
    cost.residual = fmax(cost.residual, d->solve.residual.relative);
    cost.failed += d->solve.status != TB_SOLVE_CONVERGED;
  }
  tb_data_free(d);
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
