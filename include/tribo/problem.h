// The contact problem and its solvers, usable without a robot.
//
// With sigma = (G + R) lambda + g, the exact law of unilateral contact with Coulomb friction is
//
//     K ∋ lambda  ⟂  sigma + Gamma(sigma) ∈ K*                          (CM eq. 15, ADMM eq. 27)
//
// lambda: impulses (N s), sigma: velocities (m/s), G: the Delassus matrix, R: diagonal compliance.
// A user fills a tbProblem (plain views of the caller's memory, nothing is copied), or lets one of
// the tb_problem_create_* functions do so, and calls tb_solve.
#ifndef TRIBO_PROBLEM_H_
#define TRIBO_PROBLEM_H_

#include "tribo/types.h"

TB_EXTERN_C_BEGIN

// ---- the problem -------------------------------------------------------------------------------

enum { TB_MAX_BLOCK_DIM = 6 };

typedef enum {
  TB_BLOCK_EQUALITY = 0,  // lambda free, sigma = 0
  TB_BLOCK_ONE_SIDED,     // each row: 0 <= lambda ⟂ sigma >= 0
  TB_BLOCK_BOX,           // each row: lower <= lambda <= upper, sigma opposes at a bound
  TB_BLOCK_CONE,          // normal row first: sqrt(sum (lambda_Ti / mu_i)^2) <= lambda_N
} tbBlockType;

// One block of consecutive rows. Blocks lie in row order and cover all rows.
typedef struct {
  int type;                         // a tbBlockType
  int row;                          // first row
  int dim;                          // rows: 1 to 6; a cone has 2 to 6 (3, 4, 6 for contacts)
  tbReal mu[TB_MAX_BLOCK_DIM - 1];  // cone: friction coefficient of each tangential row, >= 0
  tbReal lower, upper;              // box: bounds of every row, infinite allowed
} tbBlock;

typedef enum {
  TB_DELASSUS_DENSE = 0,  // row-major, symmetric
  TB_DELASSUS_SPARSE,     // blocks of rows compressed (BSR) over the problem's blocks
  TB_DELASSUS_PRODUCT,    // G = B B^T, B = J M^-1/2 in compressed rows (CSR): trees, many bodies
} tbDelassusForm;

// G in one of its forms. The fields of the other forms are ignored.
typedef struct {
  int form;  // a tbDelassusForm

  // DENSE: G[i * stride + j]
  const tbReal* dense;
  int stride;

  // SPARSE: block row i holds entries k = block_start[i] .. block_start[i+1]-1, each a
  // dim_i x dim_j row-major matrix at block_value + block_offset[k], j = block_column[k]. The
  // pattern is symmetric, both halves are stored, each row holds its diagonal block, no block is
  // there twice, and the values of the blocks follow each other in the order of k.
  const int* block_start;
  const int* block_column;
  const int* block_offset;
  const tbReal* block_value;

  // PRODUCT: row r of B holds entries k = row_start[r] .. row_start[r+1]-1, columns in [0, ncol).
  int ncol;
  const int* row_start;
  const int* row_column;
  const tbReal* row_value;
} tbDelassus;

// All pointers are views: the memory belongs to the caller who filled them in.
typedef struct {
  int n;       // rows
  int nblock;  // blocks
  const tbBlock* block;
  tbDelassus G;
  const tbReal* R;  // compliance, n entries >= 0; NULL: rigid
  const tbReal* g;  // free velocity, n entries
} tbProblem;

// Errors: inconsistent sizes, starts, columns or offsets, NaN or infinite numbers, negative mu,
// compliance or diagonal, empty boxes, a G that is not symmetric, or has a negative eigenvalue in a
// diagonal block or in the 2 x 2 block of any two of its rows.
TB_API tbResult tb_problem_check(const tbProblem* problem, tbError* error);

// Blocks of `count` cones with three rows and one coefficient mu[i] each. Does nothing if a pointer
// is NULL.
TB_API void tb_blocks_contacts(int count, const tbReal* mu, tbBlock* block);

// Problems that own a copy of their data, freed by tb_problem_free (all `_free` functions accept
// NULL). `R` may be NULL. On error NULL, and `error` says why.
TB_API tbProblem* tb_problem_create_dense(int nblock, const tbBlock* block, const tbReal* G,
                                          const tbReal* R, const tbReal* g, tbError* error);

// G in scalar compressed rows, both halves stored; becomes the SPARSE form. Entries of the same row
// and column add up; a row has at most as many entries as G has columns.
TB_API tbProblem* tb_problem_create_csr(int nblock, const tbBlock* block, const int* row_start,
                                        const int* column, const tbReal* value, const tbReal* R,
                                        const tbReal* g, tbError* error);

// G = J M^-1 J^T and g = J v_free + gamma, with M (nv x nv, symmetric positive definite, both
// halves) and J (rows x nv) in scalar compressed rows; becomes the PRODUCT form. `gamma` may be
// NULL.
TB_API tbProblem* tb_problem_create_mass(int nblock, const tbBlock* block, int nv,
                                         const int* M_start, const int* M_column,
                                         const tbReal* M_value, const int* J_start,
                                         const int* J_column, const tbReal* J_value,
                                         const tbReal* R, const tbReal* v_free, const tbReal* gamma,
                                         tbError* error);

// G = B B^T with B (rows x ncol) in scalar compressed rows: stored directly as the PRODUCT form.
TB_API tbProblem* tb_problem_create_product(int nblock, const tbBlock* block, int ncol,
                                            const int* row_start, const int* column,
                                            const tbReal* value, const tbReal* R, const tbReal* g,
                                            tbError* error);
TB_API void tb_problem_free(tbProblem* problem);

// sigma = (G + R) lambda + g.
TB_API tbResult tb_problem_velocity(const tbProblem* problem, const tbReal* lambda, tbReal* sigma,
                                    tbError* error);

// ---- laws and residuals ------------------------------------------------------------------------

typedef enum {
  TB_LAW_NCP = 0,  // exact
  TB_LAW_CCP,      // convex: no Gamma (CM eq. 16)
  TB_LAW_LCP,      // pyramid |lambda_Ti| <= mu_i lambda_N instead of the cone (CM III-A)
  TB_LAW_RAISIM,   // Signorini and Coulomb without maximum dissipation (CM eq. 23)
  TB_LAW_COUNT
} tbLaw;

// "ncp", "ccp", "lcp", "raisim"; "unknown" out of range.
TB_API const char* tb_law_name(tbLaw law);
// The law of that name, or TB_LAW_COUNT.
TB_API tbLaw tb_law_find(const char* name);

// Violation of a law by lambda: sup over blocks.
typedef struct {
  tbReal primal;           // dist(lambda, K), N s
  tbReal dual;             // dist(sigma + Gamma(sigma), K*), m/s
  tbReal complementarity;  // |<lambda, sigma + Gamma(sigma)>|, J
  tbReal relative;  // the largest after division by |lambda|, |g| and |lambda| |g| (sup norms)
} tbResidual;

// The one residual function: stop tests, tests, plots and reports all use it. `sigma` is (G + R)
// lambda + g. Residuals are infinite for a non-finite or NULL input.
TB_API tbResidual tb_residual(const tbProblem* problem, tbLaw law, const tbReal* lambda,
                              const tbReal* sigma);

// The largest of the three absolute parts.
TB_API tbReal tb_residual_absolute(const tbResidual* residual);

// ---- solving -----------------------------------------------------------------------------------

typedef enum {
  // The residual is within the tolerance. Steps report it also for laws in closed form (comfree,
  // viscoelastic except euler-implicit), which have no iteration that could fail.
  TB_SOLVE_CONVERGED = 0,
  TB_SOLVE_MAX_ITERATIONS,
  TB_SOLVE_TIME_LIMIT,
  TB_SOLVE_STALLED,     // no further progress; lambda is the best iterate found
  TB_SOLVE_FAILED,      // a breakdown (non-finite numbers); lambda is the best iterate found
  TB_SOLVE_INFEASIBLE,  // ncp/auto: proven that no velocity satisfies all constraints; lambda is
                        // the best iterate
} tbSolveStatus;

// "converged", "max_iterations", ...; "unknown" out of range.
TB_API const char* tb_solve_status_name(tbSolveStatus status);

typedef enum { TB_PENALTY_SPECTRAL = 0, TB_PENALTY_LINEAR, TB_PENALTY_CONSTANT } tbPenaltyRule;

typedef struct {
  int iteration;
  tbReal seconds;
  tbResidual residual;  // of the law solved
  tbReal penalty;       // ADMM's rho, or the solver's step or regularisation
} tbSolveHistory;

// Every numeric setting, declared once: X(type, name, default, allowed, meaning); `allowed` is the
// condition on a value x.
#define TB_SOLVE_SETTINGS(X)                                                                       \
  X(tbReal, tol, 1e-6, x >= 0, "relative residual of the law solved")                              \
  X(tbReal, tol_absolute, 0, x >= 0, "if > 0: stop on the absolute residual instead")              \
  X(int, max_iter, 10000, x >= 0,                                                                  \
    "iterations of the solver's own kind; ncp/auto checks the limit between its methods")          \
  X(tbReal, time_limit, 0, x >= 0, "seconds; 0: none")                                             \
  X(int, warm_start, 0, x == 0 || x == 1, "1: lambda holds a first guess; 0: start from zero")     \
  X(int, check, 1, x == 0 || x == 1, "1: check the problem first; 0: the caller guarantees it")    \
  X(tbReal, relaxation, 1, x > 0 && x < 2, "pgs: over-relaxation in (0, 2) (CM eq. 25)")           \
  X(int, pgs_local_exact, 1, x == 0 || x == 1,                                                     \
    "ncp/pgs: solve each contact exactly; 0: CM Alg. 6 as written")                                \
  X(int, admm_rule, TB_PENALTY_SPECTRAL, x >= 0 && x <= 2,                                         \
    "0: spectral, 1: linear, 2: constant penalty")                                                 \
  X(tbReal, admm_rho, 0, x >= 0, "admm: first penalty; 0: from the spectrum")                      \
  X(tbReal, admm_tau, 2, x > 1,                                                                    \
    "admm, linear rule: factor of increase and decrease (ADMM eq. 44)")                            \
  X(tbReal, admm_exponent_step, 0.05, x > 0, "admm, spectral rule: p_inc = p_dec (ADMM eq. 46)")   \
  X(tbReal, admm_ratio, 10, x > 1, "admm: alpha, allowed ratio of primal and dual residual")       \
  X(tbReal, admm_proximal, 1e-8, x > 0,                                                            \
    "admm: eta (ADMM eq. 35), relative to the largest eigenvalue")                                 \
  X(tbReal, admm_relaxation, 1, x > 0 && x < 2, "admm: over-relaxation in (0, 2)")                 \
  X(int, admm_scaling, 1, x == 0 || x == 1,                                                        \
    "admm: 1: scale every block to a unit diagonal; 0: as in the paper")                           \
  X(int, admm_interval, 10, x >= 0, "admm: fewest iterations between changes of the penalty")      \
  X(tbReal, admm_backoff, 1.3, x >= 1, "admm: growth of that interval with every change; 1: none") \
  X(int, admm_relative, 1, x == 0 || x == 1,                                                       \
    "admm: 1: balance relative residuals; 0: as in the paper")                                     \
  X(int, admm_memory, 6, x >= 0 && x <= 6,                                                         \
    "admm: pairs of Anderson acceleration, up to 6; 0: as in the paper")                           \
  X(tbReal, raisim_alpha, 1, x > 0 && x <= 1, "raisim: first step weight (CM Alg. 5)")             \
  X(tbReal, raisim_alpha_min, 0.3, x > 0 && x <= 1, "raisim: last step weight")                    \
  X(tbReal, raisim_gamma, 0.99, x >= 0 && x <= 1, "raisim: decay of the step weight")              \
  X(int, islands, 1, x == 0 || x == 1, "auto: solve unconnected parts one by one")

typedef struct {
  int law;             // a tbLaw
  const char* solver;  // "auto" or a name of tb_solver_name
#define TB_X(type, name, value, allowed, meaning) type name;
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  tbSolveHistory* history;  // NULL, or room for history_capacity entries
  int history_capacity;
} tbSolveSettings;

typedef struct {
  int status;  // a tbSolveStatus
  const char* law;
  const char* solver;  // the solver that found the answer, also under "auto"
  int iterations;
  int factorizations;
  int history_count;
  tbReal seconds;
  tbResidual residual;        // of the law solved
  tbResidual residual_exact;  // of the exact law: Tribo's certificate
} tbSolveInfo;

// Default settings: the exact law, solver "auto".
TB_API tbSolveSettings tbDefaultSolveSettings(void);

// Set a field by its name ("law", "solver" and every TB_SOLVE_SETTINGS name) from text. `solver`
// keeps the pointer `value`. Errors: unknown name, malformed number, a value that is not allowed.
TB_API tbResult tb_solve_settings_set(tbSolveSettings* settings, const char* name,
                                      const char* value, tbError* error);

// The registered solvers, in order: name and law of solver number `index`; NULL / TB_LAW_COUNT past
// the end.
TB_API int tb_solver_count(void);
TB_API const char* tb_solver_name(int index);
TB_API tbLaw tb_solver_law(int index);

// Scratch memory that solves reuse: after the first solve of a size, further ones allocate nothing.
// It also keeps the warm-start data of the next solve (penalty, eigenvectors). Use one per thread.
// NULL when out of memory.
typedef struct tbSolveWork tbSolveWork;
TB_API tbSolveWork* tb_solve_work_create(void);
TB_API void tb_solve_work_free(tbSolveWork* work);
// Calls to malloc so far, and bytes held.
TB_API size_t tb_solve_work_allocations(const tbSolveWork* work);
TB_API size_t tb_solve_work_bytes(const tbSolveWork* work);
// Limit of scratch memory in bytes, 0: unlimited. A solve that needs more reports it.
TB_API void tb_solve_work_limit(tbSolveWork* work, size_t bytes);

// Keep the memory but discard all warm-start data: the next solve gives the bits that it would give
// with new memory.
TB_API void tb_solve_work_forget(tbSolveWork* work);

// Solve `problem` for lambda (n entries, in and out). With `settings` NULL the defaults are used;
// with `work` NULL the call allocates its own memory. TB_OK means that lambda and info are valid,
// also when info->status is not CONVERGED; any other result leaves lambda unchanged. Errors: a bad
// problem or setting, a block type that the law does not support, a G that turns out to be
// indefinite and no answer was found, out of memory.
TB_API tbResult tb_solve(const tbProblem* problem, const tbSolveSettings* settings, tbReal* lambda,
                         tbSolveWork* work, tbSolveInfo* info, tbError* error);

TB_EXTERN_C_END

#endif
