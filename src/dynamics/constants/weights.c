// Inverse weights at the reference pose (docs/manual/constants.md, eq. 1, 2, 10, 11).
#include "dynamics/constants/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel.h"
#include "dynamics/articulated.h"
#include "dynamics/frames.h"
#include "model/chain.h"
#include "model/joint_kinds.h"

// Whether a tendon with armature passes through a site of body i.
static int strung(const tbModel* m, int i) {
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_armature[t] == 0) continue;
    for (int k = m->tendon_adr[t]; k < m->tendon_adr[t] + m->tendon_num[t]; k++) {
      if (m->wrap_type[k] == TB_WRAP_SITE && m->site_bodyid[m->wrap_objid[k]] == i) return 1;
    }
  }
  return 0;
}

// Whether a body only slides, along its own axes, relative to the world, without children and
// without inertia other than its own. MuJoCo's weight of such a body is its mass alone, whatever
// its directions.
static int slides_only(const tbModel* m, int i) {
  int parent = m->body_parentid[i];
  int grounded = parent == 0 || (m->body_parentid[parent] == 0 && m->body_dofnum[parent] == 0);
  if (!grounded || m->body_subtreenum[i] > 1 || m->body_sameframe[i] != TB_FRAME_BODY) return 0;
  int first = m->body_jntadr[i], end = first + m->body_jntnum[i];
  for (int j = first; j < end; j++) {
    const tbReal* axis = m->jnt_axis + 3 * j;
    int aligned = 0;
    for (int k = 0; k < 3; k++) aligned += fabs(axis[k]) > TB_TINY;
    if (tb_joint_turns(m->jnt_type[j]) || !tb_is_zero3(m->jnt_pos + 3 * j) || aligned != 1)
      return 0;
  }
  return end > first && m->body_mass[i] > TB_TINY && !strung(m, i);
}

// --- along the tree -------------------------------------------------------------------------

// Inward pass, per dof: U = A s and 1/D (docs/manual/dynamics.md, eq. 20). The pivots are those of
// this pass: those of M's factors have other rounding errors, which grow along a chain of a
// thousand bodies. False if a pivot is not positive.
static bool sweep_in(const tbModel* m, const tbData* d, tbReal* A, tbReal* U, tbReal* inverse) {
  for (int i = 1; i < m->nbody; i++) tb_articulated_make(A + 36 * (size_t)i, d->cinert + 10 * i);
  for (int i = m->nbody - 1; i > 0; i--) {
    tbReal* own = A + 36 * (size_t)i;
    for (int k = m->body_dofadr[i] + m->body_dofnum[i] - 1; k >= m->body_dofadr[i]; k--) {
      const tbReal* s = d->cdof + 6 * (size_t)k;
      tb_articulated_mul(U + 6 * (size_t)k, own, s);
      tbReal D = tb_dot6(s, U + 6 * (size_t)k) + m->dof_armature[k];
      if (!(D > 0)) return false;
      inverse[k] = 1 / D;
      tb_articulated_reduce(own, U + 6 * (size_t)k, inverse[k]);
    }
    tbReal* parent = A + 36 * (size_t)m->body_parentid[i];
    for (int t = 0; t < 36; t++) parent[t] += own[t];
  }
  return true;
}

// One dof outward, eq. 10: with P = 1 - s U^T / D, W <- P W P^T + s s^T / D. Returns eq. 11, the
// dof's entry of diag(M^-1).
static tbReal pass_dof(tbReal W[36], const tbReal s[6], const tbReal U[6], tbReal inverse) {
  tbReal carried[6];
  tb_articulated_mul(carried, W, U);
  tbReal own = inverse + inverse * inverse * tb_dot6(U, carried);
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) {
      W[6 * r + c] += s[r] * own * s[c] - inverse * (s[r] * carried[c] + carried[r] * s[c]);
    }
  }
  return own;
}

// Traces of the linear and angular blocks of W at the centre of mass, which is at c from the tree's
// centre: the velocity of a point there is v - c x w.
static void mean_weights(const tbReal W[36], const tbReal c[3], tbReal weight[2]) {
  const tbReal cross[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
  weight[0] = weight[1] = 0;
  for (int r = 0; r < 3; r++) {
    tbReal row[6] = {0}, image[6];
    for (int k = 0; k < 3; k++) row[k] = -cross[3 * r + k];
    row[3 + r] = 1;
    tb_articulated_mul(image, W, row);
    weight[0] += tb_dot6(row, image) / 3;
    weight[1] += W[7 * r] / 3;
  }
  // Negative values are rounding errors; NaN is kept.
  for (int k = 0; k < 2; k++) weight[k] = weight[k] < 0 ? 0 : weight[k];
}

// The inverse inertia W of every body, outward from the world, where it is zero. `W` may share its
// memory with A of the inward pass, of which each body's part is no longer needed.
static void sweep_out(tbModel* m, const tbData* d, tbReal* W, const tbReal* U,
                      const tbReal* inverse) {
  memset(W, 0, 36 * sizeof(tbReal));
  for (int i = 1; i < m->nbody; i++) {
    tbReal* own = W + 36 * (size_t)i;
    memcpy(own, W + 36 * (size_t)m->body_parentid[i], 36 * sizeof(tbReal));
    for (int k = m->body_dofadr[i]; k < m->body_dofadr[i] + m->body_dofnum[i]; k++) {
      m->dof_invweight0[k] = pass_dof(own, d->cdof + 6 * k, U + 6 * (size_t)k, inverse[k]);
    }
    tbReal offset[3];
    tb_sub3(offset, d->xipos + 3 * i, d->subtree_com + 3 * m->body_rootid[i]);
    mean_weights(own, offset, m->body_invweight0 + 2 * i);
  }
}

// --- by the factors of M --------------------------------------------------------------------

static tbReal dot(const tbReal* a, const tbReal* b, int n) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// Mean diagonal of J M^-1 J^T over the linear and over the angular rows, per body (eq. 1). `work`
// holds six rows of nv.
static void factored_bodies(tbModel* m, const tbData* d, tbReal* work) {
  for (int i = 0; i < m->nbody; i++) {
    tbReal* weight = m->body_invweight0 + 2 * i;
    weight[0] = weight[1] = 0;
    if (m->body_lastdof[i] < 0) continue;
    const int* dofs;
    int n = tb_body_chain(m, i, &dofs);
    tb_jac_sparse(m, d, i, d->xipos + 3 * i, work, work + 3 * n, n);
    tb_half_solve_support(m, d, dofs, n, work, n, 6);
    for (int r = 0; r < 6; r++) weight[r / 3] += dot(work + r * n, work + r * n, n) / 3;
  }
}

// Diagonal of M^-1 (eq. 2).
static void factored_dofs(tbModel* m, const tbData* d, tbReal* work) {
  for (int i = 0; i < m->nv; i++) {
    int n = m->M_rownnz[i];
    memset(work, 0, (size_t)n * sizeof(tbReal));
    work[n - 1] = 1;
    tb_half_solve_support(m, d, m->M_colind + m->M_rowadr[i], n, work, n, 1);
    m->dof_invweight0[i] = dot(work, work, n);
  }
}

// --- both -----------------------------------------------------------------------------------

// Conventions of MuJoCo: means over the three directions of a translation or rotation, and the
// inverse mass for a body that only slides.
static void finish(tbModel* m) {
  for (int i = 1; i < m->nbody; i++) {
    if (!slides_only(m, i)) continue;
    m->body_invweight0[2 * i] = 1 / m->body_mass[i];
    m->body_invweight0[2 * i + 1] = 0;
    for (int k = m->body_dofadr[i]; k < m->body_dofadr[i] + m->body_dofnum[i]; k++) {
      m->dof_invweight0[k] = 1 / m->body_mass[i];
    }
  }
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], end = first + tb_joint_nv(m->jnt_type[j]);
    for (int i = first; i + 2 < end; i += 3) {
      tbReal* w = m->dof_invweight0 + i;
      w[0] = w[1] = w[2] = (w[0] + w[1] + w[2]) / 3;
    }
  }
}

// Whether M is that of the tree alone: no armature of tendons, and only pivots of the elimination.
static bool of_the_tree(const tbModel* m, int released) {
  bool only = released == 0;
  for (int t = 0; t < m->ntendon; t++) only &= m->tendon_armature[t] == 0;
  return only;
}

tbResult tb_set_weights(tbModel* m, const tbData* d, int released) {
  bool tree = of_the_tree(m, released);
  size_t nbody = (size_t)m->nbody + 1, nv = (size_t)m->nv + 1;
  tbReal* work = calloc(tree ? 36 * nbody + 7 * nv : 6 * nv, sizeof(tbReal));
  if (!work) return TB_ERROR_MEMORY;
  memset(m->body_invweight0, 0, 2 * (size_t)m->nbody * sizeof(tbReal));
  tbReal *U = work + 36 * nbody, *inverse = U + 6 * nv;
  if (tree && sweep_in(m, d, work, U, inverse)) {
    sweep_out(m, d, work, U, inverse);
  } else {
    factored_bodies(m, d, work);
    factored_dofs(m, d, work);
  }
  finish(m);
  free(work);
  return TB_OK;
}
