// Functions of the kinds that extension.h lists.
#include <math.h>

#include "dynamics/equality/residual.h"
#include "dynamics/joints/joint.h"
#include "dynamics/transmission/length.h"
#include "forces/actuator_force.h"
#include "sensors/values.h"

// Mechanical power of an actuator, W.
void tb_sensor_power(const tbSensorContext* x, int s, tbReal* out) {
  int actuator = x->m->sensor_objid[s];
  out[0] = x->d->actuator_force[actuator] * x->d->actuator_velocity[actuator];
}

// Torque of a motor for a full control: prm[0] at rest, falling to 0 at the speed prm[1].
tbReal tb_gain_torque_speed(const tbActuatorState* a, const tbReal* prm) {
  return prm[0] * tb_max(0, 1 - fabs(a->velocity) / tb_max(TB_TINY, prm[1]));
}

tbReal tb_gain_velocity_torque_speed(const tbActuatorState* a, const tbReal* prm) {
  if (!(fabs(a->velocity) < prm[1])) return 0;
  return a->velocity < 0 ? prm[0] / prm[1] : -prm[0] / prm[1];
}

// The activation follows the control within prm[0] seconds, but not faster than prm[1] per second.
tbReal tb_activation_rate_slew(tbReal ctrl, tbReal act, const tbReal* prm) {
  return tb_min(prm[1], tb_max(-prm[1], (ctrl - act) / tb_max(TB_TINY, prm[0])));
}

// Length gear[0] sin q of a slide that a crank at the angle q drives; the moment is its derivative.
tbReal tb_transmission_yoke(const tbModel* m, const tbData* d, int u, tbMomentRow row) {
  tbReal radius = m->actuator_gear[6 * u], q = d->qpos[m->jnt_qposadr[m->actuator_trnid[2 * u]]];
  row.moment[0] = radius * cos(q);
  return radius * sin(q);
}

// f(q) = data[0] + data[1] sin q, with its first and second derivative.
void tb_equality_coupling_yoke(const tbReal* data, tbReal q, tbReal f[3]) {
  f[0] = data[0] + data[1] * sin(q);
  f[1] = data[1] * cos(q);
  f[2] = -data[1] * sin(q);
}

// A right-handed screw advances along its axis by its lead, per radian.
static const tbReal LEAD = SCREW_PITCH / (2 * 3.14159265358979323846);

void tb_joint_place_screw(const tbJointPose* j, tbReal pos[3], tbReal quat[4], tbReal anchor[3],
                          tbReal axis[3]) {
  tb_joint_place_hinge(j, pos, quat, anchor, axis);
  tb_add_scaled3(pos, pos, LEAD * (j->q[0] - j->q0[0]), axis);
}

// The motion per radian: angular, then linear of the point at `offset` from the anchor.
void tb_joint_axes_screw(const tbReal xmat[9], const tbReal xaxis[3], const tbReal offset[3],
                         tbReal* cdof) {
  tb_joint_axes_hinge(xmat, xaxis, offset, cdof);
  tb_add_scaled3(cdof + 3, cdof + 3, LEAD, xaxis);
}

// A hinge, then a slide on the same axis.
void tb_joint_carry_screw(const tbJointPose* j, const tbReal* v, const tbReal last[4],
                          tbMovingFrame* b) {
  const tbReal advance = LEAD * (j->q[0] - j->q0[0]), rate = LEAD * v[0], start = 0;
  tbJointPose slide = {.axis = j->axis, .q = &advance, .q0 = &start};
  tb_joint_carry_hinge(j, v, last, b);
  tb_joint_carry_slide(&slide, &rate, last, b);
}
