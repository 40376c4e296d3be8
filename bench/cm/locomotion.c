// CM fig. 18 and 19: a quadruped trots at a wanted speed over a flat floor with friction 0.9, and
// over bumps of 0.1 m with friction 0.3, under every law with the same controller.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "common/trot.h"

enum { METHODS = 6, MOST_STEPS = 10000 };

static const Method METHOD[METHODS] = {
    {"ncp/auto", TB_LAW_NCP, TB_SOLVER_AUTO},  {"ncp/pgs", TB_LAW_NCP, TB_SOLVER_PGS},
    {"ncp/admm", TB_LAW_NCP, TB_SOLVER_ADMM},  {"ccp/admm", TB_LAW_CCP, TB_SOLVER_ADMM},
    {"raisim", TB_LAW_RAISIM, TB_SOLVER_AUTO}, {"lcp", TB_LAW_LCP, TB_SOLVER_AUTO},
};

typedef struct {
  int steps;
  double speed;         // mean over the second half, m/s
  double residual;      // mean of the exact law's relative residual
  double microseconds;  // of a solve
  int fell;
  double time[MOST_STEPS], velocity[MOST_STEPS], violation[MOST_STEPS];
} Walk;

// The quadruped on bumps: its own scene with the plane replaced by a height field.
static tbModel* rough_scene(void) {
  FILE* f = fopen(TB_SCENES_DIR "/quadruped.xml", "rb");
  if (!f) return NULL;
  enum { ROWS = 61, COLUMNS = 181 };
  const size_t room = 200000;
  char* text = calloc(1, room);
  char* xml = calloc(1, 2 * room);
  tbModel* m = NULL;
  size_t size = text ? fread(text, 1, room - 1, f) : 0;
  char* plane = size ? strstr(text, "<geom name=\"floor\"") : NULL;
  char* end = plane ? strstr(plane, "/>") : NULL;
  if (xml && end) {
    char* out = xml;
    *plane = 0;
    char* body = strstr(text, "<worldbody>");
    *body = 0;
    out += sprintf(out,
                   "%s<asset><hfield name=\"bumps\" nrow=\"%d\" ncol=\"%d\" size=\"6 2 0.1 0.1\" "
                   "elevation=\"",
                   text, ROWS, COLUMNS);
    for (int r = 0; r < ROWS; r++) {
      for (int c = 0; c < COLUMNS; c++) {
        double x = 12.0 * c / (COLUMNS - 1) - 1, y = 4.0 * r / (ROWS - 1) - 2;
        double rise = fmin(1, fmax(0, 2 * x - 0.5)), wave = 0.5 - 0.5 * cos(5 * x) * cos(4 * y);
        out += sprintf(out, "%.3f ", rise * wave);
      }
    }
    out += sprintf(out, "\"/></asset><worldbody>%s", body + strlen("<worldbody>"));
    sprintf(out, "<geom name=\"floor\" type=\"hfield\" hfield=\"bumps\" pos=\"5 0 0\"%s", end);
    tbError error;
    m = tb_load_string(xml, NULL, NULL, &error);
    if (!m) fprintf(stderr, "%s\n", error.message);
  }
  fclose(f);
  free(text);
  free(xml);
  return m;
}

static void walk(tbModel* m, Method method, double friction, int steps, Walk* w) {
  memset(w, 0, sizeof *w);
  Trot trot;
  tbData* d = tb_data_new(m);
  if (!d || !trot_init(m, &trot)) {
    tb_data_free(d);
    return;
  }
  cm_choose(m, method, 1e-3, 0);
  m->opt.baumgarte = 0.2;
  m->opt.solve_tolerance = 1e-6;
  m->opt.disableflags |= TB_DISABLE_ACTUATION;
  for (int g = 0; g < m->ngeom; g++) m->geom_friction[3 * g] = friction;
  trot.friction = 0.7 * friction;
  if (m->nkey) tb_reset_keyframe(m, d, 0);
  for (int i = 0; i < steps && !w->fell; i++) {
    if (tb_step1(m, d) == TB_OK) trot_control(m, d, &trot);
    if (tb_step2(m, d) != TB_OK) break;
    w->time[i] = d->time;
    w->velocity[i] = d->qvel[0];
    w->violation[i] = fmax(1e-16, d->solve.residual_exact.relative);
    w->residual += d->solve.residual_exact.relative / steps;
    w->microseconds += 1e6 * d->seconds.solve / steps;
    if (i >= steps / 2) w->speed += d->qvel[0] / (steps - steps / 2);
    w->fell = d->xmat[9 * trot.base + 8] < 0.3;
    w->steps = i + 1;
  }
  tb_data_free(d);
}

// One terrain under every law; the spread of the walking speeds and the worst mean residual.
static void compare(tbBench* bench, tbModel* m, const char* name, const char* file, double friction,
                    Walk* walks) {
  int steps = tb_bench_short(bench) ? 5000 : MOST_STEPS;
  tbTable* table = tb_bench_table(bench, name);
  tbPlot* plot = tb_plot_new(friction > 0.5 ? "Trotting on flat ground (CM fig. 18)"
                                            : "Trotting on slippery bumps (CM fig. 19)",
                             2, 1);
  for (int k = 0; k < METHODS; k++) {
    walk(m, METHOD[k], friction, steps, &walks[k]);
    tb_table_row(table);
    tb_table_text(table, "method", METHOD[k].label);
    tb_table_real(table, "speed_m_s", walks[k].speed);
    tb_table_real(table, "exact_residual", walks[k].residual);
    tb_table_real(table, "solve_us", walks[k].microseconds);
    tb_table_int(table, "steps", walks[k].steps);
    tb_table_bool(table, "fell", walks[k].fell);
  }
  tb_plot_panel(plot, "speed of the base", "time (s)", "m/s", false, false);
  for (int k = 0; k < METHODS; k++) {
    tb_plot_line(plot, METHOD[k].label, walks[k].time, walks[k].velocity, walks[k].steps, false);
  }
  tb_plot_panel(plot, "residual of the exact law", "time (s)", "relative", false, true);
  for (int k = 0; k < METHODS; k++) {
    tb_plot_line(plot, METHOD[k].label, walks[k].time, walks[k].violation, walks[k].steps, false);
  }
  tb_plot_write(plot, tb_bench_path(bench, file));
}

void cm_locomotion(tbBench* bench) {
  static Walk flat[METHODS], rough[METHODS];
  char ours[240];
  tbModel* m = load_scene(TB_SCENES_DIR "/quadruped.xml");
  if (m) {
    compare(bench, m, "fig18_flat", "cm_fig18.svg", 0.9, flat);
    double spread = 0;
    for (int k = 1; k < METHODS; k++) spread = fmax(spread, fabs(flat[k].speed - flat[0].speed));
    snprintf(ours, sizeof ours, "wanted 0.3 m/s: ncp %.3f m/s, laws differ by at most %.3f m/s",
             flat[0].speed, spread);
    tb_bench_claim(bench, (tbClaim){"CM fig. 18",
                                    "On flat ground with friction 0.9 every law gives the wanted "
                                    "walking speed.",
                                    "the choice of simulator hardly matters", ours,
                                    tb_verdict(!flat[0].fell && fabs(flat[0].speed - 0.3) < 0.06 &&
                                               spread < 0.05),
                                    NULL, "cm_fig18.svg"});
  }
  tb_model_free(m);
  m = rough_scene();
  if (m) {
    compare(bench, m, "fig19_rough", "cm_fig19.svg", 0.3, rough);
    snprintf(ours, sizeof ours,
             "mean residual of the exact law: ncp %.0e, ccp %.0e, raisim %.0e; "
             "speeds %.2f, %.2f, %.2f m/s",
             rough[0].residual, rough[3].residual, rough[4].residual, rough[0].speed,
             rough[3].speed, rough[4].speed);
    tb_bench_claim(bench,
                   (tbClaim){"CM fig. 19",
                             "On slippery bumps CCP and RaiSim violate the exact law and the "
                             "walks come apart.",
                             "velocities deviate, contacts slip", ours,
                             tb_verdict(rough[0].residual < 1e-5 &&
                                        rough[3].residual > 10 * rough[0].residual),
                             NULL, "cm_fig19.svg"});
  }
  tb_model_free(m);
}
