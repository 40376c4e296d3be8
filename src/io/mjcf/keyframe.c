// Keyframes of attached models. In its own file a keyframe is one vector over all joints. When the
// model is attached, the values are stored with the joints, actuators and mocap bodies, and
// collected again once the order of these elements is known.
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "model/joint_kinds.h"

static int actuator_na(const tbFlatActuator* a) {
  if (a->dyntype == TB_DYN_NONE) return 0;
  return a->actdim > 0 ? a->actdim : 1;
}

typedef struct {
  int nq, nv, nu, na, nmocap;
} Sizes;

static Sizes sizes_of(const tbFlat* spec) {
  Sizes s = {0, 0, spec->nactuator, 0, 0};
  for (int i = 0; i < spec->njoint; i++) {
    s.nq += tb_joint_nq(spec->joint[i].type);
    s.nv += tb_joint_nv(spec->joint[i].type);
  }
  for (int i = 0; i < spec->nactuator; i++) s.na += actuator_na(&spec->actuator[i]);
  for (int i = 0; i < spec->nbody; i++) s.nmocap += spec->body[i].mocap;
  return s;
}

static bool right_size(const tbFlatList* list, int n) {
  return list->n == 0 || list->n == n;
}

static tbFlatList slice(const tbFlatList* list, int at, int n) {
  tbFlatList part = {0, NULL};
  if (list->n) part = (tbFlatList){n, list->v + at};
  return part;
}

static bool add_part(tbMjcf* p, const tbFlatKeyPart** keys, int key, tbFlatList first,
                     tbFlatList second) {
  tbFlatKeyPart* part = TB_ARENA_NEW(&p->spec->arena, tbFlatKeyPart, 1);
  if (!part) return tb_mjcf_no_memory(p);
  *part = (tbFlatKeyPart){key, first, second, *keys};
  *keys = part;
  return true;
}

// Stores the values of one keyframe with the elements of the attached model.
static bool split_key(tbMjcf* p, tbFlat* child, const tbFlatKey* key, int id) {
  int q = 0, v = 0, act = 0, mocap = 0;
  for (int i = 0; i < child->njoint; i++) {
    tbFlatJoint* joint = &child->joint[i];
    int nq = tb_joint_nq(joint->type), nv = tb_joint_nv(joint->type);
    if (!add_part(p, &joint->keys, id, slice(&key->qpos, q, nq), slice(&key->qvel, v, nv))) {
      return false;
    }
    q += nq;
    v += nv;
  }
  for (int i = 0; i < child->nactuator; i++) {
    tbFlatActuator* a = &child->actuator[i];
    int na = actuator_na(a);
    if (!add_part(p, &a->keys, id, slice(&key->ctrl, i, 1), slice(&key->act, act, na))) {
      return false;
    }
    act += na;
  }
  for (int i = 0; i < child->nbody; i++) {
    tbFlatBody* body = &child->body[i];
    if (!body->mocap) continue;
    if (!add_part(p, &body->keys, id, slice(&key->mpos, 3 * mocap, 3),
                  slice(&key->mquat, 4 * mocap, 4))) {
      return false;
    }
    mocap++;
  }
  return true;
}

bool tb_mjcf_split_keys(tbMjcf* p, const tbElement* node, tbFlat* child, const char* prefix,
                        const char* suffix) {
  Sizes s = sizes_of(child);
  // An earlier attach of the same model has left its pieces of keyframes in the joints, actuators
  // and bodies: they are discarded.
  for (int i = 0; i < child->njoint; i++) child->joint[i].keys = NULL;
  for (int i = 0; i < child->nactuator; i++) child->actuator[i].keys = NULL;
  for (int i = 0; i < child->nbody; i++) child->body[i].keys = NULL;
  for (int i = 0; i < child->nkey; i++) {
    const tbFlatKey* key = &child->key[i];
    if (!right_size(&key->qpos, s.nq) || !right_size(&key->qvel, s.nv) ||
        !right_size(&key->ctrl, s.nu) || !right_size(&key->act, s.na) ||
        !right_size(&key->mpos, 3 * s.nmocap) || !right_size(&key->mquat, 4 * s.nmocap)) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                          "the keyframe at %s:%d does not have the sizes of its model", key->source,
                          key->line);
    }
    tbFlatKey* copy = tb_flat_add_key(p->spec);
    if (!copy) return tb_mjcf_no_memory(p);
    *copy = tb_flat_initial_key();
    copy->source = key->source;
    copy->line = key->line;
    copy->time = key->time;
    copy->from_parts = true;
    if (key->name && *key->name)
      copy->name = tb_flat_format(p->spec, "%s%s%s", prefix, key->name, suffix);
    if (!split_key(p, child, key, p->spec->nkey - 1)) return false;
  }
  return true;
}

// A vector for a keyframe with all entries equal to `value`.
static bool blank(tbFlat* spec, tbFlatList* list, int n, tbReal value) {
  list->n = n;
  list->v = TB_ARENA_NEW(&spec->arena, tbReal, n + 1);
  for (int i = 0; list->v && i < n; i++) list->v[i] = value;
  return list->v != NULL;
}

static void put(tbFlatList* list, int at, const tbFlatList* part) {
  if (part->n) memcpy(list->v + at, part->v, sizeof(tbReal) * (size_t)part->n);
}

static void collect_key(tbFlat* spec, tbFlatKey* key, int id) {
  int q = 0, v = 0, act = 0, mocap = 0;
  for (int i = 0; i < spec->njoint; i++) {
    for (const tbFlatKeyPart* part = spec->joint[i].keys; part; part = part->next) {
      if (part->key != id) continue;
      put(&key->qpos, q, &part->first);
      put(&key->qvel, v, &part->second);
    }
    q += tb_joint_nq(spec->joint[i].type);
    v += tb_joint_nv(spec->joint[i].type);
  }
  for (int i = 0; i < spec->nactuator; i++) {
    for (const tbFlatKeyPart* part = spec->actuator[i].keys; part; part = part->next) {
      if (part->key != id) continue;
      put(&key->ctrl, i, &part->first);
      put(&key->act, act, &part->second);
    }
    act += actuator_na(&spec->actuator[i]);
  }
  for (int i = 0; i < spec->nbody; i++) {
    if (!spec->body[i].mocap) continue;
    for (const tbFlatKeyPart* part = spec->body[i].keys; part; part = part->next) {
      if (part->key != id) continue;
      put(&key->mpos, 3 * mocap, &part->first);
      put(&key->mquat, 4 * mocap, &part->second);
    }
    mocap++;
  }
}

// Extends a vector that has fewer values than the model: the remaining values stay undefined.
static bool extend(tbFlat* spec, tbFlatKey* key, const char* part, tbFlatList* list, int n,
                   tbReal value) {
  if (list->n == 0 || list->n >= n) return true;
  tbFlatList given = *list;
  if (!blank(spec, list, n, value)) return false;
  put(list, 0, &given);
  key->from_parts = true;
  tb_flat_note(spec, key->source, key->line,
               "keyframe: %s has %d values of %d; the rest stays as in the reference pose", part,
               given.n, n);
  return true;
}

bool tb_mjcf_join_keys(tbFlat* spec) {
  Sizes s = sizes_of(spec);
  tbReal nan = (tbReal)NAN;
  for (int i = 0; i < spec->nkey; i++) {
    tbFlatKey* key = &spec->key[i];
    if (!key->from_parts) {
      if (!extend(spec, key, "qpos", &key->qpos, s.nq, nan) ||
          !extend(spec, key, "qvel", &key->qvel, s.nv, 0) ||
          !extend(spec, key, "ctrl", &key->ctrl, s.nu, 0) ||
          !extend(spec, key, "act", &key->act, s.na, 0) ||
          !extend(spec, key, "mpos", &key->mpos, 3 * s.nmocap, nan) ||
          !extend(spec, key, "mquat", &key->mquat, 4 * s.nmocap, nan)) {
        return false;
      }
      continue;
    }
    if (!blank(spec, &key->qpos, s.nq, nan) || !blank(spec, &key->qvel, s.nv, 0) ||
        !blank(spec, &key->ctrl, s.nu, 0) || !blank(spec, &key->act, s.na, 0) ||
        !blank(spec, &key->mpos, 3 * s.nmocap, nan) ||
        !blank(spec, &key->mquat, 4 * s.nmocap, nan)) {
      return false;
    }
    collect_key(spec, key, i);
  }
  return true;
}
