// Anderson acceleration (type II) of a fixed-point iteration w -> T(w).
//
// With the last differences of residuals r = T(w) - w and of images, the next point is
//   T(w) - dT gamma,   gamma = argmin |r - dR gamma|
// A point whose residual exceeds twice the smallest one is replaced by the last plain image, and
// the memory is cleared (Zhang, O'Donoghue & Boyd 2020).
#ifndef TRIBO_SOLVERS_ADMM_ANDERSON_H_
#define TRIBO_SOLVERS_ADMM_ANDERSON_H_

#include "solvers/solver.h"

enum { TB_ANDERSON_MAX = 6 };

typedef struct {
  int n, memory, count, next;
  tbReal* dR[TB_ANDERSON_MAX];
  tbReal* dT[TB_ANDERSON_MAX];
  tbReal *r, *last_r, *last_T, *safe;
  tbReal gram[TB_ANDERSON_MAX * TB_ANDERSON_MAX];
  tbReal best;          // smallest |r| since the last restart
  tbReal ridge, reach;  // of the normal equations, relative; largest accepted |gamma|
  bool started, extrapolated;
} tbAnderson;

// Initialise for `memory` pairs (0: never extrapolates). A caller with a weakly contracting map may
// set a smaller ridge and a longer reach afterwards. False when out of memory.
bool tb_anderson_init(tbAnderson* anderson, tbSolve* s, int n, int memory);

// Clear the memory after the iteration's map has changed.
void tb_anderson_reset(tbAnderson* anderson);

// From w and its image T (n entries each), write the next point to w.
void tb_anderson_step(tbAnderson* anderson, tbReal* w, const tbReal* T);

#endif
