// Steps per second of whole steps on one thread: every law of ours, and MuJoCo, in one run.
//
// Both start from the same state with the same controls. A step's time is the fastest of several
// repeats of the whole motion, so that what else the machine does hardly shows. MuJoCo 2.2.2 is
// measured; the newest MuJoCo is an estimate: 2.2.2's number of this run times how much faster the
// newest was on one machine of 2026 where both were measured (Scene.newest / Scene.debian).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "common/plot.h"
#include "sim_bench.h"

static const char* const KINDS[] = {"standing", "drop", "many"};

typedef struct {
  tbBench* bench;
  tbTable *steps, *scaling;
  const char *scene, *law;  // only this one, or NULL
  double log_machine;       // speed of this machine over that of the anchors, by MuJoCo 2.2.2
  int nmachine;
  double log_ratio, log_soft;  // over robots: ours over the newest MuJoCo
  int nratio, nsoft;
  double worst, worst_soft;
  const char *worst_name, *worst_soft_name;
} Bench;

// ---- one scene ---------------------------------------------------------------------------------

// The newest MuJoCo's steps per second here; `how` says where the number comes from.
static double newest_rate(const Bench* b, const Scene* scene, const Run* peer, const char** how) {
  if (scene->newest > 0 && scene->debian > 0 && peer->ok) {
    *how = "2.2.2 here x ratio";
    return run_rate(peer) * scene->newest / scene->debian;
  }
  if (scene->newest > 0 && b->nmachine > 0) {
    *how = "anchor x machine";
    return scene->newest * exp(b->log_machine / b->nmachine);
  }
  *how = "unknown";
  return NAN;
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
  tb_table_real(t, "KiB", (double)run->bytes / 1024);
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
  if (scene->kind == MANY || !(newest > 0)) return;
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

  // MuJoCo first: its rate is what ours are compared with.
  Run peer;
  char* text = scene->path ? NULL : scene_text(scene->name);
  run_peer(m, &shorter, text, repeats, &peer);
  free(text);
  if (peer.ok) {
    row_start(b->steps, scene, "mujoco 2.2.2");
    row_common(b->steps, &peer);
    if (scene->debian > 0) {
      b->log_machine += log(run_rate(&peer) / scene->debian);
      b->nmachine++;
    }
  } else {
    tb_bench_note(b->bench, "%s %s, MuJoCo: %s", scene->name, KINDS[scene->kind], peer.message);
  }
  const char* how;
  double newest = newest_rate(b, scene, &peer, &how);
  if (newest > 0) {
    row_start(b->steps, scene, "mujoco newest");
    tb_table_real(b->steps, "steps_per_s", newest);
    tb_table_text(b->steps, "estimate", how);
  }
  run_free(&peer);

  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    bool main_law = law == TB_LAW_NCP || law == TB_LAW_SOFT;
    if (b->law && strcmp(b->law, tb_step_law_name(law)) != 0) continue;
    if (!b->law && !main_law && (tb_bench_short(b->bench) || scene->kind == MANY)) continue;
    Run run;
    run_ours(m, &shorter, law, repeats, &run);
    add_law(b, scene, law, &run, newest);
    run_free(&run);
  }
  tb_model_free(m);
}

// ---- scaling -----------------------------------------------------------------------------------

static void bench_scaling(Bench* b) {
  static const int BODIES[] = {10, 20, 50, 100, 200, 500, 1000, 2000};
  enum { NSIZES = sizeof BODIES / sizeof *BODIES };
  int count = tb_bench_short(b->bench) ? 4 : NSIZES, n[2] = {0, 0};
  double contacts[2][NSIZES], seconds[2][NSIZES];
  for (int i = 0; i < count; i++) {
    tb_bench_progress(b->bench, i, count, "piles");
    char* text = pile_text(BODIES[i]);
    tbError error;
    tbModel* m = text ? tb_load_string(text, NULL, NULL, &error) : NULL;
    Scene scene = {.name = "pile", .kind = MANY, .dt = 0.002};
    scene.time = tb_bench_short(b->bench) ? 0.2 : 0.6;
    for (int side = 0; m && side < 2; side++) {
      Run run;
      if (side == 0) {
        run_ours(m, &scene, TB_LAW_NCP, 1, &run);
      } else {
        run_peer(m, &scene, text, 1, &run);
      }
      tb_table_row(b->scaling);
      tb_table_int(b->scaling, "bodies", BODIES[i]);
      tb_table_text(b->scaling, "engine", side ? "mujoco 2.2.2" : "ncp");
      if (run.ok) {
        tb_table_real(b->scaling, "contacts", run.contacts);
        tb_table_real(b->scaling, "ms_per_step", 1e3 / run_rate(&run));
        tb_table_real(b->scaling, "p99_ms", 1e3 * run_quantile(&run, 0.99));
        tb_table_real(b->scaling, "depth_mean_mm", 1e3 * run.depth_mean);
        tb_table_int(b->scaling, "unconverged", run.unconverged);
        tb_table_real(b->scaling, "KiB", (double)run.bytes / 1024);
        contacts[side][n[side]] = run.contacts;
        seconds[side][n[side]++] = 1 / run_rate(&run);
      }
      run_free(&run);
    }
    free(text);
    tb_model_free(m);
  }
  for (int side = 0; side < 2; side++) {
    if (n[side] < 2) continue;
    tb_bench_note(b->bench, "%s: time of a step grows as contacts to the power %.3f",
                  side ? "mujoco 2.2.2" : "ncp",
                  tb_bench_exponent(contacts[side], seconds[side], n[side]));
  }
  const char* path = tb_bench_path(b->bench, "sim_scaling.svg");
  if (!path) return;
  tbPlot* plot = tb_plot_new("time of a step against contacts", 1, 1);
  tb_plot_panel(plot, "piles of 10 to 2000 bodies", "contacts", "seconds per step", true, true);
  tb_plot_line(plot, "ncp", contacts[0], seconds[0], n[0], false);
  tb_plot_line(plot, "mujoco 2.2.2", contacts[1], seconds[1], n[1], false);
  tb_plot_write(plot, path);
}

int main(int argc, char** argv) {
  Bench b = {.bench = tb_bench_open("sim", argc, argv)};
  if (!b.bench) return 2;
  b.scene = tb_bench_option(b.bench, "scene", NULL);
  b.law = tb_bench_option(b.bench, "law", NULL);
  const char* mode = tb_bench_option(b.bench, "mode", NULL);
  if (!tb_bench_check_arguments(b.bench)) return 2;
  b.steps = tb_bench_table(b.bench, "steps");
  b.scaling = tb_bench_table(b.bench, "scaling");
  for (int i = 0; i < NSCENES; i++) {
    if (b.scene && strcmp(b.scene, SCENES[i].name) != 0) continue;
    if (mode && strcmp(mode, KINDS[SCENES[i].kind]) != 0) continue;
    tb_bench_progress(b.bench, i, NSCENES, SCENES[i].name);
    bench_scene(&b, &SCENES[i]);
  }
  if (!b.scene && (!mode || strcmp(mode, "scaling") == 0)) bench_scaling(&b);
  if (b.nratio > 0) {
    tb_bench_note(b.bench,
                  "ncp over the newest MuJoCo (estimate): geometric mean %.2f over %d robots, "
                  "least %.2f (%s). Target: at least 2, none below 1.",
                  exp(b.log_ratio / b.nratio), b.nratio, b.worst, b.worst_name);
  }
  if (b.nratio > 0) {
    char ours[160];
    snprintf(ours, sizeof ours, "%.2f times in geometric mean over %d robots, least %.2f (%s)",
             exp(b.log_ratio / b.nratio), b.nratio, b.worst, b.worst_name);
    tb_bench_claim(
        b.bench,
        (tbClaim){
            "Anchors",
            "Steps per second of the exact law over the newest MuJoCo's "
            "(estimated from 2.2.2 in the same run).",
            "(asked for: 2 times, none below 1)", ours,
            b.worst >= 1 ? TB_VERDICT_BETTER : TB_VERDICT_DIFFERS,
            b.worst >= 1 ? NULL : "The exact law costs more than the relaxed one on these robots.",
            NULL});
  }
  if (b.nsoft > 0) {
    tb_bench_note(b.bench,
                  "soft over the newest MuJoCo (estimate): geometric mean %.2f, least %.2f (%s).",
                  exp(b.log_soft / b.nsoft), b.worst_soft, b.worst_soft_name);
  }
  if (peer_version()) {
    tb_bench_note(b.bench,
                  "MuJoCo %s is measured here. Its residuals: contact forces and the velocity "
                  "after the step under the exact law, contacts only, some hundred steps.",
                  peer_version());
  }
  return tb_bench_close(b.bench);
}
