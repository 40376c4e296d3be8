// Internal forces: f = J y + f_internal with J^T f_internal = 0, so that J y is the least-squares
// approximation of f, found by conjugate gradients on J^T J y = J^T f. J has the motions of
// floating robots as if their joints were locked: what the feet push against each other is
// internal.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/floating.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"
#include "tribo/measure.h"

enum { MOST_ENTRIES = 1 << 26 };
static const tbReal GRADIENT_LEFT = 1e-10;

typedef struct {
  int rows, nv;
  tbReal* J;  // rows x nv
  tbReal *direction, *gradient, *along;
  tbReal* rest;  // f - J y
} Split;

// Whether the joint of a dof is locked: it belongs to a tree that floats.
static bool is_locked(const tbModel* m, int dof) {
  return tb_tree_floats(m, m->dof_treeid[dof]) && !tb_dof_floats(m, dof);
}

// Rows of a contact: along the axes of its frame, then about them.
static void contact_rows(const tbModel* m, const tbData* d, const tbContact* c, tbReal* jac,
                         tbReal* rows) {
  int nv = m->nv;
  memset(rows, 0, sizeof(tbReal) * (size_t)c->dim * (size_t)nv);
  for (int side = 0; side < 2; side++) {
    int body = m->geom_bodyid[c->geom[side]];
    tb_jac(m, d, body, c->pos, jac, jac + 3 * nv);
    tbReal sign = side ? 1 : -1;
    for (int r = 0; r < c->dim; r++) {
      const tbReal *axis = c->frame + 3 * (r % 3), *part = jac + (r < 3 ? 0 : 3 * nv);
      for (int i = 0; i < nv; i++) {
        if (is_locked(m, i)) continue;
        rows[r * nv + i] +=
            sign * (axis[0] * part[i] + axis[1] * part[nv + i] + axis[2] * part[2 * nv + i]);
      }
    }
  }
}

// gradient = J^T rest; returns its square.
static tbReal pull_back(Split* s) {
  tbReal square = 0;
  memset(s->gradient, 0, sizeof(tbReal) * (size_t)s->nv);
  for (int r = 0; r < s->rows; r++) {
    const tbReal* row = s->J + (size_t)r * (size_t)s->nv;
    for (int i = 0; i < s->nv; i++) s->gradient[i] += row[i] * s->rest[r];
  }
  for (int i = 0; i < s->nv; i++) square += s->gradient[i] * s->gradient[i];
  return square;
}

// along = J direction; returns its square.
static tbReal push(Split* s) {
  tbReal square = 0;
  for (int r = 0; r < s->rows; r++) {
    const tbReal* row = s->J + (size_t)r * (size_t)s->nv;
    s->along[r] = 0;
    for (int i = 0; i < s->nv; i++) s->along[r] += row[i] * s->direction[i];
    square += s->along[r] * s->along[r];
  }
  return square;
}

// Take from `rest` all that moves something.
static void solve(Split* s) {
  tbReal square = pull_back(s), first = square;
  memcpy(s->direction, s->gradient, sizeof(tbReal) * (size_t)s->nv);
  for (int k = 0; k < 4 * s->nv + 20 && square > GRADIENT_LEFT * GRADIENT_LEFT * first; k++) {
    tbReal length = push(s);
    if (!(length > 0)) return;
    tbReal step = square / length, before = square;
    for (int r = 0; r < s->rows; r++) s->rest[r] -= step * s->along[r];
    square = pull_back(s);
    for (int i = 0; i < s->nv; i++) {
      s->direction[i] = s->gradient[i] + square / before * s->direction[i];
    }
  }
}

tbResult tb_internal_force(const tbModel* m, const tbData* d, tbReal* force, tbReal* norm,
                           tbError* error) {
  tb_error_clear(error);
  const char* missing = !m ? "model is NULL" : !d ? "data is NULL" : !norm ? "norm is NULL" : NULL;
  if (!missing && !tb_data_fits(m, d)) missing = "data is a world of another model";
  if (missing) return tb_fail(error, TB_ERROR_ARGUMENT, "tb_internal_force: %s", missing);
  Split s = {.nv = m->nv};
  *norm = 0;
  for (int c = 0; c < d->ncon; c++) s.rows += d->contact[c].dim;
  if (force) memset(force, 0, 6 * sizeof *force * (size_t)d->ncon);
  if (s.rows == 0 || m->nv == 0) return TB_OK;
  size_t entries = (size_t)s.rows * (size_t)m->nv;
  if (entries > MOST_ENTRIES) {
    return tb_fail(error, TB_ERROR_MEMORY, "%d contact rows and %d dofs are too many", s.rows,
                   m->nv);
  }
  tbReal* memory = calloc(entries + 2 * (size_t)s.rows + 9 * (size_t)m->nv, sizeof *memory);
  if (!memory) return tb_fail(error, TB_ERROR_MEMORY, "out of memory for internal forces");
  s.J = memory;
  s.rest = s.J + entries;
  s.along = s.rest + s.rows;
  s.gradient = s.along + s.rows;
  s.direction = s.gradient + m->nv;
  tbReal* jac = s.direction + m->nv;
  for (int c = 0, row = 0; c < d->ncon; row += d->contact[c++].dim) {
    contact_rows(m, d, &d->contact[c], jac, s.J + (size_t)row * (size_t)m->nv);
    memcpy(s.rest + row, d->contact[c].force, sizeof(tbReal) * (size_t)d->contact[c].dim);
  }
  solve(&s);
  for (int c = 0, row = 0; c < d->ncon; row += d->contact[c++].dim) {
    for (int r = 0; r < d->contact[c].dim; r++) {
      if (force) force[6 * c + r] = s.rest[row + r];
      *norm += s.rest[row + r] * s.rest[row + r];
    }
  }
  *norm = sqrt(*norm);
  free(memory);
  return TB_OK;
}
