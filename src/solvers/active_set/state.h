// State shared by the files of the active-set method: the iterate, the modes, and the three forms
// of its linear algebra.
#ifndef TRIBO_SOLVERS_ACTIVE_SET_STATE_H_
#define TRIBO_SOLVERS_ACTIVE_SET_STATE_H_

#include <string.h>

#include "solvers/active_set/active_set.h"

enum { TB_MODE_OPEN = 0, TB_MODE_ACTIVE, TB_MODE_STICK, TB_MODE_SLIDE, TB_MODE_LOW, TB_MODE_HIGH };

// The smallest proximal weight over the diagonal of G, and the weight of the first stage of the
// proximal continuation.
#define TB_ACTIVE_LEAST_WEIGHT 1e-7
#define TB_ACTIVE_FIRST_WEIGHT 1e-2
// On islands with more rows, Newton iterations on the modes rarely converge, and there is no last
// resort.
#define TB_ACTIVE_LARGE 200
// Velocities at the start of a step count as velocity error carried over from the last step, up to
// this multiple of the residual at which that step ended.
#define TB_CARRIED_ERROR_MOST 10

// Sliding of a cone block, in the coordinates in which its cone is round.
typedef struct {
  tbReal u[TB_MAX_BLOCK_DIM];           // direction of the impulse, u[0] unused
  tbReal cross_slip[TB_MAX_BLOCK_DIM];  // raisim: how slip along u adds to the slip across u
  tbReal stiffness, rho;                // 1/c of (1), and the rho of all tangents
} tbSlide;

typedef struct tbActiveForm tbActiveForm;
typedef struct tbActiveSweeps tbActiveSweeps;
typedef struct tbSubdomains tbSubdomains;

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  const tbActiveForm* form;
  void* work;                 // of the form
  bool small;                 // an iteration is cheap: more attempts with Newton iterations
  tbSubdomains* subdomains;   // of a large island, built at the first subdomain solve
  tbActiveSweeps* sweeps;     // built at the first sweep
  tbReal *lambda, *sigma;     // the iterate and its velocity
  tbReal *next, *next_sigma;  // impulses and velocity after a full step
  tbReal *old, *old_sigma;    // impulses and velocity before the step
  tbReal* center;             // lambda_k of the proximal term
  tbReal proximal_weight;
  bool proximal;                        // modes include the proximal term
  bool warm;                            // warm start: rows at a bound stay at that bound
  tbReal max_speed;                     // m/s: the largest entry of g
  tbReal closed_speed;                  // m/s: contacts that open more slowly count as closed
  tbReal *candidate, *candidate_sigma;  // impulses within the cones, and their velocity
  tbReal* guess;                        // the first guess
  tbReal guess_residual;                // relative residual of a nonzero guess; 0 for a zero guess
  tbReal* accepted;                     // the last accepted candidate
  tbReal* best;                         // the candidate with the smallest residual so far
  tbReal best_residual;
  tbReal relaxed_residual;  // best_residual at the last relaxation
  int* mode;                // per block; per row for one-sided and box blocks, and for pyramids
  tbSlide* slide;           // per block, where it slides
  bool changed;
  bool sliding;                 // sliding directions enter the matrix of (3)
  bool skew;                    // the matrix of (3) is not symmetric
  tbReal fixed_point_residual;  // m/s: estimated distance from the fixed point (1)
} tbActiveState;

// Set the iterate to these impulses and their velocity.
static inline void tb_active_set_iterate(tbActiveState* s, const tbReal* lambda,
                                         const tbReal* sigma) {
  memcpy(s->lambda, lambda, sizeof(tbReal) * (size_t)s->p->n);
  memcpy(s->sigma, sigma, sizeof(tbReal) * (size_t)s->p->n);
}

// Whether the best candidate has an acceptable residual, though above the tolerance.
static inline bool tb_active_is_acceptable(const tbActiveState* s) {
  return s->best_residual <= s->a->acceptable;
}

// Set the proximal centre to the current impulses.
static inline void tb_active_set_center(tbActiveState* s) {
  memcpy(s->center, s->lambda, sizeof(tbReal) * (size_t)s->p->n);
}

// Impulses within the cones, and their velocity, become the next candidate.
static inline void tb_active_candidate(tbActiveState* s, const tbReal* lambda,
                                       const tbReal* sigma) {
  memcpy(s->candidate, lambda, sizeof(tbReal) * (size_t)s->p->n);
  memcpy(s->candidate_sigma, sigma, sizeof(tbReal) * (size_t)s->p->n);
}

struct tbActiveForm {
  bool (*start)(tbActiveState* s, tbArena* arena);  // false: out of memory
  bool (*factor)(tbActiveState* s);                 // the matrix of (3); false: singular
  // Solves the system of the modes for `next` and `next_sigma`; false: not finite.
  bool (*solve)(tbActiveState* s);
  // The same system for the change of lambda from the proximal centre, so that the rounding error
  // of large weights is relative to the change only.
  bool (*refine)(tbActiveState* s);
  // The velocity of impulses lambda.
  void (*velocity)(tbActiveState* s, const tbReal* lambda, tbReal* sigma);
};

// Sparse and dense factors in velocity space, and impulse space.
extern const tbActiveForm TB_ACTIVE_VELOCITY, TB_ACTIVE_DENSE, TB_ACTIVE_DUAL;

// ---- modes (modes.c) ---------------------------------------------------------------------------

// Modes of all blocks from lambda and sigma, by (1).
void tb_active_modes(tbActiveState* s);

// The same for a warm start: rows at a bound in the last step's impulses stay at that bound.
void tb_active_first_modes(tbActiveState* s, bool guess);

// The share of contacts whose mode differs from what their impulses imply (an open contact with an
// impulse, a sticking contact whose impulse is on the cone's edge). Above a few percent, Newton
// iterations on the active set do not pay.
tbReal tb_active_moved_share(tbActiveState* s);

// The weights of a block in velocity space, lambda = c0 - W (g + J x): c0 by row of the problem, W
// dim x dim.
void tb_active_weights(const tbActiveState* s, int block, tbReal* c0, tbReal* W);

// The length of the step from (old, old_sigma) to (next, next_sigma): 1 if a full step halves the
// distance, otherwise the best of some shorter lengths, 0 if none decreases it.
tbReal tb_active_length(const tbActiveState* s, tbReal shortest);

// ---- iterations (iterations.c) -----------------------------------------------------------------
// `lambda` receives the solution if there is one. True: it is good enough, and `info` describes it.

// Evaluate the residual of the candidate; updates `best` and its residual.
bool tb_active_evaluate(tbActiveState* s, tbReal* lambda, tbSolveInfo* info);

// Newton iterations: each is a proximal step, shortened if that brings the iterate closer to (1).
// If full steps fail, the proximal weight grows until they succeed; the iterations end if no length
// helps, on large islands already at the first short step.
bool tb_active_iterate(tbActiveState* s, int iterations, tbReal* lambda, tbSolveInfo* info);

// Proximal continuation: redundant contacts can share a load in many ways, and modes that are
// nearly right may need huge impulses that cancel. A large proximal weight keeps impulses near the
// last ones; its problem is solved in a few iterations, and again from there with smaller and
// smaller weights.
bool tb_active_proximal_continuation(tbActiveState* s, tbReal* lambda, tbSolveInfo* info);

// Whether the guess, the last step's impulses, was far off, as it will then be in the next step
// too.
bool tb_active_moving(const tbActiveState* s);

// ---- fallbacks (attempts.c) --------------------------------------------------------------------
// These set *solved. False: out of memory.

// Whether sweeps and subdomain solves come first; they mostly need no factors of the whole island.
bool tb_active_domain_decomposition(const tbActiveState* s);

// Interior points near the last step's impulses (or near zero, if these are worse), then again from
// the best point so far, each time starting on the central path. A single blocking contact keeps
// all others away from the boundaries of their cones; sweeps update that contact alone, and turn
// sliding directions. With sparse factors a sweep precedes every attempt but the first; on small
// islands only the last attempts. If most blocks are contacts of free bodies, which have few
// neighbours each, sweeps and subdomain solves come first and mostly suffice.
bool tb_active_attempts(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                        bool* solved);

// Convex problems, which converge from any point, then Newton iterations from their solution.
bool tb_active_last_resort(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                           bool* solved);

// ---- fallback under lcp (interior_point/pyramid.c) ---------------------------------------------

// Interior points on the pyramid, then Newton iterations from their end. Sets *solved. False: out
// of memory.
bool tb_active_pyramid(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                       bool* solved);

// ---- resting warm start (resting.c) ------------------------------------------------------------

// Whether the velocity error carried by active rows is within what the last step left below its
// tolerance. Moving bodies carry more, in every step.
bool tb_active_is_at_rest(const tbActiveState* s, const tbReal* lambda);

// Compute the resting warm start of the problem from the solution.
void tb_active_resting_start(tbActiveState* s, const tbReal* lambda);

// ---- sweeps (gauss_seidel/velocity_sweep.c, subdomain_layers.c)
// ----------------------------------

// Gauss-Seidel sweeps with exact local solutions; updates lambda and sigma. False: out of memory.
bool tb_active_sweep(tbActiveState* s, tbArena* arena, int count);

// Compute whitened velocities of lambda (projected on its cones). From them follows the sigma of a
// block; tb_active_whitened_push adds a change of a block's lambda to them. False: out of memory.
bool tb_active_whiten(tbActiveState* s, tbArena* arena);
void tb_active_whitened_velocity(const tbActiveState* s, int block, tbReal* sigma);
void tb_active_whitened_push(tbActiveState* s, int block, const tbReal* change);

// Sweeps over unconverged blocks; once few remain, solve the subdomains around them, repeatedly.
// Works on lambda and its whitened velocities; updates sigma. False: out of memory.
bool tb_active_subdomain_layers(tbActiveState* s, tbArena* arena, tbSolveInfo* info);

#endif
