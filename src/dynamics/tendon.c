// Lengths and Jacobians of tendons (docs/manual/tendons.md, eq. 1-2, 8).
#include <math.h>
#include <string.h>

#include "dynamics/gravity.h"
#include "dynamics/tendon_path.h"
#include "dynamics/wrap.h"
#include "model/chain.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

static tbTendonPoint site_point(const tbModel* m, const tbData* d, int site) {
  tbTendonPoint p = {
      {d->site_xpos[3 * site], d->site_xpos[3 * site + 1], d->site_xpos[3 * site + 2]},
      m->site_bodyid[site]};
  return p;
}

// The leg that starts at path element `at` (a site); returns the element where the next one starts,
// or where the path continues after a pulley. `leg->npoints` is zero if there is no leg.
static int next_leg(const tbModel* m, const tbData* d, int at, int end, tbTendonLeg* leg) {
  leg->npoints = 0;
  leg->arc = 0;
  if (m->wrap_type[at] == TB_WRAP_PULLEY) {
    leg->divisor = m->wrap_prm[at];
    return at + 1;
  }
  if (at + 1 >= end || m->wrap_type[at + 1] == TB_WRAP_PULLEY) return at + 1;

  // Straight to the next site.
  int type = m->wrap_type[at + 1];
  if (type != TB_WRAP_SITE && at + 2 >= end) return end;
  leg->points[0] = site_point(m, d, m->wrap_objid[at]);
  leg->npoints = 2;
  if (type == TB_WRAP_SITE) {
    leg->points[1] = site_point(m, d, m->wrap_objid[at + 1]);
    return at + 1;
  }

  // Over a geom to the site after it.
  tbTendonPoint goal = site_point(m, d, m->wrap_objid[at + 2]);
  int geom = m->wrap_objid[at + 1], side = (int)m->wrap_prm[at + 1];
  tbTendonPoint* arrive = &leg->points[1];
  tbTendonPoint* leave = &leg->points[2];
  tbReal arc = tb_wrap(leg->points[0].pos, goal.pos, d->geom_xpos + 3 * geom,
                       d->geom_xmat + 9 * geom, m->geom_size[3 * geom], type == TB_WRAP_CYLINDER,
                       side >= 0 ? d->site_xpos + 3 * side : NULL, arrive->pos, leave->pos);
  if (arc < 0) {
    leg->points[1] = goal;
  } else {
    arrive->body = leave->body = m->geom_bodyid[geom];
    leg->points[3] = goal;
    leg->npoints = 4;
    leg->arc = arc;
  }
  return at + 2;
}

// The first dofs that two bodies have in common.
static int shared_dofs(const tbModel* m, int body1, int body2) {
  const int *dofs1, *dofs2;
  int n1 = tb_body_chain(m, body1, &dofs1), n2 = tb_body_chain(m, body2, &dofs2), n = 0;
  while (n < n1 && n < n2 && dofs1[n] == dofs2[n]) n++;
  return n;
}

// cdof . force; zero if only rounding errors of its terms remain (a path through the axis of a
// joint).
static tbReal moment_arm(const tbReal cdof[6], const tbReal force[6]) {
  tbReal size = 0, arm = tb_dot6(cdof, force);
  for (int i = 0; i < 6; i++) size += fabs(cdof[i] * force[i]);
  return fabs(arm) > 1e-14 * size ? arm : 0;
}

// J += scale * direction . (velocity of the point), over the entries of an ascending row; the first
// `skip` dofs of the point are left out.
static void add_point(const tbModel* m, const tbData* d, const tbTendonPoint* p,
                      const tbReal direction[3], tbReal scale, int skip, const int* columns, int n,
                      tbReal* J) {
  const int* dofs;
  int count = tb_body_chain(m, p->body, &dofs);
  tbReal offset[3], force[6];
  tb_sub3(offset, p->pos, d->subtree_com + 3 * m->body_rootid[p->body]);
  tb_force_make(force, offset, direction, NULL);
  for (int k = skip, s = 0; k < count; k++) {
    while (s < n && columns[s] < dofs[k]) s++;
    if (s < n && columns[s] == dofs[k]) J[s] += scale * moment_arm(d->cdof + 6 * dofs[k], force);
  }
}

// Length of a leg; its straight pieces pull on the bodies at both ends. Dofs that move both ends
// rigidly do not change the length. Their entries cancel up to rounding errors and are skipped: if
// no other dof moved the tendon, its limit would act on these errors.
static tbReal add_leg(const tbModel* m, const tbData* d, const tbTendonLeg* leg, const int* columns,
                      int n, tbReal* J) {
  tbReal length = leg->arc, scale = 1 / leg->divisor;
  for (int k = 0; k + 1 < leg->npoints; k += 2) {
    const tbTendonPoint *a = &leg->points[k], *b = &leg->points[k + 1];
    tbReal direction[3];
    tb_sub3(direction, b->pos, a->pos);
    length += tb_normalize3(direction);
    int shared = shared_dofs(m, a->body, b->body);
    add_point(m, d, b, direction, scale, shared, columns, n, J);
    add_point(m, d, a, direction, -scale, shared, columns, n, J);
  }
  return length * scale;
}

static int is_fixed(const tbModel* m, int tendon) {
  return m->tendon_num[tendon] > 0 && m->wrap_type[m->tendon_adr[tendon]] == TB_WRAP_JOINT;
}

// A fixed tendon is a linear function of joint coordinates.
static tbReal fixed_tendon(const tbModel* m, const tbData* d, int tendon, const int* columns, int n,
                           tbReal* J) {
  tbReal length = 0;
  int first = m->tendon_adr[tendon];
  for (int w = first; w < first + m->tendon_num[tendon]; w++) {
    int joint = m->wrap_objid[w], dof = m->jnt_dofadr[joint];
    length += m->wrap_prm[w] * d->qpos[m->jnt_qposadr[joint]];
    for (int s = 0; s < n; s++) {
      if (columns[s] == dof) J[s] += m->wrap_prm[w];
    }
  }
  return length;
}

void tb_stage_tendon(const tbModel* m, tbData* d) {
  for (int t = 0; t < m->ntendon; t++) {
    const int* columns = m->Jten_colind + m->tendon_Jadr[t];
    tbReal* J = d->ten_J + m->tendon_Jadr[t];
    int n = m->tendon_Jnnz[t];
    for (int s = 0; s < n; s++) J[s] = 0;
    if (is_fixed(m, t)) {
      d->ten_length[t] = fixed_tendon(m, d, t, columns, n, J);
      continue;
    }
    tbTendonLeg leg;
    leg.divisor = 1;
    tbReal length = 0;
    int at = m->tendon_adr[t], end = at + m->tendon_num[t];
    while (at + 1 < end) {
      at = next_leg(m, d, at, end, &leg);
      if (leg.npoints) length += add_leg(m, d, &leg, columns, n, J);
    }
    d->ten_length[t] = length;
  }
}

void tb_tendon(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_tendon(m, d);
}

void tb_full_ten_J(const tbModel* m, const tbData* d, tbReal* J) {
  if (!tb_is_world_of(m, d) || !J) return;
  size_t nv = (size_t)m->nv;
  memset(J, 0, (size_t)m->ntendon * nv * sizeof(tbReal));
  for (int t = 0; t < m->ntendon; t++) {
    for (int s = m->tendon_Jadr[t]; s < m->tendon_Jadr[t] + m->tendon_Jnnz[t]; s++) {
      J[(size_t)t * nv + (size_t)m->Jten_colind[s]] = d->ten_J[s];
    }
  }
}

// dJ/dt qvel of a path through sites: u . (relative acceleration at qacc = 0) + |w_perp|^2 / length
// per straight piece, with w the relative velocity of its ends.
static tbReal jac_dot_v(const tbModel* m, const tbData* d, int tendon) {
  tbTendonLeg leg;
  leg.divisor = 1;
  tbReal sum = 0;
  int at = m->tendon_adr[tendon], end = at + m->tendon_num[tendon];
  while (at + 1 < end) {
    at = next_leg(m, d, at, end, &leg);
    if (leg.npoints != 2 || leg.points[0].body == leg.points[1].body) continue;
    tbReal acceleration[2][3], velocity[2][3], direction[3];
    for (int k = 0; k < 2; k++) {
      const tbTendonPoint* p = &leg.points[k];
      tbReal offset[3];
      tb_jac_dot_v(m, d, p->body, p->pos, acceleration[k], NULL);
      tb_sub3(offset, p->pos, d->subtree_com + 3 * m->body_rootid[p->body]);
      tb_motion_at(velocity[k], d->cvel + 6 * p->body, offset);
    }
    tb_sub3(direction, leg.points[1].pos, leg.points[0].pos);
    tbReal length = tb_normalize3(direction);
    tb_sub3(acceleration[1], acceleration[1], acceleration[0]);
    tb_sub3(velocity[1], velocity[1], velocity[0]);
    tbReal along = tb_dot3(velocity[1], direction);
    tbReal across = tb_dot3(velocity[1], velocity[1]) - along * along;
    sum += (tb_dot3(direction, acceleration[1]) + (length > 0 ? across / length : 0)) / leg.divisor;
  }
  return sum;
}

// J qacc over the ancestors and descendants of dof i: the part of J^T J qacc in row i that M's
// pattern contains.
static tbReal related_acceleration(const tbModel* m, int i, const int* columns, const tbReal* J,
                                   int n, const tbReal* qacc) {
  tbReal sum = 0;
  for (int s = 0; s < n; s++) {
    int j = columns[s], upper = i < j ? i : j, lower = i < j ? j : i;
    if (lower < upper + m->dof_subtreenum[upper]) sum += J[s] * qacc[j];
  }
  return sum;
}

tbTendonWalk tb_tendon_walk(const tbModel* m, int tendon) {
  int at = m->tendon_adr[tendon], end = is_fixed(m, tendon) ? at : at + m->tendon_num[tendon];
  return (tbTendonWalk){.at = at, .end = end, .leg = {.divisor = 1}};
}

bool tb_tendon_piece(const tbModel* m, const tbData* d, tbTendonWalk* walk) {
  tbTendonLeg* leg = &walk->leg;
  for (;;) {
    while (walk->piece + 1 >= leg->npoints) {
      if (walk->at + 1 >= walk->end) return false;
      walk->at = next_leg(m, d, walk->at, walk->end, leg);
      walk->piece = 0;
    }
    walk->from = &leg->points[walk->piece];
    walk->to = &leg->points[walk->piece + 1];
    walk->piece += 2;
    if (walk->from->body == walk->to->body) continue;
    tb_sub3(walk->pull, walk->to->pos, walk->from->pos);
    tb_normalize3(walk->pull);
    tb_scale3(walk->pull, walk->pull, 1 / leg->divisor);
    return true;
  }
}

void tb_add_tendon_wrench(const tbModel* m, tbData* d, int tendon, tbReal force) {
  if (!tb_is_world_of(m, d)) return;
  if (tendon < 0 || tendon >= m->ntendon || is_fixed(m, tendon)) return;
  if (m->tendon_armature[tendon] != 0) {
    tbReal acceleration = jac_dot_v(m, d, tendon);
    for (int s = m->tendon_Jadr[tendon]; s < m->tendon_Jadr[tendon] + m->tendon_Jnnz[tendon]; s++) {
      acceleration += d->ten_J[s] * d->qacc[m->Jten_colind[s]];
    }
    force -= m->tendon_armature[tendon] * acceleration;
  }
  if (force == 0) return;
  for (tbTendonWalk walk = tb_tendon_walk(m, tendon); tb_tendon_piece(m, d, &walk);) {
    tbReal pull[3];
    tb_scale3(pull, walk.pull, force);
    tb_add_wrench(m, d, walk.to->body, walk.to->pos, pull, NULL);
    tb_scale3(pull, pull, -1);
    tb_add_wrench(m, d, walk.from->body, walk.from->pos, pull, NULL);
  }
}

void tb_add_tendon_inertia(const tbModel* m, tbData* d, const tbReal* qacc, tbReal* tau) {
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_armature[t] == 0) continue;
    const int* columns = m->Jten_colind + m->tendon_Jadr[t];
    const tbReal* J = d->ten_J + m->tendon_Jadr[t];
    int n = m->tendon_Jnnz[t];
    tbReal drift = is_fixed(m, t) ? 0 : jac_dot_v(m, d, t);
    for (int s = 0; s < n; s++) {
      int i = columns[s];
      tbReal related = qacc ? related_acceleration(m, i, columns, J, n, qacc) : 0;
      tau[i] += m->tendon_armature[t] * J[s] * (drift + related);
    }
  }
}
