// Forward kinematics: frames of bodies, joints, geoms and sites (docs/manual/dynamics.md, eq. 1-4).
#include "dynamics/frames.h"
#include "dynamics/joints/joint.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "spatial/trig.h"
#include "tribo/dynamics.h"

// Sine and cosine of half the angle of hinges and the like, for several joints at a time.
enum { TURNS = 16 };
typedef struct {
  int first, end;
  tbReal s[TURNS], c[TURNS];
} Turns;

static tbReal half_angle(const tbModel* m, const tbReal* qpos, int joint) {
  int at = m->jnt_qposadr[joint];
  return tb_joint_turns_about_axis(m->jnt_type[joint]) ? 0.5 * (qpos[at] - m->qpos0[at]) : 0;
}

TB_INLINE void fill_turns(const tbModel* m, const tbReal* qpos, int joint, Turns* t) {
  tbReal half[TURNS] = {0};
  int count = m->njnt - joint < TURNS ? m->njnt - joint : TURNS;
  for (int k = 0; k < count; k++) half[k] = half_angle(m, qpos, joint + k);
  t->first = joint;
  t->end = joint + count;
  tb_sincos_many(count, half, t->s, t->c);
}

// Move a body's frame by one joint, and compute the joint's anchor and axis.
static void apply_joint(const tbModel* m, tbData* d, const Turns* turns, int joint, tbReal pos[3],
                        tbReal quat[4]) {
  int at = m->jnt_qposadr[joint], k = joint - turns->first;
  tbJointPose j = {
      m->jnt_pos + 3 * joint, m->jnt_axis + 3 * joint, d->qpos + at, m->qpos0 + at, 0, 1};
  if (joint < turns->end) {
    j.sine = turns->s[k];
    j.cosine = turns->c[k];
  } else {
    tb_sincos(half_angle(m, d->qpos, joint), &j.sine, &j.cosine);
  }
  tb_joint_place(m->jnt_type[joint], &j, pos, quat, d->xanchor + 3 * joint, d->xaxis + 3 * joint);
}

// Frame of a body before its joints: the model's pose, or a mocap body's.
static void body_rest(const tbModel* m, const tbData* d, int body, tbReal pos[3], tbReal quat[4]) {
  int parent = m->body_parentid[body], mocap = m->body_mocapid[body];
  const tbReal* local_pos = m->body_pos + 3 * body;
  const tbReal* local_quat = m->body_quat + 4 * body;
  tbReal mocap_quat[4];
  if (mocap >= 0) {
    local_pos = d->mocap_pos + 3 * mocap;
    tb_quat_unit(mocap_quat, d->mocap_quat + 4 * mocap);
    local_quat = mocap_quat;
  }
  if (parent == 0) {
    tb_copy3(pos, local_pos);
    for (int i = 0; i < 4; i++) quat[i] = local_quat[i];
  } else {
    tb_mul_mat3_vec3(pos, d->xmat + 9 * parent, local_pos);
    tb_add3(pos, pos, d->xpos + 3 * parent);
    tb_quat_mul(quat, d->xquat + 4 * parent, local_quat);
  }
}

// The frame of a body with one hinge, by far the most common body. Its orientation in the parent is
// cos(a/2) body_quat + sin(a/2) body_quat (0, axis), linear in two constants; its axis is the same
// before and after the joint's rotation. s and c are those of a/2. Products of unit quaternions are
// not renormalised, since the chain is recomputed at every call.
TB_INLINE void hinge_frame(const tbModel* m, tbData* d, int body, int joint, tbReal s, tbReal c,
                           int wide) {
  int parent = m->body_parentid[body];
  const tbReal* rest = m->body_quat + 4 * body;
  const tbReal* turn = m->jnt_turn + 4 * joint;
  const tbReal* offset = m->jnt_pos + 3 * joint;
  tbReal local[4], quat[4], anchor[3], axis[3];
  for (int i = 0; i < 4; i++) local[i] = c * rest[i] + s * turn[i];

  tbReal* xmat = d->xmat + 9 * body;
  tbReal* xpos = d->xpos + 3 * body;
  tb_wide_quat_mul(wide, quat, d->xquat + 4 * parent, local);
  tb_quat_to_mat(xmat, quat);
  tb_mul_mat3_vec3(anchor, d->xmat + 9 * parent, m->jnt_anchor + 3 * joint);
  tb_add3(anchor, anchor, d->xpos + 3 * parent);
  tb_mul_mat3_vec3(axis, xmat, m->jnt_axis + 3 * joint);
  tb_copy3(xpos, anchor);
  if (!tb_is_zero3(offset)) {
    tbReal arm[3];
    tb_mul_mat3_vec3(arm, xmat, offset);
    tb_sub3(xpos, anchor, arm);
  }
  tb_copy3(d->xanchor + 3 * joint, anchor);
  tb_copy3(d->xaxis + 3 * joint, axis);
  for (int i = 0; i < 4; i++) d->xquat[4 * body + i] = quat[i];
}

// Any other body: free, welded, mocap, or with several joints.
static void general_frame(const tbModel* m, tbData* d, const Turns* turns, int body) {
  tbReal pos[3], quat[4];
  int joint = m->body_jntadr[body], njoint = m->body_jntnum[body];
  if (njoint == 1 && tb_joint_floats(m->jnt_type[joint])) {
    apply_joint(m, d, turns, joint, pos, quat);
  } else {
    body_rest(m, d, body, pos, quat);
    for (int j = joint; j < joint + njoint; j++) apply_joint(m, d, turns, j, pos, quat);
    tb_quat_renormalize(quat);
  }
  tb_copy3(d->xpos + 3 * body, pos);
  for (int i = 0; i < 4; i++) d->xquat[4 * body + i] = quat[i];
  tb_quat_to_mat(d->xmat + 9 * body, quat);
}

TB_INLINE void body_frame(const tbModel* m, tbData* d, Turns* turns, int body, int wide) {
  int joint = m->body_jntadr[body], njoint = m->body_jntnum[body];
  if (njoint > 0 && joint + njoint > turns->end) fill_turns(m, d->qpos, joint, turns);
  if (njoint == 1 && m->jnt_type[joint] == TB_JOINT_HINGE) {
    int k = joint - turns->first;
    hinge_frame(m, d, body, joint, turns->s[k], turns->c[k], wide);
  } else {
    general_frame(m, d, turns, body);
  }
  tb_attach_frame(wide, d->xipos + 3 * body, d->ximat + 9 * body, d->xpos + 3 * body,
                  d->xmat + 9 * body, m->body_ipos + 3 * body, m->body_imat + 9 * body,
                  m->body_sameframe[body]);
}

// Geoms or sites of all bodies.
TB_INLINE void attached_frames(const tbData* d, int n, const int* bodyid, const int* sameframe,
                               const tbReal* pos, const tbReal* mat, tbReal* xpos, tbReal* xmat,
                               int wide) {
  for (int i = 0; i < n; i++) {
    int b = bodyid[i];
    if (sameframe[i] == TB_FRAME_INERTIA) {
      tb_copy3(xpos + 3 * i, d->xipos + 3 * b);
      tb_wide_copy9(xmat + 9 * i, d->ximat + 9 * b);
    } else {
      tb_attach_frame(wide, xpos + 3 * i, xmat + 9 * i, d->xpos + 3 * b, d->xmat + 9 * b,
                      pos + 3 * i, mat + 9 * i, sameframe[i]);
    }
  }
}

TB_INLINE void kinematics(const tbModel* m, tbData* d, int wide) {
  // The world does not move.
  tb_zero3(d->xpos);
  tb_zero3(d->xipos);
  tb_quat_identity(d->xquat);
  tb_quat_to_mat(d->xmat, d->xquat);
  tb_quat_to_mat(d->ximat, d->xquat);

  Turns turns = {0};
  for (int body = 1; body < m->nbody; body++) body_frame(m, d, &turns, body, wide);
  attached_frames(d, m->ngeom, m->geom_bodyid, m->geom_sameframe, m->geom_pos, m->geom_mat,
                  d->geom_xpos, d->geom_xmat, wide);
  attached_frames(d, m->nsite, m->site_bodyid, m->site_sameframe, m->site_pos, m->site_mat,
                  d->site_xpos, d->site_xmat, wide);
}

static void kinematics_generic(const tbModel* m, tbData* d) {
  kinematics(m, d, 0);
}

TB_WIDE static void kinematics_avx2(const tbModel* m, tbData* d) {
  kinematics(m, d, 1);
}

void tb_stage_kinematics(const tbModel* m, tbData* d) {
  if (tb_wide()) {
    kinematics_avx2(m, d);
  } else {
    kinematics_generic(m, d);
  }
}

void tb_kinematics(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_kinematics(m, d);
}
