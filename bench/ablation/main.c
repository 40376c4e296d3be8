// What each mechanism is for: the same steps with all of them, and without one at a time.
//
// Robots (own scenes, and those beside the project where they are) from three starts each, and
// heaps, walls and machines of many bodies. A row has the steps that end unsolved, the worst
// residual, and time and factorisations relative to all mechanisms on; a scene's runs follow each
// other.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ablation.h"
#include "base/rng.h"
#include "base/timer.h"
#include "common/bench.h"
#include "tribo/tribo.h"

unsigned tb_without;

typedef struct {
  const char* path;
  int family;  // 0: a robot, 1: many bodies
} Scene;

#define OWN(name) TB_SCENES_DIR "/" name ".xml"
#define ROBOT(name) TB_SHARED_DIR "/models/mujoco_menagerie/" name "/scene.xml"
static const Scene SCENES[] = {
    {OWN("quadruped"), 0},
    {OWN("humanoid"), 0},
    {OWN("biped"), 0},
    {OWN("hand"), 0},
    {OWN("arm"), 0},
    {OWN("ur5_wall"), 0},
    {OWN("delta"), 0},
    {OWN("muscle_leg"), 0},
    {OWN("cable_finger"), 0},
    {OWN("slider_crank"), 0},
    {OWN("coupled_hand"), 0},
    {OWN("grip"), 0},
    {ROBOT("agility_cassie"), 0},
    {ROBOT("unitree_g1"), 0},
    {ROBOT("unitree_go2"), 0},
    {ROBOT("anybotics_anymal_c"), 0},
    {ROBOT("universal_robots_ur5e"), 0},
    {ROBOT("booster_t1"), 0},
    {ROBOT("robotiq_2f85"), 0},
    {ROBOT("skydio_x2"), 0},
    {TB_SHARED_DIR "/models/mujoco_menagerie/leap_hand/scene_right.xml", 0},
    {OWN("stack"), 1},
    {OWN("heavy_on_light"), 1},
    {OWN("very_heavy_on_light"), 1},
    {OWN("card_house"), 1},
    {OWN("arch"), 1},
    {OWN("dominoes"), 1},
    {OWN("tower"), 1},
    {OWN("islands"), 1},
    {OWN("drop"), 1},
    {OWN("wall"), 1},
    {OWN("ragdoll_stairs"), 1},
    {OWN("rope_bridge"), 1},
    {OWN("weld_ring"), 1},
    {OWN("chain_drum"), 1},
    {OWN("rings_on_rod"), 1}};
enum { NSCENES = sizeof SCENES / sizeof SCENES[0], FAMILIES = 2, STARTS = 3 };
static const char* const FAMILY[FAMILIES] = {"robots", "many bodies"};

typedef struct {
  long steps, unsolved, factorizations, failed;
  double seconds, worst;
} Run;

// A start: the keyframe or the reference pose, lifted, and with velocities and controls at random.
static void place(const tbModel* m, tbData* d, int start) {
  tbRng rng = {(uint64_t)start + 3};
  if (m->nkey) tb_reset_keyframe(m, d, 0);
  for (int j = 0; j < m->njnt && start > 0; j++) {
    if (m->jnt_type[j] == TB_JOINT_FREE) d->qpos[m->jnt_qposadr[j] + 2] += 0.03 * start;
  }
  for (int i = 0; i < m->nv && start > 0; i++) d->qvel[i] = 0.3 * tb_rng_normal(&rng);
  for (int i = 0; i < m->nu && start == 2; i++) {
    int limited = m->actuator_ctrllimited[i];
    const tbReal* range = m->actuator_ctrlrange + 2 * i;
    d->ctrl[i] = limited ? tb_rng_uniform(&rng, range[0], range[1]) : 0.1 * tb_rng_normal(&rng);
  }
}

static void run_scene(const tbModel* m, int steps, Run* run) {
  for (int start = 0; start < STARTS; start++) {
    tbData* d = tb_data_new(m);
    if (!d) return;
    place(m, d, start);
    for (int i = 0; i < steps; i++) {
      double began = tb_seconds();
      tbResult result = tb_step(m, d);
      run->seconds += tb_seconds() - began;
      if (result != TB_OK) {
        run->failed++;
        break;
      }
      run->steps++;
      run->unsolved += d->solve.status != TB_SOLVE_CONVERGED;
      run->factorizations += d->solve.factorizations;
      run->worst = fmax(run->worst, d->solve.residual.relative);
    }
    tb_data_free(d);
  }
}

static const char* name_of(int mechanism, const char** what) {
  static const char* const NAMES[][2] = {
#define X(NAME, what) {#NAME, what},
      TB_MECHANISMS(X)
#undef X
  };
  *what = mechanism < 0 ? "" : NAMES[mechanism][1];
  return mechanism < 0 ? "(all on)" : NAMES[mechanism][0];
}

static void report(tbTable* table, int mechanism, int family, const Run* run, const Run* all) {
  const char *what, *name = name_of(mechanism, &what);
  tb_table_row(table);
  tb_table_text(table, "without", name);
  tb_table_text(table, "family", FAMILY[family]);
  tb_table_int(table, "steps", run->steps);
  tb_table_int(table, "unsolved", run->unsolved);
  tb_table_int(table, "failed", run->failed);
  tb_table_real(table, "worst_residual", run->worst);
  tb_table_real(table, "time", run->seconds / all->seconds);
  tb_table_real(
      table, "factorizations",
      (double)run->factorizations / (double)(all->factorizations ? all->factorizations : 1));
  tb_table_text(table, "what", what);
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("ablation", argc, argv);
  if (!bench) return 2;
  if (!tb_bench_check_arguments(bench)) return 2;
  int steps = tb_bench_short(bench) ? 40 : 300, done = 0;
  static Run run[TB_MECHANISM_COUNT + 1][FAMILIES];
  const int total = NSCENES * (TB_MECHANISM_COUNT + 1);
  for (int s = 0; s < NSCENES; s++) {
    tbError error;
    tbModel* m = tb_load(SCENES[s].path, NULL, &error);
    if (!m) {
      tb_bench_note(bench, "left out: %s", error.message);
      done += TB_MECHANISM_COUNT + 1;
      continue;
    }
    int few = SCENES[s].family == 1 ? steps / 3 : steps;
    for (int k = -1; k < TB_MECHANISM_COUNT; k++) {
      tb_without = k < 0 ? 0 : 1u << k;
      run_scene(m, few, &run[k + 1][SCENES[s].family]);
      tb_bench_progress(bench, ++done, total, SCENES[s].path);
    }
    tb_model_free(m);
  }
  tbTable* table = tb_bench_table(bench, "ablation");
  for (int family = 0; family < FAMILIES; family++) {
    for (int k = -1; k < TB_MECHANISM_COUNT; k++) {
      report(table, k, family, &run[k + 1][family], &run[0][family]);
    }
  }
  return tb_bench_close(bench);
}
