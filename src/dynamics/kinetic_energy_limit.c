// Change of a tree's kinetic energy by the motion of its joints at constant velocities.
#include <math.h>

#include "base/minmax.h"
#include "dynamics/coriolis.h"
#include "dynamics/joints/joint.h"
#include "model/floating.h"
#include "model/joint_space.h"
#include "model/workspace.h"
#include "spatial/motion.h"

// The joints over the last `h` seconds: their positions changed with the velocities `move`, and
// they had the velocities v.
typedef struct {
  tbReal h;
  const tbReal *move, *v;
} Motion;

// Pass one joint in its configuration h seconds ago. Quaternions turn about the axes of the body at
// the end, `last`.
static void pass_joint(const tbModel* m, const tbData* d, int joint, const Motion* x,
                       const tbReal last[4], tbMovingFrame* b) {
  int at = m->jnt_qposadr[joint], dof = m->jnt_dofadr[joint], type = m->jnt_type[joint];
  tbReal q[TB_JOINT_MOST_NQ];
  for (int k = 0; k < tb_joint_nq(type); k++) q[k] = d->qpos[at + k];
  tb_joint_normalize(type, q);
  tb_joint_integrate(type, q, x->move + dof, -x->h);
  const tbJointPose j = {m->jnt_pos + 3 * joint, m->jnt_axis + 3 * joint, q, m->qpos0 + at, 0, 1};
  tb_joint_carry(type, &j, x->v + dof, last, b);
}

static void pass_joints(const tbModel* m, const tbData* d, int body, const Motion* x,
                        tbMovingFrame* b) {
  int first = m->body_jntadr[body], end = first + m->body_jntnum[body];
  tbMovingFrame end_frame = *b;
  for (int j = first; j < end; j++) pass_joint(m, d, j, x, b->quat, &end_frame);
  for (int j = first; j < end; j++) pass_joint(m, d, j, x, end_frame.quat, b);
}

// The body in the earlier pose of its parent.
static void place(const tbModel* m, int body, const tbMovingFrame* parent, tbMovingFrame* b) {
  tbReal rest[3];
  *b = *parent;
  tb_quat_rotate(rest, parent->quat, m->body_pos + 3 * body);
  tb_add3(rest, rest, parent->pos);
  tb_carry_to(b, rest);
  tb_quat_mul(b->quat, parent->quat, m->body_quat + 4 * body);
}

// Twice the kinetic energy of one body that moves by v about the tree's centre of mass; its
// momentum is added to `sum`.
static tbReal twice_energy(const tbData* d, int body, const tbReal v[6], const tbReal back[4],
                           tbReal sum[3]) {
  tbReal momentum[6], linear[3];
  tb_inertia_mul(momentum, d->cinert + 10 * body, v);
  tb_quat_rotate(linear, back, momentum + 3);
  tb_add3(sum, sum, linear);
  return tb_dot6(momentum, v);
}

// The same for the body at the earlier time, computed in its present frame: its inertia, including
// the geometric stiffness of a taut rope's link, turns with it.
static tbReal twice_before(const tbData* d, int body, const tbReal centre[3],
                           const tbMovingFrame* b, tbReal sum[3]) {
  tbReal back[4], change[4], arm[3], turning[3], v[6];
  tb_quat_conjugate(back, d->xquat + 4 * body);
  tb_quat_mul(back, b->quat, back);
  tb_quat_conjugate(change, back);
  tb_quat_rotate(v, change, b->omega);
  tb_quat_rotate(v + 3, change, b->velocity);
  tb_sub3(arm, centre, d->xpos + 3 * body);
  tb_cross(turning, v, arm);
  tb_add3(v + 3, v + 3, turning);
  return twice_energy(d, body, v, back, sum);
}

// Twice the kinetic energy of a tree at that time, and its momentum.
static tbReal energy_then(const tbModel* m, tbData* d, int tree, const Motion* x, tbReal sum[3]) {
  int first = m->tree_bodyadr[tree], end = first + m->tree_bodynum[tree];
  tbMovingFrame* before = (tbMovingFrame*)d->work->scratch_body;
  const tbReal* centre = d->subtree_com + 3 * m->body_rootid[first];
  tbReal twice = 0;
  tb_zero3(sum);
  for (int i = first; i < end; i++) {
    int up = m->body_parentid[i];
    tbMovingFrame root = {{0}, {0}, {0}, {0}};
    tb_copy3(root.pos, d->xpos + 3 * up);
    for (int k = 0; k < 4; k++) root.quat[k] = d->xquat[4 * up + k];
    place(m, i, up < first ? &root : &before[up - first], &before[i - first]);
    pass_joints(m, d, i, x, &before[i - first]);
    twice += twice_before(d, i, centre, &before[i - first], sum);
  }
  return twice;
}

tbReal tb_kinetic_energy_growth(const tbModel* m, tbData* d, int tree, tbReal h,
                                tbReal momentum[3]) {
  static const tbReal AS_IT_IS[4] = {1, 0, 0, 0};
  int first = m->tree_bodyadr[tree], end = first + m->tree_bodynum[tree];
  const Motion back = {h, d->qvel, d->qvel};
  tbReal is[3] = {0, 0, 0}, was[3];
  tbReal growth = -energy_then(m, d, tree, &back, was);
  for (int i = first; i < end; i++) growth += twice_energy(d, i, d->cvel + 6 * i, AS_IT_IS, is);
  tb_sub3(momentum, is, was);
  return tb_tree_floats(m, tree)
             ? growth - (tb_dot3(is, is) - tb_dot3(was, was)) / m->body_subtreemass[first]
             : growth;
}

void tb_keep_kinetic(const tbModel* m, tbData* d, int tree, tbReal h, const tbReal* move,
                     const tbReal* start, tbReal* v) {
  const tbReal most_growth = 0.01;
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  const Motion now = {0, move, start}, ahead = {-h, move, v};
  tbReal is[3], will[3], mass = m->body_subtreemass[m->tree_bodyadr[tree]];
  tbReal wanted = energy_then(m, d, tree, &now, is);
  tbReal reached = energy_then(m, d, tree, &ahead, will);
  bool floats = tb_tree_floats(m, tree);
  if (floats) {
    wanted -= tb_dot3(is, is) / mass;
    reached -= tb_dot3(will, will) / mass;
    tb_add_scaled3(v + first, v + first, -1 / mass, will);
  }
  wanted = tb_max(0, (1 + most_growth) * wanted);
  tbReal share = reached > wanted ? sqrt(wanted / reached) : 1;
  for (int i = first; i < end; i++) v[i] *= share;
  if (floats) tb_add_scaled3(v + first, v + first, 1 / mass, is);
}
