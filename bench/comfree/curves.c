// Penetration (CF fig. 2), torsion and rolling (figures 3-4), stability (figure 5).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comfree_bench.h"
#include "page/plot.h"

// ---- penetration -------------------------------------------------------------------------------

static const double GAINS[6][2] = {{0.1, 0.001}, {0.1, 0.005}, {0.3, 0.001},
                                   {0.3, 0.005}, {0.5, 0.001}, {0.5, 0.005}};
static const double PAPER[6][2] = {{3.9, 6.9}, {3.8, 5.7}, {1.6, 3.3},
                                   {1.4, 2.5}, {1.0, 2.1}, {0.9, 1.5}};

static void depth_row(tbTable* table, const char* engine, const Depths* depths) {
  tb_table_row(table);
  tb_table_text(table, "engine", engine);
  tb_table_real(table, "depth_mm", 1e3 * depths_mean(depths));
  tb_table_real(table, "std_mm", 1e3 * depths_std(depths));
  tb_table_real(table, "max_mm", 1e3 * depths->worst);
}

void bench_penetration(tbBench* bench) {
  const int steps = 1000;
  tbTable* table = tb_bench_table(bench, "penetration");
  Scene scene = scene_drop();
  bool all_reached = true;
  double means[7], paper[7];
  char ours[200] = "", names[7][32];
  const char* name[7];
  for (int g = 0; g < 6; g++) {
    tb_bench_progress(bench, g, 7, "penetration");
    tbModel* m = scene_model(&scene, TB_LAW_COMFREE);
    tbData* d = m ? tb_data_new(m) : NULL;
    if (!d) return;
    m->opt.comfree_stiffness = GAINS[g][0];
    m->opt.comfree_damping = GAINS[g][1];
    m->opt.correction_speed = 1;  // the default of 0.3 m/s is for overlaps at the start
    Depths depths = {0};
    double start = tb_bench_clock().cpu, spent = 0;
    for (int i = 0; i < steps; i++) {
      if (tb_step(m, d) != TB_OK) tb_bench_note(bench, "drop: %s", d->message);
      for (int k = 0; k < d->ncon; k++) depths_add(&depths, d->contact[k].dist);
    }
    spent = tb_bench_clock().cpu - start;
    depth_row(table, "comfree", &depths);
    tb_table_real(table, "k", GAINS[g][0]);
    tb_table_real(table, "d", GAINS[g][1]);
    tb_table_real(table, "paper_mm", PAPER[g][0]);
    tb_table_real(table, "paper_std_mm", PAPER[g][1]);
    double mean = 1e3 * depths_mean(&depths);
    tb_table_bool(table, "reached", mean <= PAPER[g][0]);
    all_reached &= mean <= PAPER[g][0];
    means[g] = mean;
    paper[g] = PAPER[g][0];
    snprintf(names[g], sizeof names[g], "%g, %g", GAINS[g][0], GAINS[g][1]);
    snprintf(ours + strlen(ours), sizeof ours - strlen(ours), "%s%.2f", g ? ", " : "", mean);
    tb_table_real(table, "steps_per_second", steps / spent);
    tb_data_free(d);
    tb_model_free(m);
  }
  Depths theirs = {0};
  double start = tb_bench_clock().cpu;
  if (peer_drop(&scene, steps, &theirs)) {
    depth_row(table, "mujoco", &theirs);
    tb_table_real(table, "paper_mm", 1.7);
    tb_table_real(table, "paper_std_mm", 4.9);
    tb_table_real(table, "steps_per_second", steps / (tb_bench_clock().cpu - start));
    snprintf(ours + strlen(ours), sizeof ours - strlen(ours), " mm; MuJoCo in the same run %.2f mm",
             1e3 * depths_mean(&theirs));
  }
  means[6] = theirs.count > 0 ? 1e3 * depths_mean(&theirs) : NAN;
  paper[6] = 1.7;
  snprintf(names[6], sizeof names[6], "MuJoCo");
  for (int g = 0; g < 7; g++) name[g] = names[g];
  tbPlot* plot = tb_plot_new("Depth of 125 dropped bodies (CF fig. 2)", 1, 1);
  tb_plot_panel(plot, "mean over all contacts, by k and d", "", "mm", false, false);
  tb_plot_categories(plot, name, 7);
  tb_plot_bars(plot, "here", means, 7);
  tb_plot_bars(plot, "paper (and MuJoCo Warp)", paper, 7);
  tb_plot_write(plot, tb_bench_path(bench, "penetration.svg"));
  tb_bench_claim(bench,
                 (tbClaim){"CF fig. 2", "Mean penetration of 125 dropped bodies at the six (k, d).",
                           "3.9, 3.8, 1.6, 1.4, 1.0, 0.9 mm; MuJoCo Warp 1.7 mm", ours,
                           all_reached ? TB_VERDICT_BETTER : TB_VERDICT_WORSE,
                           "The scene is ours after the paper's description.", "penetration.svg"});
  free(scene.text);
}

// ---- torsion and rolling -----------------------------------------------------------------------

enum { CURVE = 1000 };

// Angular velocity of a sphere that spins on a plane, or velocity of a cylinder that rolls.
static bool friction_curve(bool rolling, double mu, double* out) {
  char xml[700];
  snprintf(xml, sizeof xml,
           rolling ? "<mujoco><worldbody><geom type='plane' size='9 9 .1' condim='6' friction='1 0 "
                     "%g'/><body pos='0 0 .099'><freejoint/><geom type='cylinder' size='.1 .1' "
                     "euler='90 0 0' mass='1' condim='6' friction='1 0 0'/></body></worldbody>"
                     "</mujoco>"
                   : "<mujoco><worldbody><geom type='plane' size='9 9 .1' condim='4' friction='1 "
                     "%g 0'/><body pos='0 0 .099'><joint type='slide' axis='0 0 1'/><joint axis='0 "
                     "0 1'/><geom size='.1' mass='1' condim='4' friction='1 0 0'/></body>"
                     "</worldbody></mujoco>",
           mu);
  Scene scene = {"friction", xml};
  tbModel* m = scene_model(&scene, TB_LAW_COMFREE);
  tbData* d = m ? tb_data_new(m) : NULL;
  bool ok = d != NULL;
  int dof = rolling ? 0 : 1;
  for (int i = 0; ok && i < 500; i++) ok = tb_step(m, d) == TB_OK;
  if (ok) d->qvel[dof] = rolling ? 1 : 10;
  if (ok && rolling) d->qvel[4] = 10;
  for (int i = 0; ok && i < CURVE; i++) {
    ok = tb_step(m, d) == TB_OK;
    out[i] = d->qvel[dof];
  }
  tb_data_free(d);
  tb_model_free(m);
  return ok;
}

static bool falls(const double* y, int n) {
  for (int i = 1; i < n; i++) {
    if (y[i] > y[i - 1] + 1e-9) return false;
  }
  return true;
}

void bench_friction(tbBench* bench) {
  const double mu[5] = {0.001, 0.002, 0.005, 0.01, 0.02};
  double time[CURVE], y[CURVE];
  for (int i = 0; i < CURVE; i++) time[i] = 0.002 * (i + 1);
  tbTable* table = tb_bench_table(bench, "friction");
  bool monotone = true, ordered = true;
  tbPlot* plot = tb_plot_new("Torsional and rolling friction (CF fig. 4)", 2, 1);
  for (int rolling = 0; rolling < 2; rolling++) {
    tb_plot_panel(plot, rolling ? "rolling cylinder" : "spinning sphere", "time (s)",
                  rolling ? "velocity (m/s)" : "angular velocity (rad/s)", false, false);
    double last = INFINITY;
    for (int i = 0; i < 5; i++) {
      if (!friction_curve(rolling, mu[i], y)) continue;
      monotone &= falls(y, CURVE);
      ordered &= y[CURVE - 1] < last;
      last = y[CURVE - 1];
      char label[32];
      snprintf(label, sizeof label, "mu = %g m", mu[i]);
      tb_plot_line(plot, label, time, y, CURVE, false);
      tb_table_row(table);
      tb_table_text(table, "motion", rolling ? "rolling" : "torsion");
      tb_table_real(table, "mu_m", mu[i]);
      tb_table_real(table, "start", y[0]);
      tb_table_real(table, "after_0.5s", y[CURVE / 4 - 1]);
      tb_table_real(table, "after_2s", y[CURVE - 1]);
      tb_table_bool(table, "monotone", falls(y, CURVE));
    }
  }
  tb_plot_write(plot, tb_bench_path(bench, "friction.svg"));
  tb_bench_claim(
      bench, (tbClaim){"CF fig. 4",
                       "Spin and roll decay monotonically, the faster the larger the coefficient.",
                       "monotone, ordered by the coefficient",
                       monotone && ordered ? "monotone, ordered by the coefficient" : "not so",
                       tb_verdict(monotone && ordered), NULL, "friction.svg"});
}

// ---- stability ---------------------------------------------------------------------------------

static bool thrown_cube(double k, double d_user, double dt, double* time, double* speed, double* z,
                        int n) {
  char xml[] =
      "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 0 .15'><freejoint/><geom "
      "type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>";
  Scene scene = {"cube", xml};
  tbModel* m = scene_model(&scene, TB_LAW_COMFREE);
  tbData* d = m ? tb_data_new(m) : NULL;
  bool ok = d != NULL;
  if (ok) {
    m->opt.comfree_stiffness = k;
    m->opt.comfree_damping = d_user;
    m->opt.timestep = dt;
    d->qvel[0] = 2;
    for (int i = 3; i < 6; i++) d->qvel[i] = 0.1;
  }
  for (int i = 0; ok && i < n; i++) {
    ok = tb_step(m, d) == TB_OK;
    time[i] = d->time;
    speed[i] = hypot(d->qvel[0], d->qvel[1]);
    z[i] = d->qpos[2];
  }
  tb_data_free(d);
  tb_model_free(m);
  return ok;
}

// A cube that starts 8 cm inside the floor: how fast it leaves, with and without the cap.
static void deep_overlap(tbBench* bench) {
  static const double CAPS[3] = {1e9, 1, 0.2};
  tbTable* table = tb_bench_table(bench, "overlap");
  for (int c = 0; c < 3; c++) {
    char xml[] =
        "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 0 "
        ".02'><freejoint/><geom "
        "type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>";
    Scene scene = {"overlap", xml};
    tbModel* m = scene_model(&scene, TB_LAW_COMFREE);
    tbData* d = m ? tb_data_new(m) : NULL;
    double fastest = 0, highest = 0;
    if (d) m->opt.correction_speed = CAPS[c];
    for (int i = 0; d && i < 1000 && tb_step(m, d) == TB_OK; i++) {
      fastest = fmax(fastest, d->qvel[2]);
      highest = fmax(highest, d->qpos[2]);
    }
    tb_table_row(table);
    if (c) tb_table_real(table, "correction_speed", CAPS[c]);
    if (!c) tb_table_text(table, "correction_speed", "none (the original)");
    tb_table_real(table, "leaves_at_m_per_s", fastest);
    tb_table_real(table, "jumps_to_m", highest);
    tb_data_free(d);
    tb_model_free(m);
  }
}

void bench_stability(tbBench* bench) {
  deep_overlap(bench);
  static const double CASES[][3] = {{0.1, 0.001, 0.002}, {0.2, 0.001, 0.002}, {0.5, 0.001, 0.002},
                                    {0.2, 0.005, 0.002}, {0.5, 0.005, 0.002}, {0.2, 0.001, 0.001},
                                    {0.2, 0.001, 0.004}, {0.2, 0.001, 0.01},  {0.2, 0.001, 0.02},
                                    {2.0, 0.02, 0.02}};
  enum { N = 3000 };
  static const double DURATION = 3;
  double* buffer = malloc(sizeof(double) * 3 * N);
  tbTable* table = tb_bench_table(bench, "stability");
  bool stable = true;
  tbPlot* plots[2] = {tb_plot_new("Thrown cube: speed (CF fig. 5)", 1, 1),
                      tb_plot_new("Thrown cube: height (CF fig. 5)", 1, 1)};
  for (int p = 0; p < 2; p++) {
    tb_plot_panel(plots[p], "", "time (s)", p ? "height (m)" : "horizontal speed (m/s)", false,
                  false);
  }
  for (size_t c = 0; buffer && c < sizeof CASES / sizeof *CASES; c++) {
    double *time = buffer, *speed = buffer + N, *z = buffer + 2 * N, dt = CASES[c][2];
    int n = (int)(DURATION / dt);
    bool ok = thrown_cube(CASES[c][0], CASES[c][1], dt, time, speed, z, n);
    double fastest = 0;
    for (int i = 0; i < n; i++) fastest = fmax(fastest, speed[i]);
    // The last case is far beyond the paper's.
    if (c + 1 < sizeof CASES / sizeof *CASES) {
      stable &= ok && fastest <= 2.001 && speed[n - 1] < 0.02 && fabs(z[n - 1] - 0.1) < 0.01;
    }
    char label[64];
    snprintf(label, sizeof label, "k %g d %g dt %g", CASES[c][0], CASES[c][1], dt);
    tb_plot_line(plots[0], label, time, speed, n, false);
    tb_plot_line(plots[1], label, time, z, n, false);
    tb_table_row(table);
    tb_table_real(table, "k", CASES[c][0]);
    tb_table_real(table, "d", CASES[c][1]);
    tb_table_real(table, "dt", dt);
    tb_table_bool(table, "finite", ok);
    tb_table_real(table, "fastest", fastest);
    tb_table_real(table, "final_speed", speed[n - 1]);
    tb_table_real(table, "final_z", z[n - 1]);
  }
  tb_plot_write(plots[0], tb_bench_path(bench, "stability_speed.svg"));
  tb_plot_write(plots[1], tb_bench_path(bench, "stability_height.svg"));
  tb_bench_claim(bench,
                 (tbClaim){"CF fig. 5",
                           "A thrown cube slows down and comes to rest for all gains and for "
                           "steps up to 20 ms.",
                           "stable up to 20 ms", stable ? "at rest after 3 s" : "not at rest",
                           tb_verdict(stable), NULL, "stability_speed.svg"});
  free(buffer);
}
