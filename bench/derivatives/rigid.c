// Partials of RNEA and of forward dynamics: analytic against centred differences.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "derivatives.h"
#include "tribo/tribo.h"

static const char* const ROBOTS[][2] = {
    {"ur5e", "mujoco_menagerie/universal_robots_ur5e/scene.xml"},
    {"go2", "mujoco_menagerie/unitree_go2/scene.xml"},
    {"humanoid", "mujoco/model/humanoid/humanoid.xml"},
    {"cassie", "mujoco_menagerie/agility_cassie/scene.xml"},
    {"g1", "mujoco_menagerie/unitree_g1/scene.xml"},
    {"talos", "mujoco_menagerie/pal_talos/scene_motor.xml"},
};

typedef struct {
  tbModel* m;
  tbData *d, *other;
  tbReal *qacc, *dq, *dv, *dtau, *unit, *low, *high;
} World;

// Partials of the acceleration by q and v, centred.
static void differences(World* w) {
  const tbModel* m = w->m;
  const tbReal e = 1e-6;
  for (int k = 0; k < 2 * m->nv; k++) {
    for (int side = 0; side < 2; side++) {
      tbReal step = side ? e : -e, *out = side ? w->high : w->low;
      memcpy(w->other->qpos, w->d->qpos, sizeof(tbReal) * (size_t)m->nq);
      memcpy(w->other->qvel, w->d->qvel, sizeof(tbReal) * (size_t)m->nv);
      if (k < m->nv) {
        memset(w->unit, 0, sizeof(tbReal) * (size_t)m->nv);
        w->unit[k] = 1;
        tb_integrate_pos(m, w->other->qpos, w->unit, step);
        tb_compute_position(m, w->other);
      } else {
        if (k == m->nv) tb_compute_position(m, w->other);
        w->other->qvel[k - m->nv] += step;
      }
      tb_compute_velocity(m, w->other);
      tb_forward_dynamics(m, w->other, w->unit, out);
    }
    tbReal* matrix = k < m->nv ? w->dq : w->dv;
    for (int i = 0; i < m->nv; i++) {
      matrix[(size_t)i * (size_t)m->nv + (size_t)(k % m->nv)] = (w->high[i] - w->low[i]) / (2 * e);
    }
  }
}

static void run(World* w, int kind) {
  if (kind == 0) tb_rne(w->m, w->d, w->qacc, NULL, w->low);
  if (kind == 1) tb_rne_derivatives(w->m, w->d, w->qacc, NULL, w->dq, w->dv);
  if (kind == 2) tb_forward_derivatives(w->m, w->d, w->qacc, NULL, w->dq, w->dv, w->dtau);
  if (kind == 3) differences(w);
}

static void bench_robot(tbBench* bench, tbTable* table, int index) {
  char path[1024];
  tbError error;
  snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, ROBOTS[index][1]);
  World w = {.m = tb_load(path, NULL, &error)};
  if (!w.m) {
    tb_bench_note(bench, "%s is left out: %s", ROBOTS[index][0], error.message);
    return;
  }
  size_t nv = (size_t)w.m->nv;
  w.d = tb_data_new(w.m);
  w.other = tb_data_new(w.m);
  w.qacc = calloc(3 * nv * nv + 4 * nv, sizeof(tbReal));
  if (w.d && w.other && w.qacc) {
    w.dq = w.qacc + nv;
    w.dv = w.dq + nv * nv;
    w.dtau = w.dv + nv * nv;
    w.unit = w.dtau + nv * nv;
    w.low = w.unit + nv;
    w.high = w.low + nv;
    tbRng rng = {5};
    for (size_t i = 0; i < nv; i++) w.d->qvel[i] = tb_rng_normal(&rng);
    tb_compute_position(w.m, w.d);
    tb_compute_velocity(w.m, w.d);
    tb_forward_dynamics(w.m, w.d, w.unit, w.qacc);
    double best[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int r = 0; r < (tb_bench_short(bench) ? 30 : 200); r++) {
      for (int k = 0; k < 4; k++) {
        int calls = k < 3 ? 10 : 1;
        double start = tb_seconds();
        for (int i = 0; i < calls; i++) run(&w, k);
        best[k] = fmin(best[k], (tb_seconds() - start) / calls);
      }
    }
    tb_table_row(table);
    tb_table_text(table, "robot", ROBOTS[index][0]);
    tb_table_int(table, "nv", w.m->nv);
    tb_table_real(table, "rnea_us", 1e6 * best[0]);
    tb_table_real(table, "rnea_partials_us", 1e6 * best[1]);
    tb_table_real(table, "forward_partials_us", 1e6 * best[2]);
    tb_table_real(table, "differences_us", 1e6 * best[3]);
    tb_table_real(table, "faster", best[3] / best[2]);
  }
  free(w.qacc);
  tb_data_free(w.d);
  tb_data_free(w.other);
  tb_model_free(w.m);
}

void bench_rigid_bodies(tbBench* bench) {
  tbTable* table = tb_bench_table(bench, "rigid_bodies");
  int count = (int)(sizeof ROBOTS / sizeof *ROBOTS);
  for (int i = 0; i < count; i++) {
    tb_bench_progress(bench, i, count, ROBOTS[i][0]);
    bench_robot(bench, table, i);
  }
}
