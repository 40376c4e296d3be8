// Co-rotating contacts: velocity-product terms of contacts between bodies that turn together, as an
// object in a hand or on a turntable. Rows that fix velocities at the start of a step let sticking
// points move along the tangents of their paths, apart by h^2/2 of the difference of dJ/dt v in
// every step: a box on a turntable drifts outwards by h/2 w^2 r. Such rows constrain the mean
// velocity over the step instead (docs/notebook/contact-rows.md, eq. 11). If the bodies turn
// relative to each other, the points of a contact patch separate by themselves, and such rows for
// all of them would contradict each other.

#include "base/minmax.h"
#include "assemble/assemble.h"
#include "spatial/motion.h"
#include "spatial/vec3.h"
#include "tribo/dynamics.h"

// rad: if a body turns by more in a step, its velocity-product term is reduced, faster than it
// grows.
static const tbReal FAST_TURN = 0.1;

// The common angular velocity, the point closest to zero between those of both bodies, and the
// factor of the velocity-product term. False: the bodies do not co-rotate.
static bool find_common_rotation(const tbReal one[3], const tbReal two[3], tbReal h,
                                 tbCorotation* out) {
  if (!(tb_dot3(one, two) > 0)) return false;
  tb_sub3(out->spin, two, one);
  tbReal square = tb_dot3(out->spin, out->spin);
  out->between = square > 0 ? tb_min(tb_max(-tb_dot3(one, out->spin) / square, 0), 1) : 0;
  tb_add_scaled3(out->common, one, out->between, out->spin);
  tbReal most = TB_TOGETHER * TB_TOGETHER * tb_dot3(out->common, out->common);
  out->share = square < most ? 0.5 * h * (1 - square / most) : 0;
  return out->share > 0;
}

// The fastest turning one among a body and its ancestors, whose rotations contribute to its
// velocity-product term.
static int fastest_of(const tbModel* m, const tbData* d, int body) {
  int fastest = body;
  tbReal most = 0;
  for (; body > 0; body = m->body_parentid[body]) {
    tbReal square = tb_dot3(d->cvel + 6 * body, d->cvel + 6 * body);
    if (square > most) fastest = body;
    most = tb_max(most, square);
  }
  return fastest;
}

bool tb_contact_corotation(const tbModel* m, const tbData* d, const tbConstraint* c,
                           tbCorotation* out) {
  const tbContact* contact = &d->contact[c->id];
  int body[2] = {m->geom_bodyid[contact->geom[0]], m->geom_bodyid[contact->geom[1]]};
  tbReal h = m->opt.timestep, drift[3] = {0, 0, 0}, turned[3];
  // Links of one robot in contact may not be able to move as these terms require.
  if (m->body_rootid[body[0]] == m->body_rootid[body[1]]) return false;
  if (!find_common_rotation(d->cvel + 6 * body[0], d->cvel + 6 * body[1], h, out)) return false;
  tb_zero3(out->velocity);
  for (int side = 0; side < 2; side++) {
    tbReal sign = side ? 1 : -1, arm[3], velocity[3];
    out->fastest[side] = fastest_of(m, d, body[side]);
    tbReal turn = h * tb_norm3(d->cvel + 6 * out->fastest[side]);
    tbReal slow = turn > FAST_TURN ? FAST_TURN / turn : 1;
    out->fade[side] = slow * slow * slow * slow;
    tb_jac_dot_v(m, d, body[side], contact->pos, out->drift[side], NULL);
    tb_add_scaled3(drift, drift, sign * out->fade[side], out->drift[side]);
    tb_sub3(arm, contact->pos, d->subtree_com + 3 * m->body_rootid[body[side]]);
    tb_motion_at(velocity, d->cvel + 6 * body[side], arm);
    tb_add_scaled3(out->velocity, out->velocity, sign, velocity);
  }
  // A point that slips on a rotating surface continues to rotate with it.
  tb_cross(turned, out->common, out->velocity);
  tb_add_scaled3(drift, drift, -2, turned);
  for (int k = 0; k < 3; k++) out->along[k] = tb_dot3(contact->frame + 3 * k, drift);
  if (contact->compliance > 0) out->along[0] = 0;
  return true;
}
