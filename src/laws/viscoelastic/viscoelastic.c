// Springs, anchors and limits of the viscoelastic law, and the explicit evaluation of its forces.
#include "dynamics/mass.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "forces/forces.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/timer.h"
#include "linalg/ltdl.h"
#include "model/floating.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "spatial/vec3.h"
#include "laws/certificate.h"
#include "forces/implicit_inertia.h"
#include "forces/stiff_springs.h"
#include "tribo/step.h"

// ---- parameters --------------------------------------------------------------------------------

// Stiffness and damping of a contact: its own if it has any, else those of the options.
static void contact_gains(const tbOption* opt, const tbContact* contact, tbReal* K, tbReal* B) {
  *K = contact->compliance > 0 ? 1 / contact->compliance : opt->contact_stiffness;
  int own = contact->compliance > 0 || contact->damping > 0;
  *B = own ? contact->damping : opt->contact_damping;
}

static void set_gains(const tbModel* m, const tbData* d, const tbConstraint* c, tbSpring* s) {
  tbReal K = m->opt.contact_stiffness, B = m->opt.contact_damping;
  const tbContact* contact = c->source == TB_SOURCE_CONTACT ? &d->contact[c->id] : NULL;
  if (contact) contact_gains(&m->opt, contact, &K, &B);
  tbReal tangent = contact && contact->tangentcompliance > 0 ? 1 / contact->tangentcompliance : K;
  for (int r = 0; r < c->dim; r++) {
    // Torsion and rolling act at the arm of their coefficient, which is a length.
    tbReal arm = contact && r > 2 ? contact->friction[r - 1] : 1;
    s->K[r] = (r == 0 ? K : tangent) * arm * arm;
    s->B[r] = B * arm * arm;
  }
}

// ---- anchors -----------------------------------------------------------------------------------

// Limits of hinges and balls are angles.
static int is_angle(const tbModel* m, const tbConstraint* c) {
  return c->source == TB_SOURCE_LIMIT_JOINT && tb_joint_limits_angle(m->jnt_type[c->id]);
}

tbReal tb_touch_gap(const tbModel* m) {
  return tb_integrator_is_explicit(m) ? 0 : TB_TOUCHING;
}

tbReal tb_first_depth(const tbModel* m, const tbConstraint* c) {
  if (c->source == TB_SOURCE_CONTACT && m->opt.contact_anchor_normal) return c->pos[0];
  if (c->source == TB_SOURCE_CONTACT && m->opt.contact_bilateral) return 0;
  int angle = is_angle(m, c);
  tbReal deep = angle ? TB_DEEP_ANGLE : TB_DEEP, fast = angle ? TB_FAST_TURN : TB_FAST;
  return tb_min(0, c->pos[0] + tb_max(deep, fast * m->opt.timestep));
}

tbReal tb_next_depth(const tbModel* m, const tbConstraint* c, tbReal depth) {
  if (c->source == TB_SOURCE_CONTACT && m->opt.contact_anchor_normal) return depth;
  return tb_min(0, depth + m->opt.correction_speed * m->opt.timestep);
}

static const int* bodies_of(const tbModel* m, const tbContact* contact, int body[2]) {
  body[0] = m->geom_bodyid[contact->geom[0]];
  body[1] = m->geom_bodyid[contact->geom[1]];
  return body;
}

static void relative_orientation(const tbData* d, const int body[2], tbReal q[4]) {
  tbReal inverse[4];
  tb_quat_conjugate(inverse, d->xquat + 4 * body[0]);
  tb_quat_mul(q, inverse, d->xquat + 4 * body[1]);
}

// Tangential stretch: the stored stretch, which turns with body 1, plus the displacement between
// the two contact points since then.
static void load_anchor(const tbModel* m, const tbData* d, const tbContact* contact,
                        const tbAnchor* anchor, tbSpring* s) {
  int body[2];
  bodies_of(m, contact, body);
  tbReal apart[3], at[2][3];
  for (int i = 0; i < 2; i++) {
    tb_mul_mat3_vec3(at[i], d->xmat + 9 * body[i], anchor->point[i]);
    tb_add3(at[i], at[i], d->xpos + 3 * body[i]);
  }
  tb_mul_mat3_vec3(apart, d->xmat + 9 * body[0], anchor->stretch);
  tb_add3(apart, apart, at[1]);
  tb_sub3(apart, apart, at[0]);
  for (int r = 1; r < 3 && r < s->dim; r++) {
    s->stretch[r] = tb_dot3(contact->frame + 3 * r, apart);
  }
  if (s->dim <= 3) return;

  // Angular rows: the rotation of body 2 relative to body 1 since then.
  tbReal now[4], before[4], change[4], twist[3], world[3];
  relative_orientation(d, body, now);
  tb_quat_conjugate(before, anchor->relative);
  tb_quat_mul(change, now, before);
  tb_quat_log(twist, change);
  tb_add3(twist, twist, anchor->twist);
  tb_mul_mat3_vec3(world, d->xmat + 9 * body[0], twist);
  for (int r = 3; r < s->dim; r++) s->stretch[r] = tb_dot3(contact->frame + 3 * (r - 3), world);
}

// The state of a spring's anchor; `anchor_slip`, if not NULL, is the anchor slip added to the
// stretch of its rows.
static void store_anchor(const tbModel* m, const tbData* d, const tbContact* contact,
                         const tbSpring* s, const tbReal* anchor_slip, tbAnchor* anchor) {
  int body[2];
  bodies_of(m, contact, body);
  for (int i = 0; i < 2; i++) {
    tbReal arm[3];
    tb_sub3(arm, contact->pos, d->xpos + 3 * body[i]);
    tb_mul_mat3t_vec3(anchor->point[i], d->xmat + 9 * body[i], arm);
  }
  tbReal world[3] = {0, 0, 0}, twist[3] = {0, 0, 0};
  for (int r = 1; r < 3 && r < s->dim; r++) {
    tbReal kept = s->stretch[r] + (anchor_slip ? anchor_slip[r] : 0);
    tb_add_scaled3(world, world, kept, contact->frame + 3 * r);
  }
  for (int r = 3; r < s->dim; r++) {
    tbReal kept = s->stretch[r] + (anchor_slip ? anchor_slip[r] : 0);
    tb_add_scaled3(twist, twist, kept, contact->frame + 3 * (r - 3));
  }
  tb_mul_mat3t_vec3(anchor->stretch, d->xmat + 9 * body[0], world);
  if (s->dim <= 3) return;
  tb_mul_mat3t_vec3(anchor->twist, d->xmat + 9 * body[0], twist);
  relative_orientation(d, body, anchor->relative);
}

// Coordinate of a dry friction's joint or tendon; 0 for dofs of ball and free joints, which have no
// single coordinate: their dry friction is a damper.
static int friction_position(const tbModel* m, const tbData* d, const tbConstraint* c, tbReal* y) {
  if (c->source == TB_SOURCE_FRICTION_TENDON) {
    *y = d->ten_length[c->id];
    return 1;
  }
  int joint = m->dof_jntid[c->id];
  *y = d->qpos[m->jnt_qposadr[joint]];
  return tb_joint_is_scalar(m->jnt_type[joint]);
}

tbResult tb_anchors_exchange(const tbStep* step) {
  const tbModel* m = step->m;
  const tbData* d = step->d;
  const tbStepState* state = step->state;
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbSprings* springs = &own->springs;
  tbAnchorTable* table = &own->spare;
  if (!tb_anchors_clear(table, springs->count)) return TB_ERROR_MEMORY;
  for (int i = 0; i < springs->count; i++) {
    const tbSpring* s = &springs->list[i];
    const tbConstraint* c = &state->constraints.list[s->constraint];
    tbAnchor anchor;
    memset(&anchor, 0, sizeof anchor);
    anchor.key = c->key;
    anchor.depth = tb_next_depth(m, c, s->depth);
    anchor.supplied = own->supplied ? own->supplied[s->constraint] : INFINITY;
    tbReal y;
    if (c->source == TB_SOURCE_CONTACT) {
      const tbReal* anchor_slip = own->anchor_slip ? own->anchor_slip + c->row : NULL;
      store_anchor(m, d, &d->contact[c->id], s, anchor_slip, &anchor);
    } else if (c->source == TB_SOURCE_EQUALITY) {
      continue;
    } else if (c->source < TB_SOURCE_LIMIT_JOINT && friction_position(m, d, c, &y)) {
      anchor.point[0][0] = y;
      anchor.stretch[0] = s->stretch[0];
    }
    tb_anchors_put(table, &anchor);
  }
  tb_anchors_restore(step);
  return TB_OK;
}

void tb_anchors_restore(const tbStep* step) {
  tbViscoelasticState* own = tb_viscoelastic_state(step->state);
  tbAnchorTable swap = own->anchors;
  own->anchors = own->spare;
  own->spare = swap;
}

// ---- springs -----------------------------------------------------------------------------------

// The stretch of a constraint's rows before any slip. Returns 0 where it does not act.
static int measure_stretch(const tbModel* m, const tbData* d, const tbStepState* state,
                           const tbConstraint* c, tbSpring* s) {
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbAnchor* anchor = tb_anchors_get(&own->anchors, c->key);
  switch (c->source) {
    case TB_SOURCE_EQUALITY:
      for (int r = 0; r < c->dim; r++) s->stretch[r] = c->pos[r];
      return 1;
    case TB_SOURCE_FRICTION_DOF:
    case TB_SOURCE_FRICTION_TENDON: {
      tbReal y;
      if (friction_position(m, d, c, &y) && anchor) {
        s->stretch[0] = anchor->stretch[0] + y - anchor->point[0][0];
      }
      return 1;
    }
    case TB_SOURCE_CONTACT:
      // A bilateral contact, once made, acts as long as it is detected.
      s->depth = anchor ? anchor->depth : tb_first_depth(m, c);
      s->stretch[0] = c->pos[0] - s->depth;
      if (anchor) load_anchor(m, d, &d->contact[c->id], anchor, s);
      return c->pos[0] <= tb_touch_gap(m) || (m->opt.contact_bilateral && anchor);
    default:
      s->depth = anchor ? anchor->depth : tb_first_depth(m, c);
      s->stretch[0] = c->pos[0] - s->depth;
      return c->pos[0] <= 0;
  }
}

// If friction was limited, the anchor has moved to where the limited force puts it, and follows the
// point (EXP eq. 27-28: K (p0 - p) = lambda, p0' = p').
static void slip(const tbConstraint* c, tbSpring* s) {
  int first = c->source == TB_SOURCE_CONTACT;
  for (int r = first; r < c->dim; r++) {
    s->stretch[r] = s->K[r] > 0 ? -s->force[r] / s->K[r] : 0;
    s->rate[r] = 0;
  }
  s->slipping = 1;
}

// Inverse weight of a contact's bodies, at the reference pose, 1/kg.
static tbReal contact_weight(const tbModel* m, const tbData* d, const tbConstraint* c) {
  const tbContact* contact = &d->contact[c->id];
  tbReal w = 0;
  for (int i = 0; i < 2; i++) w += m->body_invweight0[2 * m->geom_bodyid[contact->geom[i]]];
  return w;
}

// The energy stored in the springs of a constraint, J.
static tbReal spring_energy(const tbSpring* s) {
  tbReal stored = 0;
  for (int r = 0; r < s->dim; r++) stored += 0.5 * s->K[r] * s->stretch[r] * s->stretch[r];
  return stored;
}

// The overlap at first detection was not made by a force that compressed the spring: so the spring
// separates the bodies no faster than they approached, or than correction_speed. An overlap deeper
// than the motion of one step existed before. See docs/manual/viscoelastic.md.
static bool soften_first(const tbModel* m, const tbConstraint* c, tbReal w, tbSpring* s) {
  tbReal way = 0;
  for (int r = 0; r < 3 && r < s->dim; r++) way += s->velocity[r] * s->velocity[r];
  if (-c->pos[0] > m->opt.timestep * sqrt(way) || !(w * s->K[0] > 0)) return false;
  tbReal time = tb_max(s->B[0] / s->K[0], sqrt(1 / (w * s->K[0])));
  tbReal most = time * tb_max(m->opt.correction_speed, -s->velocity[0]);
  if (!(s->stretch[0] < -most)) return false;
  s->depth += s->stretch[0] + most;
  s->stretch[0] = -most;
  return true;
}

// Springs store the energy that bodies supplied. If a step did not resolve the motion of the
// points, springs store more: the energy that they would return, all of it or the remainder of an
// overdamped contact, is limited to twice the supplied energy plus that of correction_speed.
static bool bound_stretch(const tbModel* m, const tbAnchor* anchor, tbReal w, tbSpring* s) {
  if (s->stretch[0] > 0) return false;
  tbReal stored = spring_energy(s), v = m->opt.correction_speed;
  tbReal comes = s->B[0] > 0 ? tb_min(1, s->K[0] / (w * s->B[0] * s->B[0])) : 1;
  s->supplied = anchor ? tb_min(stored, anchor->supplied) : comes * stored;
  if (!anchor || !(w > 0)) return false;
  tbReal most = 2 * s->supplied + 0.5 * v * v / w;
  if (!(comes * stored > most)) return false;
  tbReal kept = sqrt(most / (comes * stored));
  s->depth += (1 - kept) * s->stretch[0];
  for (int r = 0; r < s->dim; r++) s->stretch[r] *= kept;
  return true;
}

static void set_forces(const tbModel* m, const tbData* d, const tbConstraint* c, tbSpring* s) {
  s->slipping = 0;
  for (int r = 0; r < c->dim; r++) {
    s->rate[r] = s->velocity[r];
    s->raw[r] = s->force[r] = -s->K[r] * s->stretch[r] - s->B[r] * s->rate[r];
  }
  if (tb_spring_limit(m, d, c, s->force) && c->source != TB_SOURCE_LIMIT_JOINT &&
      c->source != TB_SOURCE_LIMIT_TENDON) {
    slip(c, s);
  }
}

bool tb_contact_is_unresolved(const tbModel* m, const tbData* d, const tbConstraint* c) {
  // Integrators that locate the start of contacts, and unlimited springs, are not modified.
  if (tb_integrator_is_explicit(m) || m->opt.integrator > TB_INTEGRATOR_EXPO) return false;
  if (c->source != TB_SOURCE_CONTACT || m->opt.contact_bilateral) return false;
  const tbContact* contact = &d->contact[c->id];
  for (int i = 0; i < 2; i++) {
    int body = m->geom_bodyid[contact->geom[i]], tree = m->body_treeid[body];
    if (tree < 0) continue;
    bool alone = tb_tree_is_free_body(m, tree);
    tbReal turn = m->opt.timestep * tb_norm3(d->cvel + 6 * body);
    if (turn > (alone ? TB_UNRESOLVED_FREE_TURN : TB_UNRESOLVED_TURN)) return true;
  }
  return false;
}

static bool bound_contact(const tbModel* m, const tbData* d, const tbStepState* state,
                          const tbConstraint* c, tbSpring* s) {
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  const tbAnchor* anchor = tb_anchors_get(&own->anchors, c->key);
  tbReal w = contact_weight(m, d, c);
  bool softer = !anchor && soften_first(m, c, w, s);
  return bound_stretch(m, anchor, w, s) || softer;
}

tbResult tb_springs_measure(const tbStep* step) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  const tbStepState* state = step->state;
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  tbSprings* springs = &own->springs;
  own->anchor_slip = own->turn = own->supplied = NULL;
  own->unresolved = false;
  const tbConstraints* cs = &state->constraints;
  springs->count = 0;
  springs->list = tb_arena_alloc(&d->work->arena, sizeof(tbSpring) * (size_t)(cs->count + 1));
  if (!springs->list) return TB_ERROR_MEMORY;
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    tbSpring* s = &springs->list[springs->count];
    memset(s, 0, sizeof *s);
    s->constraint = i;
    s->dim = c->dim;
    if (!measure_stretch(m, d, state, c, s)) continue;
    set_gains(m, d, c, s);
    for (int r = 0; r < c->dim; r++) {
      const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
      for (int k = 0; k < c->nnz; k++) s->rate[r] += J[k] * d->qvel[c->col[k]];
      s->velocity[r] = s->rate[r];
    }
    set_forces(m, d, c, s);
    s->supplied = spring_energy(s);
    if (tb_contact_is_unresolved(m, d, c) && bound_contact(m, d, state, c, s)) {
      set_forces(m, d, c, s);
      own->unresolved = true;
    }
    springs->count++;
  }
  return TB_OK;
}

// ---- velocity ----------------------------------------------------------------------------------

// Impulses of the forces at the start of the step.
static void explicit_impulses(const tbModel* m, const tbStepState* state, const tbIslands* islands,
                              const tbReal* force) {
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    tbReal* lambda = island->lambda;
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &state->constraints.list[island->member[k]];
      for (int r = 0; r < c->dim; r++) *lambda++ = m->opt.timestep * force[c->row + r];
    }
  }
}

// Generalised force of the forces by row.
static void gather_rows(const tbConstraints* cs, const tbReal* force, tbReal* out) {
  for (int i = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    for (int r = 0; r < c->dim; r++) {
      tbReal f = force[c->row + r];
      const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
      if (f == 0) continue;
      for (int k = 0; k < c->nnz; k++) out[c->col[k]] += f * J[k];
    }
  }
}

// Forces by rows: limited and constant (explicit), or the mean over the step and the mean of its
// running mean (expo).
static tbResult row_forces(const tbStep* step, tbInertiaFactor factor, const tbReal* qacc_free,
                           tbIslands* islands, tbReal* second) {
  const tbModel* m = step->m;
  const tbStepState* state = step->state;
  const tbSprings* springs = &tb_viscoelastic_state(state)->springs;
  if (!tb_integrator_is_explicit(m)) {
    return tb_expo_forces(step, springs, factor, qacc_free, islands, second);
  }
  for (int i = 0; i < springs->count; i++) {
    const tbSpring* s = &springs->list[i];
    tbReal* force = second + state->constraints.list[s->constraint].row;
    for (int r = 0; r < s->dim; r++) force[r] = s->force[r];
  }
  explicit_impulses(m, state, islands, second);
  return TB_OK;
}

int tb_integrator_is_explicit(const tbModel* m) {
  int integrator = m->opt.integrator;
  return integrator == TB_INTEGRATOR_RK4 || integrator == TB_INTEGRATOR_EULER_EXPLICIT ||
         integrator == TB_INTEGRATOR_EULER_IMPLICIT;
}

// Acceleration without contacts; expo takes joint dampers, springs and servos implicitly, except at
// the middle of a step, whose values already are the means.
static tbResult free_acceleration(const tbModel* m, tbData* d, bool as_they_are,
                                  tbInertiaFactor* factor, tbReal* qacc_free) {
  tbImplicit what = as_they_are ? TB_IMPLICIT_NOTHING : TB_IMPLICIT_SPRINGS;
  tbResult result = tb_implicit_factor(m, d, what, factor);
  if (result != TB_OK) return result;
  memcpy(qacc_free, d->qfrc_smooth, sizeof(tbReal) * (size_t)m->nv);
  if (!as_they_are) tb_stiffness_mean(m, d, qacc_free);
  // The factor includes the implicit springs, if there are any.
  if (factor->LD == d->qLD) {
    memcpy(qacc_free, d->qacc_smooth, sizeof(tbReal) * (size_t)m->nv);
  } else {
    tb_ltdl_solve(tb_forest(m), factor->LD, factor->inverse, qacc_free);
  }
  return TB_OK;
}

tbResult tb_viscoelastic_velocity(const tbStep* step, tbReal* v_next) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  tbViscoelasticState* own = tb_viscoelastic_state(state);
  tbArena* arena = &d->work->arena;
  tbReal h = m->opt.timestep, start = tb_seconds();
  tbConstraints* cs = &state->constraints;
  tbReal* qacc_free = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  tbReal* move = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  tbReal* second = TB_ARENA_NEW(arena, tbReal, cs->nrow);
  tbReal* room = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(m->nv + 1));
  if (!qacc_free || !move || !second || !room) return TB_ERROR_MEMORY;

  own->frozen_match = step->purpose.frozen_springs && tb_springs_restore_frozen(d, state);

  tbInertiaFactor factor;
  bool as_they_are = tb_integrator_is_explicit(m) || own->frozen_match;
  tbResult result = free_acceleration(m, d, as_they_are, &factor, qacc_free);
  if (result != TB_OK) return result;

  // Forces of the springs, as impulses of islands and for the position.
  tbIslands* islands = &state->islands;
  for (int i = 0; i < m->nv; i++) v_next[i] = d->qvel[i] + h * qacc_free[i];
  result = tb_assemble_groups(m, d, cs, islands);
  if (result == TB_OK) result = tb_assemble_terms(m, d, cs, (tbInertiaFactor){0}, v_next, islands);
  tbReal assemble_end = tb_seconds();
  d->seconds.assemble += assemble_end - start;
  if (result == TB_OK) result = row_forces(step, factor, qacc_free, islands, second);
  if (result != TB_OK) return result;
  tb_store_forces(m, d, state, islands);
  d->seconds.solve += tb_seconds() - assemble_end;

  tbForest forest = tb_forest(m);
  // v+ = v + h a, and the mean velocity v + h a2 / 2 that moves the configuration (EXP eq. 14, 19,
  // 24, 26, 34).
  memset(d->qfrc_constraint, 0, sizeof(tbReal) * (size_t)m->nv);
  memset(move, 0, sizeof(tbReal) * (size_t)m->nv);
  gather_rows(cs, state->row_force, d->qfrc_constraint);
  memcpy(d->qacc, d->qfrc_constraint, sizeof(tbReal) * (size_t)m->nv);
  tb_ltdl_solve(forest, factor.LD, factor.inverse, d->qacc);
  if (tb_integrator_is_explicit(m)) {
    memcpy(move, d->qacc, sizeof(tbReal) * (size_t)m->nv);
  } else {
    gather_rows(cs, second, move);
    tb_ltdl_solve(forest, factor.LD, factor.inverse, move);
  }
  for (int i = 0; i < m->nv; i++) {
    tbReal v_free = v_next[i];
    d->qacc[i] += qacc_free[i];
    v_next[i] = d->qvel[i] + h * d->qacc[i];
    move[i] = d->qvel[i] + 0.5 * h * (qacc_free[i] + move[i]);
    qacc_free[i] = v_free;
  }
  // Trees that turn too far for the step to resolve.
  if (!step->purpose.substep && m->opt.integrator <= TB_INTEGRATOR_EXPO &&
      !tb_integrator_is_explicit(m) && tb_limit_kinetic_energy(m, d, factor, move, v_next, room)) {
    own->unresolved = true;
    for (int i = 0; i < m->nv; i++) d->qacc[i] = (v_next[i] - d->qvel[i]) / h;
  }
  state->v_move = move;
  d->solve.law = "viscoelastic";
  d->solve.solver = tb_integrator_is_explicit(m) ? "explicit" : "expo";
  d->solve.status = TB_SOLVE_CONVERGED;
  state->v_free = qacc_free;
  return TB_OK;
}
