// Every law of Tribo on the thrown cube of figures 9 and 10: what each does to its path, height,
// speed and to the exact law. The figure of the pages docs/law-*.md.
#include <math.h>
#include <stdio.h>

#include "cm.h"

enum { LAWS = 7, STEPS = 1200 };
static const double MU = 0.4, GRAVITY = 9.81;

static const Method METHOD[LAWS] = {
    {"ncp", TB_LAW_NCP, TB_SOLVER_AUTO},
    {"ccp", TB_LAW_CCP, TB_SOLVER_AUTO},
    {"lcp", TB_LAW_LCP, TB_SOLVER_AUTO},
    {"raisim", TB_LAW_RAISIM, TB_SOLVER_AUTO},
    {"soft", TB_LAW_SOFT, TB_SOLVER_AUTO},
    {"comfree", TB_LAW_COMFREE, TB_SOLVER_AUTO},
    {"viscoelastic", TB_LAW_VISCOELASTIC, TB_SOLVER_AUTO},
};

typedef struct {
  int steps;
  int failed;  // steps that failed, were not made, or have no residual
  double time[STEPS], x[STEPS], y[STEPS], height[STEPS], speed[STEPS], residual[STEPS];
  double distance, aside, lift, sink, worst;
} Throw;

// The larger of two; NAN if either is.
static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

static void throw_cube(tbModel* m, Method method, Throw* t) {
  *t = (Throw){0};
  tbData* d = tb_data_new(m);
  if (!d) return;
  m->opt.law = method.law;
  m->opt.solver = method.solver;
  m->opt.integrator = method.law == TB_LAW_VISCOELASTIC ? TB_INTEGRATOR_EXPO : TB_INTEGRATOR_EULER;
  tb_reset_keyframe(m, d, 0);
  double z = d->qpos[2], vx = d->qvel[0], vy = d->qvel[1], v = hypot(vx, vy);
  for (int i = 0; i < STEPS && tb_step(m, d) == TB_OK; i++) {
    t->time[i] = d->time;
    t->x[i] = d->qpos[0];
    t->y[i] = d->qpos[1];
    t->height[i] = 1e3 * (d->qpos[2] - z);
    t->speed[i] = hypot(d->qvel[0], d->qvel[1]);
    t->residual[i] = larger(d->solve.residual_exact.relative, 1e-16);
    t->failed += isnan(t->residual[i]);
    t->distance = (d->qpos[0] * vx + d->qpos[1] * vy) / v;
    t->aside = fabs(d->qpos[0] * vy - d->qpos[1] * vx) / v;
    t->lift = fmax(t->lift, t->height[i]);
    t->sink = fmax(t->sink, -t->height[i]);
    t->worst = larger(t->worst, t->residual[i]);
    t->steps = i + 1;
  }
  t->failed += STEPS - t->steps;
  tb_data_free(d);
}

// The largest residual of the last 20 ms: a line that can be read.
static void running_worst(const Throw* t, double* out) {
  for (int i = 0; i < t->steps; i++) {
    out[i] = 1e-10;
    for (int k = i < 20 ? 0 : i - 20; k <= i; k++) out[i] = larger(out[i], t->residual[k]);
  }
}

static void draw(tbBench* bench, const Throw* t) {
  double worst[STEPS];
  tbPlot* plot = tb_plot_new("One cube, thrown at 2.24 m/s, under seven laws", 2, 2);
  tb_plot_panel(plot, "path over the floor", "x (m)", "y (m)", false, false);
  for (int k = 0; k < LAWS; k++)
    tb_plot_line(plot, METHOD[k].label, t[k].x, t[k].y, t[k].steps, false);
  tb_plot_panel(plot, "speed", "time (s)", "m/s", false, false);
  for (int k = 0; k < LAWS; k++)
    tb_plot_line(plot, METHOD[k].label, t[k].time, t[k].speed, t[k].steps, false);
  tb_plot_panel(plot, "height above rest", "time (s)", "mm", false, false);
  for (int k = 0; k < LAWS; k++)
    tb_plot_line(plot, METHOD[k].label, t[k].time, t[k].height, t[k].steps, false);
  tb_plot_panel(plot, "residual of the exact law, worst of 20 ms", "time (s)", "relative", false,
                true);
  for (int k = 0; k < LAWS; k++) {
    running_worst(&t[k], worst);
    tb_plot_line(plot, METHOD[k].label, t[k].time, worst, t[k].steps, false);
  }
  tb_plot_write(plot, tb_bench_path(bench, "laws.svg"));
}

void cm_laws(tbBench* bench) {
  tbModel* m = load_scene(TB_SCENES_DIR "/sliding_cube.xml");
  if (!m) return;
  static Throw t[LAWS];
  tbTable* table = tb_bench_table(bench, "laws");
  double speed = hypot(2, 1), dt = m->opt.timestep;
  int failed = 0;
  double exact = speed * speed / (2 * MU * GRAVITY) - 0.5 * dt * speed;
  for (int k = 0; k < LAWS; k++) {
    throw_cube(m, METHOD[k], &t[k]);
    tb_table_row(table);
    tb_table_text(table, "law", METHOD[k].label);
    tb_table_real(table, "distance_m", t[k].distance);
    tb_table_real(table, "exact_m", exact);
    tb_table_real(table, "aside_mm", 1e3 * t[k].aside);
    tb_table_real(table, "lift_mm", t[k].lift);
    tb_table_real(table, "sink_mm", t[k].sink);
    tb_table_real(table, "worst_residual", t[k].worst);
    tb_table_int(table, "failed_steps", t[k].failed);
    failed += t[k].failed;
  }
  draw(bench, t);
  tb_model_free(m);
  char ours[240];
  snprintf(
      ours, sizeof ours,
      "ncp stops %.0e m from v^2/(2 mu g); lcp %.0f mm aside, soft %.0f mm aside; ccp lifts it "
      "by %.1f mm; viscoelastic stops %.1f mm off",
      fabs(t[0].distance - exact), 1e3 * t[2].aside, 1e3 * t[4].aside, t[1].lift,
      1e3 * fabs(exact - t[6].distance));
  tb_bench_claim(bench, (tbClaim){"All laws",
                                  "The same cube under every law: only the exact one stops where "
                                  "Coulomb says, in a straight line, on the floor.",
                                  "(the laws of all four papers and MuJoCo's)", ours,
                                  tb_verdict(failed == 0 && fabs(t[0].distance - exact) < 1e-5 &&
                                             t[0].aside < 1e-6 && t[0].lift < 1e-3),
                                  NULL, "laws.svg"});
}
