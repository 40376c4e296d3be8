// Shared by the algorithms over bodies: gravity, and inertia along tendons.
#ifndef TRIBO_DYNAMICS_GRAVITY_H_
#define TRIBO_DYNAMICS_GRAVITY_H_

#include "spatial/motion.h"
#include "tribo/data.h"

// Gravity as the opposite acceleration of the world.
static inline void tb_gravity_acceleration(const tbModel* m, tbReal a[6]) {
  tb_zero6(a);
  if (!(m->opt.disableflags & TB_DISABLE_GRAVITY)) tb_scale3(a + 3, m->opt.gravity, -1);
}

// tau += armature J^T (J qacc + dJ/dt qvel) over tendons with armature; qacc may be NULL.
void tb_add_tendon_inertia(const tbModel* m, tbData* d, const tbReal* qacc, tbReal* tau);

#endif
