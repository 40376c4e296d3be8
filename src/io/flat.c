// The flat spec: memory, names, order of elements.
#include "io/flat.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "io/flat_tables.h"

tbFlat* tb_flat_new(tbError* error) {
  tbFlat* spec = (tbFlat*)calloc(1, sizeof(tbFlat));
  if (!spec) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  tb_arena_init(&spec->arena);
  spec->option = tbDefaultOption();
  spec->size = tb_flat_initial_size();
  spec->statistic = tb_flat_initial_statistic();
  spec->compiler = TB_ARENA_NEW(&spec->arena, tbFlatCompiler, 1);
  tbFlatBody* world = tb_flat_add_body(spec);
  if (!spec->compiler || !world) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    tb_flat_free(spec);
    return NULL;
  }
  *spec->compiler = tb_flat_initial_compiler();
  spec->compiler->lengthrange = tb_flat_initial_lengthrange();
  world->name = "world";
  world->parent = -1;
  world->source = "";
  world->compiler = spec->compiler;
  return spec;
}

void tb_flat_free(tbFlat* spec) {
  if (!spec) return;
  while (spec->attached) {
    tbFlat* attached = spec->attached;
    spec->attached = attached->next;
    tb_flat_free(attached);
  }
  tb_spec_free(spec->tree);
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

void* tb_flat_grow(tbFlat* spec, tbFlatKind kind) {
  const tbFlatKindInfo* info = tb_flat_kind_info(kind);
  int count = tb_flat_count(spec, kind);
  void* array = count ? (void*)tb_flat_at(spec, kind, 0) : NULL;
  array = grown(&spec->arena, array, count, &spec->capacity[kind], info->size);
  if (!array) return NULL;
  int more = count + 1;
  memcpy((char*)spec + info->array_offset, &array, sizeof array);
  memcpy((char*)spec + info->count_offset, &more, sizeof more);
  return (char*)array + (size_t)count * info->size;
}

// tb_flat_add_<kind>: grows the array and sets the initial values.
#define ADD(kind, type, initial)                               \
  type* tb_flat_add_##kind(tbFlat* spec) {                     \
    type* element = (type*)tb_flat_grow(spec, TB_FLAT_##kind); \
    if (!element) return NULL;                                 \
    *element = initial;                                        \
    element->source = "";                                      \
    element->compiler = spec->compiler;                        \
    return element;                                            \
  }
ADD(body, tbFlatBody, tb_flat_initial_body())
ADD(joint, tbFlatJoint, tb_flat_initial_joint())
ADD(geom, tbFlatGeom, tb_flat_initial_geom())
ADD(site, tbFlatSite, tb_flat_initial_site())
ADD(camera, tbFlatCamera, tb_flat_initial_camera())
ADD(light, tbFlatLight, tb_flat_initial_light())
ADD(mesh, tbFlatMesh, tb_flat_initial_mesh())
ADD(hfield, tbFlatHField, tb_flat_initial_hfield())
ADD(material, tbFlatMaterial, tb_flat_initial_material())
ADD(pair, tbFlatPair, tb_flat_initial_pair())
ADD(exclude, tbFlatExclude, tb_flat_initial_exclude())
ADD(equality, tbFlatEquality, tb_flat_initial_equality())
ADD(tendon, tbFlatTendon, tb_flat_initial_tendon())
ADD(wrap, tbFlatWrap, (tbFlatWrap){0})
ADD(actuator, tbFlatActuator, tb_flat_initial_actuator())
ADD(sensor, tbFlatSensor, tb_flat_initial_sensor())
ADD(numeric, tbFlatNumeric, tb_flat_initial_numeric())
ADD(text, tbFlatTextField, tb_flat_initial_text())
ADD(tuple, tbFlatTuple, (tbFlatTuple){0})
ADD(tupleitem, tbFlatTupleItem, tb_flat_initial_tupleitem())
ADD(key, tbFlatKey, tb_flat_initial_key())

const char* tb_flat_text(tbFlat* spec, const char* text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char* copy = (char*)tb_arena_alloc(&spec->arena, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

const char* tb_flat_slashes(tbFlat* spec, const char* file) {
  if (!file || !strchr(file, '\\')) return file;
  char* copy = (char*)tb_flat_text(spec, file);
  for (char* at = copy; at && *at; at++) *at = *at == '\\' ? '/' : *at;
  return copy ? copy : file;
}

static const char* vformat(tbFlat* spec, const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char* text = length < 0 ? NULL : (char*)tb_arena_alloc(&spec->arena, (size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

const char* tb_flat_format(tbFlat* spec, const char* format, ...) {
  va_list args;
  va_start(args, format);
  const char* text = vformat(spec, format, args);
  va_end(args);
  return text;
}

void tb_flat_note(tbFlat* spec, const char* file, int line, const char* format, ...) {
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
  tbFlatNote* notes = (tbFlatNote*)grown(&spec->arena, spec->note, spec->nnote,
                                         &spec->note_capacity, sizeof(tbFlatNote));
  if (!notes) return;
  spec->note = notes;
  notes[spec->nnote++] = (tbFlatNote){file ? file : "", line, 1, text};
}

tbResult tb_flat_fail(tbError* error, tbResult code, const char* file, int line, const char* format,
                      ...) {
  char message[sizeof error->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (!file || !*file) return tb_fail(error, code, "%s", message);
  return tb_fail(error, code, "%s:%d: %s", file, line, message);
}

int tb_flat_find(const tbFlat* spec, tbFlatKind kind, const char* name) {
  if (!name) return -1;
  int count = tb_flat_count(spec, kind);
  for (int i = 0; i < count; i++) {
    const char* other = tb_flat_at(spec, kind, i)->name;
    if (other && strcmp(other, name) == 0) return i;
  }
  return -1;
}

// Depth-first order of the bodies in new_id[old], without recursion.
static bool order_bodies(const tbFlat* spec, int* first, int* next, int* new_id) {
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
static bool sort_by_body(tbFlat* spec, tbFlatKind kind, size_t body_offset, const int* new_id,
                         int* start) {
  const tbFlatKindInfo* info = tb_flat_kind_info(kind);
  int n = tb_flat_count(spec, kind), nbody = spec->nbody;
  if (n == 0) return true;
  memset(start, 0, sizeof(int) * (size_t)(nbody + 1));
  for (int i = 0; i < n; i++) {
    int* body = (int*)(void*)((char*)tb_flat_at(spec, kind, i) + body_offset);
    if (*body < 0 || *body >= nbody) return false;
    *body = new_id[*body];
    start[*body + 1]++;
  }
  for (int b = 0; b < nbody; b++) start[b + 1] += start[b];
  char* sorted = (char*)tb_arena_calloc(&spec->arena, (size_t)n, info->size);
  if (!sorted) return false;
  for (int i = 0; i < n; i++) {
    const char* element = (const char*)tb_flat_at(spec, kind, i);
    int body = *(const int*)(const void*)(element + body_offset);
    memcpy(sorted + (size_t)start[body]++ * info->size, element, info->size);
  }
  memcpy(tb_flat_at(spec, kind, 0), sorted, (size_t)n * info->size);
  return true;
}

static bool sort_all(tbFlat* spec) {
  int n = spec->nbody;
  int* first = TB_ARENA_NEW(&spec->arena, int, n);
  int* next = TB_ARENA_NEW(&spec->arena, int, n);
  int* new_id = TB_ARENA_NEW(&spec->arena, int, n);
  int* start = TB_ARENA_NEW(&spec->arena, int, n + 1);
  tbFlatBody* body = TB_ARENA_NEW(&spec->arena, tbFlatBody, n);
  if (!first || !next || !new_id || !start || !body) return false;
  if (!order_bodies(spec, first, next, new_id)) return false;
  for (int i = 0; i < n; i++) {
    body[new_id[i]] = spec->body[i];
    if (i > 0) body[new_id[i]].parent = new_id[spec->body[i].parent];
  }
  memcpy(spec->body, body, sizeof(tbFlatBody) * (size_t)n);
  return sort_by_body(spec, TB_FLAT_joint, offsetof(tbFlatJoint, body), new_id, start) &&
         sort_by_body(spec, TB_FLAT_geom, offsetof(tbFlatGeom, body), new_id, start) &&
         sort_by_body(spec, TB_FLAT_site, offsetof(tbFlatSite, body), new_id, start) &&
         sort_by_body(spec, TB_FLAT_camera, offsetof(tbFlatCamera, body), new_id, start) &&
         sort_by_body(spec, TB_FLAT_light, offsetof(tbFlatLight, body), new_id, start);
}

// Rejects two elements of one kind with the same name, by open addressing on the names' hashes.
static tbResult check_names(tbFlat* spec, tbFlatKind kind, tbError* error) {
  int n = tb_flat_count(spec, kind);
  size_t room = 16;
  while (room < 2 * (size_t)n) room *= 2;
  int* slot = TB_ARENA_NEW(&spec->arena, int, room);
  if (!slot) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) {
    const tbFlatElement* element = tb_flat_at(spec, kind, i);
    if (!element->name || !*element->name) continue;
    size_t at = tb_hash(TB_HASH_SEED, element->name, strlen(element->name)) & (room - 1);
    for (; slot[at]; at = (at + 1) & (room - 1)) {
      const tbFlatElement* other = tb_flat_at(spec, kind, slot[at] - 1);
      if (strcmp(other->name, element->name) != 0) continue;
      const char* word = tb_flat_kind_info(kind)->name;
      if (!*other->source) {
        return TB_FLAT_FAIL(error, TB_ERROR_PARSE, element,
                            "the name '%s' is already taken by another %s", element->name, word);
      }
      return TB_FLAT_FAIL(error, TB_ERROR_PARSE, element,
                          "the name '%s' is already taken by the %s at %s:%d", element->name, word,
                          other->source, other->line);
    }
    slot[at] = i + 1;
  }
  return TB_OK;
}

// Reorders path elements by tendon and items by tuple, so that those of each are consecutive; drops
// those that belong to none.
static bool gather_parts(tbFlat* spec) {
  tbFlatWrap* wrap = TB_ARENA_NEW(&spec->arena, tbFlatWrap, spec->nwrap + 1);
  tbFlatTupleItem* item = TB_ARENA_NEW(&spec->arena, tbFlatTupleItem, spec->ntupleitem + 1);
  if (!wrap || !item) return false;
  int nwrap = 0, nitem = 0;
  for (int i = 0; i < spec->ntendon; i++) {
    tbFlatTendon* tendon = &spec->tendon[i];
    for (int k = 0; k < tendon->wrapnum; k++) wrap[nwrap + k] = spec->wrap[tendon->wrapadr + k];
    tendon->wrapadr = nwrap;
    nwrap += tendon->wrapnum;
  }
  for (int i = 0; i < spec->ntuple; i++) {
    tbFlatTuple* tuple = &spec->tuple[i];
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

tbResult tb_flat_finish(tbFlat* spec, tbError* error) {
  for (int i = 0; i < spec->nbody; i++) {
    int parent = spec->body[i].parent;
    if (i > 0 ? parent < 0 || parent >= spec->nbody || parent == i : parent != -1) {
      return TB_FLAT_FAIL(error, TB_ERROR_PARSE, &spec->body[i], "body %d has no valid parent", i);
    }
  }
  if (!sort_all(spec) || !gather_parts(spec)) {
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory, or bodies that form a loop");
  }
  for (int kind = 0; kind < TB_NFLATKINDS; kind++) {
    tbResult result = check_names(spec, (tbFlatKind)kind, error);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}
