// Steps per second of whole steps on one thread: every law of ours, and MuJoCo, in one run.
//
// Both start from the same state with the same controls, or the same feedback law. The time of a
// step is the fastest of several repeats of the whole motion, by the smaller of wall and processor
// time, which reduces the influence of other load on the machine. MuJoCo 2.2.2 is measured. The
// newest MuJoCo is an estimate: the number of 2.2.2 in this run times the ratio of both on one
// machine of 2026 (Scene.newest / Scene.debian).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "page/plot.h"
#include "sim_bench.h"

static const char* const KINDS[] = {"standing", "held", "drop", "many"};

typedef struct {
  tbBench* bench;
  tbTable *steps, *scaling;
  const char *scene, *law;  // only this one, or NULL
  tbModel* yardstick;       // where MuJoCo 2.2.2 tells the speed of this machine
  Scene yardstick_scene;
  double log_ratio, log_soft;  // over robots: ours over the newest MuJoCo
  int nratio, nsoft;
  double worst, worst_soft;
  const char *worst_name, *worst_soft_name;
  char many[400];  // what ncp did on scenes of many bodies
  double many_worst, many_depth;
  int nmany;
} Bench;

// ---- one scene ---------------------------------------------------------------------------------

// Results of all engines on one scene. `machine`: MuJoCo 2.2.2 on the reference scene in the same
// turns.
typedef struct {
  Run peer, machine, ours[TB_STEP_LAW_COUNT];
} Runs;

// The newest MuJoCo's steps per second here; `how` says where the number comes from.
static double newest_rate(const Bench* b, const Scene* scene, const Runs* runs, const char** how) {
  if (scene->newest > 0 && scene->debian > 0 && runs->peer.ok) {
    *how = "2.2.2 here x ratio";
    return run_rate(&runs->peer) * scene->newest / scene->debian;
  }
  if (scene->newest > 0 && runs->machine.ok) {
    *how = "anchor x machine";
    return scene->newest * run_rate(&runs->machine) / b->yardstick_scene.debian;
  }
  *how = "unknown";
  return NAN;
}

// The standing humanoid, whose rate both MuJoCos have on record.
static void load_yardstick(Bench* b) {
  char message[400];
  for (int i = 0; i < NSCENES && !b->yardstick; i++) {
    if (strcmp(SCENES[i].name, "humanoid") != 0 || SCENES[i].kind != STANDING) continue;
    b->yardstick_scene = SCENES[i];
    b->yardstick_scene.time = 0.6;
    b->yardstick = scene_model(&b->yardstick_scene, message, sizeof message);
  }
}

static void row_start(tbTable* t, const Scene* scene, const char* engine) {
  tb_table_row(t);
  tb_table_text(t, "scene", scene->name);
  tb_table_text(t, "mode", KINDS[scene->kind]);
  tb_table_text(t, "engine", engine);
}

static void row_common(tbTable* t, const Run* run) {
  tb_table_real(t, "steps_per_s", run_rate(run));
  tb_table_real(t, "p50_us", 1e6 * run_quantile(run, 0.5));
  tb_table_real(t, "p99_us", 1e6 * run_quantile(run, 0.99));
  tb_table_real(t, "contacts", run->contacts);
  tb_table_real(t, "depth_mean_mm", 1e3 * run->depth_mean);
  tb_table_real(t, "depth_max_mm", 1e3 * run->depth_max);
  tb_table_real(t, "residual_exact_mean", run->residual_mean);
  tb_table_real(t, "residual_exact_max", run->residual_max);
  tb_table_real(t, "iterations", run->iterations);
  tb_table_real(t, "sunk_m", run->sunk);
  tb_table_real(t, "KiB", (double)run->bytes / 1024);
}

static void add_many(Bench* b, const Scene* scene, const Run* run, double newest) {
  size_t used = strlen(b->many);
  double ratio = run_rate(run) / newest;
  snprintf(b->many + used, sizeof b->many - used,
           "%s%s %.2f (overlap %.2g mm, %d of %d unconverged)", used ? "; " : "", scene->name,
           ratio, 1e3 * run->depth_mean, run->unconverged, run->steps);
  if (!(newest > 0)) return;
  b->many_worst = b->nmany++ ? fmin(b->many_worst, ratio) : ratio;
  b->many_depth = fmax(b->many_depth, run->depth_mean);
}

static void add_law(Bench* b, const Scene* scene, int law, const Run* run, double newest) {
  row_start(b->steps, scene, tb_step_law_name(law));
  if (!run->ok) {
    tb_bench_note(b->bench, "%s %s, %s: %s", scene->name, KINDS[scene->kind], tb_step_law_name(law),
                  run->message);
    return;
  }
  row_common(b->steps, run);
  tb_table_real(b->steps, "over_newest", run_rate(run) / newest);
  tb_table_int(b->steps, "unconverged", run->unconverged);
  tb_table_real(b->steps, "residual_max", run->solved_max);
  static const char* const PHASES[] = {"dynamics_us", "collide_us", "assemble_us", "solve_us"};
  for (int k = 0; k < 4; k++) {
    tb_table_real(b->steps, PHASES[k], 1e6 * run->phase[k] / run_rate(run));
  }
  if (scene->kind == MANY && law == TB_LAW_NCP) add_many(b, scene, run, newest);
  // The newest MuJoCo was measured without control.
  if (scene->kind == MANY || scene->kind == HELD || !(newest > 0)) return;
  double ratio = run_rate(run) / newest;
  if (law == TB_LAW_NCP) {
    b->log_ratio += log(ratio);
    b->nratio++;
    if (!b->worst_name || ratio < b->worst) {
      b->worst = ratio;
      b->worst_name = scene->name;
    }
  } else if (law == TB_LAW_SOFT) {
    b->log_soft += log(ratio);
    b->nsoft++;
    if (!b->worst_soft_name || ratio < b->worst_soft) {
      b->worst_soft = ratio;
      b->worst_soft_name = scene->name;
    }
  }
}

static bool wants_law(const Bench* b, const Scene* scene, int law) {
  if (b->law) return strcmp(b->law, tb_step_law_name(law)) == 0;
  bool main_law = law == TB_LAW_NCP || law == TB_LAW_SOFT;
  return main_law || (!tb_bench_short(b->bench) && scene->kind != MANY);
}

// All engines in turn, `repeats` times: a machine whose speed changes does so for all of them.
static void run_scene(const Bench* b, const tbModel* m, const Scene* scene, int repeats,
                      Runs* runs) {
  char* text = scene->path ? NULL : scene_text(scene->name);
  for (int r = 0; r < repeats; r++) {
    Run one;
    if (b->yardstick) {
      run_peer(b->yardstick, &b->yardstick_scene, NULL, &one);
      run_merge(&runs->machine, &one);
    }
    run_peer(m, scene, text, &one);
    run_merge(&runs->peer, &one);
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      if (!wants_law(b, scene, law)) continue;
      run_ours(m, scene, law, &one);
      run_merge(&runs->ours[law], &one);
    }
  }
  free(text);
}

static void bench_scene(Bench* b, const Scene* scene) {
  char message[400];
  Scene shorter = *scene;
  int repeats = scene->kind == MANY ? 2 : 5;
  if (tb_bench_short(b->bench)) {
    shorter.time = scene->kind == MANY ? 0.12 : 0.6;
    repeats = scene->kind == MANY ? 1 : 3;
  }
  tbModel* m = scene_model(&shorter, message, sizeof message);
  if (!m) {
    tb_bench_note(b->bench, "%s is left out: %s", scene->name, message);
    return;
  }
  Runs runs = {0};
  run_scene(b, m, &shorter, repeats, &runs);
  if (runs.peer.ok) {
    row_start(b->steps, scene, "mujoco 2.2.2");
    row_common(b->steps, &runs.peer);
  } else {
    tb_bench_note(b->bench, "%s %s, MuJoCo: %s", scene->name, KINDS[scene->kind],
                  runs.peer.message);
  }
  const char* how;
  double newest = newest_rate(b, scene, &runs, &how);
  if (newest > 0) {
    row_start(b->steps, scene, "mujoco newest");
    tb_table_real(b->steps, "steps_per_s", newest);
    tb_table_text(b->steps, "estimate", how);
  }
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (wants_law(b, scene, law)) add_law(b, scene, law, &runs.ours[law], newest);
    run_free(&runs.ours[law]);
  }
  run_free(&runs.peer);
  run_free(&runs.machine);
  tb_model_free(m);
}

// ---- scaling -----------------------------------------------------------------------------------

// The exponent of the fit, and the memory of a world.
static void claim_scaling(Bench* b, double power, double bytes_per_body) {
  char ours[160];
  snprintf(ours, sizeof ours, "contacts to the power %.2f; %.1f KiB of memory per body", power,
           bytes_per_body / 1024);
  tb_bench_claim(
      b->bench,
      (tbClaim){"Issue: scaling", "Time of a step of the exact law on heaps of 10 to 2000 bodies.",
                "(asked for: at most contacts to the power 1.15)", ours,
                power <= 1.15 ? TB_VERDICT_BETTER : TB_VERDICT_DIFFERS,
                power <= 1.15 ? NULL
                              : "Large islands need many sweeps over what is unsettled, small "
                                "ones only a round or two of Newton's method.",
                "sim_scaling.svg"});
}

enum { NCP, PEER, SIDES, NSIZES = 8 };
static const char* const SIDE_NAMES[] = {"ncp", "mujoco 2.2.2"};

typedef struct {
  int bodies;
  Run run[SIDES];
} Pile;

// Both engines on one pile, once more.
static void run_pile(const Bench* b, Pile* pile) {
  // MuJoCo 2.2.2 takes minutes beyond.
  enum { MOST_PEER = 500 };
  tbError error;
  Run one;
  char* text = pile_text(pile->bodies);
  tbModel* m = text ? tb_load_string(text, NULL, NULL, &error) : NULL;
  Scene scene = {.name = "pile", .kind = MANY, .dt = 0.002};
  scene.time = tb_bench_short(b->bench) ? 0.2 : 0.36;
  if (m) {
    run_ours(m, &scene, TB_LAW_NCP, &one);
    run_merge(&pile->run[NCP], &one);
  }
  if (m && pile->bodies <= MOST_PEER) {
    run_peer(m, &scene, text, &one);
    run_merge(&pile->run[PEER], &one);
  }
  free(text);
  tb_model_free(m);
}

static void add_pile(Bench* b, const Pile* pile, int side) {
  const Run* run = &pile->run[side];
  tb_table_row(b->scaling);
  tb_table_int(b->scaling, "bodies", pile->bodies);
  tb_table_text(b->scaling, "engine", SIDE_NAMES[side]);
  if (!run->ok) return;
  tb_table_real(b->scaling, "contacts", run->contacts);
  tb_table_real(b->scaling, "ms_per_step", 1e3 / run_rate(run));
  tb_table_real(b->scaling, "p99_ms", 1e3 * run_quantile(run, 0.99));
  tb_table_real(b->scaling, "depth_mean_mm", 1e3 * run->depth_mean);
  tb_table_int(b->scaling, "unconverged", run->unconverged);
  tb_table_real(b->scaling, "KiB", (double)run->bytes / 1024);
}

static void plot_scaling(const Bench* b, double contacts[][NSIZES], double seconds[][NSIZES],
                         const int* n) {
  const char* path = tb_bench_path(b->bench, "sim_scaling.svg");
  if (!path) return;
  tbPlot* plot = tb_plot_new("time of a step against contacts", 1, 1);
  tb_plot_panel(plot, "piles of 10 to 2000 bodies", "contacts", "seconds per step", true, true);
  for (int side = 0; side < SIDES; side++) {
    tb_plot_line(plot, SIDE_NAMES[side], contacts[side], seconds[side], n[side], false);
  }
  tb_plot_write(plot, path);
}

// All sizes in turn, several times: the speed of the machine, where it changes, is not taken for
// growth.
static void bench_scaling(Bench* b) {
  enum { TURNS = 3 };
  static const int BODIES[NSIZES] = {10, 20, 50, 100, 200, 500, 1000, 2000};
  Pile piles[NSIZES] = {0};
  int count = tb_bench_short(b->bench) ? 4 : NSIZES, n[SIDES] = {0};
  double contacts[SIDES][NSIZES], seconds[SIDES][NSIZES], bytes_per_body = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int i = 0; i < count; i++) {
      tb_bench_progress(b->bench, turn * count + i, TURNS * count, "piles");
      piles[i].bodies = BODIES[i];
      run_pile(b, &piles[i]);
    }
  }
  for (int i = 0; i < count; i++) {
    for (int side = 0; side < SIDES; side++) {
      Run* run = &piles[i].run[side];
      if (run->steps > 0) add_pile(b, &piles[i], side);
      if (run->ok) {
        contacts[side][n[side]] = run->contacts;
        seconds[side][n[side]++] = 1 / run_rate(run);
        if (side == NCP) bytes_per_body = (double)run->bytes / piles[i].bodies;
      }
      run_free(run);
    }
  }
  for (int side = 0; side < SIDES; side++) {
    if (n[side] < 2) continue;
    tb_bench_note(b->bench, "%s: time of a step grows as contacts to the power %.3f",
                  SIDE_NAMES[side], tb_bench_exponent(contacts[side], seconds[side], n[side]));
  }
  if (n[NCP] == NSIZES) {
    claim_scaling(b, tb_bench_exponent(contacts[NCP], seconds[NCP], n[NCP]), bytes_per_body);
  }
  plot_scaling(b, contacts, seconds, n);
}

// ---- claims ------------------------------------------------------------------------------------

static void summarise(Bench* b) {
  if (b->nratio > 0) {
    tb_bench_note(b->bench,
                  "ncp over the newest MuJoCo (estimate): geometric mean %.2f over %d robots, "
                  "least %.2f (%s). Target: at least 2, none below 1.",
                  exp(b->log_ratio / b->nratio), b->nratio, b->worst, b->worst_name);
  }
  if (b->nratio > 0) {
    bool good = b->worst >= 1 && b->log_ratio / b->nratio >= log(2);
    char ours[160];
    snprintf(ours, sizeof ours, "%.2f times in geometric mean over %d robots, least %.2f (%s)",
             exp(b->log_ratio / b->nratio), b->nratio, b->worst, b->worst_name);
    tb_bench_claim(
        b->bench,
        (tbClaim){"Anchors",
                  "Steps per second of the exact law over the newest MuJoCo's "
                  "(estimated from 2.2.2 in the same run).",
                  "(asked for: 2 times, none below 1)", ours,
                  good ? TB_VERDICT_BETTER : TB_VERDICT_DIFFERS,
                  good ? NULL : "Hard steps of the exact law take several times a usual one.",
                  NULL});
  }
  if (b->nsoft > 0) {
    tb_bench_note(b->bench,
                  "soft over the newest MuJoCo (estimate): geometric mean %.2f, least %.2f (%s).",
                  exp(b->log_soft / b->nsoft), b->worst_soft, b->worst_soft_name);
  }
  if (b->nmany > 0) {
    bool good = b->many_worst >= 2 && b->many_depth < 1e-4;
    tb_bench_claim(b->bench,
                   (tbClaim){"Anchors",
                             "Scenes of many bodies: steps per second of the exact law over the "
                             "newest MuJoCo's (estimated).",
                             "(asked for: 2 times, mean overlap below 0.1 mm)", b->many,
                             good ? TB_VERDICT_BETTER : TB_VERDICT_DIFFERS,
                             good ? NULL
                                  : "Rigid contacts of a large island take some ten factorisations "
                                    "where MuJoCo's soft ones take three.",
                             NULL});
  }
}

// The first scene of that name (robots stand and fall under the same one), or -1.
static int scene_index(const char* name) {
  for (int i = 0; i < NSCENES; i++) {
    if (strcmp(name, SCENES[i].name) == 0) return i;
  }
  return -1;
}

int main(int argc, char** argv) {
  Bench b = {.bench = tb_bench_open("sim", argc, argv)};
  if (!b.bench) return 2;
  b.scene = tb_bench_option(b.bench, "scene", NULL);
  b.law = tb_bench_option(b.bench, "law", NULL);
  const char* mode = tb_bench_option(b.bench, "mode", NULL);
  if (!tb_bench_check_arguments(b.bench)) return 2;
  bool known = !mode || strcmp(mode, "scaling") == 0;
  for (int k = STANDING; k <= MANY && !known; k++) known = strcmp(mode, KINDS[k]) == 0;
  if (!known) {
    fprintf(stderr, "--mode %s: expected standing, held, drop, many or scaling\n", mode);
    return 2;
  }
  if (b.scene && scene_index(b.scene) < 0) {
    fprintf(stderr, "--scene %s: expected one of", b.scene);
    for (int i = 0; i < NSCENES; i++) {
      if (scene_index(SCENES[i].name) == i) fprintf(stderr, " '%s'", SCENES[i].name);
    }
    fprintf(stderr, "\n");
    return 2;
  }
  b.steps = tb_bench_table(b.bench, "steps");
  b.scaling = tb_bench_table(b.bench, "scaling");
  load_yardstick(&b);
  for (int i = 0; i < NSCENES; i++) {
    if (b.scene && strcmp(b.scene, SCENES[i].name) != 0) continue;
    if (mode && strcmp(mode, KINDS[SCENES[i].kind]) != 0) continue;
    tb_bench_progress(b.bench, i, NSCENES, SCENES[i].name);
    bench_scene(&b, &SCENES[i]);
  }
  if (!b.scene && (!mode || strcmp(mode, "scaling") == 0)) bench_scaling(&b);
  summarise(&b);
  if (peer_version()) {
    tb_bench_note(b.bench,
                  "MuJoCo %s is measured here. Its residuals: contact forces and the velocity "
                  "after the step under the exact law, contacts only, some hundred steps.",
                  peer_version());
  }
  tb_model_free(b.yardstick);
  return tb_bench_close(b.bench);
}
