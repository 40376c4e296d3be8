// Limits and stretches of the viscoelastic law, differentiated (docs/notebook/derivatives.md, eq.
// 63-67).
#include "laws/viscoelastic/springs_linearize.h"

#include <stdio.h>
#include <string.h>

#include "model/chain.h"
#include "model/joint_kinds.h"
#include "spatial/motion.h"
#include "spatial/quat.h"
#include "spatial/so3.h"
#include "spatial/vec3.h"
#include "laws/viscoelastic/viscoelastic.h"

void tb_springs_kink(tbDerivatives* x, const char* what, int id) {
  x->info.differentiable = 0;
  if (!x->info.reason[0]) snprintf(x->info.reason, sizeof x->info.reason, "%s %d", what, id);
}

// ---- stretch ------------------------------------------------------------------------------------

// 1 where dof k moves the body.
static int moves_body(const tbModel* m, int body, int k) {
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs), moves = 0;
  for (int t = 0; t < n; t++) moves |= dofs[t] == k;
  return moves;
}

// A contact's anchor at this state.
typedef struct {
  int body[2];
  tbReal at[2][3];    // the contact points of both bodies
  tbReal kept[3];     // the stored stretch, in the world
  tbReal apart[3];    // the present stretch
  tbReal twist[3];    // the present twist
  tbReal by_spin[9];  // derivative of the twist by the bodies' relative rotation
} Anchored;

static Anchored anchored(const tbModel* m, const tbData* d, const tbContact* contact,
                         const tbAnchor* anchor, int angular) {
  Anchored y;
  for (int i = 0; i < 2; i++) {
    y.body[i] = m->geom_bodyid[contact->geom[i]];
    tb_mul_mat3_vec3(y.at[i], d->xmat + 9 * y.body[i], anchor->point[i]);
    tb_add3(y.at[i], y.at[i], d->xpos + 3 * y.body[i]);
  }
  const tbReal* R1 = d->xmat + 9 * y.body[0];
  tb_mul_mat3_vec3(y.kept, R1, anchor->stretch);
  tb_add3(y.apart, y.kept, y.at[1]);
  tb_sub3(y.apart, y.apart, y.at[0]);
  if (!angular) return y;

  // twist = R1 (log(now before^-1) + stored); a spin w of body 2 relative to body 1 multiplies
  // `now` from the left by a rotation R1^T w, and dlog = Jl^-1 with Jl(x)^-1 = Jr(-x)^-1.
  tbReal inverse[4], now[4], before[4], change[4], turn[3], back[3], J[9], product[9];
  tb_quat_conjugate(inverse, d->xquat + 4 * y.body[0]);
  tb_quat_mul(now, inverse, d->xquat + 4 * y.body[1]);
  tb_quat_conjugate(before, anchor->relative);
  tb_quat_mul(change, now, before);
  tb_quat_log(turn, change);
  tb_scale3(back, turn, -1);
  tb_so3_right_jacobian_inverse(J, back);
  tb_add3(turn, turn, anchor->twist);
  tb_mul_mat3_vec3(y.twist, R1, turn);
  // R1 J R1^T
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      product[3 * i + k] = 0;
      for (int l = 0; l < 3; l++) product[3 * i + k] += R1[3 * i + l] * J[3 * l + k];
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      y.by_spin[3 * i + k] = 0;
      for (int l = 0; l < 3; l++) y.by_spin[3 * i + k] += product[3 * i + l] * R1[3 * k + l];
    }
  }
  return y;
}

// Partials of the tangential stretch frame_r . apart, with apart = R1 stored + x2 - x1 of the two
// contact points (eq. 64), and of the angular rows (eq. 66).
static void contact_stretch(const tbDerivatives* x, const tbData* d, const tbConstraint* c,
                            const tbAnchor* anchor, const tbActiveRows* a, tbReal* out) {
  const tbModel* m = x->m;
  const tbContact* contact = &d->contact[c->id];
  Anchored y = anchored(m, d, contact, anchor, a->dim > 3);
  for (int k = 0; k < a->nnz; k++) {
    tbReal change[3] = {0, 0, 0}, turned[3] = {0, 0, 0}, spin[3] = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
      if (!moves_body(m, y.body[i], a->col[k])) continue;
      const tbReal* axis = d->cdof + 6 * a->col[k];
      tbReal arm[3], v[3], carried[3];
      tb_sub3(arm, y.at[i], d->subtree_com + 3 * m->body_rootid[y.body[i]]);
      tb_motion_at(v, axis, arm);
      tb_add_scaled3(change, change, i ? 1 : -1, v);
      tb_add_scaled3(spin, spin, i ? 1 : -1, axis);
      if (i) continue;
      tb_cross(carried, axis, y.kept);
      tb_add3(change, change, carried);
      if (a->dim > 3) tb_cross(turned, axis, y.twist);
    }
    const tbReal* dframe = a->dframe + 9 * k;
    if (a->dim > 3) {
      tbReal by_spin[3];
      tb_mul_mat3_vec3(by_spin, y.by_spin, spin);
      tb_add3(turned, turned, by_spin);
    }
    for (int r = 1; r < a->dim; r++) {
      tbReal* to = &out[(size_t)r * (size_t)a->nnz + (size_t)k];
      if (r < 3) {
        *to = tb_dot3(dframe + 3 * r, y.apart) + tb_dot3(contact->frame + 3 * r, change);
      } else {
        *to =
            tb_dot3(dframe + 3 * (r - 3), y.twist) + tb_dot3(contact->frame + 3 * (r - 3), turned);
      }
    }
  }
}

void tb_stretch_partials(const tbDerivatives* x, const tbData* d, const tbStepState* state,
                         const tbConstraint* c, const tbActiveRows* a, tbReal* out) {
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbModel* m = x->m;
  const tbAnchor* anchor = tb_anchors_get(&own->anchors, c->key);
  size_t count = (size_t)(a->dim * a->nnz);
  memset(out, 0, sizeof(tbReal) * count);
  if (tb_is_dry_friction(c)) {
    int measured =
        c->source != TB_SOURCE_FRICTION_DOF || tb_joint_is_scalar(m->jnt_type[m->dof_jntid[c->id]]);
    if (anchor && measured) memcpy(out, a->J, sizeof(tbReal) * count);
    return;
  }
  memcpy(out, a->dpos, sizeof(tbReal) * count);
  if (c->source == TB_SOURCE_EQUALITY) return;
  if (anchor && c->source == TB_SOURCE_CONTACT) {
    contact_stretch(x, d, c, anchor, a, out);
  } else if (!anchor && ((c->source == TB_SOURCE_CONTACT && m->opt.contact_anchor_normal) ||
                         tb_first_depth(m, c) < 0)) {
    // The stretch is measured from the first detection, or from a fixed distance above; both are
    // independent of the configuration.
    memset(out, 0, sizeof(tbReal) * (size_t)a->nnz);
  }
}

// ---- a spring -----------------------------------------------------------------------------------

static void add_row(tbReal* to, const tbReal* from, tbReal s, int n) {
  for (int i = 0; s != 0 && i < n; i++) to[i] += s * from[i];
}

void tb_limit_changes(tbDerivatives* x, const tbData* d, const tbConstraint* c, const tbReal* raw,
                      tbReal near, int mu_column, const tbReal* draw, int w, tbReal* out) {
  tbReal L[TB_MAX_DIM * TB_MAX_DIM], by_friction[TB_MAX_DIM];
  tb_limit_slope(x->m, d, c, raw, L, by_friction);
  if (tb_limit_near(x->m, d, c, raw, near)) tb_springs_kink(x, "limit of constraint", c->row);
  for (int r = 0; r < c->dim; r++) {
    tbReal* row = out + (size_t)r * (size_t)w;
    memset(row, 0, sizeof(tbReal) * (size_t)w);
    for (int q = 0; q < c->dim; q++) add_row(row, draw + (size_t)(q * w), L[r * c->dim + q], w);
    if (mu_column >= 0) row[mu_column] += by_friction[r];
  }
}

tbResult tb_spring_changes(tbDerivatives* x, const tbData* d, const tbStepState* state,
                           const tbConstraint* c, const tbSpring* spring, const tbActiveRows* a,
                           tbReal near, tbSpringChange* out) {
  size_t w = (size_t)out->w;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* stretch = TB_ARENA_NEW(&x->arena, tbReal, c->dim * c->nnz + 1);
  tbReal* raw = TB_ARENA_NEW(&x->arena, tbReal, (size_t)c->dim * w + 1);
  if (!stretch || !raw) return TB_ERROR_MEMORY;
  tb_stretch_partials(x, d, state, c, a, stretch);
  tb_active_velocity(a, d->qvel, 1, out->velocity, out->w);
  for (int r = 0; r < c->dim; r++) {
    tbReal *dp = out->stretch + (size_t)r * w, *point = out->velocity + (size_t)r * w;
    for (int q = 0; q < c->nnz; q++) {
      dp[c->col[q]] += stretch[r * c->nnz + q];
      point[x->nv + c->col[q]] += c->J[r * c->nnz + q];
    }
    memcpy(out->rate + (size_t)r * w, point, sizeof(tbReal) * w);
    add_row(raw + (size_t)r * w, dp, -spring->K[r], out->w);
    add_row(raw + (size_t)r * w, point, -spring->B[r], out->w);
  }
  tb_limit_changes(x, d, c, spring->raw, near, out->mu_column, raw, out->w, out->force);
  // If friction was limited, the anchor follows from the limited force (EXP eq. 28).
  for (int r = c->source == TB_SOURCE_CONTACT; spring->slipping && r < c->dim; r++) {
    memset(out->stretch + (size_t)r * w, 0, sizeof(tbReal) * w);
    memset(out->rate + (size_t)r * w, 0, sizeof(tbReal) * w);
    if (spring->K[r] > 0) {
      add_row(out->stretch + (size_t)r * w, out->force + (size_t)r * w, -1 / spring->K[r], out->w);
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}
