// The viscoelastic law with explicit Euler, differentiated (docs/derivatives.md, eq. 63-65): forces
// f = limit(-K stretch - B J v) are a function of the state alone.
#include <math.h>
#include <string.h>

#include "spatial/vec3.h"
#include "step/deriv.h"
#include "step/implicit.h"
#include "step/springs.h"

// d limit(raw) / d raw (dim x dim); 0 where the force is constant.
static int limit_slope(const tbModel* m, const tbData* d, const tbConstraint* c, const tbReal* raw,
                       tbReal* L) {
  int dim = c->dim;
  memset(L, 0, sizeof(tbReal) * (size_t)(dim * dim));
  for (int r = 0; r < dim; r++) L[r * dim + r] = 1;
  if (c->source == TB_SOURCE_EQUALITY) return 1;
  if (c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON) {
    return fabs(raw[0]) <= c->bound;
  }
  if (c->source == TB_SOURCE_CONTACT && m->opt.contact_bilateral) return 1;
  if (!(raw[0] > 0)) return 0;
  if (dim < 3) return 1;
  const tbReal* mu = d->contact[c->id].friction;
  tbReal square = 0;
  for (int r = 1; r < dim; r++) square += raw[r] * raw[r] / (mu[r - 1] * mu[r - 1]);
  if (!(square > raw[0] * raw[0])) return 1;
  // Cut radially: f_i = raw_i N / s, s = sqrt(sum raw_j^2 / mu_j^2).
  tbReal s = sqrt(square), scale = raw[0] / s;
  for (int i = 1; i < dim; i++) {
    L[i * dim] = raw[i] / s;
    for (int j = 1; j < dim; j++) {
      L[i * dim + j] =
          (i == j) * scale - scale * raw[i] * raw[j] / (mu[j - 1] * mu[j - 1] * square);
    }
  }
  return 1;
}

// Partials of the tangential stretch frame_r . apart, with apart = R1 remembered + x2 - x1 of the
// two points that touched (eq. 64).
static void contact_stretch(const tbDerivatives* x, const tbData* d, const tbConstraint* c,
                            const tbAnchor* anchor, const tbActive* a, tbReal* out) {
  const tbModel* m = x->m;
  const tbContact* contact = &d->contact[c->id];
  int body[2] = {m->geom_bodyid[contact->geom[0]], m->geom_bodyid[contact->geom[1]]};
  tbReal at[2][3], kept[3], apart[3];
  for (int i = 0; i < 2; i++) {
    tb_mul_mat3_vec3(at[i], d->xmat + 9 * body[i], anchor->point[i]);
    tb_add3(at[i], at[i], d->xpos + 3 * body[i]);
  }
  tb_mul_mat3_vec3(kept, d->xmat + 9 * body[0], anchor->stretch);
  tb_add3(apart, kept, at[1]);
  tb_sub3(apart, apart, at[0]);
  for (int k = 0; k < a->nnz; k++) {
    tbReal change[3] = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
      // Does this dof move body i at all?
      int last = m->body_lastdof[body[i]], moves = 0;
      for (int t = 0; last >= 0 && t < m->M_rownnz[last]; t++) {
        moves |= m->M_colind[m->M_rowadr[last] + t] == a->col[k];
      }
      if (!moves) continue;
      const tbReal* axis = d->cdof + 6 * a->col[k];
      tbReal arm[3], v[3], turned[3];
      tb_sub3(arm, at[i], d->subtree_com + 3 * m->body_rootid[body[i]]);
      tb_cross(v, axis, arm);
      tb_add3(v, v, axis + 3);
      tb_add_scaled3(change, change, i ? 1 : -1, v);
      tb_cross(turned, axis, kept);
      if (i == 0) tb_add3(change, change, turned);
    }
    for (int r = 1; r < a->dim; r++) {
      out[(size_t)r * (size_t)a->nnz + (size_t)k] =
          tb_dot3(a->dframe + 9 * k + 3 * r, apart) + tb_dot3(contact->frame + 3 * r, change);
    }
  }
}

// dstretch (dim x nnz).
static void stretch_partials(const tbDerivatives* x, const tbData* d, const tbStepState* state,
                             const tbConstraint* c, const tbActive* a, tbReal* out) {
  const tbModel* m = x->m;
  const tbAnchor* anchor = tb_anchors_get(&state->anchors, c->key);
  size_t count = (size_t)(a->dim * a->nnz);
  memset(out, 0, sizeof(tbReal) * count);
  if (c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON) {
    int type =
        c->source == TB_SOURCE_FRICTION_DOF ? m->jnt_type[m->dof_jntid[c->id]] : TB_JOINT_SLIDE;
    int measured = type == TB_JOINT_SLIDE || type == TB_JOINT_HINGE;
    if (anchor && measured) memcpy(out, a->J, sizeof(tbReal) * count);
    return;
  }
  memcpy(out, a->dpos, sizeof(tbReal) * count);
  if (c->source == TB_SOURCE_CONTACT && anchor) contact_stretch(x, d, c, anchor, a, out);
}

static tbResult add_spring(tbDerivatives* x, tbData* d, const tbStepState* state,
                           const tbSpring* s) {
  const tbConstraint* c = &state->constraints.list[s->constraint];
  tbReal L[TB_MAX_DIM * TB_MAX_DIM];
  int changes = limit_slope(x->m, d, c, s->raw, L), pushes = 0;
  for (int r = 0; r < c->dim; r++) pushes |= s->force[r] != 0;
  if (c->source == TB_SOURCE_CONTACT) {
    x->info.separated += !pushes;
    x->info.sliding += pushes && s->slipping;
    x->info.sticking += pushes && !s->slipping;
  }
  if ((!changes && !pushes) || c->nnz == 0) return TB_OK;
  tbActive* a = tb_deriv_activate(x, c);
  tbReal* stretch = TB_ARENA_NEW(&x->arena, tbReal, c->dim * c->nnz + 1);
  if (!a || !stretch) return TB_ERROR_MEMORY;
  memcpy(a->force, s->force, sizeof(tbReal) * (size_t)c->dim);
  tbResult result = tb_deriv_rows(x, d, c, a);
  if (result != TB_OK) return result;
  for (int r = 0; r < c->dim; r++) a->by_force[r * c->dim + r] = 1;
  tbPartials partials = {x->law.force, x->ncol};
  tb_active_force(a, &partials);
  if (!changes) return TB_OK;

  // df = -L (B d(J v) + K dstretch)
  size_t width = (size_t)x->ncol, n = (size_t)a->nnz;
  stretch_partials(x, d, state, c, a, stretch);
  tb_active_velocity(a, d->qvel, 1, x->S + (size_t)a->row * width, x->ncol);
  for (int r = 0; r < c->dim; r++) {
    for (int q = 0; q < c->dim; q++) a->by_sigma[r * c->dim + q] = L[r * c->dim + q] * s->B[q];
    for (size_t k = 0; k < n; k++) {
      x->S[(size_t)(a->row + r) * width + (size_t)(x->nv + a->col[k])] += a->J[(size_t)r * n + k];
      for (int q = 0; q < c->dim; q++) {
        x->E[(size_t)(a->row + r) * width + (size_t)a->col[k]] -=
            L[r * c->dim + q] * s->K[q] * stretch[(size_t)q * n + k];
      }
    }
  }
  return TB_OK;
}

tbResult tb_deriv_viscoelastic(tbDerivatives* x, tbData* d, tbStepState* state) {
  const tbModel* m = x->m;
  memcpy(x->law.LD, d->qLD, sizeof(tbReal) * (size_t)m->nM);
  memcpy(x->law.inverse, d->qLDiagInv, sizeof(tbReal) * (size_t)m->nv);
  tbPartials partials = {x->law.force, x->ncol};
  tbResult result = tb_deriv_inertia(x, d, d->qacc, &partials);
  if (result == TB_OK) result = tb_deriv_smooth(x, d, d->qacc, TB_IMPLICIT_NOTHING, &partials);
  x->c = 0;
  x->explicit_law = 1;
  x->move_share = 0.5;
  for (int i = 0; result == TB_OK && i < state->springs.count; i++) {
    result = add_spring(x, d, state, &state->springs.list[i]);
  }
  return result;
}
