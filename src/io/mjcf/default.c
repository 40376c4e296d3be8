// Default classes: each contains one record per kind of element, inherited from its parent class.
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "io/mjcf/mjcf.h"

static int find_class(const tbMjcf* p, const char* name) {
  for (int i = 0; i < p->nclass; i++) {
    if (strcmp(p->classes[i]->name, name) == 0) return i;
  }
  return p->main_alias && strcmp(p->main_alias, name) == 0 ? 0 : -1;
}

bool tb_mjcf_class(tbMjcf* p, const tbElement* node, const char* attribute, int otherwise,
                   int* result) {
  *result = otherwise;
  const char* name = tb_element_get(node, attribute);
  if (!name || !*name) return true;
  *result = find_class(p, name);
  if (*result >= 0) return true;
  const char* best = "main";
  int distance = INT_MAX;
  for (int i = 0; i < p->nclass; i++) {
    int d = tb_edit_distance(name, p->classes[i]->name);
    if (d < distance) {
      distance = d;
      best = p->classes[i]->name;
    }
  }
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "unknown default class '%s', did you mean '%s'?",
                      name, best);
}

static bool new_class(tbMjcf* p, const tbElement* node, const char* name, int parent, int* result) {
  if (find_class(p, name) >= 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the class '%s' is already defined", name);
  }
  if (p->nclass == p->class_capacity) {
    int room = p->class_capacity ? 2 * p->class_capacity : 16;
    tbFlatDefault** larger = TB_ARENA_NEW(&p->spec->arena, tbFlatDefault*, room);
    if (!larger) return tb_mjcf_no_memory(p);
    if (p->nclass) memcpy(larger, p->classes, sizeof(*larger) * (size_t)p->nclass);
    p->classes = larger;
    p->class_capacity = room;
  }
  tbFlatDefault* record = TB_ARENA_NEW(&p->spec->arena, tbFlatDefault, 1);
  if (!record) return tb_mjcf_no_memory(p);
  *record = parent < 0 ? tb_flat_initial_default() : *p->classes[parent];
  record->name = name;
  record->source = tb_mjcf_file(node);
  record->line = tb_mjcf_line(node);
  record->parent = parent;
  *result = p->nclass;
  p->classes[p->nclass++] = record;
  return true;
}

// A springlength of one value is both ends of the dead band.
static bool tendon_class(tbMjcf* p, const tbElement* node, tbFlatTendon* tendon) {
  tbReal length[2];
  int count;
  return tb_mjcf_fields(p, node, tb_flat_table_tendon(), tendon, NULL) &&
         tb_mjcf_numbers(p, node, "springlength", 1, 2, length, &count) &&
         (count != 1 || (tendon->springlength[1] = length[0], true));
}

// One element of a class. An orientation in another form than quat replaces the inherited one.
static bool read_record(tbMjcf* p, const tbElement* node, tbFlatDefault* c) {
  uint64_t own = 0;
#define POSED(kind)                                                                     \
  if (tb_mjcf_is(node, #kind)) {                                                        \
    if (!tb_mjcf_fields(p, node, tb_flat_table_##kind(), &c->kind, &own)) return false; \
    uint64_t forms = (uint64_t)30 << TB_BIT_##kind##_quat;                              \
    if (own & forms) c->kind.given = (c->kind.given & ~forms) | own;                    \
    return true;                                                                        \
  }
#define PLAIN(kind)            \
  if (tb_mjcf_is(node, #kind)) \
    return tb_mjcf_fields(p, node, tb_flat_table_##kind(), &c->kind, NULL);
  POSED(geom)
  POSED(site)
  POSED(camera)
  PLAIN(joint)
  PLAIN(light)
  PLAIN(mesh)
  PLAIN(material)
  PLAIN(pair)
  if (tb_mjcf_is(node, "tendon")) return tendon_class(p, node, &c->tendon);
  if (tb_mjcf_is(node, "equality")) {
    return tb_mjcf_fields(p, node, tb_flat_table_equality(), &c->equality, NULL);
  }
  return tb_mjcf_one_actuator(p, node, &c->actuator, true);
#undef POSED
#undef PLAIN
}

// Reads a class: first its own elements, then the nested classes, which inherit all of them.
static bool read_class(tbMjcf* p, const tbElement* node, int parent, int depth) {
  int id = 0;
  const char* name = tb_element_get(node, "class");
  if (parent >= 0) {
    if (!name || !*name) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "a nested class needs the attribute 'class'");
    }
    if (!new_class(p, node, name, parent, &id)) return false;
  } else if (name && *name && strcmp(name, "main") != 0) {
    // Older files may give the top class another name.
    p->main_alias = name;
    tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "the top default class '%s' is called 'main'", name);
  }
  for (const tbElement* child = tb_mjcf_first(node); child; child = tb_mjcf_next(child)) {
    if (!tb_mjcf_is(child, "default") && !read_record(p, child, p->classes[id])) return false;
  }
  for (const tbElement* child = tb_mjcf_first(node); child; child = tb_mjcf_next(child)) {
    if (tb_mjcf_is(child, "default") && !read_class(p, child, id, depth + 1)) return false;
  }
  return true;
}

bool tb_mjcf_defaults(tbMjcf* p, const tbElement* root) {
  int id;
  if (!new_class(p, root, "main", -1, &id)) return false;
  for (const tbElement* node = tb_mjcf_first(root); node; node = tb_mjcf_next(node)) {
    if (tb_mjcf_is(node, "default") && !read_class(p, node, -1, 0)) return false;
  }
  return true;
}
