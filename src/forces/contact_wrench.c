// Wrenches, velocities and states of contacts, for the user.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/minmax.h"
#include "forces/forces.h"
#include "model/law_kinds.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "tribo/contact.h"
#include "tribo/dynamics.h"

// Friction counts as at its limit within this fraction of it.
static const tbReal AT_LIMIT = 1e-3;

static tbResult check_world(const tbModel* m, const tbData* d, const void* out, const char* name,
                            tbError* error) {
  tb_error_clear(error);
  if (!m || !d) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%s is NULL", m ? "data" : "model");
  }
  if (!tb_is_world_of(m, d)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "data is a world of another model");
  }
  return out ? TB_OK : tb_fail(error, TB_ERROR_ARGUMENT, "%s is NULL", name);
}

static tbResult check_index(const char* name, int i, int count, tbError* error) {
  if (i >= 0 && i < count) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "%s %d does not exist: expected 0 to %d", name, i,
                 count - 1);
}

static tbResult check_contact(const tbData* d, int contact, tbError* error) {
  if (contact >= 0 && contact < d->ncon) return TB_OK;
  char has[64] = "there are no contacts";
  if (d->ncon > 0) {
    snprintf(has, sizeof has, "%d contact%s (0 to %d)", d->ncon, d->ncon > 1 ? "s" : "",
             d->ncon - 1);
  }
  return tb_fail(error, TB_ERROR_ARGUMENT, "contact %d does not exist: %s", contact, has);
}

static tbResult check_point(const tbReal about[3], tbError* error) {
  if (!about || (isfinite(about[0]) && isfinite(about[1]) && isfinite(about[2]))) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "about is not finite");
}

// ---- wrenches ----------------------------------------------------------------------------------

// wrench += sign * that of a contact on its geom 2, about a point.
static void add_contact(const tbContact* c, tbReal sign, const tbReal about[3], tbReal wrench[6]) {
  tbReal force[3], torque[3], arm[3], moment[3];
  tb_mul_mat3t_vec3(force, c->frame, c->force);
  tb_mul_mat3t_vec3(torque, c->frame, c->force + 3);
  tb_sub3(arm, c->pos, about);
  tb_cross(moment, arm, force);
  for (int k = 0; k < 3; k++) {
    wrench[k] += sign * force[k];
    wrench[3 + k] += sign * (torque[k] + moment[k]);
  }
}

// Sum over the contacts between `on` and `by` (-1: any), which are geoms or, by `body_of`, bodies.
static void add_contacts(const tbData* d, const int* body_of, int on, int by, const tbReal about[3],
                         tbReal wrench[6]) {
  memset(wrench, 0, sizeof(tbReal[6]));
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    for (int side = 0; side < 2; side++) {
      int me = c->geom[side], other = c->geom[1 - side];
      if (body_of) {
        me = body_of[me];
        other = body_of[other];
      }
      if (me == on && (by < 0 || other == by)) add_contact(c, side ? 1 : -1, about, wrench);
    }
  }
}

tbResult tb_contact_wrench(const tbModel* m, const tbData* d, int contact, int on_geom,
                           tbReal wrench[6], tbError* error) {
  tbResult result = check_world(m, d, wrench, "wrench", error);
  if (result == TB_OK) result = check_contact(d, contact, error);
  if (result != TB_OK) return result;
  const tbContact* c = &d->contact[contact];
  if (on_geom != c->geom[0] && on_geom != c->geom[1]) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "on_geom is %d, but contact %d is of geoms %d and %d",
                   on_geom, contact, c->geom[0], c->geom[1]);
  }
  memset(wrench, 0, sizeof(tbReal[6]));
  add_contact(c, on_geom == c->geom[1] ? 1 : -1, c->pos, wrench);
  return TB_OK;
}

tbResult tb_geom_contact_wrench(const tbModel* m, const tbData* d, int geom, const tbReal about[3],
                                tbReal wrench[6], tbError* error) {
  tbResult result = check_world(m, d, wrench, "wrench", error);
  if (result == TB_OK) result = check_index("geom", geom, m->ngeom, error);
  if (result == TB_OK) result = check_point(about, error);
  if (result != TB_OK) return result;
  add_contacts(d, NULL, geom, -1, about ? about : d->geom_xpos + 3 * geom, wrench);
  return TB_OK;
}

tbResult tb_body_contact_wrench(const tbModel* m, const tbData* d, int body, const tbReal about[3],
                                tbReal wrench[6], tbError* error) {
  tbResult result = check_world(m, d, wrench, "wrench", error);
  if (result == TB_OK) result = check_index("body", body, m->nbody, error);
  if (result == TB_OK) result = check_point(about, error);
  if (result != TB_OK) return result;
  add_contacts(d, m->geom_bodyid, body, -1, about ? about : d->xipos + 3 * body, wrench);
  return TB_OK;
}

void tb_body_contact_wrenches(const tbModel* m, const tbData* d, tbReal* wrench) {
  memset(wrench, 0, sizeof(tbReal[6]) * (size_t)m->nbody);
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    for (int side = 0; side < 2; side++) {
      int body = m->geom_bodyid[c->geom[side]];
      add_contact(c, side ? 1 : -1, d->xipos + 3 * body, wrench + 6 * body);
    }
  }
}

tbResult tb_pair_contact_wrench(const tbModel* m, const tbData* d, int on_body, int by_body,
                                const tbReal about[3], tbReal wrench[6], tbError* error) {
  tbResult result = check_world(m, d, wrench, "wrench", error);
  if (result == TB_OK) result = check_index("on_body", on_body, m->nbody, error);
  if (result == TB_OK) result = check_index("by_body", by_body, m->nbody, error);
  if (result == TB_OK) result = check_point(about, error);
  if (result != TB_OK) return result;
  add_contacts(d, m->geom_bodyid, on_body, by_body, about ? about : d->xipos + 3 * on_body, wrench);
  return TB_OK;
}

// ---- velocities and states ---------------------------------------------------------------------

// twist += sign * (linear, angular) velocity of a body's point at data->qvel.
static void add_velocity(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                         tbReal sign, tbReal twist[6]) {
  const int* dofs;
  int n = tb_chain(m, body, &dofs);
  const tbReal* centre = d->subtree_com + 3 * m->body_rootid[body];
  tbReal arm[3];
  tb_sub3(arm, point, centre);
  for (int k = 0; k < n; k++) {
    const tbReal* axis = d->cdof + 6 * dofs[k];
    tbReal speed = sign * d->qvel[dofs[k]], swept[3];
    tb_cross(swept, axis, arm);
    for (int i = 0; i < 3; i++) {
      twist[i] += speed * (axis[3 + i] + swept[i]);
      twist[3 + i] += speed * axis[i];
    }
  }
}

tbResult tb_contact_velocity(const tbModel* m, const tbData* d, int contact, tbReal velocity[6],
                             tbError* error) {
  tbResult result = check_world(m, d, velocity, "velocity", error);
  if (result == TB_OK) result = check_contact(d, contact, error);
  if (result != TB_OK) return result;
  const tbContact* c = &d->contact[contact];
  tbReal twist[6] = {0};
  add_velocity(m, d, m->geom_bodyid[c->geom[0]], c->pos, -1, twist);
  add_velocity(m, d, m->geom_bodyid[c->geom[1]], c->pos, 1, twist);
  tb_mul_mat3_vec3(velocity, c->frame, twist);
  tb_mul_mat3_vec3(velocity + 3, c->frame, twist + 3);
  return TB_OK;
}

// Whether the sliding friction of a contact with a normal force is at the limit that the law sets:
// a cone, its box (lcp), or the soft law's pyramid of edges.
static bool is_at_limit(const tbOption* opt, const tbContact* c) {
  const tbReal *f = c->force, *mu = c->friction;
  if (c->dim < 3) return true;
  tbReal x = mu[0] > 0 ? fabs(f[1]) / mu[0] : 0, y = mu[1] > 0 ? fabs(f[2]) / mu[1] : 0;
  if (mu[0] <= 0 && mu[1] <= 0) return true;
  bool edges = tb_law_has(opt, TB_TRAIT_UNBOUNDED) && opt->cone == TB_CONE_PYRAMIDAL;
  tbReal share = tb_law_has(opt, TB_TRAIT_BOX) ? tb_max(x, y) : edges ? x + y : hypot(x, y);
  return share >= (1 - AT_LIMIT) * f[0];
}

tbResult tb_contact_state(const tbModel* m, const tbData* d, int contact, tbContactState* state,
                          tbReal slip[3], tbError* error) {
  tbReal v[6], tangential[3];
  tbResult result = check_world(m, d, state, "state", error);
  if (result == TB_OK) result = tb_contact_velocity(m, d, contact, v, error);
  if (result != TB_OK) return result;
  const tbContact* c = &d->contact[contact];
  tb_set3(tangential, 0, v[1], v[2]);
  if (slip) tb_mul_mat3t_vec3(slip, c->frame, tangential);
  if (!(c->force[0] > 0)) {
    *state = TB_CONTACT_OPEN;
  } else if (hypot(v[1], v[2]) > TB_SLIDING_SPEED && is_at_limit(&m->opt, c)) {
    *state = TB_CONTACT_SLIDING;
  } else {
    *state = hypot(v[4], v[5]) > TB_ROLLING_SPEED ? TB_CONTACT_ROLLING : TB_CONTACT_STICKING;
  }
  return TB_OK;
}

const char* tb_contact_state_name(tbContactState state) {
  static const char* const NAMES[] = {"open", "sticking", "sliding", "rolling"};
  return state >= TB_CONTACT_OPEN && state <= TB_CONTACT_ROLLING ? NAMES[state] : "unknown";
}
