// What bodies turn about, and how much they may have to bear there.
#ifndef TRIBO_DYNAMICS_PIVOT_H_
#define TRIBO_DYNAMICS_PIVOT_H_

#include "tribo/data.h"

// 1 where a body turns against its parent.
int tb_turns(const tbModel* model, int body);

// The point about which it does: a joint's anchor, the centre of mass of what flies.
const tbReal* tb_pivot(const tbModel* model, const tbData* data, int body);

// model->tautness: bounds h^2 S / (a I) of step/tension.h over h^2 for what accelerations of a make
// joints bear, at qpos0 in `data`. What is tied to another tree may have to bear everything.
void tb_set_tautness(tbModel* model, const tbData* data);

#endif
