// CM fig. 5 and table I: a simulator finds collisions, computes the dynamics, resolves the contacts
// and integrates. What share of a step each stage takes, on robots that are pushed around.
#include <math.h>
#include <stdio.h>

#include "cm.h"

enum { SCENES = 5, STAGES = 4, MOST_STEPS = 1000 };

static const struct {
  const char *name, *path;
} SCENE[SCENES] = {
    {"quadruped", TB_SCENES_DIR "/quadruped.xml"},
    {"humanoid", TB_SCENES_DIR "/humanoid.xml"},
    {"hand", TB_SCENES_DIR "/hand.xml"},
    {"tower of boxes", TB_SCENES_DIR "/tower.xml"},
    {"talos", TB_SHARED_DIR "/models/mujoco_menagerie/pal_talos/scene_position.xml"},
};
static const char* const STAGE[STAGES] = {"collision detection", "dynamics", "contact problem",
                                          "contact solver"};

// Median microseconds of each stage over the steps (others may use the machine too); false if a
// step failed.
static bool measure(const char* path, int steps, double stage[STAGES], double* total) {
  static double seconds[STAGES + 1][MOST_STEPS];
  tbModel* m = load_scene(path);
  tbData* d = m ? tb_data_new(m) : NULL;
  bool ok = d != NULL;
  if (ok && m->nkey) tb_reset_keyframe(m, d, 0);
  for (int i = -20; ok && i < steps; i++) {
    for (int k = 0; k < 3; k++) d->xfrc_applied[6 + k] = 5 * sin(2 * d->time + k);
    ok = tb_step(m, d) == TB_OK;
    if (i < 0) continue;
    const double now[STAGES + 1] = {d->seconds.collide, d->seconds.dynamics, d->seconds.assemble,
                                    d->seconds.solve, d->seconds.total};
    for (int k = 0; k <= STAGES; k++) seconds[k][i] = now[k];
  }
  for (int k = 0; k < STAGES; k++) stage[k] = 1e6 * tb_bench_median(seconds[k], steps);
  *total = 1e6 * tb_bench_median(seconds[STAGES], steps);
  tb_data_free(d);
  tb_model_free(m);
  return ok;
}

void cm_stages(tbBench* bench) {
  tbTable* table = tb_bench_table(bench, "fig5_stages");
  tbPlot* plot = tb_plot_new("Where the time of a step goes (CM fig. 5)", 1, 1);
  const char* names[SCENES];
  double bars[STAGES][SCENES], worst = 0;
  int count = 0;
  for (int s = 0; s < SCENES; s++) {
    double stage[STAGES] = {0}, total = 0, sum = 0;
    if (!measure(SCENE[s].path, tb_bench_short(bench) ? 200 : MOST_STEPS, stage, &total)) continue;
    tb_table_row(table);
    tb_table_text(table, "scene", SCENE[s].name);
    tb_table_real(table, "step_us", total);
    for (int k = 0; k < STAGES; k++) {
      char column[64];
      snprintf(column, sizeof column, "%s_us", STAGE[k]);
      tb_table_real(table, column, stage[k]);
      bars[k][count] = stage[k];
      sum += stage[k];
    }
    worst = fmax(worst, fabs(1 - sum / total));
    names[count++] = SCENE[s].name;
  }
  tb_plot_panel(plot, "median over the steps", "", "microseconds", false, true);
  tb_plot_categories(plot, names, count);
  for (int k = 0; k < STAGES; k++) tb_plot_bars(plot, STAGE[k], bars[k], count);
  tb_plot_write(plot, tb_bench_path(bench, "cm_fig5.svg"));
  char ours[200];
  snprintf(ours, sizeof ours,
           "four stages in one library make up a step to within %.0f%% on %d scenes", 100 * worst,
           count);
  tb_bench_claim(
      bench,
      (tbClaim){"CM fig. 5, table I",
                "A step is collision detection, rigid-body dynamics and contact resolution; other "
                "projects join separate tools for them.",
                "FCL, libccd, Pinocchio, RBDL, MuJoCo, DART, Bullet, ODE", ours,
                tb_verdict(count > 0 && worst < 0.4),
                "Of the table's tools, FCL, libccd, Bullet and MuJoCo are run beside our collision "
                "detector by `tribo bench collide`, and MuJoCo, Bullet, DART and ODE beside our "
                "steps by `tribo bench engines`.",
                "cm_fig5.svg"});
}
