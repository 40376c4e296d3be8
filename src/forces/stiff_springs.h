// Springs and servos within a step.
//
// Viscoelastic law. Its step moves the configuration by h v + h^2/2 a, and with the force of the
// start an undamped spring gains (h w)^2/2 of its energy in every step. The trapezoidal rule gains
// none at any h w: with v + dv/2 the mean velocity, the mean force is f - K (h/2) (v + dv/2), so
//     (M + h D + h^2/4 K) dv = h (f - K h v/2)
//
// Rigid laws and comfree, whose step moves the configuration by h v+: with the force of the start a
// spring k on an inertia I with a damper D, implicit, loses energy up to h^2 k = 4 I + 2 h D and
// explodes beyond. With no less than h^2 k for I + h D (docs/step.md, eq. 12) none does; what the
// step resolves stays as it is, and so does what springs hold at rest.
#ifndef TRIBO_FORCES_STIFF_SPRINGS_H_
#define TRIBO_FORCES_STIFF_SPRINGS_H_

#include <stdbool.h>

#include "tribo/data.h"

// One spring: -k x x^T of the dofs `col`, and what damps along it.
typedef struct {
  tbReal k, damping;
  const int* col;
  const tbReal* x;
  int n;
  int dof;  // what `col` points to where the spring is a joint's
} tbStiffness;

// Springs of dofs, tendons and actuators, in this order.
static inline int tb_stiffness_count(const tbModel* m) {
  return m->nv + m->ntendon + m->nu;
}

// Spring i as it acts now. False where there is none, or it is slack, off or held by a clamp.
bool tb_stiffness_get(const tbModel* m, const tbData* d, int i, tbStiffness* spring);

// The first spring from `i` on whose inertia, by the model's inverse weights, and h times its
// damping together lack something to h^2 k, and how much; -1 where there is none.
int tb_stiffness_unresolved(const tbModel* m, const tbData* d, int i, tbStiffness* spring,
                            tbReal* lacks);

// force (nv) -= K h v/2. After tb_actuation.
void tb_stiffness_mean(const tbModel* m, const tbData* d, tbReal* force);

// Whether some of their directions change with the configuration.
bool tb_stiff_springs_turn(const tbModel* m);

#endif
