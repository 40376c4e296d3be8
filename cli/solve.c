// `tribo solve`: an FCLIB problem, a law, a solver, and the certificate.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "tribo/fclib.h"
#include "tribo/problem.h"

typedef struct {
  const char* path;
  const char* out;
  bool json;
  tbSolveSettings settings;
} Arguments;

static void print_usage(FILE* f) {
  fprintf(
      f,
      "tribo solve PROBLEM.hdf5 [--law L] [--solver S] [--tol X] [--max-iter N]\n"
      "            [--time-limit X] [--option NAME=VALUE] [--out SOLUTION.h5] [--json]\n\n"
      "Solves a frictional contact problem in FCLIB format (local or global). Exit status: 0 if\n"
      "the solution meets the tolerance, 1 if it does not, 2 for a bad call or file.\n\n");
  fprintf(f, "laws and solvers:\n");
  for (int i = 0; i < tb_solver_count(); i++) {
    fprintf(f, "  %s/%s\n", tb_law_name(tb_solver_law(i)), tb_solver_name(i));
  }
  fprintf(f, "\noptions, with their defaults:\n");
#define TB_X(type, name, value, allowed, meaning) \
  fprintf(f, "  %-20s %s [%g]\n", #name, meaning, (double)(value));
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
}

// Set one field, or say on stderr why not.
static bool set_option(Arguments* a, const char* name, const char* value) {
  tbError error;
  if (tb_solve_settings_set(&a->settings, name, value, &error) == TB_OK) return true;
  fprintf(stderr, "tribo solve: %s\n", error.message);
  return false;
}

// "NAME=VALUE"; the name is copied out of it.
static bool set_pair(Arguments* a, const char* pair) {
  char name[64];
  const char* equal = strchr(pair, '=');
  if (!equal || (size_t)(equal - pair) >= sizeof name) {
    fprintf(stderr, "tribo solve: --option needs NAME=VALUE, not '%s'\n", pair);
    return false;
  }
  memcpy(name, pair, (size_t)(equal - pair));
  name[equal - pair] = 0;
  return set_option(a, name, equal + 1);
}

static bool parse(int argc, char** argv, Arguments* a) {
  static const char* const flags[][2] = {{"--law", "law"},
                                         {"--solver", "solver"},
                                         {"--tol", "tol"},
                                         {"--max-iter", "max_iter"},
                                         {"--time-limit", "time_limit"}};
  a->settings = tbDefaultSolveSettings();
  for (int i = 0; i < argc; i++) {
    const char* arg = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(arg, "--json") == 0) {
      a->json = true;
      continue;
    }
    if (arg[0] != '-') {
      if (a->path) {
        fprintf(stderr, "tribo solve: one problem at a time, not '%s' as well\n", arg);
        return false;
      }
      a->path = arg;
      continue;
    }
    const char* field = NULL;
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++) {
      if (strcmp(arg, flags[k][0]) == 0) field = flags[k][1];
    }
    bool known = field || strcmp(arg, "--out") == 0 || strcmp(arg, "--option") == 0;
    if (!known || !value) {
      fprintf(stderr,
              known ? "tribo solve: %s needs a value (see --help)\n"
                    : "tribo solve: no flag '%s' (see --help)\n",
              arg);
      return false;
    }
    i++;
    if (field && !set_option(a, field, value)) return false;
    if (strcmp(arg, "--out") == 0) a->out = value;
    if (strcmp(arg, "--option") == 0 && !set_pair(a, value)) return false;
  }
  if (!a->path) fprintf(stderr, "tribo solve: a problem file is needed (see --help)\n");
  return a->path != NULL;
}

static void print_json(const tbProblem* problem, const tbSolveInfo* info, const tbReal* lambda) {
  Json json = {stdout, false};
  json_open(&json, NULL);
  json_string(&json, "law", info->law);
  json_string(&json, "solver", info->solver);
  json_string(&json, "status", tb_solve_status_name((tbSolveStatus)info->status));
  json_int(&json, "iterations", info->iterations);
  json_int(&json, "factorizations", info->factorizations);
  json_real(&json, "seconds", info->seconds);
  json_residual(&json, "residual", &info->residual);
  json_residual(&json, "residual_exact", &info->residual_exact);
  json_reals(&json, "lambda", lambda, problem->n);
  json_close(&json);
  printf("\n");
}

static void print_text(const tbFclib* fclib, const tbSolveInfo* info) {
  const tbResidual* r[] = {&info->residual, &info->residual_exact};
  const char* names[] = {"residual", "residual of the exact law"};
  printf("%d contacts, %s/%s: %s after %d iterations, %d factorizations, %.3g s\n", fclib->contacts,
         info->law, info->solver, tb_solve_status_name((tbSolveStatus)info->status),
         info->iterations, info->factorizations, info->seconds);
  for (int k = 0; k < 2; k++) {
    printf("%-26s primal %.3e N s, dual %.3e m/s, complementarity %.3e J, relative %.3e\n",
           names[k], r[k]->primal, r[k]->dual, r[k]->complementarity, r[k]->relative);
  }
}

// The problem together with its solution, as libfclib wants it.
static tbResult write_solution(const char* path, const tbFclib* fclib, const tbProblem* problem,
                               tbReal* lambda, tbError* error) {
  tbReal* sigma = calloc((size_t)problem->n + 1, sizeof *sigma);
  if (!sigma) {
    snprintf(error->message, sizeof error->message, "out of memory");
    return error->code = TB_ERROR_MEMORY;
  }
  tbResult result = tb_problem_velocity(problem, lambda, sigma, error);
  int rows = fclib->spacedim * fclib->contacts;
  tbFclibSolution solution = {NULL, sigma, lambda, problem->n > rows ? lambda + rows : NULL};
  if (result == TB_OK) result = tb_fclib_write(fclib, TB_FCLIB_CSR, path, error);
  if (result == TB_OK) result = tb_fclib_write_solution(path, fclib, &solution, error);
  free(sigma);
  return result;
}

// Everything that may fail with an error message; *status is the solver's.
static tbResult run(const Arguments* a, int* status, tbError* error) {
  tbFclib* fclib = NULL;
  tbProblem* problem = NULL;
  tbReal* lambda = NULL;
  tbSolveInfo info;
  tbResult result = tb_fclib_read(a->path, &fclib, error);
  if (result == TB_OK) result = tb_fclib_problem(fclib, &problem, error);
  if (result == TB_OK) {
    lambda = calloc((size_t)problem->n + 1, sizeof *lambda);
    if (!lambda) {
      snprintf(error->message, sizeof error->message, "out of memory");
      result = TB_ERROR_MEMORY;
    }
  }
  if (result == TB_OK) result = tb_solve(problem, &a->settings, lambda, NULL, &info, error);
  if (result == TB_OK && a->out) result = write_solution(a->out, fclib, problem, lambda, error);
  if (result == TB_OK) {
    *status = info.status;
    if (a->json) print_json(problem, &info, lambda);
    if (!a->json) print_text(fclib, &info);
  }
  free(lambda);
  tb_problem_free(problem);
  tb_fclib_free(fclib);
  return result;
}

int tribo_cmd_solve(int argc, char** argv) {
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      print_usage(stdout);
      return 0;
    }
  }
  Arguments arguments = {NULL, NULL, false, tbDefaultSolveSettings()};
  if (!parse(argc, argv, &arguments)) return 2;
  tbError error = {TB_OK, ""};
  int status = TB_SOLVE_FAILED;
  if (run(&arguments, &status, &error) != TB_OK) {
    fprintf(stderr, "tribo solve: %s\n", error.message);
    return 2;
  }
  return status == TB_SOLVE_CONVERGED ? 0 : 1;
}
