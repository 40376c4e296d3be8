// The matrix H = M - h dtau/dv of a step whose damping is implicit, within M's sparsity.
#ifndef TRIBO_FORCES_IMPLICIT_INERTIA_H_
#define TRIBO_FORCES_IMPLICIT_INERTIA_H_

#include <stdbool.h>

#include "dynamics/mass.h"

typedef enum {
  TB_IMPLICIT_NOTHING,  // H = M
  TB_IMPLICIT_DAMPERS,  // joint dampers (MuJoCo's Euler)
  TB_IMPLICIT_ALL,      // joint and tendon dampers, actuators
  TB_IMPLICIT_STIFF,    // and inertia for springs and servos that the step does not resolve
  TB_IMPLICIT_SPRINGS,  // or h^2/4 K of all springs and servos (forces/stiff_springs.h)
} tbImplicit;

// The implicit terms in the inertia under a law of impulses or comfree; other laws choose their
// own, and get M here.
tbImplicit tb_implicit_of(const tbOption* opt);

// Factor H; without damping H is M, and its factor is used. The factor lives in the arena.
// TB_ERROR_NUMERIC if H is not positive definite.
tbResult tb_implicit_factor(const tbModel* model, tbData* data, tbImplicit what,
                            tbInertiaFactor* factor);

// x = (M - h dtau/dv)^-1 x with every derivative by velocity (MuJoCo's implicit). After the
// actuators' forces; qvel-dependent quantities are as before. Takes nv x nv numbers of the arena.
tbResult tb_implicit_full(const tbModel* model, tbData* data, tbReal* x);

// That matrix (nv x nv): every tree is a block of its own.
tbResult tb_implicit_full_matrix(const tbModel* model, tbData* data, tbReal* H);

// The same for MuJoCo's implicitfast.
tbResult tb_implicit_fast(const tbModel* model, tbData* data, tbReal* x);

// Whether implicitfast equals TB_IMPLICIT_ALL: no medium, no free-floating body, and no actuator
// whose force grows with velocity.
bool tb_implicit_fast_is_all(const tbModel* model, const tbData* data);

#endif
