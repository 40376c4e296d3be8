// Coriolis and gyroscopic forces of trees that turn fast. Taken at the start of a step, as a
// semi-implicit step takes them, they add kinetic energy: with b their generalized force,
// u = M^-1 b, and w the velocity relative to the centre of mass of a floating tree,
//
//     T'(h) = 1/2 (w - h u)^T M (w - h u) = T - h w^T b + h^2/2 u^T b.
//
// The last term is the scheme's alone; w^T b is what the motion itself does to T at fixed M, zero
// for a free body. Where a body turns by more than 0.1 rad in a step the term grows to percents,
// and the energy without bound. There the step ends at s (w - h u), with s such that T does not
// grow by it, which is a force (1 - s) (b - M w / h) beside b. A body that flies free keeps
// its energy and momentum by itself (free_turn.c). See docs/step.md.
#include <math.h>
#include <string.h>

#include "dynamics/gravity.h"
#include "dynamics/mass.h"
#include "linalg/small.h"
#include "model/workspace.h"
#include "step/forces.h"
#include "step/free_turn.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// Turn of a body in a step from which on it is fast, rad. The soft law's motion is MuJoCo's, its
// growing energy included, as far as that means anything.
static const tbReal FAST_TURN = 0.1, SOFT_FAST_TURN = 1, EXPO_FAST_TURN = 0.5;

static bool turns_fast(const tbModel* m, const tbData* d, int tree) {
  tbReal turn = m->opt.law == TB_LAW_SOFT           ? SOFT_FAST_TURN
                : m->opt.law == TB_LAW_VISCOELASTIC ? EXPO_FAST_TURN
                                                    : FAST_TURN;
  tbReal most = turn / m->opt.timestep;
  int first = m->tree_bodyadr[tree], end = first + m->tree_bodynum[tree];
  for (int i = first; i < end; i++) {
    const tbReal* omega = d->cvel + 6 * i;
    if (tb_dot3(omega, omega) > most * most) return true;
  }
  return false;
}

// b: the bias force without the weight. Dofs of one tree.
static void velocity_bias(const tbModel* m, const tbData* d, int first, int end, tbReal* b) {
  tbReal gravity[6];
  tb_gravity_acceleration(m, gravity);
  for (int i = first; i < end; i++) {
    tbReal weight[6];
    tb_inertia_mul(weight, d->crb + 10 * m->dof_bodyid[i], gravity);
    b[i] = d->qfrc_bias[i] - tb_dot6(d->cdof + 6 * i, weight);
  }
}

// By dof: b, u = M^-1 b, w, p = M w.
typedef struct {
  tbReal *b, *u, *w, *p;
} Motion;

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

// A tree of several joints. A floating one's translation is left out of w and p.
static void tree_motion(const tbModel* m, const tbData* d, int first, int end, const Motion* x) {
  velocity_bias(m, d, first, end, x->b);
  for (int i = first; i < end; i++) {
    x->u[i] = x->b[i];
    x->w[i] = d->qvel[i];
  }
  tb_factor_ready(m, d);
  tb_ltdl_solve_range(tb_forest(m), d->qLD, d->qLDiagInv, x->u, first, end);
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

// s: how much of w - h u the tree keeps.
static tbReal share_kept(const Motion* x, int first, int end, tbReal h) {
  tbReal twice = 0, cross = 0, square = 0;
  for (int i = first; i < end; i++) {
    twice += x->w[i] * x->p[i];
    cross += x->w[i] * x->b[i];
    square += x->u[i] * x->b[i];
  }
  // What the motion does to T is believed where it slows down.
  tbReal wanted = fmax(0, twice - 2 * h * fmax(0, cross));
  tbReal reached = twice - 2 * h * cross + h * h * square;
  return reached > wanted ? sqrt(wanted / reached) : 1;
}

// Whether Coriolis forces are those of the start of the step and move the velocity by themselves.
// Integrators of the viscoelastic law other than the exponential one are what their formulas say.
static bool is_semi_implicit(const tbOption* opt) {
  if (opt->law == TB_LAW_SOFT) return opt->integrator == TB_INTEGRATOR_EULER;
  return opt->integrator != TB_INTEGRATOR_RK4 && opt->integrator <= TB_INTEGRATOR_EXPO;
}

bool tb_turns_fast(const tbModel* m, const tbData* d) {
  tbFreeTurn turn;
  if (!is_semi_implicit(&m->opt)) return false;
  for (int t = 0; t < m->ntree; t++) {
    if (turns_fast(m, d, t) && !tb_free_turn(m, d, t, &turn)) return true;
  }
  return false;
}

void tb_bound_coriolis(const tbModel* m, tbData* d, tbReal sign, tbReal* force) {
  if (!is_semi_implicit(&m->opt)) return;
  tbReal h = m->opt.timestep, *room = d->scratch_nv;
  Motion x = {room, room + m->nv, room + 2 * m->nv, room + 3 * m->nv};
  bool any = false;
  for (int t = 0; t < m->ntree; t++) {
    tbFreeTurn turn;
    if (tb_free_turn(m, d, t, &turn)) {
      tbReal own[6];
      tb_free_turn_force(&turn, own);
      for (int i = 0; i < 6; i++) force[turn.dof + i] += sign * own[i];
      continue;
    }
    if (!turns_fast(m, d, t)) continue;
    int first = m->tree_dofadr[t], end = first + m->tree_dofnum[t];
    if (!any) tb_mul_m(m, d, x.p, d->qvel);
    any = true;
    if (end == first + 6 && m->jnt_type[m->dof_jntid[first]] == TB_JOINT_FREE) {
      rigid_motion(m, d, first, &x);
    } else {
      tree_motion(m, d, first, end, &x);
    }
    tbReal lost = 1 - share_kept(&x, first, end, h);
    for (int i = first; i < end; i++) force[i] += sign * lost * (x.b[i] - x.p[i] / h);
  }
}
