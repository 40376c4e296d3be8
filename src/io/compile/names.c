// Names: lookup of the spec's elements by name, and the names stored in the model.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "io/compile/internal.h"
#include "io/flat_tables.h"

static const char* kind_word(tbFlatKind kind) {
  return tb_flat_kind_info(kind)->name;
}

// Name of an element, the first member of every tbFlat struct.
static const char* element_name(const tbFlat* spec, tbFlatKind kind, int index) {
  const char* name;
  memcpy(&name, tb_flat_at(spec, kind, index), sizeof name);
  return name;
}

static unsigned slot_of(tbFlatKind kind, const char* name, int nslots) {
  uint64_t hash = tb_hash(TB_HASH_SEED + (uint64_t)kind, name, strlen(name));
  return (unsigned)(hash ^ (hash >> 32)) & (unsigned)(nslots - 1);
}

tbResult tb_compile_index_names(tbCompile* c) {
  int total = 0;
  for (int kind = 0; kind < TB_NFLATKINDS; kind++) total += tb_flat_count(c->spec, kind);
  if (total > INT_MAX / 8) return tb_fail(c->error, TB_ERROR_MODEL, "too many elements");
  c->nslots = 16;
  while (c->nslots < 2 * total) c->nslots *= 2;
  c->names = TB_ARENA_NEW(&c->arena, tbCompileName, c->nslots);
  if (!c->names) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < c->nslots; i++) c->names[i].index = -1;

  // Linear probing; of equal names the first is found first.
  for (int kind = 0; kind < TB_NFLATKINDS; kind++) {
    if (kind == TB_FLAT_wrap || kind == TB_FLAT_tupleitem) continue;
    for (int i = 0; i < tb_flat_count(c->spec, kind); i++) {
      const char* name = element_name(c->spec, kind, i);
      if (!name || !*name) continue;
      unsigned slot = slot_of(kind, name, c->nslots);
      while (c->names[slot].index >= 0) slot = (slot + 1) & (unsigned)(c->nslots - 1);
      c->names[slot] = (tbCompileName){kind, i};
    }
  }
  return TB_OK;
}

int tb_compile_find(const tbCompile* c, tbFlatKind kind, const char* name) {
  if (!name || !*name) return -1;
  unsigned slot = slot_of(kind, name, c->nslots);
  while (c->names[slot].index >= 0) {
    const tbCompileName* at = &c->names[slot];
    if (at->kind == kind && strcmp(element_name(c->spec, kind, at->index), name) == 0) {
      return at->index;
    }
    slot = (slot + 1) & (unsigned)(c->nslots - 1);
  }
  return -1;
}

tbResult tb_compile_resolve(const tbCompile* c, tbFlatKind kind, const char* name, const char* file,
                            int line, const char* what, int* index) {
  *index = tb_compile_find(c, kind, name);
  if (*index >= 0) return TB_OK;
  if (!name || !*name) {
    return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line, "%s: the name of its %s is missing",
                        what, kind_word(kind));
  }
  // The nearest name, if it is near enough to be a misspelling.
  const char* best = NULL;
  int best_distance = 1 + (int)strlen(name) / 3;
  for (int i = 0; i < tb_flat_count(c->spec, kind); i++) {
    const char* other = element_name(c->spec, kind, i);
    if (!other || !*other) continue;
    int distance = tb_edit_distance(name, other);
    if (distance >= best_distance) continue;
    best = other;
    best_distance = distance;
  }
  return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line, "%s: no %s is called '%s'%s%s%s", what,
                      kind_word(kind), name, best ? ", did you mean '" : "", best ? best : "",
                      best ? "'?" : "");
}

// ---- the model's names --------------------------------------------------------------------------

// The kinds whose names a model stores. `ids` maps elements of the spec to the model, NULL:
// identity.
typedef struct {
  tbFlatKind kind;
  const int* ids;
  int* adr;  // the model's offsets; NULL while counting
} NameList;

enum { NLISTS = 18 };

static void name_lists(const tbCompile* c, const tbModel* m, NameList list[NLISTS]) {
  NameList all[NLISTS] = {
      {TB_FLAT_body, c->body_id, m->name_bodyadr},
      {TB_FLAT_joint, NULL, m->name_jntadr},
      {TB_FLAT_geom, c->geom_id, m->name_geomadr},
      {TB_FLAT_site, c->site_id, m->name_siteadr},
      {TB_FLAT_camera, c->camera_id, m->name_camadr},
      {TB_FLAT_light, c->light_id, m->name_lightadr},
      {TB_FLAT_mesh, c->mesh_id, m->name_meshadr},
      {TB_FLAT_hfield, NULL, m->name_hfieldadr},
      {TB_FLAT_pair, c->pair_order, m->name_pairadr},
      {TB_FLAT_exclude, c->exclude_order, m->name_excludeadr},
      {TB_FLAT_equality, NULL, m->name_eqadr},
      {TB_FLAT_tendon, NULL, m->name_tendonadr},
      {TB_FLAT_actuator, NULL, m->name_actuatoradr},
      {TB_FLAT_sensor, NULL, m->name_sensoradr},
      {TB_FLAT_numeric, NULL, m->name_numericadr},
      {TB_FLAT_text, NULL, m->name_textadr},
      {TB_FLAT_tuple, NULL, m->name_tupleadr},
      {TB_FLAT_key, NULL, m->name_keyadr},
  };
  memcpy(list, all, sizeof all);
}

static const char* model_name(const tbCompile* c) {
  return c->spec->model_name ? c->spec->model_name : "";
}

// One line of the notes; returns its length without the terminating zero.
static int print_note(const tbFlatNote* note, char* text, size_t size) {
  char times[32] = "";
  if (note->count > 1) snprintf(times, sizeof times, " (%d times)", note->count);
  // Elements that were added in memory have no file.
  if (!*note->file) return snprintf(text, size, "%s%s\n", note->text, times);
  return snprintf(text, size, "%s:%d: %s%s\n", note->file, note->line, note->text, times);
}

void tb_compile_count_names(const tbCompile* c, tbModel* sizes) {
  NameList list[NLISTS];
  tbModel none = {0};
  name_lists(c, &none, list);
  size_t total = strlen(model_name(c)) + 1;
  for (int k = 0; k < NLISTS; k++) {
    for (int i = 0; i < tb_flat_count(c->spec, list[k].kind); i++) {
      const char* name = element_name(c->spec, list[k].kind, i);
      bool kept = !list[k].ids || list[k].ids[i] >= 0;
      if (kept && name && *name) total += strlen(name) + 1;
    }
  }
  sizes->nnames = total > INT_MAX ? -1 : (int)total;
  size_t notes = 1;
  for (int i = 0; i < c->spec->nnote; i++) {
    notes += (size_t)print_note(&c->spec->note[i], NULL, 0);
  }
  sizes->nnotes = notes > INT_MAX ? -1 : (int)notes;
}

void tb_compile_copy_names(const tbCompile* c, tbModel* m) {
  NameList list[NLISTS];
  name_lists(c, m, list);
  int at = (int)strlen(model_name(c)) + 1;
  memcpy(m->names, model_name(c), (size_t)at);
  for (int k = 0; k < NLISTS; k++) {
    for (int i = 0; i < tb_flat_count(c->spec, list[k].kind); i++) {
      int id = list[k].ids ? list[k].ids[i] : i;
      if (id < 0) continue;
      const char* name = element_name(c->spec, list[k].kind, i);
      if (!name || !*name) {
        list[k].adr[id] = -1;
        continue;
      }
      size_t size = strlen(name) + 1;
      memcpy(m->names + at, name, size);
      list[k].adr[id] = at;
      at += (int)size;
    }
  }
  // Keyframes that exist only because of size/nkey have no names.
  for (int i = c->spec->nkey; i < m->nkey; i++) m->name_keyadr[i] = -1;

  char* note = m->notes;
  for (int i = 0; i < c->spec->nnote; i++) {
    note += print_note(&c->spec->note[i], note, (size_t)(m->notes + m->nnotes - note));
  }
  *note = 0;
}
