// Jacobians of points and frames (docs/manual/dynamics.md, eq. 28-30).
#include <string.h>

#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

int tb_chain(const tbModel* m, int body, const int** dofs) {
  if (!m || !dofs) return 0;
  return tb_body_chain(m, tb_valid_body(m, body), dofs);
}

// Column of one dof: velocity of a point at `offset` from the tree's centre, and angular velocity.
static void column(const tbReal cdof[6], const tbReal offset[3], tbReal* jacp, tbReal* jacr,
                   size_t stride, tbReal sign) {
  if (jacp) {
    tbReal v[3];
    tb_motion_at(v, cdof, offset);
    for (size_t k = 0; k < 3; k++) jacp[k * stride] += sign * v[k];
  }
  if (jacr) {
    for (size_t k = 0; k < 3; k++) jacr[k * stride] += sign * cdof[k];
  }
}

static void clear_rows(tbReal* jacobian, size_t stride, int columns) {
  if (!jacobian) return;
  for (size_t k = 0; k < 3; k++) memset(jacobian + k * stride, 0, (size_t)columns * sizeof(tbReal));
}

static void offset_of(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                      tbReal offset[3]) {
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
}

void tb_jac(const tbModel* m, const tbData* d, int body, const tbReal point[3], tbReal* jacp,
            tbReal* jacr) {
  if (!tb_is_data_of(m, d) || !point) return;
  body = tb_valid_body(m, body);
  size_t nv = (size_t)m->nv;
  clear_rows(jacp, nv, m->nv);
  clear_rows(jacr, nv, m->nv);
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal offset[3];
  offset_of(m, d, body, point, offset);
  for (int k = 0; k < n; k++) {
    int i = dofs[k];
    column(d->cdof + 6 * i, offset, jacp ? jacp + i : NULL, jacr ? jacr + i : NULL, nv, 1);
  }
}

void tb_jac_body(const tbModel* m, const tbData* d, int body, tbReal* jacp, tbReal* jacr) {
  if (!tb_is_data_of(m, d)) return;
  body = tb_valid_body(m, body);
  tb_jac(m, d, body, d->xpos + 3 * body, jacp, jacr);
}

void tb_jac_body_com(const tbModel* m, const tbData* d, int body, tbReal* jacp, tbReal* jacr) {
  if (!tb_is_data_of(m, d)) return;
  body = tb_valid_body(m, body);
  tb_jac(m, d, body, d->xipos + 3 * body, jacp, jacr);
}

void tb_jac_geom(const tbModel* m, const tbData* d, int geom, tbReal* jacp, tbReal* jacr) {
  if (!tb_is_data_of(m, d)) return;
  int known = geom >= 0 && geom < m->ngeom;
  tb_jac(m, d, known ? m->geom_bodyid[geom] : 0, known ? d->geom_xpos + 3 * geom : d->xpos, jacp,
         jacr);
}

void tb_jac_site(const tbModel* m, const tbData* d, int site, tbReal* jacp, tbReal* jacr) {
  if (!tb_is_data_of(m, d)) return;
  int known = site >= 0 && site < m->nsite;
  tb_jac(m, d, known ? m->site_bodyid[site] : 0, known ? d->site_xpos + 3 * site : d->xpos, jacp,
         jacr);
}

void tb_jac_subtree_com(const tbModel* m, const tbData* d, int body, tbReal* jacp) {
  if (!tb_is_data_of(m, d) || !jacp) return;
  body = tb_valid_body(m, body);
  // Mass-weighted mean of the bodies' Jacobians. A dof above `body` moves the whole subtree
  // rigidly; a dof inside moves the part below it.
  size_t nv = (size_t)m->nv;
  clear_rows(jacp, nv, m->nv);
  tbReal total = m->body_subtreemass[body];
  if (!(total > 0)) return;
  int end = body + m->body_subtreenum[body];
  for (int b = body; b < end; b++) {
    tbReal offset[3];
    // Dofs of this body (for the subtree's root, its whole chain) move this body's subtree.
    const int* dofs;
    int n = tb_body_chain(m, b, &dofs);
    int first = b == body ? 0 : n - m->body_dofnum[b];
    offset_of(m, d, b, d->subtree_com + 3 * b, offset);
    tbReal share = m->body_subtreemass[b] / total;
    for (int k = first; k < n; k++) {
      column(d->cdof + 6 * dofs[k], offset, jacp + dofs[k], NULL, nv, share);
    }
  }
}

int tb_jac_sparse(const tbModel* m, const tbData* d, int body, const tbReal point[3], tbReal* jacp,
                  tbReal* jacr, int stride) {
  if (!tb_is_data_of(m, d) || !point) return 0;
  body = tb_valid_body(m, body);
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  if (n > stride) return n;
  size_t width = (size_t)stride;
  clear_rows(jacp, width, n);
  clear_rows(jacr, width, n);
  tbReal offset[3];
  offset_of(m, d, body, point, offset);
  for (int k = 0; k < n; k++) {
    column(d->cdof + 6 * dofs[k], offset, jacp ? jacp + k : NULL, jacr ? jacr + k : NULL, width, 1);
  }
  return n;
}

// Add one body's columns, with a sign, to the matching columns of an ascending support.
static void add_chain(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                      const int* support, tbReal* jacp, tbReal* jacr, size_t stride, tbReal sign) {
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal offset[3];
  offset_of(m, d, body, point, offset);
  for (int k = 0, s = 0; k < n; k++, s++) {
    while (support[s] != dofs[k]) s++;
    column(d->cdof + 6 * dofs[k], offset, jacp ? jacp + s : NULL, jacr ? jacr + s : NULL, stride,
           sign);
  }
}

int tb_jac_pair(const tbModel* m, const tbData* d, int body1, const tbReal point1[3], int body2,
                const tbReal point2[3], int* support, tbReal* jacp, tbReal* jacr, int stride) {
  if (!tb_is_data_of(m, d) || !point1 || !point2 || !support) return 0;
  body1 = tb_valid_body(m, body1);
  body2 = tb_valid_body(m, body2);
  int n = tb_chain_union(m, body1, body2, support);
  if (n > stride) return n;
  size_t width = (size_t)stride;
  clear_rows(jacp, width, n);
  clear_rows(jacr, width, n);
  add_chain(m, d, body2, point2, support, jacp, jacr, width, 1);
  add_chain(m, d, body1, point1, support, jacp, jacr, width, -1);
  return n;
}
