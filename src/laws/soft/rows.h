// Regularisation and reference acceleration of soft constraint rows.
#ifndef TRIBO_LAWS_SOFT_ROWS_H_
#define TRIBO_LAWS_SOFT_ROWS_H_

#include "assemble/assemble.h"
#include "solvers/soft/soft.h"

// Rows of a constraint in the soft problem: a pyramid has two per friction row.
int tb_soft_rows_of(const tbModel* model, const tbConstraint* constraint);

// Fill a block (J, aref, D; all arrays from the arena except aref and D, which hold tb_soft_rows_of
// entries).
tbResult tb_soft_fill(const tbModel* model, tbData* data, const tbConstraint* constraint,
                      tbArena* arena, tbSoftBlock* block, tbReal* aref, tbReal* D);

// The reference of a constraint: aref = -damping J v - stiffness impedance violation, with
// damping_friction for the rows of a contact after the first, and R proportional to (1 - d) / d.
typedef struct {
  tbReal impedance, impedance_slope;  // d, and its derivative by the violation
  tbReal stiffness, damping, damping_friction;
} tbSoftReference;

tbSoftReference tb_soft_reference(const tbModel* model, const tbData* data,
                                  const tbConstraint* constraint);

// Force on the constraint's own rows (normal, tangents, ...) from the soft rows' forces.
void tb_soft_decode(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                    const tbReal* soft_force, tbReal* force);

// Velocity-product term dJ/dt v of the rows of a connect or weld: part of MuJoCo's reference since
// 3.x. It is quadratic in velocity and explicit, so it would grow without bound where bodies turn
// far within a step: there it is reduced.
void tb_soft_drift(const tbModel* model, const tbData* data, const tbConstraint* c, tbReal* drift);

// Factor of the velocity-product term: 1 while the faster body turns by less than 0.1 rad per step;
// beyond, such that the term no longer grows.
tbReal tb_soft_drift_fade(const tbModel* model, const tbData* data, const int body[2], int* faster);

#endif
