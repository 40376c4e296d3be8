// Evaluation of the sensors of a model by the list of all kinds (model/sensor_kinds.h).
#include "sensors/evaluate.h"

#include <string.h>

#include "base/minmax.h"
#include "forces/forces.h"
#include "model/sensor_kinds.h"
#include "model/transmission_kinds.h"
#include "sensors/values.h"

typedef void (*Evaluate)(const tbSensorContext* x, int sensor, tbReal* out);

static const Evaluate EVALUATE[TB_NSENSORTYPES] = {
#define X(TYPE, word, dim, TARGET, STAGE, CLAMP, NEEDS, REQUIRES, function) \
  [TB_SENS_##TYPE] = tb_sensor_##function,
    TB_SENSORS(X)
#undef X
};

// ---- what reactions need -----------------------------------------------------------------------

// Force of everything that acts along a tendon, but its armature.
static tbReal tendon_force(const tbSensorContext* x, int tendon) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  tbReal total = tb_tendon_passive(m, d, tendon) +
                 tb_tendon_row_force(m, d, x->constraints, x->row_force, tendon);
  for (int i = 0; i < m->nu; i++) {
    if (tb_geared_tendon(m, i) == tendon) {
      total += m->actuator_gear[6 * i] * d->actuator_force[i];
    }
  }
  return total;
}

// External wrenches on bodies (contacts, equalities, tendons, applied), for reactions.
static void external_wrenches(const tbSensorContext* x) {
  const tbModel* m = x->m;
  tbData* d = x->d;
  memset(d->cfrc_ext, 0, sizeof(tbReal) * 6 * (size_t)m->nbody);
  for (int i = 1; i < m->nbody; i++) {
    const tbReal* f = d->xfrc_applied + 6 * i;
    bool none = f[0] == 0 && f[1] == 0 && f[2] == 0 && f[3] == 0 && f[4] == 0 && f[5] == 0;
    if (!none) tb_add_wrench(m, d, i, d->xipos + 3 * i, f, f + 3);
  }
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    if (c->row < 0) continue;
    tbReal force[3], torque[3], minus_force[3], minus_torque[3];
    tb_mul_mat3t_vec3(force, c->frame, c->force);
    tb_mul_mat3t_vec3(torque, c->frame, c->force + 3);
    tb_scale3(minus_force, force, -1);
    tb_scale3(minus_torque, torque, -1);
    tb_add_wrench(m, d, m->geom_bodyid[c->geom[1]], c->pos, force, torque);
    tb_add_wrench(m, d, m->geom_bodyid[c->geom[0]], c->pos, minus_force, minus_torque);
  }
  tb_equality_wrenches(m, d, x->constraints, x->row_force);
  for (int t = 0; t < m->ntendon; t++) tb_add_tendon_wrench(m, d, t, tendon_force(x, t));
  // The world's own row stays zero, as in MuJoCo.
  memset(d->cfrc_ext, 0, sizeof(tbReal[6]));
}

void tb_reactions(const tbModel* m, tbData* d, const tbConstraints* constraints,
                  const tbReal* row_force) {
  tbSensorContext x = {m, d, constraints, row_force};
  external_wrenches(&x);
  tb_body_forces(m, d);
}

// ---- evaluation --------------------------------------------------------------------------------

static void apply_cutoff(const tbModel* m, int s, int clamp, tbReal* out) {
  tbReal cutoff = m->sensor_cutoff[s];
  if (cutoff <= 0 || clamp > TB_CLAMP_POSITIVE) return;
  for (int k = 0; k < m->sensor_dim[s]; k++) {
    out[k] = tb_min(cutoff, out[k]);
    if (clamp == TB_CLAMP_REAL) out[k] = tb_max(-cutoff, out[k]);
  }
}

// All sensors of the first half of a step, or of the second.
static void evaluate(const tbSensorContext* x, bool second) {
  const tbModel* m = x->m;
  for (int s = 0; s < m->nsensor; s++) {
    const tbSensorKind* kind = &tb_sensor_kinds[m->sensor_type[s]];
    if ((kind->stage == TB_STAGE_ACC) != second || !kind->word) continue;
    tbReal* out = x->d->sensordata + m->sensor_adr[s];
    EVALUATE[m->sensor_type[s]](x, s, out);
    apply_cutoff(m, s, kind->clamp, out);
  }
}

// Quantities that the sensors of a model need together: bits of tbSensorNeeds.
static int needs_of(const tbModel* m) {
  int needs = 0;
  for (int s = 0; s < m->nsensor; s++) needs |= tb_sensor_kinds[m->sensor_type[s]].needs;
  return needs;
}

static bool has_sensors(const tbModel* m) {
  return m->nsensor > 0 && !(m->opt.disableflags & TB_DISABLE_SENSOR);
}

void tb_sensor_first(const tbModel* m, tbData* d, const tbConstraints* constraints, int observed) {
  bool sensors = has_sensors(m);
  if (!sensors && !observed) return;
  int needs = observed | (sensors ? needs_of(m) : 0);
  if (needs & TB_NEEDS_SUBTREE) tb_subtree_velocity(m, d);
  if (needs & TB_NEEDS_ENERGY) {
    tb_energy_position(m, d);
    tb_energy_velocity(m, d);
  }
  tbSensorContext x = {m, d, constraints, NULL};
  if (sensors) evaluate(&x, false);
}

void tb_sensor_second(const tbModel* m, tbData* d, const tbConstraints* constraints,
                      const tbReal* row_force, int observed) {
  bool sensors = has_sensors(m);
  if (!sensors && !observed) return;
  tbSensorContext x = {m, d, constraints, row_force};
  int needs = observed | (sensors ? needs_of(m) : 0);
  if (needs & TB_NEEDS_REACTION) {
    tb_reactions(m, d, constraints, row_force);
  } else if (needs & TB_NEEDS_ACCELERATION) {
    tb_body_accelerations(m, d);
  }
  if (sensors) evaluate(&x, true);
}
