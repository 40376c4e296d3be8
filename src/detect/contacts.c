// Contacts of a step: runs the broad phase and collides the pairs that it finds.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "detect/detector.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "model/law_kinds.h"
#include "tribo/callbacks.h"

// Velocity of the material point of geom g's body at `pos`.
static void point_velocity(const tbModel* m, const tbData* d, int g, const tbReal pos[3],
                           tbReal out[3]) {
  int body = m->geom_bodyid[g];
  const tbReal* v = d->cvel + 6 * body;
  tbReal arm[3], swing[3];
  tb_sub3(arm, pos, d->subtree_com + 3 * m->body_rootid[body]);
  tb_cross(swing, v, arm);
  tb_add3(out, v + 3, swing);
}

// Speeds of a body: of its centre of mass, and angular.
static void body_speed(const tbModel* m, const tbData* d, int body, tbReal speed[2]) {
  const tbReal* v = d->cvel + 6 * body;
  tbReal arm[3], swing[3];
  tb_sub3(arm, d->xipos + 3 * body, d->subtree_com + 3 * m->body_rootid[body]);
  tb_cross(swing, v, arm);
  tb_add3(swing, swing, v + 3);
  speed[0] = tb_norm3(swing);
  speed[1] = tb_norm3(v);
}

// Updates the broad-phase box or plane of a plane or height field.
static void place_ground(tbDetector* f, int i, const tbReal* pos, const tbReal* mat,
                         tbReal margin) {
  tbShape shape = f->shape[i];
  tb_copy3(shape.pos, pos);
  memcpy(shape.mat, mat, sizeof shape.mat);
  if (shape.type == TB_GEOM_PLANE) {
    tbReal* plane = f->plane + 4 * i;
    tb_set3(plane, mat[2], mat[5], mat[8]);
    plane[3] = tb_dot3(plane, pos) + margin;
    return;
  }
  tbReal low[3], high[3];
  tb_shape_aabb(&shape, low, high);
  for (int k = 0; k < 3; k++) {
    low[k] -= margin;
    high[k] += margin;
  }
  tb_aabb_round(&f->broad.box[i], low, high);
}

void tb_detector_place_item(void* owner, int i) {
  tbDetector* f = owner;
  const tbReal* pos = f->data->geom_xpos + 3 * f->geom[i];
  const tbReal* mat = f->data->geom_xmat + 9 * f->geom[i];
  if (f->bounded[i]) {
    tb_bounds_place(&f->bounds[i], pos, mat, f->reach[i], &f->broad.box[i]);
  } else {
    place_ground(f, i, pos, mat, f->reach[i]);
  }
}

// Adds the motion of a body's frame since the last search to its path length: rotations by unit
// quaternions q and p differ by at most 2 |q - p| in the spectral norm. False if the sum has grown
// too large and is reset.
static bool add_travel(tbDetector* f, const tbModel* m, const tbData* d, int body) {
  tbTravel* t = &f->travel[body];
  const tbReal *pos = d->xpos + 3 * body, *quat = d->xquat + 4 * body;
  tbReal moved[3], turned = 0;
  tb_sub3(moved, pos, t->pos);
  for (int k = 0; k < 4; k++) {
    turned += (quat[k] - t->quat[k]) * (quat[k] - t->quat[k]);
    t->quat[k] = quat[k];
  }
  tb_copy3(t->pos, pos);
  t->way += tb_norm3(moved);
  t->turn += 2 * sqrt(turned);
  if (f->near > TB_TOUCHING && m->body_lastdof[body] >= 0) body_speed(m, d, body, t->speed);
  if (t->way + t->turn < 1e9) return true;
  t->way = t->turn = 0;
  return false;
}

// Updates the detection distance of a body's items and the path lengths of their boxes.
static void move_items(tbDetector* f, const tbItemGroup* group) {
  const tbTravel* t = &f->travel[group->body];
  const tbReal step = f->step, speed = t->speed[0], spin = t->speed[1], way = t->way;
  const tbReal turn = t->turn, *TB_RESTRICT arm = f->arm, *TB_RESTRICT swing = f->swing;
  const tbReal* TB_RESTRICT base = f->base;
  tbReal *TB_RESTRICT ahead = f->ahead, *TB_RESTRICT changed = f->changed;
  tbReal *TB_RESTRICT reach = f->reach, *TB_RESTRICT path = f->path;
  for (int i = group->first; i < group->end; i++) {
    tbReal now = step * (speed + spin * arm[i]);
    reach[i] = base[i] + now;
    changed[i] += fabs(now - ahead[i]);
    ahead[i] = now;
    path[i] = way + turn * swing[i] + changed[i];
  }
}

// Places the boxes of those items of a body that may have left their fat boxes; of all items if the
// body's motion is not `known`.
static void place_group(tbDetector* f, const tbItemGroup* group, bool known) {
  for (int i = group->first; i < group->end; i++) {
    bool sure = known && f->bounded[i];
    f->broad.still[i] = sure && f->path[i] - f->placed_path[i] <= f->broad.slack[i];
    if (f->broad.still[i]) continue;
    f->placed_path[i] = f->path[i];
    if (!sure) f->path[i] = INFINITY;
    tb_detector_place_item(f, i);
  }
}

// Initializes what depends on the options only. The detection distance of an item starts from its
// own margin, or half of the common reach if that is larger.
static void start_travel(tbDetector* f, const tbModel* m) {
  memset(f->travel, 0, sizeof(tbTravel) * (size_t)m->nbody);
  for (int i = 0; i < f->count; i++) {
    f->base[i] = tb_max(f->margin[i] + f->extra, 0.5 * f->near);
  }
}

// Places the boxes of all items that may have left their fat boxes.
static void place_boxes(tbDetector* f, const tbModel* m, const tbData* d, tbReal reach) {
  tbReal extra = m->opt.enableflags & TB_ENABLE_OVERRIDE ? tb_max(m->opt.o_margin, 0) : 0;
  bool same = f->started && reach == f->near && m->opt.timestep == f->step && extra == f->extra;
  f->data = d;
  f->near = reach;
  f->step = m->opt.timestep;
  f->extra = extra;
  if (!same) start_travel(f, m);
  for (int g = 0; g < f->ngroup; g++) {
    const tbItemGroup* group = &f->group[g];
    if (same && m->body_lastdof[group->body] < 0 && m->nmocap == 0) {
      for (int i = group->first; i < group->end; i++) {
        f->broad.still[i] = 1;
        f->path[i] = f->placed_path[i];
      }
      continue;
    }
    bool known = add_travel(f, m, d, group->body) && same;
    move_items(f, group);
    place_group(f, group, known);
  }
  f->started = 1;
}

// The shape of an item in its current pose.
static const tbShape* place_shape(tbDetector* f, const tbData* d, int i) {
  tbShape* shape = &f->shape[i];
  if (f->placed[i] == f->search) return shape;
  f->placed[i] = f->search;
  tb_copy3(shape->pos, d->geom_xpos + 3 * f->geom[i]);
  memcpy(shape->mat, d->geom_xmat + 9 * f->geom[i], sizeof shape->mat);
  return shape;
}

// Room for `extra` more contacts. Replaced arrays stay in the arena until the next step.
static int reserve(tbDetector* f, tbData* d, int* capacity, int extra) {
  if (d->ncon + extra <= *capacity) return 1;
  int wanted = 2 * (d->ncon + extra);
  if (wanted < f->last_count + TB_MAX_PAIR_CONTACTS) wanted = f->last_count + TB_MAX_PAIR_CONTACTS;
  tbContact* grown = tb_arena_alloc(&d->work->arena, sizeof(tbContact) * (size_t)wanted);
  if (!grown) return 0;
  if (d->ncon) memcpy(grown, d->contact, sizeof(tbContact) * (size_t)d->ncon);
  d->contact = grown;
  *capacity = wanted;
  return 1;
}

// The caches of this step's pairs, from those of the last step: a merge of two sorted lists.
static int match_caches(tbDetector* f) {
  int nold = f->nmemory, n = f->broad.npair;
  if (!tb_detector_reserve(f, n)) return 0;
  tbPairMemory *old = f->memory, *now = f->previous;
  for (int i = 0, j = 0; i < n; i++) {
    tbPair p = f->broad.pairs[i];
    while (j < nold && (old[j].pair.first < p.first ||
                        (old[j].pair.first == p.first && old[j].pair.second < p.second))) {
      j++;
    }
    if (j < nold && old[j].pair.first == p.first && old[j].pair.second == p.second) {
      now[i] = old[j];
    } else {
      memset(&now[i], 0, sizeof now[i]);
      now[i].pair = p;
    }
  }
  f->memory = now;
  f->previous = old;
  f->nmemory = n;
  return 1;
}

// Whether two free-moving bodies could end in deep overlap if one of them were stopped in this
// step: the displacement of one is large compared with the smaller body.
static bool may_overlap_if_stopped(const tbDetector* f, const tbModel* m, int g1, int g2) {
  const tbReal small = 0.25;
  int body1 = m->geom_bodyid[g1], body2 = m->geom_bodyid[g2];
  int tree1 = m->body_treeid[body1], tree2 = m->body_treeid[body2];
  if (tree1 < 0 || tree2 < 0 || tree1 == tree2) return false;
  tbReal way = m->opt.timestep * tb_max(f->travel[body1].speed[0], f->travel[body2].speed[0]);
  return way > small * tb_min(m->geom_rbound[g1], m->geom_rbound[g2]);
}

// Upper bound of the displacement of two geoms towards each other within a step: from the relative
// velocity of their centres, or, if one of them may be `stopped`, from the velocity of either alone
// if that is larger, plus the motion due to rotation.
static tbReal max_displacement(const tbDetector* f, const tbModel* m, const tbData* d, int g1,
                               int g2, bool stopped) {
  tbReal v[2][3] = {{0}}, turn = 0;
  for (int k = 0; k < 2; k++) {
    int g = k ? g2 : g1, body = m->geom_bodyid[g];
    if (m->body_lastdof[body] < 0) continue;
    point_velocity(m, d, g, d->geom_xpos + 3 * g, v[k]);
    turn += f->travel[body].speed[1] * m->geom_rbound[g];
  }
  tbReal alone = stopped ? tb_max(tb_norm3(v[0]), tb_norm3(v[1])) : 0;
  tb_sub3(v[1], v[1], v[0]);
  return m->opt.timestep * (tb_max(tb_norm3(v[1]), alone) + turn);
}

// The separation speed of a contact point at the current velocities, m/s; if one of the bodies may
// be `stopped`, the minimum of this and of the speeds that either body alone gives.
static tbReal separation_speed(const tbModel* m, const tbData* d, int g1, int g2,
                               const tbContactPoint* point, bool stopped) {
  tbReal v1[3], v2[3];
  point_velocity(m, d, g1, point->pos, v1);
  point_velocity(m, d, g2, point->pos, v2);
  tbReal alone = tb_min(tb_dot3(point->frame, v2), -tb_dot3(point->frame, v1));
  tb_sub3(v2, v2, v1);
  tbReal speed = tb_dot3(point->frame, v2);
  return stopped ? tb_min(speed, alone) : speed;
}

// A body's centre of mass at the end of the step, and its velocities.
typedef struct {
  tbReal centre[3], v[3];
  const tbReal* spin;
} NextState;

// Advances a shape by one step at its body's current velocities.
static NextState advance_shape(const tbModel* m, const tbData* d, int g, tbShape* shape) {
  int body = m->geom_bodyid[g];
  const tbReal *from = d->xipos + 3 * body, h = m->opt.timestep;
  NextState later = {.spin = d->cvel + 6 * body};
  tbReal arm[3], turn[4], R[9], mat[9];
  point_velocity(m, d, g, from, later.v);
  tb_add_scaled3(later.centre, from, h, later.v);
  tb_quat_identity(turn);
  tb_quat_integrate(turn, later.spin, h);
  tb_sub3(arm, shape->pos, from);
  tb_quat_rotate(arm, turn, arm);
  tb_add3(shape->pos, later.centre, arm);
  tb_quat_to_mat(R, turn);
  tb_mul_mat3(mat, R, shape->mat);
  memcpy(shape->mat, mat, sizeof mat);
  return later;
}

// Swept test: whether two items stay separated in this step although the tangent planes at their
// closest points predict a contact. Examples are a box that slides from tile to tile, where the
// next tile's edge is in front of the box, or a wheel that rolls over it slightly below. Without
// rotation the distance of convex shapes is a convex function of the displacement, so its value and
// slope at the end of the step bound it from below.
static bool stays_separated(tbDetector* f, const tbModel* m, const tbData* d, int i, int j,
                            tbReal inset, tbCollideCache cache) {
  tbShape a = *place_shape(f, d, i), b = *place_shape(f, d, j);
  if (a.type == TB_GEOM_PLANE || a.type == TB_GEOM_HFIELD) return false;
  tbContactPoint point[TB_MAX_PAIR_CONTACTS];
  NextState later[2] = {advance_shape(m, d, f->geom[i], &a), advance_shape(m, d, f->geom[j], &b)};
  int n = tb_collide(&a, &b, INFINITY, point, &cache);
  for (int k = 0; k < n; k++) {
    tbReal v[2][3], arm[3];
    for (int side = 0; side < 2; side++) {
      tb_sub3(arm, point[k].pos, later[side].centre);
      tb_cross(v[side], later[side].spin, arm);
      tb_add3(v[side], v[side], later[side].v);
    }
    tbReal apart = tb_dot3(point[k].frame, v[1]) - tb_dot3(point[k].frame, v[0]);
    tbReal least = point[k].dist - inset - m->opt.timestep * tb_max(apart, 0);
    if (!(least >= -m->opt.overlap_allowed)) return false;
  }
  return n > 0;
}

// Prediction for a contact point in this step: it is a contact; its gap stays open; or its tangent
// plane predicts an overlap, which stays_separated has to confirm.
typedef enum { IS_CONTACT, STAYS_APART, OVERLAP_PREDICTED } Prediction;

static Prediction predict_point(const tbModel* m, const tbData* d, int g1, int g2,
                                const tbContactPoint* point, tbReal inset, tbReal near, bool ahead,
                                bool stopped) {
  tbReal gap = point->dist - inset;
  bool far_off = gap > near;
  if (!ahead) return far_off ? STAYS_APART : IS_CONTACT;
  if (!far_off && gap <= m->opt.gap_allowed) return IS_CONTACT;
  tbReal speed = separation_speed(m, d, g1, g2, point, stopped);
  tbReal later = gap + m->opt.timestep * speed;
  if (far_off && !(later <= near)) return STAYS_APART;
  return later < -m->opt.overlap_allowed && !stopped ? OVERLAP_PREDICTED : IS_CONTACT;
}

// Whether neither item moves: each is static or at rest.
static bool both_at_rest(const tbDetector* f, const tbModel* m, int i, int j) {
  if (!f->resting) return false;
  int tree1 = m->body_treeid[m->geom_bodyid[f->geom[i]]];
  int tree2 = m->body_treeid[m->geom_bodyid[f->geom[j]]];
  bool rests1 = tree1 < 0 || f->resting[tree1], rests2 = tree2 < 0 || f->resting[tree2];
  return rests1 && rests2;
}

// Path length that two items separated by `gap` may cover, or their detection distance grow, before
// they can touch, less possible rounding errors. Not positive if no such bound is known.
static tbReal free_path(const tbDetector* f, const tbData* d, int i, int j, tbReal gap) {
  const tbReal *x = d->geom_xpos + 3 * f->geom[i], *y = d->geom_xpos + 3 * f->geom[j];
  tbReal reach = f->reach[i] + f->reach[j], place = 0;
  for (int k = 0; k < 3; k++) place += fabs(x[k]) + fabs(y[k]);
  return 0.999 * (gap - reach) - 1e-6 * (gap + reach) - 1e-12 * place;
}

// Lower bound of the gap of two items along the direction that last separated them, from their
// bounding volumes alone; not positive if that proves no separation.
static tbReal bounds_gap(const tbDetector* f, const tbData* d, const tbPairMemory* memory) {
  int i = memory->pair.first, j = memory->pair.second;
  if (!memory->cache.state || !f->bounded[i] || !f->bounded[j]) return 0;
  // The direction points from the lower shape type, the order in which pairs are collided.
  if (f->shape[i].type > f->shape[j].type) {
    i = memory->pair.second;
    j = memory->pair.first;
  }
  const tbReal *n = memory->cache.direction, *x = d->geom_xpos + 3 * f->geom[i];
  const tbReal* y = d->geom_xpos + 3 * f->geom[j];
  tbReal back[3] = {-n[0], -n[1], -n[2]}, between[3], length2 = tb_dot3(n, n);
  // The cached direction must be a unit vector, up to rounding.
  if (!(fabs(length2 - 1) < 1e-12)) return 0;
  tb_sub3(between, y, x);
  tbReal gap = tb_dot3(n, between);
  gap -= tb_bounds_along(&f->bounds[i], d->geom_xmat + 9 * f->geom[i], n);
  if (!(gap > 0)) return 0;
  return gap - tb_bounds_along(&f->bounds[j], d->geom_xmat + 9 * f->geom[j], back);
}

// Whether two items with the summed path length `path` are separated by `gap`; if so, stores the
// path length up to which that holds.
static bool are_apart(const tbDetector* f, const tbData* d, tbPairMemory* memory, tbReal gap,
                      tbReal path) {
  if (!(gap > 0)) return false;
  tbReal way = free_path(f, d, memory->pair.first, memory->pair.second, gap);
  memory->until = way > 0 && path < INFINITY ? path + way : 0;
  return way > 0;
}

// The margins of two geoms add up, and so do their gaps. An override replaces the margin only.
static tbReal contact_margin(const tbModel* m, int g1, int g2, int pair) {
  if (m->opt.enableflags & TB_ENABLE_OVERRIDE) return m->opt.o_margin;
  return pair >= 0 ? m->pair_margin[pair] : m->geom_margin[g1] + m->geom_margin[g2];
}

static tbReal contact_gap(const tbModel* m, int g1, int g2, int pair) {
  return pair >= 0 ? m->pair_gap[pair] : m->geom_gap[g1] + m->geom_gap[g2];
}

// A negative margin moves the contact surfaces inside the shapes (tb_gap_to).
TB_INLINE tbContactRange range_of(const tbDetector* f, const tbModel* m, int g1, int g2,
                                  tbReal reach) {
  int pair = tb_detector_explicit_pair(f, g1, g2);
  tbReal margin = contact_margin(m, g1, g2, pair), inset = tb_min(margin, 0);
  return (tbContactRange){pair, inset,
                          tb_max(margin - inset + contact_gap(m, g1, g2, pair), reach)};
}

tbContactRange tb_contact_range(const tbDetector* f, const tbModel* m, int g1, int g2,
                                tbReal reach) {
  return range_of(f, m, g1, g2, reach);
}

static tbResult fail_contact(const tbModel* m, tbData* d, int g1, int g2, const char* invalid) {
  snprintf(d->message, sizeof d->message, "contact of geoms %d '%.60s' and %d '%.60s': %s", g1,
           tb_id2name(m, TB_OBJ_GEOM, g1), g2, tb_id2name(m, TB_OBJ_GEOM, g2), invalid);
  return TB_ERROR_NUMERIC;
}

bool tb_contact_is_filtered(const tbModel* m, const tbData* d, int g1, int g2) {
  const tbCallbacks* user = m->callbacks;
  return user && user->contact_filter && user->contact_filter(m, d, g1, g2, user->user) != 0;
}

// Let the user change the parameters of a contact. NULL, or what is wrong with them.
static const char* change_parameters(const tbModel* m, const tbData* d, tbContact* c) {
  const tbCallbacks* user = m->callbacks;
  tbContact changed = *c;
  user->contact(m, d, &changed, user->user);
  memcpy(c->friction, changed.friction, sizeof c->friction);
  memcpy(c->solref, changed.solref, sizeof c->solref);
  memcpy(c->solreffriction, changed.solreffriction, sizeof c->solreffriction);
  memcpy(c->solimp, changed.solimp, sizeof c->solimp);
  memcpy(c->comfree, changed.comfree, sizeof c->comfree);
  c->restitution = changed.restitution;
  c->compliance = changed.compliance;
  c->tangentcompliance = changed.tangentcompliance;
  c->damping = changed.damping;
  c->exclude = changed.exclude != 0;
  for (int i = 0; i < 5; i++) {
    if (c->friction[i] < 0) return "friction is negative";
  }
  if (c->restitution < 0 || c->restitution > 1) return "restitution is not between 0 and 1";
  tb_contact_bound_friction(m, 1, c);
  // What the user writes is checked under every law, also where only others use it.
  return tb_contact_invalid_parameter(c, false);
}

tbResult tb_contact_values(const tbModel* m, tbData* d, int g1, int g2, int pair,
                           tbContact* contact) {
  tb_contact_parameters(m, g1, g2, pair, contact);
  const char* invalid = tb_contact_invalid_parameter(contact, tb_law_has(&m->opt, TB_TRAIT_RIGID));
  return invalid ? fail_contact(m, d, g1, g2, invalid) : TB_OK;
}

// A contact at a point that the shapes touch at.
TB_INLINE tbResult place(const tbModel* m, tbData* d, const tbContactPoint* point, tbReal reach,
                         tbContact* c) {
  c->dist = point->dist;
  tb_copy3(c->pos, point->pos);
  memcpy(c->frame, point->frame, sizeof c->frame);
  uint64_t pair = (uint64_t)c->geom[0] * (uint64_t)m->ngeom + (uint64_t)c->geom[1];
  c->key = pair << 32 | point->feature;
  // Within the gap a soft contact is listed but exerts no force; a rigid contact has no gap.
  c->exclude = reach <= 0 && c->dist >= c->includemargin;
  if (!m->callbacks || !m->callbacks->contact) return TB_OK;
  const char* invalid = change_parameters(m, d, c);
  return invalid ? fail_contact(m, d, c->geom[0], c->geom[1], invalid) : TB_OK;
}

tbResult tb_contact_place(const tbModel* m, tbData* d, const tbContactPoint* point, tbReal reach,
                          tbContact* c) {
  return place(m, d, point, reach, c);
}

// Adds all contacts of one pair of items.
static tbResult collide_pair(tbDetector* f, const tbModel* m, tbData* d, tbPairMemory* memory,
                             tbReal reach, int* capacity) {
  // MuJoCo's order: lower type first, then lower id.
  int i = memory->pair.first, j = memory->pair.second;
  tbReal path = f->path[i] + f->path[j];
  if (path < memory->until) return TB_OK;
  memory->until = 0;
  if (both_at_rest(f, m, i, j)) return TB_OK;
  if (are_apart(f, d, memory, bounds_gap(f, d, memory), path)) return TB_OK;
  if (m->geom_type[f->geom[i]] > m->geom_type[f->geom[j]]) {
    int swap = i;
    i = j;
    j = swap;
  }
  int g1 = f->geom[i], g2 = f->geom[j];
  if (tb_contact_is_filtered(m, d, g1, g2)) return TB_OK;
  tbContactPoint point[TB_MAX_PAIR_CONTACTS];
  const tbContactRange range = range_of(f, m, g1, g2, reach);
  tbReal inset = range.inset, near = range.near, far = near;
  bool ahead = reach > TB_TOUCHING, stopped = ahead && may_overlap_if_stopped(f, m, g1, g2);
  if (ahead) far += max_displacement(f, m, d, g1, g2, stopped);
  memory->cache.gap = 0;
  far = tb_max(far + inset, 0);
  int n = tb_collide(place_shape(f, d, i), place_shape(f, d, j), far, point, &memory->cache);
  if (n == 0) {
    are_apart(f, d, memory, memory->cache.gap, path);
    return TB_OK;
  }
  if (!reserve(f, d, capacity, n)) return TB_ERROR_MEMORY;
  tbContact parameters;
  tbResult result = tb_contact_values(m, d, g1, g2, range.pair, &parameters);
  if (result != TB_OK) return result;
  int separated = -1;  // result of the swept test; -1: not computed yet
  for (int k = 0; k < n; k++) {
    Prediction prediction = predict_point(m, d, g1, g2, &point[k], inset, near, ahead, stopped);
    if (prediction == OVERLAP_PREDICTED && separated < 0)
      separated = stays_separated(f, m, d, i, j, inset, memory->cache);
    if (prediction == STAYS_APART || (prediction == OVERLAP_PREDICTED && separated)) continue;
    tbContact* c = &d->contact[d->ncon++];
    *c = parameters;
    result = place(m, d, &point[k], reach, c);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}

tbResult tb_detect_contacts(tbDetector* f, const tbModel* m, tbData* d, tbReal reach) {
  d->ncon = 0;
  d->contact = NULL;
  d->work->queried = 0;
  if (m->opt.disableflags & (TB_DISABLE_CONTACT | TB_DISABLE_CONSTRAINT)) return TB_OK;
  f->search++;
  place_boxes(f, m, d, reach);
  tbResult result = tb_broadphase_update(&f->broad, f->plane);
  if (result != TB_OK) return result;
  if (!match_caches(f)) return TB_ERROR_MEMORY;
  int capacity = 0;
  for (int i = 0; i < f->nmemory; i++) {
    result = collide_pair(f, m, d, &f->memory[i], reach, &capacity);
    if (result != TB_OK) return result;
  }
  f->last_count = d->ncon;
  return TB_OK;
}
