// Copying parts of a tree: <replicate> within a model, <attach> from another. Both copy a run of
// bodies with what they hold, put a prefix or suffix to every name, and copy the tendons,
// actuators, sensors, ... that refer to them.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "spatial/quat.h"

// The kinds that stand in the tree, and the member that says where.
static const tbSpecKind TREE[] = {TB_SPEC_joint, TB_SPEC_geom, TB_SPEC_site, TB_SPEC_camera,
                                  TB_SPEC_light};
// The kinds that refer to it, in an order in which each refers only to earlier ones.
static const tbSpecKind USERS[] = {TB_SPEC_pair,     TB_SPEC_exclude,  TB_SPEC_tendon,
                                   TB_SPEC_equality, TB_SPEC_actuator, TB_SPEC_sensor,
                                   TB_SPEC_tuple};
enum { NTREE = sizeof TREE / sizeof TREE[0], NUSERS = sizeof USERS / sizeof USERS[0] };

// A run of elements of each kind in the source.
typedef struct {
  int first[TB_NSPECKINDS], last[TB_NSPECKINDS];
} Runs;

// One act of copying.
typedef struct {
  tbMjcf* p;
  const tbSpec* source;
  Runs runs;
  int source_body;    // body of the source that the copies leave
  tbMjcfPlace place;  // where they go: body, and frame in it
  const char* prefix;
  const char* suffix;
  bool by_name;              // one body and what it holds: out of the frames around it
  const tbMjcfNames* names;  // names of the source that are copied; others stay as they are
  bool keep_keys;
} Copy;

static int* body_of(tbSpecKind kind, tbSpecElement* element) {
  void* e = element;
  switch (kind) {
    case TB_SPEC_joint: return &((tbSpecJoint*)e)->body;
    case TB_SPEC_geom: return &((tbSpecGeom*)e)->body;
    case TB_SPEC_site: return &((tbSpecSite*)e)->body;
    case TB_SPEC_camera: return &((tbSpecCamera*)e)->body;
    default: return &((tbSpecLight*)e)->body;
  }
}

// Put an element that stood in the source's body into the frame at its new place.
static void move_into(tbSpecKind kind, tbSpecElement* element, const tbMjcfPlace* place) {
  void* e = element;
  switch (kind) {
    case TB_SPEC_body:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbSpecBody*)e)->pos, ((tbSpecBody*)e)->quat);
      break;
    case TB_SPEC_joint:
      if (((tbSpecJoint*)e)->type == TB_JOINT_FREE) break;
      tb_mjcf_in_frame(place->pos, place->quat, ((tbSpecJoint*)e)->pos, NULL);
      if (((tbSpecJoint*)e)->type == TB_JOINT_BALL) break;
      tb_quat_rotate(((tbSpecJoint*)e)->axis, place->quat, ((tbSpecJoint*)e)->axis);
      break;
    case TB_SPEC_geom:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbSpecGeom*)e)->pos, ((tbSpecGeom*)e)->quat);
      break;
    case TB_SPEC_site:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbSpecSite*)e)->pos, ((tbSpecSite*)e)->quat);
      break;
    case TB_SPEC_camera:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbSpecCamera*)e)->pos, ((tbSpecCamera*)e)->quat);
      break;
    default:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbSpecLight*)e)->pos, NULL);
      tb_quat_rotate(((tbSpecLight*)e)->dir, place->quat, ((tbSpecLight*)e)->dir);
      break;
  }
}

// As in MuJoCo, a body that is attached by its name leaves the frames of its model behind.
static void leave_frames(tbSpecBody* body) {
  tb_copy3(body->pos, body->own_pos);
  memcpy(body->quat, body->own_quat, sizeof body->quat);
}

static void rename_reference(void* context, tbSpecKind kind, const char** name) {
  const Copy* copy = (const Copy*)context;
  if (!tb_mjcf_names_has(copy->names, kind, *name)) return;
  *name = tb_spec_format(copy->p->spec, "%s%s%s", copy->prefix, *name, copy->suffix);
}

// Append a copy of one element with its names changed; NULL when out of memory.
static tbSpecElement* copy_element(const Copy* copy, tbSpecKind kind, int index) {
  tbSpec* spec = copy->p->spec;
  tbSpecElement* element = (tbSpecElement*)tb_spec_grow(spec, kind);
  if (!element) return NULL;
  memcpy(element, tb_spec_at(copy->source, kind, index), tb_spec_kind_info(kind)->size);
  if (element->name && *element->name) {
    element->name = tb_spec_format(spec, "%s%s%s", copy->prefix, element->name, copy->suffix);
  }
  return element;
}

// The path of a copied tendon, the items of a copied tuple.
static bool copy_parts(const Copy* copy, tbSpecKind kind, tbSpecElement* element) {
  tbSpec* spec = copy->p->spec;
  if (kind == TB_SPEC_tendon) {
    tbSpecTendon* tendon = (tbSpecTendon*)(void*)element;
    int from = tendon->wrapadr;
    tendon->wrapadr = spec->nwrap;
    for (int i = 0; i < tendon->wrapnum; i++) {
      if (!copy_element(copy, TB_SPEC_wrap, from + i)) return false;
    }
  }
  if (kind == TB_SPEC_tuple) {
    tbSpecTuple* tuple = (tbSpecTuple*)(void*)element;
    int from = tuple->itemadr;
    tuple->itemadr = spec->ntupleitem;
    for (int i = 0; i < tuple->itemnum; i++) {
      if (!copy_element(copy, TB_SPEC_tupleitem, from + i)) return false;
    }
  }
  return true;
}

static bool copy_run(const Copy* copy, tbSpecKind kind, int body_offset) {
  tbSpec* spec = copy->p->spec;
  for (int i = copy->runs.first[kind]; i < copy->runs.last[kind]; i++) {
    tbSpecElement* element = copy_element(copy, kind, i);
    if (!element) return tb_mjcf_no_memory(copy->p);
    int* body =
        kind == TB_SPEC_body ? &((tbSpecBody*)(void*)element)->parent : body_of(kind, element);
    // bodies of the run move with it, all else hangs on the new place
    if (*body == copy->source_body) {
      *body = copy->place.body;
      if (kind == TB_SPEC_body && copy->by_name) leave_frames((tbSpecBody*)(void*)element);
      move_into(kind, element, &copy->place);
    } else {
      *body += body_offset;
    }
    if (kind == TB_SPEC_joint && !copy->keep_keys) ((tbSpecJoint*)(void*)element)->keys = NULL;
    if (kind == TB_SPEC_body && !copy->keep_keys) ((tbSpecBody*)(void*)element)->keys = NULL;
    tb_mjcf_references(spec, kind, element, rename_reference, (void*)(uintptr_t)copy);
  }
  return true;
}

static bool copy_tree(const Copy* copy) {
  int offset = copy->p->spec->nbody - copy->runs.first[TB_SPEC_body];
  if (!copy_run(copy, TB_SPEC_body, offset)) return false;
  for (int k = 0; k < NTREE; k++) {
    if (!copy_run(copy, TREE[k], offset)) return false;
  }
  return true;
}

static bool copy_user(const Copy* copy, tbSpecKind kind, int index) {
  tbSpecElement* element = copy_element(copy, kind, index);
  if (!element || !copy_parts(copy, kind, element)) return tb_mjcf_no_memory(copy->p);
  if (kind == TB_SPEC_actuator && !copy->keep_keys) {
    ((tbSpecActuator*)(void*)element)->keys = NULL;
  }
  tb_mjcf_references(copy->p->spec, kind, element, rename_reference, (void*)(uintptr_t)copy);
  return true;
}

static bool names_of_runs(tbMjcf* p, const tbSpec* source, const Runs* runs, tbMjcfNames* names) {
  for (int k = -1; k < NTREE; k++) {
    tbSpecKind kind = k < 0 ? TB_SPEC_body : TREE[k];
    for (int i = runs->first[kind]; i < runs->last[kind]; i++) {
      if (!tb_mjcf_names_add(p->spec, names, kind, tb_spec_at(source, kind, i)->name)) {
        return tb_mjcf_no_memory(p);
      }
    }
  }
  return true;
}

// How many references an element has, and how many of them are to copied names.
typedef struct {
  const tbMjcfNames* names;
  int all, inside;
} Count;

static void count_reference(void* context, tbSpecKind kind, const char** name) {
  Count* count = (Count*)context;
  // colours are not what an element is about, and the world is everywhere
  if (kind == TB_SPEC_material || (kind == TB_SPEC_body && strcmp(*name, "world") == 0)) return;
  count->all++;
  count->inside += tb_mjcf_names_has(count->names, kind, *name);
}

static Count count_references(const tbSpec* source, tbSpecKind kind, int index,
                              const tbMjcfNames* names) {
  Count count = {names, 0, 0};
  tb_mjcf_references(source, kind, tb_spec_at(source, kind, index), count_reference, &count);
  return count;
}

// Flags of the users that are to be copied; their own names join `names`. With `partly`, one
// reference to a copied name is enough, else all must be.
static bool choose_users(tbMjcf* p, const tbSpec* source, const xmlNode* node, bool partly,
                         tbMjcfNames* names, unsigned char* chosen[NUSERS]) {
  for (int k = 0; k < NUSERS; k++) {
    tbSpecKind kind = USERS[k];
    int n = tb_spec_count(source, kind);
    chosen[k] = TB_ARENA_NEW(&p->spec->arena, unsigned char, n + 1);
    if (!chosen[k]) return tb_mjcf_no_memory(p);
    for (int i = 0; i < n; i++) {
      const tbSpecElement* element = tb_spec_at(source, kind, i);
      Count count = count_references(source, kind, i, names);
      chosen[k][i] = partly ? count.inside > 0 : count.inside == count.all;
      if (chosen[k][i]) {
        if (!tb_mjcf_names_add(p->spec, names, kind, element->name)) return tb_mjcf_no_memory(p);
      } else if (!partly) {
        tb_spec_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                     "<attach>: the %s '%s' refers to what is not attached and was left out",
                     tb_spec_kind_info(kind)->name, element->name ? element->name : "");
      }
    }
  }
  return true;
}

// Take elements [first, last) of a kind out of its array.
static void remove_run(tbSpec* spec, tbSpecKind kind, int first, int last) {
  const tbSpecKindInfo* info = tb_spec_kind_info(kind);
  int n = tb_spec_count(spec, kind), left = n - (last - first);
  if (last < n) {
    memmove(tb_spec_at(spec, kind, first), tb_spec_at(spec, kind, last),
            (size_t)(n - last) * info->size);
  }
  memcpy((char*)spec + info->count_offset, &left, sizeof left);
}

// Take the pattern of a replicate out, behind which its copies stand.
static void remove_pattern(tbSpec* spec, const Runs* runs) {
  int nbody = runs->last[TB_SPEC_body] - runs->first[TB_SPEC_body];
  for (int i = runs->last[TB_SPEC_body]; i < spec->nbody; i++) {
    if (spec->body[i].parent >= runs->last[TB_SPEC_body]) spec->body[i].parent -= nbody;
  }
  remove_run(spec, TB_SPEC_body, runs->first[TB_SPEC_body], runs->last[TB_SPEC_body]);
  for (int k = 0; k < NTREE; k++) {
    for (int i = runs->last[TREE[k]]; i < tb_spec_count(spec, TREE[k]); i++) {
      int* body = body_of(TREE[k], tb_spec_at(spec, TREE[k], i));
      if (*body >= runs->last[TB_SPEC_body]) *body -= nbody;
    }
    remove_run(spec, TREE[k], runs->first[TREE[k]], runs->last[TREE[k]]);
  }
}

static void remove_users(tbSpec* spec, const int count[NUSERS],
                         unsigned char* const chosen[NUSERS]) {
  for (int k = 0; k < NUSERS; k++) {
    for (int i = count[k] - 1; i >= 0; i--) {
      if (chosen[k][i]) remove_run(spec, USERS[k], i, i + 1);
    }
  }
}

// ---- replicate ---------------------------------------------------------------------------------

typedef struct {
  int count;
  tbReal offset[3], euler[3];
  const char* sep;
} Replicate;

static bool read_replicate(tbMjcf* p, const xmlNode* node, Replicate* r) {
  static const char* const KNOWN[] = {"count", "offset", "euler", "sep", "childclass", NULL};
  int given, unused;
  if (!tb_mjcf_only(p, node, KNOWN) || !tb_mjcf_integer(p, node, "count", &r->count, &given) ||
      !tb_mjcf_numbers(p, node, "offset", 3, 3, r->offset, &unused) ||
      !tb_mjcf_numbers(p, node, "euler", 3, 3, r->euler, &unused)) {
    return false;
  }
  if (!given || r->count < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs a count that is not negative");
  }
  r->sep = tb_mjcf_text(p, node, "sep");
  if (!r->sep) r->sep = "";
  return true;
}

static bool too_many(tbMjcf* p, const xmlNode* node, const Runs* runs, int count) {
  for (int kind = 0; kind < TB_NSPECKINDS; kind++) {
    int64_t more = (int64_t)(runs->last[kind] - runs->first[kind]) * count;
    if (more + tb_spec_count(p->spec, (tbSpecKind)kind) > TB_MJCF_MAX_ELEMENTS) {
      return !tb_mjcf_fail(p, TB_ERROR_MEMORY, node, "gives more than %d of one kind",
                           TB_MJCF_MAX_ELEMENTS);
    }
  }
  return false;
}

static void count_runs(const tbSpec* spec, int counts[TB_NSPECKINDS]) {
  for (int kind = 0; kind < TB_NSPECKINDS; kind++) {
    counts[kind] = tb_spec_count(spec, (tbSpecKind)kind);
  }
}

// The copies: the i-th stands in the frame (pos, i * euler), where pos gathers the rotated offsets.
static bool replicate_runs(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place,
                           const Replicate* r, Copy* copy, unsigned char* const chosen[NUSERS],
                           const int users[NUSERS]) {
  tbMjcfAngles angles = tb_mjcf_angles(p->spec->compiler);
  tbReal pos[3] = {0, 0, 0};
  int digits = 1;
  for (int n = r->count; n >= 10; n /= 10) digits++;
  for (int i = 0; i < r->count; i++) {
    tbReal euler[3], step[3];
    tb_scale3(euler, r->euler, i);
    tb_mjcf_euler(copy->place.quat, euler, angles);
    tb_copy3(copy->place.pos, pos);
    tb_quat_rotate(step, copy->place.quat, r->offset);
    tb_add3(pos, pos, step);
    tb_mjcf_in_frame(place->pos, place->quat, copy->place.pos, copy->place.quat);
    copy->suffix = tb_spec_format(p->spec, "%s%0*d", r->sep, digits, i);
    copy->keep_keys = i == 0;
    if (!copy->suffix || !copy_tree(copy)) return tb_mjcf_no_memory(p);
    for (int k = 0; k < NUSERS; k++) {
      for (int u = 0; u < users[k]; u++) {
        if (!chosen[k][u]) continue;
        if (tb_spec_count(p->spec, USERS[k]) >= TB_MJCF_MAX_ELEMENTS) {
          return tb_mjcf_fail(p, TB_ERROR_MEMORY, node, "gives more than %d of one kind",
                              TB_MJCF_MAX_ELEMENTS);
        }
        if (!copy_user(copy, USERS[k], u)) return false;
      }
    }
  }
  return true;
}

bool tb_mjcf_replicate(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place, int depth) {
  Replicate r = {0};
  tbMjcfPlace inside = {.body = place->body, .quat = {1, 0, 0, 0}};
  if (!read_replicate(p, node, &r) ||
      !tb_mjcf_class(p, node, "childclass", place->childclass, &inside.childclass)) {
    return false;
  }
  // parse the pattern once, at the end of the arrays
  Copy copy = {
      .p = p, .source = p->spec, .source_body = place->body, .place = *place, .prefix = ""};
  count_runs(p->spec, copy.runs.first);
  if (!tb_mjcf_children(p, node, &inside, depth + 1)) return false;
  count_runs(p->spec, copy.runs.last);
  if (too_many(p, node, &copy.runs, r.count)) return false;
  tbMjcfNames names = {0};
  unsigned char* chosen[NUSERS];
  int users[NUSERS];
  for (int k = 0; k < NUSERS; k++) users[k] = tb_spec_count(p->spec, USERS[k]);
  if (!names_of_runs(p, p->spec, &copy.runs, &names) ||
      !choose_users(p, p->spec, node, true, &names, chosen)) {
    return false;
  }
  copy.names = &names;
  if (!replicate_runs(p, node, place, &r, &copy, chosen, users)) return false;
  remove_users(p->spec, users, chosen);
  remove_pattern(p->spec, &copy.runs);
  return true;
}

// ---- attach ------------------------------------------------------------------------------------

// The run of elements that stand in bodies [first, last).
static void runs_of_bodies(const tbSpec* spec, int first, int last, Runs* runs) {
  memset(runs, 0, sizeof *runs);
  runs->first[TB_SPEC_body] = first;
  runs->last[TB_SPEC_body] = last;
  for (int k = 0; k < NTREE; k++) {
    int n = tb_spec_count(spec, TREE[k]), at = 0;
    while (at < n && *body_of(TREE[k], tb_spec_at(spec, TREE[k], at)) < first) at++;
    runs->first[TREE[k]] = at;
    while (at < n && *body_of(TREE[k], tb_spec_at(spec, TREE[k], at)) < last) at++;
    runs->last[TREE[k]] = at;
  }
}

// What stands in the attached part: a body with its subtree, or all of the world.
static bool find_runs(tbMjcf* p, const xmlNode* node, const tbSpec* child, const char* name,
                      Copy* copy) {
  if (!name) {
    runs_of_bodies(child, 0, child->nbody, &copy->runs);
    copy->runs.first[TB_SPEC_body] = 1;
    copy->source_body = 0;
    return true;
  }
  int first = tb_spec_find(child, TB_SPEC_body, name);
  if (first <= 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the model has no body '%s'", name);
  }
  int last = first + 1;
  while (last < child->nbody && child->body[last].parent >= first) last++;
  runs_of_bodies(child, first, last, &copy->runs);
  copy->source_body = child->body[first].parent;
  copy->by_name = true;
  return true;
}

// Assets and custom fields come along, once per prefix.
static bool copy_assets(tbMjcf* p, const Copy* copy) {
  static const tbSpecKind ASSETS[] = {TB_SPEC_mesh, TB_SPEC_hfield, TB_SPEC_material,
                                      TB_SPEC_numeric, TB_SPEC_text};
  for (size_t k = 0; k < sizeof ASSETS / sizeof ASSETS[0]; k++) {
    for (int i = 0; i < tb_spec_count(copy->source, ASSETS[k]); i++) {
      const char* name = tb_spec_at(copy->source, ASSETS[k], i)->name;
      const char* renamed = tb_spec_format(p->spec, "%s%s", copy->prefix, name ? name : "");
      if (!renamed) return tb_mjcf_no_memory(p);
      if (tb_spec_find(p->spec, ASSETS[k], renamed) >= 0) continue;
      if (!copy_element(copy, ASSETS[k], i)) return tb_mjcf_no_memory(p);
    }
  }
  return true;
}

static bool names_of_assets(tbMjcf* p, const tbSpec* child, tbMjcfNames* names) {
  static const tbSpecKind ASSETS[] = {TB_SPEC_mesh, TB_SPEC_hfield, TB_SPEC_material,
                                      TB_SPEC_numeric, TB_SPEC_text};
  for (size_t k = 0; k < sizeof ASSETS / sizeof ASSETS[0]; k++) {
    for (int i = 0; i < tb_spec_count(child, ASSETS[k]); i++) {
      if (!tb_mjcf_names_add(p->spec, names, ASSETS[k], tb_spec_at(child, ASSETS[k], i)->name)) {
        return tb_mjcf_no_memory(p);
      }
    }
  }
  return true;
}

static bool attach_child(tbMjcf* p, const xmlNode* node, tbSpec* child, const char* body,
                         Copy* copy) {
  tbMjcfNames names = {0};
  unsigned char* chosen[NUSERS];
  if (!find_runs(p, node, child, body, copy) || too_many(p, node, &copy->runs, 1) ||
      !names_of_runs(p, child, &copy->runs, &names) || !names_of_assets(p, child, &names) ||
      !choose_users(p, child, node, false, &names, chosen) ||
      !tb_mjcf_split_keys(p, node, child, copy->prefix)) {
    return false;
  }
  copy->names = &names;
  if (!copy_assets(p, copy) || !copy_tree(copy)) return false;
  for (int k = 0; k < NUSERS; k++) {
    for (int i = 0; i < tb_spec_count(child, USERS[k]); i++) {
      if (chosen[k][i] && !copy_user(copy, USERS[k], i)) return false;
    }
  }
  for (int i = 0; i < child->nnote; i++) {
    const tbSpecNote* note = &child->note[i];
    tb_spec_note(p->spec, note->file, note->line, "%s", note->text);
  }
  tbOption usual = tbDefaultOption();
  if (memcmp(&child->option, &usual, sizeof usual) != 0) {
    tb_spec_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "<attach>: the options of the attached model are not used");
  }
  return true;
}

bool tb_mjcf_attach(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place) {
  static const char* const KNOWN[] = {"model", "body", "frame", "prefix", NULL};
  const char* model;
  if (!tb_mjcf_only(p, node, KNOWN)) return false;
  if (tb_mjcf_has(node, "frame")) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "attaching a frame is not supported");
  }
  if (!tb_mjcf_has(node, "model")) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node,
                        "attaching a part of the model to itself is not supported");
  }
  if (!tb_mjcf_required(p, node, "model", &model)) return false;
  const char* prefix = tb_mjcf_text(p, node, "prefix");
  if (!prefix) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute 'prefix' is missing");
  tbSpec* child = NULL;
  for (int i = 0; i < p->nchild; i++) {
    if (strcmp(p->child[i].name, model) == 0) child = p->child[i].spec;
  }
  if (!child) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "unknown model '%s'", model);
  if (tb_mjcf_first(node)) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "may not contain elements");
  const char* body = tb_mjcf_text(p, node, "body");
  Copy copy = {
      .p = p, .source = child, .place = *place, .prefix = prefix, .suffix = "", .keep_keys = true};
  return attach_child(p, node, child, body && *body ? body : NULL, &copy);
}
