#include "partials/gap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"

// A deviation from linearity below this fraction of the change that an open gap would cause within
// the reach counts as rounding.
static const tbReal STRAIGHT = 1e-6;

static tbReal reach_of(const tbModel* m, tbReal gap) {
  tbReal zone = m->opt.overlap_allowed;
  return gap <= 0 && -gap <= zone && zone > 0 ? tb_min(TB_KINK_REACH, zone / 4) : TB_KINK_REACH;
}

// A spring without a damper is linear; a damper acts below the surface only.
static bool spring_has_kink(const tbContact* contact, tbReal gap) {
  return contact->damping > 0 && fabs(gap) < TB_KINK_REACH;
}

// Whether the value of the gap term here depends on the velocity, too.
static bool follows_velocity(const tbModel* m, const tbData* d, const tbConstraint* c,
                             tbReal slope) {
  tbReal gap = c->pos[0], overlap = -gap - m->opt.overlap_allowed;
  if (gap > 0 && slope == 0) return true;
  tbReal speed = tb_min(m->opt.baumgarte * overlap / m->opt.timestep, m->opt.correction_speed);
  return overlap > 0 && tb_push_is_held(m, d, c, &speed);
}

bool tb_gap_has_kink(const tbModel* m, const tbData* d, const tbConstraint* c) {
  tbReal gap = c->pos[0], reach = reach_of(m, gap), slope, beside;
  const tbContact* contact = c->source == TB_SOURCE_CONTACT ? &d->contact[c->id] : NULL;
  if (contact && contact->compliance > 0) return spring_has_kink(contact, gap);
  // Restitution of an impact does not depend on the gap at its start.
  bool bounces = contact && tb_restitution_term(m, d, c) < 0;
  if (bounces && gap > -m->opt.overlap_allowed / 2) return false;
  tbReal value = tb_gap_term(m, d, c, gap, &slope);
  if (follows_velocity(m, d, c, slope)) return true;
  for (int side = -1; side <= 1; side += 2) {
    tbReal change = tb_gap_term(m, d, c, gap + side * reach, &beside) - value;
    if (fabs(change - side * slope * reach) > STRAIGHT * reach / m->opt.timestep) return true;
  }
  return false;
}

tbReal tb_gap_least(const tbModel* m, const tbData* d, const tbConstraint* c) {
  tbReal slope, gap = c->pos[0];
  return tb_min(tb_gap_term(m, d, c, gap, &slope),
                tb_gap_term(m, d, c, gap - reach_of(m, gap), &slope));
}

static void append(char* out, size_t size, const char* text) {
  size_t used = strlen(out), length = strlen(text);
  size_t room = size - used - 1;
  if (length > room) length = room;
  memcpy(out + used, text, length);
  out[used + length] = 0;
}

// The start of an element's name, or its kind and number.
static void append_element(char* out, size_t size, const tbModel* m, tbObjType type,
                           const char* kind, int id) {
  enum { LONGEST = 24 };
  const char* name = tb_id2name(m, type, id);
  char text[LONGEST];
  if (name && name[0]) {
    text[0] = 0;
    append(text, sizeof text, name);
  } else {
    snprintf(text, sizeof text, "%s %d", kind, id);
  }
  append(out, size, text);
}

void tb_gap_report(tbDerivatives* x, const tbData* d, const tbConstraint* c) {
  char* out = x->info.reason;
  const size_t size = sizeof x->info.reason;
  x->info.differentiable = 0;
  if (out[0]) return;
  if (c->source == TB_SOURCE_CONTACT) {
    append(out, size, "gap between ");
    append_element(out, size, x->m, TB_OBJ_GEOM, "geom", d->contact[c->id].geom[0]);
    append(out, size, " and ");
    append_element(out, size, x->m, TB_OBJ_GEOM, "geom", d->contact[c->id].geom[1]);
  } else {
    bool joint = c->source == TB_SOURCE_LIMIT_JOINT;
    append(out, size, "gap at the limit of ");
    append_element(out, size, x->m, joint ? TB_OBJ_JOINT : TB_OBJ_TENDON,
                   joint ? "joint" : "tendon", c->id);
  }
  append(out, size, " is near a kink: with hold_contacts it counts as closed");
}
