#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "model/workspace.h"
#include "sim_bench.h"

void run_free(Run* run) {
  free(run->seconds);
  run->seconds = NULL;
}

void run_merge(Run* all, Run* one) {
  if (!all->seconds) {
    *all = *one;
    return;
  }
  for (int i = 0; i < all->steps && one->ok; i++) {
    all->seconds[i] = fmin(all->seconds[i], one->seconds[i]);
  }
  if (!one->ok) {
    all->ok = false;
    memcpy(all->message, one->message, sizeof all->message);
  }
  run_free(one);
}

double run_rate(const Run* run) {
  double sum = 0;
  for (int i = 0; i < run->steps; i++) sum += run->seconds[i];
  return sum > 0 ? run->steps / sum : NAN;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double run_quantile(const Run* run, double q) {
  double* sorted = malloc(sizeof(double) * (size_t)(run->steps + 1));
  if (!sorted || run->steps == 0) {
    free(sorted);
    return NAN;
  }
  memcpy(sorted, run->seconds, sizeof(double) * (size_t)run->steps);
  qsort(sorted, (size_t)run->steps, sizeof *sorted, compare);
  double value = sorted[(int)fmin(run->steps - 1, floor(q * run->steps))];
  free(sorted);
  return value;
}

tbModel* scene_model(const Scene* scene, char* message, size_t size) {
  tbError error = {0};
  tbModel* m = NULL;
  if (scene->path) {
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, scene->path);
    m = tb_load(path, NULL, &error);
  } else {
    char* text = scene_text(scene->name);
    if (text) m = tb_load_string(text, NULL, NULL, &error);
    free(text);
  }
  if (!m) {
    snprintf(message, size, "%s", error.message);
    return NULL;
  }
  m->opt.timestep = scene->dt;
  if (scene->kind == DROP) {
    // Nothing but gravity and contacts.
    m->opt.disableflags |= TB_DISABLE_ACTUATION | TB_DISABLE_LIMIT | TB_DISABLE_FRICTIONLOSS;
    for (int i = 0; i < m->nv; i++) m->dof_damping[i] = 0;
  }
  return m;
}

static void add_step(Run* run, const tbData* d, double* depths) {
  run->contacts += d->ncon;
  run->iterations += d->solve.iterations;
  if (d->solve.status != TB_SOLVE_CONVERGED) run->unconverged++;
  run->residual_mean += d->solve.residual_exact.relative;
  run->residual_max = fmax(run->residual_max, d->solve.residual_exact.relative);
  run->solved_max = fmax(run->solved_max, d->solve.residual.relative);
  for (int i = 0; i < d->ncon; i++) {
    double depth = fmax(0, -d->contact[i].dist);
    // Contacts are seen before they close; those that do not push yet count for neither mean.
    if (d->contact[i].dist > 0 && !(d->contact[i].force[0] > 0)) continue;
    run->depth_mean += depth;
    run->depth_max = fmax(run->depth_max, depth);
    (*depths)++;
  }
}

static void add_phases(Run* run, const tbStepTimes* seconds) {
  run->phase[0] += seconds->dynamics;
  run->phase[1] += seconds->collide;
  run->phase[2] += seconds->assemble;
  run->phase[3] += seconds->solve;
}

static size_t world_bytes(const tbData* d) {
  return sizeof *d + d->block_size + d->work->arena.high_water;
}

void hold_posture(const tbModel* m, const Posture* p, const double* qpos, const double* qvel,
                  double* ctrl) {
  if (!(p->kp > 0)) return;
  // Of the base: the quaternion's y is half of a small pitch.
  double pitch = 2 * qpos[5], pitch_rate = qvel[4];
  for (int u = 0; u < m->nu; u++) {
    int joint = m->actuator_trnid[2 * u], q = m->jnt_qposadr[joint], v = m->jnt_dofadr[joint];
    double torque = p->kp * (m->key_qpos[q] - qpos[q]) - p->kd * qvel[v];
    const char* name = tb_id2name(m, TB_OBJ_ACTUATOR, u);
    if (name && strstr(name, "foot")) torque -= p->lean * pitch + p->lean_rate * pitch_rate;
    double control = torque / (m->actuator_gear[6 * u] * m->actuator_gainprm[TB_NGAIN * u]);
    const double* range = m->actuator_ctrlrange + 2 * u;
    ctrl[u] = m->actuator_ctrllimited[u] ? fmin(range[1], fmax(range[0], control)) : control;
  }
}

static void run_steps(const tbModel* m, const Scene* scene, tbData* d, Run* run, double* depths) {
  if (m->nkey) {
    tb_reset_keyframe(m, d, 0);
  } else {
    tb_reset(m, d);
  }
  double height = d->qpos[2];
  for (int i = 0; i < run->steps && run->ok; i++) {
    hold_posture(m, &scene->posture, d->qpos, d->qvel, d->ctrl);
    tbClock start = tb_bench_clock();
    tbResult result = tb_step(m, d);
    run->seconds[i] = tb_bench_since(start);
    double residual = d->solve.residual_exact.relative;
    if (result != TB_OK || isnan(residual)) {
      run->ok = false;
      snprintf(run->message, sizeof run->message, "step %d: %s", i,
               result != TB_OK ? d->message : "it has no residual of the exact law");
      break;
    }
    add_step(run, d, depths);
    add_phases(run, &d->seconds);
  }
  if (m->jnt_type[0] == TB_JOINT_FREE) run->sunk = height - d->qpos[2];
}

void run_ours(const tbModel* model, const Scene* scene, int law, Run* run) {
  memset(run, 0, sizeof *run);
  tbModel* m = tb_model_copy(model);
  if (m) m->opt.law = law;
  tbData* d = m ? tb_data_new(m) : NULL;
  run->steps = (int)(scene->time / scene->dt + 0.5);
  run->seconds = calloc((size_t)run->steps + 1, sizeof(double));
  run->ok = d && run->seconds;
  double depths = 0;
  if (run->ok) run_steps(m, scene, d, run, &depths);
  double total = run->phase[0] + run->phase[1] + run->phase[2] + run->phase[3];
  for (int k = 0; k < 4 && total > 0; k++) run->phase[k] /= total;
  run->contacts /= run->steps;
  run->iterations /= run->steps;
  run->residual_mean /= run->steps;
  run->depth_mean /= depths > 0 ? depths : 1;
  if (d) run->bytes = world_bytes(d);
  tb_data_free(d);
  tb_model_free(m);
}
