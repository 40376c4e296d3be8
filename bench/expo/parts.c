// Stiffness and damping (figure 4), force prediction (figures 5 and 6), time by operation (table
// III).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/plot.h"
#include "expo_bench.h"

// ---- figure 4 ----------------------------------------------------------------------------------

typedef struct {
  Method method;
  int substeps;
} Fixed;
static const Fixed FIXED[] = {{{"expo", TB_INTEGRATOR_EXPO, 0}, 1},
                              {{"euler-explicit", TB_INTEGRATOR_EULER_EXPLICIT, 0}, 4},
                              {{"euler-implicit", TB_INTEGRATOR_EULER_IMPLICIT, 0}, 1}};
enum { NFIXED = 3, MAX_SWEEP = 16 };

// One point: ground truth and errors at stiffness K and damping ratio.
static void sweep_point(tbBench* bench, tbTable* t, Motion* trot, int steps, double K, double ratio,
                        double error[NFIXED]) {
  trot->robot.m->opt.contact_stiffness = K;
  trot->robot.m->opt.contact_damping = ratio * 2 * sqrt(K);
  Truth truth;
  // Stiffer contacts need a finer truth.
  int substeps = K > 1e6 ? 512 : 128;
  bool ok = truth_make(bench, trot, steps, substeps, &truth);
  for (int k = 0; k < NFIXED; k++) {
    error[k] = ok ? run_local(trot, &truth, &FIXED[k].method, FIXED[k].substeps).error : NAN;
    tb_table_row(t);
    tb_table_text(t, "integrator", FIXED[k].method.name);
    tb_table_real(t, "stiffness", K);
    tb_table_real(t, "damping_ratio", ratio);
    tb_table_real(t, "dt_ms", 1e3 * trot->control_dt / FIXED[k].substeps);
    tb_table_real(t, "error", error[k]);
    tb_table_bool(t, "truth_ok", ok);
  }
  truth_free(&truth);
}

static void draw_sweep(tbPlot* plot, const double* x, double y[NFIXED][MAX_SWEEP], int n) {
  for (int k = 0; k < NFIXED; k++) {
    double shown[MAX_SWEEP];
    for (int i = 0; i < n; i++) shown[i] = fmin(y[k][i], 1e3);
    tb_plot_line(plot, FIXED[k].method.name, x, shown, n, false);
  }
}

// Figure 4 as a claim: largest error over the stiffnesses.
static void claim_stiffness(tbBench* bench, double y[NFIXED][MAX_SWEEP], int n) {
  double worst[NFIXED] = {0};
  for (int k = 0; k < NFIXED; k++) {
    for (int i = 0; i < n; i++) worst[k] = fmax(worst[k], isfinite(y[k][i]) ? y[k][i] : INFINITY);
  }
  char ours[200];
  snprintf(ours, sizeof ours,
           "largest error over 1e3 to 1e8 N/m: expo %.1e, explicit Euler at a quarter of the step "
           "%.1e, implicit Euler %.1e",
           worst[0], worst[1], worst[2]);
  tb_bench_claim(bench, (tbClaim){"EXP fig. 4",
                                  "The exponential integrator's error hardly depends on stiffness "
                                  "and damping; explicit Euler's does.",
                                  "consistent up to 1e8 N/m; Eul-exp highly affected", ours,
                                  tb_verdict(worst[0] < 1 && worst[0] < 0.1 * worst[1]), NULL,
                                  "stiffness.svg"});
}

void bench_stiffness(tbBench* bench, Motion* trot) {
  tbTable* t = tb_bench_table(bench, "stiffness");
  tbPlot* plot = tb_plot_new("Stiffness and damping ratio, trot (EXP fig. 4)", 2, 1);
  int brief = tb_bench_short(bench), steps = brief ? 100 : 500, n = 0;
  double x[MAX_SWEEP], y[NFIXED][MAX_SWEEP], error[NFIXED];
  for (int i = 0; i < 11; i += brief ? 2 : 1, n++) {
    x[n] = pow(10, 3 + 0.5 * i);
    sweep_point(bench, t, trot, steps, x[n], 0.5, error);
    for (int k = 0; k < NFIXED; k++) y[k][n] = error[k];
    tb_bench_progress(bench, i, 20, "stiffness");
  }
  tb_plot_panel(plot, "damping ratio 0.5", "stiffness (N/m)", "local error", true, true);
  draw_sweep(plot, x, y, n);
  claim_stiffness(bench, y, n);
  n = 0;
  for (int i = 0; i < 9; i += brief ? 4 : 1, n++) {
    x[n] = 0.2 + 0.1 * i;
    sweep_point(bench, t, trot, steps, 1e5, x[n], error);
    for (int k = 0; k < NFIXED; k++) y[k][n] = error[k];
    tb_bench_progress(bench, 11 + i, 20, "damping");
  }
  tb_plot_panel(plot, "stiffness 1e5 N/m", "damping ratio", "local error", false, true);
  draw_sweep(plot, x, y, n);
  tb_plot_write(plot, tb_bench_path(bench, "stiffness.svg"));
  trot->robot.m->opt.contact_stiffness = 1e5;
  trot->robot.m->opt.contact_damping = 300;
}

// ---- figures 5 and 6 ---------------------------------------------------------------------------

static double normal_force(const tbData* d, int geom) {
  for (int i = 0; i < d->ncon; i++) {
    if (d->contact[i].geom[0] == geom || d->contact[i].geom[1] == geom) {
      return d->contact[i].force[0];
    }
  }
  return 0;
}

enum { SAMPLES = 40 };

// The first geom that is a foot: "foot0" of robots from URDF, "foot_FL" and the like of our own.
static int first_foot(const tbModel* m) {
  int g = 0;
  while (g < m->ngeom && strncmp(tb_id2name(m, TB_OBJ_GEOM, g), "foot", 4) != 0) g++;
  return g < m->ngeom ? g : -1;
}

// Largest error of a prediction as a share of the peak. Normal force of the first foot over 20 ms
// after landing at some speed: from small steps, and as one expo step over that time predicts it. A
// step of length t applies the mean of the prediction over [0, t], so the derivative of the mean
// times t gives the force at t.
static double predict(tbBench* bench, tbTable* t, tbPlot* plot, Motion* squat, double speed) {
  tbModel* m = squat->robot.m;
  tbData *d = tb_data_new(m), *one = tb_data_new(m);
  double time[SAMPLES], real[SAMPLES], guess[SAMPLES], *tau = calloc((size_t)m->nv, sizeof(double));
  static const Method FINE = {"expo", TB_INTEGRATOR_EXPO, 0};
  int foot = first_foot(m), fine = 64;
  double h = 0.02 / SAMPLES, impulse = 0, worst = 0, largest = 0;
  if (!d || !one || !tau) return NAN;
  memcpy(d->qpos, squat->qpos0, sizeof(double) * (size_t)m->nq);
  d->qvel[2] = -speed;
  if (squat->restart) squat->restart(squat);
  squat->control(squat, d, 0, tau);
  for (int i = 0; i < SAMPLES; i++) {
    double sum = 0;
    set_method(m, &FINE, h / fine);
    memcpy(d->qfrc_applied, tau, sizeof(double) * (size_t)m->nv);
    for (int k = 0; k < fine; k++) {
      tb_step(m, d);
      sum += normal_force(d, foot) / fine;
    }
    // One step from the start, as long as all of it so far.
    tb_reset(m, one);
    memcpy(one->qpos, squat->qpos0, sizeof(double) * (size_t)m->nq);
    one->qvel[2] = -speed;
    memcpy(one->qfrc_applied, tau, sizeof(double) * (size_t)m->nv);
    set_method(m, &FINE, h * (i + 1));
    double accuracy = m->opt.expm_accuracy;
    m->opt.expm_accuracy = 1e-10;
    tb_step(m, one);
    m->opt.expm_accuracy = accuracy;
    double total = normal_force(one, foot) * h * (i + 1);
    time[i] = 1e3 * h * (i + 0.5);
    real[i] = sum;
    guess[i] = (total - impulse) / h;
    impulse = total;
    worst = fmax(worst, fabs(real[i] - guess[i]));
    largest = fmax(largest, fabs(real[i]));
    tb_table_row(t);
    tb_table_text(t, "figure", "5");
    tb_table_text(t, "test", squat->name);
    tb_table_real(t, "impact_speed", speed);
    tb_table_real(t, "time_ms", time[i]);
    tb_table_real(t, "force", real[i]);
    tb_table_real(t, "predicted", guess[i]);
  }
  char title[64];
  snprintf(title, sizeof title, "impact at %.1f m/s", speed);
  tb_plot_panel(plot, title, "time (ms)", "normal force (N)", false, false);
  tb_plot_line(plot, "simulated", time, real, SAMPLES, false);
  tb_plot_line(plot, "predicted", time, guess, SAMPLES, false);
  tb_bench_note(bench, "force prediction over 20 ms at %.1f m/s: off by %.1f%% of the peak at most",
                speed, 100 * worst / largest);
  free(tau);
  tb_data_free(d);
  tb_data_free(one);
  return worst / largest;
}

// The force of one contact point over the motion: it jumps where contact is made at speed.
static double force_history(tbBench* bench, tbTable* t, tbPlot* plot, Motion* motion, int geom,
                            double until) {
  static const Method FINE = {"expo", TB_INTEGRATOR_EXPO, 0};
  tbModel* m = motion->robot.m;
  tbData* d = tb_data_new(m);
  double* tau = calloc((size_t)m->nv, sizeof(double));
  int per = (int)lround(motion->control_dt / 0.0005), steps = (int)(until / motion->control_dt);
  double *x = calloc((size_t)(steps * per), sizeof(double)),
         *y = calloc((size_t)(steps * per), sizeof(double)), jump = 0;
  int n = 0;
  if (!d || !tau || !x || !y) return NAN;
  memcpy(d->qpos, motion->qpos0, sizeof(double) * (size_t)m->nq);
  if (motion->restart) motion->restart(motion);
  set_method(m, &FINE, motion->control_dt / per);
  for (int i = 0; i < steps; i++) {
    motion->control(motion, d, i, tau);
    memcpy(d->qfrc_applied, tau, sizeof(double) * (size_t)m->nv);
    for (int k = 0; k < per; k++) {
      if (tb_step(m, d) != TB_OK) break;
      x[n] = d->time;
      y[n] = normal_force(d, geom);
      if (n > 0 && y[n - 1] == 0) jump = fmax(jump, y[n]);
      n++;
      if (n % 4) continue;
      tb_table_row(t);
      tb_table_text(t, "figure", "6");
      tb_table_text(t, "test", motion->name);
      tb_table_real(t, "time_ms", 1e3 * d->time);
      tb_table_real(t, "force", y[n - 1]);
    }
  }
  tb_plot_panel(plot, motion->name, "time (s)", "normal force (N)", false, false);
  tb_plot_line(plot, "one contact point", x, y, n, false);
  tb_bench_note(bench, "%s: at contact the force jumps by up to %.0f N", motion->name, jump);
  free(x);
  free(y);
  free(tau);
  tb_data_free(d);
  return jump;
}

void bench_prediction(tbBench* bench, Motion* squat, Motion* trot, Motion* walk) {
  tbTable* t = tb_bench_table(bench, "prediction");
  tbPlot* plot = tb_plot_new("Forces predicted over 20 ms (EXP fig. 5)", 2, 1);
  double slow = predict(bench, t, plot, squat, 0.1), fast = predict(bench, t, plot, squat, 0.3);
  tb_plot_write(plot, tb_bench_path(bench, "prediction.svg"));
  char ours[160];
  snprintf(ours, sizeof ours, "off by at most %.1f%% of the peak at 0.1 m/s, %.1f%% at 0.3 m/s",
           100 * slow, 100 * fast);
  tb_bench_claim(bench,
                 (tbClaim){"EXP fig. 5", "Constant A and b predict the contact forces over 20 ms.",
                           "accurate over a rather long horizon", ours,
                           tb_verdict(slow < 0.1 && fast < 0.2), NULL, "prediction.svg"});
  plot = tb_plot_new("Normal force of one contact point (EXP fig. 6)", 2, 1);
  double jump[2] = {NAN, NAN};
  jump[0] = force_history(bench, t, plot, trot, first_foot(trot->robot.m), 1.0);
  if (walk) {
    jump[1] = force_history(bench, t, plot, walk, first_foot(walk->robot.m), 5.0);
  }
  tb_plot_write(plot, tb_bench_path(bench, "contact_force.svg"));
  snprintf(ours, sizeof ours, "jumps of up to %.0f N (trot) and %.0f N (walk)", jump[0], jump[1]);
  tb_bench_claim(bench,
                 (tbClaim){"EXP fig. 6",
                           "Where a point lands with some speed, its force jumps by a "
                           "finite amount.",
                           "a finite jump, depending on the velocity", ours,
                           tb_verdict(jump[0] > 1 && jump[0] < 1e4), NULL, "contact_force.svg"});
}

// ---- table III ---------------------------------------------------------------------------------

enum { REPEATS = 15 };

typedef struct {
  double total, dynamics, collide, assemble, solve;  // s per step, of the fastest repeat
  double contacts;
} StepCost;

static const Method LIST[] = {{"euler-explicit", TB_INTEGRATOR_EULER_EXPLICIT, 0},
                              {"expo", TB_INTEGRATOR_EXPO, 0},
                              {"expo order 1 (mmm 0)", TB_INTEGRATOR_EXPO, 1},
                              {"expo order 3 (mmm 2)", TB_INTEGRATOR_EXPO, 3},
                              {"expo-midpoint", TB_INTEGRATOR_EXPO_MIDPOINT, 0},
                              {"rk4", TB_INTEGRATOR_RK4, 0},
                              {"euler-implicit", TB_INTEGRATOR_EULER_IMPLICIT, 0}};
enum { NLIST = sizeof LIST / sizeof LIST[0] };

// Explicit steps small enough to stay on the motion.
static double step_of(const Method* method, double dt) {
  int integrator = method->integrator;
  bool small = integrator == TB_INTEGRATOR_EULER_EXPLICIT || integrator == TB_INTEGRATOR_RK4;
  return small ? 5e-5 : dt;
}

// One step after every control step of the ground truth, and one before that warms up: the mean.
static StepCost step_cost(Motion* motion, const Truth* truth, const Method* method, double dt,
                          tbData* d) {
  tbModel* m = motion->robot.m;
  StepCost cost = {0};
  int n = 0;
  set_method(m, method, step_of(method, dt));
  for (int i = 0; i < truth->steps; i++) {
    if (tb_snapshot_load(m, d, truth->snapshot[i], truth->size[i], NULL) != TB_OK) break;
    memcpy(d->qfrc_applied, truth->tau + (size_t)i * (size_t)m->nv, sizeof(double) * (size_t)m->nv);
    if (tb_step(m, d) != TB_OK) break;
    tbClock clock = tb_bench_clock();
    if (tb_step(m, d) != TB_OK) break;
    cost.total += tb_bench_since(clock);
    cost.dynamics += d->seconds.dynamics;
    cost.collide += d->seconds.collide;
    cost.assemble += d->seconds.assemble;
    cost.solve += d->seconds.solve;
    cost.contacts += d->ncon;
    n++;
  }
  double scale = n ? 1.0 / n : NAN;
  double* const all[] = {&cost.total,    &cost.dynamics, &cost.collide,
                         &cost.assemble, &cost.solve,    &cost.contacts};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) *all[i] *= scale;
  return cost;
}

// Time of expo over explicit Euler. Methods take turns and the fastest repeat of each counts, so
// that other load on the machine cancels in their ratio.
static double cost_table(tbBench* bench, tbTable* t, Motion* motion, int steps, double dt) {
  Truth truth;
  StepCost best[NLIST];
  tbData* d = tb_data_new(motion->robot.m);
  for (int k = 0; k < NLIST; k++) best[k] = (StepCost){.total = INFINITY};
  bool ok = truth_make(bench, motion, steps, 64, &truth);
  for (int repeat = 0; d && ok && repeat < REPEATS; repeat++) {
    for (int k = 0; k < NLIST; k++) {
      StepCost cost = step_cost(motion, &truth, &LIST[k], dt, d);
      if (cost.total < best[k].total) best[k] = cost;
    }
  }
  for (int k = 0; ok && k < NLIST; k++) {
    const StepCost* c = &best[k];
    static const double PAPER[] = {9, 94, 39};
    tb_table_row(t);
    tb_table_text(t, "test", motion->name);
    tb_table_text(t, "integrator", LIST[k].name);
    tb_table_real(t, "dt_ms", 1e3 * step_of(&LIST[k], dt));
    tb_table_real(t, "step_us", 1e6 * c->total);
    tb_table_real(t, "over_explicit", c->total / best[0].total);
    tb_table_real(t, "dynamics_us", 1e6 * c->dynamics);
    tb_table_real(t, "collide_us", 1e6 * c->collide);
    tb_table_real(t, "assemble_us", 1e6 * c->assemble);
    tb_table_real(t, "solve_us", 1e6 * c->solve);
    tb_table_real(t, "contacts", c->contacts);
    if (k < 3) tb_table_real(t, "paper_us", PAPER[k]);
  }
  truth_free(&truth);
  tb_data_free(d);
  return best[1].total / best[0].total;
}

void bench_times(tbBench* bench, Motion* trot, Motion* squat) {
  tbTable* t = tb_bench_table(bench, "times");
  int brief = tb_bench_short(bench);
  double ratio = cost_table(bench, t, trot, brief ? 300 : 1000, 0.002);
  char ours[120];
  snprintf(ours, sizeof ours, "%.2f explicit ones", ratio);
  tb_bench_claim(bench,
                 (tbClaim){"EXP table III", "An exponential step costs a few explicit ones.",
                           "39 (94) against 9 us: 4.3 (10.4)", ours,
                           ratio < 4.3 ? TB_VERDICT_BETTER : tb_verdict(ratio < 10.4), NULL, NULL});
  if (squat->robot.m) {
    ratio = cost_table(bench, t, squat, brief ? 20 : 60, 0.002);
    tb_bench_note(bench, "four contacts: an expo step costs %.2f explicit ones", ratio);
  }
}
