// The functions of the tables called from device code, one for each kind. scripts/check_headers.sh
// compiles this file with nvcc where it is installed, else as C++ without the words of CUDA.
#include "dynamics/equality/residual.h"
#include "dynamics/joints/joint.h"
#include "dynamics/transmission/length.h"
#include "forces/actuator_force.h"
#include "model/joint_space.h"
#include "sensors/values.h"

__global__ void place_joint(int type, const tbJointPose* in, const tbReal* offset, tbReal* frame,
                            tbReal* cdof) {
  tb_joint_place(type, in, frame, frame + 3, frame + 7, frame + 10);
  tb_joint_axes(type, frame + 13, frame + 10, offset, cdof);
}

__global__ void integrate_joint(int type, tbReal* q, const tbReal* v, tbReal dt, tbReal* change) {
  tbReal before[TB_JOINT_MOST_NQ];
  for (int i = 0; i < tb_joint_nq(type); i++) before[i] = q[i];
  tb_joint_integrate(type, q, v, dt);
  tb_joint_difference(type, change, before, q, 1 / dt);
}

__global__ void transmit(const tbModel* m, const tbData* d, tbMomentRow row, tbReal* length) {
  for (int u = 0; u < m->nu; u++) length[u] = tb_transmission_length(m, d, u, row);
}

__global__ void hold(const tbModel* m, const tbData* d, tbEqualityFrames* frames, tbReal* f) {
  for (int i = 0; i < m->neq; i++) {
    tb_equality_frames(m, d, i, frames + i);
    tb_equality_coupling(m, i, f[3 * i], f + 3 * i);
  }
}

__global__ void actuate(const tbModel* m, const tbActuatorState* a, tbReal* force, tbReal* rate) {
  for (int i = 0; i < m->nu; i++) {
    force[i] = tb_gain(m->actuator_gaintype[i], a + i, m->actuator_gainprm + TB_NGAIN * i) +
               tb_bias(m->actuator_biastype[i], a + i, m->actuator_biasprm + TB_NBIAS * i);
    rate[i] = tb_activation_rate(m->actuator_dyntype[i], force[i], rate[i],
                                 m->actuator_dynprm + TB_NDYN * i);
  }
}

// The sensors that need nothing but arrays of the world.
__global__ void sense(const tbSensorContext* x, tbReal* out) {
  for (int s = 0; s < x->m->nsensor; s++) {
    switch (x->m->sensor_type[s]) {
      case TB_SENS_JOINTPOS: tb_sensor_jointpos(x, s, out); break;
      case TB_SENS_ACTUATORFRC: tb_sensor_actuatorfrc(x, s, out); break;
      case TB_SENS_FRAMEPOS: tb_sensor_framepos(x, s, out); break;
      case TB_SENS_FRAMEQUAT: tb_sensor_framequat(x, s, out); break;
      default: break;
    }
  }
}
