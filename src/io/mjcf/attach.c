// Copying of parts of a tree: <replicate> within a model, <attach> from another. Both copy a range
// of bodies with their contents, add a prefix or suffix to every name, and copy the tendons,
// actuators, sensors, ... that refer to them.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

// The kinds that belong to a body.
static const tbFlatKind TREE[] = {TB_FLAT_joint, TB_FLAT_geom, TB_FLAT_site, TB_FLAT_camera,
                                  TB_FLAT_light};
// The kinds that refer to elements of the tree, ordered so that each refers only to earlier ones.
static const tbFlatKind REFERRERS[] = {TB_FLAT_pair,     TB_FLAT_exclude,  TB_FLAT_tendon,
                                       TB_FLAT_equality, TB_FLAT_actuator, TB_FLAT_sensor,
                                       TB_FLAT_tuple};
enum { NTREE = sizeof TREE / sizeof TREE[0], NREFERRERS = sizeof REFERRERS / sizeof REFERRERS[0] };

// A range of elements of each kind in the source.
typedef struct {
  int first[TB_NFLATKINDS], last[TB_NFLATKINDS];
} Ranges;

// The parameters of one copy operation.
typedef struct {
  tbMjcf* p;
  const tbFlat* source;
  Ranges ranges;
  int source_body;    // body of the source whose children are copied
  tbMjcfPlace place;  // destination: body, and frame in it
  const char* prefix;
  const char* suffix;
  bool by_name;              // a body selected by name: the frames around it are not applied
  const tbMjcfNames* names;  // names of the source that are copied; other names stay
  bool keep_keys;
} Copy;

static int* body_of(tbFlatKind kind, tbFlatElement* element) {
  void* e = element;
  switch (kind) {
    case TB_FLAT_joint: return &((tbFlatJoint*)e)->body;
    case TB_FLAT_geom: return &((tbFlatGeom*)e)->body;
    case TB_FLAT_site: return &((tbFlatSite*)e)->body;
    case TB_FLAT_camera: return &((tbFlatCamera*)e)->body;
    default: return &((tbFlatLight*)e)->body;
  }
}

// Moves an element of the source's body into the frame at the destination.
static void move_into(tbFlatKind kind, tbFlatElement* element, const tbMjcfPlace* place) {
  void* e = element;
  switch (kind) {
    case TB_FLAT_body:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbFlatBody*)e)->pos, ((tbFlatBody*)e)->quat);
      break;
    case TB_FLAT_joint:
      if (tb_joint_floats(((tbFlatJoint*)e)->type)) break;
      tb_mjcf_in_frame(place->pos, place->quat, ((tbFlatJoint*)e)->pos, NULL);
      if (!tb_joint_has_axis(((tbFlatJoint*)e)->type)) break;
      tb_quat_rotate(((tbFlatJoint*)e)->axis, place->quat, ((tbFlatJoint*)e)->axis);
      break;
    case TB_FLAT_geom:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbFlatGeom*)e)->pos, ((tbFlatGeom*)e)->quat);
      break;
    case TB_FLAT_site:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbFlatSite*)e)->pos, ((tbFlatSite*)e)->quat);
      break;
    case TB_FLAT_camera:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbFlatCamera*)e)->pos, ((tbFlatCamera*)e)->quat);
      break;
    default:
      tb_mjcf_in_frame(place->pos, place->quat, ((tbFlatLight*)e)->pos, NULL);
      tb_quat_rotate(((tbFlatLight*)e)->dir, place->quat, ((tbFlatLight*)e)->dir);
      break;
  }
}

// As in MuJoCo, a body that is attached by name does not keep the frames around it in its model.
static void drop_frames(tbFlatBody* body) {
  tb_copy3(body->pos, body->own_pos);
  memcpy(body->quat, body->own_quat, sizeof body->quat);
}

static void rename_reference(void* context, tbFlatKind kind, const char** name) {
  const Copy* copy = (const Copy*)context;
  if (!tb_mjcf_names_has(copy->names, kind, *name)) return;
  *name = tb_flat_format(copy->p->spec, "%s%s%s", copy->prefix, *name, copy->suffix);
}

// Appends a copy of one element with new names; NULL if out of memory.
static tbFlatElement* copy_element(const Copy* copy, tbFlatKind kind, int index) {
  tbFlat* spec = copy->p->spec;
  tbFlatElement* element = (tbFlatElement*)tb_flat_grow(spec, kind);
  if (!element) return NULL;
  memcpy(element, tb_flat_at(copy->source, kind, index), tb_flat_kind_info(kind)->size);
  if (element->name && *element->name) {
    element->name = tb_flat_format(spec, "%s%s%s", copy->prefix, element->name, copy->suffix);
  }
  return element;
}

// Copies the path of a copied tendon, or the items of a copied tuple.
static bool copy_parts(const Copy* copy, tbFlatKind kind, tbFlatElement* element) {
  tbFlat* spec = copy->p->spec;
  if (kind == TB_FLAT_tendon) {
    tbFlatTendon* tendon = (tbFlatTendon*)(void*)element;
    int from = tendon->wrapadr;
    tendon->wrapadr = spec->nwrap;
    for (int i = 0; i < tendon->wrapnum; i++) {
      if (!copy_element(copy, TB_FLAT_wrap, from + i)) return false;
    }
  }
  if (kind == TB_FLAT_tuple) {
    tbFlatTuple* tuple = (tbFlatTuple*)(void*)element;
    int from = tuple->itemadr;
    tuple->itemadr = spec->ntupleitem;
    for (int i = 0; i < tuple->itemnum; i++) {
      if (!copy_element(copy, TB_FLAT_tupleitem, from + i)) return false;
    }
  }
  return true;
}

static bool copy_range(const Copy* copy, tbFlatKind kind, int body_offset) {
  tbFlat* spec = copy->p->spec;
  for (int i = copy->ranges.first[kind]; i < copy->ranges.last[kind]; i++) {
    tbFlatElement* element = copy_element(copy, kind, i);
    if (!element) return tb_mjcf_no_memory(copy->p);
    int* body =
        kind == TB_FLAT_body ? &((tbFlatBody*)(void*)element)->parent : body_of(kind, element);
    // Indices of bodies in the range are shifted; other parents become the destination.
    if (*body == copy->source_body) {
      *body = copy->place.body;
      if (kind == TB_FLAT_body && copy->by_name) drop_frames((tbFlatBody*)(void*)element);
      move_into(kind, element, &copy->place);
    } else {
      *body += body_offset;
    }
    if (kind == TB_FLAT_joint && !copy->keep_keys) ((tbFlatJoint*)(void*)element)->keys = NULL;
    if (kind == TB_FLAT_body && !copy->keep_keys) ((tbFlatBody*)(void*)element)->keys = NULL;
    tb_mjcf_references(spec, kind, element, rename_reference, (void*)(uintptr_t)copy);
  }
  return true;
}

static bool copy_tree(const Copy* copy) {
  int offset = copy->p->spec->nbody - copy->ranges.first[TB_FLAT_body];
  if (!copy_range(copy, TB_FLAT_body, offset)) return false;
  for (int k = 0; k < NTREE; k++) {
    if (!copy_range(copy, TREE[k], offset)) return false;
  }
  return true;
}

static bool copy_referrer(const Copy* copy, tbFlatKind kind, int index) {
  tbFlatElement* element = copy_element(copy, kind, index);
  if (!element || !copy_parts(copy, kind, element)) return tb_mjcf_no_memory(copy->p);
  if (kind == TB_FLAT_actuator && !copy->keep_keys) {
    ((tbFlatActuator*)(void*)element)->keys = NULL;
  }
  tb_mjcf_references(copy->p->spec, kind, element, rename_reference, (void*)(uintptr_t)copy);
  return true;
}

static bool names_of_ranges(tbMjcf* p, const tbFlat* source, const Ranges* ranges,
                            tbMjcfNames* names) {
  for (int k = -1; k < NTREE; k++) {
    tbFlatKind kind = k < 0 ? TB_FLAT_body : TREE[k];
    for (int i = ranges->first[kind]; i < ranges->last[kind]; i++) {
      if (!tb_mjcf_names_add(p->spec, names, kind, tb_flat_at(source, kind, i)->name)) {
        return tb_mjcf_no_memory(p);
      }
    }
  }
  return true;
}

// The number of references of an element, and how many of them are to copied names.
typedef struct {
  const tbMjcfNames* names;
  int all, inside;
} Count;

static void count_reference(void* context, tbFlatKind kind, const char** name) {
  Count* count = (Count*)context;
  // References to materials and to the world do not count.
  if (kind == TB_FLAT_material || (kind == TB_FLAT_body && strcmp(*name, "world") == 0)) return;
  count->all++;
  count->inside += tb_mjcf_names_has(count->names, kind, *name);
}

static Count count_references(const tbFlat* source, tbFlatKind kind, int index,
                              const tbMjcfNames* names) {
  Count count = {names, 0, 0};
  tb_mjcf_references(source, kind, tb_flat_at(source, kind, index), count_reference, &count);
  return count;
}

// Flags the referring elements to copy; their own names are added to `names`. With `partly`, one
// reference to a copied name suffices, otherwise all references must be to copied names.
static bool choose_referrers(tbMjcf* p, const tbFlat* source, const tbElement* node, bool partly,
                             tbMjcfNames* names, unsigned char* chosen[NREFERRERS]) {
  for (int k = 0; k < NREFERRERS; k++) {
    tbFlatKind kind = REFERRERS[k];
    int n = tb_flat_count(source, kind);
    chosen[k] = TB_ARENA_NEW(&p->spec->arena, unsigned char, n + 1);
    if (!chosen[k]) return tb_mjcf_no_memory(p);
    for (int i = 0; i < n; i++) {
      const tbFlatElement* element = tb_flat_at(source, kind, i);
      Count count = count_references(source, kind, i, names);
      chosen[k][i] = partly ? count.inside > 0 : count.inside == count.all;
      if (chosen[k][i]) {
        if (!tb_mjcf_names_add(p->spec, names, kind, element->name)) return tb_mjcf_no_memory(p);
      } else if (!partly) {
        tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                     "<attach>: the %s '%s' refers to what is not attached and was left out",
                     tb_flat_kind_info(kind)->name, element->name ? element->name : "");
      }
    }
  }
  return true;
}

// Removes elements [first, last) of a kind from its array.
static void remove_range(tbFlat* spec, tbFlatKind kind, int first, int last) {
  const tbFlatKindInfo* info = tb_flat_kind_info(kind);
  int n = tb_flat_count(spec, kind), left = n - (last - first);
  if (last < n) {
    memmove(tb_flat_at(spec, kind, first), tb_flat_at(spec, kind, last),
            (size_t)(n - last) * info->size);
  }
  memcpy((char*)spec + info->count_offset, &left, sizeof left);
}

// Removes the pattern of a replicate, which precedes its copies in the arrays.
static void remove_pattern(tbFlat* spec, const Ranges* ranges) {
  int nbody = ranges->last[TB_FLAT_body] - ranges->first[TB_FLAT_body];
  for (int i = ranges->last[TB_FLAT_body]; i < spec->nbody; i++) {
    if (spec->body[i].parent >= ranges->last[TB_FLAT_body]) spec->body[i].parent -= nbody;
  }
  remove_range(spec, TB_FLAT_body, ranges->first[TB_FLAT_body], ranges->last[TB_FLAT_body]);
  for (int k = 0; k < NTREE; k++) {
    for (int i = ranges->last[TREE[k]]; i < tb_flat_count(spec, TREE[k]); i++) {
      int* body = body_of(TREE[k], tb_flat_at(spec, TREE[k], i));
      if (*body >= ranges->last[TB_FLAT_body]) *body -= nbody;
    }
    remove_range(spec, TREE[k], ranges->first[TREE[k]], ranges->last[TREE[k]]);
  }
}

static void remove_referrers(tbFlat* spec, const int count[NREFERRERS],
                             unsigned char* const chosen[NREFERRERS]) {
  for (int k = 0; k < NREFERRERS; k++) {
    for (int i = count[k] - 1; i >= 0; i--) {
      if (chosen[k][i]) remove_range(spec, REFERRERS[k], i, i + 1);
    }
  }
}

// ---- replicate ---------------------------------------------------------------------------------

typedef struct {
  int count;
  tbReal offset[3], euler[3];
  const char* sep;
} Replicate;

static bool read_replicate(tbMjcf* p, const tbElement* node, Replicate* r) {
  int given, unused;
  if (!tb_mjcf_integer(p, node, "count", &r->count, &given) ||
      !tb_mjcf_numbers(p, node, "offset", 3, 3, r->offset, &unused) ||
      !tb_mjcf_numbers(p, node, "euler", 3, 3, r->euler, &unused)) {
    return false;
  }
  if (!given || r->count < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs a count that is not negative");
  }
  r->sep = tb_element_get(node, "sep");
  if (!r->sep) r->sep = "";
  return true;
}

static bool too_many(tbMjcf* p, const tbElement* node, const Ranges* ranges, int count) {
  for (int kind = 0; kind < TB_NFLATKINDS; kind++) {
    int64_t more = (int64_t)(ranges->last[kind] - ranges->first[kind]) * count;
    if (more + tb_flat_count(p->spec, (tbFlatKind)kind) > TB_MJCF_MAX_ELEMENTS) {
      return !tb_mjcf_fail(p, TB_ERROR_MEMORY, node, "creates more than %d elements of one kind",
                           TB_MJCF_MAX_ELEMENTS);
    }
  }
  return false;
}

static void count_elements(const tbFlat* spec, int counts[TB_NFLATKINDS]) {
  for (int kind = 0; kind < TB_NFLATKINDS; kind++) {
    counts[kind] = tb_flat_count(spec, (tbFlatKind)kind);
  }
}

// The copies: the i-th is in the frame (pos, i * euler), where pos accumulates the rotated offsets.
static bool replicate_ranges(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place,
                             const Replicate* r, Copy* copy,
                             unsigned char* const chosen[NREFERRERS],
                             const int referrers[NREFERRERS]) {
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
    copy->suffix = tb_flat_format(p->spec, "%s%0*d", r->sep, digits, i);
    copy->keep_keys = i == 0;
    if (!copy->suffix || !copy_tree(copy)) return tb_mjcf_no_memory(p);
    for (int k = 0; k < NREFERRERS; k++) {
      for (int u = 0; u < referrers[k]; u++) {
        if (!chosen[k][u]) continue;
        if (tb_flat_count(p->spec, REFERRERS[k]) >= TB_MJCF_MAX_ELEMENTS) {
          return tb_mjcf_fail(p, TB_ERROR_MEMORY, node, "creates more than %d elements of one kind",
                              TB_MJCF_MAX_ELEMENTS);
        }
        if (!copy_referrer(copy, REFERRERS[k], u)) return false;
      }
    }
  }
  return true;
}

bool tb_mjcf_replicate(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place, int depth) {
  Replicate r = {0};
  tbMjcfPlace inside = {.body = place->body, .quat = {1, 0, 0, 0}};
  if (!read_replicate(p, node, &r) ||
      !tb_mjcf_class(p, node, "childclass", place->childclass, &inside.childclass)) {
    return false;
  }
  // Parse the pattern once, at the end of the arrays.
  Copy copy = {
      .p = p, .source = p->spec, .source_body = place->body, .place = *place, .prefix = ""};
  count_elements(p->spec, copy.ranges.first);
  if (!tb_mjcf_children(p, node, &inside, depth + 1)) return false;
  count_elements(p->spec, copy.ranges.last);
  if (too_many(p, node, &copy.ranges, r.count)) return false;
  tbMjcfNames names = {0};
  unsigned char* chosen[NREFERRERS];
  int referrers[NREFERRERS];
  for (int k = 0; k < NREFERRERS; k++) referrers[k] = tb_flat_count(p->spec, REFERRERS[k]);
  if (!names_of_ranges(p, p->spec, &copy.ranges, &names) ||
      !choose_referrers(p, p->spec, node, true, &names, chosen)) {
    return false;
  }
  copy.names = &names;
  if (!replicate_ranges(p, node, place, &r, &copy, chosen, referrers)) return false;
  remove_referrers(p->spec, referrers, chosen);
  remove_pattern(p->spec, &copy.ranges);
  return true;
}

// ---- attach ------------------------------------------------------------------------------------

// The ranges of elements that belong to bodies [first, last).
static void ranges_of_bodies(const tbFlat* spec, int first, int last, Ranges* ranges) {
  memset(ranges, 0, sizeof *ranges);
  ranges->first[TB_FLAT_body] = first;
  ranges->last[TB_FLAT_body] = last;
  for (int k = 0; k < NTREE; k++) {
    int n = tb_flat_count(spec, TREE[k]), at = 0;
    while (at < n && *body_of(TREE[k], tb_flat_at(spec, TREE[k], at)) < first) at++;
    ranges->first[TREE[k]] = at;
    while (at < n && *body_of(TREE[k], tb_flat_at(spec, TREE[k], at)) < last) at++;
    ranges->last[TREE[k]] = at;
  }
}

// The ranges of the attached part: a body with its subtree, or the whole world.
static bool find_ranges(tbMjcf* p, const tbElement* node, const tbFlat* child, const char* name,
                        Copy* copy) {
  if (!name) {
    ranges_of_bodies(child, 0, child->nbody, &copy->ranges);
    copy->ranges.first[TB_FLAT_body] = 1;
    copy->source_body = 0;
    return true;
  }
  int first = tb_flat_find(child, TB_FLAT_body, name);
  if (first <= 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the model has no body '%s'", name);
  }
  int last = first + 1;
  while (last < child->nbody && child->body[last].parent >= first) last++;
  ranges_of_bodies(child, first, last, &copy->ranges);
  copy->source_body = child->body[first].parent;
  copy->by_name = true;
  return true;
}

// Assets and custom fields are copied, too, once per prefix.
static bool copy_assets(tbMjcf* p, const Copy* copy) {
  static const tbFlatKind ASSETS[] = {TB_FLAT_mesh, TB_FLAT_hfield, TB_FLAT_material,
                                      TB_FLAT_numeric, TB_FLAT_text};
  for (size_t k = 0; k < sizeof ASSETS / sizeof ASSETS[0]; k++) {
    for (int i = 0; i < tb_flat_count(copy->source, ASSETS[k]); i++) {
      const char* name = tb_flat_at(copy->source, ASSETS[k], i)->name;
      const char* renamed =
          tb_flat_format(p->spec, "%s%s%s", copy->prefix, name ? name : "", copy->suffix);
      if (!renamed) return tb_mjcf_no_memory(p);
      if (tb_flat_find(p->spec, ASSETS[k], renamed) >= 0) continue;
      if (!copy_element(copy, ASSETS[k], i)) return tb_mjcf_no_memory(p);
    }
  }
  return true;
}

static bool names_of_assets(tbMjcf* p, const tbFlat* child, tbMjcfNames* names) {
  static const tbFlatKind ASSETS[] = {TB_FLAT_mesh, TB_FLAT_hfield, TB_FLAT_material,
                                      TB_FLAT_numeric, TB_FLAT_text};
  for (size_t k = 0; k < sizeof ASSETS / sizeof ASSETS[0]; k++) {
    for (int i = 0; i < tb_flat_count(child, ASSETS[k]); i++) {
      if (!tb_mjcf_names_add(p->spec, names, ASSETS[k], tb_flat_at(child, ASSETS[k], i)->name)) {
        return tb_mjcf_no_memory(p);
      }
    }
  }
  return true;
}

static bool attach_child(tbMjcf* p, const tbElement* node, tbFlat* child, const char* body,
                         Copy* copy) {
  tbMjcfNames names = {0};
  unsigned char* chosen[NREFERRERS];
  if (!find_ranges(p, node, child, body, copy) || too_many(p, node, &copy->ranges, 1) ||
      !names_of_ranges(p, child, &copy->ranges, &names) || !names_of_assets(p, child, &names) ||
      !choose_referrers(p, child, node, false, &names, chosen) ||
      !tb_mjcf_split_keys(p, node, child, copy->prefix, copy->suffix)) {
    return false;
  }
  copy->names = &names;
  if (!copy_assets(p, copy) || !copy_tree(copy)) return false;
  for (int k = 0; k < NREFERRERS; k++) {
    for (int i = 0; i < tb_flat_count(child, REFERRERS[k]); i++) {
      if (chosen[k][i] && !copy_referrer(copy, REFERRERS[k], i)) return false;
    }
  }
  for (int i = 0; i < child->nnote; i++) {
    const tbFlatNote* note = &child->note[i];
    tb_flat_note(p->spec, note->file, note->line, "%s", note->text);
  }
  tbOption usual = tbDefaultOption();
  if (memcmp(&child->option, &usual, sizeof usual) != 0) {
    tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "<attach>: the options of the attached model are not used");
  }
  return true;
}

bool tb_mjcf_attach(tbMjcf* p, const tbElement* node, const tbMjcfPlace* place) {
  const char* model;
  if (tb_mjcf_has(node, "frame")) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "attaching a frame is not supported");
  }
  if (!tb_mjcf_has(node, "model")) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node,
                        "attaching a part of the model to itself is not supported");
  }
  if (!tb_mjcf_required(p, node, "model", &model)) return false;
  const char* prefix = tb_element_get(node, "prefix");
  if (!prefix) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute 'prefix' is missing");
  const char* suffix = tb_element_get(node, "suffix");
  tbFlat* child = NULL;
  for (int i = 0; i < p->nchild; i++) {
    if (strcmp(p->child[i].name, model) == 0) child = p->child[i].spec;
  }
  if (!child) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "unknown model '%s'", model);
  const char* body = tb_element_get(node, "body");
  Copy copy = {.p = p,
               .source = child,
               .place = *place,
               .prefix = prefix,
               .suffix = suffix ? suffix : "",
               .keep_keys = true};
  return attach_child(p, node, child, body && *body ? body : NULL, &copy);
}
