// Partials of the smooth forces of a step: springs, dampers, actuators
// (docs/notebook/derivatives.md, eq. 20-24). Forces whose moment arms change with the configuration
// (spatial tendons, sites, cranks), muscles, the medium and fast-turning trees are differentiated
// by differences on a second world, without collision and constraints.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "dynamics/gravity.h"
#include "model/joint_space.h"
#include "model/transmission_kinds.h"
#include "model/workspace.h"
#include "partials/derivatives.h"
#include "forces/actuator_force.h"
#include "forces/forces.h"
#include "forces/gyroscopic_midpoint.h"
#include "forces/implicit_inertia.h"
#include "forces/stiff_springs.h"
#include "tribo/dynamics.h"

static const tbReal SMALLEST = 1e-15;

// ---- forces with closed-form partials ----------------------------------------------------------

static int is_spatial(const tbModel* m, int t) {
  return m->tendon_num[t] > 0 && m->wrap_type[m->tendon_adr[t]] != TB_WRAP_JOINT;
}

static int is_plain_actuator(const tbModel* m, int i) {
  return tb_actuator_is_affine(m, i) && tb_transmission_is_constant(m, i) &&
         m->actuator_actnum[i] <= 1;
}

int tb_deriv_is_plain(const tbModel* m) {
  if (m->opt.density > 0 || m->opt.viscosity > 0) return 0;
  for (int t = 0; t < m->ntendon; t++) {
    int acts =
        m->tendon_stiffness[t] != 0 || m->tendon_damping[t] != 0 || m->tendon_armature[t] != 0;
    if ((is_spatial(m, t) && acts) || m->tendon_actfrclimited[t]) return 0;
  }
  if (m->opt.disableflags & TB_DISABLE_ACTUATION) return 1;
  for (int i = 0; i < m->nu; i++) {
    if (!is_plain_actuator(m, i)) return 0;
  }
  return 1;
}

// ---- passive forces -----------------------------------------------------------------------------

static void joint_springs(const tbModel* m, const tbData* d, tbPartials* out) {
  for (int j = 0; j < m->njnt; j++) {
    tbReal k = m->jnt_stiffness[j];
    if (k == 0) continue;
    int at = m->jnt_qposadr[j], dof = m->jnt_dofadr[j], type = m->jnt_type[j];
    int nv = tb_joint_nv(type);
    tbReal stretch[TB_JOINT_MOST_NV], by_q[TB_JOINT_MOST_NV * TB_JOINT_MOST_NV];
    tb_joint_stretch(type, d->qpos + at, m->qpos_spring + at, stretch);
    tb_joint_stretch_partials(type, stretch, by_q);
    for (int r = 0; r < nv; r++) {
      for (int c = 0; c < nv; c++) *tb_partial(out, dof + r, dof + c) -= k * by_q[nv * r + c];
    }
  }
}

// out[:, first + :] += s a a^T for a sparse vector a.
static void add_outer(tbPartials* out, int first, tbReal s, const int* col, const tbReal* a,
                      int n) {
  for (int i = 0; s != 0 && i < n; i++) {
    for (int j = 0; j < n; j++) *tb_partial(out, col[i], first + col[j]) += s * a[i] * a[j];
  }
}

static void tendons(const tbModel* m, const tbData* d, tbPartials* out) {
  int spring = !(m->opt.disableflags & TB_DISABLE_SPRING);
  int damper = !(m->opt.disableflags & TB_DISABLE_DAMPER);
  for (int t = 0; t < m->ntendon; t++) {
    const int* col = m->Jten_colind + m->tendon_Jadr[t];
    const tbReal *J = d->ten_J + m->tendon_Jadr[t], *rest = m->tendon_lengthspring + 2 * t;
    int n = m->tendon_Jnnz[t], taut = d->ten_length[t] > rest[1] || d->ten_length[t] < rest[0];
    if (spring && taut) add_outer(out, 0, -m->tendon_stiffness[t], col, J, n);
    if (damper) add_outer(out, m->nv, -m->tendon_damping[t], col, J, n);
  }
}

// 1 if the joint's own clamp limits the actuator force on a dof.
static int is_clamped(const tbModel* m, const tbData* d, int dof) {
  int joint = m->dof_jntid[dof];
  if (!m->jnt_actfrclimited[joint]) return 0;
  if (!tb_joint_is_scalar(m->jnt_type[joint])) return 0;
  const tbReal* range = m->jnt_actfrcrange + 2 * joint;
  return d->qfrc_actuator[dof] <= range[0] || d->qfrc_actuator[dof] >= range[1];
}

int tb_deriv_compensates(const tbModel* m) {
  // With both flags every passive force is off, as in MuJoCo.
  const int both = TB_DISABLE_SPRING | TB_DISABLE_DAMPER, off = m->opt.disableflags;
  return !(off & TB_DISABLE_GRAVITY) && (off & both) != both;
}

int tb_deriv_is_compensated(const tbModel* m, const tbData* d, int dof) {
  int actuated = m->jnt_actgravcomp[m->dof_jntid[dof]];
  return !actuated || (!tb_is_unactuated(m) && !is_clamped(m, d, dof));
}

static tbResult gravity_compensation(tbDerivatives* x, const tbData* d, tbPartials* out) {
  const tbModel* m = x->m;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* by_q = NULL;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_gravcomp[b] == 0) continue;
    if (!by_q) by_q = TB_ARENA_NEW(&x->arena, tbReal, m->nv * m->nv);
    if (!by_q) return TB_ERROR_MEMORY;
    tbReal force[3];
    tb_scale3(force, m->opt.gravity, -m->body_mass[b] * m->body_gravcomp[b]);
    tb_wrench_derivative(m, d, b, d->xipos + 3 * b, force, NULL, 1, by_q);
  }
  for (int i = 0; by_q && i < m->nv; i++) {
    if (!tb_deriv_is_compensated(m, d, i)) continue;
    for (int k = 0; k < m->nv; k++)
      *tb_partial(out, i, k) += by_q[(size_t)i * (size_t)m->nv + (size_t)k];
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

static tbResult passive(tbDerivatives* x, const tbData* d, tbPartials* out) {
  const tbModel* m = x->m;
  if (!(m->opt.disableflags & TB_DISABLE_SPRING)) joint_springs(m, d, out);
  if (!(m->opt.disableflags & TB_DISABLE_DAMPER)) {
    for (int i = 0; i < m->nv; i++) *tb_partial(out, i, m->nv + i) -= m->dof_damping[i];
  }
  tendons(m, d, out);
  return tb_deriv_compensates(m) ? gravity_compensation(x, d, out) : TB_OK;
}

// ---- actuators ----------------------------------------------------------------------------------

static int is_inside(tbReal value, const tbReal range[2]) {
  return value > range[0] && value < range[1];
}

// Partials of an actuator's scalar force, of its input and of its next activation.
typedef struct {
  tbReal by_length, by_velocity, by_input;
  tbReal input, input_by_act, input_by_ctrl;
  tbReal next_by_act, next_by_ctrl;
  tbReal rate_by_act, rate_by_ctrl;
} Actuator;

static void activation(const tbModel* m, const tbData* d, int i, Actuator* a) {
  int limited = m->actuator_ctrllimited[i] && !(m->opt.disableflags & TB_DISABLE_CLAMPCTRL);
  const tbReal* range = m->actuator_ctrlrange + 2 * i;
  tbReal by_ctrl = !limited || is_inside(d->ctrl[i], range);
  tbReal ctrl = limited ? tb_min(tb_max(d->ctrl[i], range[0]), range[1]) : d->ctrl[i];
  a->input = ctrl;
  a->input_by_ctrl = by_ctrl;
  int state = m->actuator_actadr[i];
  if (state < 0) return;

  // act_dot, then the activation after one step.
  tbReal h = m->opt.timestep, tau = tb_max(SMALLEST, m->actuator_dynprm[TB_NDYN * i]), span = h;
  switch (m->actuator_dyntype[i]) {
    case TB_DYN_INTEGRATOR: a->rate_by_ctrl = by_ctrl; break;
    case TB_DYN_FILTEREXACT: span = tau * (1 - tb_exp(-h / tau));  // fall through
    case TB_DYN_FILTER:
      a->rate_by_ctrl = by_ctrl / tau;
      a->rate_by_act = -1 / tau;
      break;
    default: break;
  }
  tbReal next = tb_next_activation(m, d, i, state, d->act_dot[state]);
  if (!m->actuator_actlimited[i] || is_inside(next, m->actuator_actrange + 2 * i)) {
    a->next_by_act = 1 + span * a->rate_by_act;
    a->next_by_ctrl = span * a->rate_by_ctrl;
  }
  int early = m->actuator_actearly[i];
  a->input = early ? next : d->act[state];
  a->input_by_act = early ? a->next_by_act : 1;
  a->input_by_ctrl = early ? a->next_by_ctrl : 0;
}

static void scalar_force(const tbModel* m, const tbData* d, int i, Actuator* a) {
  const tbReal *gain = m->actuator_gainprm + TB_NGAIN * i,
               *bias = m->actuator_biasprm + TB_NBIAS * i;
  if (m->actuator_forcelimited[i] &&
      !is_inside(d->actuator_force[i], m->actuator_forcerange + 2 * i)) {
    return;
  }
  a->by_input = gain[0];
  if (m->actuator_gaintype[i] == TB_GAIN_AFFINE) {
    a->by_input += gain[1] * d->actuator_length[i] + gain[2] * d->actuator_velocity[i];
    a->by_length += gain[1] * a->input;
    a->by_velocity += gain[2] * a->input;
  }
  if (m->actuator_biastype[i] == TB_BIAS_AFFINE) {
    a->by_length += bias[1];
    a->by_velocity += bias[2];
  }
}

static int is_disabled(const tbModel* m, int i) {
  int group = m->actuator_group[i];
  return (m->opt.disableflags & TB_DISABLE_ACTUATION) ||
         (group >= 0 && group <= 30 && (m->opt.disableactuator >> group & 1));
}

int tb_deriv_input_damps(const tbModel* m) {
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_gaintype[i] == TB_GAIN_AFFINE && m->actuator_gainprm[TB_NGAIN * i + 2] != 0) {
      return 1;
    }
  }
  return 0;
}

void tb_deriv_damping_change(const tbDerivatives* x, const tbData* d, const tbReal* ur,
                             const tbReal* us, tbReal scale, tbReal* out) {
  const tbModel* m = x->m;
  for (int i = 0; x->input_damps && i < m->nu; i++) {
    Actuator a = {0};
    if (m->actuator_gaintype[i] != TB_GAIN_AFFINE || is_disabled(m, i)) continue;
    activation(m, d, i, &a);
    scalar_force(m, d, i, &a);
    if (a.by_velocity >= 0) continue;
    const int* col = m->Jmom_colind + m->actuator_Jadr[i];
    const tbReal* moment = d->actuator_moment + m->actuator_Jadr[i];
    tbReal r = 0, s = 0;
    for (int k = 0; k < m->actuator_Jnnz[i]; k++) {
      r += moment[k] * ur[col[k]];
      s += moment[k] * us[col[k]];
    }
    // H contains - h slope moment moment^T.
    tbReal change = scale * m->opt.timestep * m->actuator_gainprm[TB_NGAIN * i + 2] * r * s;
    if (m->actuator_actadr[i] >= 0)
      out[2 * m->nv + m->actuator_actadr[i]] += change * a.input_by_act;
    out[x->nx + i] += change * a.input_by_ctrl;
  }
}

// The implicit damping of this actuator, - h D acc with D = -slope moment moment^T, depends on the
// input if the gain depends on velocity.
static tbReal damping_by_input(const tbModel* m, const tbData* d, int i, const Actuator* a,
                               const tbReal* acc, int damping) {
  if (damping < TB_IMPLICIT_ALL) return 0;
  if (m->actuator_gaintype[i] != TB_GAIN_AFFINE) return 0;
  if (a->by_velocity >= 0 && damping != TB_IMPLICIT_FULL) return 0;
  const int* col = m->Jmom_colind + m->actuator_Jadr[i];
  tbReal speed = 0;
  for (int k = 0; k < m->actuator_Jnnz[i]; k++) {
    speed += d->actuator_moment[m->actuator_Jadr[i] + k] * acc[col[k]];
  }
  return m->opt.timestep * m->actuator_gainprm[TB_NGAIN * i + 2] * speed;
}

// Whether any damping depends on the input: Coriolis forces of the middle then depend on it, too.
static bool has_input_damping(const tbModel* m) {
  if (tb_is_unactuated(m)) return false;
  for (int i = 0; i < m->nu; i++) {
    bool affine = m->actuator_gaintype[i] == TB_GAIN_AFFINE;
    if (affine && m->actuator_gainprm[TB_NGAIN * i + 2] != 0) return true;
  }
  return false;
}

static void add_actuator(tbDerivatives* x, const tbData* d, int i, const tbReal* acc, int damping,
                         tbPartials* out) {
  const tbModel* m = x->m;
  Actuator a = {0};
  int state = m->actuator_actadr[i], nv = m->nv;
  if (is_disabled(m, i)) {
    if (state >= 0) x->act_by_act[state] = 1;
    return;
  }
  activation(m, d, i, &a);
  scalar_force(m, d, i, &a);
  if (state >= 0) {
    x->act_by_act[state] = a.next_by_act;
    x->act_by_ctrl[state] = a.next_by_ctrl;
    x->rate_by_act[state] = a.rate_by_act;
    x->rate_by_ctrl[state] = a.rate_by_ctrl;
  }
  const int* col = m->Jmom_colind + m->actuator_Jadr[i];
  const tbReal* moment = d->actuator_moment + m->actuator_Jadr[i];
  int n = m->actuator_Jnnz[i];
  tbReal by_damping = damping_by_input(m, d, i, &a, acc, damping);
  for (int r = 0; r < n; r++) {
    // A joint's own clamp limits the force, not the damping in H.
    int clamped = is_clamped(m, d, col[r]);
    tbReal by_input = by_damping + (clamped ? 0 : a.by_input);
    for (int c = 0; !clamped && c < n; c++) {
      *tb_partial(out, col[r], col[c]) += a.by_length * moment[r] * moment[c];
      *tb_partial(out, col[r], nv + col[c]) += a.by_velocity * moment[r] * moment[c];
    }
    if (state >= 0)
      *tb_partial(out, col[r], 2 * nv + state) += by_input * a.input_by_act * moment[r];
    *tb_partial(out, col[r], x->nx + i) += by_input * a.input_by_ctrl * moment[r];
  }
}

// ---- differences --------------------------------------------------------------------------------

// 1 if one of the dofs is an ancestor of the other, so that M has an entry.
static int related(const tbModel* m, int i, int j) {
  int upper = i < j ? i : j, lower = i < j ? j : i;
  return lower < upper + m->dof_subtreenum[upper];
}

// out -= s a (a . acc), within M's sparsity pattern.
static void subtract_outer(const tbModel* m, tbReal s, const int* col, const tbReal* a, int n,
                           const tbReal* acc, tbReal* out) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (related(m, col[i], col[j])) out[col[i]] -= s * a[i] * a[j] * acc[col[j]];
    }
  }
}

// All smooth forces at the probe's state, minus h D acc and the inertia of springs and spatial
// tendons.
static tbResult evaluate(const tbDerivatives* x, const tbReal* acc, int damping, tbReal* out) {
  const tbModel* m = x->m;
  tbData* p = x->probe;
  tb_passive(m, p);
  tb_actuation(m, p);
  for (int i = 0; i < m->nv; i++) out[i] = p->qfrc_passive[i] + p->qfrc_actuator[i];
  tbArenaMark mark = tb_arena_mark(&p->work->arena);
  tbInertiaFactor H;
  tbResult result = tb_implicit_factor(m, p, tb_implicit_of(&m->opt), &H);
  if (result != TB_OK) return result;
  tb_add_coriolis(m, p, H, 1, out);
  tb_arena_release(&p->work->arena, mark);
  tbReal h = m->opt.timestep;
  int all = damping >= TB_IMPLICIT_ALL && damping != TB_IMPLICIT_FULL;
  for (int t = 0; t < m->ntendon && all && !(m->opt.disableflags & TB_DISABLE_DAMPER); t++) {
    if (m->tendon_damping[t] <= 0) continue;
    subtract_outer(m, h * m->tendon_damping[t], m->Jten_colind + m->tendon_Jadr[t],
                   p->ten_J + m->tendon_Jadr[t], m->tendon_Jnnz[t], acc, out);
  }
  for (int i = 0; i < m->nu && all; i++) {
    tbReal slope = tb_actuator_velocity_gain(m, p, i);
    int clamped = m->actuator_forcelimited[i] &&
                  !is_inside(p->actuator_force[i], m->actuator_forcerange + 2 * i);
    if (slope >= 0 || clamped) continue;
    subtract_outer(m, -h * slope, m->Jmom_colind + m->actuator_Jadr[i],
                   p->actuator_moment + m->actuator_Jadr[i], m->actuator_Jnnz[i], acc, out);
  }
  tbStiffness spring;
  tbReal lacks;
  for (int i = damping == TB_IMPLICIT_STIFF ? 0 : tb_stiffness_count(m);
       (i = tb_stiffness_unresolved(m, p, i, &spring, &lacks)) >= 0; i++) {
    subtract_outer(m, lacks, spring.col, spring.x, spring.n, acc, out);
  }
  tbReal* inertia = p->work->scratch_nv;
  memset(inertia, 0, sizeof(tbReal) * (size_t)m->nv);
  tb_add_tendon_inertia(m, p, acc, inertia);
  for (int i = 0; i < m->nv; i++) out[i] -= inertia[i];
  return TB_OK;
}

static void place_probe(const tbDerivatives* x, const tbData* d, int column, tbReal e) {
  const tbModel* m = x->m;
  tbData* p = x->probe;
  memcpy(p->qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(p->qvel, d->qvel, sizeof(tbReal) * (size_t)m->nv);
  memcpy(p->act, d->act, sizeof(tbReal) * (size_t)m->na);
  memcpy(p->ctrl, d->ctrl, sizeof(tbReal) * (size_t)m->nu);
  if (column < m->nv) {
    tbReal* unit = p->work->scratch_nv;
    memset(unit, 0, sizeof(tbReal) * (size_t)m->nv);
    unit[column] = 1;
    tb_integrate_pos(m, p->qpos, unit, e);
  } else if (column < 2 * m->nv) {
    p->qvel[column - m->nv] += e;
  } else if (column < x->nx) {
    p->act[column - 2 * m->nv] += e;
  } else {
    p->ctrl[column - x->nx] += e;
  }
  if (column < m->nv) tb_compute_position(m, p);
  if (column < 2 * m->nv) tb_compute_velocity(m, p);
}

// Next activations, then their rates.
static void activations(const tbDerivatives* x, tbReal* out) {
  for (int s = 0; s < x->na; s++) {
    tbReal rate = x->probe->act_dot[s];
    out[s] = tb_next_activation(x->m, x->probe, x->act_ctrl[s], s, rate);
    out[x->na + s] = rate;
  }
}

static tbResult by_differences(tbDerivatives* x, const tbData* d, const tbReal* acc, int damping,
                               tbPartials* out) {
  const tbReal e = 1e-6;
  const tbModel* m = x->m;
  if (!x->probe) x->probe = tb_data_new(m);
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* low = TB_ARENA_NEW(&x->arena, tbReal, m->nv + 2 * m->na);
  tbReal* high = TB_ARENA_NEW(&x->arena, tbReal, m->nv + 2 * m->na);
  if (!x->probe || !low || !high) return TB_ERROR_MEMORY;
  memcpy(x->probe->mocap_pos, d->mocap_pos, sizeof(tbReal) * 3 * (size_t)m->nmocap);
  memcpy(x->probe->mocap_quat, d->mocap_quat, sizeof(tbReal) * 4 * (size_t)m->nmocap);
  for (int k = 0; k < x->ncol; k++) {
    // The first column after those of the configuration restores the quantities that depend on it.
    if (k == m->nv) {
      place_probe(x, d, 0, 0);
    } else if (k == 2 * m->nv) {
      place_probe(x, d, m->nv, 0);
    }
    place_probe(x, d, k, -e);
    tbResult result = evaluate(x, acc, damping, low);
    if (result != TB_OK) return result;
    activations(x, low + m->nv);
    place_probe(x, d, k, e);
    result = evaluate(x, acc, damping, high);
    if (result != TB_OK) return result;
    activations(x, high + m->nv);
    for (int i = 0; i < m->nv; i++) *tb_partial(out, i, k) += (high[i] - low[i]) / (2 * e);
    for (int s = 0; s < m->na; s++) {
      tbReal slope = (high[m->nv + s] - low[m->nv + s]) / (2 * e);
      if (k == 2 * m->nv + s) x->act_by_act[s] = slope;
      if (k == x->nx + x->act_ctrl[s]) x->act_by_ctrl[s] = slope;
      slope = (high[m->nv + m->na + s] - low[m->nv + m->na + s]) / (2 * e);
      if (k == 2 * m->nv + s) x->rate_by_act[s] = slope;
      if (k == x->nx + x->act_ctrl[s]) x->rate_by_ctrl[s] = slope;
    }
  }
  x->info.finite_differences = 1;
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

// Forces of free-floating bodies that depend on their own rotation only.
static void add_free_turns(const tbDerivatives* x, const tbData* d, tbPartials* out) {
  for (int t = 0; t < x->m->ntree; t++) {
    tbGyroscopicMidpoint turn;
    tbReal by_q[18], by_v[18];
    if (!tb_gyroscopic_midpoint(x->m, d, t, &turn)) continue;
    tb_gyroscopic_midpoint_partials(&turn, by_q, by_v);
    for (int i = 0; i < 18; i++) {
      int row = turn.dof + i / 3, column = turn.dof + 3 + i % 3;
      *tb_partial(out, row, column) += by_q[i];
      *tb_partial(out, row, x->nv + column) += by_v[i];
    }
  }
}

bool tb_deriv_smooth_differs(const tbModel* m, tbData* d) {
  tbTurning turning = tb_turning(m, d);
  bool turns_by_input = turning == TB_TURNS && has_input_damping(m);
  return !tb_deriv_is_plain(m) || turning == TB_TURNS_FAST || turns_by_input;
}

tbResult tb_deriv_smooth(tbDerivatives* x, tbData* d, const tbReal* acc, int damping,
                         tbPartials* out) {
  const tbModel* m = x->m;
  for (int i = 0; i < m->nu; i++) {
    for (int k = 0; m->actuator_actadr[i] >= 0 && k < m->actuator_actnum[i]; k++) {
      x->act_ctrl[m->actuator_actadr[i] + k] = i;
    }
  }
  if (tb_deriv_smooth_differs(m, d)) return by_differences(x, d, acc, damping, out);
  tbResult result = passive(x, d, out);
  add_free_turns(x, d, out);
  for (int i = 0; i < m->nu; i++) add_actuator(x, d, i, acc, damping, out);
  return result;
}
