// Microseconds of each dynamics algorithm, ours and MuJoCo 2.2.2's, on the same robots and states,
// measured in turn so that other load slows both alike.
//
// A cell is the fastest of many short bursts. MuJoCo has no articulated-body algorithm: ABA is
// compared with the functions that give the same result there, CRBA, factorisation, RNEA and solve.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "common/bench.h"
#include "peer.h"
#include "tribo/dynamics.h"

enum { STATES = 64 };

typedef struct {
  tbModel* m;
  tbData* d;
  tbReal* own_qpos;  // of d, given back before it is freed
  tbReal* own_qvel;
  Peer* peer;
  tbReal* qpos;  // STATES x nq
  tbReal* qvel;  // STATES x nv
  tbReal* force;
  int at;
} Robot;

static const char* const NAMES[] = {"kinematics", "crba",  "factor", "rnea",
                                    "aba",        "solve", "forward"};

// The five algorithms of the target come first.
enum { NCOUNTED = ABA + 1 };

static void run_ours(Robot* r, Algorithm algorithm) {
  const tbModel* m = r->m;
  tbData* d = r->d;
  switch (algorithm) {
    case KINEMATICS:
      tb_kinematics(m, d);
      tb_com_position(m, d);
      break;
    case CRBA: tb_crb(m, d); break;
    case FACTOR: tb_factor_m(m, d); break;
    case RNEA:
      tb_com_velocity(m, d);
      tb_rne(m, d, NULL, NULL, d->qfrc_bias);
      break;
    case ABA: tb_aba(m, d, r->force, NULL, d->qacc); break;
    case SOLVE: tb_solve_m(m, d, d->qacc, r->force, 1); break;
    default:
      tb_kinematics(m, d);
      tb_com_position(m, d);
      tb_com_velocity(m, d);
      tb_crb(m, d);
      tb_factor_m(m, d);
      tb_rne(m, d, NULL, NULL, d->qfrc_bias);
      tb_forward_dynamics(m, d, r->force, d->qacc);
  }
}

static void next_state(Robot* r) {
  r->at = (r->at + 1) % STATES;
  r->d->qpos = r->qpos + (size_t)r->at * (size_t)r->m->nq;
  r->d->qvel = r->qvel + (size_t)r->at * (size_t)r->m->nv;
  if (r->peer) peer_state(r->peer, r->d->qpos, r->d->qvel);
}

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

// Do both sides hold the same robot? Sizes, and where the bodies are at the current state. Masses
// may differ: MuJoCo 2.2.2 takes the volume of a mesh differently from later versions, and from us.
static bool same_robot(const Robot* r) {
  if (peer_nv(r->peer) != r->m->nv || peer_nbody(r->peer) != r->m->nbody ||
      peer_ngeom(r->peer) != r->m->ngeom) {
    return false;
  }
  const double* theirs = peer_xpos(r->peer);
  for (int i = 0; i < 3 * r->m->nbody; i++) {
    if (!(fabs(r->d->xpos[i] - theirs[i]) < 1e-6)) return false;
  }
  return true;
}

static bool robot_open(Robot* r, tbBench* bench, const char* const* robot) {
  char path[1024], message[1200] = "";
  tbError error = {0};
  memset(r, 0, sizeof *r);
  snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, robot[1]);
  r->m = tb_load(path, NULL, &error);
  r->d = r->m ? tb_data_new(r->m) : NULL;
  if (!r->d) {
    tb_bench_note(bench, "%s is left out: %s", robot[0], error.message);
    return false;
  }
  size_t nq = (size_t)r->m->nq, nv = (size_t)r->m->nv;
  r->own_qpos = r->d->qpos;
  r->own_qvel = r->d->qvel;
  r->qpos = calloc(STATES * nq, sizeof(tbReal));
  r->qvel = calloc(STATES * nv, sizeof(tbReal));
  r->force = calloc(nv, sizeof(tbReal));
  if (!r->qpos || !r->qvel || !r->force) return false;
  tbRng rng = {7};
  for (size_t i = 0; i < nv; i++) r->force[i] = tb_rng_normal(&rng);
  for (size_t s = 0; s < STATES; s++) {
    for (size_t i = 0; i < nq; i++) r->qpos[s * nq + i] = tb_rng_normal(&rng);
    for (size_t i = 0; i < nv; i++) r->qvel[s * nv + i] = tb_rng_normal(&rng);
    tb_normalize_quat(r->m, r->qpos + s * nq);
  }
  r->peer = peer_open(path, robot[2], message, sizeof message);
  if (!r->peer) tb_bench_note(bench, "%s alone: %s", robot[0], message);
  next_state(r);
  run_ours(r, FORWARD);
  if (r->peer) {
    peer_run(r->peer, FORWARD, r->force);
    if (!same_robot(r)) {
      tb_bench_note(bench, "%s alone: MuJoCo's model of it is another robot", robot[0]);
      peer_close(r->peer);
      r->peer = NULL;
    }
  }
  return true;
}

static void robot_close(Robot* r) {
  peer_close(r->peer);
  if (r->d) {
    r->d->qpos = r->own_qpos;
    r->d->qvel = r->own_qvel;
  }
  tb_data_free(r->d);
  tb_model_free(r->m);
  free(r->qpos);
  free(r->qvel);
  free(r->force);
}

// --- timing ---------------------------------------------------------------------------------

static double burst(Robot* r, Algorithm algorithm, int side, int calls) {
  double start = tb_seconds();
  for (int i = 0; i < calls; i++) {
    next_state(r);
    if (side == 0) {
      run_ours(r, algorithm);
    } else {
      peer_run(r->peer, algorithm, r->force);
    }
  }
  return (tb_seconds() - start) / calls;
}

// Bursts of about 50 microseconds, ours and theirs in turn, and the fastest of each: short enough
// that most are not interrupted, whatever else the machine does.
static void measure(Robot* r, Algorithm algorithm, int bursts, double best[2]) {
  int sides = r->peer ? 2 : 1, calls[2] = {1, 1};
  for (int side = 0; side < sides; side++) {
    double first = INFINITY;
    for (int k = 0; k < 5; k++) first = fmin(first, burst(r, algorithm, side, 2));
    calls[side] = 1 + (int)(50e-6 / first);
  }
  best[0] = best[1] = INFINITY;
  for (int k = 0; k < bursts; k++) {
    for (int side = 0; side < sides; side++) {
      best[side] = fmin(best[side], burst(r, algorithm, side, calls[side]));
    }
  }
}

// All algorithms of one robot: rows of the table, and the ratios of the counted ones.
static int bench_robot(Robot* r, tbBench* bench, tbTable* table, int index, double* ratios) {
  int n = 0, bursts = tb_bench_short(bench) ? 400 : 4000;
  for (int a = 0; a < NALGORITHMS; a++) {
    double best[2];
    tb_bench_progress(bench, index * NALGORITHMS + a, NROBOTS * NALGORITHMS, ROBOTS[index][0]);
    measure(r, (Algorithm)a, bursts, best);
    tb_table_row(table);
    tb_table_text(table, "robot", ROBOTS[index][0]);
    tb_table_int(table, "nv", r->m->nv);
    tb_table_text(table, "algorithm", NAMES[a]);
    tb_table_real(table, "tribo_us", 1e6 * best[0]);
    if (!r->peer) continue;
    tb_table_real(table, "mujoco_us", 1e6 * best[1]);
    tb_table_real(table, "ratio", best[0] / best[1]);
    if (a < NCOUNTED) ratios[n++] = best[0] / best[1];
  }
  return n;
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("dynamics", argc, argv);
  if (!bench || !tb_bench_check_arguments(bench)) return 2;
  tbTable* table = tb_bench_table(bench, "dynamics");
  tbTable* summary = tb_bench_table(bench, "summary");
  double ratios[NROBOTS * NALGORITHMS], worst = 0;
  int total = 0;
  for (int i = 0; i < NROBOTS; i++) {
    Robot r;
    if (robot_open(&r, bench, ROBOTS[i])) {
      int n = bench_robot(&r, bench, table, i, ratios + total);
      if (n > 0) {
        double mean = tb_bench_geomean(ratios + total, n);
        tb_table_row(summary);
        tb_table_text(summary, "robot", ROBOTS[i][0]);
        tb_table_real(summary, "geometric_mean_ratio", mean);
        worst = fmax(worst, mean);
      }
      total += n;
    }
    robot_close(&r);
  }
  if (total > 0) {
    tb_table_row(summary);
    tb_table_text(summary, "robot", "all");
    tb_table_real(summary, "geometric_mean_ratio", tb_bench_geomean(ratios, total));
    tb_bench_note(
        bench,
        "Ratio: our time over MuJoCo %s's, over kinematics, CRBA, factorisation, RNEA and "
        "ABA (against CRBA + factorisation + RNEA + solve). Files that are newer than it are "
        "loaded there without the attributes it does not know; none changes dynamics. "
        "Target: mean at most 0.6, no robot above 1; here %.3f and %.3f.",
        peer_version(), tb_bench_geomean(ratios, total), worst);
  }
  return tb_bench_close(bench);
}
