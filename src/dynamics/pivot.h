// Pivots of bodies, and the loads that they carry.
#ifndef TRIBO_DYNAMICS_PIVOT_H_
#define TRIBO_DYNAMICS_PIVOT_H_

#include "tribo/data.h"

// 1 if a body can rotate relative to its parent.
int tb_turns(const tbModel* model, int body);

// The point of that rotation: a joint's anchor, or the centre of mass of a free body.
const tbReal* tb_pivot(const tbModel* model, const tbData* data, int body);

// A += load |r| (1 - r r^T / r^2) for the body that rotates with `body` (9 per body, world axes), r
// from its pivot to `point`.
void tb_bear(const tbModel* model, const tbData* data, int body, tbReal load, const tbReal point[3],
             tbReal* A);

// Add the weights of all bodies under the acceleration `gravity`, and the loads: loads[b] is the
// other load on body b, and becomes the total load of its pivot.
void tb_bear_weights(const tbModel* model, const tbData* data, tbReal gravity, tbReal* loads,
                     tbReal* A);

// 1 / inertia about a principal axis (0 to 2) of a body: from its own inertia, or from that of the
// tree at qpos0, whichever is smaller.
tbReal tb_yields(const tbModel* model, int body, int axis);

// model->load_to_inertia: the maximum of trace(I^-1 A) over bodies that carry weights under unit
// gravity, at qpos0 in `data`.
void tb_set_carried_load(tbModel* model, tbData* data);

#endif
