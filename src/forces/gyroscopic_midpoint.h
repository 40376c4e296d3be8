// The gyroscopic and centrifugal forces of a free-floating body, such that its energy and its
// momentum are conserved.
#ifndef TRIBO_FORCES_GYROSCOPIC_MIDPOINT_H_
#define TRIBO_FORCES_GYROSCOPIC_MIDPOINT_H_

#include <stdbool.h>

#include "tribo/data.h"

// In world axes at the start of the step, about the centre of mass.
typedef struct {
  int dof;            // the first of the six
  const tbReal* R;    // rotation of the body frame: angular dofs are about its axes
  tbReal h;           // s
  tbReal mass;        // kg
  tbReal arm[3];      // m: from the frame to the centre of mass
  tbReal inertia[9];  // kg m2
  tbReal omega[3];    // rad/s at the start
  tbReal next[3];     // rad/s at the end, without other torques
  tbReal middle[3];   // rad/s: mean of start and end
} tbGyroscopicMidpoint;

// Whether gyroscopic and Coriolis forces are those of the middle of a step. Those of the soft law
// are MuJoCo's, those of springs and Runge-Kutta belong to their integrators.
bool tb_turns_by_middle(const tbOption* opt);

// False if tree `tree` is not a free-floating body or hardly turns, and under laws and integrators
// that use forces of the start of the step. After tb_compute_velocity.
bool tb_gyroscopic_midpoint(const tbModel* model, const tbData* data, int tree,
                            tbGyroscopicMidpoint* out);

// The force added on the six dofs, and its partials by the displacement of the last three and by
// their velocity (6 x 3 each).
void tb_gyroscopic_midpoint_force(const tbGyroscopicMidpoint* turn, tbReal force[6]);
void tb_gyroscopic_midpoint_partials(const tbGyroscopicMidpoint* turn, tbReal by_q[18],
                                     tbReal by_v[18]);

// The partials by the inertial parameters of one of the tree's bodies (6 x TB_NINERTIAL).
tbResult tb_gyroscopic_midpoint_by_inertia(const tbModel* model, tbData* data, int body,
                                           const tbGyroscopicMidpoint* turn, tbReal* slope);

#endif
