// Microseconds of each dynamics algorithm, ours and MuJoCo 2.2.2's, on the same compiled robots and
// the same states, measured in turn so that a loaded machine slows both alike.
//
// A cell is the fastest of many short bursts. MuJoCo has no articulated-body algorithm: against ABA
// stands what it does for the same result, CRBA, factorisation, RNEA and solve.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "common/bench.h"
#include "common/mujoco_model.h"

enum { STATES = 64 };

typedef struct {
  tbModel* m;
  tbData* d;
  mjModel* om;
  mjData* o;
  tbReal* qpos;  // STATES x nq
  tbReal* qvel;  // STATES x nv
  tbReal* force;
  int at;
} Robot;

// --- one call of each algorithm -------------------------------------------------------------

static void next_state(Robot* r) {
  r->at = (r->at + 1) % STATES;
  r->d->qpos = r->o->qpos = r->qpos + (size_t)r->at * (size_t)r->m->nq;
  r->d->qvel = r->o->qvel = r->qvel + (size_t)r->at * (size_t)r->m->nv;
}

static void our_kinematics(void* context) {
  Robot* r = (Robot*)context;
  next_state(r);
  tb_kinematics(r->m, r->d);
  tb_com_position(r->m, r->d);
}

static void their_kinematics(void* context) {
  Robot* r = (Robot*)context;
  next_state(r);
  mj_kinematics(r->om, r->o);
  mj_comPos(r->om, r->o);
}

static void our_crba(void* context) {
  Robot* r = (Robot*)context;
  tb_crb(r->m, r->d);
}

static void their_crba(void* context) {
  Robot* r = (Robot*)context;
  mj_crb(r->om, r->o);
}

static void our_factor(void* context) {
  Robot* r = (Robot*)context;
  tb_factor_m(r->m, r->d);
}

static void their_factor(void* context) {
  Robot* r = (Robot*)context;
  mj_factorM(r->om, r->o);
}

static void our_rnea(void* context) {
  Robot* r = (Robot*)context;
  next_state(r);
  tb_com_velocity(r->m, r->d);
  tb_rne(r->m, r->d, NULL, NULL, r->d->qfrc_bias);
}

static void their_rnea(void* context) {
  Robot* r = (Robot*)context;
  next_state(r);
  mj_comVel(r->om, r->o);
  mj_rne(r->om, r->o, 0, r->o->qfrc_bias);
}

static void our_aba(void* context) {
  Robot* r = (Robot*)context;
  tb_aba(r->m, r->d, r->force, NULL, r->d->qacc);
}

static void their_aba(void* context) {
  Robot* r = (Robot*)context;
  mj_crb(r->om, r->o);
  mj_factorM(r->om, r->o);
  mj_rne(r->om, r->o, 0, r->o->qfrc_bias);
  mju_sub(r->o->qacc, r->force, r->o->qfrc_bias, r->om->nv);
  mj_solveM(r->om, r->o, r->o->qacc, r->o->qacc, 1);
}

static void our_solve(void* context) {
  Robot* r = (Robot*)context;
  tb_solve_m(r->m, r->d, r->d->qacc, r->force, 1);
}

static void their_solve(void* context) {
  Robot* r = (Robot*)context;
  mj_solveM(r->om, r->o, r->o->qacc, r->force, 1);
}

static void our_forward(void* context) {
  Robot* r = (Robot*)context;
  our_kinematics(r);
  tb_com_velocity(r->m, r->d);
  tb_crb(r->m, r->d);
  tb_factor_m(r->m, r->d);
  tb_rne(r->m, r->d, NULL, NULL, r->d->qfrc_bias);
  tb_forward_dynamics(r->m, r->d, r->force, r->d->qacc);
}

static void their_forward(void* context) {
  Robot* r = (Robot*)context;
  their_kinematics(r);
  mj_comVel(r->om, r->o);
  their_aba(r);
}

typedef struct {
  const char* name;
  void (*ours)(void*);
  void (*theirs)(void*);
  bool counts;  // in the summary: the five algorithms of the target
} Algorithm;

static const Algorithm ALGORITHMS[] = {
    {"kinematics", our_kinematics, their_kinematics, true},
    {"crba", our_crba, their_crba, true},
    {"factor", our_factor, their_factor, true},
    {"rnea", our_rnea, their_rnea, true},
    {"aba", our_aba, their_aba, true},
    {"solve", our_solve, their_solve, false},
    {"forward", our_forward, their_forward, false},
};
enum { NALGORITHMS = sizeof ALGORITHMS / sizeof *ALGORITHMS };

// --- robots ---------------------------------------------------------------------------------

static const char* const ROBOTS[][3] = {
    {"humanoid", "mujoco/model/humanoid/humanoid.xml", NULL},
    {"talos", "mujoco_menagerie/pal_talos/talos_motor.xml", "talos.xml"},
    {"cassie", "mujoco_menagerie/agility_cassie/scene.xml", NULL},
    {"go2", "mujoco_menagerie/unitree_go2/scene.xml", NULL},
    {"g1", "mujoco_menagerie/unitree_g1/g1.xml", NULL},
    {"allegro", "mujoco_menagerie/wonik_allegro/scene_right.xml", NULL},
};
enum { NROBOTS = sizeof ROBOTS / sizeof *ROBOTS };

static bool robot_open(Robot* r, tbBench* bench, const char* const* robot) {
  char path[1024], error[1000] = "";
  memset(r, 0, sizeof *r);
  snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, robot[1]);
  r->om = tb_mujoco_load(path, robot[2], error);
  r->m = r->om ? tb_from_mujoco(r->om) : NULL;
  if (!r->m) {
    tb_bench_note(bench, "%s is left out: %s", robot[0], error);
    return false;
  }
  size_t nq = (size_t)r->m->nq, nv = (size_t)r->m->nv;
  r->d = tb_data_new(r->m);
  r->o = mj_makeData(r->om);
  r->qpos = calloc(STATES * nq, sizeof(tbReal));
  r->qvel = calloc(STATES * nv, sizeof(tbReal));
  r->force = calloc(nv, sizeof(tbReal));
  if (!r->d || !r->o || !r->qpos || !r->qvel || !r->force) return false;
  tbRng rng = {7};
  for (size_t i = 0; i < nv; i++) r->force[i] = tb_rng_normal(&rng);
  for (size_t s = 0; s < STATES; s++) {
    for (size_t i = 0; i < nq; i++) r->qpos[s * nq + i] = tb_rng_normal(&rng);
    for (size_t i = 0; i < nv; i++) r->qvel[s * nv + i] = tb_rng_normal(&rng);
    tb_normalize_quat(r->m, r->qpos + s * nq);
  }
  our_forward(r);
  their_forward(r);
  return true;
}

static void robot_close(Robot* r) {
  if (r->o) mj_deleteData(r->o);
  if (r->om) mj_deleteModel(r->om);
  tb_data_free(r->d);
  tb_model_free(r->m);
  free(r->qpos);
  free(r->qvel);
  free(r->force);
}

static double burst(void (*run)(void*), Robot* r, int calls) {
  double start = tb_seconds();
  for (int i = 0; i < calls; i++) run(r);
  return (tb_seconds() - start) / calls;
}

// Bursts of about 50 microseconds, ours and theirs in turn, and the fastest of each: short enough
// that most are not interrupted, whatever else the machine does.
static void measure(Robot* r, const Algorithm* a, int bursts, double best[2]) {
  void (*run[2])(void*) = {a->ours, a->theirs};
  for (int side = 0; side < 2; side++) {
    best[side] = INFINITY;
    for (int k = 0; k < 5; k++) best[side] = fmin(best[side], burst(run[side], r, 2));
  }
  int calls[2] = {1 + (int)(50e-6 / best[0]), 1 + (int)(50e-6 / best[1])};
  best[0] = best[1] = INFINITY;
  for (int k = 0; k < bursts; k++) {
    for (int side = 0; side < 2; side++) {
      best[side] = fmin(best[side], burst(run[side], r, calls[side]));
    }
  }
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("dynamics", argc, argv);
  if (!bench || !tb_bench_check_arguments(bench)) return 2;
  tbTable* table = tb_bench_table(bench, "dynamics");
  tbTable* summary = tb_bench_table(bench, "summary");
  int bursts = tb_bench_short(bench) ? 400 : 4000;
  double ratios[NROBOTS * NALGORITHMS], worst = 0;
  int nratios = 0;
  for (int i = 0; i < NROBOTS; i++) {
    Robot r;
    double robot_ratios[NALGORITHMS];
    int n = 0;
    if (robot_open(&r, bench, ROBOTS[i])) {
      for (int a = 0; a < NALGORITHMS; a++) {
        double best[2];
        tb_bench_progress(bench, i * NALGORITHMS + a, NROBOTS * NALGORITHMS, ROBOTS[i][0]);
        measure(&r, &ALGORITHMS[a], bursts, best);
        tb_table_row(table);
        tb_table_text(table, "robot", ROBOTS[i][0]);
        tb_table_int(table, "nv", r.m->nv);
        tb_table_text(table, "algorithm", ALGORITHMS[a].name);
        tb_table_real(table, "tribo_us", 1e6 * best[0]);
        tb_table_real(table, "mujoco_us", 1e6 * best[1]);
        tb_table_real(table, "ratio", best[0] / best[1]);
        if (ALGORITHMS[a].counts) ratios[nratios++] = robot_ratios[n++] = best[0] / best[1];
      }
      tb_table_row(summary);
      tb_table_text(summary, "robot", ROBOTS[i][0]);
      tb_table_real(summary, "geometric_mean_ratio", tb_bench_geomean(robot_ratios, n));
      worst = fmax(worst, tb_bench_geomean(robot_ratios, n));
    }
    robot_close(&r);
  }
  tb_table_row(summary);
  tb_table_text(summary, "robot", "all");
  tb_table_real(summary, "geometric_mean_ratio", tb_bench_geomean(ratios, nratios));
  tb_bench_note(
      bench,
      "Ratio: our time over MuJoCo %s's, over kinematics, CRBA, factorisation, RNEA and ABA "
      "(against CRBA + factorisation + RNEA + solve). Target: mean at most 0.6, no robot "
      "above 1; here %.3f and %.3f.",
      mj_versionString(), tb_bench_geomean(ratios, nratios), worst);
  return tb_bench_close(bench);
}
