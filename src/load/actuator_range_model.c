#include "load/actuator_range_model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/equality_kinds.h"
#include "model/transmission_kinds.h"
// Kinds of objects of which only some are kept.
enum { ACTUATOR, TENDON, SITE, KINDS };

typedef struct {
  const int* list[KINDS];  // old ids of the kept objects
  int count[KINDS];
  int* place[KINDS];  // new id of each old one, or -1; NULL for actuators
} Kept;

// Allocates pieces of one block at multiples of 16; with `at` NULL it only counts.
typedef struct {
  char* at;
  size_t used;
} Pieces;

static void* piece(Pieces* p, size_t bytes) {
  void* start = p->at ? p->at + p->used : NULL;
  p->used += (bytes + 15) & ~(size_t)15;
  return start;
}

// ---- kept objects ------------------------------------------------------------------------------

static void keep(int* place, int id) {
  if (id >= 0) place[id] = 0;
}

static void keep_path(const tbModel* m, int tendon, int* site) {
  int end = m->tendon_adr[tendon] + m->tendon_num[tendon];
  for (int w = m->tendon_adr[tendon]; w < end; w++) {
    int type = m->wrap_type[w];
    if (type == TB_WRAP_SITE) keep(site, m->wrap_objid[w]);
    if (type == TB_WRAP_SPHERE || type == TB_WRAP_CYLINDER) keep(site, (int)m->wrap_prm[w]);
  }
}

// Tendons that constrain the model or belong to the simulated actuators, and the sites of these, of
// equality constraints and of the actuators: marked 0, all others -1.
static void mark(const tbModel* m, const int* pulled, int count, int* tendon, int* site) {
  for (int t = 0; t < m->ntendon; t++) {
    tendon[t] = m->tendon_limited[t] || m->tendon_armature[t] > 0 ? 0 : -1;
  }
  for (int s = 0; s < m->nsite; s++) site[s] = -1;
  for (int e = 0; e < m->neq; e++) {
    bool ties = tb_equality_ends(m, e) == TB_ENDS_TENDONS, sites = m->eq_objtype[e] == TB_OBJ_SITE;
    int* to = ties ? tendon : sites ? site : NULL;
    if (to) keep(to, m->eq_obj1id[e]);
    if (to) keep(to, m->eq_obj2id[e]);
  }
  for (int k = 0; k < count; k++) {
    int object = tb_transmission_kinds[m->actuator_trntype[pulled[k]]].first;
    const int* id = m->actuator_trnid + 2 * pulled[k];
    int* to = object == TB_OBJ_TENDON ? tendon : object == TB_OBJ_SITE ? site : NULL;
    if (to) keep(to, id[0]);
    if (to) keep(to, id[1]);
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (tendon[t] == 0) keep_path(m, t, site);
  }
}

// Assign new ids to the marked objects, in the old order.
static int number(int* place, int n, int* list) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (place[i] < 0) continue;
    list[count] = i;
    place[i] = count++;
  }
  return count;
}

// ---- the part -----------------------------------------------------------------------------------

static void* gather(Pieces* p, const void* from, size_t bytes, const int* list, int count) {
  char* to = piece(p, bytes * (size_t)count);
  for (int i = 0; to && i < count; i++) {
    memcpy(to + bytes * (size_t)i, (const char*)from + bytes * (size_t)list[i], bytes);
  }
  return to;
}

static void* copy(Pieces* p, const void* from, size_t bytes) {
  void* to = piece(p, bytes);
  if (to && bytes) memcpy(to, from, bytes);
  return to;
}

// Copy the rows of kept objects in every array that has a row for each; copy arrays that contain
// ids.
static void fill(const tbModel* model, const Kept* kept, Pieces* p, tbModel* out) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  *out = *model;
#define X(type, name, rows, columns, unit, what)                                             \
  {                                                                                          \
    int kind = strcmp(#rows, "nu") == 0        ? ACTUATOR                                    \
               : strcmp(#rows, "ntendon") == 0 ? TENDON                                      \
               : strcmp(#rows, "nsite") == 0   ? SITE                                        \
                                               : KINDS;                                        \
    size_t bytes = sizeof(type) * (size_t)(columns);                                         \
    if (kind < KINDS) {                                                                      \
      out->name = (type*)gather(p, model->name, bytes, kept->list[kind], kept->count[kind]); \
    }                                                                                        \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  out->eq_obj1id = (int*)copy(p, model->eq_obj1id, sizeof(int) * (size_t)model->neq);
  out->eq_obj2id = (int*)copy(p, model->eq_obj2id, sizeof(int) * (size_t)model->neq);
  out->wrap_objid = (int*)copy(p, model->wrap_objid, sizeof(int) * (size_t)model->nwrap);
  out->wrap_prm = (tbReal*)copy(p, model->wrap_prm, sizeof(tbReal) * (size_t)model->nwrap);
  out->nu = kept->count[ACTUATOR];
  out->ntendon = kept->count[TENDON];
  out->nsite = kept->count[SITE];
  out->na = out->nsensor = out->nsensordata = out->nkey = 0;
}

static void rename_id(const int* place, int* id) {
  if (*id >= 0) *id = place[*id];
}

// Replace the ids of tendons and sites by the new ones.
static void rename_ids(const Kept* kept, tbModel* m) {
  const int *tendon = kept->place[TENDON], *site = kept->place[SITE];
  for (int u = 0; u < m->nu; u++) {
    int object = tb_transmission_kinds[m->actuator_trntype[u]].first;
    int* id = m->actuator_trnid + 2 * u;
    const int* place = object == TB_OBJ_TENDON ? tendon : object == TB_OBJ_SITE ? site : NULL;
    if (place) rename_id(place, id);
    if (place) rename_id(place, id + 1);
    m->actuator_dyntype[u] = TB_DYN_NONE;
    m->actuator_actadr[u] = -1;
    m->actuator_actnum[u] = 0;
  }
  for (int e = 0; e < m->neq; e++) {
    bool ties = tb_equality_ends(m, e) == TB_ENDS_TENDONS, sites = m->eq_objtype[e] == TB_OBJ_SITE;
    const int* place = ties ? tendon : sites ? site : NULL;
    if (place) rename_id(place, &m->eq_obj1id[e]);
    if (place) rename_id(place, &m->eq_obj2id[e]);
  }
  for (int t = 0; t < m->ntendon; t++) {
    int end = m->tendon_adr[t] + m->tendon_num[t];
    for (int w = m->tendon_adr[t]; w < end; w++) {
      int type = m->wrap_type[w], side = (int)m->wrap_prm[w];
      if (type == TB_WRAP_SITE) rename_id(site, &m->wrap_objid[w]);
      if (type != TB_WRAP_SPHERE && type != TB_WRAP_CYLINDER) continue;
      rename_id(site, &side);
      m->wrap_prm[w] = side;
    }
  }
}

tbResult tb_model_part(const tbModel* m, const int* pulled, int count, tbModelPart* part) {
  // The ids come first, since they determine the size of the rest.
  size_t tendons = (size_t)m->ntendon, sites = (size_t)m->nsite;
  int* ids = malloc(sizeof(int) * (2 * (tendons + sites) + 1));
  if (!ids) return TB_ERROR_MEMORY;
  int *tendon = ids, *site = tendon + tendons, *tendon_list = site + sites;
  int* site_list = tendon_list + tendons;
  mark(m, pulled, count, tendon, site);
  Kept kept = {.list = {pulled, tendon_list, site_list}, .place = {NULL, tendon, site}};
  kept.count[ACTUATOR] = count;
  kept.count[TENDON] = number(tendon, m->ntendon, tendon_list);
  kept.count[SITE] = number(site, m->nsite, site_list);
  Pieces pieces = {NULL, 0};
  fill(m, &kept, &pieces, &part->model);
  part->memory = malloc(pieces.used + 1);
  if (part->memory) {
    pieces = (Pieces){part->memory, 0};
    fill(m, &kept, &pieces, &part->model);
    rename_ids(&kept, &part->model);
  }
  free(ids);
  return part->memory ? TB_OK : TB_ERROR_MEMORY;
}
