// Derivatives of a contact's rows by the configuration (docs/notebook/derivatives.md, eq. 28, 33).
// With f_r an axis of the frame and motions (w, v) taken at the contact,
//
//     dJ[r][i]/dq_k = df_r . v_i + f_r . (w_i x dpos) + [k -> i] f_r . (w_k x v_i + v_k x w_i)
//
// is never formed: contracted with forces it is a matrix of the same form, contracted with
// velocities it takes one pass along the two chains.
#include <stdio.h>
#include <string.h>

#include "base/kernel.h"
#include "dynamics/axis.h"
#include "model/chain.h"
#include "model/joint_kinds.h"
#include "spatial/vec3.h"
#include "partials/derivatives.h"

// ---- motion of the contact frame ---------------------------------------------------------------

// dt1 and dt2 from dn, by the rule that defines them: t1 is `wish` made orthogonal to n (eq. 33).
static void frame_motion(const tbReal frame[9], const tbReal wish[3], const tbReal dwish[3],
                         const tbReal dn[3], tbReal dframe[9]) {
  const tbReal *n = frame, *t1 = frame + 3;
  tbReal along = tb_dot3(wish, n), raw[3], term[3];
  tb_add_scaled3(raw, wish, -along, n);
  tbReal length = tb_norm3(raw);
  tb_copy3(dframe, dn);
  tb_add_scaled3(raw, dwish, -(tb_dot3(dwish, n) + tb_dot3(wish, dn)), n);
  tb_add_scaled3(raw, raw, -along, dn);
  tb_add_scaled3(raw, raw, -tb_dot3(raw, t1), t1);
  tb_scale3(dframe + 3, raw, 1 / length);
  tb_cross(dframe + 6, dn, t1);
  tb_cross(term, n, dframe + 3);
  tb_add3(dframe + 6, dframe + 6, term);
}

// Partials of the frame by every dof of the support. `spin` (nnz x 3): of body 1, NULL if it is the
// world.
static void frame_partials(const tbContact* c, const tbContactMotion* motion,
                           const tbMovingContact* out, const tbReal* spin, const tbActiveRows* a) {
  const tbReal* n = c->frame;
  tbReal wish[3] = {0, 1, 0};
  if (n[1] >= 0.5 || n[1] <= -0.5) tb_set3(wish, 0, 0, 1);
  if (motion->follows_axis) tb_copy3(wish, motion->axis);
  for (int k = 0; k < a->nnz; k++) {
    const tbReal* rel = out->relative + 6 * k;
    tbReal dn[3] = {0, 0, 0}, dwish[3] = {0, 0, 0}, spin2[3];
    if (spin) tb_cross(dn, spin + 3 * k, n);
    for (int r = 0; r < 3; r++) dn[r] += tb_dot6(motion->normal + 6 * r, rel);
    if (motion->follows_axis) {
      tb_copy3(spin2, rel);
      if (spin) tb_add3(spin2, spin2, spin + 3 * k);
      tb_cross(dwish, spin2, motion->axis);
    }
    frame_motion(c->frame, wish, dwish, dn, a->dframe + 9 * k);
  }
}

// Partials of position and distance by every dof; `motion1` (nnz x 6) of body 1, NULL if it is the
// world.
static void point_partials(const tbContactMotion* motion, const tbMovingContact* out,
                           const tbReal* motion1, const tbActiveRows* a) {
  for (int k = 0; k < a->nnz; k++) {
    const tbReal* rel = out->relative + 6 * k;
    tbReal* dpoint = a->dpoint + 3 * k;
    for (int r = 0; r < 3; r++) {
      dpoint[r] = tb_dot6(motion->pos + 6 * r, rel) + (motion1 ? motion1[6 * k + 3 + r] : 0);
    }
    a->dpos[k] = tb_dot6(motion->dist, rel);
  }
}

// For each dof of a body's chain: its index in the support, its motion of the contact, and the dofs
// of the chain whose axes it moves: those of later joints, and the axes of a joint that rotates its
// own axes.
static void fill_side(const tbModel* m, const tbData* d, const tbActiveRows* a, int body,
                      const tbReal point[3], tbMovingSide* s) {
  const int* chain;
  tbReal offset[3];
  s->n = tb_body_chain(m, body, &chain);
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  for (int k = 0, c = 0, start = 0; k < s->n; k++, c++) {
    int dof = chain[k], joint = m->dof_jntid[dof];
    while (a->col[c] != dof) c++;
    s->place[k] = c;
    if (k > 0 && m->dof_jntid[chain[k - 1]] != joint) start = k;
    s->first[k] = start + tb_joint_translations(m->jnt_type[joint]);
    tb_copy3(s->motion + 6 * k, d->cdof + 6 * dof);
    tb_motion_at(s->motion + 6 * k + 3, d->cdof + 6 * dof, offset);
  }
}

static tbMovingContact* moving_new(tbArena* arena, tbActiveRows* a) {
  size_t n = (size_t)a->nnz;
  tbMovingContact* out = TB_ARENA_NEW(arena, tbMovingContact, 1);
  int* places = tb_arena_alloc(arena, sizeof(int) * (4 * n + 1));
  // Relative motion, frame and point must start at zero; the chains and the scratch memory need
  // not.
  tbReal* zero = TB_ARENA_NEW(arena, tbReal, 18 * n + 1);
  tbReal* room = tb_arena_alloc(arena, sizeof(tbReal) * (12 * n + 7 * (n + 1)));
  if (!out || !places || !zero || !room) return NULL;
  out->relative = zero;
  a->dframe = zero + 6 * n;
  a->dpoint = zero + 15 * n;
  for (int s = 0; s < 2; s++) {
    out->side[s].sign = s ? 1 : -1;
    out->side[s].place = places + 2 * n * (size_t)s;
    out->side[s].first = places + 2 * n * (size_t)s + n;
    out->side[s].motion = room + 6 * n * (size_t)s;
  }
  out->room = room + 12 * n;
  a->moving = out;
  return out;
}

// 1 if the normal is constant under relative motions of the bodies.
static int keeps_normal(const tbContactMotion* motion) {
  for (int i = 0; i < 18; i++) {
    if (motion->normal[i] != 0) return 0;
  }
  return !motion->follows_axis;
}

tbResult tb_deriv_contact(tbDerivatives* x, tbData* d, const tbConstraint* c, tbActiveRows* a) {
  const tbModel* m = x->m;
  const tbContact* contact = &d->contact[c->id];
  tbContactMotion motion;
  tb_contact_motion(m, d, x->detector, contact, &motion);
  if (motion.lost) {
    x->info.differentiable = 0;
    if (!x->info.reason[0]) {
      snprintf(x->info.reason, sizeof x->info.reason, "geometry of contact %d", c->id);
    }
  }
  tbMovingContact* out = moving_new(&x->arena, a);
  if (!out) return TB_ERROR_MEMORY;
  out->frame = contact->frame;
  for (int s = 0; s < 2; s++) {
    tbMovingSide* side = &out->side[s];
    fill_side(m, d, a, m->geom_bodyid[contact->geom[s]], contact->pos, side);
    for (int k = 0; k < side->n; k++) {
      tbReal* to = out->relative + 6 * side->place[k];
      tb_add_scaled6(to, to, side->sign, side->motion + 6 * k);
    }
  }
  // The motion of body 1 on the whole support, in the scratch memory.
  const tbMovingSide* one = &out->side[0];
  size_t n = (size_t)a->nnz;
  tbReal *motion1 = NULL, *spin = NULL;
  if (one->n > 0) {
    motion1 = TB_ARENA_NEW(&x->arena, tbReal, 9 * n);
    if (!motion1) return TB_ERROR_MEMORY;
    spin = motion1 + 6 * n;
    for (int k = 0; k < one->n; k++) {
      tb_copy6(motion1 + 6 * one->place[k], one->motion + 6 * k);
      tb_copy3(spin + 3 * one->place[k], one->motion + 6 * k);
    }
  }
  point_partials(&motion, out, motion1, a);
  out->turns = one->n > 0 || !keeps_normal(&motion);
  if (out->turns) frame_partials(contact, &motion, out, spin, a);
  return TB_OK;
}

// ---- contraction with velocities ---------------------------------------------------------------

// The axis of row r, and whether the row is linear.
static const tbReal* axis_of(const tbReal* frame, int row, int* linear) {
  *linear = row < 3;
  return frame + 3 * (row < 3 ? row : row - 3);
}

// Derivative by q_k through the axes that dof k moves: f . (w_k x V_k + v_k x W_k), where (W_k,
// V_k) is their velocity.
static void carried_velocity(const tbActiveRows* a, const tbMovingSide* s, const tbReal* x,
                             tbReal scale, tbReal* out, int stride) {
  const tbMovingContact* moving = a->moving;
  tbReal* suffix = moving->room;
  tb_zero6(suffix + 6 * s->n);
  for (int i = s->n - 1; i >= 0; i--) {
    tb_add_scaled6(suffix + 6 * i, suffix + 6 * (i + 1), x[a->col[s->place[i]]], s->motion + 6 * i);
  }
  for (int k = 0; k < s->n; k++) {
    const tbReal *by = s->motion + 6 * k, *carried = suffix + 6 * s->first[k];
    tbReal turned[3], swung[3], term[3];
    tb_cross(turned, by, carried);
    tb_cross(swung, by, carried + 3);
    tb_cross(term, by + 3, carried);
    tb_add3(swung, swung, term);
    tbReal* to = out + a->col[s->place[k]];
    for (int r = 0; r < a->dim; r++) {
      int linear;
      const tbReal* f = axis_of(moving->frame, a->first + r, &linear);
      to[(size_t)r * (size_t)stride] += scale * s->sign * tb_dot3(f, linear ? swung : turned);
    }
  }
}

void tb_moving_velocity(const tbActiveRows* a, const tbReal* x, tbReal scale, tbReal* out,
                        int stride) {
  const tbMovingContact* moving = a->moving;
  for (int s = 0; s < 2; s++) carried_velocity(a, &moving->side[s], x, scale, out, stride);
  // The frame turns, and the contact point moves.
  tbReal total[6] = {0};
  for (int i = 0; i < a->nnz; i++) {
    tb_add_scaled6(total, total, x[a->col[i]], moving->relative + 6 * i);
  }
  for (int r = 0; r < a->dim; r++) {
    int linear;
    const tbReal* f = axis_of(moving->frame, a->first + r, &linear);
    tbReal *row = out + (size_t)r * (size_t)stride, swing[3];
    tb_cross(swing, f, total);
    for (int k = 0; linear && k < a->nnz; k++) {
      row[a->col[k]] += scale * tb_dot3(a->dpoint + 3 * k, swing);
    }
    const tbReal *seen = linear ? total + 3 : total, *turned = a->dframe + (f - moving->frame);
    for (int k = 0; moving->turns && k < a->nnz; k++) {
      row[a->col[k]] += scale * tb_dot3(turned + 9 * k, seen);
    }
  }
}

// ---- contraction with forces -------------------------------------------------------------------

// Two vectors per dof, stored by component, so that loops over dofs are contiguous.
typedef struct {
  tbReal* part[6];
} Lanes;

static Lanes lanes_at(tbReal* room, int n) {
  Lanes l;
  for (int p = 0; p < 6; p++) l.part[p] = room + (size_t)(p * n);
  return l;
}

static void set_lane(const Lanes* l, int k, const tbReal a[3], const tbReal b[3], tbReal sign) {
  for (int p = 0; p < 3; p++) {
    l->part[p][k] = sign * a[p];
    l->part[3 + p][k] = sign * b[p];
  }
}

// out[k] = a_k . v + b_k . w for k < n.
static void mul_lanes(const Lanes* l, const tbReal w[3], const tbReal v[3], int n,
                      tbReal* TB_RESTRICT out) {
  const tbReal *TB_RESTRICT ax = l->part[0], *TB_RESTRICT ay = l->part[1];
  const tbReal *TB_RESTRICT az = l->part[2], *TB_RESTRICT bx = l->part[3];
  const tbReal *TB_RESTRICT by = l->part[4], *TB_RESTRICT bz = l->part[5];
  for (int k = 0; k < n; k++) {
    out[k] = (v[0] * ax[k] + v[1] * ay[k]) + (v[2] * az[k] + w[0] * bx[k]) +
             (w[1] * by[k] + w[2] * bz[k]);
  }
}

// Force L and moment Q of the contact, or their derivatives by the frame.
static void wrench_of(const tbActiveRows* a, const tbReal* frame, tbReal L[3], tbReal Q[3]) {
  tb_zero3(L);
  tb_zero3(Q);
  for (int r = 0; r < a->dim; r++) {
    int linear;
    const tbReal* f = axis_of(frame, a->first + r, &linear);
    tb_add_scaled3(linear ? L : Q, linear ? L : Q, a->force[r], f);
  }
}

// L . (w_k x v_i + v_k x w_i) + Q . (w_k x w_i) = v_i . (L x w_k) + w_i . (L x v_k + Q x w_k).
static void carried_force(const tbActiveRows* a, const tbMovingSide* s, const tbReal L[3],
                          const tbReal Q[3], tbPartials* out) {
  Lanes lanes = lanes_at(a->moving->room, s->n);
  tbReal* row = a->moving->room + 6 * s->n;
  for (int k = 0; k < s->n; k++) {
    const tbReal* by = s->motion + 6 * k;
    tbReal turned[3], swung[3], term[3];
    tb_cross(turned, L, by);
    tb_cross(swung, L, by + 3);
    tb_cross(term, Q, by);
    tb_add3(swung, swung, term);
    set_lane(&lanes, k, turned, swung, s->sign);
  }
  for (int i = 0, n = 0; i < s->n; i++) {
    // The dofs that move i are the first n.
    while (n < s->n && s->first[n] <= i) n++;
    mul_lanes(&lanes, s->motion + 6 * i, s->motion + 6 * i + 3, n, row);
    tbReal* to = tb_partial(out, a->col[s->place[i]], 0);
    for (int k = 0; k < n; k++) to[a->col[s->place[k]]] += row[k];
  }
}

void tb_moving_force(const tbActiveRows* a, tbPartials* out) {
  const tbMovingContact* moving = a->moving;
  tbReal L[3], Q[3], dL[3], dQ[3], swing[3];
  wrench_of(a, moving->frame, L, Q);
  for (int s = 0; s < 2; s++) carried_force(a, &moving->side[s], L, Q, out);
  // dL . v_i + L . (w_i x dpos) + dQ . w_i
  Lanes lanes = lanes_at(moving->room, a->nnz);
  tbReal* row = moving->room + 6 * a->nnz;
  for (int k = 0; k < a->nnz; k++) {
    wrench_of(a, a->dframe + 9 * k, dL, dQ);
    tb_cross(swing, a->dpoint + 3 * k, L);
    tb_add3(swing, swing, dQ);
    set_lane(&lanes, k, dL, swing, 1);
  }
  for (int i = 0; i < a->nnz; i++) {
    const tbReal* rel = moving->relative + 6 * i;
    mul_lanes(&lanes, rel, rel + 3, a->nnz, row);
    tbReal* to = tb_partial(out, a->col[i], 0);
    for (int k = 0; k < a->nnz; k++) to[a->col[k]] += row[k];
  }
}
