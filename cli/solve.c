// `tribo solve`: an FCLIB problem, a law, a solver, and the certificate.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "args.h"
#include "commands.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "nearest.h"
#include "output.h"
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

// Set one field; false after a complaint with the nearest known word.
static bool set_option(Arguments* a, const char* name, const char* value) {
  tbError error;
  if (tb_solve_settings_set(&a->settings, name, value, &error) == TB_OK) return true;
  if (strcmp(name, "law") == 0) {
    Nearest nearest = {.word = value};
    for (int i = 0; i < TB_LAW_COUNT; i++) nearest_offer(&nearest, tb_law_name((tbLaw)i));
    return complain("solve", "%s%s", error.message, nearest_hint(&nearest));
  }
  Nearest nearest = {.word = name};
#define TB_X(type, field, ...) nearest_offer(&nearest, #field);
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  // A known name is its own nearest word: then the value is wrong.
  bool known = strcmp(nearest.best, name) == 0;
  return complain("solve", "%s%s", error.message, known ? "" : nearest_hint(&nearest));
}

// False after a complaint.
static bool parse(int argc, char** argv, Arguments* a) {
  static const char* const SHORT[][2] = {{"--law", "law"},
                                         {"--solver", "solver"},
                                         {"--tol", "tol"},
                                         {"--max-iter", "max_iter"},
                                         {"--time-limit", "time_limit"}};
  OptionList options = {.count = 0};
  Grammar g = {.command = "solve", .noun = "problem", .path = &a->path};
  for (size_t i = 0; i < sizeof SHORT / sizeof SHORT[0]; i++) {
    grammar_add(&g, (Flag){.name = SHORT[i][0], .options = &options, .option = SHORT[i][1]});
  }
  grammar_add(&g, (Flag){.name = "--option", .options = &options});
  grammar_add(&g, (Flag){.name = "--out", .text = &a->out});
  grammar_add(&g, (Flag){.name = "--json", .on = &a->json});
  if (!grammar_parse(&g, argc, argv)) return false;
  for (int i = 0; i < options.count; i++) {
    if (!set_option(a, options.item[i].name, options.item[i].value)) return false;
  }
  return a->path != NULL || complain("solve", "a problem file is required (see --help)");
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

// Read the written solution back: HDF5 does not report a disk that was full when the file was
// closed.
static tbResult read_back(const char* path, const tbFclib* fclib, const tbReal* r, tbError* error) {
  tbFclib* again = NULL;
  tbFclibSolution solution = {NULL, NULL, NULL, NULL};
  size_t size = sizeof *r * (size_t)(fclib->spacedim * fclib->contacts);
  tbResult result = tb_fclib_read(path, &again, error);
  if (result == TB_OK) result = tb_fclib_read_solution(path, again, 0, &solution, error);
  bool same = result == TB_OK && solution.r && memcmp(solution.r, r, size) == 0;
  if (!same) snprintf(error->message, sizeof error->message, "the solution could not be written");
  tb_fclib_solution_free(&solution);
  tb_fclib_free(again);
  return same ? TB_OK : TB_ERROR_FILE;
}

// Write the problem together with its solution, as libfclib expects it.
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
  struct stat status;
  bool readable = stat(path, &status) == 0 && S_ISREG(status.st_mode);
  if (result == TB_OK && readable) result = read_back(path, fclib, lambda, error);
  free(sigma);
  return result;
}

typedef struct {
  tbFclib* fclib;
  tbProblem* problem;
  tbReal* lambda;
  tbSolveInfo info;
} Solved;

static void free_solved(Solved* s) {
  free(s->lambda);
  tb_problem_free(s->problem);
  tb_fclib_free(s->fclib);
}

// Read, solve and write to `out` (NULL: no output); false after a complaint.
static bool run(const Arguments* a, const char* out, Solved* s) {
  tbError error = {TB_OK, ""};
  tbResult result = tb_fclib_read(a->path, &s->fclib, &error);
  if (result == TB_OK) result = tb_fclib_problem(s->fclib, &s->problem, &error);
  if (result != TB_OK) return complain("solve", "%s", error.message);
  s->lambda = calloc((size_t)s->problem->n + 1, sizeof *s->lambda);
  if (!s->lambda) return complain("solve", "out of memory");
  if (tb_solve(s->problem, &a->settings, s->lambda, NULL, &s->info, &error) != TB_OK) {
    Nearest nearest = {.word = a->settings.solver};
    for (int i = 0; i < tb_solver_count(); i++) nearest_offer(&nearest, tb_solver_name(i));
    bool known = strcmp(nearest.best, nearest.word) == 0;
    return complain("solve", "%s%s", error.message, known ? "" : nearest_hint(&nearest));
  }
  if (out && write_solution(out, s->fclib, s->problem, s->lambda, &error) != TB_OK) {
    return complain("solve", "%s: %s", a->out, error.message);
  }
  return true;
}

int tribo_cmd_solve(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    print_usage(stdout);
    return 0;
  }
  Arguments a = {NULL, NULL, false, tbDefaultSolveSettings()};
  Output out;
  if (!parse(argc, argv, &a) || !output_begin(&out, a.out, "solve")) return 2;
  interrupt_ends_program(output_is_aside(&out) ? out.write : NULL,
                         a.json ? "{\"error\": \"interrupted\"}\n" : NULL);
  Solved solved = {.lambda = NULL};
  bool ok = run(&a, out.write, &solved);
  interrupt_ends_program(NULL, NULL);
  ok = output_end(&out, ok, "solve") && ok;
  if (ok && a.json) print_json(solved.problem, &solved.info, solved.lambda);
  if (ok && !a.json) print_text(solved.fclib, &solved.info);
  int status = solved.info.status;
  free_solved(&solved);
  return !ok ? 2 : status == TB_SOLVE_CONVERGED ? 0 : 1;
}
