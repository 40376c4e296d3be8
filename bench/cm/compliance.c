// CM fig. 13: a standing quadruped on contacts with a compliance of their own. Depth grows linearly
// with it (a spring in m/N), dry friction stays dry, and the forces between the feet become unique.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"

enum { LEVELS = 6, STEPS = 4000, WATCHED = 500, MOST_GEOMS = 64 };

typedef struct {
  double depth;     // mean over the contacts, m
  double creep;     // fastest foot over the ground under a sideways push, m/s
  double internal;  // contact forces that balance each other, N
  double weight;    // sum of normal forces over total weight
} Standing;

static double total_mass(const tbModel* m) {
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) sum += m->body_mass[b];
  return sum;
}

// Horizontal distance that the farthest foot has moved since `before` (two numbers per geom).
static double moved(const tbModel* m, const tbData* d, const double* before) {
  double worst = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (strncmp(tb_id2name(m, TB_OBJ_GEOM, g), "foot", 4) != 0) continue;
    double x = d->geom_xpos[3 * g] - before[2 * g], y = d->geom_xpos[3 * g + 1] - before[2 * g + 1];
    worst = fmax(worst, hypot(x, y));
  }
  return worst;
}

// Stand for four seconds, pushed sideways with a tenth of the weight.
static Standing stand(tbModel* m, double compliance, int solver) {
  Standing s = {0};
  tbData* d = tb_data_new(m);
  if (!d) return s;
  for (int g = 0; g < m->ngeom; g++) m->geom_compliance[g] = 0.5 * compliance;
  m->opt.law = TB_LAW_NCP;
  m->opt.solver = solver;
  m->opt.timestep = 1e-3;
  m->opt.warmstart = 0;
  m->opt.solve_tolerance = 1e-9;
  if (m->nkey) tb_reset_keyframe(m, d, 0);
  double weight = 9.81 * total_mass(m), before[2 * MOST_GEOMS] = {0};
  for (int i = 0; i < STEPS; i++) {
    d->qfrc_applied[1] = 0.1 * weight;
    if (tb_step(m, d) != TB_OK) break;
    for (int g = 0; g < m->ngeom && g < MOST_GEOMS && i == STEPS - WATCHED; g++) {
      before[2 * g] = d->geom_xpos[3 * g];
      before[2 * g + 1] = d->geom_xpos[3 * g + 1];
    }
  }
  s.creep = moved(m, d, before) / (WATCHED * m->opt.timestep);
  int count = 0;
  tb_internal_force(m, d, NULL, &s.internal, NULL);
  for (int c = 0; c < d->ncon; c++) {
    const tbContact* contact = &d->contact[c];
    if (contact->force[0] <= 0) continue;
    s.depth += fmax(0, -contact->dist);
    s.weight += contact->force[0] / weight;
    count++;
  }
  if (count) s.depth /= count;
  tb_data_free(d);
  return s;
}

void cm_compliance(tbBench* bench) {
  tbModel* m = load_scene(TB_SCENES_DIR "/quadruped.xml");
  if (!m) return;
  tbTable* table = tb_bench_table(bench, "fig13_compliance");
  tbPlot* plot = tb_plot_new("A quadruped on compliant contacts (CM fig. 13)", 3, 1);
  double compliance[LEVELS], depth[LEVELS], creep[LEVELS], internal[LEVELS], worst_creep = 0;
  for (int i = 0; i < LEVELS; i++) {
    compliance[i] = pow(10, -8 + i);
    Standing s = stand(m, compliance[i], TB_SOLVER_AUTO);
    depth[i] = s.depth;
    creep[i] = s.creep;
    internal[i] = s.internal;
    worst_creep = fmax(worst_creep, s.creep);
    tb_table_row(table);
    tb_table_real(table, "compliance_m_per_N", compliance[i]);
    tb_table_real(table, "depth_m", s.depth);
    tb_table_real(table, "creep_m_s", s.creep);
    tb_table_real(table, "internal_N", s.internal);
    tb_table_real(table, "weight_ratio", s.weight);
  }
  tb_model_free(m);
  tb_plot_panel(plot, "depth of the feet", "compliance (m/N)", "m", true, true);
  tb_plot_points(plot, "ncp", compliance, depth, LEVELS);
  tb_plot_panel(plot, "creep under a sideways push", "compliance (m/N)", "m/s", true, true);
  tb_plot_points(plot, "ncp", compliance, creep, LEVELS);
  tb_plot_panel(plot, "forces between the feet", "compliance (m/N)", "N", true, true);
  tb_plot_points(plot, "ncp", compliance, internal, LEVELS);
  tb_plot_write(plot, tb_bench_path(bench, "cm_fig13.svg"));

  // Slope of log depth over log compliance where the spring dominates the allowed overlap.
  double slope = log10(depth[LEVELS - 1] / depth[LEVELS - 3]) / 2;
  char ours[200];
  snprintf(ours, sizeof ours,
           "depth ~ compliance^%.2f; feet move at most %.0e m/s (they roll as the legs settle)",
           slope, worst_creep);
  tb_bench_claim(
      bench,
      (tbClaim){"CM fig. 13",
                "Normal compliance gives a depth proportional to it and leaves friction "
                "dry.",
                "linear; tangential compliance would make feet creep", ours,
                tb_verdict(fabs(slope - 1) < 0.1 && worst_creep < 1e-4), NULL, "cm_fig13.svg"});
}
