// Anchors within a step (docs/notebook/derivatives.md, eq. 74): the derivative of the stretch at a
// later state by the state at the start.
#include "laws/viscoelastic/anchors_linearize.h"

#include <string.h>

#include "model/chain.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "spatial/quat.h"
#include "spatial/so3.h"
#include "laws/viscoelastic/springs_linearize.h"
#include "laws/viscoelastic/viscoelastic.h"

tbResult tb_start_springs(tbDerivatives* x, tbData* d, tbStepState* state, tbReal near,
                          tbStartAnchors* anchors) {
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  anchors->start = TB_ARENA_NEW(&x->arena, tbStartSpring, own->springs.count + 1);
  if (!anchors->start) return TB_ERROR_MEMORY;
  for (int i = 0; i < own->springs.count; i++) {
    const tbSpring* spring = &own->springs.list[i];
    const tbConstraint* c = &state->constraints.list[spring->constraint];
    if (c->source == TB_SOURCE_EQUALITY || c->nnz == 0) continue;
    tbActiveRows* a = tb_deriv_activate(x, c);
    size_t rows = (size_t)c->dim * 2 * (size_t)x->nv + 1;
    tbReal* room = TB_ARENA_NEW(&x->arena, tbReal, 4 * rows);
    tbResult result = a && room ? tb_deriv_rows(x, d, c, a) : TB_ERROR_MEMORY;
    if (result != TB_OK) return result;
    tbSpringChange change = {room, room + rows, room + 2 * rows, room + 3 * rows, 2 * x->nv, -1};
    result = tb_spring_changes(x, d, state, c, spring, a, near, &change);
    if (result != TB_OK) return result;
    anchors->start[anchors->count++] = (tbStartSpring){c, spring, a, room};
  }
  return TB_OK;
}

// ---- anchors ------------------------------------------------------------------------------------

// A world vector that is fixed to a body, moved from the start to the end: R_end R_start^T v.
static void carried(const tbStartAnchors* y, int body, const tbReal v[3], tbReal out[3]) {
  tbReal local[3];
  tb_mul_mat3t_vec3(local, y->d->xmat + 9 * body, v);
  tb_mul_mat3_vec3(out, y->probe->xmat + 9 * body, local);
}

static int moves_body(const tbModel* m, int body, int k) {
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs), moves = 0;
  for (int t = 0; t < n; t++) moves |= dofs[t] == k;
  return moves;
}

// World vector of the stretch (first rows) or the twist (angular rows) stored in the anchor.
static void kept_vector(const tbStartSpring* s, const tbReal* frame, int angular,
                        const tbReal* rows, size_t stride, tbReal out[3]) {
  tb_set3(out, 0, 0, 0);
  for (int r = angular ? 3 : 1; r < (angular ? s->c->dim : 3) && r < s->c->dim; r++) {
    tb_add_scaled3(out, out, rows[(size_t)r * stride], frame + 3 * (angular ? r - 3 : r));
  }
}

// Derivative by column `k` of the start (q, then v) of the anchor's contribution to the stretch at
// the end, as world vectors at the end: linear and angular.
static void contact_column(const tbStartAnchors* y, const tbStartSpring* s, int k, tbReal apart[3],
                           tbReal turn[3]) {
  const tbModel* m = y->x->m;
  int nv = y->x->nv, dof = k < nv ? k : -1, place = -1;
  const tbContact* contact = &y->d->contact[s->c->id];
  int body[2] = {m->geom_bodyid[contact->geom[0]], m->geom_bodyid[contact->geom[1]]};
  tbReal spin[2][3] = {{0}, {0}}, kept[2][3], change[2][3], term[3], sum[3];
  for (int q = 0; q < s->a->nnz; q++) {
    if (s->a->col[q] == dof) place = q;
  }
  tb_set3(apart, 0, 0, 0);
  tb_set3(turn, 0, 0, 0);
  // The contact point in the frames of both bodies.
  for (int i = 0; place >= 0 && i < 2; i++) {
    tbReal anchor_slip[3], v[3], offset[3];
    tb_copy3(anchor_slip, s->a->dpoint + 3 * place);
    if (moves_body(m, body[i], dof)) {
      tb_sub3(offset, contact->pos, y->d->subtree_com + 3 * m->body_rootid[body[i]]);
      tb_motion_at(v, y->d->cdof + 6 * dof, offset);
      tb_sub3(anchor_slip, anchor_slip, v);
      tb_copy3(spin[i], y->d->cdof + 6 * dof);
    }
    carried(y, body[i], anchor_slip, term);
    tb_add_scaled3(apart, apart, i ? 1 : -1, term);
  }
  // The stored stretch and twist, in the frame of body 1.
  for (int angular = 0; angular < 2; angular++) {
    kept_vector(s, contact->frame, angular, s->spring->stretch, 1, kept[angular]);
    kept_vector(s, contact->frame, angular, s->stretch + k, 2 * (size_t)nv, change[angular]);
    if (place >= 0) {
      kept_vector(s, s->a->dframe + 9 * place, angular, s->spring->stretch, 1, term);
      tb_add3(change[angular], change[angular], term);
      tb_cross(term, spin[0], kept[angular]);
      tb_sub3(change[angular], change[angular], term);
    }
    carried(y, body[0], change[angular], term);
    tb_add3(angular ? turn : apart, angular ? turn : apart, term);
  }
  if (s->c->dim <= 3 || place < 0) return;
  // The reference orientation: log(now before^-1) changes by -Jr^-1 R1^T w.
  const tbReal* R1 = y->d->xmat + 9 * body[0];
  tbReal inverse[4], now[4], before[4], turned[4], log[3], J[9], w[3];
  tb_quat_conjugate(inverse, y->probe->xquat + 4 * body[0]);
  tb_quat_mul(now, inverse, y->probe->xquat + 4 * body[1]);
  tb_quat_conjugate(inverse, y->d->xquat + 4 * body[0]);
  tb_quat_mul(before, inverse, y->d->xquat + 4 * body[1]);
  tb_quat_conjugate(inverse, before);
  tb_quat_mul(turned, now, inverse);
  tb_quat_log(log, turned);
  tb_so3_right_jacobian_inverse(J, log);
  tb_sub3(sum, spin[1], spin[0]);
  tb_mul_mat3t_vec3(w, R1, sum);
  tb_mul_mat3_vec3(sum, J, w);
  tb_mul_mat3_vec3(term, y->probe->xmat + 9 * body[0], sum);
  tb_sub3(turn, turn, term);
}

// out (dim x 2 nv): the anchor's contribution to the stretch at the end.
static void anchor_partials(const tbStartAnchors* y, const tbStartSpring* s, const tbConstraint* c,
                            tbReal* out) {
  size_t w = 2 * (size_t)y->x->nv;
  const tbModel* m = y->x->m;
  memset(out, 0, sizeof(tbReal) * w * (size_t)c->dim);
  if (c->source < TB_SOURCE_LIMIT_JOINT) {
    // Dry friction: stretch + y_end - y_start, where the dof has a coordinate.
    int measured =
        c->source != TB_SOURCE_FRICTION_DOF || tb_joint_is_scalar(m->jnt_type[m->dof_jntid[c->id]]);
    if (!measured) return;
    memcpy(out, s->stretch, sizeof(tbReal) * w);
    for (int q = 0; q < s->a->nnz; q++) out[s->a->col[q]] -= s->a->J[q];
    return;
  }
  // The depth of a contact or limit first detected at the start is carried along.
  const tbStepState* state = y->d->work->step;
  tbReal depth = tb_next_depth(m, s->c, tb_first_depth(m, s->c));
  if (depth < 0 && !tb_anchors_get(&tb_viscoelastic_state(state)->anchors, c->key)) {
    for (int q = 0; q < s->a->nnz; q++) out[s->a->col[q]] -= s->a->dpos[q];
  }
  if (c->source != TB_SOURCE_CONTACT) return;
  const tbReal* frame = y->probe->contact[c->id].frame;
  for (size_t k = 0; k < w; k++) {
    tbReal apart[3], turn[3];
    contact_column(y, s, (int)k, apart, turn);
    for (int r = 1; r < c->dim; r++) {
      out[(size_t)r * w + k] =
          r < 3 ? tb_dot3(frame + 3 * r, apart) : tb_dot3(frame + 3 * (r - 3), turn);
    }
  }
}

tbResult tb_add_anchors(const tbStartAnchors* y, const tbStepState* state, tbReal* acc,
                        size_t width) {
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  tbDerivatives* end = y->end;
  size_t nv = (size_t)end->nv, w = 2 * nv;
  tbReal* stretch = TB_ARENA_NEW(&y->x->arena, tbReal, TB_MAX_DIM * w + 1);
  if (!stretch) return TB_ERROR_MEMORY;
  for (int b = 0, i = 0; b < end->nactive; b++) {
    const tbActiveRows* a = &end->active[b];
    // Active constraints are in the order of the springs.
    const tbSpring* spring;
    const tbConstraint* c;
    do {
      spring = &own->springs.list[i++];
      c = &state->constraints.list[spring->constraint];
    } while (c->source != a->source || c->id != a->id);
    const tbStartSpring* from = NULL;
    for (int s = 0; s < y->count && !from; s++) {
      if (y->start[s].c->key == c->key) from = &y->start[s];
    }
    tbReal L[TB_MAX_DIM * TB_MAX_DIM], by_friction[TB_MAX_DIM];
    if (!from || !tb_limit_slope(end->m, y->probe, c, spring->raw, L, by_friction)) continue;
    anchor_partials(y, from, c, stretch);
    for (int r = 0; r < c->dim; r++) {
      const tbReal* response = end->law.Y + (size_t)(a->row + r) * nv;
      for (int q = 0; q < c->dim; q++) {
        tbReal by = -L[r * c->dim + q] * spring->K[q];
        if (by == 0) continue;
        for (size_t dof = 0; dof < nv; dof++) {
          tbReal s = by * response[dof];
          for (size_t k = 0; k < w; k++) acc[dof * width + k] += s * stretch[(size_t)q * w + k];
        }
      }
    }
  }
  return TB_OK;
}
