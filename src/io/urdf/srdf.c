// SRDF for a URDF: group states become keyframes, disabled collisions become exclusions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/urdf/internal.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

// ---- keyframes ----------------------------------------------------------------------------------

// Assigns addresses to the coordinates of the finished spec.
static bool number_joints(tbUrdf* u) {
  const tbFlat* spec = u->spec;
  u->qposadr = TB_ARENA_NEW(&u->spec->arena, int, spec->njoint + 1);
  if (!u->qposadr) return tb_urdf_no_memory(u);
  for (int i = 0; i < spec->njoint; i++) {
    u->qposadr[i + 1] = u->qposadr[i] + tb_joint_nq(spec->joint[i].type);
    int* id = tb_urdf_map(u, &u->moving, spec->joint[i].name);
    if (!id) return tb_urdf_no_memory(u);
    *id = i;
  }
  return true;
}

// The joint named `name`, or -1.
static int find_joint(tbUrdf* u, const char* name) {
  const char* key = tb_flat_text(u->spec, name);
  int* id = key ? tb_urdf_map(u, &u->moving, key) : NULL;
  return id ? *id : -1;
}

// The reference pose: zeros, and the bodies' own poses for free joints.
static tbReal* reference(tbUrdf* u, int nq) {
  const tbFlat* spec = u->spec;
  tbReal* q = TB_ARENA_NEW(&u->spec->arena, tbReal, nq);
  if (!q) return NULL;
  for (int i = 0; i < spec->njoint; i++) {
    int at = u->qposadr[i];
    int type = spec->joint[i].type;
    const tbFlatBody* body = &spec->body[spec->joint[i].body];
    if (tb_joint_floats(type)) {
      tb_copy3(q + at, body->pos);
      memcpy(q + at + 3, body->quat, 4 * sizeof *q);
    } else if (tb_joint_has_quaternion(type)) {
      q[at + tb_joint_numbers(type)] = 1;
    }
  }
  return q;
}

// Reads the coordinates of one joint of a state; quaternions are x, y, z, w in the file.
static bool set_joint(tbUrdf* u, const xmlNode* node, int joint, tbReal* q) {
  const tbFlat* spec = u->spec;
  int type = spec->joint[joint].type, n = tb_joint_nq(type);
  tbReal value[TB_JOINT_MOST_NQ];
  bool found;
  // The three coordinates of a planar joint belong to three joints of the spec.
  const char* name = spec->joint[joint].name;
  size_t length = strlen(name);
  const char* text = tb_urdf_text(node, "name");
  bool planar =
      text && length > 3 && strcmp(name + length - 3, "_TX") == 0 && strlen(text) == length - 3;
  if (planar) n = 3;
  if (!tb_urdf_numbers(u, node, "value", n, value, &found)) return false;
  if (!found) return tb_urdf_fail(u, TB_ERROR_PARSE, node, "the attribute 'value' is missing");
  q += u->qposadr[joint];
  if (tb_joint_has_quaternion(type)) {
    tbReal* v = value + n - 4;
    tbReal quat[4] = {v[3], v[0], v[1], v[2]};
    if (!(tb_quat_normalize(quat) > 1e-10)) {
      return tb_urdf_fail(u, TB_ERROR_MODEL, node, "the quaternion is zero");
    }
    memcpy(v, quat, sizeof quat);
  }
  memcpy(q, value, (size_t)n * sizeof *q);
  return true;
}

// Sets the joints that mimic joints of a state. Chains of up to four mimics are followed.
static void set_mimics(tbUrdf* u, tbReal* q) {
  const tbFlat* spec = u->spec;
  for (int pass = 0; pass < 4; pass++) {
    for (int i = 0; i < spec->nequality; i++) {
      const tbFlatEquality* e = &spec->equality[i];
      int one = find_joint(u, e->joint1), two = e->joint2 ? find_joint(u, e->joint2) : -1;
      if (one < 0) continue;
      tbReal other = two >= 0 ? q[u->qposadr[two]] : 0;
      q[u->qposadr[one]] = e->polycoef[0] + e->polycoef[1] * other;
    }
  }
}

// The spec joint that a state's joint element refers to, or -1.
static int state_joint(tbUrdf* u, const char* name) {
  int joint = find_joint(u, name);
  if (joint >= 0) return joint;
  const char* planar = tb_flat_format(u->spec, "%s_TX", name);
  return planar ? find_joint(u, planar) : -1;
}

// A unique keyframe name: the state's, with its group as a prefix if that name is taken.
static const char* key_name(tbUrdf* u, const xmlNode* node) {
  const char *name = tb_urdf_text(node, "name"), *group = tb_urdf_text(node, "group");
  const char* result = tb_flat_text(u->spec, name);
  if (result && tb_flat_find(u->spec, TB_FLAT_key, result) >= 0 && group) {
    result = tb_flat_format(u->spec, "%s/%s", group, name);
  }
  for (int k = 1; result && tb_flat_find(u->spec, TB_FLAT_key, result) >= 0; k++) {
    result = tb_flat_format(u->spec, "%s_%d", name, k);
  }
  return result;
}

static bool add_state(tbUrdf* u, const xmlNode* node) {
  const char* name;
  if (!tb_urdf_required(u, node, "name", &name)) return false;
  int nq = u->qposadr[u->spec->njoint];
  tbReal* q = reference(u, nq);
  if (!q) return tb_urdf_no_memory(u);
  for (const xmlNode* c = node->children; c; c = c->next) {
    const char* joint_name;
    if (!tb_urdf_is(c, "joint")) continue;
    if (!tb_urdf_required(u, c, "name", &joint_name)) return false;
    int joint = state_joint(u, joint_name);
    if (joint >= 0) {
      if (!set_joint(u, c, joint, q)) return false;
      continue;
    }
    // Fixed joints, and the root joint of a robot with a fixed base, have no coordinates.
    tb_flat_note(u->spec, tb_flat_text(u->spec, (const char*)c->doc->URL), tb_urdf_line(c),
                 "a joint of a group state that does not move here is not used");
  }
  set_mimics(u, q);
  const char* key = key_name(u, node);
  tbFlatKey* out = key ? tb_flat_add_key(u->spec) : NULL;
  if (!out) return tb_urdf_no_memory(u);
  out->name = key;
  out->source = tb_flat_text(u->spec, (const char*)node->doc->URL);
  out->line = tb_urdf_line(node);
  out->qpos = (tbFlatList){nq, q};
  TB_SET_GIVEN(key, out, qpos);
  return true;
}

// ---- exclusions ---------------------------------------------------------------------------------

// Two links that must not collide, and their rigid groups.
typedef struct {
  int cluster[2];
  int link[2];
} Pair;

static int compare_pairs(const void* a, const void* b) {
  return memcmp(a, b, sizeof(Pair));
}

static bool add_exclude(tbUrdf* u, const char* one, const char* two) {
  tbFlatExclude* out = tb_flat_add_exclude(u->spec);
  if (!out) return tb_urdf_no_memory(u);
  out->body1 = one;
  out->body2 = two;
  out->source = u->path;
  return true;
}

static const char* cluster_name(const tbUrdf* u, int cluster) {
  return cluster < 0 ? "world" : u->link[cluster].name;
}

// If all links of two rigid groups are excluded from each other, their bodies are excluded;
// otherwise the links themselves, which then remain separate bodies.
static bool add_excludes(tbUrdf* u, Pair* pair, int n) {
  // Number of links with shapes per rigid group; the world's group is first.
  int* shapes = TB_ARENA_NEW(&u->spec->arena, int, u->nlink + 1);
  if (!shapes) return tb_urdf_no_memory(u);
  for (int i = 0; i < u->nlink; i++) {
    shapes[u->link[i].cluster + 1] += u->link[i].ncollision > 0;
  }
  if (n > 1) qsort(pair, (size_t)n, sizeof *pair, compare_pairs);
  int unique = 0;
  for (int i = 0; i < n; i++) {
    if (unique == 0 || compare_pairs(&pair[unique - 1], &pair[i]) != 0) pair[unique++] = pair[i];
  }
  for (int first = 0, last; first < unique; first = last) {
    const int* cluster = pair[first].cluster;
    last = first + 1;
    while (last < unique && memcmp(pair[last].cluster, cluster, 2 * sizeof(int)) == 0) last++;
    bool fused = u->spec->compiler->fusestatic;
    int64_t all = (int64_t)shapes[cluster[0] + 1] * shapes[cluster[1] + 1];
    bool good = true;
    if (fused && last - first == all) {
      good = add_exclude(u, cluster_name(u, cluster[0]), cluster_name(u, cluster[1]));
    }
    for (int i = first; good && (!fused || last - first != all) && i < last; i++) {
      good = add_exclude(u, u->link[pair[i].link[0]].name, u->link[pair[i].link[1]].name);
    }
    if (!good) return false;
  }
  return true;
}

// The pair of a disable_collisions element; `use` is false if it has no effect.
static bool read_pair(tbUrdf* u, const xmlNode* node, Pair* pair, bool* use) {
  const char* name[2];
  *use = false;
  if (!tb_urdf_required(u, node, "link1", &name[0])) return false;
  if (!tb_urdf_required(u, node, "link2", &name[1])) return false;
  memset(pair, 0, sizeof *pair);
  for (int k = 0; k < 2; k++) {
    int id = tb_urdf_find(u->link_name, u->nlink, name[k]);
    if (id < 0) {
      tb_flat_note(u->spec, tb_flat_text(u->spec, (const char*)node->doc->URL), tb_urdf_line(node),
                   "disable_collisions with a link that is not in the URDF is not used");
      return true;
    }
    if (u->link[id].ncollision == 0) return true;
    pair->link[k] = id;
    pair->cluster[k] = u->link[id].cluster;
  }
  // Links of one rigid group never collide.
  if (pair->cluster[0] == pair->cluster[1]) return true;
  if (pair->cluster[0] > pair->cluster[1]) {
    *pair = (Pair){{pair->cluster[1], pair->cluster[0]}, {pair->link[1], pair->link[0]}};
  }
  *use = true;
  return true;
}

static bool read_document(tbUrdf* u, const xmlNode* root) {
  int npair = 0, most = 0;
  for (const xmlNode* c = root->children; c; c = c->next) {
    most += tb_urdf_is(c, "disable_collisions");
  }
  Pair* pair = TB_ARENA_NEW(&u->spec->arena, Pair, most);
  if (!pair) return tb_urdf_no_memory(u);
  for (const xmlNode* c = root->children; c; c = c->next) {
    if (c->type != XML_ELEMENT_NODE) continue;
    if (tb_urdf_is(c, "group_state")) {
      if (!add_state(u, c)) return false;
    } else if (tb_urdf_is(c, "disable_collisions")) {
      bool use;
      if (!read_pair(u, c, &pair[npair], &use)) return false;
      npair += use;
    } else if (!tb_urdf_is(c, "group") && !tb_urdf_is(c, "virtual_joint") &&
               !tb_urdf_is(c, "end_effector") && !tb_urdf_is(c, "passive_joint")) {
      tb_urdf_note_unused(u, c, "robot");
    }
  }
  return add_excludes(u, pair, npair);
}

bool tb_urdf_add_srdf(tbUrdf* u, const char* path) {
  const unsigned char* bytes = NULL;
  size_t size = 0;
  if (tb_read_file(path, &u->spec->arena, &bytes, &size, u->error) != TB_OK) return false;
  xmlDoc* document = tb_urdf_read(u, (const char*)bytes, size, path);
  if (!document) return false;
  const xmlNode* root = xmlDocGetRootElement(document);
  bool good = root && tb_urdf_is(root, "robot")
                  ? number_joints(u) && read_document(u, root)
                  : tb_urdf_fail(u, TB_ERROR_PARSE, root, "expected <robot>");
  xmlFreeDoc(document);
  return good;
}
