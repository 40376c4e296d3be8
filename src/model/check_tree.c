// Bodies, joints and degrees of freedom: the tree in depth-first order, and quantities derived from
// it.
#include <math.h>

#include "base/error.h"
#include "model/check.h"
#include "model/joint_kinds.h"

#define TRY(expression)                 \
  do {                                  \
    tbResult try_result = (expression); \
    if (try_result) return try_result;  \
  } while (0)

static tbResult broken(tbError* error, const char* field, int i) {
  return tb_fail(error, TB_ERROR_MODEL, "model: %s[%d] does not fit the tree", field, i);
}

// Depth-first order: the subtree of a node is the node and then the subtrees of its children.
static bool is_subtree(const int* parent, const int* number, int node, int64_t total) {
  int64_t at = (int64_t)node + 1, end = (int64_t)node + number[node];
  if (end > total) return false;
  while (at < end) {
    if (parent[at] != node) return false;
    at += number[at];
  }
  return at == end;
}

// Parents before children, subtrees contiguous, roots and welds along the path to the world.
static tbResult check_bodies(const tbModel* m, tbError* error) {
  TRY(tb_check_range("body_parentid", m->body_parentid, m->nbody, 0, m->nbody, error));
  TRY(tb_check_range("body_subtreenum", m->body_subtreenum, m->nbody, 1, (int64_t)m->nbody + 1,
                     error));
  if (m->body_parentid[0] != 0 || m->body_rootid[0] != 0 || m->body_weldid[0] != 0) {
    return broken(error, "body_parentid", 0);
  }
  if (m->body_subtreenum[0] != m->nbody) return broken(error, "body_subtreenum", 0);
  for (int b = 0; b < m->nbody; b++) {
    int p = m->body_parentid[b];
    if (b > 0 && p >= b) return broken(error, "body_parentid", b);
    if (!is_subtree(m->body_parentid, m->body_subtreenum, b, m->nbody)) {
      return broken(error, "body_subtreenum", b);
    }
    if (b > 0 && m->body_rootid[b] != (p == 0 ? b : m->body_rootid[p])) {
      return broken(error, "body_rootid", b);
    }
    // Mocap bodies are moved by the user.
    int weld = m->body_jntnum[b] > 0 || m->body_mocapid[b] >= 0 ? b : m->body_weldid[p];
    if (b > 0 && m->body_weldid[b] != weld) return broken(error, "body_weldid", b);
  }
  // Mocap bodies are numbered in the order of the bodies.
  int mocap = 0;
  for (int b = 0; b < m->nbody; b++) {
    if (m->body_mocapid[b] == -1) continue;
    if (m->body_mocapid[b] != mocap++ || b == 0) return broken(error, "body_mocapid", b);
  }
  return mocap == m->nmocap ? TB_OK : tb_fail(error, TB_ERROR_MODEL, "model: nmocap is wrong");
}

// Lines of an extension that the configuration space (model/joint_space.h) cannot hold.
#define X(TYPE, word, nq, nv, translations, limits, flags, function)                              \
  _Static_assert(                                                                                 \
      (nv) >= 1 && (nv) <= TB_JOINT_MOST_NV && ((nq) == (nv) || ((nq) == (nv) + 1 && (nv) >= 3)), \
      "joint " word ": nq is nv, or nv + 1 with a quaternion; nv is 1 to 6");                     \
  _Static_assert((translations) == 0 || ((translations) == 3 && (nq) == 7 && (nv) == 6),          \
                 "joint " word ": translations is 0, or 3 with 7 coordinates and 6 dofs");        \
  _Static_assert((limits) == 0 || ((limits) == 1 && (nq) > (nv) && (translations) == 0) ||        \
                     ((limits) == 2 && (nv) > ((nq) > (nv) ? 3 : 0) && (translations) == 0),      \
                 "joint " word ": limits is 0, 1 (of a quaternion) or 2 (of the first number)");
TB_JOINTS(X)
#undef X

// Joints in the order of their bodies, coordinates and dofs in the order of the joints.
static tbResult check_joints(const tbModel* m, tbError* error) {
  TRY(tb_check_range("jnt_type", m->jnt_type, m->njnt, 0, TB_NJOINTTYPES, error));
  TRY(tb_check_range("jnt_bodyid", m->jnt_bodyid, m->njnt, 1, m->nbody, error));
  TRY(tb_check_range("jnt_limited", m->jnt_limited, m->njnt, 0, 2, error));
  TRY(tb_check_range("jnt_actfrclimited", m->jnt_actfrclimited, m->njnt, 0, 2, error));
  TRY(tb_check_spans("body_jntadr", m->body_jntadr, m->body_jntnum, m->nbody, m->njnt, error));
  TRY(tb_check_spans("body_dofadr", m->body_dofadr, m->body_dofnum, m->nbody, m->nv, error));
  int64_t q = 0, v = 0, joint = 0;
  for (int b = 0; b < m->nbody; b++) {
    int64_t first_dof = v;
    if (m->body_jntnum[b] && m->body_jntadr[b] != joint) return broken(error, "body_jntadr", b);
    for (int k = 0; k < m->body_jntnum[b]; k++, joint++) {
      int j = (int)joint, type = m->jnt_type[j];
      if (m->jnt_bodyid[j] != b) return broken(error, "jnt_bodyid", j);
      if (m->jnt_qposadr[j] != q) return broken(error, "jnt_qposadr", j);
      if (m->jnt_dofadr[j] != v) return broken(error, "jnt_dofadr", j);
      if (tb_joint_floats(type) && (m->body_parentid[b] != 0 || m->body_jntnum[b] != 1)) {
        return tb_fail(error, TB_ERROR_MODEL, "model: free joint %d is not alone on a top body", j);
      }
      q += tb_joint_nq(type);
      v += tb_joint_nv(type);
      if (q > m->nq || v > m->nv) return broken(error, "jnt_type", j);
    }
    if (m->body_dofnum[b] != v - first_dof) return broken(error, "body_dofnum", b);
    if (m->body_dofnum[b] && m->body_dofadr[b] != first_dof) return broken(error, "body_dofadr", b);
  }
  if (joint != m->njnt || q != m->nq || v != m->nv) {
    return tb_fail(error, TB_ERROR_MODEL, "model: nq, nv and njnt do not match the joints");
  }
  TRY(tb_check_configuration(m, "qpos0", m->qpos0, error));
  return tb_check_configuration(m, "qpos_spring", m->qpos_spring, error);
}

tbResult tb_check_configuration(const tbModel* m, const char* field, const tbReal* qpos,
                                tbError* error) {
  for (int j = 0; j < m->njnt; j++) {
    int type = m->jnt_type[j], at = m->jnt_qposadr[j] + tb_joint_nq(type) - 4;
    if (!tb_joint_has_quaternion(type)) continue;
    const tbReal* q = qpos + at;
    tbReal norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(fabs(norm - 1) < 1e-6)) {
      return tb_fail(error, TB_ERROR_MODEL,
                     "model: %s[%d] and what follows it is not a unit quaternion", field, at);
    }
  }
  return TB_OK;
}

// Parents of dofs follow the tree; the pattern of M is the path of each dof.
static tbResult check_dofs(const tbModel* m, tbError* error) {
  TRY(tb_check_range("dof_parentid", m->dof_parentid, m->nv, -1, m->nv, error));
  TRY(tb_check_range("dof_subtreenum", m->dof_subtreenum, m->nv, 1, (int64_t)m->nv + 1, error));
  for (int b = 0; b < m->nbody; b++) {
    int last = b == 0 ? -1 : m->body_lastdof[m->body_parentid[b]];
    for (int k = 0; k < m->body_dofnum[b]; k++) {
      int d = m->body_dofadr[b] + k;
      if (m->dof_bodyid[d] != b) return broken(error, "dof_bodyid", d);
      if (m->dof_parentid[d] != last) return broken(error, "dof_parentid", d);
      last = d;
    }
    if (m->body_lastdof[b] != last) return broken(error, "body_lastdof", b);
  }
  for (int j = 0; j < m->njnt; j++) {
    for (int k = 0; k < tb_joint_nv(m->jnt_type[j]); k++) {
      if (m->dof_jntid[m->jnt_dofadr[j] + k] != j) {
        return broken(error, "dof_jntid", m->jnt_dofadr[j] + k);
      }
    }
  }
  for (int d = 0; d < m->nv; d++) {
    if (!is_subtree(m->dof_parentid, m->dof_subtreenum, d, m->nv)) {
      return broken(error, "dof_subtreenum", d);
    }
  }
  // The roots' subtrees cover all dofs.
  int64_t at = 0;
  while (at < m->nv && m->dof_parentid[at] == -1) at += m->dof_subtreenum[at];
  return at == m->nv ? TB_OK : broken(error, "dof_subtreenum", (int)at);
}

static tbResult check_mass_pattern(const tbModel* m, tbError* error) {
  int64_t entries = 0;
  for (int d = 0; d < m->nv; d++) {
    int p = m->dof_parentid[d];
    int nnz = 1 + (p < 0 ? 0 : m->M_rownnz[p]);
    if (m->M_rownnz[d] != nnz || m->M_rowadr[d] != entries || entries + nnz > m->nM) {
      return broken(error, "M_rowadr", d);
    }
    const int* column = m->M_colind + entries;
    const int* above = p < 0 ? NULL : m->M_colind + m->M_rowadr[p];
    for (int k = 0; k + 1 < nnz; k++) {
      if (column[k] != above[k]) return broken(error, "M_colind", (int)entries + k);
    }
    if (column[nnz - 1] != d) return broken(error, "M_colind", (int)entries + nnz - 1);
    int run = d > 0 && p == d - 1 ? m->M_rowrun[p] : d;
    if (m->M_rowrun[d] != run) return broken(error, "M_rowrun", d);
    entries += nnz;
  }
  if (entries != m->nM) return tb_fail(error, TB_ERROR_MODEL, "model: nM does not match the tree");
  return TB_OK;
}

// Trees are contiguous ranges of bodies and dofs.
static tbResult check_trees(const tbModel* m, tbError* error) {
  TRY(tb_check_spans("tree_bodyadr", m->tree_bodyadr, m->tree_bodynum, m->ntree, m->nbody, error));
  TRY(tb_check_spans("tree_dofadr", m->tree_dofadr, m->tree_dofnum, m->ntree, m->nv, error));
  TRY(tb_check_range("body_treeid", m->body_treeid, m->nbody, -1, m->ntree, error));
  TRY(tb_check_range("dof_treeid", m->dof_treeid, m->nv, 0, m->ntree, error));
  int64_t dof = 0;
  for (int t = 0; t < m->ntree; t++) {
    if (m->tree_dofadr[t] != dof || m->tree_dofnum[t] < 1) return broken(error, "tree_dofadr", t);
    for (int k = 0; k < m->tree_dofnum[t]; k++, dof++) {
      int d = (int)dof, p = m->dof_parentid[d];
      if (m->dof_treeid[d] != t || (p >= 0 && p < m->tree_dofadr[t])) {
        return broken(error, "dof_treeid", d);
      }
    }
    for (int k = 0; k < m->tree_bodynum[t]; k++) {
      int b = m->tree_bodyadr[t] + k;
      if (m->body_treeid[b] != t) return broken(error, "body_treeid", b);
    }
  }
  if (dof != m->nv) return tb_fail(error, TB_ERROR_MODEL, "model: trees do not cover the dofs");
  return TB_OK;
}

tbResult tb_check_tree(const tbModel* m, tbError* error) {
  TRY(check_bodies(m, error));
  TRY(check_joints(m, error));
  TRY(check_dofs(m, error));
  TRY(check_mass_pattern(m, error));
  return check_trees(m, error);
}
