// Springs and servos within a step.
//
// Viscoelastic law: its step moves the configuration by h v + h^2/2 a, and with the force of the
// start an undamped spring gains (h w)^2/2 of its energy in every step. The trapezoidal rule gains
// none at any h w: with v + dv/2 the mean velocity, the mean force is f - K (h/2) (v + dv/2), so
//     (M + h D + h^2/4 K) dv = h (f - K h v/2)
//
// Rigid laws and comfree, whose step moves the configuration by h v+: with the force of the start a
// spring k on an inertia I with a damper D, implicit, loses energy up to h^2 k = 4 I + 2 h D and
// diverges beyond. If I + h D is increased to at least h^2 k (docs/notebook/contact-rows.md, eq.
// 12), no spring diverges; springs that the step resolves are unchanged, and so are the forces of
// springs at rest.
#ifndef TRIBO_FORCES_STIFF_SPRINGS_H_
#define TRIBO_FORCES_STIFF_SPRINGS_H_

#include <stdbool.h>

#include "tribo/data.h"

// One spring: -k x x^T on the dofs `col`, and the damping along it.
typedef struct {
  tbReal k, damping;
  const int* col;
  const tbReal* x;
  int n;
  int dof;  // target of `col` if the spring is a joint's
} tbStiffness;

// Springs of dofs, tendons and actuators, in this order.
static inline int tb_stiffness_count(const tbModel* m) {
  return m->nv + m->ntendon + m->nu;
}

// Spring i as it acts at present. False if there is none, or it is slack, disabled or clamped.
bool tb_stiffness_get(const tbModel* m, const tbData* d, int i, tbStiffness* spring);

// The first spring from `i` on for which the inertia, by the model's inverse weights, plus h times
// its damping is less than h^2 k, and the difference; -1 if there is none.
int tb_stiffness_unresolved(const tbModel* m, const tbData* d, int i, tbStiffness* spring,
                            tbReal* lacks);

// force (nv) -= K h v/2. After tb_actuation.
void tb_stiffness_mean(const tbModel* m, const tbData* d, tbReal* force);

// Whether some of their directions depend on the configuration.
bool tb_stiff_springs_turn(const tbModel* m);

#endif
