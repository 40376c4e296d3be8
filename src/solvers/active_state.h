// What Newton's method on the active set shares between its files: the iterate, the modes, and the
// three forms of its linear algebra.
#ifndef TRIBO_SOLVERS_ACTIVE_STATE_H_
#define TRIBO_SOLVERS_ACTIVE_STATE_H_

#include "solvers/active.h"

enum { TB_MODE_OPEN = 0, TB_MODE_ACTIVE, TB_MODE_STICK, TB_MODE_SLIDE, TB_MODE_LOW, TB_MODE_HIGH };

// The least proximal term over the diagonal of G.
#define TB_ACTIVE_SOFTNESS 1e-7
// Times the residual of the last step: what velocities at the start of this one are its doing.
#define TB_INHERITED_MOST 10

// How a cone block slides, in the coordinates in which its cone is round.
typedef struct {
  tbReal u[TB_MAX_BLOCK_DIM];  // direction of the impulse, u[0] unused
  tbReal stiffness, rho;       // 1/c of (1), and the rho of all tangents
} tbSlide;

typedef struct tbActiveForm tbActiveForm;
typedef struct tbActiveSweeps tbActiveSweeps;
typedef struct tbActiveParts tbActiveParts;

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  const tbActiveForm* form;
  void* work;              // the form's own
  bool small;              // rounds cost little: they are tried at length
  tbActiveParts* parts;    // of a large island, from the first repairs on
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
  int* mode;        // per block; per row for one-sided and box blocks
  tbSlide* slide;   // per block, where it slides
  bool changed, sliding;
  tbReal miss;  // m/s: about how far lambda and sigma are from solving the problem
} tbActiveState;

struct tbActiveForm {
  bool (*start)(tbActiveState* s, tbArena* arena);  // false: out of memory
  bool (*factor)(tbActiveState* s);                 // the matrix of (3); false: singular
  // `next` and `speed` of the modes from `anchor`; false: not finite.
  bool (*solve)(tbActiveState* s);
  // The same for the change of lambda, which is the anchor: what large weights round away is then
  // relative to the change.
  bool (*refine)(tbActiveState* s);
  // The velocity that impulses lead to.
  void (*velocity)(tbActiveState* s, const tbReal* lambda, tbReal* sigma);
};

// Sparse and dense factors in velocity space, and impulse space.
extern const tbActiveForm TB_ACTIVE_VELOCITY, TB_ACTIVE_DENSE, TB_ACTIVE_DUAL;

// Whether the last step's impulses, where there are any, were far off: this step's will be, too.
bool tb_active_moving(const tbActiveState* s);

// Modes of all blocks from lambda and sigma, by (1).
void tb_active_modes(tbActiveState* s);

// A block's weights in velocity space, lambda = c0 - W (g + J x): c0 by row of the problem, W dim x
// dim.
void tb_active_weights(const tbActiveState* s, int block, tbReal* c0, tbReal* W);

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
bool tb_active_regions(tbActiveState* s, tbArena* arena, tbSolveInfo* info);

// The length of the step from (old, slow) to (next, speed): full where that helps, else the best of
// some shorter ones, 0 where none does.
tbReal tb_active_length(const tbActiveState* s, tbReal shortest);

#endif
