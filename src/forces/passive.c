// Passive forces: springs, dampers, gravity compensation, drag of the medium.
#include <string.h>

#include "forces/forces.h"
#include "model/joint_space.h"
#include "tribo/dynamics.h"

static void zero(tbReal* x, int n) {
  memset(x, 0, sizeof(tbReal) * (size_t)n);
}

static void joint_springs(const tbModel* m, tbData* d) {
  for (int j = 0; j < m->njnt; j++) {
    tbReal k = m->jnt_stiffness[j];
    if (k == 0) continue;
    int at = m->jnt_qposadr[j], type = m->jnt_type[j];
    tbReal* force = d->qfrc_spring + m->jnt_dofadr[j];
    tb_joint_stretch(type, d->qpos + at, m->qpos_spring + at, force);
    for (int i = 0; i < tb_joint_nv(type); i++) force[i] *= -k;
  }
}

// qfrc += f J^T of tendon t.
static void add_tendon_force(const tbModel* m, const tbData* d, int t, tbReal f, tbReal* qfrc) {
  const int* col = m->Jten_colind + m->tendon_Jadr[t];
  const tbReal* J = d->ten_J + m->tendon_Jadr[t];
  for (int k = 0; k < m->tendon_Jnnz[t]; k++) qfrc[col[k]] += f * J[k];
}

static tbReal tendon_spring(const tbModel* m, const tbData* d, int t) {
  const tbReal* rest = m->tendon_lengthspring + 2 * t;
  tbReal length = d->ten_length[t], stretch = 0;
  if (length > rest[1]) stretch = length - rest[1];
  if (length < rest[0]) stretch = length - rest[0];
  return -m->tendon_stiffness[t] * stretch;
}

static tbReal tendon_damper(const tbModel* m, const tbData* d, int t) {
  return -m->tendon_damping[t] * d->ten_velocity[t];
}

tbReal tb_tendon_passive(const tbModel* m, const tbData* d, int tendon) {
  tbReal force = 0;
  if (!(m->opt.disableflags & TB_DISABLE_SPRING)) force += tendon_spring(m, d, tendon);
  if (!(m->opt.disableflags & TB_DISABLE_DAMPER)) force += tendon_damper(m, d, tendon);
  return force;
}

static void tendon_springs(const tbModel* m, tbData* d) {
  for (int t = 0; t < m->ntendon; t++) {
    tbReal f = tendon_spring(m, d, t);
    if (f != 0) add_tendon_force(m, d, t, f, d->qfrc_spring);
  }
}

static void dampers(const tbModel* m, tbData* d) {
  for (int i = 0; i < m->nv; i++) d->qfrc_damper[i] = -m->dof_damping[i] * d->qvel[i];
  for (int t = 0; t < m->ntendon; t++) {
    tbReal f = tendon_damper(m, d, t);
    if (f != 0) add_tendon_force(m, d, t, f, d->qfrc_damper);
  }
}

static void gravity_compensation(const tbModel* m, tbData* d) {
  for (int i = 1; i < m->nbody; i++) {
    if (m->body_gravcomp[i] == 0) continue;
    tbReal force[3];
    tb_scale3(force, m->opt.gravity, -m->body_mass[i] * m->body_gravcomp[i]);
    tb_apply_wrench(m, d, i, d->xipos + 3 * i, force, NULL, d->qfrc_gravcomp);
  }
}

void tb_passive(const tbModel* m, tbData* d) {
  zero(d->qfrc_spring, m->nv);
  zero(d->qfrc_damper, m->nv);
  zero(d->qfrc_gravcomp, m->nv);
  zero(d->qfrc_fluid, m->nv);
  // With both flags every passive force is disabled, as in MuJoCo.
  const int both = TB_DISABLE_SPRING | TB_DISABLE_DAMPER;
  if ((m->opt.disableflags & both) == both) {
    zero(d->qfrc_passive, m->nv);
    return;
  }
  if (!(m->opt.disableflags & TB_DISABLE_SPRING)) {
    joint_springs(m, d);
    tendon_springs(m, d);
  }
  if (!(m->opt.disableflags & TB_DISABLE_DAMPER)) dampers(m, d);
  if (!(m->opt.disableflags & TB_DISABLE_GRAVITY)) gravity_compensation(m, d);
  if (tb_has_fluid(m)) tb_fluid(m, d);

  // Compensation that counts as actuation is added to the actuator forces.
  for (int i = 0; i < m->nv; i++) {
    int actuated = m->jnt_actgravcomp[m->dof_jntid[i]];
    d->qfrc_passive[i] = d->qfrc_spring[i] + d->qfrc_damper[i] + d->qfrc_fluid[i] +
                         (actuated ? 0 : d->qfrc_gravcomp[i]);
  }
}
