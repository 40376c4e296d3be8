#include "forces/geometric_stiffness.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/minmax.h"
#include "dynamics/equality/equality.h"
#include "dynamics/pivot.h"
#include "dynamics/tendon_path.h"
#include "model/floating.h"
#include "model/transmission_kinds.h"
#include "model/workspace.h"
#include "spatial/eig3.h"
#include "spatial/vec3.h"
#include "forces/forces.h"
#include "tribo/dynamics.h"

// Forces of equalities are kept if they are above this fraction of the force that a step resolves.
static const tbReal KEPT_SHARE = 0.1;

// A loop within one tree counts as a belt if it has at least this many dofs: its links vibrate like
// those of a rope if its tension exceeds TB_MOST_WEIGHTS times its tree's weight. A linkage of few
// joints may have internal forces of any size, which move none of its links.
static const int LEAST_OF_BELT = 12;

// Whether a force at a point of a body is above a fraction of the force that a step resolves, for
// the body or any of its ancestors.
bool tb_load_is_unresolved(const tbModel* m, const tbData* d, int body, tbReal force,
                           const tbReal* point) {
  tbReal h = m->opt.timestep;
  for (; body > 0; body = m->body_parentid[body]) {
    if (!tb_turns(m, body)) continue;
    tbReal arm[3], yields = 0;
    tb_sub3(arm, point, tb_pivot(m, d, body));
    for (int k = 0; k < 3; k++) yields = tb_max(yields, tb_yields(m, body, k));
    if (h * h * force * tb_norm3(arm) * yields > KEPT_SHARE) return true;
    point = tb_pivot(m, d, body);
  }
  return false;
}

// The nearest common ancestor of two bodies, or one of them; the world if their trees differ.
static int common_ancestor(const tbModel* m, int a, int b) {
  while (a != b) {
    if (a > b) {
      a = m->body_parentid[a];
    } else {
      b = m->body_parentid[b];
    }
  }
  return a;
}

// Whether contacts is_pressed two bodies against each other.
static bool is_pressed(const tbModel* m, const tbData* d, int a, int b) {
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    int first = m->geom_bodyid[c->geom[0]], second = m->geom_bodyid[c->geom[1]];
    bool both = (first == a && second == b) || (first == b && second == a);
    if (both && c->force[0] != 0) return true;
  }
  return false;
}

// Whether two bodies of one tree coupled by `force` close a belt under tension.
bool tb_belt_is_tight(const tbModel* m, const tbData* d, int a, int b, tbReal force) {
  int top = common_ancestor(m, a, b), dofs = 0;
  tbReal mass = m->body_subtreemass[m->body_rootid[a]];
  if (!(force > TB_MOST_WEIGHTS * mass * tb_norm3(m->opt.gravity)) || is_pressed(m, d, a, b))
    return false;
  for (; a != top; a = m->body_parentid[a]) dofs += m->body_dofnum[a];
  for (; b != top; b = m->body_parentid[b]) dofs += m->body_dofnum[b];
  return dofs >= LEAST_OF_BELT;
}

// ---- inertia -----------------------------------------------------------------------------------

static bool has_force(const tbReal* xfrc) {
  return xfrc[0] != 0 || xfrc[1] != 0 || xfrc[2] != 0;
}

static bool may_need_stiffness(const tbModel* m, const tbData* d) {
  tbReal h = m->opt.timestep;
  if (h * h * tb_norm3(m->opt.gravity) * m->load_to_inertia > 1) return true;
  if (!tb_all_clear(6 * m->neq, d->eq_load) || !tb_all_clear(m->ntendon, d->ten_load)) return true;
  if (tb_all_clear(6 * m->nbody, d->xfrc_applied)) return false;
  for (int b = 1; b < m->nbody; b++) {
    const tbReal* xfrc = d->xfrc_applied + 6 * b;
    if (has_force(xfrc) && tb_load_is_unresolved(m, d, b, tb_norm3(xfrc), d->xipos + 3 * b))
      return true;
  }
  return false;
}

// Geometric stiffness of a force at a point of a body, from its component along the arm, positive
// for tension: a transverse force makes nothing stiffer.
static void add_load(const tbModel* m, const tbData* d, int body, const tbReal force[3],
                     const tbReal* point, tbReal* A) {
  while (body > 0 && !tb_turns(m, body)) body = m->body_parentid[body];
  if (body == 0) return;
  tbReal arm[3];
  tb_sub3(arm, point, tb_pivot(m, d, body));
  tb_normalize3(arm);
  tb_bear(m, d, body, tb_dot3(force, arm), point, A);
}

// The same for the forces of a tendon at points of bodies, which are also added to `pull` (3 per
// body).
static void add_tendon_load(const tbModel* m, const tbData* d, int tendon, tbReal* pull,
                            tbReal* A) {
  for (tbTendonWalk walk = tb_tendon_walk(m, tendon); tb_tendon_piece(m, d, &walk);) {
    const tbTendonPoint* end[2] = {walk.from, walk.to};
    for (int k = 0; k < 2; k++) {
      tbReal force[3];
      tb_scale3(force, walk.pull, k ? d->ten_load[tendon] : -d->ten_load[tendon]);
      add_load(m, d, end[k]->body, force, end[k]->pos, A);
      tb_add3(pull + 3 * end[k]->body, pull + 3 * end[k]->body, force);
    }
  }
}

// Applied forces, accumulated towards the roots. Opposite pulls on a body, as of a tendon that runs
// along several bodies, cancel first; the sum is added only if it is a tension. `work` is 12 per
// body.
static void add_applied_loads(const tbModel* m, const tbData* d, tbReal* work, tbReal* A) {
  tbReal *pull = work, *own = work + 3 * m->nbody;
  for (int t = 0; t < m->ntendon; t++) {
    if (d->ten_load[t] != 0) add_tendon_load(m, d, t, pull, own);
  }
  for (int b = m->nbody - 1; b > 0; b--) {
    int parent = m->body_parentid[b];
    const tbReal* xfrc = d->xfrc_applied + 6 * b;
    if (has_force(xfrc)) add_load(m, d, b, xfrc, d->xipos + 3 * b, own);
    tb_add3(pull + 3 * b, pull + 3 * b, xfrc);
    tb_add3(pull + 3 * parent, pull + 3 * parent, pull + 3 * b);
    if (tb_turns(m, b)) add_load(m, d, parent, pull + 3 * b, tb_pivot(m, d, b), own);
    const tbReal* S = own + 9 * b;
    for (int i = 0; i < 9 && S[0] + S[4] + S[8] > 0; i++) A[9 * b + i] += S[i];
  }
}

static void add_equality_loads(const tbModel* m, const tbData* d, tbReal* loads, tbReal* A) {
  for (int e = 0; e < m->neq; e++) {
    const tbReal* pull = d->eq_load + 6 * e;
    tbReal point[2][3], quat[2][4], force[2] = {tb_norm3(pull), tb_norm3(pull + 3)};
    int body[2];
    if (force[0] == 0 && force[1] == 0) continue;
    tb_equality_points(m, d, e, body, point, quat);
    for (int k = 0; k < 2; k++) {
      tb_bear(m, d, body[k], force[k], point[k], A);
      loads[body[k]] += force[k];
    }
    // The tension of a belt in its links ends at the common ancestor, where both sides of the loop
    // meet.
    loads[common_ancestor(m, body[0], body[1])] -= force[0] + force[1];
  }
}

// L = (h^2 A - I)^+ in world axes; false if it is zero.
static bool stiffness_excess(const tbModel* m, const tbData* d, int body, const tbReal A[9],
                             tbReal L[9]) {
  const tbReal *X = d->ximat + 9 * body, h2 = m->opt.timestep * m->opt.timestep;
  tbReal AX[9], D[9], yields[3], value[3], quat[4], R[9], axes[9], share = 0;
  tb_mul_mat3(AX, A, X);
  tb_mul_mat3t_mat3(D, X, AX);
  for (int k = 0; k < 3; k++) {
    yields[k] = tb_yields(m, body, k);
    share += h2 * D[4 * k] * yields[k];
  }
  if (!(share > 1)) return false;
  for (int i = 0; i < 9; i++) D[i] = h2 * D[i] - (i % 4 == 0 ? 1 / yields[i / 4] : 0);
  tb_eig3(value, quat, D);
  tb_quat_to_mat(R, quat);
  tb_mul_mat3(axes, X, R);
  memset(L, 0, 9 * sizeof(tbReal));
  for (int e = 0; e < 3; e++) {
    for (int i = 0; i < 9 && value[e] > 0; i++) {
      L[i] += value[e] * axes[i - i % 3 + e] * axes[3 * (i % 3) + e];
    }
  }
  return value[0] > 0;
}

tbResult tb_geometric_stiffness_add(const tbModel* m, tbData* d) {
  if (!may_need_stiffness(m, d)) return TB_OK;
  tbReal* loads = TB_ARENA_NEW(&d->work->arena, tbReal, 22 * (size_t)m->nbody);
  if (!loads) return TB_ERROR_MEMORY;
  tbReal *A = loads + m->nbody, *work = A + 9 * m->nbody;
  bool any = false;
  add_equality_loads(m, d, loads, A);
  add_applied_loads(m, d, work, A);
  tb_bear_weights(m, d, tb_norm3(m->opt.gravity), loads, A);
  for (int b = 1; b < m->nbody; b++) {
    tbReal L[9], *inertia = d->cinert + 10 * b;
    if (!stiffness_excess(m, d, b, A + 9 * b, L)) continue;
    // xx, yy, zz, xy, xz, yz
    tb_add3(inertia, inertia, (tbReal[3]){L[0], L[4], L[8]});
    tb_add3(inertia + 3, inertia + 3, (tbReal[3]){L[1], L[2], L[5]});
    any = true;
  }
  if (any) tb_crb(m, d);
  return TB_OK;
}
