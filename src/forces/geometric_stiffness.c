#include "forces/geometric_stiffness.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/minmax.h"
#include "dynamics/pivot.h"
#include "dynamics/tendon_path.h"
#include "model/workspace.h"
#include "spatial/eig3.h"
#include "spatial/vec3.h"
#include "forces/forces.h"
#include "tribo/dynamics.h"

// Forces of equalities are kept from this share of what a step resolves on.
static const tbReal MATTERS = 0.1;
// Loops that are closed twice over may press on their links with any force at all, so what
// equalities pull at joints counts up to this many times the weight of everything.
static const tbReal MOST_WEIGHTS = 4;

// A loop within one tree is a belt from this many dofs on: its links shake as those of a rope do
// where what it lies around stretches it by more than so many times its tree's weight. A linkage of
// few joints may press on itself by any force at all, which moves none of them.
static const int LEAST_OF_BELT = 12;

static bool is_jointed(const tbModel* m, int body) {
  int tree = m->body_treeid[body], joint = m->dof_jntid[m->tree_dofadr[tree]];
  return m->tree_dofnum[tree] != 6 || m->jnt_type[joint] != TB_JOINT_FREE;
}

// Whether a force at a point of a body is more than a share of what a step resolves, for the body
// or any that it hangs from.
static bool matters(const tbModel* m, const tbData* d, int body, tbReal force,
                    const tbReal* point) {
  tbReal h = m->opt.timestep;
  for (; body > 0; body = m->body_parentid[body]) {
    if (!tb_turns(m, body)) continue;
    tbReal arm[3], yields = 0;
    tb_sub3(arm, point, tb_pivot(m, d, body));
    for (int k = 0; k < 3; k++) yields = tb_max(yields, tb_yields(m, body, k));
    if (h * h * force * tb_norm3(arm) * yields > MATTERS) return true;
    point = tb_pivot(m, d, body);
  }
  return false;
}

// The body nearest to two that both hang from, or are; the world where their trees differ.
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

// Whether contacts press two bodies against each other.
static bool press(const tbModel* m, const tbData* d, int a, int b) {
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    int first = m->geom_bodyid[c->geom[0]], second = m->geom_bodyid[c->geom[1]];
    bool both = (first == a && second == b) || (first == b && second == a);
    if (both && c->force[0] != 0) return true;
  }
  return false;
}

// Whether bodies of one tree that `force` ties to each other close a belt that is stretched.
static bool is_tight_belt(const tbModel* m, const tbData* d, int a, int b, tbReal force) {
  int top = common_ancestor(m, a, b), dofs = 0;
  tbReal mass = m->body_subtreemass[m->body_rootid[a]];
  if (!(force > MOST_WEIGHTS * mass * tb_norm3(m->opt.gravity)) || press(m, d, a, b)) return false;
  for (; a != top; a = m->body_parentid[a]) dofs += m->body_dofnum[a];
  for (; b != top; b = m->body_parentid[b]) dofs += m->body_dofnum[b];
  return dofs >= LEAST_OF_BELT;
}

// ---- inertia -----------------------------------------------------------------------------------

static bool is_pushed(const tbReal* xfrc) {
  return xfrc[0] != 0 || xfrc[1] != 0 || xfrc[2] != 0;
}

static bool may_lack(const tbModel* m, const tbData* d) {
  tbReal h = m->opt.timestep;
  if (h * h * tb_norm3(m->opt.gravity) * m->tautness > 1) return true;
  if (!tb_all_clear(6 * m->neq, d->eq_load) || !tb_all_clear(m->ntendon, d->ten_load)) return true;
  if (tb_all_clear(6 * m->nbody, d->xfrc_applied)) return false;
  for (int b = 1; b < m->nbody; b++) {
    const tbReal* xfrc = d->xfrc_applied + 6 * b;
    if (is_pushed(xfrc) && matters(m, d, b, tb_norm3(xfrc), d->xipos + 3 * b)) return true;
  }
  return false;
}

// A force at a point of a body, by what it pulls along the arm there, or pushes (less than
// nothing): a force from the side makes nothing stiffer.
static void bear_pull(const tbModel* m, const tbData* d, int body, const tbReal force[3],
                      const tbReal* point, tbReal* A) {
  while (body > 0 && !tb_turns(m, body)) body = m->body_parentid[body];
  if (body == 0) return;
  tbReal arm[3];
  tb_sub3(arm, point, tb_pivot(m, d, body));
  tb_normalize3(arm);
  tb_bear(m, d, body, tb_dot3(force, arm), point, A);
}

// Forces at points of bodies, of a tendon or by hand: `pull` (3 per body) has them too.
static void bear_tendon(const tbModel* m, const tbData* d, int tendon, tbReal* pull, tbReal* A) {
  for (tbTendonWalk walk = tb_tendon_walk(m, tendon); tb_tendon_piece(m, d, &walk);) {
    const tbTendonPoint* end[2] = {walk.from, walk.to};
    for (int k = 0; k < 2; k++) {
      tbReal force[3];
      tb_scale3(force, walk.pull, k ? d->ten_load[tendon] : -d->ten_load[tendon]);
      bear_pull(m, d, end[k]->body, force, end[k]->pos, A);
      tb_add3(pull + 3 * end[k]->body, pull + 3 * end[k]->body, force);
    }
  }
}

// Forces on bodies, down to the roots. What pulls a body both ways, as a tendon that runs along
// many, cancels: only then is it added, where it pulls. `work` is 12 per body.
static void bear_applied(const tbModel* m, const tbData* d, tbReal* work, tbReal* A) {
  tbReal *pull = work, *own = work + 3 * m->nbody;
  for (int t = 0; t < m->ntendon; t++) {
    if (d->ten_load[t] != 0) bear_tendon(m, d, t, pull, own);
  }
  for (int b = m->nbody - 1; b > 0; b--) {
    int parent = m->body_parentid[b];
    const tbReal* xfrc = d->xfrc_applied + 6 * b;
    if (is_pushed(xfrc)) bear_pull(m, d, b, xfrc, d->xipos + 3 * b, own);
    tb_add3(pull + 3 * b, pull + 3 * b, xfrc);
    tb_add3(pull + 3 * parent, pull + 3 * parent, pull + 3 * b);
    if (tb_turns(m, b)) bear_pull(m, d, parent, pull + 3 * b, tb_pivot(m, d, b), own);
    const tbReal* S = own + 9 * b;
    for (int i = 0; i < 9 && S[0] + S[4] + S[8] > 0; i++) A[9 * b + i] += S[i];
  }
}

static void bear_ties(const tbModel* m, const tbData* d, tbReal* loads, tbReal* A) {
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
    // What a belt pulls at its links ends where both ways round meet.
    loads[common_ancestor(m, body[0], body[1])] -= force[0] + force[1];
  }
}

// L = (h^2 A - I)^+ in world axes; false where nothing is left.
static bool lacks(const tbModel* m, const tbData* d, int body, const tbReal A[9], tbReal L[9]) {
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
  if (!may_lack(m, d)) return TB_OK;
  tbReal* loads = TB_ARENA_NEW(&d->work->arena, tbReal, 22 * (size_t)m->nbody);
  if (!loads) return TB_ERROR_MEMORY;
  tbReal *A = loads + m->nbody, *work = A + 9 * m->nbody;
  bool any = false;
  bear_ties(m, d, loads, A);
  bear_applied(m, d, work, A);
  tb_bear_weights(m, d, tb_norm3(m->opt.gravity), loads, A);
  for (int b = 1; b < m->nbody; b++) {
    tbReal L[9], *inertia = d->cinert + 10 * b;
    if (!lacks(m, d, b, A + 9 * b, L)) continue;
    // xx, yy, zz, xy, xz, yz
    tb_add3(inertia, inertia, (tbReal[3]){L[0], L[4], L[8]});
    tb_add3(inertia + 3, inertia + 3, (tbReal[3]){L[1], L[2], L[5]});
    any = true;
  }
  if (any) tb_crb(m, d);
  return TB_OK;
}

// ---- what equalities and tendons pull ----------------------------------------------------------

// Forces of loops that are closed twice over count so far.
static tbReal most_pull(const tbModel* m) {
  return MOST_WEIGHTS * m->total_mass * tb_norm3(m->opt.gravity);
}

static tbResult keep_ties(const tbModel* m, tbData* d, const tbStepState* state) {
  memset(d->eq_load, 0, sizeof(tbReal) * 6 * (size_t)m->neq);
  char* lies = TB_ARENA_NEW(&d->work->arena, char, m->nbody);
  if (!lies) return TB_ERROR_MEMORY;
  for (int i = 0; i < d->ncon; i++) {
    if (d->contact[i].force[0] == 0) continue;
    for (int k = 0; k < 2; k++) lies[m->geom_bodyid[d->contact[i].geom[k]]] = 1;
  }
  for (int i = 0; i < state->constraints.count; i++) {
    const tbConstraint* c = &state->constraints.list[i];
    if (c->source != TB_SOURCE_EQUALITY || c->dim < 3) continue;
    tbReal point[2][3], quat[2][4], force = tb_norm3(state->row_force + c->row);
    int body[2];
    tb_equality_points(m, d, c->id, body, point, quat);
    bool loop = m->body_treeid[body[0]] == m->body_treeid[body[1]];
    if (loop && !is_tight_belt(m, d, body[0], body[1], force)) continue;
    for (int k = 0; k < 2; k++) {
      if ((lies[body[k]] && !loop) || !matters(m, d, body[k], force, point[k])) continue;
      tbReal most = is_jointed(m, body[k]) && !loop ? most_pull(m) : INFINITY;
      tb_scale3(d->eq_load + 6 * c->id + 3 * k, state->row_force + c->row,
                (k ? -1 : 1) * tb_min(1, most / force));
    }
  }
  return TB_OK;
}

static bool tendon_matters(const tbModel* m, const tbData* d, int tendon, tbReal force) {
  for (tbTendonWalk walk = tb_tendon_walk(m, tendon); tb_tendon_piece(m, d, &walk);) {
    tbReal size = fabs(force) * tb_norm3(walk.pull);
    if (matters(m, d, walk.from->body, size, walk.from->pos)) return true;
    if (matters(m, d, walk.to->body, size, walk.to->pos)) return true;
  }
  return false;
}

// Limits, springs, dampers and actuators of tendons.
static void keep_tendons(const tbModel* m, tbData* d, const tbStepState* state) {
  tbReal *pull = d->ten_load, most = most_pull(m);
  memset(pull, 0, sizeof(tbReal) * (size_t)m->ntendon);
  for (int i = 0; i < state->constraints.count; i++) {
    const tbConstraint* c = &state->constraints.list[i];
    if (c->source != TB_SOURCE_LIMIT_TENDON) continue;
    // the row of an upper limit has the other sign (tb_plain_key)
    pull[c->id] += (c->key & 1 ? -1 : 1) * tb_min(state->row_force[c->row], most);
  }
  for (int t = 0; t < m->ntendon; t++) pull[t] += tb_tendon_passive(m, d, t);
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_trntype[i] != TB_TRN_TENDON) continue;
    pull[m->actuator_trnid[2 * i]] += m->actuator_gear[6 * i] * d->actuator_force[i];
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (pull[t] == 0 || !tendon_matters(m, d, t, pull[t])) pull[t] = 0;
  }
}

tbResult tb_carried_load_keep(const tbModel* m, tbData* d, const tbStepState* state) {
  if (m->ntendon > 0) keep_tendons(m, d, state);
  return m->neq > 0 ? keep_ties(m, d, state) : TB_OK;
}
