// What bodies turn about, and what they bear there.
#ifndef TRIBO_DYNAMICS_PIVOT_H_
#define TRIBO_DYNAMICS_PIVOT_H_

#include "tribo/data.h"

// 1 where a body turns against its parent.
int tb_turns(const tbModel* model, int body);

// The point about which it does: a joint's anchor, the centre of mass of what flies.
const tbReal* tb_pivot(const tbModel* model, const tbData* data, int body);

// A += load |r| (1 - r r^T / r^2) of the body that turns with `body` (9 per body, world axes), r
// from its pivot to `point`.
void tb_bear(const tbModel* model, const tbData* data, int body, tbReal load, const tbReal point[3],
             tbReal* A);

// All bodies' own weights, and loads[b] (which has what else pulls at body b, and is then what its
// pivot bears), with `gravity` for the acceleration.
void tb_bear_weights(const tbModel* model, const tbData* data, tbReal gravity, tbReal* loads,
                     tbReal* A);

// 1 / inertia against turns about a principal axis (0 to 2) of a body: by its own alone, or as the
// tree has it at qpos0, whichever is less.
tbReal tb_yields(const tbModel* model, int body, int axis);

// model->tautness: the most of trace(I^-1 A) over bodies that bear weights under unit gravity, at
// qpos0 in `data`.
void tb_set_carried_load(tbModel* model, tbData* data);

#endif
