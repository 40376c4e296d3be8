// Linear state feedback from numpy files: u = u_ref + K (x_ref (-) x).
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "base/error.h"
#include "io/npy.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "spatial/vec3.h"
#include "tribo/control.h"
#include "tribo/dynamics.h"

struct tbFeedback {
  int count;   // control steps
  int nu;      // actuated joints
  int nq, nv;  // sizes of the model for which it was loaded
  tbReal dt, lift;
  tbNpy states, controls, gains;
  int *dof, *qpos;  // of the actuated joints, in the files' order
  tbReal* work;     // two configurations, six velocities
};

void tb_feedback_free(tbFeedback* f) {
  if (!f) return;
  tb_npy_free(&f->states);
  tb_npy_free(&f->controls);
  tb_npy_free(&f->gains);
  free(f->dof);
  free(f->qpos);
  free(f->work);
  free(f);
}

// Finds the actuated joints: those named in `joint` or, if it is NULL, the hinges and slides after
// the free joint in the model's order.
static tbResult find_joints(const tbModel* m, tbFeedback* f, const char* const* joint,
                            tbError* error) {
  if (m->njnt < 2 || !tb_joint_floats(m->jnt_type[0]) || m->nv - 6 != f->nu) {
    return tb_fail(
        error, TB_ERROR_MODEL,
        "the files have %d actuated joints and a floating base, the model has %d degrees of "
        "freedom",
        f->nu, m->nv);
  }
  f->nq = m->nq;
  f->nv = m->nv;
  f->dof = calloc((size_t)f->nu, sizeof(int));
  f->qpos = calloc((size_t)f->nu, sizeof(int));
  f->work = calloc((size_t)(2 * m->nq + 6 * m->nv), sizeof(tbReal));
  if (!f->dof || !f->qpos || !f->work) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < f->nu; i++) {
    if (joint && !joint[i]) return tb_fail(error, TB_ERROR_ARGUMENT, "joint[%d] is NULL", i);
    int id = joint ? tb_name2id(m, TB_OBJ_JOINT, joint[i]) : i + 1;
    if (id < 1) return tb_fail(error, TB_ERROR_MODEL, "no joint '%s'", joint[i]);
    f->dof[i] = m->jnt_dofadr[id];
    f->qpos[i] = m->jnt_qposadr[id];
  }
  return TB_OK;
}

tbFeedback* tb_feedback_load(const tbModel* m, const char* states, const char* controls,
                             const char* gains, tbReal dt, tbReal lift, const char* const* joint,
                             tbError* error) {
  if (!m || !states || !controls || !gains) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_feedback_load: model or file names are NULL");
    return NULL;
  }
  if (!(dt > 0) || !isfinite(dt) || !isfinite(lift)) {
    tb_fail(error, TB_ERROR_ARGUMENT, "dt is %g and lift %g, finite numbers and dt > 0 expected",
            dt, lift);
    return NULL;
  }
  tbFeedback* f = calloc(1, sizeof *f);
  if (!f) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  f->dt = dt;
  f->lift = lift;
  tbResult result = tb_npy_read(states, NULL, &f->states, error);
  if (result == TB_OK) result = tb_npy_read(controls, NULL, &f->controls, error);
  if (result == TB_OK) result = tb_npy_read(gains, NULL, &f->gains, error);
  if (result == TB_OK) {
    f->count = f->controls.shape[0];
    f->nu = f->controls.shape[1];
    size_t N = (size_t)f->count, nu = (size_t)f->nu, nx = 2 * nu + 13;
    if (f->controls.ndim < 2 || f->count < 1 || f->nu < 1 || f->states.count != (N + 1) * nx ||
        f->gains.count != N * nu * (2 * nu + 12) || f->controls.count != N * nu) {
      result = tb_fail(error, TB_ERROR_PARSE, "states, controls and gains do not fit each other");
    }
  }
  if (result == TB_OK) result = find_joints(m, f, joint, error);
  if (result == TB_OK) return f;
  tb_feedback_free(f);
  return NULL;
}

int tb_feedback_count(const tbFeedback* f) {
  return f ? f->count : 0;
}

// One state of the file in Tribo's conventions.
static void convert(const tbFeedback* f, int index, tbReal* qpos, tbReal* qvel) {
  const double *x = f->states.data + (size_t)index * (size_t)(2 * f->nu + 13), *v = x + f->nu + 7;
  tb_copy3(qpos, x);
  qpos[2] += f->lift;
  qpos[3] = x[6];
  tb_copy3(qpos + 4, x + 3);
  tb_quat_normalize(qpos + 3);
  tb_quat_rotate(qvel, qpos + 3, v);
  tb_copy3(qvel + 3, v + 3);
  for (int i = 0; i < f->nu; i++) {
    qpos[f->qpos[i]] = x[7 + i];
    qvel[f->dof[i]] = v[6 + i];
  }
}

static bool is_feedback_of(const tbModel* m, const tbFeedback* f) {
  return m && f && m->nq == f->nq && m->nv == f->nv;
}

void tb_feedback_reference(const tbModel* m, tbFeedback* f, tbReal time, tbReal* qpos,
                           tbReal* qvel) {
  if (!is_feedback_of(m, f) || !qpos || !qvel) return;
  tbReal at = tb_max(0, tb_min(time / f->dt, f->count));
  int index = (int)at < f->count ? (int)at : f->count - 1;
  tbReal share = at - index;
  convert(f, index, qpos, qvel);
  if (share <= 0) return;
  // Interpolate to the next state, on the manifold.
  tbReal *next = f->work, *next_v = next + m->nq, *step = next_v + m->nv;
  convert(f, index + 1, next, next_v);
  tb_differentiate_pos(m, step, 1, qpos, next);
  tb_integrate_pos(m, qpos, step, share);
  for (int i = 0; i < m->nv; i++) qvel[i] += share * (next_v[i] - qvel[i]);
}

// The logarithm of the pose (from^-1 to): translation then rotation, in the frame of `from`.
static void pose_difference(const tbReal* from, const tbReal* to, tbReal out[6]) {
  tbReal inverse[4], change[4], apart[3], local[3], cross[3], twice[3];
  tb_quat_conjugate(inverse, from + 3);
  tb_quat_mul(change, inverse, to + 3);
  if (change[0] < 0) {
    for (int i = 0; i < 4; i++) change[i] = -change[i];
  }
  tbReal* w = out + 3;
  tb_quat_log(w, change);
  tb_sub3(apart, to, from);
  tb_quat_rotate(local, inverse, apart);
  // V^-1 = 1 - [w]/2 + c [w]^2
  tbReal angle = tb_norm3(w);
  tbReal c = angle < 1e-4
                 ? 1.0 / 12
                 : (1 - 0.5 * angle * tb_sin(angle) / (1 - tb_cos(angle))) / (angle * angle);
  tb_cross(cross, w, local);
  tb_cross(twice, w, cross);
  tb_add_scaled3(out, local, -0.5, cross);
  tb_add_scaled3(out, out, c, twice);
}

void tb_feedback_control(const tbModel* m, const tbData* d, tbFeedback* f, tbReal time,
                         tbReal* tau) {
  if (!tb_is_world_of(m, d) || !is_feedback_of(m, f) || !tau) return;
  memset(tau, 0, sizeof(tbReal) * (size_t)m->nv);
  // The reference uses the first part of the scratch memory.
  tbReal *qpos = f->work + m->nq + 2 * m->nv, *qvel = qpos + m->nq, *dx = qvel + m->nv;
  tb_feedback_reference(m, f, time, qpos, qvel);

  // The difference in the order of the files' gains: base pose, joints, base velocity, joints.
  tbReal inverse[4], now[3], wanted[3];
  pose_difference(d->qpos, qpos, dx);
  tb_quat_conjugate(inverse, d->qpos + 3);
  tb_quat_rotate(now, inverse, d->qvel);
  tb_quat_conjugate(inverse, qpos + 3);
  tb_quat_rotate(wanted, inverse, qvel);
  tb_sub3(dx + f->nu + 6, wanted, now);
  tb_sub3(dx + f->nu + 9, qvel + 3, d->qvel + 3);
  for (int i = 0; i < f->nu; i++) {
    dx[6 + i] = qpos[f->qpos[i]] - d->qpos[f->qpos[i]];
    dx[f->nu + 12 + i] = qvel[f->dof[i]] - d->qvel[f->dof[i]];
  }
  int index = (int)tb_max(0, tb_min(floor(time / f->dt + 1e-9), f->count - 1));
  size_t nu = (size_t)f->nu, width = 2 * nu + 12;
  const double* K = f->gains.data + (size_t)index * nu * width;
  for (size_t i = 0; i < nu; i++) {
    tbReal u = f->controls.data[(size_t)index * nu + i];
    for (size_t k = 0; k < width; k++) u += K[i * width + k] * dx[k];
    tau[f->dof[i]] = u;
  }
}
