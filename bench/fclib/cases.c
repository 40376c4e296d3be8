// The corpus, and one solve of one problem.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fclib/fclib_bench.h"
#include "fclib/siconos.h"

// In --short runs: every third problem of up to 60 contacts, and those of figure 4.
static bool wanted(const Bench* b, int index, const char* file, int contacts) {
  if (!strstr(file, b->problems)) return false;
  if (!tb_bench_short(b->bench) || (index % 3 == 0 && contacts <= 60)) return true;
  return strstr(file, "Rover1040") || strstr(file, "gen-BoxStackRatio8_4-s00119");
}

static bool load_case(Bench* b, const char* folder, const char* file, const char* family) {
  Case c;
  char path[2048];
  tbError error;
  memset(&c, 0, sizeof c);
  snprintf(path, sizeof path, "%.1000s/%.1000s", folder, file);
  if (tb_fclib_read(path, &c.fclib, &error) != TB_OK ||
      tb_fclib_problem(c.fclib, &c.problem, &error) != TB_OK) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    tb_fclib_free(c.fclib);
    return false;
  }
  const char* slash = strrchr(file, '/');
  snprintf(c.name, sizeof c.name, "%.120s", slash ? slash + 1 : file);
  char* dot = strrchr(c.name, '.');
  if (dot) *dot = 0;
  snprintf(c.family, sizeof c.family, "%.60s", family);
  c.global = c.fclib->global;
  c.contacts = c.fclib->contacts;
  b->cases[b->case_count++] = c;
  return true;
}

bool bench_load(Bench* b, const char* folder) {
  char path[1024], line[4096];
  snprintf(path, sizeof path, "%s/index.csv", folder);
  FILE* f = fopen(path, "r");
  if (!f) {
    fprintf(stderr, "skipped: the corpus is not here (%s)\n", path);
    return false;
  }
  b->cases = calloc(1024, sizeof *b->cases);
  // Columns: file, kind, family, contacts, ...
  for (int index = -1; b->cases && fgets(line, sizeof line, f) && b->case_count < 1024; index++) {
    char* field[4] = {line, NULL, NULL, NULL};
    int count = 1;
    for (char* p = line; *p && count < 5; p++) {
      if (*p != ',') continue;
      *p = 0;
      if (count < 4) field[count] = p + 1;
      count++;
    }
    if (index < 0 || count < 5 || !wanted(b, index, field[0], atoi(field[3]))) continue;
    load_case(b, folder, field[0], field[2]);
  }
  fclose(f);
  return b->case_count > 0;
}

void bench_free(Bench* b) {
  for (int i = 0; i < b->case_count; i++) {
    tb_problem_free(b->cases[i].problem);
    tb_fclib_free(b->cases[i].fclib);
  }
  free(b->cases);
  free(b->runs);
  free(b->solvers);
}

Run bench_solve(const Bench* b, const Case* c, const tbSolveSettings* settings, tbReal* lambda) {
  Run run;
  memset(&run, 0, sizeof run);
  tbSolveInfo info;
  tbError error;
  tbSolveWork* work = tb_solve_work_create();
  double samples[64], total = 0;
  int count = 0, repeats = b->repeats < 64 ? b->repeats : 64;
  bool ok = true;
  memset(&info, 0, sizeof info);
  // From zero each time; the scratch memory is kept, as in a simulation. The first call is not
  // timed where there are more.
  for (int k = 0; k <= repeats && ok && (k < 2 || total < 0.05 * b->limit); k++) {
    memset(lambda, 0, (size_t)c->problem->n * sizeof *lambda);
    tbClock start = tb_bench_clock();
    ok = tb_solve(c->problem, settings, lambda, work, &info, &error) == TB_OK;
    double seconds = tb_bench_since(start);
    total += seconds;
    if (k == 0 && seconds < 0.1 * b->limit) continue;
    samples[count++] = seconds;
    if (seconds >= 0.1 * b->limit) break;
  }
  tb_solve_work_free(work);
  run.seconds = count > 0 ? tb_bench_median(samples, count) : b->limit;
  run.solved = ok && info.status == TB_SOLVE_CONVERGED && run.seconds <= b->limit;
  run.status = ok ? tb_solve_status_name((tbSolveStatus)info.status) : "error";
  run.iterations = info.iterations;
  run.factorizations = info.factorizations;
  run.residual = info.residual;
  run.residual_exact = info.residual_exact;
  if (!run.solved) run.seconds = b->limit;
  return run;
}

Run bench_siconos(const Bench* b, const Case* c, int method) {
  Run run;
  memset(&run, 0, sizeof run);
  snprintf(run.solver, sizeof run.solver, "%s", siconos_name((SiconosMethod)method));
  run.status = "not solved";
  run.seconds = b->limit;
  run.residual_exact.relative = run.residual.relative = INFINITY;
  size_t n = (size_t)c->problem->n;
  tbReal *r = calloc(n + 1, sizeof *r), *sigma = calloc(n + 1, sizeof *sigma);
  tbError error;
  // Siconos' error measure may be larger or smaller than ours: start with a wide tolerance, then
  // tighten it.
  for (double tol = 10 * b->tol; r && sigma && tol > 1e-15; tol *= 0.1) {
    SiconosRun got = siconos_solve(c->fclib, (SiconosMethod)method, tol, b->limit, b->repeats, r);
    if (!got.finished) break;
    if (tb_problem_velocity(c->problem, r, sigma, &error) != TB_OK) break;
    tbResidual residual = tb_residual(c->problem, TB_LAW_NCP, r, sigma);
    run.residual = run.residual_exact = residual;
    run.iterations = got.iterations;
    run.setting = tol;
    if (residual.relative > b->tol) continue;
    run.solved = true;
    run.status = "converged";
    run.seconds = got.seconds;
    break;
  }
  free(r);
  free(sigma);
  return run;
}
