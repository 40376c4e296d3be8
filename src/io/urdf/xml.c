// URDF and SRDF text as XML trees: safe parsing, attributes, names.
#include <libxml/parser.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/number.h"
#include "io/format.h"
#include "io/urdf/internal.h"
#include "spatial/quat.h"

bool tb_urdf_fail(tbUrdf* u, tbResult code, const xmlNode* node, const char* format, ...) {
  char message[sizeof u->error->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const char* file = node && node->doc && node->doc->URL ? (const char*)node->doc->URL : u->path;
  tb_flat_fail(u->error, code, file, tb_urdf_line(node), "<%s>: %s",
               node ? (const char*)node->name : "robot", message);
  return false;
}

bool tb_urdf_no_memory(tbUrdf* u) {
  tb_fail(u->error, TB_ERROR_MEMORY, "out of memory while reading '%s'", u->path);
  return false;
}

int tb_urdf_line(const xmlNode* node) {
  long line = node ? xmlGetLineNo(node) : 0;
  return line > 0 && line < INT_MAX ? (int)line : 0;
}

xmlDoc* tb_urdf_read(tbUrdf* u, const char* text, size_t size, const char* path) {
  if (size > INT_MAX) {
    tb_fail(u->error, TB_ERROR_FILE, "%s: too large", path);
    return NULL;
  }
  xmlParserCtxt* context = xmlNewParserCtxt();
  if (!context) {
    tb_urdf_no_memory(u);
    return NULL;
  }
  // No network and no file access, which a robot description does not need.
  char* plain = tb_format_without_declaration(text, size);
  xmlDoc* document = xmlCtxtReadMemory(context, plain ? plain : text, (int)size, path, NULL,
                                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                           XML_PARSE_NOCDATA | XML_PARSE_BIG_LINES);
  free(plain);
  if (!document) {
    const xmlError* reason = xmlCtxtGetLastError(context);
    const char* why = reason && reason->message ? reason->message : "unknown error";
    tb_flat_fail(u->error, TB_ERROR_PARSE, path, reason ? reason->line : 0,
                 "not well-formed XML: %.*s", (int)strcspn(why, "\r\n"), why);
  } else if (document->intSubset && document->intSubset->children) {
    // Entities could expand a small file without bound. A document type that declares none is
    // harmless, as in MJCF.
    tb_flat_fail(u->error, TB_ERROR_UNSUPPORTED, path, 1,
                 "declarations in a document type are not supported");
    xmlFreeDoc(document);
    document = NULL;
  }
  xmlFreeParserCtxt(context);
  return document;
}

bool tb_urdf_is(const xmlNode* node, const char* name) {
  // A default namespace for the whole file is accepted; a prefix makes it another element.
  return node->type == XML_ELEMENT_NODE && (!node->ns || !node->ns->prefix) &&
         strcmp((const char*)node->name, name) == 0;
}

const xmlNode* tb_urdf_child(const xmlNode* node, const char* name) {
  for (const xmlNode* c = node->children; c; c = c->next) {
    if (tb_urdf_is(c, name)) return c;
  }
  return NULL;
}

const char* tb_urdf_text(const xmlNode* node, const char* name) {
  for (const xmlAttr* a = node->properties; a; a = a->next) {
    if (strcmp((const char*)a->name, name) != 0) continue;
    return a->children && a->children->content ? (const char*)a->children->content : "";
  }
  return NULL;
}

bool tb_urdf_required(tbUrdf* u, const xmlNode* node, const char* name, const char** value) {
  *value = tb_urdf_text(node, name);
  if (*value && **value) return true;
  return tb_urdf_fail(u, TB_ERROR_PARSE, node, "the attribute '%s' is missing", name);
}

bool tb_urdf_numbers(tbUrdf* u, const xmlNode* node, const char* name, int n, tbReal* values,
                     bool* found) {
  const char* text = tb_urdf_text(node, name);
  if (found) *found = text != NULL;
  if (!text) return true;
  const char *end = text + strlen(text), *at = tb_skip_space(text, end);
  for (int i = 0; i < n && at; i++) {
    at = tb_parse_real(at, end, &values[i]);
    // Numbers must be separated by white space.
    if (at && at < end && tb_skip_space(at, end) == at) at = NULL;
    if (at) at = tb_skip_space(at, end);
  }
  if (at == end) return true;
  return tb_urdf_fail(u, TB_ERROR_PARSE, node, "%s=\"%.60s\": expected %d finite number%s%s", name,
                      text, n, n > 1 ? "s" : "",
                      strstr(text, "${") ? "; run xacro on the file first" : "");
}

// The quaternion (x, y, z, w) of URDF 1.2, which replaces rpy.
static bool read_quaternion(tbUrdf* u, const xmlNode* origin, tbReal quat[4]) {
  tbReal xyzw[4];
  if (!tb_urdf_numbers(u, origin, "quat_xyzw", 4, xyzw, NULL)) return false;
  if (tb_urdf_text(origin, "rpy")) {
    return tb_urdf_fail(u, TB_ERROR_PARSE, origin, "expected rpy or quat_xyzw, not both");
  }
  quat[0] = xyzw[3];
  tb_copy3(quat + 1, xyzw);
  if (!(tb_quat_normalize(quat) > 1e-10)) {
    return tb_urdf_fail(u, TB_ERROR_PARSE, origin, "quat_xyzw is zero");
  }
  return true;
}

bool tb_urdf_origin(tbUrdf* u, const xmlNode* node, tbReal pos[3], tbReal quat[4]) {
  tbReal rpy[3] = {0, 0, 0};
  tb_zero3(pos);
  tb_quat_identity(quat);
  const xmlNode* origin = tb_urdf_child(node, "origin");
  if (!origin) return true;
  if (!tb_urdf_numbers(u, origin, "xyz", 3, pos, NULL)) return false;
  if (tb_urdf_text(origin, "quat_xyzw")) return read_quaternion(u, origin, quat);
  if (!tb_urdf_numbers(u, origin, "rpy", 3, rpy, NULL)) return false;
  // Roll, then pitch, then yaw, about the axes of the outer frame.
  for (int i = 0; i < 3; i++) {
    tbReal axis[3] = {i == 0, i == 1, i == 2}, turn[4];
    tb_quat_from_axis_angle(turn, axis, rpy[i]);
    tb_quat_mul(quat, turn, quat);
  }
  tb_quat_normalize(quat);
  return true;
}

static int compare_names(const void* a, const void* b) {
  const tbUrdfName *p = a, *q = b;
  int order = strcmp(p->name, q->name);
  return order ? order : (p->id > q->id) - (p->id < q->id);
}

bool tb_urdf_sort_names(tbUrdf* u, tbUrdfName* names, int n, const char* what) {
  if (n > 1) qsort(names, (size_t)n, sizeof *names, compare_names);
  for (int i = 1; i < n; i++) {
    if (strcmp(names[i - 1].name, names[i].name) != 0) continue;
    const xmlNode* node =
        strcmp(what, "link") == 0 ? u->link[names[i].id].node : u->joint[names[i].id].node;
    return tb_urdf_fail(u, TB_ERROR_PARSE, node, "there are two %ss called '%s'", what,
                        names[i].name);
  }
  return true;
}

int tb_urdf_find(const tbUrdfName* names, int n, const char* name) {
  int low = 0, high = n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    int order = strcmp(names[middle].name, name);
    if (order == 0) return names[middle].id;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return -1;
}

// The slot of a key, or the empty slot for it.
static int map_slot(const tbUrdfMap* map, const char* key) {
  int mask = map->room - 1;
  int at = (int)(tb_hash(TB_HASH_SEED, key, strlen(key)) & (uint64_t)mask);
  while (map->key[at] && strcmp(map->key[at], key) != 0) at = (at + 1) & mask;
  return at;
}

int* tb_urdf_map(tbUrdf* u, tbUrdfMap* map, const char* key) {
  if (2 * (map->n + 1) > map->room) {
    // Doubles the capacity; at most half of the slots are used.
    tbUrdfMap larger = {.n = map->n, .room = map->room ? 2 * map->room : 64};
    larger.key = TB_ARENA_NEW(&u->spec->arena, const char*, larger.room);
    larger.value = TB_ARENA_NEW(&u->spec->arena, int, larger.room);
    if (!larger.key || !larger.value || larger.room > (1 << 28)) return NULL;
    for (int i = 0; i < map->room; i++) {
      if (!map->key[i]) continue;
      int at = map_slot(&larger, map->key[i]);
      larger.key[at] = map->key[i];
      larger.value[at] = map->value[i];
    }
    *map = larger;
  }
  int at = map_slot(map, key);
  if (!map->key[at]) {
    map->key[at] = key;
    map->value[at] = -1;
    map->n++;
  }
  return &map->value[at];
}

// Adds a note. The number of different notes is limited, since a file may have any number of
// unknown names.
static void note(tbUrdf* u, const xmlNode* node, const char* text) {
  const char* file = node->doc && node->doc->URL ? (const char*)node->doc->URL : u->path;
  file = strcmp(file, u->path) == 0 ? u->path : tb_flat_text(u->spec, file);
  tb_flat_note(u->spec, file, tb_urdf_line(node), "%s",
               u->spec->nnote < 200 ? text : "more elements and attributes are not used");
}

void tb_urdf_note_unused(tbUrdf* u, const xmlNode* node, const char* where) {
  char text[200];
  snprintf(text, sizeof text, "<%.60s> in <%.60s> is not used", (const char*)node->name, where);
  note(u, node, text);
}

void tb_urdf_note_another(tbUrdf* u, const xmlNode* node, const char* where) {
  char text[200];
  snprintf(text, sizeof text, "another <%.60s> in <%.60s> is not used", (const char*)node->name,
           where);
  note(u, node, text);
}

void tb_urdf_note_attribute(tbUrdf* u, const xmlNode* node, const xmlAttr* attribute) {
  char text[200];
  snprintf(text, sizeof text, "'%.60s' of <%.60s> is not used", (const char*)attribute->name,
           (const char*)node->name);
  note(u, node, text);
}
