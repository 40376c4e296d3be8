// CM fig. 9 and 10: a cube thrown along the floor. The pyramid of the LCP turns it aside, the CCP
// lifts it, RaiSim dissipates too little; the exact law follows the analytic curve.
#include <math.h>
#include <stdio.h>

#include "cm.h"

enum { STEPS = 1098, ANGLES = 10, METHODS = 4 };
static const double MU = 0.4, SPEED = 1, GRAVITY = 9.81, DT = 1e-3, PI = 3.14159265358979323846;

static const Method METHOD[METHODS] = {
    {"ncp", TB_LAW_NCP, TB_SOLVER_PGS},
    {"lcp", TB_LAW_LCP, TB_SOLVER_AUTO},
    {"ccp", TB_LAW_CCP, TB_SOLVER_ADMM},
    {"raisim", TB_LAW_RAISIM, TB_SOLVER_AUTO},
};

// Throw the cube at `angle` from the x axis.
static bool throw_cube(tbModel* m, Method method, double angle, Trace* trace) {
  tbData* d = tb_data_new(m);
  if (!d) return false;
  cm_choose(m, method, DT, 1e-9);
  d->qvel[0] = SPEED * cos(angle);
  d->qvel[1] = SPEED * sin(angle);
  bool ok = cm_run(m, d, STEPS, NULL, NULL, trace);
  tb_data_free(d);
  return ok;
}

// Largest distance from the straight line along `angle`.
static double sideways(const Trace* trace, double angle) {
  double worst = 0;
  for (int i = 0; i < trace->steps; i++) {
    double x = trace->position[0][i], y = trace->position[1][i];
    worst = fmax(worst, fabs(y * cos(angle) - x * sin(angle)));
  }
  return worst;
}

static void figure_9(tbBench* bench, tbModel* m) {
  tbTable* table = tb_bench_table(bench, "fig9_direction");
  tbPlot* plot = tb_plot_new("A cube thrown along the floor (CM fig. 9)", 2, 1);
  double worst[METHODS] = {0}, degrees[ANGLES], deviation[METHODS][ANGLES];
  tb_plot_panel(plot, "thrown at 22.5 degrees", "x (m)", "y (m)", false, false);
  for (int k = 0; k < METHODS; k++) {
    Trace trace = {0};
    if (throw_cube(m, METHOD[k], PI / 8, &trace)) {
      tb_plot_line(plot, METHOD[k].label, trace.position[0], trace.position[1], trace.steps, false);
    }
    cm_trace_free(&trace);
  }
  for (int a = 0; a < ANGLES; a++) {
    degrees[a] = 90.0 * a / (ANGLES - 1);
    for (int k = 0; k < METHODS; k++) {
      Trace trace = {0};
      double angle = degrees[a] * PI / 180;
      bool ok = throw_cube(m, METHOD[k], angle, &trace);
      deviation[k][a] = ok ? sideways(&trace, angle) : INFINITY;
      worst[k] = fmax(worst[k], deviation[k][a]);
      tb_table_row(table);
      tb_table_text(table, "law", METHOD[k].label);
      tb_table_real(table, "degrees", degrees[a]);
      tb_table_real(table, "sideways_m", deviation[k][a]);
      cm_trace_free(&trace);
    }
  }
  tb_plot_panel(plot, "largest distance from the straight line", "direction (degrees)", "m", false,
                true);
  for (int k = 0; k < METHODS; k++) {
    for (int a = 0; a < ANGLES; a++) deviation[k][a] = fmax(deviation[k][a], 1e-16);
    tb_plot_line(plot, METHOD[k].label, degrees, deviation[k], ANGLES, false);
  }
  tb_plot_write(plot, tb_bench_path(bench, "cm_fig9.svg"));

  char ours[160];
  snprintf(ours, sizeof ours, "lcp up to %.1f mm aside, ncp %.0e m", 1e3 * worst[1], worst[0]);
  tb_bench_claim(bench,
                 (tbClaim){"CM fig. 6, 9",
                           "The pyramid of the LCP turns a sliding cube off its straight "
                           "line; the round cone does not.",
                           "LCP leaves the line, the others keep it", ours,
                           tb_verdict(worst[1] > 5e-3 && worst[0] < 1e-6), NULL, "cm_fig9.svg"});
}

// Energy of a cube that decelerates at mu g, with the time stepping's own velocities.
static double exact_energy(double time) {
  double v = fmax(0, SPEED - MU * GRAVITY * time);
  return 0.5 * v * v + GRAVITY * 0.104;
}

static void figure_10(tbBench* bench, tbModel* m) {
  tbTable* table = tb_bench_table(bench, "fig10_energy");
  tbPlot* plot = tb_plot_new("Lift and energy of a sliding cube (CM fig. 10)", 3, 1);
  Trace traces[METHODS] = {{0}};
  double lift[METHODS] = {0}, error[METHODS] = {0}, exact[STEPS];
  for (int k = 0; k < METHODS; k++) throw_cube(m, METHOD[k], PI / 2, &traces[k]);
  for (int k = 0; k < METHODS; k++) {
    for (int i = 0; i < traces[k].steps; i++) {
      exact[i] = exact_energy(traces[k].time[i]);
      lift[k] = fmax(lift[k], traces[k].position[2][i] - 0.104);
      error[k] = fmax(error[k], fabs(traces[k].energy[i] - exact[i]));
    }
    tb_table_row(table);
    tb_table_text(table, "law", METHOD[k].label);
    tb_table_real(table, "lift_m", lift[k]);
    tb_table_real(table, "energy_error_J", error[k]);
  }
  tb_plot_panel(plot, "height of the centre", "time (s)", "m", false, false);
  for (int k = 0; k < METHODS; k++) {
    tb_plot_line(plot, METHOD[k].label, traces[k].time, traces[k].position[2], traces[k].steps,
                 false);
  }
  tb_plot_panel(plot, "mechanical energy", "time (s)", "J", false, false);
  tb_plot_line(plot, "analytic", traces[0].time, exact, traces[0].steps, false);
  for (int k = 0; k < METHODS; k++) {
    tb_plot_line(plot, METHOD[k].label, traces[k].time, traces[k].energy, traces[k].steps, false);
  }
  tb_plot_panel(plot, "distance from it, worst of 20 ms", "time (s)", "J", false, true);
  for (int k = 0; k < METHODS; k++) {
    double gap[STEPS];
    for (int i = 0; i < traces[k].steps; i++) {
      gap[i] = 1e-11;
      for (int j = i < 20 ? 0 : i - 20; j <= i; j++)
        gap[i] = fmax(gap[i], fabs(traces[k].energy[j] - exact_energy(traces[k].time[j])));
    }
    tb_plot_line(plot, METHOD[k].label, traces[k].time, gap, traces[k].steps, false);
  }
  tb_plot_write(plot, tb_bench_path(bench, "cm_fig10.svg"));
  for (int k = 0; k < METHODS; k++) cm_trace_free(&traces[k]);

  char ours[200];
  snprintf(ours, sizeof ours, "ccp lifts it by %.2f mm, ncp by %.0e mm", 1e3 * lift[2],
           1e3 * lift[0]);
  tb_bench_claim(
      bench, (tbClaim){"CM fig. 10 left", "The CCP makes a sliding cube float; the NCP does not.",
                       "the cube bounces off the floor", ours,
                       tb_verdict(lift[2] > 0.5 * MU * SPEED * DT && lift[0] < 1e-9), NULL,
                       "cm_fig10.svg"});
  snprintf(ours, sizeof ours, "largest error: ncp %.0e J, raisim %.0e J, ccp %.0e J", error[0],
           error[3], error[2]);
  tb_bench_claim(
      bench,
      (tbClaim){"CM fig. 10 right", "Only the NCP follows the analytic energy of a sliding cube.",
                "NCP on the curve, RaiSim near, CCP far", ours,
                tb_verdict(error[0] < 2e-3 && error[0] < error[2]), NULL, "cm_fig10.svg"});
}

void cm_sliding(tbBench* bench) {
  tbModel* m = load_scene(TB_SCENES_DIR "/cm_cube.xml");
  if (!m) return;
  figure_9(bench, m);
  figure_10(bench, m);
  tb_model_free(m);
}
