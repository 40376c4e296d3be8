// Running a motion: ground truth, local errors, stability.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expo_bench.h"

void set_method(tbModel* m, const Method* method, double dt) {
  m->opt.law = TB_LAW_VISCOELASTIC;
  m->opt.integrator = method->integrator;
  m->opt.expm_order = method->order;
  m->opt.timestep = dt;
}

static void start(const Motion* motion, tbData* d) {
  tb_reset(motion->robot.m, d);
  memcpy(d->qpos, motion->qpos0, sizeof(double) * (size_t)motion->robot.m->nq);
  memcpy(d->qvel, motion->qvel0, sizeof(double) * (size_t)motion->robot.m->nv);
}

// Sub-steps of one control step; false where the state is lost (EXP: not a number, or too fast).
static bool advance(const tbModel* m, tbData* d, int substeps) {
  for (int i = 0; i < substeps; i++) {
    if (tb_step(m, d) != TB_OK) return false;
  }
  for (int i = 0; i < m->nv; i++) {
    if (!(fabs(d->qvel[i]) < 1e5)) return false;
  }
  return true;
}

static const Method TRUTH = {"expo-midpoint", TB_INTEGRATOR_EXPO_MIDPOINT, 0};

bool truth_make(tbBench* bench, Motion* motion, int steps, int substeps, Truth* truth) {
  tbModel* m = motion->robot.m;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, n = (size_t)steps + 1;
  memset(truth, 0, sizeof *truth);
  truth->steps = steps;
  truth->snapshot = calloc(n, sizeof(void*));
  truth->size = calloc(n, sizeof(size_t));
  truth->qpos = calloc(n * nq, sizeof(double));
  truth->qvel = calloc(n * nv, sizeof(double));
  truth->tau = calloc(n * nv, sizeof(double));
  tbData* d = tb_data_new(m);
  bool ok = d && truth->snapshot && truth->size && truth->qpos && truth->qvel && truth->tau;
  if (ok) start(motion, d);
  if (motion->restart) motion->restart(motion);
  double accuracy = m->opt.expm_accuracy;
  m->opt.expm_accuracy = 0;
  set_method(m, &TRUTH, motion->control_dt / substeps);
  for (int i = 0; ok && i <= steps; i++) {
    truth->size[i] = tb_snapshot_size(m, d);
    truth->snapshot[i] = malloc(truth->size[i]);
    ok = truth->snapshot[i] && tb_snapshot_save(m, d, truth->snapshot[i], truth->size[i]) == TB_OK;
    memcpy(truth->qpos + (size_t)i * nq, d->qpos, sizeof(double) * nq);
    memcpy(truth->qvel + (size_t)i * nv, d->qvel, sizeof(double) * nv);
    if (!ok || i == steps) break;
    motion->control(motion, d, i, truth->tau + (size_t)i * nv);
    memcpy(d->qfrc_applied, truth->tau + (size_t)i * nv, sizeof(double) * nv);
    ok = advance(m, d, substeps);
    if (!ok) tb_bench_note(bench, "%s: the ground truth failed at step %d", motion->name, i);
    if (i % 16 == 0) tb_bench_progress(bench, i, steps, motion->name);
  }
  m->opt.expm_accuracy = accuracy;
  tb_data_free(d);
  return ok;
}

void truth_free(Truth* truth) {
  for (int i = 0; truth->snapshot && i <= truth->steps; i++) free(truth->snapshot[i]);
  free(truth->snapshot);
  free(truth->size);
  free(truth->qpos);
  free(truth->qvel);
  free(truth->tau);
  free(truth->doubt);
  memset(truth, 0, sizeof *truth);
}

// Infinity norm of [q_truth (-) q; v - v_truth].
static double state_error(const tbModel* m, const tbData* d, const double* qpos, const double* qvel,
                          double* scratch) {
  double worst = 0;
  tb_differentiate_pos(m, scratch, 1, d->qpos, qpos);
  for (int i = 0; i < m->nv; i++) {
    worst = fmax(worst, fabs(scratch[i]));
    worst = fmax(worst, fabs(d->qvel[i] - qvel[i]));
  }
  return worst;
}

// One control step from the truth's state and anchors: the error after it, infinity where it fails.
// Its time adds to *seconds.
static double local_step(const Motion* motion, const Truth* truth, int i, int substeps, tbData* d,
                         double* scratch, double* seconds) {
  const tbModel* m = motion->robot.m;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, now = (size_t)i, next = now + 1;
  if (tb_snapshot_load(m, d, truth->snapshot[i], truth->size[i], NULL) != TB_OK) return INFINITY;
  memcpy(d->qfrc_applied, truth->tau + now * nv, sizeof(double) * nv);
  tbClock clock = tb_bench_clock();
  bool ok = advance(m, d, substeps);
  *seconds += tb_bench_since(clock);
  if (!ok) return INFINITY;
  return state_error(m, d, truth->qpos + next * nq, truth->qvel + next * nv, scratch);
}

bool truth_judge(tbBench* bench, Motion* motion, int substeps, Truth* truth) {
  tbModel* m = motion->robot.m;
  tbData* d = tb_data_new(m);
  double *scratch = calloc((size_t)m->nv, sizeof(double)), seconds = 0, sum = 0;
  truth->doubt = calloc((size_t)truth->steps, sizeof(double));
  bool ok = d && scratch && truth->doubt;
  double accuracy = m->opt.expm_accuracy;
  m->opt.expm_accuracy = 0;
  set_method(m, &TRUTH, 2 * motion->control_dt / substeps);
  for (int i = 0; ok && i < truth->steps; i++) {
    truth->doubt[i] = local_step(motion, truth, i, substeps / 2, d, scratch, &seconds);
    bool sure = truth->doubt[i] <= TRUTH_LIMIT;
    truth->unsure += !sure;
    if (sure) sum += truth->doubt[i];
    if (i % 16 == 0) tb_bench_progress(bench, i, truth->steps, "judging the truth");
  }
  m->opt.expm_accuracy = accuracy;
  truth->error = sum / (truth->steps - truth->unsure);
  tb_bench_note(bench, "%s: at twice its step the truth is off by %.1e; %d of %d steps have none",
                motion->name, truth->error, truth->unsure, truth->steps);
  free(scratch);
  tb_data_free(d);
  return ok && truth->unsure < truth->steps;
}

LocalRun run_local(Motion* motion, const Truth* truth, const Method* method, int substeps) {
  tbModel* m = motion->robot.m;
  tbData* d = tb_data_new(m);
  double* scratch = calloc((size_t)m->nv, sizeof(double));
  LocalRun run = {0, 0, 0, 0};
  set_method(m, method, motion->control_dt / substeps);
  for (int i = 0; d && scratch && i < truth->steps; i++) {
    if (truth->doubt && !(truth->doubt[i] <= TRUTH_LIMIT)) continue;
    run.error += local_step(motion, truth, i, substeps, d, scratch, &run.seconds);
    run.steps++;
  }
  run.error = run.steps ? run.error / run.steps : INFINITY;
  run.factor = run.steps * motion->control_dt / run.seconds;
  free(scratch);
  tb_data_free(d);
  return run;
}

bool run_stable(Motion* motion, const Method* method, int substeps) {
  tbModel* m = motion->robot.m;
  tbData* d = tb_data_new(m);
  double* tau = calloc((size_t)m->nv, sizeof(double));
  bool ok = d && tau;
  if (ok) start(motion, d);
  if (motion->restart) motion->restart(motion);
  set_method(m, method, motion->control_dt / substeps);
  for (int i = 0; ok && i < motion->stable_steps; i++) {
    motion->control(motion, d, i, tau);
    memcpy(d->qfrc_applied, tau, sizeof(double) * (size_t)m->nv);
    ok = advance(m, d, substeps);
    // Bounded, and still a robot above the floor near where it belongs.
    ok = ok && d->qpos[2] > -1 && fabs(d->qpos[2]) < 10;
  }
  free(tau);
  tb_data_free(d);
  return ok;
}
