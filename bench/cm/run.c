// Loading, choosing a law, and following a body.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cm.h"

void cm_choose(tbModel* m, Method method, double dt, double tolerance) {
  // The paper's settings: correction 1e-4 of an overlap per step, contacts seen from 1 mm, and no
  // gap that counts as closed.
  m->opt.law = method.law;
  m->opt.solver = method.solver;
  m->opt.timestep = dt;
  m->opt.solve_absolute = tolerance;
  m->opt.solve_iterations = 1000;
  m->opt.baumgarte = 1e-4;
  m->opt.gap_allowed = 0;
  m->opt.contact_margin = 1e-3;
  m->opt.enableflags |= TB_ENABLE_ENERGY;
}

static double* new_array(int n) {
  double* x = calloc((size_t)n + 1, sizeof(double));
  if (!x) exit(3);
  return x;
}

bool cm_run(tbModel* m, tbData* d, int steps, BeforeStep before, void* context, Trace* trace) {
  trace->steps = 0;
  trace->time = new_array(steps);
  for (int k = 0; k < 3; k++) trace->position[k] = new_array(steps);
  trace->speed = new_array(steps);
  trace->energy = new_array(steps);
  double mass = m->body_mass[1], g = -m->opt.gravity[2];
  for (int i = 0; i < steps; i++) {
    if (before) before(m, d, context);
    if (tb_step(m, d) != TB_OK) {
      fprintf(stderr, "%s at %.3f s: %s\n", tb_step_law_name(m->opt.law), d->time, d->message);
      return false;
    }
    const tbReal *q = d->qpos, *v = d->qvel;
    double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    trace->time[i] = d->time;
    for (int k = 0; k < 3; k++) trace->position[k][i] = q[k];
    trace->speed[i] = sqrt(v2);
    trace->energy[i] = mass * (0.5 * v2 + g * q[2]);
    for (int k = 0; k < 3; k++)
      trace->energy[i] += 0.5 * m->body_inertia[3 + k] * v[3 + k] * v[3 + k];
    trace->steps = i + 1;
  }
  return true;
}

void cm_trace_free(Trace* trace) {
  free(trace->time);
  for (int k = 0; k < 3; k++) free(trace->position[k]);
  free(trace->speed);
  free(trace->energy);
  *trace = (Trace){0};
}
