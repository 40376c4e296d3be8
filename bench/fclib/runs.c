// Every problem with every solver: summary, comparison, performance profiles.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fclib/fclib_bench.h"
#include "fclib/siconos.h"

// Is `name` one of the words of the list? An empty list has them all.
static bool listed(const char* list, const char* name) {
  size_t length = strlen(name);
  for (const char* at = list; (at = strstr(at, name)); at += length) {
    if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ',')) return true;
  }
  return !*list;
}

// The solvers' names: ours of the list ("ncp/auto" first), then the peers'.
static void list_solvers(Bench* b) {
  b->solvers = calloc((size_t)tb_solver_count() + SICONOS_METHODS + 1, sizeof *b->solvers);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < tb_solver_count(); i++) {
      tbLaw law = tb_solver_law(i);
      bool first = law == TB_LAW_NCP && strcmp(tb_solver_name(i), "auto") == 0;
      if (first != (pass == 0) || (law != TB_LAW_NCP && !b->all_laws)) continue;
      char* name = b->solvers[b->solver_count];
      snprintf(name, 64, "%s/%s", tb_law_name(law), tb_solver_name(i));
      if (first || listed(b->only, name)) b->solver_count++;
    }
  }
  for (int m = 0; b->peers && m < SICONOS_METHODS; m++) {
    snprintf(b->solvers[b->solver_count++], 64, "%s", siconos_name((SiconosMethod)m));
  }
}

static bool is_peer(const char* solver) {
  return strncmp(solver, "siconos/", 8) == 0;
}

static bool is_exact(const char* solver) {
  return strncmp(solver, "ncp/", 4) == 0 || is_peer(solver);
}

static Run run_one(const Bench* b, const Case* c, const char* solver, tbReal* lambda) {
  Run none;
  memset(&none, 0, sizeof none);
  snprintf(none.solver, sizeof none.solver, "%s", solver);
  none.status = "not applicable";
  none.seconds = b->limit;
  if (is_peer(solver)) {
    // The peers' drivers take local problems in three dimensions.
    if (c->global || c->fclib->spacedim != 3 || c->fclib->V.cols > 0) return none;
    for (int m = 0; m < SICONOS_METHODS; m++) {
      if (strcmp(siconos_name((SiconosMethod)m), solver) == 0) return bench_siconos(b, c, m);
    }
    return none;
  }
  char law[16];
  const char* name = strchr(solver, '/') + 1;
  snprintf(law, sizeof law, "%.*s", (int)(name - solver - 1), solver);
  tbSolveSettings set = tbDefaultSolveSettings();
  set.law = tb_law_find(law);
  set.solver = name;
  set.tol = b->tol;
  set.max_iter = 1000000;
  set.time_limit = is_exact(solver) ? b->limit : 0.2 * b->limit;
  Run run = bench_solve(b, c, &set, lambda);
  snprintf(run.solver, sizeof run.solver, "%s", solver);
  return run;
}

static void add_row(tbTable* table, const Case* c, const Run* r) {
  tb_table_row(table);
  tb_table_text(table, "problem", c->name);
  tb_table_text(table, "family", c->family);
  tb_table_text(table, "kind", c->global ? "global" : "local");
  tb_table_int(table, "contacts", c->contacts);
  tb_table_text(table, "solver", r->solver);
  tb_table_bool(table, "solved", r->solved);
  tb_table_text(table, "status", r->status);
  tb_table_real(table, "seconds", r->seconds);
  tb_table_int(table, "iterations", r->iterations);
  tb_table_int(table, "factorizations", r->factorizations);
  tb_table_real(table, "primal", r->residual.primal);
  tb_table_real(table, "dual", r->residual.dual);
  tb_table_real(table, "complementarity", r->residual.complementarity);
  tb_table_real(table, "relative", r->residual.relative);
  tb_table_real(table, "relative_exact", r->residual_exact.relative);
  if (is_peer(r->solver)) tb_table_real(table, "own_tolerance", r->setting);
}

void bench_run_all(Bench* b) {
  list_solvers(b);
  size_t total = (size_t)b->case_count * (size_t)b->solver_count;
  b->runs = calloc(total + 1, sizeof *b->runs);
  tbTable* table = tb_bench_table(b->bench, "problems");
  int done = 0;
  for (int i = 0; i < b->case_count; i++) {
    const Case* c = &b->cases[i];
    tbReal* lambda = calloc((size_t)c->problem->n + 1, sizeof *lambda);
    for (int k = 0; k < b->solver_count; k++) {
      char what[256];
      snprintf(what, sizeof what, "%s %s", b->solvers[k], c->name);
      tb_bench_progress(b->bench, done++, (int)total, what);
      Run* run = &b->runs[(size_t)i * (size_t)b->solver_count + (size_t)k];
      *run = run_one(b, c, b->solvers[k], lambda);
      add_row(table, c, run);
    }
    free(lambda);
  }
  tb_bench_progress(b->bench, (int)total, (int)total, "");
}

// ---- reports -----------------------------------------------------------------------------------

static const Run* run_of(const Bench* b, int c, int s) {
  return &b->runs[(size_t)c * (size_t)b->solver_count + (size_t)s];
}

static void report_summary(Bench* b) {
  tbTable* table = tb_bench_table(b->bench, "summary");
  double* seconds = calloc((size_t)b->case_count + 1, sizeof *seconds);
  for (int s = 0; s < b->solver_count; s++) {
    int solved = 0, tried = 0, exact = 0, factorizations = 0;
    double worst = 0;
    for (int c = 0; c < b->case_count; c++) {
      const Run* r = run_of(b, c, s);
      if (strcmp(r->status, "not applicable") == 0) continue;
      tried++;
      exact += r->residual_exact.relative <= b->tol;
      factorizations += r->factorizations;
      if (!r->solved) continue;
      seconds[solved++] = r->seconds;
      worst = fmax(worst, r->seconds);
    }
    tb_table_row(table);
    tb_table_text(table, "solver", b->solvers[s]);
    tb_table_int(table, "problems", tried);
    tb_table_int(table, "solved", solved);
    tb_table_real(table, "percent", tried ? 100.0 * solved / tried : 0);
    tb_table_int(table, "solved_exact_law", exact);
    tb_table_real(table, "geomean_seconds_of_solved", tb_bench_geomean(seconds, solved));
    tb_table_real(table, "longest_solved", worst);
    tb_table_int(table, "factorizations", factorizations);
  }
  free(seconds);
}

// auto against the best peer for each problem.
static void report_comparison(Bench* b) {
  tbTable* table = tb_bench_table(b->bench, "auto_vs_siconos");
  double* ratios = calloc((size_t)b->case_count + 1, sizeof *ratios);
  int count = 0, unsolved = 0, slower = 0;
  double worst = 0;
  for (int c = 0; c < b->case_count; c++) {
    const Run *ours = run_of(b, c, 0), *best = NULL;
    bool tried = false;
    for (int s = 1; s < b->solver_count; s++) {
      const Run* r = run_of(b, c, s);
      if (!is_peer(r->solver) || strcmp(r->status, "not applicable") == 0) continue;
      tried = true;
      if (r->solved && (!best || r->seconds < best->seconds)) best = r;
    }
    if (!tried) continue;
    tb_table_row(table);
    tb_table_text(table, "problem", b->cases[c].name);
    tb_table_int(table, "contacts", b->cases[c].contacts);
    tb_table_bool(table, "solved", ours->solved);
    tb_table_real(table, "auto_seconds", ours->seconds);
    tb_table_text(table, "best_peer", best ? best->solver : "none");
    tb_table_real(table, "peer_seconds", best ? best->seconds : NAN);
    double ratio = best ? ours->seconds / best->seconds : NAN;
    tb_table_real(table, "ratio", ratio);
    unsolved += best == NULL;
    if (!best) continue;
    ratios[count++] = ratio;
    worst = fmax(worst, ratio);
    slower += ratio > 2;
  }
  if (count > 0) {
    tb_bench_note(
        b->bench,
        "auto against the best of Siconos' solvers per problem, %d problems: geometric mean "
        "of the time ratio %.3f, largest %.2f, %d above 2; %d more that no Siconos solver "
        "brought to %.0e of our residual in %g s.",
        count, tb_bench_geomean(ratios, count), worst, slower, unsolved, b->tol, b->limit);
    char ours[160];
    snprintf(ours, sizeof ours,
             "%.3f of the best Siconos solver's time, %d of %d problems above 2x",
             tb_bench_geomean(ratios, count), slower, count);
    tb_bench_claim(b->bench,
                   (tbClaim){"FCLIB",
                             "The exact law on problems nobody here wrote, against the best "
                             "Siconos solver chosen per problem.",
                             "(asked for: half the time, none above 2x)", ours,
                             slower == 0 ? TB_VERDICT_BETTER : TB_VERDICT_DIFFERS,
                             slower ? "Plank towers are ADMM's best case." : NULL, NULL});
    tb_bench_note(
        b->bench,
        "Siconos is timed at the loosest of its tolerances (from %.0e down by tens) at which "
        "its answer passes our residual function; one thread; the smaller of wall and "
        "processor time, median.",
        10 * b->tol);
  }
  free(ratios);
}

static int compare_reals(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

void bench_profile(const Bench* b, const bool* use_case, const bool* use_solver, const char* label,
                   tbPlot* plot, tbTable* table) {
  size_t cases = (size_t)b->case_count;
  double *tau = calloc(cases + 2, sizeof *tau), *part = calloc(cases + 2, sizeof *part);
  for (int s = 0; s < b->solver_count; s++) {
    if (!use_solver[s]) continue;
    int total = 0, count = 0;
    for (int c = 0; c < b->case_count; c++) {
      if (!use_case[c]) continue;
      double best = INFINITY;
      for (int k = 0; k < b->solver_count; k++) {
        const Run* r = run_of(b, c, k);
        if (use_solver[k] && r->solved) best = fmin(best, r->seconds);
      }
      total++;
      if (run_of(b, c, s)->solved) tau[count++] = run_of(b, c, s)->seconds / best;
    }
    qsort(tau, (size_t)count, sizeof *tau, compare_reals);
    for (int k = 0; k < count; k++) part[k] = (double)(k + 1) / total;
    for (int k = 0; table && k < count; k++) {
      tb_table_row(table);
      tb_table_text(table, "set", label);
      tb_table_text(table, "solver", b->solvers[s]);
      tb_table_real(table, "tau", tau[k]);
      tb_table_real(table, "fraction", part[k]);
    }
    // A last point far to the right shows the fraction solved at all.
    tau[count] = 1e6;
    part[count] = total ? (double)count / total : 0;
    if (plot && total) tb_plot_line(plot, b->solvers[s], tau, part, count + 1, true);
  }
  free(tau);
  free(part);
}

void bench_report(Bench* b) {
  report_summary(b);
  if (b->peers) report_comparison(b);
  bool* use_case = calloc((size_t)b->case_count + 1, sizeof *use_case);
  bool* use_solver = calloc((size_t)b->solver_count + 1, sizeof *use_solver);
  for (int c = 0; c < b->case_count; c++) use_case[c] = !b->peers || !b->cases[c].global;
  for (int s = 0; s < b->solver_count; s++) use_solver[s] = is_exact(b->solvers[s]);
  tbTable* table = tb_bench_table(b->bench, "profile");
  tbPlot* plot = tb_plot_new("Performance profiles on FCLIB, exact law", 1, 1);
  tb_plot_panel(plot, "fraction solved within a factor of the best", "factor tau", "fraction", true,
                false);
  bench_profile(b, use_case, use_solver, "all", plot, table);
  if (!tb_plot_write(plot, tb_bench_path(b->bench, "profile.svg"))) {
    fprintf(stderr, "cannot write the figure\n");
  }
  free(use_case);
  free(use_solver);
}
