// Equalities under the complementarity-free law: they involve no complementarity, so they are
// satisfied exactly, by one small linear system per step. See docs/manual/comfree.md.
#ifndef TRIBO_LAWS_COMFREE_EQUALITY_H_
#define TRIBO_LAWS_COMFREE_EQUALITY_H_

#include "assemble/assemble.h"

typedef struct {
  int n;  // rows of all equalities
  int nv;
  const tbConstraints* rows;  // all constraints of the step
  tbReal* Y;                  // n x nv: H^-1 J^T by rows
  tbReal* L;                  // n x n: factor of A = J H^-1 J^T + R
  tbReal* pull;               // n: scratch
} tbPresolvedEqualities;

// Build and factor A; n is 0 where the step has no equalities.
tbResult tb_presolved_build(const tbModel* model, tbArena* arena, const tbConstraints* constraints,
                            tbInertiaFactor factor, tbPresolvedEqualities* out);

// Impulses that make J v = -bias (n, NULL: zero): applied to the velocity v and added to `impulse`.
void tb_presolved_correct(const tbPresolvedEqualities* presolved, const tbReal* bias, tbReal* v,
                          tbReal* impulse);

// Velocity that corrects the position error of the equalities, by row.
void tb_presolved_bias(const tbModel* model, const tbData* data,
                       const tbPresolvedEqualities* presolved, tbReal* bias);

// Copy the impulses to the rows of all constraints, and add their J^T lambda to `force`.
void tb_presolved_store(const tbPresolvedEqualities* presolved, const tbReal* impulse,
                        tbReal* lambda, tbReal* force);

#endif
