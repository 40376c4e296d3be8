// The matrix H = M - h dtau/dv of a step whose damping is implicit, within M's sparsity.
#ifndef TRIBO_FORCES_IMPLICIT_INERTIA_H_
#define TRIBO_FORCES_IMPLICIT_INERTIA_H_

#include <stdbool.h>

#include "dynamics/mass.h"

typedef enum {
  TB_IMPLICIT_NOTHING,  // H = M
  TB_IMPLICIT_DAMPERS,  // joint dampers (MuJoCo's Euler)
  TB_IMPLICIT_ALL,      // joint and tendon dampers, actuators
  TB_IMPLICIT_STIFF,    // and inertia for springs and servos that the step cannot resolve
  TB_IMPLICIT_SPRINGS,  // or h^2/4 K of all springs and servos (forces/stiff_springs.h)
} tbImplicit;

// What is implicit in the inertia that moves under a law of impulses or comfree; others have ways
// of their own, and M here.
tbImplicit tb_implicit_of(const tbOption* opt);

// Factor H; where nothing damps, H is M and its factor is used as it is. The factor lives in the
// arena. TB_ERROR_NUMERIC where H is not positive definite.
tbResult tb_implicit_factor(const tbModel* model, tbData* data, tbImplicit what,
                            tbInertiaFactor* factor);

// x = (M - h dtau/dv)^-1 x with every derivative by velocity (MuJoCo's implicit). After the
// actuators' forces; qvel-dependent quantities are as before. Takes nv x nv numbers of the arena.
tbResult tb_implicit_full(const tbModel* model, tbData* data, tbReal* x);

// That matrix (nv x nv): every tree is a block of its own.
tbResult tb_implicit_full_matrix(const tbModel* model, tbData* data, tbReal* H);

// The same for MuJoCo's implicitfast.
tbResult tb_implicit_fast(const tbModel* model, tbData* data, tbReal* x);

// Whether that is what TB_IMPLICIT_ALL does: no medium, no body that flies free, and no actuator
// that drives harder the faster it goes.
bool tb_implicit_fast_is_all(const tbModel* model, const tbData* data);

#endif
