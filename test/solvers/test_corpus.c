// Every solver on the small problems of the FCLIB collection (with the argument "whole" on all of
// them): whatever it answers, it does not claim success that the residual function denies, the
// impulses are finite, and `auto` succeeds on all of them.
#include <dirent.h>

#include "common/test.h"
#include "tribo/fclib.h"
#include "tribo/problem.h"

static int by_name(const struct dirent** a, const struct dirent** b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_problem(const struct dirent* entry) {
  return strstr(entry->d_name, ".hdf5") != NULL;
}

static int most_contacts = 12;

// Methods on dense matrices are for problems of up to some hundred contacts.
static bool dense_method(const char* name) {
  static const char* const names[] = {"staggered", "newton", "prox-newton", "lemke"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    if (strcmp(names[k], name) == 0) return true;
  }
  return false;
}

static void solve_all(const char* name, const tbProblem* p, int* runs, int* converged) {
  tbReal *lambda = calloc((size_t)p->n, sizeof *lambda),
         *sigma = calloc((size_t)p->n, sizeof *sigma);
  for (int s = 0; s < tb_solver_count(); s++) {
    bool automatic = strcmp(tb_solver_name(s), "auto") == 0 && tb_solver_law(s) == TB_LAW_NCP;
    bool dense = dense_method(tb_solver_name(s)) ||
                 (tb_solver_law(s) == TB_LAW_CCP && strcmp(tb_solver_name(s), "ipm") == 0);
    if (dense && p->nblock > 200) continue;
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.law = tb_solver_law(s);
    settings.solver = tb_solver_name(s);
    bool small = p->nblock <= 12;
    settings.tol = automatic && small ? 1e-8 : 1e-6;
    settings.max_iter = small || !automatic ? 500 : 100000;
    if (!automatic && !small) settings.time_limit = 0.02;
    tbSolveInfo info;
    tbError error;
    memset(lambda, 0, (size_t)p->n * sizeof *lambda);
    tbResult result = tb_solve(p, &settings, lambda, NULL, &info, &error);
    if (result == TB_ERROR_UNSUPPORTED) continue;
    if (result != TB_OK) fail_msg("%s: %s", name, error.message);
    tb_problem_velocity(p, lambda, sigma, NULL);
    bool exact = strcmp(settings.solver, "pgs-exact") == 0;
    tbResidual r = tb_residual(p, exact ? TB_LAW_NCP : (tbLaw)settings.law, lambda, sigma);
    assert_true((info.status == TB_SOLVE_CONVERGED) == (r.relative <= settings.tol));
    if (automatic && info.status != TB_SOLVE_CONVERGED) {
      fail_msg("%s: auto reached %g only", name, r.relative);
    }
    for (int i = 0; i < p->n; i++) assert_true(isfinite(lambda[i]));
    *runs += 1;
    *converged += info.status == TB_SOLVE_CONVERGED;
  }
  free(lambda);
  free(sigma);
}

static void every_solver(void** state) {
  (void)state;
  int runs = 0, converged = 0;
  const char* folders[] = {"fclib/local", "fclib/global"};
  for (int f = 0; f < 2; f++) {
    char folder[1024], path[2048];
    struct dirent** entry = NULL;
    if (!tb_test_shared(folders[f], folder, sizeof folder)) skip();
    int count = scandir(folder, &entry, is_problem, by_name);
    assert_true(count > 0);
    for (int k = 0; k < count; k++) {
      tbFclib* file = NULL;
      tbProblem* p = NULL;
      tbError error;
      snprintf(path, sizeof path, "%s/%s", folder, entry[k]->d_name);
      tbResult result = tb_fclib_read(path, &file, &error);
      if (result == TB_ERROR_UNSUPPORTED) skip();
      if (result != TB_OK) fail_msg("%s: %s", path, error.message);
      if (file->contacts <= most_contacts) {
        if (tb_fclib_problem(file, &p, &error) != TB_OK) fail_msg("%s: %s", path, error.message);
        solve_all(entry[k]->d_name, p, &runs, &converged);
        tb_problem_free(p);
      }
      tb_fclib_free(file);
      free(entry[k]);
    }
    free(entry);
  }
  print_message("%d of %d runs converged\n", converged, runs);
  assert_true(converged > (most_contacts > 12 ? 0.4 : 0.8) * runs);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "whole") == 0) most_contacts = 100000;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_solver)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
