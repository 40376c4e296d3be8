// The editable spec: memory, names, order of elements.
#include "io/spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "io/spec_tables.h"

tbSpec* tb_spec_new(tbError* error) {
  tbSpec* spec = (tbSpec*)calloc(1, sizeof(tbSpec));
  if (!spec) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  tb_arena_init(&spec->arena);
  spec->option = tbDefaultOption();
  spec->size = tb_spec_initial_size();
  spec->statistic = tb_spec_initial_statistic();
  spec->compiler = TB_ARENA_NEW(&spec->arena, tbSpecCompiler, 1);
  tbSpecBody* world = tb_spec_add_body(spec);
  if (!spec->compiler || !world) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    tb_spec_free(spec);
    return NULL;
  }
  *spec->compiler = tb_spec_initial_compiler();
  spec->compiler->lengthrange = tb_spec_initial_lengthrange();
  world->name = "world";
  world->parent = -1;
  world->source = "";
  world->compiler = spec->compiler;
  return spec;
}

void tb_spec_free(tbSpec* spec) {
  if (!spec) return;
  while (spec->attached) {
    tbSpec* attached = spec->attached;
    spec->attached = attached->next;
    tb_spec_free(attached);
  }
  tb_arena_free(&spec->arena);
  free(spec);
}

// Doubles the capacity when an array is full. The old array stays in the arena, unused.
static void* grown(tbArena* arena, void* array, int count, int* capacity, size_t size) {
  if (count < *capacity) return array;
  if (count > INT_MAX / 4) return NULL;
  int room = *capacity ? *capacity * 2 : 8;
  void* larger = tb_arena_calloc(arena, (size_t)room, size);
  if (!larger) return NULL;
  if (count) memcpy(larger, array, (size_t)count * size);
  *capacity = room;
  return larger;
}

void* tb_spec_grow(tbSpec* spec, tbSpecKind kind) {
  const tbSpecKindInfo* info = tb_spec_kind_info(kind);
  int count = tb_spec_count(spec, kind);
  void* array = count ? (void*)tb_spec_at(spec, kind, 0) : NULL;
  array = grown(&spec->arena, array, count, &spec->capacity[kind], info->size);
  if (!array) return NULL;
  int more = count + 1;
  memcpy((char*)spec + info->array_offset, &array, sizeof array);
  memcpy((char*)spec + info->count_offset, &more, sizeof more);
  return (char*)array + (size_t)count * info->size;
}

// tb_spec_add_<kind>: grows the array and sets the initial values.
#define ADD(kind, type, initial)                               \
  type* tb_spec_add_##kind(tbSpec* spec) {                     \
    type* element = (type*)tb_spec_grow(spec, TB_SPEC_##kind); \
    if (!element) return NULL;                                 \
    *element = initial;                                        \
    element->source = "";                                      \
    element->compiler = spec->compiler;                        \
    return element;                                            \
  }
ADD(body, tbSpecBody, tb_spec_initial_body())
ADD(joint, tbSpecJoint, tb_spec_initial_joint())
ADD(geom, tbSpecGeom, tb_spec_initial_geom())
ADD(site, tbSpecSite, tb_spec_initial_site())
ADD(camera, tbSpecCamera, tb_spec_initial_camera())
ADD(light, tbSpecLight, tb_spec_initial_light())
ADD(mesh, tbSpecMesh, tb_spec_initial_mesh())
ADD(hfield, tbSpecHField, tb_spec_initial_hfield())
ADD(material, tbSpecMaterial, tb_spec_initial_material())
ADD(pair, tbSpecPair, tb_spec_initial_pair())
ADD(exclude, tbSpecExclude, tb_spec_initial_exclude())
ADD(equality, tbSpecEquality, tb_spec_initial_equality())
ADD(tendon, tbSpecTendon, tb_spec_initial_tendon())
ADD(wrap, tbSpecWrap, (tbSpecWrap){0})
ADD(actuator, tbSpecActuator, tb_spec_initial_actuator())
ADD(sensor, tbSpecSensor, tb_spec_initial_sensor())
ADD(numeric, tbSpecNumeric, tb_spec_initial_numeric())
ADD(text, tbSpecTextField, tb_spec_initial_text())
ADD(tuple, tbSpecTuple, (tbSpecTuple){0})
ADD(tupleitem, tbSpecTupleItem, tb_spec_initial_tupleitem())
ADD(key, tbSpecKey, tb_spec_initial_key())

const char* tb_spec_text(tbSpec* spec, const char* text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char* copy = (char*)tb_arena_alloc(&spec->arena, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

const char* tb_spec_slashes(tbSpec* spec, const char* file) {
  if (!file || !strchr(file, '\\')) return file;
  char* copy = (char*)tb_spec_text(spec, file);
  for (char* at = copy; at && *at; at++) *at = *at == '\\' ? '/' : *at;
  return copy ? copy : file;
}

static const char* vformat(tbSpec* spec, const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char* text = length < 0 ? NULL : (char*)tb_arena_alloc(&spec->arena, (size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

const char* tb_spec_format(tbSpec* spec, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const char* text = vformat(spec, format, args);
  va_end(args);
  return text;
}

void tb_spec_note(tbSpec* spec, const char* file, int line, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const char* text = vformat(spec, format, args);
  va_end(args);
  if (!text) return;
  for (int i = 0; i < spec->nnote; i++) {
    if (strcmp(spec->note[i].text, text) == 0) {
      spec->note[i].count++;
      return;
    }
  }
  tbSpecNote* notes = (tbSpecNote*)grown(&spec->arena, spec->note, spec->nnote,
                                         &spec->note_capacity, sizeof(tbSpecNote));
  if (!notes) return;
  spec->note = notes;
  notes[spec->nnote++] = (tbSpecNote){file ? file : "", line, 1, text};
}

tbResult tb_spec_fail(tbError* error, tbResult code, const char* file, int line, const char* format,
                      ...) {
  char message[sizeof error->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (!file || !*file) return tb_fail(error, code, "%s", message);
  return tb_fail(error, code, "%s:%d: %s", file, line, message);
}

int tb_spec_find(const tbSpec* spec, tbSpecKind kind, const char* name) {
  if (!name) return -1;
  int count = tb_spec_count(spec, kind);
  for (int i = 0; i < count; i++) {
    const char* other = tb_spec_at(spec, kind, i)->name;
    if (other && strcmp(other, name) == 0) return i;
  }
  return -1;
}

// Depth-first order of the bodies in new_id[old], without recursion.
static bool order_bodies(const tbSpec* spec, int* first, int* next, int* new_id) {
  int n = spec->nbody, count = 0;
  for (int i = 0; i < n; i++) first[i] = next[i] = new_id[i] = -1;
  for (int i = n - 1; i > 0; i--) {
    int parent = spec->body[i].parent;
    if (parent < 0 || parent >= n) return false;
    next[i] = first[parent];
    first[parent] = i;
  }
  for (int i = 0; i >= 0;) {
    new_id[i] = count++;
    int step = first[i];
    while (step < 0 && i > 0) {
      step = next[i];
      if (step < 0) i = spec->body[i].parent;
    }
    i = step;
  }
  return count == n;
}

// Stable counting sort of the elements of one kind by body.
static bool sort_by_body(tbSpec* spec, tbSpecKind kind, size_t body_offset, const int* new_id,
                         int* start) {
  const tbSpecKindInfo* info = tb_spec_kind_info(kind);
  int n = tb_spec_count(spec, kind), nbody = spec->nbody;
  if (n == 0) return true;
  memset(start, 0, sizeof(int) * (size_t)(nbody + 1));
  for (int i = 0; i < n; i++) {
    int* body = (int*)(void*)((char*)tb_spec_at(spec, kind, i) + body_offset);
    if (*body < 0 || *body >= nbody) return false;
    *body = new_id[*body];
    start[*body + 1]++;
  }
  for (int b = 0; b < nbody; b++) start[b + 1] += start[b];
  char* sorted = (char*)tb_arena_calloc(&spec->arena, (size_t)n, info->size);
  if (!sorted) return false;
  for (int i = 0; i < n; i++) {
    const char* element = (const char*)tb_spec_at(spec, kind, i);
    int body = *(const int*)(const void*)(element + body_offset);
    memcpy(sorted + (size_t)start[body]++ * info->size, element, info->size);
  }
  memcpy(tb_spec_at(spec, kind, 0), sorted, (size_t)n * info->size);
  return true;
}

static bool sort_all(tbSpec* spec) {
  int n = spec->nbody;
  int* first = TB_ARENA_NEW(&spec->arena, int, n);
  int* next = TB_ARENA_NEW(&spec->arena, int, n);
  int* new_id = TB_ARENA_NEW(&spec->arena, int, n);
  int* start = TB_ARENA_NEW(&spec->arena, int, n + 1);
  tbSpecBody* body = TB_ARENA_NEW(&spec->arena, tbSpecBody, n);
  if (!first || !next || !new_id || !start || !body) return false;
  if (!order_bodies(spec, first, next, new_id)) return false;
  for (int i = 0; i < n; i++) {
    body[new_id[i]] = spec->body[i];
    if (i > 0) body[new_id[i]].parent = new_id[spec->body[i].parent];
  }
  memcpy(spec->body, body, sizeof(tbSpecBody) * (size_t)n);
  return sort_by_body(spec, TB_SPEC_joint, offsetof(tbSpecJoint, body), new_id, start) &&
         sort_by_body(spec, TB_SPEC_geom, offsetof(tbSpecGeom, body), new_id, start) &&
         sort_by_body(spec, TB_SPEC_site, offsetof(tbSpecSite, body), new_id, start) &&
         sort_by_body(spec, TB_SPEC_camera, offsetof(tbSpecCamera, body), new_id, start) &&
         sort_by_body(spec, TB_SPEC_light, offsetof(tbSpecLight, body), new_id, start);
}

// Rejects two elements of one kind with the same name, by open addressing on the names' hashes.
static tbResult check_names(tbSpec* spec, tbSpecKind kind, tbError* error) {
  int n = tb_spec_count(spec, kind);
  size_t room = 16;
  while (room < 2 * (size_t)n) room *= 2;
  int* slot = TB_ARENA_NEW(&spec->arena, int, room);
  if (!slot) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) {
    const tbSpecElement* element = tb_spec_at(spec, kind, i);
    if (!element->name || !*element->name) continue;
    size_t at = tb_hash(TB_HASH_SEED, element->name, strlen(element->name)) & (room - 1);
    for (; slot[at]; at = (at + 1) & (room - 1)) {
      const tbSpecElement* other = tb_spec_at(spec, kind, slot[at] - 1);
      if (strcmp(other->name, element->name) != 0) continue;
      return TB_SPEC_FAIL(error, TB_ERROR_PARSE, element,
                          "the name '%s' is already taken by the %s at %s:%d", element->name,
                          tb_spec_kind_info(kind)->name, other->source, other->line);
    }
    slot[at] = i + 1;
  }
  return TB_OK;
}

// Sorts path elements and tuple items by their owners, and drops those without an owner.
static bool gather_parts(tbSpec* spec) {
  tbSpecWrap* wrap = TB_ARENA_NEW(&spec->arena, tbSpecWrap, spec->nwrap + 1);
  tbSpecTupleItem* item = TB_ARENA_NEW(&spec->arena, tbSpecTupleItem, spec->ntupleitem + 1);
  if (!wrap || !item) return false;
  int nwrap = 0, nitem = 0;
  for (int i = 0; i < spec->ntendon; i++) {
    tbSpecTendon* tendon = &spec->tendon[i];
    for (int k = 0; k < tendon->wrapnum; k++) wrap[nwrap + k] = spec->wrap[tendon->wrapadr + k];
    tendon->wrapadr = nwrap;
    nwrap += tendon->wrapnum;
  }
  for (int i = 0; i < spec->ntuple; i++) {
    tbSpecTuple* tuple = &spec->tuple[i];
    for (int k = 0; k < tuple->itemnum; k++) item[nitem + k] = spec->tupleitem[tuple->itemadr + k];
    tuple->itemadr = nitem;
    nitem += tuple->itemnum;
  }
  if (nwrap) memcpy(spec->wrap, wrap, sizeof(*wrap) * (size_t)nwrap);
  if (nitem) memcpy(spec->tupleitem, item, sizeof(*item) * (size_t)nitem);
  spec->nwrap = nwrap;
  spec->ntupleitem = nitem;
  return true;
}

tbResult tb_spec_finish(tbSpec* spec, tbError* error) {
  for (int i = 0; i < spec->nbody; i++) {
    int parent = spec->body[i].parent;
    if (i > 0 ? parent < 0 || parent >= spec->nbody || parent == i : parent != -1) {
      return TB_SPEC_FAIL(error, TB_ERROR_PARSE, &spec->body[i], "body %d has no valid parent", i);
    }
  }
  if (!sort_all(spec) || !gather_parts(spec)) {
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory, or bodies that form a loop");
  }
  for (int kind = 0; kind < TB_NSPECKINDS; kind++) {
    tbResult result = check_names(spec, (tbSpecKind)kind, error);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}
