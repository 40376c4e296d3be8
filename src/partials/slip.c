// Partials of a contact's co-rotation term (assemble/corotation.c).
#include <stdbool.h>
#include <string.h>

#include "model/chain.h"
#include "spatial/vec3.h"
#include "partials/derivatives.h"

// Derivatives of the inputs of the co-rotation term, by columns of q and v (rows of ncol).
typedef struct {
  tbReal* omega[2];  // 3 rows: angular velocities of both bodies
  tbReal* velocity;  // 3 rows: relative velocity of the points, along normal and tangents
  tbReal* along;     // 3 rows of the term, the first along the normal
  tbReal* frame;     // nv x 9: the contact's frame by q
} Changes;

// Add one body's angular velocity or, with `fades`, its effect on the reduction factor of `side`.
static void add_body(const tbDerivatives* x, const tbData* d, const tbContact* contact,
                     const tbCorotation* slip, int side, bool fades, Changes* to) {
  const tbModel* m = x->m;
  int body = fades ? slip->fastest[side] : m->geom_bodyid[contact->geom[side]];
  const tbReal* omega = d->cvel + 6 * body;
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  tbReal scale = (side ? -4 : 4) * slip->fade[side] / tb_dot3(omega, omega);
  for (int s = 0; s < 2 * n; s++) {
    int dof = dofs[s % n];
    const tbReal* S = d->cdof + 6 * dof;
    size_t column = (size_t)(s < n ? dof : m->nv + dof), width = (size_t)x->ncol;
    tbReal change[3];
    tb_copy3(change, S);
    if (s < n) {
      tb_cross(change, S, omega);
      tb_add3(change, change, d->cdof_dot + 6 * dof);
    }
    for (size_t k = 0; k < 3; k++) {
      if (fades) {
        to->along[k * width + column] +=
            scale * tb_dot3(omega, change) * tb_dot3(contact->frame + 3 * k, slip->drift[side]);
      } else {
        to->omega[side][k * width + column] = change[k];
      }
    }
  }
}

// Derivative of the angular velocity that both bodies have in common.
static void common_change(const tbCorotation* slip, const tbReal one[3], const tbReal first[3],
                          const tbReal spin[3], tbReal out[3]) {
  tbReal t = slip->between, dt = 0;
  if (t > 0 && t < 1) {
    dt = -(tb_dot3(first, slip->spin) + tb_dot3(one, spin) + 2 * t * tb_dot3(slip->spin, spin)) /
         tb_dot3(slip->spin, slip->spin);
  }
  for (int k = 0; k < 3; k++) out[k] = first[k] + t * spin[k] + dt * slip->spin[k];
}

// S (three rows of ncol) += d(share along), share = h/2 (1 - |spin|^2 / (TB_TOGETHER |common|)^2).
static void add_share(const tbDerivatives* x, const tbContact* contact, const tbReal one[3],
                      const tbCorotation* slip, const Changes* by, tbReal* S) {
  size_t width = (size_t)x->ncol, nv = (size_t)x->nv;
  tbReal most = TB_TOGETHER * TB_TOGETHER * tb_dot3(slip->common, slip->common), w[3], v[3];
  tbReal ratio = tb_dot3(slip->spin, slip->spin) / most;
  tb_mul_mat3_vec3(w, contact->frame, slip->common);
  tb_mul_mat3_vec3(v, contact->frame, slip->velocity);
  for (size_t q = 0; q < 2 * nv; q++) {
    tbReal first[3], spin[3], dcommon[3], dw[3], dv[3], one_way[3], other_way[3];
    for (size_t k = 0; k < 3; k++) {
      first[k] = by->omega[0][k * width + q];
      spin[k] = by->omega[1][k * width + q] - first[k];
      dv[k] = by->velocity[k * width + q];
    }
    common_change(slip, one, first, spin, dcommon);
    tb_mul_mat3_vec3(dw, contact->frame, dcommon);
    if (q < nv) {
      tbReal turned[3];
      tb_mul_mat3_vec3(turned, by->frame + 9 * q, slip->common);
      tb_add3(dw, dw, turned);
    }
    // Minus twice the common rotation of the slip velocity.
    tb_cross(one_way, dw, v);
    tb_cross(other_way, w, dv);
    tbReal dmost = 2 * TB_TOGETHER * TB_TOGETHER * tb_dot3(slip->common, dcommon);
    tbReal dshare = -0.5 * x->h * (2 * tb_dot3(slip->spin, spin) - ratio * dmost) / most;
    for (size_t k = contact->compliance > 0; k < 3; k++) {
      tbReal along = by->along[k * width + q] - 2 * (one_way[k] + other_way[k]);
      S[k * width + q] += slip->share * along + dshare * slip->along[k];
    }
  }
}

tbResult tb_deriv_slip(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                       const tbActiveRows* a) {
  const tbContact* contact = &d->contact[c->id];
  size_t width = (size_t)x->ncol, nv = (size_t)x->nv;
  tbCorotation slip;
  if (c->source != TB_SOURCE_CONTACT || c->dim < 3) return TB_OK;
  if (!tb_contact_corotation(x->m, d, c, &slip)) return TB_OK;
  tbResult result = tb_deriv_drift_prepare(x, d);
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* room = TB_ARENA_NEW(&x->arena, tbReal, 12 * width + 9 * nv + 1);
  if (!room) return TB_ERROR_MEMORY;
  Changes by = {{room, room + 3 * width}, room + 6 * width, room + 9 * width, room + 12 * width};
  if (result == TB_OK) result = tb_contact_drift(x, d, c, a, slip.fade, x->ncol, 3, by.along);
  for (int side = 0; side < 2; side++) {
    add_body(x, d, contact, &slip, side, false, &by);
    if (slip.fade[side] > 0 && slip.fade[side] < 1) add_body(x, d, contact, &slip, side, true, &by);
  }
  for (int r = 0; r < 3; r++) {
    tbActiveRows row = tb_active_row(a, r);
    tb_active_velocity(&row, d->qvel, 1, by.velocity + (size_t)r * width, x->ncol);
    for (int k = 0; k < a->nnz; k++) {
      by.velocity[(size_t)r * width + nv + (size_t)a->col[k]] += a->J[r * a->nnz + k];
    }
  }
  for (int k = 0; k < a->nnz; k++) {
    memcpy(by.frame + 9 * a->col[k], a->dframe + 9 * k, 9 * sizeof(tbReal));
  }
  const tbReal* one = d->cvel + 6 * x->m->geom_bodyid[contact->geom[0]];
  add_share(x, contact, one, &slip, &by, x->S + (size_t)a->row * width);
  tb_arena_release(&x->arena, mark);
  return result;
}
