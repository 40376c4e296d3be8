// The public functions that build, change and walk a spec.
#include <libxml/xmlstring.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "io/spec/schema.h"
#include "io/spec/value.h"
#include "io/spec/write_field.h"

tbSpec* tb_spec_create(void) {
  tbSpec* spec = tb_spec_new("", NULL, NULL);
  if (!spec) return NULL;
  spec->root->kind = &tb_schema_root;
  if (tb_spec_section(spec, "worldbody", NULL)) return spec;
  tb_spec_free(spec);
  return NULL;
}

tbSpec* tb_spec_copy(const tbSpec* spec, tbError* error) {
  tb_error_clear(error);
  if (!spec) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_copy: spec is NULL");
    return NULL;
  }
  tbSpec* copy = tb_spec_new(spec->path, &spec->options, error);
  if (!copy) return NULL;
  copy->root = tb_element_copy(copy, NULL, spec->root);
  if (copy->root) return copy;
  tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  tb_spec_free(copy);
  return NULL;
}

// ---- walking ------------------------------------------------------------------------------------

tbElement* tb_spec_root(tbSpec* spec) {
  return spec ? spec->root : NULL;
}

const char* tb_spec_tag(const tbElement* element) {
  return element ? element->tag : NULL;
}

tbElement* tb_spec_parent(const tbElement* element) {
  return element ? element->parent : NULL;
}

tbElement* tb_spec_first(const tbElement* element) {
  return element ? element->first : NULL;
}

tbElement* tb_spec_next(const tbElement* element) {
  return element ? element->next : NULL;
}

const char* tb_spec_get(const tbElement* element, const char* attribute) {
  return element && attribute ? tb_element_get(element, attribute) : NULL;
}

int tb_spec_get_reals(const tbElement* element, const char* attribute, tbReal* values, int most) {
  const char* text = tb_spec_get(element, attribute);
  tbWhy why;
  return text ? tb_value_list(attribute, text, values, values ? most : 0, &why) : -1;
}

// The last section of this name; files may have several, which add up.
static tbElement* find_section(const tbSpec* spec, const char* name) {
  tbElement* e = spec->root->last;
  while (e && !tb_element_is(e, name)) e = e->prev;
  return e;
}

tbElement* tb_spec_section(tbSpec* spec, const char* name, tbError* error) {
  tb_error_clear(error);
  if (!spec || !name) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_section: %s is NULL", spec ? "name" : "spec");
    return NULL;
  }
  tbElement* section = find_section(spec, name);
  return section ? section : tb_spec_add(spec->root, name, NULL, error);
}

tbElement* tb_spec_world(tbSpec* spec) {
  return spec ? tb_spec_section(spec, "worldbody", NULL) : NULL;
}

// ---- names --------------------------------------------------------------------------------------

// An asset without a name is called as its file, without folder and extension.
static const char* name_of_file(const tbElement* e, char name[256]) {
  const char* file = tb_element_get(e, "file");
  if (!file || strcmp(e->kind->parent, "asset") != 0) return NULL;
  for (const char* at = file; *at; at++) {
    if (*at == '/' || *at == '\\') file = at + 1;
  }
  const char* dot = strrchr(file, '.');
  snprintf(name, 256, "%.*s", (int)(dot ? (size_t)(dot - file) : strlen(file)), file);
  return name;
}

const char* tb_spec_name(const tbElement* element) {
  if (!element) return NULL;
  if (tb_element_is(element, "worldbody")) return "world";
  return tb_element_get(element, tb_element_is(element, "default") ? "class" : "name");
}

// Elements of a section have the section's word, other elements their tag.
static const char* kind_word(const tbElement* e) {
  static const char* const SECTIONS[] = {"equality", "actuator", "sensor"};
  if (tb_element_is(e, "worldbody")) return "body";
  if (!e->kind || !e->parent) return "";
  if (tb_element_is(e, "freejoint")) return "joint";
  if (tb_element_is(e, "default")) return "default";
  const char* parent = e->kind->parent;
  if (strcmp(parent, "tendons") == 0) return "tendon";
  for (int i = 0; i < 3; i++) {
    if (strcmp(parent, SECTIONS[i]) == 0) return parent;
  }
  static const char* const PLAIN[] = {"tree", "asset", "contact", "custom", "keyframe"};
  for (int i = 0; i < 5; i++) {
    if (strcmp(parent, PLAIN[i]) == 0) return e->tag;
  }
  return "";
}

// Whether there is such a kind of element; else a hint at the nearest one, in `room`.
static bool known_kind(const char* kind, char room[96]) {
  static const char* const KINDS[] = {
      "body",   "joint",    "geom",     "site",    "camera", "light", "frame",   "default",
      "mesh",   "hfield",   "material", "texture", "model",  "pair",  "exclude", "equality",
      "tendon", "actuator", "sensor",   "numeric", "text",   "tuple", "key"};
  tbNearest nearest = {.name = kind};
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
    if (strcmp(KINDS[i], kind) == 0) return true;
    tb_nearest_offer(&nearest, KINDS[i]);
  }
  tb_nearest_hint(&nearest, room);
  return false;
}

tbElement* tb_spec_find(const tbSpec* spec, const char* kind, const char* name, tbError* error) {
  tb_error_clear(error);
  char hint[96] = "";
  const char* missing = !spec ? "spec" : !kind ? "kind" : !name ? "name" : NULL;
  if (missing) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_find: %s is NULL", missing);
    return NULL;
  }
  if (!known_kind(kind, hint)) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_find: no kind of element is called '%s'%s", kind,
            hint);
    return NULL;
  }
  const char* best = NULL;
  int distance = INT_MAX;
  char buffer[256], nearest[256] = "";
  for (tbElement* e = spec->root; e; e = tb_element_step(spec->root, e, NULL)) {
    if (strcmp(kind_word(e), kind) != 0) continue;
    const char* own = tb_spec_name(e);
    if (!own || !*own) own = name_of_file(e, buffer);
    if (!own) continue;
    if (strcmp(own, name) == 0) return e;
    int before = distance;
    tb_nearest(name, own, &best, &distance);
    if (distance < before) snprintf(nearest, sizeof nearest, "%s", own);
  }
  tb_fail(error, TB_ERROR_ARGUMENT, "no %s is called '%s'%s%s%s", kind, name,
          *nearest ? ", did you mean '" : "", nearest, *nearest ? "'?" : "");
  return NULL;
}

// ---- changes ------------------------------------------------------------------------------------

static bool usable(const tbElement* element, const char* function, const char* name,
                   tbError* error) {
  tb_error_clear(error);
  if (element && element->spec) return true;
  tb_fail(error, TB_ERROR_ARGUMENT, "%s: %s is %s", function, name,
          element ? "a deleted element" : "NULL");
  return false;
}

// XML has no words for most control characters, and its text is UTF-8.
static bool is_text(const char* text) {
  for (const char* at = text; *at; at++) {
    if ((unsigned char)*at < 0x20 && !strchr("\t\n\r", *at)) return false;
  }
  return xmlCheckUTF8((const unsigned char*)text);
}

tbResult tb_spec_set(tbElement* element, const char* attribute, const char* text, tbError* error) {
  if (!usable(element, "tb_spec_set", "element", error)) return TB_ERROR_ARGUMENT;
  if (!attribute || !*attribute) {
    return tb_element_fail(error, TB_ERROR_ARGUMENT, element, "tb_spec_set: no attribute is named");
  }
  tbResult result = tb_schema_check_attribute(element, attribute, text ? text : "", NULL);
  if (text && !is_text(text)) {
    return tb_element_fail(error, TB_ERROR_PARSE, element,
                           "attribute '%.60s': the text has control characters or is not UTF-8",
                           attribute);
  }
  bool known = true;
  tb_schema_field(element->kind, attribute, &known);
  if ((text && result != TB_OK) || !known) {
    return tb_schema_check_attribute(element, attribute, text ? text : "", error);
  }
  if (tb_element_set(element, attribute, text)) return TB_OK;
  return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
}

tbResult tb_spec_set_reals(tbElement* element, const char* attribute, const tbReal* values,
                           int count, tbError* error) {
  if (!usable(element, "tb_spec_set_reals", "element", error)) return TB_ERROR_ARGUMENT;
  if (!attribute || !values) {
    return tb_element_fail(error, TB_ERROR_ARGUMENT, element, "tb_spec_set_reals: %s is NULL",
                           attribute ? "values" : "attribute");
  }
  if (count < 1) {
    return tb_element_fail(error, TB_ERROR_ARGUMENT, element,
                           "tb_spec_set_reals: count is %d, expected at least one number", count);
  }
  tbText text = {0};
  tb_text_reals(&text, values, count);
  tbResult result = text.failed ? tb_fail(error, TB_ERROR_MEMORY, "out of memory")
                                : tb_spec_set(element, attribute, text.s, error);
  free(text.s);
  return result;
}

// Whether the schema accepts a name for the element; a default has a class instead.
static const char* name_attribute(const tbElement* e) {
  bool known;
  if (tb_element_is(e, "default")) return "class";
  tb_schema_field(e->kind, "name", &known);
  return known ? "name" : NULL;
}

tbElement* tb_spec_add(tbElement* parent, const char* tag, const char* name, tbError* error) {
  if (!usable(parent, "tb_spec_add", "parent", error)) return NULL;
  if (!tag || !is_text(tag)) {
    tb_element_fail(error, TB_ERROR_ARGUMENT, parent, "tb_spec_add: the tag is NULL or no text");
    return NULL;
  }
  int depth = 1;
  for (const tbElement* up = parent; up; up = up->parent) depth++;
  if (depth > TB_SPEC_MAX_DEPTH) {
    tb_element_fail(error, TB_ERROR_PARSE, parent, "elements are nested more than %d deep",
                    TB_SPEC_MAX_DEPTH);
    return NULL;
  }
  tbElement* element = tb_element_new(parent->spec, parent, tag);
  if (!element) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  tbResult result = tb_schema_check(element, error);
  if (result == TB_OK && name) {
    const char* attribute = name_attribute(element);
    result = attribute ? tb_spec_set(element, attribute, name, error)
                       : tb_element_fail(error, TB_ERROR_ARGUMENT, element, "takes no name");
  }
  if (result == TB_OK) return element;
  tb_element_unlink(element);
  return NULL;
}

tbElement* tb_spec_add_xml(tbElement* parent, const char* xml, tbError* error) {
  if (!usable(parent, "tb_spec_add_xml", "parent", error)) return NULL;
  if (xml) return tb_spec_read_into(parent, xml, error);
  tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_add_xml: xml is NULL");
  return NULL;
}

tbResult tb_spec_delete(tbElement* element, tbError* error) {
  if (!usable(element, "tb_spec_delete", "element", error)) return TB_ERROR_ARGUMENT;
  if (!element->parent) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_delete: the root cannot be deleted");
  }
  tb_element_unlink(element);
  for (tbElement* e = element; e; e = tb_element_step(element, e, NULL)) e->spec = NULL;
  return TB_OK;
}

// ---- attach -------------------------------------------------------------------------------------

// The element that an <attach> goes into: a site becomes a frame at its pose.
static tbElement* place_of(tbElement* place, tbError* error) {
  static const char* const POSE[] = {"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"};
  if (strcmp(place->kind->inside, "tree") == 0) return place;
  if (!tb_element_is(place, "site") || strcmp(place->kind->parent, "tree") != 0) {
    tb_element_fail(error, TB_ERROR_ARGUMENT, place,
                    "tb_spec_attach: expected a body, a frame or a site");
    return NULL;
  }
  if (tb_element_get(place, "fromto")) {
    tb_element_fail(error, TB_ERROR_UNSUPPORTED, place,
                    "tb_spec_attach: a site with fromto; give it pos and quat");
    return NULL;
  }
  tbElement* frame = tb_spec_add(place->parent, "frame", NULL, error);
  for (int i = 0; frame && i < 6; i++) {
    const char* value = tb_element_get(place, POSE[i]);
    if (!value || tb_element_set(frame, POSE[i], value)) continue;
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  return frame;
}

// A name for the attached model that no other model of the spec has.
static const char* model_name(tbSpec* spec) {
  char name[32];
  for (int i = 1;; i++) {
    snprintf(name, sizeof name, "attached%d", i);
    if (!tb_spec_find(spec, "model", name, NULL)) return tb_spec_text(spec, name);
  }
}

static tbResult fill_attach(tbElement* attach, const char* model, const char* body,
                            const char* prefix, const char* suffix, tbError* error) {
  tbResult result = tb_spec_set(attach, "model", model, error);
  if (result == TB_OK && body) result = tb_spec_set(attach, "body", body, error);
  if (result == TB_OK) result = tb_spec_set(attach, "prefix", prefix ? prefix : "", error);
  if (result == TB_OK && suffix) result = tb_spec_set(attach, "suffix", suffix, error);
  return result;
}

tbElement* tb_spec_attach(tbElement* place, const tbElement* child, const char* prefix,
                          const char* suffix, tbError* error) {
  if (!usable(place, "tb_spec_attach", "place", error) ||
      !usable(child, "tb_spec_attach", "child", error)) {
    return NULL;
  }
  bool whole = !child->parent || tb_element_is(child, "worldbody");
  const char* body = whole ? NULL : tb_element_get(child, "name");
  if (!whole && (strcmp(kind_word(child), "body") != 0 || !body || !*body)) {
    tb_element_fail(error, TB_ERROR_ARGUMENT, child,
                    "tb_spec_attach: expected the root of a spec or a body with a name");
    return NULL;
  }
  tbSpec* spec = place->spec;
  tbSpec* copy = tb_spec_copy(child->spec, error);
  if (!copy) return NULL;
  copy->next = spec->attached;
  spec->attached = copy;
  const char* name = model_name(spec);
  tbElement* assets = tb_spec_section(spec, "asset", error);
  tbElement* model = assets ? tb_spec_add(assets, "model", name, error) : NULL;
  tbElement* parent = model ? place_of(place, error) : NULL;
  tbElement* attach = parent ? tb_spec_add(parent, "attach", NULL, error) : NULL;
  if (model) model->model = copy;
  if (attach && fill_attach(attach, name, body, prefix, suffix, error) == TB_OK) return attach;
  // Undo: what was added, and no more.
  if (attach) tb_spec_delete(attach, NULL);
  if (parent && parent != place) tb_spec_delete(parent, NULL);
  if (model) tb_spec_delete(model, NULL);
  return NULL;
}

// ---- writing ------------------------------------------------------------------------------------

int tb_spec_equal(const tbSpec* a, const tbSpec* b) {
  if (!a || !b) return a == b;
  const tbElement *e = a->root, *f = b->root;
  int depth_e = 0, depth_f = 0;
  while (e && f) {
    const tbAttribute *p = e->attribute, *q = f->attribute;
    while (p && q && strcmp(p->name, q->name) == 0 && strcmp(p->value, q->value) == 0) {
      p = p->next;
      q = q->next;
    }
    bool same_content =
        e->content && f->content ? strcmp(e->content, f->content) == 0 : e->content == f->content;
    if (p || q || depth_e != depth_f || strcmp(e->tag, f->tag) != 0 || !same_content) return 0;
    if (!e->model != !f->model || (e->model && !tb_spec_equal(e->model, f->model))) return 0;
    e = tb_element_step(a->root, e, &depth_e);
    f = tb_element_step(b->root, f, &depth_f);
  }
  return e == f;
}

void tb_text_free(char* text) {
  free(text);
}
