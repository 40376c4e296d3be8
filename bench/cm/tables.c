// CM table II as measurements: which principles a law keeps, on the problem of a cube that slides
// on four contacts. Table III is in solvers.c.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cm.h"

// A problem of the cube: `slide` gives it a tangential speed, so that its contacts slip.
static tbProblem* cube_problem(double slide) {
  tbModel* m = load_scene(TB_SCENES_DIR "/cm_cube.xml");
  tbData* d = m ? tb_data_new(m) : NULL;
  tbProblem* problem = NULL;
  tbError error;
  if (d) {
    cm_choose(m, (Method){"", TB_LAW_NCP, TB_SOLVER_AUTO}, 1e-3, 0);
    d->qvel[0] = slide * 0.8;
    d->qvel[1] = slide * 0.6;
    d->qvel[5] = slide;
    if (tb_forward(m, d) == TB_OK) problem = tb_step_problem(m, d, &error);
  }
  tb_data_free(d);
  tb_model_free(m);
  return problem;
}

// Worst violation of the three principles over the contacts of a solution.
typedef struct {
  double signorini, coulomb, dissipation;
} Principles;

static Principles judge(const tbProblem* p, const tbReal* lambda, const tbReal* sigma) {
  Principles worst = {0, 0, 0};
  for (int i = 0; i < p->nblock; i++) {
    int r = p->block[i].row;
    double mu = p->block[i].mu[0], n = lambda[r], tangential = hypot(lambda[r + 1], lambda[r + 2]);
    double slip = hypot(sigma[r + 1], sigma[r + 2]);
    double power = -(lambda[r + 1] * sigma[r + 1] + lambda[r + 2] * sigma[r + 2]);
    worst.signorini = fmax(worst.signorini, fmax(-sigma[r], n > 1e-9 ? fabs(sigma[r]) : 0));
    worst.coulomb = fmax(worst.coulomb, (tangential - mu * n) / fmax(mu * n, 1e-9));
    if (slip > 1e-6 && n > 1e-9) {
      worst.dissipation = fmax(worst.dissipation, 1 - power / (mu * n * slip));
    }
  }
  return worst;
}

static Principles solve_and_judge(const tbProblem* p, int law) {
  tbSolveSettings s = tbDefaultSolveSettings();
  s.law = law;
  s.tol = 1e-10;
  tbReal* lambda = calloc((size_t)p->n, sizeof *lambda);
  tbReal* sigma = calloc((size_t)p->n, sizeof *sigma);
  tbSolveInfo info;
  Principles worst = {NAN, NAN, NAN};
  if (lambda && sigma && tb_solve(p, &s, lambda, NULL, &info, NULL) == TB_OK &&
      tb_problem_velocity(p, lambda, sigma, NULL) == TB_OK) {
    worst = judge(p, lambda, sigma);
  }
  free(lambda);
  free(sigma);
  return worst;
}

void cm_tables(tbBench* bench) {
  // Tab. II: LCP keeps Signorini only, CCP Coulomb and dissipation, RaiSim Signorini and Coulomb.
  static const struct {
    int law;
    bool signorini, coulomb, dissipation;
  } PAPER[] = {{TB_LAW_LCP, true, false, false},
               {TB_LAW_CCP, false, true, true},
               {TB_LAW_RAISIM, true, true, false},
               {TB_LAW_NCP, true, true, true}};
  tbProblem* p = cube_problem(1);
  if (!p) return;
  tbTable* table = tb_bench_table(bench, "table2_principles");
  bool kept = true, broken = true;
  for (int i = 0; i < 4; i++) {
    Principles w = solve_and_judge(p, PAPER[i].law);
    tb_table_row(table);
    tb_table_text(table, "law", tb_law_name((tbLaw)PAPER[i].law));
    tb_table_real(table, "signorini_m_s", w.signorini);
    tb_table_real(table, "outside_cone", w.coulomb);
    tb_table_real(table, "missing_dissipation", w.dissipation);
    kept = kept && (!PAPER[i].signorini || w.signorini < 1e-6) &&
           (!PAPER[i].coulomb || w.coulomb < 1e-6) &&
           (!PAPER[i].dissipation || w.dissipation < 1e-6);
    broken = broken && (PAPER[i].signorini || w.signorini > 1e-4) &&
             (PAPER[i].coulomb || w.coulomb > 1e-4) &&
             (PAPER[i].dissipation || PAPER[i].law == TB_LAW_LCP || w.dissipation > 1e-6);
  }
  tb_problem_free(p);
  tb_bench_claim(bench,
                 (tbClaim){"CM table II",
                           "LCP keeps Signorini, CCP Coulomb and dissipation, RaiSim Signorini and "
                           "Coulomb, NCP all three.",
                           "table of ticks", kept && broken ? "the same ticks" : "other ticks",
                           tb_verdict(kept && broken), NULL, NULL});
}
