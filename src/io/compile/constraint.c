// Contact pairs, exclusions and equality constraints.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/compile/internal.h"
#include "model/equality_kinds.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

// ---- pairs and exclusions -----------------------------------------------------------------------

// The two bodies of an element, and its index in the spec.
typedef struct {
  int low, high, index;
} BodyPair;

static int compare_pairs(const void* a, const void* b) {
  const BodyPair *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return (p->index > q->index) - (p->index < q->index);
}

// Sorts by bodies, as MuJoCo does; order[i] is the resulting index of element i.
static void sort_pairs(BodyPair* pairs, int n, int* order) {
  for (int i = 0; i < n; i++) {
    if (pairs[i].low <= pairs[i].high) continue;
    int keep = pairs[i].low;
    pairs[i].low = pairs[i].high;
    pairs[i].high = keep;
  }
  if (n) qsort(pairs, (size_t)n, sizeof *pairs, compare_pairs);
  for (int i = 0; i < n; i++) order[pairs[i].index] = i;
}

tbResult tb_compile_order_pairs(tbCompile* c) {
  const tbFlat* spec = c->spec;
  int most = spec->npair > spec->nexclude ? spec->npair : spec->nexclude;
  BodyPair* pairs = TB_ARENA_NEW(&c->arena, BodyPair, (size_t)most + 1);
  c->pair_order = TB_ARENA_NEW(&c->arena, int, (size_t)spec->npair + 1);
  c->exclude_order = TB_ARENA_NEW(&c->arena, int, (size_t)spec->nexclude + 1);
  if (c->arena.failed) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < spec->npair; i++) {
    const tbFlatPair* p = &spec->pair[i];
    tbCompileLabel label = tb_compile_label("pair", p->name, i);
    int geom[2] = {-1, -1};
    tbResult result =
        tb_compile_resolve(c, TB_FLAT_geom, p->geom1, p->source, p->line, label.text, &geom[0]);
    if (!result) {
      result =
          tb_compile_resolve(c, TB_FLAT_geom, p->geom2, p->source, p->line, label.text, &geom[1]);
    }
    if (result) return result;
    if (p->condim != 1 && p->condim != 3 && p->condim != 4 && p->condim != 6) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, p, "%s: condim is %d, expected 1, 3, 4 or 6",
                          label.text, p->condim);
    }
    pairs[i] = (BodyPair){c->body_id[c->geom[geom[0]].frame.body],
                          c->body_id[c->geom[geom[1]].frame.body], i};
  }
  sort_pairs(pairs, spec->npair, c->pair_order);
  for (int i = 0; i < spec->nexclude; i++) {
    const tbFlatExclude* e = &spec->exclude[i];
    tbCompileLabel label = tb_compile_label("exclude", e->name, i);
    int body[2] = {-1, -1};
    tbResult result =
        tb_compile_resolve(c, TB_FLAT_body, e->body1, e->source, e->line, label.text, &body[0]);
    if (!result) {
      result =
          tb_compile_resolve(c, TB_FLAT_body, e->body2, e->source, e->line, label.text, &body[1]);
    }
    if (result) return result;
    pairs[i] = (BodyPair){c->body_id[body[0]], c->body_id[body[1]], i};
  }
  sort_pairs(pairs, spec->nexclude, c->exclude_order);
  return TB_OK;
}

void tb_compile_copy_pairs(const tbCompile* c, tbModel* m) {
  const size_t real = sizeof(tbReal);
  for (int i = 0; i < m->npair; i++) {
    const tbFlatPair* p = &c->spec->pair[i];
    int id = c->pair_order[i];
    int geom1 = c->geom_id[tb_compile_find(c, TB_FLAT_geom, p->geom1)];
    int geom2 = c->geom_id[tb_compile_find(c, TB_FLAT_geom, p->geom2)];
    // The geom of the lower body comes first.
    bool swapped = m->geom_bodyid[geom1] > m->geom_bodyid[geom2];
    m->pair_geom1[id] = swapped ? geom2 : geom1;
    m->pair_geom2[id] = swapped ? geom1 : geom2;
    m->pair_dim[id] = p->condim;
    memcpy(m->pair_solref + TB_NREF * id, p->solref, TB_NREF * real);
    memcpy(m->pair_solreffriction + TB_NREF * id, p->solreffriction, TB_NREF * real);
    memcpy(m->pair_solimp + TB_NIMP * id, p->solimp, TB_NIMP * real);
    m->pair_margin[id] = p->margin;
    m->pair_gap[id] = p->gap;
    memcpy(m->pair_friction + 5 * id, p->friction, 5 * real);
    m->pair_restitution[id] = p->restitution;
    m->pair_compliance[id] = p->compliance;
    m->pair_tangentcompliance[id] = p->tangentcompliance;
    m->pair_contactdamping[id] = p->contactdamping;
    memcpy(m->pair_comfree + 2 * id, p->comfree, 2 * real);
  }
  for (int i = 0; i < m->nexclude; i++) {
    const tbFlatExclude* e = &c->spec->exclude[i];
    int id = c->exclude_order[i];
    int body1 = c->body_id[tb_compile_find(c, TB_FLAT_body, e->body1)];
    int body2 = c->body_id[tb_compile_find(c, TB_FLAT_body, e->body2)];
    m->exclude_body1[id] = body1 < body2 ? body1 : body2;
    m->exclude_body2[id] = body1 < body2 ? body2 : body1;
  }
}

// ---- equality constraints -----------------------------------------------------------------------

// The two objects of a constraint, by name.
typedef struct {
  tbFlatKind kind;
  tbObjType type;
  const char* name[2];
} Objects;

static Objects equality_objects(const tbFlatEquality* e) {
  switch (tb_equality_kinds[e->type].ends) {
    case TB_ENDS_JOINTS: return (Objects){TB_FLAT_joint, TB_OBJ_JOINT, {e->joint1, e->joint2}};
    case TB_ENDS_TENDONS: return (Objects){TB_FLAT_tendon, TB_OBJ_TENDON, {e->tendon1, e->tendon2}};
    default:
      if (e->site1 || e->site2) return (Objects){TB_FLAT_site, TB_OBJ_SITE, {e->site1, e->site2}};
      return (Objects){TB_FLAT_body, TB_OBJ_BODY, {e->body1, e->body2}};
  }
}

// Indices of the objects in the spec; index[1] is -1 if there is no second one.
static tbResult resolve_objects(const tbCompile* c, const tbFlatEquality* e, const char* label,
                                const Objects* o, int index[2]) {
  tbResult result =
      tb_compile_resolve(c, o->kind, o->name[0], e->source, e->line, label, &index[0]);
  if (result) return result;
  index[1] = -1;
  if (o->name[1] || o->type == TB_OBJ_SITE) {
    result = tb_compile_resolve(c, o->kind, o->name[1], e->source, e->line, label, &index[1]);
    if (result) return result;
  } else if (o->type == TB_OBJ_BODY) {
    index[1] = 0;
  }
  if (index[0] == index[1]) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, e, "%s: both objects are '%s'", label,
                        o->name[0]);
  }
  for (int k = 0; k < 2 && o->type == TB_OBJ_JOINT; k++) {
    if (index[k] < 0 || tb_joint_is_scalar(c->spec->joint[index[k]].type)) continue;
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, e,
                        "%s: joint '%s' is free or ball, expected a slide or a hinge", label,
                        o->name[k]);
  }
  return TB_OK;
}

// Transforms a point from body 1's frame (pos1, quat1) to body 2's.
static void point_in_other(const tbCompile* c, int body1, int body2, const tbReal point[3],
                           tbReal result[3]) {
  tbReal world[3], inverse[4];
  tb_quat_rotate(world, c->xquat0 + 4 * body1, point);
  tb_add3(world, world, c->xpos0 + 3 * body1);
  tb_sub3(world, world, c->xpos0 + 3 * body2);
  tb_quat_conjugate(inverse, c->xquat0 + 4 * body2);
  tb_quat_rotate(result, inverse, world);
}

// Data of connect: anchor in body 1, and the same point in body 2. Data of weld: anchor in body 2,
// pose of body 2 in body 1, weight of rotation.
static void body_data(const tbCompile* c, const tbFlatEquality* e, const int body[2],
                      tbReal data[TB_NEQDATA]) {
  tb_copy3(data, e->anchor);
  if (tb_equality_kinds[e->type].ends == TB_ENDS_POINTS) {
    point_in_other(c, body[0], body[1], e->anchor, data + 3);
    return;
  }
  memcpy(data + 3, e->relpose, 7 * sizeof *data);
  const tbReal* q = e->relpose + 3;
  tbReal squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (squared > TB_COMPILE_TINY) {
    tb_quat_normalize(data + 6);
    return;
  }
  // Relative pose of the bodies in the reference configuration of the file.
  tbReal inverse[4];
  point_in_other(c, body[1], body[0], e->anchor, data + 3);
  tb_quat_conjugate(inverse, c->xquat0 + 4 * body[0]);
  tb_quat_mul(data + 6, inverse, c->xquat0 + 4 * body[1]);
}

static tbResult copy_equality(const tbCompile* c, tbModel* m, int i) {
  const tbFlatEquality* e = &c->spec->equality[i];
  const size_t real = sizeof(tbReal);
  tbCompileLabel label = tb_compile_label("equality", e->name, i);
  Objects objects = equality_objects(e);
  int index[2];
  tbResult result = resolve_objects(c, e, label.text, &objects, index);
  if (result) return result;
  for (int k = 0; k < 2; k++) {
    int id = index[k];
    if (id >= 0 && objects.type == TB_OBJ_BODY) id = c->body_id[id];
    if (id >= 0 && objects.type == TB_OBJ_SITE) id = c->site_id[id];
    (k ? m->eq_obj2id : m->eq_obj1id)[i] = id;
  }
  m->eq_type[i] = e->type;
  m->eq_objtype[i] = objects.type;
  m->eq_active0[i] = e->active;
  memcpy(m->eq_solref + TB_NREF * i, e->solref, TB_NREF * real);
  memcpy(m->eq_solimp + TB_NIMP * i, e->solimp, TB_NIMP * real);
  tbReal* data = m->eq_data + TB_NEQDATA * i;
  int ends = tb_equality_kinds[e->type].ends;
  if (ends == TB_ENDS_JOINTS || ends == TB_ENDS_TENDONS) {
    memcpy(data, e->polycoef, 5 * real);
  } else if (objects.type == TB_OBJ_BODY) {
    body_data(c, e, index, data);
  }
  data[10] = ends == TB_ENDS_FRAMES ? e->torquescale : 1;
  return tb_compile_finite(c, e->source, e->line, label.text, data, TB_NEQDATA);
}

tbResult tb_compile_copy_equalities(const tbCompile* c, tbModel* m) {
  for (int i = 0; i < m->neq; i++) {
    tbResult result = copy_equality(c, m, i);
    if (result) return result;
  }
  return TB_OK;
}

// Sets the anchor of a weld. The regularization of a weld's rows is relative to their own diagonal
// of J M^-1 J^T, which grows with the square of the lever arm, and a force at a distance produces a
// torque. So a weld is anchored between the centres of mass of its bodies, close to the lighter
// one.
static void anchor_weld(tbModel* m, int id) {
  tbReal *hold = m->eq_hold + 3 * id, *data = m->eq_data + TB_NEQDATA * id, weight[2];
  const tbReal unturned[4] = {1, 0, 0, 0}, *anchor[2] = {data + 3, data};
  const tbReal* quat[2] = {data + 6, unturned};
  int body[2] = {m->eq_obj1id[id], m->eq_obj2id[id] < 0 ? 0 : m->eq_obj2id[id]};
  for (int i = 0; i < 2; i++) {
    if (m->eq_objtype[id] == TB_OBJ_SITE) {
      anchor[i] = m->site_pos + 3 * body[i];
      quat[i] = m->site_quat + 4 * body[i];
      body[i] = m->site_bodyid[body[i]];
    }
    weight[i] = m->body_invweight0[2 * body[i]];
  }
  for (int i = 0; i < 2; i++) {
    tbReal arm[3], inverse[4], centre[3];
    if (!(weight[i] > 0)) continue;
    tb_sub3(arm, m->body_ipos + 3 * body[i], anchor[i]);
    tb_quat_conjugate(inverse, quat[i]);
    tb_quat_rotate(centre, inverse, arm);
    tb_add_scaled3(hold, hold, weight[i] / (weight[0] + weight[1]), centre);
  }
}

void tb_compile_anchor_welds(tbModel* m) {
  for (int i = 0; i < m->neq; i++) {
    if (tb_equality_ends(m, i) == TB_ENDS_FRAMES) anchor_weld(m, i);
  }
}
