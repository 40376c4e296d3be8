// Drift of contacts along their surface. Rows that hold velocities at the start of a step let
// points that stick move along the tangents of their paths, apart by h^2/2 of the difference of
// dJ/dt v in every step: a box on a turntable goes outwards by h/2 w^2 r. So the rows of sliding
// hold the mean velocity over the step instead. See docs/step.md.
#include <math.h>
#include <stdbool.h>

#include "contact/assemble.h"
#include "spatial/motion.h"
#include "spatial/vec3.h"
#include "tribo/dynamics.h"

// rad: the drift of a body that turns by more in a step fades, faster than it grows.
static const tbReal FAST_TURN = 0.1;

// How far the place of a contact may be from the middle of a body that rolls there: what is round
// touches at another of its points all the time.
static tbReal reach_of(const tbModel* m, const int geom[2]) {
  tbReal one = m->geom_rbound[geom[0]], two = m->geom_rbound[geom[1]];
  return one > 0 && two > 0 ? fmin(one, two) : fmax(one, two);
}

// The angular velocity that both bodies have in common: what is nearest to zero between theirs.
static void set_common(const tbReal one[3], const tbReal two[3], tbSlipDrift* out) {
  tbReal square = tb_dot3(out->spin, out->spin);
  out->between = square > 0 ? fmin(fmax(-tb_dot3(one, out->spin) / square, 0), 1) : 0;
  for (int k = 0; k < 3; k++) out->common[k] = (1 - out->between) * one[k] + out->between * two[k];
}

// The body that turns fastest of a body and those it hangs on, whose turns are in its drift too.
static int fastest_of(const tbModel* m, const tbData* d, int body) {
  int fastest = body;
  tbReal most = 0;
  for (; body > 0; body = m->body_parentid[body]) {
    tbReal square = tb_dot3(d->cvel + 6 * body, d->cvel + 6 * body);
    if (square > most) fastest = body;
    most = fmax(most, square);
  }
  return fastest;
}

void tb_slip_drift(const tbModel* m, const tbData* d, const tbConstraint* c, tbSlipDrift* out) {
  const tbContact* contact = &d->contact[c->id];
  tbReal h = m->opt.timestep, drift[3] = {0, 0, 0}, turned[3];
  const tbReal* twist[2];
  *out = (tbSlipDrift){.reach = reach_of(m, contact->geom)};
  for (int side = 0; side < 2; side++) {
    int body = m->geom_bodyid[contact->geom[side]];
    const tbReal* omega = twist[side] = d->cvel + 6 * body;
    if (m->body_lastdof[body] < 0) continue;
    out->fastest[side] = fastest_of(m, d, body);
    tbReal turn = h * tb_norm3(d->cvel + 6 * out->fastest[side]), sign = side ? 1 : -1;
    tbReal slow = turn > FAST_TURN ? FAST_TURN / turn : 1;
    out->fade[side] = slow * slow * slow * slow;
    tb_jac_dot_v(m, d, body, contact->pos, out->drift[side], NULL);
    tb_add_scaled3(drift, drift, sign * out->fade[side], out->drift[side]);
    tb_add_scaled3(out->spin, out->spin, sign, omega);
    tbReal arm[3], velocity[3];
    tb_sub3(arm, contact->pos, d->subtree_com + 3 * m->body_rootid[body]);
    tb_motion_at(velocity, omega, arm);
    tb_add_scaled3(out->velocity, out->velocity, sign, velocity);
  }
  // What slips on a surface that turns goes on turning with it.
  set_common(twist[0], twist[1], out);
  tb_cross(turned, out->common, out->velocity);
  tb_add_scaled3(drift, drift, -2, turned);
  for (int k = 0; k < 3; k++) out->along[k] = tb_dot3(contact->frame + 3 * k, drift);
  out->about = tb_dot3(contact->frame, out->spin);
  tbReal roll2 = tb_dot3(out->spin, out->spin) - out->about * out->about;
  tbReal reach2 = out->reach * out->reach, half = 0.5 * h;
  out->size2[0] = out->along[0] * out->along[0];
  out->size2[1] = out->along[1] * out->along[1] + out->along[2] * out->along[2];
  out->unsure2[0] = roll2 * roll2 * reach2;
  out->unsure2[1] = out->about * out->about * roll2 * reach2;
  for (int k = 0; k < 2; k++) {
    bool counts = out->size2[k] > out->unsure2[k];
    out->share[k] = counts ? half * (1 - out->unsure2[k] / out->size2[k]) : 0;
  }
  if (contact->compliance > 0) out->share[0] = 0;
}
