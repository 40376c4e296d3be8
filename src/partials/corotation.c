// Partials of the velocity-product term dJ/dt v: of connects and welds in the soft law
// (docs/notebook/derivatives.md, eq. 46-48), and of contacts.
#include <string.h>

#include "dynamics/drift.h"
#include "model/chain.h"
#include "spatial/motion.h"
#include "spatial/quat.h"
#include "partials/derivatives.h"
#include "laws/soft/rows.h"
#include "tribo/dynamics.h"

// Derivatives of one side's velocity-product term and spin by dof k of its chain, for a connect or
// weld.
typedef struct {
  tbReal linear[3], angular[3];  // velocity-product term
  tbReal spin[3];                // angular velocity
  tbReal turn[3];                // orientation: zero for columns of v
} SideChange;

tbResult tb_deriv_drift_prepare(tbDerivatives* x, const tbData* d) {
  if (x->drift) return TB_OK;
  x->drift = TB_ARENA_NEW(&x->arena, tbReal, 6 * (x->m->nbody + x->nv) + 1);
  if (!x->drift) return TB_ERROR_MEMORY;
  tb_velocity_product(x->m, d, x->drift, x->drift + 6 * x->m->nbody);
  return TB_OK;
}

// Derivatives by q (first n) and v (next n) of the chain of n dofs.
static void side_changes(const tbDerivatives* x, const tbData* d, int body, const tbReal point[3],
                         tbVelocityProductPartials* partials, SideChange* out) {
  const tbModel* m = x->m;
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal by_point[9], offset[3];
  tb_velocity_product_partials(m, d, body, point, x->drift, x->drift + 6 * m->nbody, partials);
  tb_velocity_product_of_point(d, body, x->drift, by_point);
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  for (int s = 0; s < n; s++) {
    const tbReal *S = d->cdof + 6 * dofs[s], *S_dot = d->cdof_dot + 6 * dofs[s];
    SideChange *q = &out[s], *v = &out[n + s];
    tbReal moved[3], term[3];
    // The point moves with its body.
    tb_motion_at(moved, S, offset);
    tb_mul_mat3_vec3(term, by_point, moved);
    tb_add3(q->linear, partials[s].linear_q, term);
    tb_copy3(q->angular, partials[s].angular_q);
    tb_cross(q->spin, S, d->cvel + 6 * body);
    tb_add3(q->spin, q->spin, S_dot);
    tb_copy3(q->turn, S);
    *v = (SideChange){{0}, {0}, {0}, {0}};
    tb_copy3(v->linear, partials[s].linear_v);
    tb_copy3(v->angular, partials[s].angular_v);
    tb_copy3(v->spin, S);
  }
}

// Terms of a weld's angular rows, s/2 vec(q2^-1 inner q1) with inner = (w w1 - w2 w) / 2 + (drift1
// - drift2), w = w1 - w2, as quaternions.
typedef struct {
  tbReal spin[2][4], w[4], inner[4];
  tbReal quat1[4], conjugate2[4];
  tbReal scale;
} Weld;

static void pure(tbReal q[4], const tbReal v[3]) {
  q[0] = 0;
  tb_copy3(q + 1, v);
}

static Weld weld_of(const tbModel* m, const tbData* d, const tbConstraint* c, const int body[2],
                    tbReal quat[2][4], const tbReal* acceleration) {
  Weld weld;
  tbReal ahead[4], back[4];
  for (int i = 0; i < 2; i++) pure(weld.spin[i], d->cvel + 6 * body[i]);
  for (int k = 0; k < 4; k++) weld.w[k] = weld.spin[0][k] - weld.spin[1][k];
  tb_quat_mul(ahead, weld.w, weld.spin[0]);
  tb_quat_mul(back, weld.spin[1], weld.w);
  for (int k = 0; k < 4; k++) weld.inner[k] = 0.5 * (ahead[k] - back[k]);
  for (int k = 0; k < 3; k++) {
    weld.inner[k + 1] += acceleration[6 * body[0] + k] - acceleration[6 * body[1] + k];
  }
  memcpy(weld.quat1, quat[0], sizeof weld.quat1);
  tb_quat_conjugate(weld.conjugate2, quat[1]);
  weld.scale = 0.5 * m->eq_data[TB_NEQDATA * c->id + TB_EQ_TORQUESCALE];
  return weld;
}

// out[3] += change of the angular rows by a change of side `side`.
static void weld_change(const Weld* weld, int side, const SideChange* change, tbReal out[3]) {
  tbReal dspin[4], dinner[4], a[4], b[4], product[4], sign = side ? -1 : 1;
  pure(dspin, change->spin);
  // d(w w1 - w2 w), where w changes with either spin.
  tb_quat_mul(a, dspin, weld->spin[0]);
  tb_quat_mul(b, weld->spin[1], dspin);
  for (int k = 0; k < 4; k++) dinner[k] = 0.5 * sign * (a[k] - b[k]);
  if (side == 0)
    tb_quat_mul(a, weld->w, dspin);
  else
    tb_quat_mul(a, dspin, weld->w);
  for (int k = 0; k < 4; k++) dinner[k] += 0.5 * sign * a[k];
  for (int k = 0; k < 3; k++) dinner[k + 1] += sign * change->angular[k];
  // The frames turn: dq1 = turn q1 / 2, dq2^-1 = -q2^-1 turn / 2.
  tbReal turn[4];
  pure(turn, change->turn);
  if (side == 0)
    tb_quat_mul(a, weld->inner, turn);
  else
    tb_quat_mul(a, turn, weld->inner);
  for (int k = 0; k < 4; k++) dinner[k] += 0.5 * sign * a[k];
  tb_quat_mul(product, weld->conjugate2, dinner);
  tb_quat_mul(product, product, weld->quat1);
  tb_add_scaled3(out, out, weld->scale, product + 1);
}

// Relative change of a reduced velocity-product term, which is proportional to 1/|w|^2 of the
// faster body.
static tbReal fade_change(const tbData* d, int body, const SideChange* change) {
  const tbReal* w = d->cvel + 6 * body;
  return -2 * tb_dot3(w, change->spin) / tb_dot3(w, w);
}

tbResult tb_deriv_drift(tbDerivatives* x, const tbData* d, const tbConstraint* c, tbActiveRows* a) {
  const tbModel* m = x->m;
  if (c->source != TB_SOURCE_EQUALITY || c->dim < 3) return TB_OK;
  tbResult result = tb_deriv_drift_prepare(x, d);
  if (result != TB_OK) return result;
  int body[2];
  tbReal point[2][3], quat[2][4];
  tb_equality_points(m, d, c->id, body, point, quat);
  tbArenaMark mark = tb_arena_mark(&x->arena);
  size_t room = (size_t)m->nv + 1;
  tbVelocityProductPartials* partials = tb_arena_alloc(&x->arena, sizeof *partials * room);
  SideChange* change = tb_arena_alloc(&x->arena, sizeof *change * 2 * room);
  if (!partials || !change) return TB_ERROR_MEMORY;
  Weld weld = weld_of(m, d, c, body, quat, x->drift);
  int faster;
  tbReal drift[6], fade = tb_soft_drift_fade(m, d, body, &faster);
  tb_soft_drift(m, d, c, drift);
  for (int side = 0; side < 2; side++) {
    const int* dofs;
    int n = tb_body_chain(m, body[side], &dofs);
    side_changes(x, d, body[side], point[side], partials, change);
    for (int s = 0; s < 2 * n; s++) {
      size_t column = (size_t)(s < n ? dofs[s] : m->nv + dofs[s - n]);
      tbReal rows[6] = {0};
      tb_copy3(rows, change[s].linear);
      if (side) tb_scale3(rows, rows, -1);
      if (a->dim == 6) weld_change(&weld, side, &change[s], rows + 3);
      tbReal dfade = fade < 1 && side == faster ? fade_change(d, body[side], &change[s]) : 0;
      for (int r = 0; r < a->dim; r++) {
        x->S[(size_t)(a->row + r) * (size_t)x->ncol + column] += fade * rows[r] + dfade * drift[r];
      }
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

tbResult tb_contact_drift(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                          const tbActiveRows* act, const tbReal share[2], int w, int rows,
                          tbReal* a) {
  const tbModel* m = x->m;
  const tbContact* contact = &d->contact[c->id];
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbVelocityProductPartials* partials =
      tb_arena_alloc(&x->arena, sizeof *partials * (size_t)(m->nv + 1));
  if (!partials) return TB_ERROR_MEMORY;
  for (int side = 0; side < 2; side++) {
    int body = m->geom_bodyid[contact->geom[side]];
    const int* dofs;
    int n = tb_body_chain(m, body, &dofs);
    if (n == 0) continue;
    tbReal linear[3], angular[3], by_point[9], sign = side ? share[side] : -share[side];
    tb_jac_dot_v(m, d, body, contact->pos, linear, angular);
    tb_velocity_product_partials(m, d, body, contact->pos, x->drift, x->drift + 6 * m->nbody,
                                 partials);
    tb_velocity_product_of_point(d, body, x->drift, by_point);
    for (int r = 0; r < rows; r++) {
      const tbReal* axis = contact->frame + 3 * (r < 3 ? r : r - 3);
      tbReal* row = a + (size_t)r * (size_t)w;
      for (int s = 0; s < n; s++) {
        const tbVelocityProductPartials* p = &partials[s];
        row[dofs[s]] += sign * tb_dot3(axis, r < 3 ? p->linear_q : p->angular_q);
        row[m->nv + dofs[s]] += sign * tb_dot3(axis, r < 3 ? p->linear_v : p->angular_v);
      }
      // The frame turns and the point moves with all dofs of the contact.
      for (int k = 0; k < act->nnz; k++) {
        tbReal moved[3];
        const tbReal* turned = act->dframe + 9 * k + 3 * (r < 3 ? r : r - 3);
        tb_mul_mat3_vec3(moved, by_point, act->dpoint + 3 * k);
        tbReal change = tb_dot3(turned, r < 3 ? linear : angular);
        if (r < 3) change += tb_dot3(axis, moved);
        row[act->col[k]] += sign * change;
      }
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}
