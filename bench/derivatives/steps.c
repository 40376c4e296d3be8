// A and B of a step: implicit differentiation against differences of whole steps, ours and
// MuJoCo's mjd_transitionFD, of the same robot in the same state, measured in turn.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "derivatives.h"
#include "peer.h"

typedef struct {
  const char *name, *path, *include;
  int law;
} Case;

static const Case CASES[] = {
    {"humanoid", "mujoco/model/humanoid/humanoid.xml", NULL, TB_LAW_SOFT},
    {"humanoid", "mujoco/model/humanoid/humanoid.xml", NULL, TB_LAW_NCP},
    {"humanoid", "mujoco/model/humanoid/humanoid.xml", NULL, TB_LAW_CCP},
    {"g1", "mujoco_menagerie/unitree_g1/scene.xml", "g1.xml", TB_LAW_SOFT},
    {"g1", "mujoco_menagerie/unitree_g1/scene.xml", "g1.xml", TB_LAW_NCP},
    {"talos", "mujoco_menagerie/pal_talos/scene_motor.xml", "talos.xml", TB_LAW_SOFT},
    {"talos", "mujoco_menagerie/pal_talos/scene_motor.xml", "talos.xml", TB_LAW_NCP},
    {"cassie", "mujoco_menagerie/agility_cassie/scene.xml", "cassie.xml", TB_LAW_SOFT},
    {"cassie", "mujoco_menagerie/agility_cassie/scene.xml", "cassie.xml", TB_LAW_NCP},
    {"go2", "mujoco_menagerie/unitree_go2/scene.xml", "go2.xml", TB_LAW_SOFT},
    {"go2", "mujoco_menagerie/unitree_go2/scene.xml", "go2.xml", TB_LAW_NCP},
    {"allegro", "mujoco_menagerie/wonik_allegro/scene_right.xml", "right_hand.xml", TB_LAW_SOFT},
};
enum { NCASES = sizeof CASES / sizeof *CASES };

typedef struct {
  tbModel* m;
  tbData* d;
  tbDerivatives* x;
  Peer* peer;
  tbReal *A, *B, *FA, *FB, *PA, *PB;
  int nx;
  int tries;  // states looked at until one has a derivative
} World;

// After some fall: contacts, and motion.
static void settle(const tbModel* m, tbData* d, tbRng* rng) {
  if (m->nkey > 0) tb_reset_keyframe(m, d, 0);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.1 * tb_rng_normal(rng);
  int steps = (int)(0.4 / m->opt.timestep);
  for (int s = 0; s < steps; s++) tb_step(m, d);
}

// Errors are measured at a tight tolerance.
static void exactly(tbModel* m) {
  m->opt.solve_tolerance = 1e-12;
  m->opt.warmstart = 0;
}

// Contacts at rest under a rigid law have a gap of exactly zero, where the gap term bends: the
// state is moved by a tenth of a millimetre (milliradian), until its step has a derivative that
// differences can see: no change of mode within a thousandth. Returns how often.
static int leave_kink(World* w, tbRng* rng) {
  enum { MOST = 50 };
  tbModel* m = w->m;
  tbOption usual = m->opt;
  exactly(m);
  tbReal *qpos = w->PA, *qvel = qpos + m->nq, *by = qvel + m->nv;
  memcpy(qpos, w->d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(qvel, w->d->qvel, sizeof(tbReal) * (size_t)m->nv);
  tbDerivativeInfo info = {0};
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  settings.mode_tolerance = 1e-3;
  int tries = 0;
  while (!info.differentiable && tries < MOST) {
    memcpy(w->d->qpos, qpos, sizeof(tbReal) * (size_t)m->nq);
    for (int i = 0; i < m->nv; i++) by[i] = tb_rng_normal(rng);
    tb_integrate_pos(m, w->d->qpos, by, 1e-4);
    for (int i = 0; i < m->nv; i++) w->d->qvel[i] = qvel[i] + 0.01 * tb_rng_normal(rng);
    tries++;
    if (tb_step_linearize(m, w->d, &settings, w->x, &info) != TB_OK) info.differentiable = 0;
  }
  m->opt = usual;
  return tries;
}

static int open_world(World* w, tbBench* bench, const Case* c) {
  char path[1024], message[1200] = "";
  tbError error = {0};
  memset(w, 0, sizeof *w);
  snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, c->path);
  w->m = tb_load(path, NULL, &error);
  if (!w->m) {
    tb_bench_note(bench, "%s is left out: %s", c->name, error.message);
    return 0;
  }
  w->m->opt.integrator = TB_INTEGRATOR_EULER;
  w->m->opt.law = c->law;
  w->d = tb_data_new(w->m);
  w->x = tb_derivatives_new(w->m);
  w->nx = 2 * w->m->nv + w->m->na;
  size_t na = (size_t)w->nx * (size_t)w->nx, nb = (size_t)w->nx * (size_t)w->m->nu;
  w->A = calloc(3 * (na + nb) + 1, sizeof(tbReal));
  if (!w->d || !w->x || !w->A) return 0;
  w->B = w->A + na;
  w->FA = w->B + nb;
  w->FB = w->FA + na;
  w->PA = w->FB + nb;
  w->PB = w->PA + na;
  tbRng rng = {11};
  settle(w->m, w->d, &rng);
  w->tries = leave_kink(w, &rng);
  w->peer = peer_open(path, c->include, w->m, message, sizeof message);
  if (w->peer) peer_place(w->peer, w->m, w->d);
  if (!w->peer && peer_version()) tb_bench_note(bench, "%s alone: %s", c->name, message);
  return 1;
}

static void close_world(World* w) {
  peer_close(w->peer);
  tb_derivatives_free(w->x);
  tb_data_free(w->d);
  tb_model_free(w->m);
  free(w->A);
}

typedef enum { FORWARD, LINEARIZE, PRODUCT, DIFFERENCES, THEIR_FORWARD, THEIRS, NKINDS } Kind;

static void run(World* w, Kind kind) {
  switch (kind) {
    case FORWARD: tb_forward(w->m, w->d); break;
    case LINEARIZE:
      tb_step_linearize(w->m, w->d, NULL, w->x, NULL);
      tb_derivatives_dense(w->x, w->A, w->B);
      break;
    case PRODUCT: tb_derivatives_apply_transposed(w->x, w->A, w->PA, NULL, NULL, NULL); break;
    case DIFFERENCES: tb_step_differences(w->m, w->d, 1e-6, 0, w->FA, w->FB); break;
    case THEIR_FORWARD: peer_forward(w->peer); break;
    default: peer_transition(w->peer, 1e-6, 0, w->PA, w->PB);
  }
}

// The fastest of several repeats, all kinds in turn.
static void measure(World* w, int rounds, double best[NKINDS]) {
  for (int k = 0; k < NKINDS; k++) best[k] = INFINITY;
  for (int r = 0; r < rounds; r++) {
    for (int k = 0; k < NKINDS; k++) {
      if (k >= THEIR_FORWARD && !w->peer) continue;
      int calls = k == DIFFERENCES || k == THEIRS ? 1 : 10;
      double start = tb_seconds();
      for (int i = 0; i < calls; i++) run(w, (Kind)k);
      best[k] = fmin(best[k], (tb_seconds() - start) / calls);
    }
  }
}

static double error_of(const tbReal* a, const tbReal* b, size_t n) {
  double scale = 1, worst = 0;
  for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs(b[i]));
  for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]) / scale);
  return worst;
}

// Largest error of A over the columns in which differences of two sizes agree: others cross a kink.
// Of increments from 1e-6 to 1e-8 the best counts, since each has its own error.
static double judged_error(const World* w, tbReal* fine, int* judged) {
  int nx = w->nx;
  size_t n = (size_t)nx;
  double worst = 0, *best = calloc(n, sizeof(double));
  *judged = 0;
  for (int k = 0; best && k < nx; k++) best[k] = INFINITY;
  tb_step_differences(w->m, w->d, 1e-6, 1, w->FA, NULL);
  for (tbReal eps = 1e-7; best && eps > 5e-9; eps /= 10) {
    double scale = 1;
    tb_step_differences(w->m, w->d, eps, 1, fine, NULL);
    for (size_t i = 0; i < n * n; i++) scale = fmax(scale, fabs(w->A[i]));
    for (size_t k = 0; k < n; k++) {
      double apart = 0, error[2] = {0, 0};
      for (size_t i = 0; i < n; i++) {
        size_t at = i * n + k;
        apart = fmax(apart, fabs(fine[at] - w->FA[at]) / scale);
        error[0] = fmax(error[0], fabs(w->A[at] - w->FA[at]) / scale);
        error[1] = fmax(error[1], fabs(w->A[at] - fine[at]) / scale);
      }
      if (apart < 1e-4) best[k] = fmin(best[k], fmin(error[0], error[1]));
    }
    memcpy(w->FA, fine, sizeof(tbReal) * n * n);
  }
  for (int k = 0; best && k < nx; k++) {
    if (!isfinite(best[k])) continue;
    worst = fmax(worst, best[k]);
    (*judged)++;
  }
  free(best);
  return worst;
}

static void bench_case(tbBench* bench, tbTable* table, const Case* c) {
  World w;
  double best[NKINDS];
  if (open_world(&w, bench, c)) {
    tbDerivativeInfo info;
    size_t na = (size_t)w.nx * (size_t)w.nx;
    measure(&w, tb_bench_short(bench) ? 10 : 60, best);
    exactly(w.m);
    tb_step_linearize(w.m, w.d, NULL, w.x, &info);
    tb_derivatives_dense(w.x, w.A, w.B);
    int judged;
    double error = judged_error(&w, w.PA, &judged);
    tb_table_row(table);
    tb_table_text(table, "robot", c->name);
    tb_table_text(table, "law", tb_step_law_name(c->law));
    tb_table_int(table, "nv", w.m->nv);
    tb_table_int(table, "nu", w.m->nu);
    tb_table_int(table, "contacts", w.d->ncon);
    tb_table_int(table, "rows", info.rows);
    tb_table_bool(table, "differentiable", info.differentiable);
    tb_table_int(table, "tries", w.tries);
    tb_table_real(table, "step_us", 1e6 * best[FORWARD]);
    tb_table_real(table, "AB_us", 1e6 * best[LINEARIZE]);
    tb_table_real(table, "product_us", 1e6 * best[PRODUCT]);
    tb_table_real(table, "differences_us", 1e6 * best[DIFFERENCES]);
    tb_table_real(table, "error", error);
    tb_table_int(table, "columns", w.nx);
    tb_table_int(table, "judged", judged);
    tb_table_real(table, "faster_than_own", best[DIFFERENCES] / best[LINEARIZE]);
    if (w.peer) {
      tb_table_real(table, "mujoco_step_us", 1e6 * best[THEIR_FORWARD]);
      tb_table_real(table, "mujoco_us", 1e6 * best[THEIRS]);
      tb_table_real(table, "faster_than_mujoco", best[THEIRS] / best[LINEARIZE]);
      if (c->law == TB_LAW_SOFT) {
        double nearest = INFINITY;
        for (double eps = 1e-6; eps > 5e-9; eps /= 10) {
          peer_transition(w.peer, eps, 1, w.PA, w.PB);
          nearest = fmin(nearest, error_of(w.A, w.PA, na));
        }
        tb_table_real(table, "against_mujoco", nearest);
        // The same state must have the same acceleration for the derivatives to be comparable:
        // files newer than this MuJoCo lose attributes of actuators, and its equalities know no
        // drift.
        peer_acceleration(w.peer, w.PA);
        tb_table_real(table, "qacc_apart", error_of(w.d->qacc, w.PA, (size_t)w.m->nv));
      }
    }
  }
  close_world(&w);
}

void bench_steps(tbBench* bench) {
  tbTable* table = tb_bench_table(bench, "steps");
  for (int i = 0; i < NCASES; i++) {
    tb_bench_progress(bench, i, NCASES, CASES[i].name);
    bench_case(bench, table, &CASES[i]);
  }
  tb_bench_note(bench,
                "AB_us: the step and its A and B; differences: forward, eps 1e-6, one step per "
                "column (mjd_transitionFD skips what a column leaves unchanged). error: against "
                "centred differences, relative to the largest entry, in the columns where "
                "differences of two sizes agree. Target: humanoid at least 10 times faster than "
                "mjd_transitionFD.");
}
