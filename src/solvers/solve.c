// tb_solve: checks, dispatch by the list, and the status by the residual function.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "problem/problem.h"
#include "solvers/solver.h"

// First word of a tbSolveWork, which other pointers do not have.
static const uint64_t WORK_MAGIC = UINT64_C(0x6b726f57766c6f53);

struct tbSolveWork {
  uint64_t magic;
  tbArena arena;
  tbSolveCache cache;
};

static const tbSolverEntry solvers[] = {
#define TB_SOLVER(law, name, function) {TB_LAW_##law, name, function},
#include "solvers/solver_list.h"
#undef TB_SOLVER
};

enum { SOLVER_COUNT = sizeof solvers / sizeof solvers[0] };

int tb_solver_count(void) {
  return SOLVER_COUNT;
}

const char* tb_solver_name(int index) {
  return index >= 0 && index < SOLVER_COUNT ? solvers[index].name : NULL;
}

tbLaw tb_solver_law(int index) {
  return index >= 0 && index < SOLVER_COUNT ? solvers[index].law : TB_LAW_COUNT;
}

// The registered solver of that law and name, or NULL.
static const tbSolverEntry* find_solver(tbLaw law, const char* name) {
  for (int i = 0; i < SOLVER_COUNT; i++) {
    if (solvers[i].law == law && strcmp(solvers[i].name, name) == 0) return &solvers[i];
  }
  return NULL;
}

tbSolveWork* tb_solve_work_create(void) {
  tbSolveWork* work = calloc(1, sizeof *work);
  if (!work) return NULL;
  work->magic = WORK_MAGIC;
  tb_arena_init(&work->arena);
  return work;
}

void tb_solve_work_free(tbSolveWork* work) {
  if (!work) return;
  tb_arena_free(&work->arena);
  free(work->cache.eigenvector);
  work->magic = 0;
  free(work);
}

size_t tb_solve_work_allocations(const tbSolveWork* work) {
  return work ? work->arena.allocations + work->cache.allocations : 0;
}

size_t tb_solve_work_bytes(const tbSolveWork* work) {
  if (!work) return 0;
  return sizeof *work + work->arena.bytes + sizeof(tbReal) * (size_t)work->cache.capacity;
}

void tb_solve_work_limit(tbSolveWork* work, size_t bytes) {
  if (work) work->arena.limit = bytes;
}

void tb_solve_work_forget(tbSolveWork* work) {
  if (work) work->cache.n = 0;
}

tbReal* tb_solve_reals(tbSolve* s, size_t count) {
  return TB_ARENA_NEW(s->arena, tbReal, count);
}

tbResult tb_solve_no_memory(tbSolve* s) {
  return tb_fail(s->error, TB_ERROR_MEMORY, "out of memory while solving %d rows", s->p->n);
}

tbReal tb_solve_measure(const tbSolve* s, const tbResidual* residual) {
  return s->settings->tol_absolute > 0 ? tb_residual_absolute(residual) : residual->relative;
}

int tb_solve_gave_up(const tbSolve* s) {
  bool used_up = s->info->iterations >= s->settings->max_iter;
  return used_up ? TB_SOLVE_MAX_ITERATIONS : TB_SOLVE_STALLED;
}

bool tb_solve_late(tbSolve* s) {
  tbReal limit = s->settings->time_limit;
  if (!(limit > 0) || !(tb_seconds() - s->start > limit)) return false;
  s->info->status = TB_SOLVE_TIME_LIMIT;
  return true;
}

bool tb_solve_check_sigma(tbSolve* s, const tbReal* lambda, const tbReal* sigma, int iteration,
                          tbReal penalty) {
  const tbSolveSettings* settings = s->settings;
  s->last = tb_residual(s->p, s->law, lambda, sigma);
  tbReal measure = tb_solve_measure(s, &s->last);
  s->info->iterations = iteration;

  // The history, if requested.
  if (settings->history && s->info->history_count < settings->history_capacity) {
    tbSolveHistory* h = &settings->history[s->info->history_count++];
    *h = (tbSolveHistory){iteration, tb_seconds() - s->start, s->last, penalty};
  }

  // The best so far, and the stop test.
  if (measure < s->best_residual) {
    s->best_residual = measure;
    memcpy(s->best, lambda, (size_t)s->p->n * sizeof *lambda);
  }
  if (measure <= s->tolerance) {
    s->info->status = TB_SOLVE_CONVERGED;
    return true;
  }
  return tb_solve_late(s);
}

bool tb_solve_check(tbSolve* s, const tbReal* lambda, int iteration, tbReal penalty) {
  tb_delassus_velocity(s->p, lambda, s->velocity, s->sigma);
  return tb_solve_check_sigma(s, lambda, s->sigma, iteration, penalty);
}

// The error for an unknown solver name: lists the solvers of the law.
static tbResult unknown_solver(tbLaw law, const char* name, tbError* error) {
  char list[256] = "";
  for (int i = 0; i < SOLVER_COUNT; i++) {
    size_t used = strlen(list);
    if (solvers[i].law != law) continue;
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", solvers[i].name);
  }
  return tb_fail(error, TB_ERROR_UNSUPPORTED, "law %s has no solver \"%s\", it has %s",
                 tb_law_name(law), name, list);
}

static tbResult check_settings(const tbSolveSettings* set, const tbSolverEntry** entry,
                               tbError* error) {
  if (set->law < 0 || set->law >= TB_LAW_COUNT) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "law %d is not one of the %d laws", set->law,
                   (int)TB_LAW_COUNT);
  }
  const char* name = set->solver ? set->solver : "auto";
  *entry = find_solver((tbLaw)set->law, name);
  if (!*entry) return unknown_solver((tbLaw)set->law, name, error);
  return tb_solve_settings_check(set, error);
}

// Start from the caller's guess for a warm start, else from zero.
static tbResult begin(tbSolve* s, const tbReal* guess) {
  size_t n = (size_t)s->p->n;
  s->lambda = tb_solve_reals(s, n);
  s->sigma = tb_solve_reals(s, n);
  s->best = tb_solve_reals(s, n);
  int ncol = s->p->G.form == TB_DELASSUS_PRODUCT ? s->p->G.ncol : 0;
  s->velocity = tb_solve_reals(s, (size_t)ncol);
  if (s->arena->failed) return tb_solve_no_memory(s);
  s->best_residual = INFINITY;
  if (s->settings->warm_start) {
    for (size_t i = 0; i < n; i++) s->lambda[i] = isfinite(guess[i]) ? guess[i] : 0;
    for (int i = 0; i < s->p->nblock; i++) {
      tbReal* block = s->lambda + s->p->block[i].row;
      tb_block_project(&s->p->block[i], s->law, block, block);
    }
  }
  return TB_OK;
}

// The result is the best iterate; it has converged only if its newly computed residual is below the
// tolerance.
static void finish(tbSolve* s, tbReal* lambda) {
  tbSolveInfo* info = s->info;
  const bool failed = !isfinite(s->best_residual);
  for (int i = 0; i < s->p->n; i++) lambda[i] = failed ? 0 : s->best[i];
  if (failed) info->status = TB_SOLVE_FAILED;
  tb_delassus_velocity(s->p, lambda, s->velocity, s->sigma);
  info->residual = tb_residual(s->p, s->law, lambda, s->sigma);
  info->residual_exact =
      s->law == TB_LAW_NCP ? info->residual : tb_residual(s->p, TB_LAW_NCP, lambda, s->sigma);
  bool good = tb_solve_measure(s, &info->residual) <= s->tolerance;
  if (good) {
    info->status = TB_SOLVE_CONVERGED;
  } else if (info->status == TB_SOLVE_CONVERGED) {
    info->status = TB_SOLVE_STALLED;
  }
  info->seconds = tb_seconds() - s->start;
}

// Solve, given the problem, settings, memory, error and start time of `s`.
static tbResult run(tbSolve* s, const tbSolverEntry* entry, tbReal* lambda, tbSolveInfo* info) {
  const tbSolveSettings* set = s->settings;
  s->law = (tbLaw)set->law;
  s->tolerance = set->tol_absolute > 0 ? set->tol_absolute : set->tol;
  s->info = info;
  *info = (tbSolveInfo){
      .status = TB_SOLVE_MAX_ITERATIONS, .law = tb_law_name(s->law), .solver = entry->name};
  tbResult result = begin(s, lambda);
  if (result != TB_OK) return result;

  // The guess, or zero, may already be a solution.
  if (!tb_solve_check(s, s->lambda, 0, 0)) {
    info->status = TB_SOLVE_MAX_ITERATIONS;
    result = entry->solve(s);
    // An unsolved problem may be ill-posed.
    bool solved = result == TB_OK && info->status == TB_SOLVE_CONVERGED;
    if (set->check && !solved && tb_problem_check_definite(s->p, s->error) != TB_OK) {
      return TB_ERROR_ARGUMENT;
    }
    if (result != TB_OK) return result;
    if (info->status != TB_SOLVE_CONVERGED) tb_solve_check(s, s->lambda, info->iterations, 0);
  }
  finish(s, lambda);
  return TB_OK;
}

static tbResult solve(const tbProblem* p, const tbSolveSettings* set, tbReal* lambda,
                      tbSolveWork* work, tbSolveInfo* info, tbError* error) {
  double start = tb_seconds();
  const tbSolverEntry* entry = NULL;
  tbResult result = check_settings(set, &entry, error);
  if (result == TB_OK && set->check) result = tb_problem_check(p, error);
  if (result != TB_OK) return result;
  tb_arena_reset(&work->arena);
  tbSolve s = {.p = p,
               .settings = set,
               .arena = &work->arena,
               .cache = &work->cache,
               .error = error,
               .start = start};
  return run(&s, entry, lambda, info);
}

bool tb_solve_exact(const tbProblem* p, tbReal tolerance, int max_iter, tbArena* arena,
                    tbReal* lambda, tbSolveInfo* info) {
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.tol = tolerance;
  settings.max_iter = max_iter;
  settings.warm_start = 1;
  settings.check = 0;
  tbError error;
  tbArenaMark mark = tb_arena_mark(arena);
  tbSolve s = {
      .p = p, .settings = &settings, .arena = arena, .error = &error, .start = tb_seconds()};
  tbResult result = run(&s, find_solver(TB_LAW_NCP, "auto"), lambda, info);
  tb_arena_release(arena, mark);
  return result == TB_OK;
}

tbResult tb_solve(const tbProblem* problem, const tbSolveSettings* settings, tbReal* lambda,
                  tbSolveWork* work, tbSolveInfo* info, tbError* error) {
  tb_error_clear(error);
  if (!problem || (!lambda && problem->n > 0)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_solve: problem and lambda must not be NULL");
  }
  if (work && work->magic != WORK_MAGIC) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_solve: work is not a tbSolveWork");
  }
  tbSolveSettings defaults = tbDefaultSolveSettings();
  tbSolveInfo ignored;
  tbSolveWork* own = work ? NULL : tb_solve_work_create();
  if (!work && !own) return tb_fail(error, TB_ERROR_MEMORY, "tb_solve: out of memory");
  if (!info) info = &ignored;
  tbResult result =
      solve(problem, settings ? settings : &defaults, lambda, work ? work : own, info, error);
  // After an error there is no solution to evaluate.
  if (result != TB_OK) {
    *info = (tbSolveInfo){.status = TB_SOLVE_FAILED};
    info->residual = info->residual_exact = (tbResidual){NAN, NAN, NAN, NAN};
  }
  if (result != TB_OK && error && !error->message[0]) {
    tb_fail(error, result, "the solver failed: %s", tb_result_name(result));
  }
  tb_solve_work_free(own);
  return result;
}
