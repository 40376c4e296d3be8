// Potential and kinetic energy (docs/manual/dynamics.md, eq. 26-27).
#include "dynamics/mass.h"
#include "model/joint_space.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"

static tbReal joint_spring_energy(const tbModel* m, const tbData* d, int joint) {
  int at = m->jnt_qposadr[joint], type = m->jnt_type[joint], numbers = tb_joint_numbers(type);
  tbReal stretch[TB_JOINT_MOST_NV], squared = 0;
  tb_joint_stretch(type, d->qpos + at, m->qpos_spring + at, stretch);
  for (int k = 0; k < numbers; k++) squared += stretch[k] * stretch[k];
  // The squared angle between the two orientations.
  if (tb_joint_has_quaternion(type)) squared += tb_dot3(stretch + numbers, stretch + numbers);
  return 0.5 * m->jnt_stiffness[joint] * squared;
}

void tb_energy_position(const tbModel* m, tbData* d) {
  if (!tb_is_world_of(m, d)) return;
  tbReal energy = 0;
  if (!(m->opt.disableflags & TB_DISABLE_GRAVITY)) {
    for (int i = 1; i < m->nbody; i++) {
      energy -= m->body_mass[i] * tb_dot3(m->opt.gravity, d->xipos + 3 * i);
    }
  }
  if (!(m->opt.disableflags & TB_DISABLE_SPRING)) {
    for (int j = 0; j < m->njnt; j++) {
      if (m->jnt_stiffness[j] != 0) energy += joint_spring_energy(m, d, j);
    }
    // A tendon's spring has no force within its dead band.
    for (int t = 0; t < m->ntendon; t++) {
      tbReal length = d->ten_length[t], low = m->tendon_lengthspring[2 * t];
      tbReal high = m->tendon_lengthspring[2 * t + 1];
      tbReal stretch = length > high ? length - high : length < low ? low - length : 0;
      energy += 0.5 * m->tendon_stiffness[t] * stretch * stretch;
    }
  }
  d->energy[0] = energy;
}

tbReal tb_kinetic_energy(const tbModel* m, const tbData* d) {
  tbReal* momentum = d->work->scratch_nv;
  tb_mul_m(m, d, momentum, d->qvel);
  tbReal sum = 0;
  for (int i = 0; i < m->nv; i++) sum += momentum[i] * d->qvel[i];
  return 0.5 * sum;
}

void tb_energy_velocity(const tbModel* m, tbData* d) {
  if (!tb_is_world_of(m, d)) return;
  d->energy[1] = tb_kinetic_energy(m, d);
}
