// Joints, degrees of freedom and kinematic trees.
#include <string.h>

#include "base/error.h"
#include "io/compile/internal.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

static tbResult check_numbers(tbCompile* c, const tbFlatJoint* s, const char* label) {
  const tbReal scalars[] = {s->margin,     s->ref,          s->springref,   s->armature,
                            s->damping[0], s->frictionloss, s->stiffness[0]};
  tbResult result = tb_compile_finite(c, s->source, s->line, label, s->pos, 3);
  if (!result) result = tb_compile_finite(c, s->source, s->line, label, s->axis, 3);
  if (!result) {
    result = tb_compile_finite(c, s->source, s->line, label, scalars,
                               (int)(sizeof scalars / sizeof scalars[0]));
  }
  return result;
}

static tbResult check_joint(tbCompile* c, int i) {
  const tbFlatJoint* s = &c->spec->joint[i];
  tbCompileLabel label = tb_compile_label("joint", s->name, i);
  tbResult result = check_numbers(c, s, label.text);
  if (result) return result;
  if (tb_joint_floats(s->type) && c->body[s->body].parent != 0) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: a free joint belongs to a child of the world", label.text);
  }
  if (tb_joint_has_axis(s->type) && tb_norm3(s->axis) < TB_COMPILE_TINY) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "%s: the axis has no length", label.text);
  }
  int on = 0;
  bool autolimits = s->compiler->autolimits;
  if (tb_joint_limits(s->type) > 0) {
    result = tb_compile_limit(c, s->source, s->line, label.text, "range", "limited", autolimits,
                              s->limited, s->range, &on);
    if (result) return result;
  }
  if (on && tb_joint_limits(s->type) == 1 && s->range[0] != 0) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: the range of a %s joint is (%g, %g), expected the first to be 0",
                        label.text, tb_joint_type_name(s->type), s->range[0], s->range[1]);
  }
  return tb_compile_limit(c, s->source, s->line, label.text, "actuatorfrcrange",
                          "actuatorfrclimited", autolimits, s->actuatorfrclimited,
                          s->actuatorfrcrange, &on);
}

// Frames of all bodies at qpos0, where all joints are at zero displacement.
static void reference_frames(tbCompile* c) {
  for (int i = 0; i < c->spec->nbody; i++) {
    const tbCompileBody* b = &c->body[i];
    tbReal *pos = c->xpos0 + 3 * i, *quat = c->xquat0 + 4 * i;
    tb_copy3(pos, b->pos);
    memcpy(quat, b->quat, sizeof b->quat);
    if (i == 0 || b->fused) continue;
    const tbReal* outer = c->xquat0 + 4 * b->parent;
    tb_quat_rotate(pos, outer, pos);
    tb_add3(pos, pos, c->xpos0 + 3 * b->parent);
    tb_quat_mul(quat, outer, quat);
    tb_quat_normalize(quat);
  }
}

tbResult tb_compile_joints(tbCompile* c, tbModel* sizes) {
  const tbFlat* spec = c->spec;
  for (int i = 0; i < spec->njoint; i++) {
    tbResult result = check_joint(c, i);
    if (result) return result;
    sizes->nq += tb_joint_nq(spec->joint[i].type);
    sizes->nv += tb_joint_nv(spec->joint[i].type);
  }
  sizes->njnt = spec->njoint;
  c->dof_parent = TB_ARENA_NEW(&c->arena, int, (size_t)sizes->nv + 1);
  c->body_lastdof = TB_ARENA_NEW(&c->arena, int, spec->nbody);
  c->xpos0 = TB_ARENA_NEW(&c->arena, tbReal, 3 * (size_t)spec->nbody);
  c->xquat0 = TB_ARENA_NEW(&c->arena, tbReal, 4 * (size_t)spec->nbody);
  if (c->arena.failed) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");

  // Joints are sorted by body; the parent of each dof is the last dof before it on its path.
  int joint = 0, dof = 0;
  for (int i = 0; i < spec->nbody; i++) {
    if (c->body[i].fused) continue;
    int last = i ? c->body_lastdof[c->body[i].parent] : -1;
    sizes->ntree += last < 0 && c->body[i].njnt > 0;
    for (; joint < spec->njoint && spec->joint[joint].body == i; joint++) {
      for (int k = 0; k < tb_joint_nv(spec->joint[joint].type); k++) {
        c->dof_parent[dof] = last;
        last = dof++;
      }
    }
    c->body_lastdof[i] = last;
  }
  reference_frames(c);
  return TB_OK;
}

// ---- copy ---------------------------------------------------------------------------------------

// The coordinates of one joint in the reference pose of the file, and at the rest of its spring.
static void copy_reference(const tbCompile* c, tbModel* m, int i, int adr) {
  const tbFlatJoint* s = &c->spec->joint[i];
  tbReal *q = m->qpos0 + adr, *spring = m->qpos_spring + adr;
  int numbers = tb_joint_numbers(s->type);
  if (tb_joint_floats(s->type)) {
    memcpy(q, c->body[s->body].pos, 3 * sizeof *q);
    memcpy(q + 3, c->body[s->body].quat, 4 * sizeof *q);
    memcpy(spring, q, 7 * sizeof *q);
    return;
  }
  if (numbers > 0) {
    q[0] = s->ref;
    spring[0] = s->springref;
  }
  if (tb_joint_has_quaternion(s->type)) {
    tb_quat_identity(q + numbers);
    tb_quat_identity(spring + numbers);
  }
}

static void copy_joint(const tbCompile* c, tbModel* m, int i) {
  const tbFlatJoint* s = &c->spec->joint[i];
  const size_t real = sizeof(tbReal);
  int body = c->body_id[s->body];
  m->jnt_type[i] = s->type;
  m->jnt_bodyid[i] = body;
  m->jnt_group[i] = s->group;
  m->jnt_limited[i] = tb_joint_limits(s->type) > 0 && tb_flat_limited(s->limited, s->range);
  m->jnt_actfrclimited[i] = tb_flat_limited(s->actuatorfrclimited, s->actuatorfrcrange);
  m->jnt_actgravcomp[i] = s->actuatorgravcomp;
  memcpy(m->jnt_solref + TB_NREF * i, s->solreflimit, TB_NREF * real);
  memcpy(m->jnt_solimp + TB_NIMP * i, s->solimplimit, TB_NIMP * real);
  if (!tb_joint_floats(s->type)) memcpy(m->jnt_pos + 3 * i, s->pos, 3 * real);
  tb_set3(m->jnt_axis + 3 * i, 0, 0, 1);
  if (tb_joint_has_axis(s->type)) {
    memcpy(m->jnt_axis + 3 * i, s->axis, 3 * real);
    tb_normalize3(m->jnt_axis + 3 * i);
  }
  m->jnt_stiffness[i] = s->stiffness[0];
  memcpy(m->jnt_range + 2 * i, s->range, 2 * real);
  memcpy(m->jnt_actfrcrange + 2 * i, s->actuatorfrcrange, 2 * real);
  m->jnt_margin[i] = s->margin;
  tb_compile_copy_user(m->jnt_user, i, m->nuser_jnt, &s->user);
  for (int k = 0; k < tb_joint_nv(s->type); k++) {
    int dof = m->jnt_dofadr[i] + k;
    m->dof_bodyid[dof] = body;
    m->dof_jntid[dof] = i;
    memcpy(m->dof_solref + TB_NREF * dof, s->solreffriction, TB_NREF * real);
    memcpy(m->dof_solimp + TB_NIMP * dof, s->solimpfriction, TB_NIMP * real);
    m->dof_frictionloss[dof] = s->frictionloss;
    m->dof_armature[dof] = s->armature;
    m->dof_damping[dof] = s->damping[0];
  }
}

// A tree starts at the first body with joints on a path; bodies and dofs of a tree are contiguous.
static void copy_trees(tbModel* m) {
  int tree = 0;
  for (int i = 0; i < m->nbody; i++) {
    int parent_tree = i ? m->body_treeid[m->body_parentid[i]] : -1;
    bool begins = parent_tree < 0 && m->body_dofnum[i] > 0;
    m->body_treeid[i] = begins ? tree++ : parent_tree;
    int t = m->body_treeid[i];
    if (t < 0) continue;
    if (begins) {
      m->tree_bodyadr[t] = i;
      m->tree_dofadr[t] = m->body_dofadr[i];
    }
    m->tree_bodynum[t]++;
    m->tree_dofnum[t] += m->body_dofnum[i];
  }
  for (int i = 0; i < m->nv; i++) m->dof_treeid[i] = m->body_treeid[m->dof_bodyid[i]];
}

void tb_compile_copy_joints(const tbCompile* c, tbModel* m) {
  for (int i = 0; i < m->nbody; i++) m->body_jntadr[i] = m->body_dofadr[i] = -1;
  int q = 0, v = 0;
  for (int i = 0; i < m->njnt; i++) {
    int type = c->spec->joint[i].type, body = c->body_id[c->spec->joint[i].body];
    m->jnt_qposadr[i] = q;
    m->jnt_dofadr[i] = v;
    if (m->body_jntnum[body]++ == 0) {
      m->body_jntadr[body] = i;
      m->body_dofadr[body] = v;
    }
    m->body_dofnum[body] += tb_joint_nv(type);
    copy_joint(c, m, i);
    copy_reference(c, m, i, q);
    q += tb_joint_nq(type);
    v += tb_joint_nv(type);
  }
  if (m->nv) memcpy(m->dof_parentid, c->dof_parent, (size_t)m->nv * sizeof(int));
  for (int i = 0; i < c->spec->nbody; i++) {
    if (!c->body[i].fused) m->body_lastdof[c->body_id[i]] = c->body_lastdof[i];
  }
  copy_trees(m);
  for (int i = m->nv - 1; i >= 0; i--) {
    m->dof_subtreenum[i]++;
    if (m->dof_parentid[i] >= 0) m->dof_subtreenum[m->dof_parentid[i]] += m->dof_subtreenum[i];
  }
}
