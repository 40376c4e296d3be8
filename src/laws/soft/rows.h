// Regularisation and reference acceleration of soft constraint rows.
#ifndef TRIBO_LAWS_SOFT_ROWS_H_
#define TRIBO_LAWS_SOFT_ROWS_H_

#include "assemble/assemble.h"
#include "solvers/soft/soft.h"

// Rows of a constraint in the soft problem: a pyramid has two per friction row.
int tb_soft_rows_of(const tbModel* model, const tbConstraint* constraint);

// Fill a block (J, aref, D; all from the arena but aref and D, which hold tb_soft_rows_of entries).
tbResult tb_soft_fill(const tbModel* model, tbData* data, const tbConstraint* constraint,
                      tbArena* arena, tbSoftBlock* block, tbReal* aref, tbReal* D);

// The reference of a constraint: aref = -damping J v - stiffness impedance violation, with
// damping_friction on a contact's rows after the first, and R proportional to (1 - d) / d.
typedef struct {
  tbReal impedance, impedance_slope;  // d, and its derivative by the violation
  tbReal stiffness, damping, damping_friction;
} tbSoftReference;

tbSoftReference tb_soft_reference(const tbModel* model, const tbData* data,
                                  const tbConstraint* constraint);

// Force on the constraint's own rows (normal, tangents, ...) from the soft rows' forces.
void tb_soft_decode(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                    const tbReal* soft_force, tbReal* force);

// Acceleration of the rows of a connect or weld that the velocity alone causes, dJ/dt v: part of
// MuJoCo's reference since 3.x. It is quadratic in velocity and taken explicitly, so it feeds
// itself where bodies turn far within a step: there it fades.
void tb_soft_drift(const tbModel* model, const tbData* data, const tbConstraint* c, tbReal* drift);

// By what the drift is multiplied: 1, from 0.1 rad a step of the faster body on such that the drift
// no longer grows.
tbReal tb_soft_drift_fade(const tbModel* model, const tbData* data, const int body[2], int* faster);

#endif
