// MAP_ANONYMOUS is not in POSIX 2008.
#define _DEFAULT_SOURCE
#include "fclib/siconos.h"

#include <stdio.h>
#include <string.h>

const char* siconos_name(SiconosMethod method) {
  static const char* const names[] = {"siconos/nsgs", "siconos/nsgs-full", "siconos/nsn-ac",
                                      "siconos/admm", "siconos/prox"};
  return names[method];
}

#ifdef TB_BENCH_SICONOS

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <NumericsVerbose.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"
#include "common/bench.h"

bool siconos_available(void) {
  return true;
}

// Result of a child, in memory shared with the parent; r follows.
typedef struct {
  SiconosRun run;
  double r[];
} Shared;

// W in triplets: Siconos makes from them what each solver wants.
static NumericsMatrix* make_sparse(const tbFclibMatrix* W) {
  NumericsMatrix* matrix = NM_create(NM_SPARSE, W->rows, W->cols);
  NM_triplet_alloc(matrix, W->start[W->rows]);
  matrix->matrix2->origin = NSM_TRIPLET;
  for (int r = 0; r < W->rows; r++) {
    for (int k = W->start[r]; k < W->start[r + 1]; k++) {
      NM_entry(matrix, r, W->index[k], W->value[k]);
    }
  }
  return matrix;
}

// Gauss-Seidel is fastest on 3 x 3 blocks.
static NumericsMatrix* make_blocks(const tbFclibMatrix* W) {
  NumericsMatrix* sparse = make_sparse(W);
  SparseBlockStructuredMatrix* blocks = SBM_new();
  if (SBM_from_csparse(3, NM_csc(sparse), blocks) != 0) return sparse;
  return NM_new_SBM(W->rows, W->cols, blocks);
}

static SolverOptions* make_options(SiconosMethod method, double tol) {
  static const int ids[] = {SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_NSGS,
                            SICONOS_FRICTION_3D_NSN_AC, SICONOS_FRICTION_3D_ADMM,
                            SICONOS_FRICTION_3D_PROX};
  static const int iterations[] = {10000000, 10000000, 2000, 1000000, 10000};
  SolverOptions* options = solver_options_create(ids[method]);
  options->dparam[SICONOS_DPARAM_TOL] = tol;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = iterations[method];
  if (method == SICONOS_NSGS_FULL) {
    options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] =
        SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL;
    options->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION_FREQUENCY] = 1;
  }
  return options;
}

// In the child: build the problem, solve it several times, leave the result in shared memory.
static void solve_here(const tbFclib* fclib, SiconosMethod method, double tol, double limit,
                       int repeats, Shared* shared) {
  int n = fclib->W.rows;
  bool gauss_seidel = method == SICONOS_NSGS || method == SICONOS_NSGS_FULL;
  double* velocity = calloc((size_t)n + 1, sizeof(double));
  double* samples = calloc((size_t)repeats, sizeof(double));
  double begin = tb_seconds();
  numerics_set_verbose(0);
  int count = 0;
  while (count < repeats && (count == 0 || tb_seconds() - begin < 0.05 * limit)) {
    // A fresh problem and fresh options, so that nothing is carried over and none of it is timed.
    NumericsMatrix* W = gauss_seidel ? make_blocks(&fclib->W) : make_sparse(&fclib->W);
    if (!gauss_seidel) NM_csc(W);
    FrictionContactProblem* problem =
        frictionContactProblem_new_with_data(3, fclib->contacts, W, fclib->q, fclib->mu);
    SolverOptions* options = make_options(method, tol);
    memset(shared->r, 0, (size_t)n * sizeof(double));
    memset(velocity, 0, (size_t)n * sizeof(double));
    tbClock start = tb_bench_clock();
    shared->run.info = fc3d_driver(problem, shared->r, velocity, options);
    samples[count++] = tb_bench_since(start);
    shared->run.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
  }
  shared->run.seconds = tb_bench_median(samples, count);
  shared->run.finished = true;
}

SiconosRun siconos_solve(const tbFclib* fclib, SiconosMethod method, double tol, double limit,
                         int repeats, double* r) {
  SiconosRun none = {false, 1, 0, limit};
  int n = fclib->W.rows;
  size_t size = sizeof(Shared) + (size_t)n * sizeof(double);
  Shared* shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return none;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    munmap(shared, size);
    return none;
  }
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    solve_here(fclib, method, tol, limit, repeats, shared);
    _exit(0);
  }
  // Wait, looking often at first so that short runs cost little.
  double begin = tb_seconds();
  long nap = 100000;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (tb_seconds() - begin > 1.1 * limit + 0.2) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    struct timespec pause = {0, nap};
    nanosleep(&pause, NULL);
    if (nap < 20000000) nap *= 2;
  }
  SiconosRun run = shared->run.finished ? shared->run : none;
  if (run.seconds > limit) run.finished = false;
  memcpy(r, shared->r, (size_t)n * sizeof(double));
  munmap(shared, size);
  return run;
}

#else

bool siconos_available(void) {
  return false;
}

SiconosRun siconos_solve(const tbFclib* fclib, SiconosMethod method, double tol, double limit,
                         int repeats, double* r) {
  (void)fclib;
  (void)method;
  (void)tol;
  (void)repeats;
  (void)r;
  return (SiconosRun){false, 1, 0, limit};
}

#endif
