// `tribo bench expo`: the paper's figures 2 to 6 and tables I to III, ours next to the paper's.
//
//   local_error.csv    error after one control step against real-time factor and step (fig. 2, 3)
//   equal_error.csv    real-time factors at equal error, and their ratio
//   stability.csv      largest stable step by integrator (table II)
//   stiffness.csv      error against stiffness and damping ratio (fig. 4)
//   prediction.csv     forces predicted over 20 ms, and at contact (fig. 5, 6)
//   times.csv          time by operation (table III)
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/plot.h"
#include "expo_bench.h"

enum { NTEST = 4, EXPLICIT = 7, MOST_DIGITS = 5, MAX_CURVE = 20 };

static const Method METHODS[] = {
    {"expo", TB_INTEGRATOR_EXPO, 0},
    {"expo-midpoint", TB_INTEGRATOR_EXPO_MIDPOINT, 0},
    {"expo order 1 (mmm 0)", TB_INTEGRATOR_EXPO, 1},
    {"expo order 2 (mmm 1)", TB_INTEGRATOR_EXPO, 2},
    {"expo order 3 (mmm 2)", TB_INTEGRATOR_EXPO, 3},
    {"expo order 5 (mmm 3)", TB_INTEGRATOR_EXPO, 5},
    {"expo order 7 (mmm 4)", TB_INTEGRATOR_EXPO, 7},
    {"euler-explicit", TB_INTEGRATOR_EULER_EXPLICIT, 0},
    {"rk4", TB_INTEGRATOR_RK4, 0},
    {"euler-implicit", TB_INTEGRATOR_EULER_IMPLICIT, 0},
};
enum { NMETHOD = sizeof METHODS / sizeof METHODS[0] };

// Errors and real-time factors of one method by number of sub-steps.
typedef struct {
  int n;
  double error[MAX_CURVE], factor[MAX_CURVE], dt[MAX_CURVE];
} Curve;

typedef struct {
  tbBench* bench;
  tbTable *errors, *equal, *stability;
  tbPlot *by_factor, *by_step;
  double log_gain;
  int ngain;
  double worst_gain;
  double large_step[2];  // largest error of expo and explicit Euler at the controller's step
  char control[200];     // the controllers' steps, in words
  bool all_stable;       // every motion is, at some step of expo
  char stable[200];      // expo's largest steps, in words
  bool as_stable;        // each at least the paper's
} Report;

// ---- local errors ------------------------------------------------------------------------------

static void measure_curve(Report* r, Motion* motion, const Truth* truth, const Method* method,
                          Curve* curve) {
  // As far as the paper went, and on until the smallest error of the comparison is reached: the
  // cheapest goes furthest; fixed orders and Newton's method stop with the paper.
  int explicit = method->integrator == TB_INTEGRATOR_EULER_EXPLICIT;
  int coarse = method->order > 0 || method->integrator == TB_INTEGRATOR_EULER_IMPLICIT;
  int finest = explicit ? 8 * motion->finest : coarse ? motion->paper_finest : motion->finest;
  int paper = explicit ? 8 * motion->paper_finest : motion->paper_finest;
  if (tb_bench_short(r->bench) && finest > 64) finest = explicit ? 512 : 64;
  curve->n = 0;
  double least = INFINITY;
  for (int n = 1; n <= finest && curve->n < MAX_CURVE; n *= 2) {
    if (n > paper && least <= pow(10, -MOST_DIGITS)) break;
    LocalRun run = run_local(motion, truth, method, n);
    least = fmin(least, run.error);
    curve->error[curve->n] = run.error;
    curve->factor[curve->n] = run.factor;
    curve->dt[curve->n++] = 1e3 * motion->control_dt / n;
    tb_table_row(r->errors);
    tb_table_text(r->errors, "test", motion->name);
    tb_table_text(r->errors, "integrator", method->name);
    tb_table_int(r->errors, "substeps", n);
    tb_table_real(r->errors, "dt_ms", 1e3 * motion->control_dt / n);
    tb_table_real(r->errors, "error", run.error);
    tb_table_real(r->errors, "realtime_factor", run.factor);
    tb_table_real(r->errors, "us_per_step", 1e6 * run.seconds / run.steps / n);
  }
}

// The largest real-time factor at which a method's error is no more than `error`, between measured
// points along the logarithms; 0 where it never is.
static double factor_at(const Curve* c, double error) {
  double best = 0;
  for (int i = 0; i < c->n; i++) {
    if (c->error[i] <= error) best = fmax(best, c->factor[i]);
    if (i == 0 || !isfinite(c->error[i - 1])) continue;
    double a = log(c->error[i - 1]), b = log(c->error[i]), e = log(error);
    if (a > e && b <= e && a > b) {
      double share = (a - e) / (a - b);
      double f = log(c->factor[i - 1]) * (1 - share) + log(c->factor[i]) * share;
      best = fmax(best, exp(f));
    }
  }
  return best;
}

static void compare_equal(Report* r, const Motion* motion, const Truth* truth, const Curve* curve) {
  for (int digits = 2; digits <= MOST_DIGITS; digits++) {
    double error = pow(10, -digits), ours = 0, other = 0;
    const char *best = "none", *next = "none";
    for (int k = 0; k < NMETHOD; k++) {
      double f = factor_at(&curve[k], error);
      if (k < EXPLICIT && f > ours) {
        ours = f;
        best = METHODS[k].name;
      } else if (k >= EXPLICIT && f > other) {
        other = f;
        next = METHODS[k].name;
      }
    }
    tb_table_row(r->equal);
    tb_table_text(r->equal, "test", motion->name);
    tb_table_real(r->equal, "error", error);
    tb_table_text(r->equal, "expo_variant", best);
    tb_table_real(r->equal, "expo_factor", ours);
    tb_table_text(r->equal, "next_best", next);
    tb_table_real(r->equal, "next_factor", other);
    tb_table_real(r->equal, "truth_error", truth->error);
    tb_table_int(r->equal, "steps_without_truth", truth->unsure);
    tb_table_real(r->equal, "ratio", other > 0 ? ours / other : ours > 0 ? INFINITY : NAN);
    if (ours > 0 && other > 0) {
      r->log_gain += log(ours / other);
      r->ngain++;
      if (ours / other < r->worst_gain) r->worst_gain = ours / other;
    }
  }
}

static void plot_curves(Report* r, const Motion* motion, const Curve* curve) {
  tb_plot_panel(r->by_factor, motion->name, "real-time factor", "local error", true, true);
  tb_plot_panel(r->by_step, motion->name, "time step (ms)", "local error", true, true);
  for (int k = 0; k < NMETHOD; k++) {
    double shown[MAX_CURVE];
    for (int i = 0; i < curve[k].n; i++) shown[i] = fmin(curve[k].error[i], 1e3);
    tb_plot_line(r->by_factor, METHODS[k].name, curve[k].factor, shown, curve[k].n, false);
    tb_plot_line(r->by_step, METHODS[k].name, curve[k].dt, shown, curve[k].n, false);
  }
}

static void local_errors(Report* r, Motion* motion) {
  bool brief = tb_bench_short(r->bench);
  int steps = brief ? (motion->steps + 7) / 8 : motion->steps;
  // A subset of the control steps must still hold impacts.
  if (brief && motion->control_dt < 0.005) steps = 250;
  Truth truth;
  int substeps = brief ? motion->truth / 2 : motion->truth;
  if (truth_make(r->bench, motion, steps, substeps, &truth) &&
      truth_judge(r->bench, motion, substeps, &truth)) {
    Curve* curve = calloc(NMETHOD, sizeof *curve);
    for (int k = 0; curve && k < NMETHOD; k++) {
      tb_bench_progress(r->bench, k, NMETHOD, METHODS[k].name);
      measure_curve(r, motion, &truth, &METHODS[k], &curve[k]);
    }
    if (curve) {
      r->large_step[0] = fmax(r->large_step[0], curve[0].error[0]);
      r->large_step[1] = fmax(r->large_step[1], curve[EXPLICIT].error[0]);
      compare_equal(r, motion, &truth, curve);
      plot_curves(r, motion, curve);
    }
    free(curve);
  }
  truth_free(&truth);
}

// ---- stability ---------------------------------------------------------------------------------

// The largest step at which it and every smaller one down to four halvings is stable.
static double largest_stable(tbBench* bench, Motion* motion, const Method* method) {
  int finest = method->integrator == TB_INTEGRATOR_EULER_EXPLICIT ? 1024 : 128;
  int good = 0, first = 0;
  for (int n = 1; n <= finest; n *= 2) {
    bool stable = run_stable(motion, method, n);
    if (stable && good == 0) first = n;
    good = stable ? good + 1 : 0;
    tb_bench_progress(bench, n, finest, method->name);
    if (good == (tb_bench_short(bench) ? 1 : 2)) break;
  }
  return good > 0 ? 1e3 * motion->control_dt / first : NAN;
}

static void stability(Report* r, Motion* motion) {
  static const int WHICH[] = {0, 1, 7, 8, 9};
  static const int PAPER[] = {0, -1, 1, -1, 2};
  int full = motion->stable_steps;
  if (tb_bench_short(r->bench)) motion->stable_steps = (full + 3) / 4;
  for (int k = 0; k < 5; k++) {
    tb_table_row(r->stability);
    tb_table_text(r->stability, "test", motion->name);
    tb_table_real(r->stability, "control_step_ms", 1e3 * motion->control_dt);
    tb_table_text(r->stability, "integrator", METHODS[WHICH[k]].name);
    double largest = largest_stable(r->bench, motion, &METHODS[WHICH[k]]);
    tb_table_real(r->stability, "largest_stable_ms", largest);
    if (k == 0) {
      size_t used = strlen(r->stable);
      snprintf(r->stable + used, sizeof r->stable - used, "%s%s %g ms", used ? ", " : "",
               motion->name, largest);
      used = strlen(r->control);
      snprintf(r->control + used, sizeof r->control - used, "%s%s %g ms", used ? ", " : "",
               motion->name, 1e3 * motion->control_dt);
      r->all_stable = r->all_stable && isfinite(largest);
      r->as_stable = r->as_stable && largest >= 0.99 * motion->paper[0];
    }
    if (PAPER[k] >= 0) tb_table_real(r->stability, "paper_ms", motion->paper[PAPER[k]]);
  }
  motion->stable_steps = full;
}

// ---- claims ------------------------------------------------------------------------------------

static void claims(const Report* r) {
  char ours[200];
  if (r->ngain) {
    double mean = exp(r->log_gain / r->ngain);
    snprintf(ours, sizeof ours, "%.1fx the next best integrator in geometric mean, %.1fx at worst",
             mean, r->worst_gain);
    tb_bench_claim(r->bench, (tbClaim){"EXP fig. 2",
                                       "For equal local error the exponential integrator is faster "
                                       "than the others.",
                                       "faster over the whole range of errors", ours,
                                       tb_verdict(mean > 2), NULL, "local_error_factor.svg"});
    snprintf(ours, sizeof ours, "at the controller's step: expo at most %.1e, explicit Euler %.1e",
             r->large_step[0], r->large_step[1]);
    tb_bench_claim(r->bench, (tbClaim){"EXP fig. 3",
                                       "At large steps the exponential integrator degrades "
                                       "gracefully where explicit ones lose stability.",
                                       "graceful degradation; sudden increase of Eul-exp and RK4",
                                       ours, tb_verdict(r->large_step[0] < r->large_step[1]), NULL,
                                       "local_error_step.svg"});
  }
  if (r->stable[0]) {
    tb_bench_claim(r->bench, (tbClaim){"EXP table I",
                                       "The controllers run at these steps, and the motions stay "
                                       "stable with them.",
                                       "squat 40, jump 10, trot 2, walk 40 ms", r->control,
                                       tb_verdict(r->all_stable), NULL, NULL});
    tb_bench_claim(r->bench, (tbClaim){"EXP table II",
                                       "The exponential integrator is stable at steps where the "
                                       "explicit ones are not.",
                                       "squat 40, jump 10, trot 2, walk 5 ms", r->stable,
                                       tb_verdict(r->as_stable), NULL, NULL});
  }
}

// ---- all of it ---------------------------------------------------------------------------------

// Whether `name` holds one of the comma-separated words of `only`; NULL wants everything.
static bool wanted(const char* only, const char* name) {
  if (!only) return true;
  char word[64];
  for (const char* at = only; *at; at += strcspn(at, ","), at += *at == ',') {
    size_t n = strcspn(at, ",");
    if (n == 0 || n >= sizeof word) continue;
    memcpy(word, at, n);
    word[n] = 0;
    if (strstr(name, word)) return true;
  }
  return false;
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("expo", argc, argv);
  if (!bench) return 2;
  // --only errors,stability,stiffness,prediction,times and --test squat,jump,trot,walk narrow it.
  const char* only = tb_bench_option(bench, "only", NULL);
  const char* tests = tb_bench_option(bench, "test", NULL);
  bool own = tb_bench_flag(bench, "own-robots");
  if (!tb_bench_check_arguments(bench)) return 2;
  Report r = {.bench = bench, .worst_gain = INFINITY, .as_stable = true, .all_stable = true};
  r.errors = tb_bench_table(bench, "local_error");
  r.equal = tb_bench_table(bench, "equal_error");
  r.stability = tb_bench_table(bench, "stability");
  r.by_factor = tb_plot_new("Local error against real-time factor (EXP fig. 2)", 2, 2);
  r.by_step = tb_plot_new("Local error against time step (EXP fig. 3)", 2, 2);
  Motion motion[NTEST];
  bool open[NTEST];
  for (int i = 0; i < NTEST; i++) {
    open[i] = motion_open(bench, i, own, &motion[i]);
    if (!open[i]) continue;
    if (!wanted(tests, motion[i].name)) continue;
    if (wanted(only, "errors")) local_errors(&r, &motion[i]);
    if (wanted(only, "stability")) stability(&r, &motion[i]);
  }
  if (open[2] && wanted(only, "stiffness")) bench_stiffness(bench, &motion[2]);
  if (open[0] && open[2] && wanted(only, "prediction")) {
    bench_prediction(bench, &motion[0], &motion[2], open[3] ? &motion[3] : NULL);
  }
  if (open[2] && wanted(only, "times")) bench_times(bench, &motion[2], &motion[0]);
  for (int i = 0; i < NTEST; i++) motion_close(&motion[i]);
  if (r.ngain) {
    tb_bench_note(bench,
                  "equal error: expo is %.1fx as fast as the next best integrator (geometric mean "
                  "of %d), %.2fx at worst",
                  exp(r.log_gain / r.ngain), r.ngain, r.worst_gain);
  }
  claims(&r);
  tb_plot_write(r.by_factor, tb_bench_path(bench, "local_error_factor.svg"));
  tb_plot_write(r.by_step, tb_bench_path(bench, "local_error_step.svg"));
  return tb_bench_close(bench);
}
