// The gyroscopic couple of a body that flies free, such that its energy stays.
#ifndef TRIBO_STEP_FREE_TURN_H_
#define TRIBO_STEP_FREE_TURN_H_

#include <stdbool.h>

#include "tribo/data.h"

// In world axes at the start of the step, about the centre of mass.
typedef struct {
  int dof;            // the first of three for turns
  const tbReal* R;    // frame of the body: these are about its axes
  tbReal h;           // s
  tbReal inertia[9];  // kg m2
  tbReal omega[3];    // rad/s at the start
  tbReal next[3];     // rad/s at the end, if nothing else turned it
  tbReal middle[3];   // rad/s: the mean of both
} tbFreeTurn;

// False where tree `tree` is not such a body or hardly turns, and under laws and integrators whose
// couple is that of the start of the step. After tb_compute_velocity.
bool tb_free_turn(const tbModel* model, const tbData* data, int tree, tbFreeTurn* out);

// What is added to the force on the three dofs, and its partials by their velocity (3 x 3) and by
// the inertial parameters of one of the tree's bodies (3 x TB_NINERTIAL).
void tb_free_turn_force(const tbFreeTurn* turn, tbReal force[3]);
void tb_free_turn_by_velocity(const tbFreeTurn* turn, tbReal slope[9]);
tbResult tb_free_turn_by_inertia(const tbModel* model, tbData* data, int body,
                                 const tbFreeTurn* turn, tbReal* slope);

#endif
