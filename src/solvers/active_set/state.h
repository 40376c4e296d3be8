// What Newton's method on the active set shares between its files: the iterate, the modes, and the
// three forms of its linear algebra.
#ifndef TRIBO_SOLVERS_ACTIVE_SET_STATE_H_
#define TRIBO_SOLVERS_ACTIVE_SET_STATE_H_

#include <string.h>

#include "solvers/active_set/active_set.h"

enum { TB_MODE_OPEN = 0, TB_MODE_ACTIVE, TB_MODE_STICK, TB_MODE_SLIDE, TB_MODE_LOW, TB_MODE_HIGH };

// The least proximal term over the diagonal of G, and that of the first stage where modes do not
// settle.
#define TB_ACTIVE_SOFTNESS 1e-7
#define TB_ACTIVE_SOFT_START 1e-2
// Islands of more rows hardly ever settle by rounds on their modes, and have no last resort.
#define TB_ACTIVE_LARGE 200
// Velocities at the start of a step count as left over by the last one (inherited) up to so many
// times the residual with which that ended.
#define TB_INHERITED_MOST 10

// How a cone block slides, in the coordinates in which its cone is round.
typedef struct {
  tbReal u[TB_MAX_BLOCK_DIM];     // direction of the impulse, u[0] unused
  tbReal lean[TB_MAX_BLOCK_DIM];  // raisim: of the slip along u, what counts across it
  tbReal stiffness, rho;          // 1/c of (1), and the rho of all tangents
} tbSlide;

typedef struct tbActiveForm tbActiveForm;
typedef struct tbActiveSweeps tbActiveSweeps;
typedef struct tbSubdomains tbSubdomains;

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  const tbActiveForm* form;
  void* work;              // the form's own
  bool small;              // rounds cost little: they are tried at length
  tbSubdomains* parts;     // of a large island, from the first repairs on
  tbActiveSweeps* sweeps;  // from the first sweep on
  tbReal *lambda, *sigma;  // where Newton's method is; sigma is what lambda leads to
  tbReal *next, *speed;    // the same at the end of a full step
  tbReal *old, *slow;      // and before it
  tbReal* anchor;          // lambda_k of the proximal term
  tbReal softness;
  bool proximal;          // modes are those of the problem with the proximal term
  bool first;             // modes of the last step's impulses: what was at a bound stays there
  tbReal fastest;         // m/s: the largest entry of g
  tbReal tie;             // m/s: what opens more slowly is closed
  tbReal *trial, *check;  // lambda within the cones, and the velocity it leads to
  tbReal* guess;          // the impulses at first
  tbReal guess_measure;   // their residual; 0 where there are none
  tbReal* good;           // the last trial that was good enough
  tbReal* best;           // the trial with the smallest residual so far
  tbReal best_measure;
  tbReal repaired;  // the same when regions were last solved
  int* mode;        // per block; per row for one-sided and box blocks, and for pyramids
  tbSlide* slide;   // per block, where it slides
  bool changed;
  bool sliding;  // directions change the matrix of (3)
  bool skew;     // it is not symmetric
  tbReal miss;   // m/s: about how far lambda and sigma are from solving the problem
} tbActiveState;

// The iterate jumps to these impulses and the velocity they lead to.
static inline void tb_active_go_to(tbActiveState* s, const tbReal* lambda, const tbReal* sigma) {
  memcpy(s->lambda, lambda, sizeof(tbReal) * (size_t)s->p->n);
  memcpy(s->sigma, sigma, sizeof(tbReal) * (size_t)s->p->n);
}

// Whether the best so far is an answer, though not as good as it might be.
static inline bool tb_active_will_do(const tbActiveState* s) {
  return s->best_measure <= s->a->enough;
}

// The anchor of the proximal term moves to the present impulses.
static inline void tb_active_set_center(tbActiveState* s) {
  memcpy(s->anchor, s->lambda, sizeof(tbReal) * (size_t)s->p->n);
}

// Impulses within the cones and the velocity they lead to are the next to be judged.
static inline void tb_active_candidate(tbActiveState* s, const tbReal* lambda,
                                       const tbReal* sigma) {
  memcpy(s->trial, lambda, sizeof(tbReal) * (size_t)s->p->n);
  memcpy(s->check, sigma, sizeof(tbReal) * (size_t)s->p->n);
}

struct tbActiveForm {
  bool (*start)(tbActiveState* s, tbArena* arena);  // false: out of memory
  bool (*factor)(tbActiveState* s);                 // the matrix of (3); false: singular
  // Solves the system of the modes: `next` and `speed` from `anchor`; false: not finite.
  bool (*solve)(tbActiveState* s);
  // The same as a change of lambda, which is the anchor, so that what large weights lose to
  // rounding is relative to the change only.
  bool (*refine)(tbActiveState* s);
  // The velocity that impulses lead to.
  void (*velocity)(tbActiveState* s, const tbReal* lambda, tbReal* sigma);
};

// Sparse and dense factors in velocity space, and impulse space.
extern const tbActiveForm TB_ACTIVE_VELOCITY, TB_ACTIVE_DENSE, TB_ACTIVE_DUAL;

// ---- modes (active_modes.c) --------------------------------------------------------------------

// Modes of all blocks from lambda and sigma, by (1).
void tb_active_modes(tbActiveState* s);

// The same on the first look, where lambda is the last step's: what was at a bound stays there.
void tb_active_first_modes(tbActiveState* s, bool guess);

// The share of contacts that do something else, by the velocity that their impulses lead to, than
// these impulses say (an open one pushes, a sticking one slides). Where it is more than a few in a
// hundred, rounds on the active set are in vain.
tbReal tb_active_moved_share(tbActiveState* s);

// A block's weights in velocity space, lambda = c0 - W (g + J x): c0 by row of the problem, W dim x
// dim.
void tb_active_weights(const tbActiveState* s, int block, tbReal* c0, tbReal* W);

// The length of the step from (old, slow) to (next, speed): full where that helps, else the best of
// some shorter ones, 0 where none does.
tbReal tb_active_length(const tbActiveState* s, tbReal shortest);

// ---- rounds (active_rounds.c) -------------------------------------------------------------------
// `lambda`: the answer, where there is one. True: it is good enough, and `info` says so.

// Judge `trial` by `check`, the velocity it leads to; `best` and its residual follow.
bool tb_active_evaluate(tbActiveState* s, tbReal* lambda, tbSolveInfo* info);

// Every round is a proximal step that is cut short where that brings it closer to (1). Where full
// steps do not help, the proximal term grows until they do; where hardly any length helps there are
// better ways, on large islands at once.
bool tb_active_iterate(tbActiveState* s, int rounds, tbReal* lambda, tbSolveInfo* info);

// Redundant contacts share a load in many ways, and modes that are nearly right may ask for huge
// impulses that cancel. A large proximal term keeps them near the last ones: its problem is solved
// by a few rounds, and again from there with a smaller one, until there is next to none.
bool tb_active_stages(tbActiveState* s, tbReal* lambda, tbSolveInfo* info);

// Whether the last step's impulses, where there are any, were far off: this step's will be, too.
bool tb_active_moving(const tbActiveState* s);

// ---- what rounds leave (active_attempts.c) -----------------------------------------------------
// They set *solved. False: out of memory.

// Whether sweeps and repairs come first, which mostly do without factors of the whole island.
bool tb_active_domain_decomposition(const tbActiveState* s);

// Interior points near the last step's impulses (or near none, where these are worse), and again
// from the best point so far, each time on the central path at first. One contact that does not let
// them pass keeps all others from their borders; sweeps leave it alone among those and turn
// directions of sliding. With sparse factors they come before every further attempt, on small
// islands before the last. Of many contacts between free bodies each has few others to wait for:
// sweeps and repairs come first, and mostly end it.
bool tb_active_attempts(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                        bool* solved);

// Convex problems, which get closer from anywhere, and modes from where they end.
bool tb_active_last_resort(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                           bool* solved);

// ---- what rounds leave under lcp (active_pyramid.c) --------------------------------------------

// Interior points on the pyramid, and modes from where they end. Sets *solved. False: out of
// memory.
bool tb_active_pyramid(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                       bool* solved);

// ---- rest (active_rest.c) ----------------------------------------------------------------------

// Whether what rows that hold have inherited is no more than what the last step left within its
// tolerance: what moves has more, and will have it again.
bool tb_active_is_at_rest(const tbActiveState* s, const tbReal* lambda);

// `rest` of the problem, from the answer.
void tb_active_rest_impulses(tbActiveState* s, const tbReal* lambda);

// ---- sweeps (active_sweep.c, active_regions.c) -------------------------------------------------

// Sweeps of Gauss-Seidel with exact local solutions on lambda, and the sigma it leads to. False:
// out of memory.
bool tb_active_sweep(tbActiveState* s, tbArena* arena, int count);

// Whitened velocities of lambda (projected on its cones); from them the sigma of a block, also
// after a change of a block's lambda has been pushed. False: out of memory.
bool tb_active_whiten(tbActiveState* s, tbArena* arena);
void tb_active_whitened_velocity(const tbActiveState* s, int block, tbReal* sigma);
void tb_active_whitened_push(tbActiveState* s, int block, const tbReal* change);

// Sweeps over what is unsettled; where few contacts remain so, solve what surrounds these, again
// and again. On lambda and its whitened velocities, and the sigma it leads to. False: out of
// memory.
bool tb_active_subdomain_layers(tbActiveState* s, tbArena* arena, tbSolveInfo* info);

#endif
