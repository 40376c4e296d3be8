// The gyroscopic couple of a free-floating body by the midpoint rule. In axes that turn with the
// body its angular velocity w and inertia I have I dw/dt = -w x I w. Taken at the start of a step
// the couple adds h^2/2 |I^-1/2 (w x I w)|^2 to the energy; taken at the mean of both ends,
//
//     I (w' - w) = -h m x I m,   m = (w + w') / 2,                                            (1)
//
// it conserves w . I w and |I w|, both quadratic in w, for any step. The frame then moves with the
// new velocity, so that it is always half a step ahead: the angular momentum oscillates by a
// rotation of h w / 2 without drift. Other forces and contacts are added to the couple. With
//
//     B x = m x I x + x x I m,   A = I + h/2 B                                                (2)
// Newton's matrix is A, and the partials are
//
//     A dw' = (I - h/2 B) dw - dI (w' - w) - h m x dI m,
//     d(m x I m) = B (dw + dw') / 2 + m x dI m.                                               (3)
//
// If the frame is at a distance c from the centre of mass, its velocity turns with the body, and
// the centrifugal force taken at the start of the step lets the momentum drift. Since the frame is
// half a step ahead of the velocities, the conserved quantity is V = v + w x exp(-h w / 2) c. It is
// conserved if the frame moves by v + w x exp(-h w / 2) c - w' x exp(h w' / 2) c, that is, by a
// force at the centre of mass of
//
//     F = M (w x (w x c) + (w x (c- - c) - w' x (c+ - c)) / h),
//     c- = exp(-h w / 2) c,   c+ = exp(h w' / 2) c,                                            (4)
//
// in addition to the centrifugal one, M the mass; a steady rotation makes F nearly zero. Its
// partials follow from d(exp(x) c) = (J dx) x exp(x) c, J the left Jacobian at x.
#include "forces/gyroscopic_midpoint.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/regressor.h"
#include "linalg/small.h"
#include "model/floating.h"
#include "model/workspace.h"
#include "spatial/so3.h"
#include "spatial/trig.h"
#include "model/law_kinds.h"
#include "tribo/step.h"

// rad: rotations in a step below this have negligible gyroscopic forces.
static const tbReal LEAST_TURN = 1e-5;

enum { MOST_ITERATIONS = 10 };

// B of (2).
static void couple_slope(const tbGyroscopicMidpoint* turn, tbReal* B) {
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
static void couple_of(const tbGyroscopicMidpoint* turn, const tbReal v[3], tbReal couple[3]) {
  tbReal momentum[3];
  tb_mul_mat3_vec3(momentum, turn->inertia, v);
  tb_cross(couple, v, momentum);
}

static void set_middle(tbGyroscopicMidpoint* turn) {
  for (int i = 0; i < 3; i++) turn->middle[i] = (turn->omega[i] + turn->next[i]) / 2;
}

// w' of (1) by Newton's method, which converges quadratically. False if it does not converge, for
// rotations of radians in a step.
static bool find_next(tbGyroscopicMidpoint* turn) {
  const tbReal near = 1e-8, most = tb_norm3(turn->omega);
  tb_copy3(turn->next, turn->omega);
  set_middle(turn);
  for (int round = 0; round < MOST_ITERATIONS; round++) {
    tbReal A[9], change[3], moved[3], couple[3];
    couple_of(turn, turn->middle, couple);
    tb_sub3(moved, turn->omega, turn->next);
    tb_mul_mat3_vec3(change, turn->inertia, moved);
    tb_add_scaled3(change, change, -turn->h, couple);
    couple_slope(turn, A);
    for (int i = 0; i < 9; i++) A[i] = turn->inertia[i] + turn->h / 2 * A[i];
    if (!tb_small_divide(3, A, 1, change)) return false;
    tb_add3(turn->next, turn->next, change);
    set_middle(turn);
    if (tb_norm3(change) <= near * most) return true;
  }
  return false;
}

// Whether the inertia is isotropic, as of balls and cubes: they have no couple.
static bool is_round(const tbReal I[10]) {
  const tbReal rounding = 1e-14 * I[0];
  tbReal most = tb_max(fabs(I[0] - I[1]), fabs(I[0] - I[2]));
  return tb_max(tb_max(most, fabs(I[3])), tb_max(fabs(I[4]), fabs(I[5]))) <= rounding;
}

bool tb_turns_by_middle(const tbOption* opt) {
  return !tb_law_has(opt, TB_TRAIT_COMPLIANT) && opt->integrator != TB_INTEGRATOR_RK4;
}

bool tb_gyroscopic_midpoint(const tbModel* m, const tbData* d, int tree,
                            tbGyroscopicMidpoint* out) {
  int first = m->tree_dofadr[tree];
  if (!tb_tree_is_free_body(m, tree) || !tb_turns_by_middle(&m->opt)) return false;
  int body = m->dof_bodyid[first];
  const tbReal *omega = d->cvel + 6 * body, *I = d->crb + 10 * body, h = m->opt.timestep;
  if (h * h * tb_dot3(omega, omega) < LEAST_TURN * LEAST_TURN) return false;
  *out = (tbGyroscopicMidpoint){.dof = first, .R = d->xmat + 9 * body, .h = h, .mass = I[9]};
  const tbReal *centre = d->subtree_com + 3 * body, *frame = d->xpos + 3 * body, rounding = 1e-14;
  tb_sub3(out->arm, centre, frame);
  if (tb_norm3(out->arm) <= rounding * tb_norm3(centre)) tb_zero3(out->arm);
  const tbReal full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  memcpy(out->inertia, full, sizeof full);
  tb_copy3(out->omega, omega);
  tb_copy3(out->next, omega);
  tb_copy3(out->middle, omega);
  return is_round(I) || find_next(out);
}

// exp(x) c - c
static void turned_by(const tbReal x[3], const tbReal c[3], tbReal out[3]) {
  tbReal once[3], twice[3], sine, cosine, angle = tb_norm3(x);
  tb_sincos(angle / 2, &sine, &cosine);
  // sin t / t and (1 - cos t) / t^2 = 2 sin^2(t/2) / t^2: no rotation is smaller than half
  // LEAST_TURN.
  tbReal a = 2 * sine * cosine / angle, b = 2 * sine * sine / (angle * angle);
  tb_cross(once, x, c);
  tb_cross(twice, x, once);
  for (int i = 0; i < 3; i++) out[i] = a * once[i] + b * twice[i];
}

// F of (4) divided by the mass, for any c.
static void centre_force(const tbGyroscopicMidpoint* turn, const tbReal c[3], tbReal F[3]) {
  tbReal half[3], moved[3], back[3], forth[3];
  tb_scale3(half, turn->omega, -turn->h / 2);
  turned_by(half, c, moved);
  tb_cross(back, turn->omega, moved);
  tb_scale3(half, turn->next, turn->h / 2);
  turned_by(half, c, moved);
  tb_cross(forth, turn->next, moved);
  tb_cross(moved, turn->omega, c);
  tb_cross(F, turn->omega, moved);
  for (int i = 0; i < 3; i++) F[i] += (back[i] - forth[i]) / turn->h;
}

// Generalised forces on the dofs of a force at the centre of mass and a couple.
static void to_dofs(const tbGyroscopicMidpoint* turn, const tbReal F[3], const tbReal couple[3],
                    tbReal out[6]) {
  tbReal moment[3];
  tb_cross(moment, turn->arm, F);
  tb_add3(moment, moment, couple);
  tb_copy3(out, F);
  tb_mul_mat3t_vec3(out + 3, turn->R, moment);
}

void tb_gyroscopic_midpoint_force(const tbGyroscopicMidpoint* turn, tbReal force[6]) {
  tbReal start[3], middle[3], F[3];
  couple_of(turn, turn->omega, start);
  couple_of(turn, turn->middle, middle);
  tb_sub3(start, start, middle);
  if (tb_is_zero3(turn->arm)) {
    tb_zero3(force);
    tb_mul_mat3t_vec3(force + 3, turn->R, start);
    return;
  }
  centre_force(turn, turn->arm, F);
  tb_scale3(F, F, turn->mass);
  to_dofs(turn, F, start, force);
}

// The partials (3) of m x I m and w' in world axes, for changes of w by `dw` and of I by dI;
// `still` is dI (w' - w), `turned` dI m.
static void middle_partial(const tbGyroscopicMidpoint* turn, const tbReal dw[3],
                           const tbReal still[3], const tbReal turned[3], tbReal out[3],
                           tbReal next[3]) {
  tbReal A[9], B[9], mean[3], own[3];
  couple_slope(turn, B);
  tb_mul_mat3_vec3(next, turn->inertia, dw);
  tb_mul_mat3_vec3(out, B, dw);
  tb_cross(own, turn->middle, turned);
  for (int i = 0; i < 3; i++) next[i] -= turn->h / 2 * out[i] + still[i] + turn->h * own[i];
  for (int i = 0; i < 9; i++) A[i] = turn->inertia[i] + turn->h / 2 * B[i];
  tb_small_divide(3, A, 1, next);
  for (int i = 0; i < 3; i++) mean[i] = (next[i] + dw[i]) / 2;
  tb_mul_mat3_vec3(out, B, mean);
  tb_add3(out, out, own);
}

// out = d(w x (exp(x) c - c)), x = `half` w, c the arm.
static void swing_partial(const tbGyroscopicMidpoint* turn, const tbReal w[3], const tbReal dw[3],
                          tbReal half, tbReal out[3]) {
  tbReal x[3], minus[3], J[9], moved[3], end[3], one[3], two[3];
  tb_scale3(x, w, half);
  tb_scale3(minus, w, -half);
  turned_by(x, turn->arm, moved);
  tb_add3(end, moved, turn->arm);
  tb_so3_right_jacobian(J, minus);
  tb_mul_mat3_vec3(one, J, dw);
  tb_cross(two, one, end);
  tb_cross(one, w, two);
  tb_cross(out, dw, moved);
  tb_add_scaled3(out, out, half, one);
}

// The partial of F by w and w'.
static void centre_partial(const tbGyroscopicMidpoint* turn, const tbReal dw[3],
                           const tbReal next[3], tbReal dF[3]) {
  tbReal arm[3], one[3], two[3], back[3], forth[3];
  tb_cross(arm, turn->omega, turn->arm);
  tb_cross(one, dw, arm);
  tb_cross(arm, dw, turn->arm);
  tb_cross(two, turn->omega, arm);
  swing_partial(turn, turn->omega, dw, -turn->h / 2, back);
  swing_partial(turn, turn->next, next, turn->h / 2, forth);
  for (int i = 0; i < 3; i++) {
    dF[i] = turn->mass * (one[i] + two[i] + (back[i] - forth[i]) / turn->h);
  }
}

void tb_gyroscopic_midpoint_partials(const tbGyroscopicMidpoint* turn, tbReal by_q[18],
                                     tbReal by_v[18]) {
  static const tbReal NONE[3] = {0, 0, 0};
  tbReal momentum[3], F[3];
  tb_mul_mat3_vec3(momentum, turn->inertia, turn->omega);
  centre_force(turn, turn->arm, F);
  tb_scale3(F, F, turn->mass);
  memset(by_q, 0, 18 * sizeof *by_q);
  for (int k = 0; k < 3; k++) {
    const tbReal axis[3] = {turn->R[k], turn->R[3 + k], turn->R[6 + k]};
    tbReal dL[3], one[3], two[3], couple[3], next[3], dF[3], column[6];
    // The force turns with the body; the moment is about the body's own axes.
    tb_cross(one, axis, F);
    for (int i = 0; i < 3; i++) by_q[3 * i + k] = one[i];
    tb_mul_mat3_vec3(dL, turn->inertia, axis);
    tb_cross(one, axis, momentum);
    tb_cross(two, turn->omega, dL);
    middle_partial(turn, axis, NONE, NONE, couple, next);
    for (int i = 0; i < 3; i++) couple[i] = one[i] + two[i] - couple[i];
    centre_partial(turn, axis, next, dF);
    to_dofs(turn, dF, couple, column);
    for (int i = 0; i < 6; i++) by_v[3 * i + k] = column[i];
  }
}

// The velocity of the tree that rotates about `axis` through its centre of mass, or through its
// frame.
static void turn_about(const tbModel* m, const tbGyroscopicMidpoint* turn, const tbReal axis[3],
                       bool centre, tbReal* v) {
  memset(v, 0, sizeof(tbReal) * (size_t)m->nv);
  if (centre) tb_cross(v + turn->dof, turn->arm, axis);
  tb_mul_mat3t_vec3(v + turn->dof + 3, turn->R, axis);
}

// Derivatives by the parameters of a body: mass, first moment about the frame, and inertia about
// the centre of mass times the angular velocities of the start, of the mean, and of the change
// between the ends.
enum { START, MIDDLE, CHANGE, KINDS };
typedef struct {
  tbReal mass[TB_NINERTIAL], moment[TB_NINERTIAL][3], inertia[KINDS][TB_NINERTIAL][3];
} Parameters;

static tbResult by_parameters(const tbModel* m, tbData* d, int body,
                              const tbGyroscopicMidpoint* turn, Parameters* out) {
  tbReal products[TB_NINERTIAL], change[3];
  tb_sub3(change, turn->next, turn->omega);
  const tbReal* const turned[KINDS] = {turn->omega, turn->middle, change};
  tbArenaMark mark = tb_arena_mark(&d->work->arena);
  tbReal* v = tb_arena_alloc(&d->work->arena, 2 * sizeof(tbReal) * (size_t)m->nv);
  if (!v) return TB_ERROR_MEMORY;
  tbReal* u = v + m->nv;
  for (int i = 0; i < 3; i++) {
    const tbReal axis[3] = {i == 0, i == 1, i == 2};
    // A rotation of the frame about an axis has the momentum axis x moment.
    turn_about(m, turn, axis, false, v);
    memset(u, 0, sizeof(tbReal) * (size_t)m->nv);
    u[turn->dof + (i + 2) % 3] = 1;
    tb_inertia_products(m, d, body, u, v, products);
    for (int p = 0; p < TB_NINERTIAL; p++) out->moment[p][(i + 1) % 3] = products[p];
    if (i == 0) tb_inertia_products(m, d, body, u, u, out->mass);
    turn_about(m, turn, axis, true, v);
    for (int kind = 0; kind < KINDS; kind++) {
      turn_about(m, turn, turned[kind], true, u);
      tb_inertia_products(m, d, body, v, u, products);
      for (int p = 0; p < TB_NINERTIAL; p++) out->inertia[kind][p][i] = products[p];
    }
  }
  tb_arena_release(&d->work->arena, mark);
  return TB_OK;
}

// To first order, inertia about the centre of mass does not depend on the position of the centre.
tbResult tb_gyroscopic_midpoint_by_inertia(const tbModel* m, tbData* d, int body,
                                           const tbGyroscopicMidpoint* turn, tbReal* slope) {
  static const tbReal NONE[3] = {0, 0, 0};
  Parameters by;
  tbResult result = by_parameters(m, d, body, turn, &by);
  if (result != TB_OK) return result;
  tbReal F[3];
  centre_force(turn, turn->arm, F);
  for (int p = 0; p < TB_NINERTIAL; p++) {
    tbReal start[3], couple[3], next[3], dF[3], own[3], moved[3], column[6];
    tb_cross(start, turn->omega, by.inertia[START][p]);
    middle_partial(turn, NONE, by.inertia[CHANGE][p], by.inertia[MIDDLE][p], couple, next);
    tb_sub3(couple, start, couple);
    // F is linear in the first moment; if the centre moves, F acts at another point.
    centre_partial(turn, NONE, next, dF);
    centre_force(turn, by.moment[p], own);
    tb_add3(dF, dF, own);
    tb_add_scaled3(moved, by.moment[p], -by.mass[p], turn->arm);
    tb_cross(own, moved, F);
    tb_add3(couple, couple, own);
    to_dofs(turn, dF, couple, column);
    for (int i = 0; i < 6; i++) slope[i * TB_NINERTIAL + p] = column[i];
  }
  return TB_OK;
}
