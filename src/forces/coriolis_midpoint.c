// Coriolis and gyroscopic forces of trees with several joints. A semi-implicit step evaluates them
// at its start, and then they add kinetic energy: with b their generalised force, u = M^-1 b, and w
// the velocity relative to the centre of mass of a floating tree,
//
//     T'(h) = 1/2 (w - h u)^T M (w - h u) = T - h w^T b + h^2/2 u^T b.                         (1)
//
// w^T b is the change of T by the motion at fixed M; the last term is an error of the scheme, and
// accumulates. Forces of the middle of the step,
//
//     b(q, v - h/2 H^-1 b(q, v)),                                                              (2)
//
// with H the inertia of the step, M with damping made implicit, do this work at the mean velocity,
// so that nearly nothing of that term remains. The change of M is always that of half a step later,
// an error that oscillates and does not accumulate. Other forces and contacts are left out of (2):
// bodies at rest have no Coriolis forces.
//
// If a step does not resolve the rotation, and under laws that use forces of the start, the step
// ends at s (w - h u) with s such that T does not grow by the last term of (1): a force (1 - s) (b
// - M w / h) is added to b. There w^T b is not the change of T by the motion h v either: light
// links between heavy ones rotate the velocities of the heavy ones, and T doubles or grows a
// hundredfold. So s is chosen such that T ends no higher than it was at q - h v, and a floating
// tree keeps the momentum that it had there. See docs/manual/step.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/coriolis.h"
#include "dynamics/gravity.h"
#include "dynamics/mass.h"
#include "linalg/small.h"
#include "model/floating.h"
#include "model/workspace.h"
#include "forces/forces.h"
#include "forces/gyroscopic_midpoint.h"
#include "model/law_kinds.h"
#include "tribo/step.h"

// Rotations per step, rad. Below LEAST_TURN the forces hardly matter, 1e-6 of the energy; up to
// RESOLVED_TURN a step resolves the rotation; beyond FAST_TURN it does not.
static const tbReal LEAST_TURN = 1e-3, RESOLVED_TURN = 0.03, FAST_TURN = 0.5;
// In between it is resolved if the last term of (1) is at most a fraction of T: SHARE up to
// WIDE_TURN, WIDE_SHARE beyond, and at most WHEEL_SHARE if a wheel spins.
static const tbReal SHARE = 0.5, WIDE_TURN = 0.1, WIDE_SHARE = 0.01, WHEEL_SHARE = 0.07;
// Kinetic-energy limit: T ends at most this fraction above its value a step ago (velocity_factor).
static const tbReal MOST_GROWTH = 0.01;
// The soft law moves as MuJoCo does, including the growth of energy, up to this rotation (rad per
// step), beyond which its result has no meaning.
static const tbReal SOFT_FAST_TURN = 1;

// Whether a hinge spins a wheel: a single body balanced about the axis, so that no force of the
// tree depends on its angle.
static bool spins_wheel(const tbModel* m, int dof) {
  const tbReal balanced = 1e-3;
  int joint = m->dof_jntid[dof], body = m->dof_bodyid[dof];
  if (m->jnt_type[joint] != TB_JOINT_HINGE) return false;
  if (m->body_jntnum[body] != 1 || m->body_subtreenum[body] != 1) return false;
  const tbReal *I = m->body_inertia + 3 * body, *axis = m->jnt_axis + 3 * joint;
  tbReal own[3], arm[3], off[3], most = tb_max(tb_max(I[0], I[1]), I[2]);
  tb_sub3(arm, m->body_ipos + 3 * body, m->jnt_pos + 3 * joint);
  tb_cross(off, arm, axis);
  if (m->body_mass[body] * tb_dot3(off, off) > balanced * balanced * most) return false;
  tb_mul_mat3t_vec3(own, m->body_imat + 9 * body, axis);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    bool along = fabs(own[i]) <= balanced && fabs(own[j]) <= balanced;
    if (along && fabs(I[i] - I[j]) <= balanced * most) return true;
  }
  return false;
}

// Largest rotation of a body of a tree, or of a hinge, in a step, rad: two hinges on nearly the
// same axis may turn fast in opposite directions. With or without the spins of wheels.
static tbReal largest_rotation(const tbModel* m, const tbData* d, int tree, bool wheels) {
  int first = m->tree_bodyadr[tree], end = first + m->tree_bodynum[tree];
  tbReal most = 0;
  for (int i = first; i < end; i++) {
    const tbReal* omega = d->cvel + 6 * i;
    tbReal carried[3];
    int dof = m->body_dofadr[i];
    if (!wheels && m->body_dofnum[i] == 1 && spins_wheel(m, dof)) {
      tb_add_scaled3(carried, omega, -d->qvel[dof], d->cdof + 6 * dof);
      omega = carried;
    }
    most = tb_max(most, tb_dot3(omega, omega));
  }
  first = m->tree_dofadr[tree];
  end = first + m->tree_dofnum[tree];
  for (int i = first; i < end; i++) {
    bool turns = tb_joint_turns_about_axis(m->jnt_type[m->dof_jntid[i]]);
    if (turns && (wheels || !spins_wheel(m, i))) most = tb_max(most, d->qvel[i] * d->qvel[i]);
  }
  return m->opt.timestep * sqrt(most);
}

// By dof: b, u = M^-1 b, w, p = M w.
typedef struct {
  tbReal *b, *u, *w, *p;
} Motion;

// b at the start, for the dofs of one tree: the bias force without gravity, and without the inertia
// of tendons, which is evaluated at the start.
static void start_force(const tbModel* m, tbData* d, int first, int end, const Motion* x) {
  tbReal gravity[6], *tendons = x->w;
  tb_gravity_acceleration(m, gravity);
  memset(tendons + first, 0, sizeof(tbReal) * (size_t)(end - first));
  if (m->ntendon > 0) {
    memset(tendons, 0, sizeof(tbReal) * (size_t)m->nv);
    tb_add_tendon_inertia(m, d, NULL, tendons);
  }
  for (int i = first; i < end; i++) {
    tbReal weight[6];
    tb_inertia_mul(weight, d->crb + 10 * m->dof_bodyid[i], gravity);
    x->b[i] = d->qfrc_bias[i] - tb_dot6(d->cdof + 6 * i, weight) - tendons[i];
  }
}

static void accelerate(const tbModel* m, tbInertiaFactor M, int first, int end, const Motion* x) {
  memcpy(x->u + first, x->b + first, sizeof(tbReal) * (size_t)(end - first));
  tb_ltdl_solve_range(tb_forest(m), M.LD, M.inverse, x->u, first, end);
}

// The factor of M itself.
static tbInertiaFactor factor_of(const tbModel* m, const tbData* d) {
  tb_factor_ready(m, d);
  return (tbInertiaFactor){d->qLD, d->qLDiagInv, d->qM};
}

static tbReal dot(const tbReal* x, const tbReal* y, int first, int end) {
  tbReal sum = 0;
  for (int i = first; i < end; i++) sum += x[i] * y[i];
  return sum;
}

// For one free body: relative to its centre of mass b is the gyroscopic couple, and w^T b = 0
// wherever the joint's frame is.
static void rigid_motion(const tbModel* m, const tbData* d, int first, const Motion* x) {
  int body = m->dof_bodyid[first];
  const tbReal *I = d->crb + 10 * body, *omega = d->cvel + 6 * body, *R = d->xmat + 9 * body;
  const tbReal full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  tbReal momentum[3], couple[3], turn[3], factor[9];
  tb_mul_mat3_vec3(momentum, full, omega);
  tb_cross(couple, omega, momentum);
  bool ok = tb_small_cholesky(3, full, 0, 0, factor);
  if (ok) tb_small_solve(3, factor, couple, turn);
  if (!ok) tb_zero3(turn);
  tb_zero3(x->b + first);
  tb_zero3(x->u + first);
  tb_zero3(x->w + first);
  tb_zero3(x->p + first);
  tb_mul_mat3t_vec3(x->b + first + 3, R, couple);
  tb_mul_mat3t_vec3(x->u + first + 3, R, turn);
  tb_mul_mat3t_vec3(x->w + first + 3, R, omega);
  tb_mul_mat3t_vec3(x->p + first + 3, R, momentum);
}

// p = M w, of the dofs of one tree.
static void momentum_of(const tbModel* m, const tbData* d, int first, int end, const tbReal* w,
                        tbReal* p) {
  for (int i = first; i < end; i++) {
    const int *col = m->M_colind + m->M_rowadr[i], last = m->M_rownnz[i] - 1;
    const tbReal* row = d->qM + m->M_rowadr[i];
    p[i] = row[last] * w[i];
    for (int k = 0; k < last; k++) {
      p[i] += row[k] * w[col[k]];
      p[col[k]] += row[k] * w[i];
    }
  }
}

// w and p of a tree with several joints, with or without the spins of wheels; for a floating tree
// without its translation.
static void tree_motion(const tbModel* m, const tbData* d, int first, int end, bool wheels,
                        const Motion* x) {
  for (int i = first; i < end; i++) x->w[i] = wheels || !spins_wheel(m, i) ? d->qvel[i] : 0;
  momentum_of(m, d, first, end, x->w, x->p);
  if (!tb_dof_floats(m, first)) return;
  tbReal centre[3];
  for (int k = 0; k < 3; k++) {
    int dof = first + k;
    centre[k] = x->p[dof] / d->qM[m->M_rowadr[dof] + m->M_rownnz[dof] - 1];
    x->w[dof] -= centre[k];
    x->p[dof] = 0;
  }
  for (int i = first + 3; i < end; i++) {
    for (int k = 0; k < 3; k++) x->p[i] -= d->qM[m->M_rowadr[i] + k] * centre[k];
  }
}

// The factor s of w - h u. The change of T by the motion is used only if it slows the tree down.
// `growth` is the increase of 2 T over the last step.
static tbReal velocity_factor(const Motion* x, int first, int end, tbReal h, tbReal growth) {
  tbReal twice = dot(x->w, x->p, first, end), cross = dot(x->w, x->b, first, end);
  tbReal target = tb_min(twice - 2 * h * tb_max(0, cross), (1 + MOST_GROWTH) * (twice - growth));
  target = tb_max(0, target);
  tbReal reached = twice - 2 * h * cross + h * h * dot(x->u, x->b, first, end);
  return reached > target ? sqrt(target / reached) : 1;
}

// Whether this is a free body whose frame is not at its centre of mass, so that the frame's
// velocity rotates with the body.
static bool is_off_centre(const tbModel* m, const tbData* d, int tree) {
  const tbReal rounding = 1e-12;
  int body = m->dof_bodyid[m->tree_dofadr[tree]];
  const tbReal *centre = d->subtree_com + 3 * body, *frame = d->xpos + 3 * body;
  tbReal arm[3];
  tb_sub3(arm, centre, frame);
  return tb_tree_is_free_body(m, tree) && tb_norm3(arm) > rounding * tb_norm3(centre);
}

// Whether a joint turns by more than `most` in a step at velocity v.
static bool turns_fast(const tbModel* m, int tree, const tbReal* v, tbReal most) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  for (int i = first; i < end; i++) {
    int joint = m->dof_jntid[i], type = m->jnt_type[joint];
    bool slides = !tb_joint_turns(type) || i < m->jnt_dofadr[joint] + tb_joint_translations(type);
    if (!slides && fabs(v[i]) * m->opt.timestep > most) return true;
  }
  return false;
}

// Classifies the rotation of a tree; `x` is scratch memory.
static tbTurning classify_rotation(const tbModel* m, tbData* d, int tree, const Motion* x) {
  const tbReal h = m->opt.timestep, turn = largest_rotation(m, d, tree, true);
  if (tb_law_has(&m->opt, TB_TRAIT_UNBOUNDED)) {
    bool fast = turn > SOFT_FAST_TURN && largest_rotation(m, d, tree, false) > SOFT_FAST_TURN;
    return fast ? TB_TURNS_FAST : TB_TURNS_SLOWLY;
  }
  // Expo uses the forces of the start as long as a step resolves the rotation.
  bool by_middle = tb_turns_by_middle(&m->opt);
  tbTurning resolved = by_middle ? TB_TURNS : TB_TURNS_SLOWLY;
  if (tb_tree_is_free_body(m, tree)) {
    return turn > (by_middle ? FAST_TURN : RESOLVED_TURN) ? TB_TURNS_FAST : TB_TURNS_SLOWLY;
  }
  if (turn <= LEAST_TURN) return TB_TURNS_SLOWLY;
  if (turn <= RESOLVED_TURN) return resolved;
  // A spinning wheel rotates no other body, but its carrier may nutate.
  tbReal rest = largest_rotation(m, d, tree, false), share = rest <= WIDE_TURN ? SHARE : WIDE_SHARE;
  if (rest > FAST_TURN) return TB_TURNS_FAST;
  if (rest < turn) share = tb_min(share, WHEEL_SHARE);
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  start_force(m, d, first, end, x);
  accelerate(m, factor_of(m, d), first, end, x);
  tree_motion(m, d, first, end, false, x);
  tbReal own = h * h * dot(x->u, x->b, first, end), twice = dot(x->w, x->p, first, end);
  return own <= share * twice ? resolved : TB_TURNS_FAST;
}

// Whether Coriolis forces are added to the velocity explicitly. The integrators of the viscoelastic
// law except the exponential one follow their own formulas.
static bool is_semi_implicit(const tbOption* opt) {
  if (tb_law_has(opt, TB_TRAIT_UNBOUNDED)) return opt->integrator == TB_INTEGRATOR_EULER;
  return opt->integrator != TB_INTEGRATOR_RK4 && opt->integrator <= TB_INTEGRATOR_EXPO;
}

static Motion motion_in(const tbModel* m, tbReal* room) {
  return (Motion){room, room + m->nv, room + 2 * m->nv, room + 3 * m->nv};
}

tbTurning tb_turning(const tbModel* m, tbData* d) {
  Motion x = motion_in(m, d->work->scratch_nv);
  tbTurning most = TB_TURNS_SLOWLY;
  tbGyroscopicMidpoint turn;
  if (!is_semi_implicit(&m->opt)) return most;
  for (int t = 0; t < m->ntree; t++) {
    if (tb_turns_by_middle(&m->opt) && tb_gyroscopic_midpoint(m, d, t, &turn)) continue;
    tbTurning tree = classify_rotation(m, d, t, &x);
    if (tree > most) most = tree;
  }
  return most;
}

// b at the start, u = H^-1 b, and the velocity in (2).
static void find_midpoint(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, const Motion* x,
                          tbReal* middle) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  start_force(m, d, first, end, x);
  accelerate(m, H, first, end, x);
  for (int i = first; i < end; i++) middle[i] = d->qvel[i] - m->opt.timestep / 2 * x->u[i];
}

bool tb_middle_velocity(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal* u,
                        tbReal* v) {
  Motion x = motion_in(m, d->work->scratch_nv);
  if (classify_rotation(m, d, tree, &x) != TB_TURNS) return false;
  x.u = u;
  find_midpoint(m, d, H, tree, &x, v);
  return true;
}

// Add the difference between (2) and b at the start.
static void add_middle(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal sign,
                       const Motion* x, tbReal* force) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  tbReal *middle = x->w, *b = x->p;
  find_midpoint(m, d, H, tree, x, middle);
  tb_coriolis(m, d, tree, middle, b);
  for (int i = first; i < end; i++) force[i] += sign * (x->b[i] - b[i]);
}

// A floating tree keeps the momentum that it had before its joints moved: in addition to `share`
// times b, a force acts at its centre of mass. `gained` is the change of the momentum since then.
static void add_momentum_force(const tbModel* m, const tbData* d, int first, int end,
                               const tbReal* b, tbReal share, const tbReal gained[3], tbReal sign,
                               tbReal* force) {
  if (!tb_dof_floats(m, first)) return;
  tbReal mass = d->qM[m->M_rowadr[first] + m->M_rownnz[first] - 1], a[3];
  for (int k = 0; k < 3; k++) {
    a[k] = sign * (share * b[first + k] - gained[k] / m->opt.timestep) / mass;
    force[first + k] += mass * a[k];
  }
  for (int i = first + 3; i < end; i++) force[i] += tb_dot3(d->qM + m->M_rowadr[i], a);
}

// Kinetic-energy limit: keeps a fast-turning tree from gaining energy by (1), and by the change of
// M through the motion.
static void add_bound(const tbModel* m, tbData* d, int tree, tbReal sign, const Motion* x,
                      tbReal* force) {
  const tbReal h = m->opt.timestep;
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  bool is_free = tb_tree_is_free_body(m, tree),
       moves_by_end = !is_free && tb_turns_by_middle(&m->opt);
  tbReal growth = 0, gained[3];
  if (is_free) {
    rigid_motion(m, d, first, x);
  } else {
    start_force(m, d, first, end, x);
    accelerate(m, factor_of(m, d), first, end, x);
    tree_motion(m, d, first, end, true, x);
  }
  if (moves_by_end) growth = tb_kinetic_energy_growth(m, d, tree, h, gained);
  tbReal kept = velocity_factor(x, first, end, h, growth), lost = 1 - kept;
  for (int i = first; i < end; i++) force[i] += sign * lost * (x->b[i] - x->p[i] / h);
  if (moves_by_end) add_momentum_force(m, d, first, end, x->b, kept, gained, sign, force);
}

bool tb_limit_kinetic_energy(const tbModel* m, tbData* d, tbInertiaFactor H, const tbReal* move,
                             tbReal* v, tbReal* start) {
  const tbReal h = m->opt.timestep;
  bool any = false;
  Motion x = motion_in(m, d->work->scratch_nv);
  for (int t = 0; t < m->ntree; t++) {
    int first = m->tree_dofadr[t], end = first + m->tree_dofnum[t];
    bool bounded = classify_rotation(m, d, t, &x) == TB_TURNS_FAST;
    if (!bounded && !turns_fast(m, t, v, is_off_centre(m, d, t) ? RESOLVED_TURN : FAST_TURN)) {
      continue;
    }
    // The velocity without Coriolis forces, which compensate the motion.
    memset(start + first, 0, sizeof(tbReal) * (size_t)(end - first));
    if (bounded) add_bound(m, d, t, -1, &x, start);
    start_force(m, d, first, end, &x);
    for (int i = first; i < end; i++) start[i] += x.b[i];
    tb_ltdl_solve_range(tb_forest(m), H.LD, H.inverse, start, first, end);
    for (int i = first; i < end; i++) start[i] = v[i] + h * start[i];
    tb_keep_kinetic(m, d, t, h, move, start, v);
    any = true;
  }
  return any;
}

void tb_add_coriolis(const tbModel* m, tbData* d, tbInertiaFactor H, tbReal sign, tbReal* force) {
  Motion x = motion_in(m, d->work->scratch_nv);
  if (!is_semi_implicit(&m->opt)) return;
  for (int t = 0; t < m->ntree; t++) {
    tbGyroscopicMidpoint turn;
    if (tb_gyroscopic_midpoint(m, d, t, &turn)) {
      tbReal own[6];
      tb_gyroscopic_midpoint_force(&turn, own);
      for (int i = 0; i < 6; i++) force[turn.dof + i] += sign * own[i];
      continue;
    }
    tbTurning turning = classify_rotation(m, d, t, &x);
    if (turning == TB_TURNS) add_middle(m, d, H, t, sign, &x, force);
    if (turning == TB_TURNS_FAST) add_bound(m, d, t, sign, &x, force);
  }
}
