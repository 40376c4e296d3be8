// The gyroscopic couple of a body that flies free by the midpoint rule. In axes that turn with the
// body its angular velocity w and inertia I have I dw/dt = -w x I w. Taken at the start of a step
// the couple adds h^2/2 |I^-1/2 (w x I w)|^2 to the energy; at the mean of both ends,
//
//     I (w' - w) = -h m x I m,   m = (w + w') / 2,                                            (1)
//
// it keeps w . I w and |I w|, both quadratic in w, whatever the step. The frame then moves by the
// new velocity, so that it is half a step ahead, always: angular momentum turns to and fro by
// h w / 2 and nowhere. Other forces and contacts act beside it. With
//
//     B x = m x I x + x x I m,   A = I + h/2 B                                                (2)
//
// Newton's matrix is A, and the partials are
//
//     A dw' = (I - h/2 B) dw - dI (w' - w) - h m x dI m,
//     d(m x I m) = B (dw + dw') / 2 + m x dI m.                                               (3)
#include "step/free_turn.h"

#include <math.h>
#include <string.h>

#include "dynamics/regressor.h"
#include "linalg/small.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "tribo/step.h"

// rad: turns in a step below this change nothing that counts.
static const tbReal LEAST_TURN = 1e-6;

enum { MOST_ROUNDS = 10 };

// B of (2).
static void couple_slope(const tbFreeTurn* turn, tbReal* B) {
  tbReal momentum[3];
  tb_mul_mat3_vec3(momentum, turn->inertia, turn->middle);
  for (int k = 0; k < 3; k++) {
    const tbReal *I = turn->inertia, column[3] = {I[k], I[3 + k], I[6 + k]};
    const tbReal axis[3] = {k == 0, k == 1, k == 2};
    tbReal one[3], two[3];
    tb_cross(one, turn->middle, column);
    tb_cross(two, axis, momentum);
    for (int i = 0; i < 3; i++) B[3 * i + k] = one[i] + two[i];
  }
}

// v x I v
static void couple_of(const tbFreeTurn* turn, const tbReal v[3], tbReal couple[3]) {
  tbReal momentum[3];
  tb_mul_mat3_vec3(momentum, turn->inertia, v);
  tb_cross(couple, v, momentum);
}

// w' of (1) by Newton's method. False where it does not get there: of turns of radians in a step.
static bool find_next(tbFreeTurn* turn) {
  const tbReal rounding = 4e-16;
  tbReal last = INFINITY;
  tb_copy3(turn->next, turn->omega);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    tbReal A[9], change[3], moved[3], couple[3];
    for (int i = 0; i < 3; i++) turn->middle[i] = (turn->omega[i] + turn->next[i]) / 2;
    couple_of(turn, turn->middle, couple);
    tb_sub3(moved, turn->omega, turn->next);
    tb_mul_mat3_vec3(change, turn->inertia, moved);
    tb_add_scaled3(change, change, -turn->h, couple);
    couple_slope(turn, A);
    for (int i = 0; i < 9; i++) A[i] = turn->inertia[i] + turn->h / 2 * A[i];
    if (!tb_small_divide(3, A, 1, change)) return false;
    // What no longer gets smaller is rounding.
    tbReal size = tb_norm3(change), most = tb_norm3(turn->omega);
    if (size <= rounding * most || (size >= last && last < 1e-12 * most)) return true;
    tb_add3(turn->next, turn->next, change);
    last = size;
  }
  return false;
}

// Whether the couple is the step's own: soft's is MuJoCo's, those of springs are their
// integrators'.
static bool has_couple(const tbOption* opt) {
  bool rigid = opt->law < TB_LAW_COUNT || opt->law == TB_LAW_COMFREE;
  return rigid && opt->integrator != TB_INTEGRATOR_RK4;
}

bool tb_free_turn(const tbModel* m, const tbData* d, int tree, tbFreeTurn* out) {
  enum { BODY = 6 };
  int first = m->tree_dofadr[tree];
  if (m->tree_dofnum[tree] != BODY || !has_couple(&m->opt)) return false;
  if (m->jnt_type[m->dof_jntid[first]] != TB_JOINT_FREE) return false;
  int body = m->dof_bodyid[first];
  const tbReal *omega = d->cvel + 6 * body, *I = d->crb + 10 * body, h = m->opt.timestep;
  if (h * h * tb_dot3(omega, omega) < LEAST_TURN * LEAST_TURN) return false;
  *out = (tbFreeTurn){.dof = first + 3, .R = d->xmat + 9 * body, .h = h};
  const tbReal full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  memcpy(out->inertia, full, sizeof full);
  tb_copy3(out->omega, omega);
  return find_next(out);
}

void tb_free_turn_force(const tbFreeTurn* turn, tbReal force[3]) {
  tbReal start[3], middle[3];
  couple_of(turn, turn->omega, start);
  couple_of(turn, turn->middle, middle);
  tb_sub3(start, start, middle);
  tb_mul_mat3t_vec3(force, turn->R, start);
}

// The partial (3) of m x I m in world axes, by what changes w by `dw` and I by dI; `still` is
// dI (w' - w), `turned` dI m.
static void middle_partial(const tbFreeTurn* turn, const tbReal dw[3], const tbReal still[3],
                           const tbReal turned[3], tbReal out[3]) {
  tbReal A[9], B[9], next[3], own[3];
  couple_slope(turn, B);
  tb_mul_mat3_vec3(next, turn->inertia, dw);
  tb_mul_mat3_vec3(out, B, dw);
  tb_cross(own, turn->middle, turned);
  for (int i = 0; i < 3; i++) next[i] -= turn->h / 2 * out[i] + still[i] + turn->h * own[i];
  for (int i = 0; i < 9; i++) A[i] = turn->inertia[i] + turn->h / 2 * B[i];
  tb_small_divide(3, A, 1, next);
  for (int i = 0; i < 3; i++) next[i] = (next[i] + dw[i]) / 2;
  tb_mul_mat3_vec3(out, B, next);
  tb_add3(out, out, own);
}

void tb_free_turn_by_velocity(const tbFreeTurn* turn, tbReal slope[9]) {
  static const tbReal NONE[3] = {0, 0, 0};
  tbReal momentum[3];
  tb_mul_mat3_vec3(momentum, turn->inertia, turn->omega);
  for (int k = 0; k < 3; k++) {
    const tbReal dw[3] = {turn->R[k], turn->R[3 + k], turn->R[6 + k]};
    tbReal dL[3], one[3], two[3], world[3], own[3];
    tb_mul_mat3_vec3(dL, turn->inertia, dw);
    tb_cross(one, dw, momentum);
    tb_cross(two, turn->omega, dL);
    middle_partial(turn, dw, NONE, NONE, world);
    for (int i = 0; i < 3; i++) world[i] = one[i] + two[i] - world[i];
    tb_mul_mat3t_vec3(own, turn->R, world);
    for (int i = 0; i < 3; i++) slope[3 * i + k] = own[i];
  }
}

// The velocity of the tree that turns about its centre of mass by `axis`.
static void turn_about_centre(const tbModel* m, const tbData* d, const tbFreeTurn* turn,
                              const tbReal axis[3], tbReal* v) {
  int body = m->dof_bodyid[turn->dof];
  tbReal arm[3];
  memset(v, 0, sizeof(tbReal) * (size_t)m->nv);
  tb_sub3(arm, d->xpos + 3 * body, d->subtree_com + 3 * body);
  tb_cross(v + turn->dof - 3, axis, arm);
  tb_mul_mat3t_vec3(v + turn->dof, turn->R, axis);
}

// Inertia about the centre of mass does not change by where that goes, to first order.
tbResult tb_free_turn_by_inertia(const tbModel* m, tbData* d, int body, const tbFreeTurn* turn,
                                 tbReal* slope) {
  static const tbReal NONE[3] = {0, 0, 0};
  enum { START, MIDDLE, CHANGE, KINDS };
  tbReal dI[KINDS][TB_NINERTIAL][3], products[TB_NINERTIAL], change[3];
  tb_sub3(change, turn->next, turn->omega);
  const tbReal* const turned[KINDS] = {turn->omega, turn->middle, change};
  tbArenaMark mark = tb_arena_mark(&d->work->arena);
  tbReal* v = tb_arena_alloc(&d->work->arena, 2 * sizeof(tbReal) * (size_t)m->nv);
  if (!v) return TB_ERROR_MEMORY;
  for (int i = 0; i < 3 * KINDS; i++) {
    const tbReal axis[3] = {i % 3 == 0, i % 3 == 1, i % 3 == 2};
    turn_about_centre(m, d, turn, axis, v);
    turn_about_centre(m, d, turn, turned[i / 3], v + m->nv);
    tb_inertia_products(m, d, body, v, v + m->nv, products);
    for (int p = 0; p < TB_NINERTIAL; p++) dI[i / 3][p][i % 3] = products[p];
  }
  tb_arena_release(&d->work->arena, mark);
  for (int p = 0; p < TB_NINERTIAL; p++) {
    tbReal start[3], world[3], own[3];
    tb_cross(start, turn->omega, dI[START][p]);
    middle_partial(turn, NONE, dI[CHANGE][p], dI[MIDDLE][p], world);
    tb_sub3(world, start, world);
    tb_mul_mat3t_vec3(own, turn->R, world);
    for (int i = 0; i < 3; i++) slope[i * TB_NINERTIAL + p] = own[i];
  }
  return TB_OK;
}
