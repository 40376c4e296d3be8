// Coriolis and gyroscopic forces of trees of several joints. Taken at the start of a step, as a
// semi-implicit step takes them, they add kinetic energy: with b their generalized force,
// u = M^-1 b, and w the velocity relative to the centre of mass of a floating tree,
//
//     T'(h) = 1/2 (w - h u)^T M (w - h u) = T - h w^T b + h^2/2 u^T b.                         (1)
//
// w^T b is what the motion itself does to T at fixed M; the last term is the scheme's alone, and
// adds up. Forces of the middle of the step,
//
//     b(q, v - h/2 H^-1 b(q, v)),                                                              (2)
//
// H the inertia of the step, M with damping made implicit, do this work at the mean velocity, so
// that next to nothing is left of that term. What M changes by meanwhile is that of half a step
// later, always, which goes to and fro and nowhere. Other forces and contacts are left out of (2):
// what stands has no Coriolis forces.
//
// Where a step does not resolve the turning, and under laws whose forces are those of the start,
// the step ends at s (w - h u) with s such that T does not grow by the last term of (1): a force (1
// - s) (b - M w / h) beside b. There w^T b is not what moving by h v has done to T either: light
// links between heavy ones turn the velocities of these, and T doubles or grows a hundredfold. So s
// is such that T ends no higher than it was at q - h v, and a floating tree goes on with the
// momentum it had there. See docs/step.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "dynamics/coriolis.h"
#include "dynamics/gravity.h"
#include "dynamics/mass.h"
#include "linalg/small.h"
#include "model/workspace.h"
#include "forces/forces.h"
#include "forces/gyroscopic_midpoint.h"
#include "tribo/step.h"

// Turns in a step, rad. Below LEAST_TURN they change next to nothing, 1e-6 of the energy; up to
// RESOLVED_TURN a step resolves them; beyond FAST_TURN it does not.
static const tbReal LEAST_TURN = 1e-3, RESOLVED_TURN = 0.03, FAST_TURN = 0.5;
// In between it does where the last term of (1) is no more than a share of T: SHARE up to
// WIDE_TURN, WIDE_SHARE beyond, and no more than WHEEL_SHARE where a wheel spins.
static const tbReal SHARE = 0.5, WIDE_TURN = 0.1, WIDE_SHARE = 0.01, WHEEL_SHARE = 0.07;
// T ends at most this share above what it was a step ago (share_kept).
static const tbReal MOST_GROWTH = 0.01;
// The soft law moves as MuJoCo does, growing energy included, up to turns (rad in a step) at which
// that means nothing any more.
static const tbReal SOFT_FAST_TURN = 1;

// Whether a hinge spins a wheel: a body by itself, balanced about the axis, so that no force of the
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

// The most by which a body of a tree, or a hinge, turns in a step, rad: two hinges on nearly the
// same axis may turn fast in opposite ways. With or without the spins of wheels.
static tbReal turn_of(const tbModel* m, const tbData* d, int tree, bool wheels) {
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
    bool hinge = m->jnt_type[m->dof_jntid[i]] == TB_JOINT_HINGE;
    if (hinge && (wheels || !spins_wheel(m, i))) most = tb_max(most, d->qvel[i] * d->qvel[i]);
  }
  return m->opt.timestep * sqrt(most);
}

static bool is_free_body(const tbModel* m, int tree) {
  enum { BODY = 6 };
  int joint = m->dof_jntid[m->tree_dofadr[tree]];
  return m->tree_dofnum[tree] == BODY && m->jnt_type[joint] == TB_JOINT_FREE;
}

// By dof: b, u = M^-1 b, w, p = M w.
typedef struct {
  tbReal *b, *u, *w, *p;
} Motion;

// b at the start, of the dofs of one tree: the bias force without the weight, and without the
// inertia of tendons, which stays at the start.
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

// One free body: in coordinates of its centre of mass b is the gyroscopic couple, and w^T b = 0
// whatever the point that its joint stands at.
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

// w and p of a tree of several joints, with or without the spins of wheels. A floating one's
// translation is left out.
static void tree_motion(const tbModel* m, const tbData* d, int first, int end, bool wheels,
                        const Motion* x) {
  for (int i = first; i < end; i++) x->w[i] = wheels || !spins_wheel(m, i) ? d->qvel[i] : 0;
  momentum_of(m, d, first, end, x->w, x->p);
  if (m->jnt_type[m->dof_jntid[first]] != TB_JOINT_FREE) return;
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

// s: how much of w - h u the tree keeps. What the motion does to T is believed only where it slows
// the tree down. `growth` is by how much 2 T has grown since a step ago.
static tbReal share_kept(const Motion* x, int first, int end, tbReal h, tbReal growth) {
  tbReal twice = dot(x->w, x->p, first, end), cross = dot(x->w, x->b, first, end);
  tbReal wanted = tb_min(twice - 2 * h * tb_max(0, cross), (1 + MOST_GROWTH) * (twice - growth));
  wanted = tb_max(0, wanted);
  tbReal reached = twice - 2 * h * cross + h * h * dot(x->u, x->b, first, end);
  return reached > wanted ? sqrt(wanted / reached) : 1;
}

// A free body whose frame is not at its centre of mass: the frame's velocity turns with the body.
static bool is_off_centre(const tbModel* m, const tbData* d, int tree) {
  const tbReal rounding = 1e-12;
  int body = m->dof_bodyid[m->tree_dofadr[tree]];
  const tbReal *centre = d->subtree_com + 3 * body, *frame = d->xpos + 3 * body;
  tbReal arm[3];
  tb_sub3(arm, centre, frame);
  return is_free_body(m, tree) && tb_norm3(arm) > rounding * tb_norm3(centre);
}

// Whether a joint turns by more than `most` in a step at velocity v.
static bool turns_fast(const tbModel* m, int tree, const tbReal* v, tbReal most) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  for (int i = first; i < end; i++) {
    int joint = m->dof_jntid[i], type = m->jnt_type[joint];
    bool slides = type == TB_JOINT_SLIDE || (type == TB_JOINT_FREE && i < m->jnt_dofadr[joint] + 3);
    if (!slides && fabs(v[i]) * m->opt.timestep > most) return true;
  }
  return false;
}

// How a tree turns; `x` is scratch.
static tbTurning turning_of(const tbModel* m, tbData* d, int tree, const Motion* x) {
  const tbReal h = m->opt.timestep, turn = turn_of(m, d, tree, true);
  if (m->opt.law == TB_LAW_SOFT) {
    bool fast = turn > SOFT_FAST_TURN && turn_of(m, d, tree, false) > SOFT_FAST_TURN;
    return fast ? TB_TURNS_FAST : TB_TURNS_SLOWLY;
  }
  // Forces of expo are those of the start as long as a step resolves them.
  bool by_middle = tb_turns_by_middle(&m->opt);
  tbTurning resolved = by_middle ? TB_TURNS : TB_TURNS_SLOWLY;
  if (is_free_body(m, tree)) {
    return turn > (by_middle ? FAST_TURN : RESOLVED_TURN) ? TB_TURNS_FAST : TB_TURNS_SLOWLY;
  }
  if (turn <= LEAST_TURN) return TB_TURNS_SLOWLY;
  if (turn <= RESOLVED_TURN) return resolved;
  // A wheel that spins turns no other body, but makes what carries it nod.
  tbReal rest = turn_of(m, d, tree, false), share = rest <= WIDE_TURN ? SHARE : WIDE_SHARE;
  if (rest > FAST_TURN) return TB_TURNS_FAST;
  if (rest < turn) share = tb_min(share, WHEEL_SHARE);
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  start_force(m, d, first, end, x);
  accelerate(m, factor_of(m, d), first, end, x);
  tree_motion(m, d, first, end, false, x);
  tbReal own = h * h * dot(x->u, x->b, first, end), twice = dot(x->w, x->p, first, end);
  return own <= share * twice ? resolved : TB_TURNS_FAST;
}

// Whether Coriolis forces move the velocity by themselves. Integrators of the viscoelastic law
// other than the exponential one are what their formulas say.
static bool is_semi_implicit(const tbOption* opt) {
  if (opt->law == TB_LAW_SOFT) return opt->integrator == TB_INTEGRATOR_EULER;
  return opt->integrator != TB_INTEGRATOR_RK4 && opt->integrator <= TB_INTEGRATOR_EXPO;
}

static Motion motion_in(const tbModel* m, tbReal* room) {
  return (Motion){room, room + m->nv, room + 2 * m->nv, room + 3 * m->nv};
}

tbTurning tb_turning(const tbModel* m, tbData* d) {
  Motion x = motion_in(m, d->scratch_nv);
  tbTurning most = TB_TURNS_SLOWLY;
  tbGyroscopicMidpoint turn;
  if (!is_semi_implicit(&m->opt)) return most;
  for (int t = 0; t < m->ntree; t++) {
    if (tb_turns_by_middle(&m->opt) && tb_gyroscopic_midpoint(m, d, t, &turn)) continue;
    tbTurning tree = turning_of(m, d, t, &x);
    if (tree > most) most = tree;
  }
  return most;
}

// b of the start, u = H^-1 b, and the velocity of (2).
static void find_middle(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, const Motion* x,
                        tbReal* middle) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  start_force(m, d, first, end, x);
  accelerate(m, H, first, end, x);
  for (int i = first; i < end; i++) middle[i] = d->qvel[i] - m->opt.timestep / 2 * x->u[i];
}

bool tb_middle_velocity(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal* u,
                        tbReal* v) {
  Motion x = motion_in(m, d->scratch_nv);
  if (turning_of(m, d, tree, &x) != TB_TURNS) return false;
  x.u = u;
  find_middle(m, d, H, tree, &x, v);
  return true;
}

// What (2) has beside b of the start.
static void add_middle(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal sign,
                       const Motion* x, tbReal* force) {
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  tbReal *middle = x->w, *b = x->p;
  find_middle(m, d, H, tree, x, middle);
  tb_coriolis(m, d, tree, middle, b);
  for (int i = first; i < end; i++) force[i] += sign * (x->b[i] - b[i]);
}

// A floating tree goes on with the momentum that it had before its joints moved: beside b, of which
// `share` acts, a force at its centre of mass. `gained` is what has come to it since.
static void keep_momentum(const tbModel* m, const tbData* d, int first, int end, const tbReal* b,
                          tbReal share, const tbReal gained[3], tbReal sign, tbReal* force) {
  if (m->jnt_type[m->dof_jntid[first]] != TB_JOINT_FREE) return;
  tbReal mass = d->qM[m->M_rowadr[first] + m->M_rownnz[first] - 1], a[3];
  for (int k = 0; k < 3; k++) {
    a[k] = sign * (share * b[first + k] - gained[k] / m->opt.timestep) / mass;
    force[first + k] += mass * a[k];
  }
  for (int i = first + 3; i < end; i++) force[i] += tb_dot3(d->qM + m->M_rowadr[i], a);
}

// What keeps a tree that turns fast from gaining by (1), and by what moving its joints does to M.
static void add_bound(const tbModel* m, tbData* d, int tree, tbReal sign, const Motion* x,
                      tbReal* force) {
  const tbReal h = m->opt.timestep;
  int first = m->tree_dofadr[tree], end = first + m->tree_dofnum[tree];
  bool is_free = is_free_body(m, tree), moves_by_end = !is_free && tb_turns_by_middle(&m->opt);
  tbReal growth = 0, gained[3];
  if (is_free) {
    rigid_motion(m, d, first, x);
  } else {
    start_force(m, d, first, end, x);
    accelerate(m, factor_of(m, d), first, end, x);
    tree_motion(m, d, first, end, true, x);
  }
  if (moves_by_end) growth = tb_kinetic_energy_growth(m, d, tree, h, gained);
  tbReal kept = share_kept(x, first, end, h, growth), lost = 1 - kept;
  for (int i = first; i < end; i++) force[i] += sign * lost * (x->b[i] - x->p[i] / h);
  if (moves_by_end) keep_momentum(m, d, first, end, x->b, kept, gained, sign, force);
}

bool tb_limit_kinetic_energy(const tbModel* m, tbData* d, tbInertiaFactor H, const tbReal* move,
                             tbReal* v, tbReal* start) {
  const tbReal h = m->opt.timestep;
  bool any = false;
  Motion x = motion_in(m, d->scratch_nv);
  for (int t = 0; t < m->ntree; t++) {
    int first = m->tree_dofadr[t], end = first + m->tree_dofnum[t];
    bool bounded = turning_of(m, d, t, &x) == TB_TURNS_FAST;
    if (!bounded && !turns_fast(m, t, v, is_off_centre(m, d, t) ? RESOLVED_TURN : FAST_TURN)) {
      continue;
    }
    // What the velocity would be without Coriolis forces, which make up for the move.
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
  Motion x = motion_in(m, d->scratch_nv);
  if (!is_semi_implicit(&m->opt)) return;
  for (int t = 0; t < m->ntree; t++) {
    tbGyroscopicMidpoint turn;
    if (tb_gyroscopic_midpoint(m, d, t, &turn)) {
      tbReal own[6];
      tb_gyroscopic_midpoint_force(&turn, own);
      for (int i = 0; i < 6; i++) force[turn.dof + i] += sign * own[i];
      continue;
    }
    tbTurning turning = turning_of(m, d, t, &x);
    if (turning == TB_TURNS) add_middle(m, d, H, t, sign, &x, force);
    if (turning == TB_TURNS_FAST) add_bound(m, d, t, sign, &x, force);
  }
}
