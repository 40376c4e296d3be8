#include "model/sparsity.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/chain.h"
#include "model/joint_kinds.h"
#include "model/model.h"
#include "model/transmission_kinds.h"

// Reason of a failure.
typedef enum { NOTHING, NO_MEMORY, LONG_CHAIN, MANY_ENTRIES } Failure;

// The rows computed so far: adr and nnz per row, columns in one growing list.
typedef struct {
  int* adr;
  int* nnz;
  int* columns;
  int64_t size, room;
  Failure failed;
} Pattern;

// The time of loading grows with the cube of the longest chain of dofs, the memory with the entries
// of M.
enum { LONGEST_CHAIN = 2048, MOST_ENTRIES = 1 << 25 };

static bool pattern_open(Pattern* p, int rows) {
  memset(p, 0, sizeof *p);
  p->adr = calloc((size_t)rows + 1, sizeof(int));
  p->nnz = calloc((size_t)rows + 1, sizeof(int));
  p->failed = p->adr && p->nnz ? NOTHING : NO_MEMORY;
  return !p->failed;
}

static void pattern_close(Pattern* p) {
  free(p->adr);
  free(p->nnz);
  free(p->columns);
}

static void add_row(Pattern* p, int row, const int* columns, int n) {
  if (p->failed) return;
  if (p->size + n > p->room) {
    int64_t room = 2 * (p->size + n) + 64;
    bool many = p->size + n > MOST_ENTRIES;
    int* grown = many ? NULL : realloc(p->columns, (size_t)room * sizeof(int));
    if (!grown) {
      p->failed = many ? MANY_ENTRIES : NO_MEMORY;
      return;
    }
    p->columns = grown;
    p->room = room;
  }
  p->adr[row] = (int)p->size;
  p->nnz[row] = n;
  if (n > 0) memcpy(p->columns + p->size, columns, (size_t)n * sizeof(int));
  p->size += n;
}

// Rows of M: the ancestors of each dof, ascending, itself last. Parents come before children, so a
// row is the parent's row with one more entry.
static void mass_rows(const tbModel* m, Pattern* p, int* row) {
  for (int i = 0; i < m->nv && !p->failed; i++) {
    int parent = m->dof_parentid[i], n = 0;
    if (parent >= 0) {
      n = p->nnz[parent];
      memcpy(row, p->columns + p->adr[parent], (size_t)n * sizeof(int));
    }
    row[n++] = i;
    if (n > LONGEST_CHAIN) p->failed = LONG_CHAIN;
    add_row(p, i, row, n);
  }
}

// row <- row united with the dofs that move `body`; `spare` is scratch of the same size.
static int unite(const Pattern* mass, const tbModel* m, int body, int* row, int n, int* spare) {
  int last = m->body_lastdof[body];
  if (last < 0) return n;
  int count = tb_union(row, n, mass->columns + mass->adr[last], mass->nnz[last], spare);
  memcpy(row, spare, (size_t)count * sizeof(int));
  return count;
}

static int unite_one(int dof, int* row, int n, int* spare) {
  int count = tb_union(row, n, &dof, 1, spare);
  memcpy(row, spare, (size_t)count * sizeof(int));
  return count;
}

static void tendon_rows(const tbModel* m, const Pattern* mass, Pattern* p, int* row, int* spare) {
  for (int t = 0; t < m->ntendon; t++) {
    int n = 0;
    for (int w = m->tendon_adr[t]; w < m->tendon_adr[t] + m->tendon_num[t]; w++) {
      int id = m->wrap_objid[w];
      switch (m->wrap_type[w]) {
        case TB_WRAP_JOINT: n = unite_one(m->jnt_dofadr[id], row, n, spare); break;
        case TB_WRAP_SITE: n = unite(mass, m, m->site_bodyid[id], row, n, spare); break;
        case TB_WRAP_SPHERE:
        case TB_WRAP_CYLINDER: n = unite(mass, m, m->geom_bodyid[id], row, n, spare); break;
        default: break;
      }
    }
    add_row(p, t, row, n);
  }
}

static void actuator_rows(const tbModel* m, const Pattern* mass, const Pattern* tendon, Pattern* p,
                          int* row, int* spare) {
  for (int u = 0; u < m->nu; u++) {
    const int* id = m->actuator_trnid + 2 * u;
    int n = 0;
    const tbTransmissionKind* kind = &tb_transmission_kinds[m->actuator_trntype[u]];
    switch (kind->first) {
      case TB_OBJ_JOINT:
        for (; n < tb_joint_nv(m->jnt_type[id[0]]); n++) row[n] = m->jnt_dofadr[id[0]] + n;
        break;
      case TB_OBJ_TENDON:
        n = tendon->nnz[id[0]];
        if (n) memcpy(row, tendon->columns + tendon->adr[id[0]], (size_t)n * sizeof(int));
        break;
      case TB_OBJ_SITE:
        n = unite(mass, m, m->site_bodyid[id[0]], row, n, spare);
        if (id[1] >= 0) n = unite(mass, m, m->site_bodyid[id[1]], row, n, spare);
        break;
      default: n = unite(mass, m, id[0], row, n, spare);
    }
    // Adhesion acts through contacts on any dof.
    if (kind->arm == TB_ARM_CONTACTS) {
      for (n = 0; n < m->nv; n++) row[n] = n;
    }
    add_row(p, u, row, n);
  }
}

// Replace the model's block by one with the sizes in `sizes`, keeping the contents of every array.
static tbResult resize(tbModel* old, const tbModel* sizes, tbError* error) {
  tbModel* grown = tb_model_new(sizes, error);
  if (!grown) return TB_ERROR_MEMORY;
  tbModel common = *sizes;
#define X(name, what) \
  if (old->name < common.name) common.name = old->name;
  TB_MODEL_SIZES(X)
#undef X
  const tbModel* model = &common;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  memcpy(grown->name, old->name, (size_t)((rows) * (columns)) * sizeof(type));
  TB_MODEL_ARRAYS(X)
#undef X
  free(old->block);
  *old = *grown;
  free(grown);
  return TB_OK;
}

static void store(const Pattern* p, int rows, int* adr, int* nnz, int* columns) {
  memcpy(adr, p->adr, (size_t)rows * sizeof(int));
  memcpy(nnz, p->nnz, (size_t)rows * sizeof(int));
  if (p->size) memcpy(columns, p->columns, (size_t)p->size * sizeof(int));
}

static tbResult say(Failure why, tbError* error) {
  switch (why) {
    case NOTHING: return TB_OK;
    case LONG_CHAIN:
      return tb_fail(error, TB_ERROR_MEMORY,
                     "a chain of joints has more than %d degrees of freedom", LONGEST_CHAIN);
    case MANY_ENTRIES:
      return tb_fail(
          error, TB_ERROR_MEMORY,
          "the mass matrix or a Jacobian of tendons or actuators has more than %d entries",
          MOST_ENTRIES);
    default: return tb_fail(error, TB_ERROR_MEMORY, "out of memory for the matrices of the model");
  }
}

tbResult tb_model_set_sparsity(tbModel* m, tbError* error) {
  Pattern mass, tendon, actuator;
  int* row = malloc(((size_t)m->nv + 1) * sizeof(int));
  int* spare = malloc(((size_t)m->nv + 1) * sizeof(int));
  bool ok = pattern_open(&mass, m->nv);
  ok = pattern_open(&tendon, m->ntendon) && ok;
  ok = pattern_open(&actuator, m->nu) && ok;
  if (ok && row && spare) {
    mass_rows(m, &mass, row);
    if (!mass.failed) tendon_rows(m, &mass, &tendon, row, spare);
    if (!mass.failed && !tendon.failed) actuator_rows(m, &mass, &tendon, &actuator, row, spare);
  }
  Failure why = mass.failed ? mass.failed : tendon.failed ? tendon.failed : actuator.failed;
  tbResult result = say(!why && !(ok && row && spare) ? NO_MEMORY : why, error);

  // Allocate a new block if a size differs, then store.
  tbModel sizes = *m;
  sizes.nM = (int)mass.size;
  sizes.nJten = (int)tendon.size;
  sizes.nJmom = (int)actuator.size;
  bool fits = sizes.nM == m->nM && sizes.nJten == m->nJten && sizes.nJmom == m->nJmom;
  if (result == TB_OK && !fits) result = resize(m, &sizes, error);
  if (result == TB_OK) {
    store(&mass, m->nv, m->M_rowadr, m->M_rownnz, m->M_colind);
    for (int i = 0; i < m->nv; i++) {
      m->M_rowrun[i] = i > 0 && m->dof_parentid[i] == i - 1 ? m->M_rowrun[i - 1] : i;
    }
    store(&tendon, m->ntendon, m->tendon_Jadr, m->tendon_Jnnz, m->Jten_colind);
    store(&actuator, m->nu, m->actuator_Jadr, m->actuator_Jnnz, m->Jmom_colind);
  }
  pattern_close(&mass);
  pattern_close(&tendon);
  pattern_close(&actuator);
  free(row);
  free(spare);
  return result;
}
