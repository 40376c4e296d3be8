// A contact problem as an FCLIB local problem: u = W r + V l + q, V' r + R l + s = 0.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tribo/fclib.h"

// Where a row of the problem goes: a row of a contact (three each) or an equality, and the factor
// S of its impulse, lambda = S lambda'.
typedef struct {
  int row;
  int equality;
  tbReal scale;
} Place;

typedef struct {
  int contacts, equalities;
  Place* place;  // per row of the problem
  tbReal* mu;    // per contact
} Layout;

static tbResult unsupported(int block, const char* why, tbError* error) {
  return tb_fail(error, TB_ERROR_UNSUPPORTED, "block %d: FCLIB has no %s", block, why);
}

// A cone of friction with one or two tangents. Different coefficients along them become one by
// scaling the second tangent: mu_1 |u_T| is the same for u_T2' = mu_2/mu_1 u_T2.
static tbResult place_cone(const tbBlock* b, int index, Layout* l, tbError* error) {
  if (b->dim > 3) return unsupported(index, "rolling or torsional friction", error);
  Place* p = l->place + b->row;
  for (int k = 0; k < b->dim; k++) p[k] = (Place){3 * l->contacts + k, 0, 1};
  if (b->dim == 3 && b->mu[0] != b->mu[1]) {
    if (!(b->mu[0] > 0 && b->mu[1] > 0)) {
      return unsupported(index, "friction along one tangent only", error);
    }
    p[2].scale = b->mu[1] / b->mu[0];
  }
  l->mu[l->contacts++] = b->mu[0];
  return TB_OK;
}

static tbResult place_block(const tbBlock* b, int index, Layout* l, tbError* error) {
  switch (b->type) {
    case TB_BLOCK_CONE: return place_cone(b, index, l, error);
    case TB_BLOCK_EQUALITY:
      for (int k = 0; k < b->dim; k++) l->place[b->row + k] = (Place){l->equalities++, 1, 1};
      return TB_OK;
    case TB_BLOCK_ONE_SIDED:
      // A limit is a contact without friction.
      for (int k = 0; k < b->dim; k++) {
        l->place[b->row + k] = (Place){3 * l->contacts, 0, 1};
        l->mu[l->contacts++] = 0;
      }
      return TB_OK;
    default: return unsupported(index, "bounded impulses (dry friction of a joint)", error);
  }
}

static tbResult make_layout(const tbProblem* p, Layout* l, tbError* error) {
  *l = (Layout){.place = calloc((size_t)p->n + 1, sizeof *l->place),
                .mu = calloc((size_t)p->n + 1, sizeof *l->mu)};
  tbResult result = TB_OK;
  if (!l->place || !l->mu) result = tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < p->nblock && result == TB_OK; i++) {
    result = place_block(&p->block[i], i, l, error);
  }
  return result;
}

// ---- the matrices ------------------------------------------------------------------------------

// Column `k` of G + R by n products, into `column`.
static tbResult column_of(const tbProblem* p, int k, tbReal* unit, tbReal* column, tbError* error) {
  tbProblem linear = *p;
  unit[k] = 1;
  linear.g = unit + p->n;  // zeros: sigma = (G + R) lambda
  tbResult result = tb_problem_velocity(&linear, unit, column, error);
  unit[k] = 0;
  return result;
}

// Compressed rows of a dense rows x cols matrix.
static bool compress(const tbReal* dense, int rows, int cols, tbFclibMatrix* out) {
  size_t count = 0, total = (size_t)rows * (size_t)cols;
  for (size_t i = 0; i < total; i++) count += dense[i] != 0;
  *out = (tbFclibMatrix){.rows = rows, .cols = cols};
  out->start = calloc((size_t)rows + 1, sizeof *out->start);
  out->index = malloc((count + 1) * sizeof *out->index);
  out->value = malloc((count + 1) * sizeof *out->value);
  if (!out->start || !out->index || !out->value) return false;
  int to = 0;
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < cols; c++) {
      tbReal value = dense[(size_t)r * (size_t)cols + (size_t)c];
      if (value == 0) continue;
      out->index[to] = c;
      out->value[to++] = value;
    }
    out->start[r + 1] = to;
  }
  return true;
}

// The three dense parts of S (G + R) S.
typedef struct {
  tbReal *W, *V, *R;
} Parts;

static tbResult fill_parts(const tbProblem* p, const Layout* l, Parts* parts, tbError* error) {
  int nc = 3 * l->contacts, ne = l->equalities;
  tbReal* unit = calloc(2 * (size_t)p->n + 2, sizeof *unit);
  tbReal* column = calloc((size_t)p->n + 1, sizeof *column);
  tbResult result = unit && column ? TB_OK : tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (int k = 0; k < p->n && result == TB_OK; k++) {
    Place to = l->place[k];
    result = column_of(p, k, unit, column, error);
    for (int i = 0; i < p->n && result == TB_OK; i++) {
      Place from = l->place[i];
      tbReal value = from.scale * column[i] * to.scale;
      if (!from.equality && !to.equality) {
        parts->W[(size_t)from.row * (size_t)nc + (size_t)to.row] = value;
      } else if (!from.equality) {
        parts->V[(size_t)from.row * (size_t)ne + (size_t)to.row] = value;
      } else if (to.equality) {
        parts->R[(size_t)from.row * (size_t)ne + (size_t)to.row] = value;
      }
    }
  }
  free(unit);
  free(column);
  return result;
}

static tbResult fill(const tbProblem* p, const Layout* l, tbFclib* f, tbError* error) {
  size_t nc = 3 * (size_t)l->contacts, ne = (size_t)l->equalities;
  Parts parts = {calloc(nc * nc + 1, sizeof(tbReal)), calloc(nc * ne + 1, sizeof(tbReal)),
                 calloc(ne * ne + 1, sizeof(tbReal))};
  f->q = calloc(nc + 1, sizeof *f->q);
  f->s = calloc(ne + 1, sizeof *f->s);
  f->mu = calloc((size_t)l->contacts + 1, sizeof *f->mu);
  bool ok = parts.W && parts.V && parts.R && f->q && f->s && f->mu;
  tbResult result = ok ? fill_parts(p, l, &parts, error) : TB_ERROR_MEMORY;
  if (result == TB_OK) {
    // Tangents that the problem does not have stay at rest.
    bool* used = calloc(nc + 1, sizeof *used);
    for (int k = 0; k < p->n && used; k++) {
      Place at = l->place[k];
      (at.equality ? f->s : f->q)[at.row] = at.scale * p->g[k];
      if (!at.equality) used[at.row] = true;
    }
    for (size_t i = 0; i < nc && used; i++) {
      if (!used[i]) parts.W[i * nc + i] = 1;
    }
    memcpy(f->mu, l->mu, (size_t)l->contacts * sizeof *f->mu);
    ok = used && compress(parts.W, (int)nc, (int)nc, &f->W);
    if (ne > 0) {
      ok = ok && compress(parts.V, (int)nc, (int)ne, &f->V) &&
           compress(parts.R, (int)ne, (int)ne, &f->R);
    }
    free(used);
  }
  free(parts.W);
  free(parts.V);
  free(parts.R);
  if (result != TB_OK && ok) return result;
  return ok ? TB_OK : tb_fail(error, TB_ERROR_MEMORY, "no memory for %d rows", p->n);
}

tbResult tb_fclib_of_problem(const tbProblem* problem, tbFclib** fclib, tbError* error) {
  tb_error_clear(error);
  if (!problem || !fclib) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_fclib_of_problem: problem and fclib must not be NULL");
  }
  *fclib = NULL;
  tbResult result = tb_problem_check(problem, error);
  if (result != TB_OK) return result;
  Layout l = {0};
  tbFclib* f = calloc(1, sizeof *f);
  if (!f) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  result = make_layout(problem, &l, error);
  if (result == TB_OK) {
    f->spacedim = 3;
    f->contacts = l.contacts;
    result = fill(problem, &l, f, error);
  }
  free(l.place);
  free(l.mu);
  if (result == TB_OK) {
    *fclib = f;
  } else {
    tb_fclib_free(f);
  }
  return result;
}
