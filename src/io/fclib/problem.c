// Conversion of an FCLIB file's matrices to a contact problem.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/error.h"
#include "io/fclib/matrix.h"

// The symmetric part of `matrix`, which may differ from its transpose by 1e-2 of its largest entry.
static tbResult symmetric_part(const tbFclibMatrix* matrix, const char* name, tbFclibMatrix* out,
                               tbError* error) {
  int n = matrix->rows, count = n > 0 ? matrix->start[n] : 0;
  // The matrix and its transpose as triplets of half weight: unpacking sorts and adds them.
  tbFclibStored s = {n, n, 2 * count, 2 * count, NULL, NULL, NULL, 2 * count, 2 * count, 2 * count};
  if (count > INT32_MAX / 2 - 1)
    return tb_fail(error, TB_ERROR_MEMORY, "matrix %s is too large", name);
  s.p = malloc((2 * (size_t)count + 1) * sizeof(int));
  s.i = malloc((2 * (size_t)count + 1) * sizeof(int));
  s.x = malloc((2 * (size_t)count + 1) * sizeof(tbReal));
  tbResult result = TB_OK;
  if (!s.p || !s.i || !s.x) result = tb_fail(error, TB_ERROR_MEMORY, "no memory for %s", name);
  tbReal largest = 0, skew = 0;
  for (int sign = 1; result == TB_OK && sign >= -1; sign -= 2) {
    // The skew part first, to check its size; then the symmetric part, which is the result.
    tbReal other = sign > 0 ? -0.5 : 0.5;
    for (int r = 0; r < n; r++) {
      for (int k = matrix->start[r]; k < matrix->start[r + 1]; k++) {
        s.p[2 * k] = s.i[2 * k + 1] = r;
        s.i[2 * k] = s.p[2 * k + 1] = matrix->index[k];
        s.x[2 * k] = 0.5 * matrix->value[k];
        s.x[2 * k + 1] = other * matrix->value[k];
        largest = tb_max(largest, fabs(matrix->value[k]));
      }
    }
    result = tb_fclib_matrix_unpack(&s, name, out, error);
    if (result != TB_OK || sign < 0) break;
    int entries = n > 0 ? out->start[n] : 0;
    for (int k = 0; k < entries; k++) skew = tb_max(skew, fabs(out->value[k]));
    skew *= 2;
    tb_fclib_matrix_free(out);
    if (skew > 1e-2 * largest) {
      result =
          tb_fail(error, TB_ERROR_PARSE, "matrix %s is not symmetric: entries differ by %g of %g",
                  name, skew, largest);
    }
  }
  tb_fclib_stored_free(&s);
  return result;
}

// Cones for the contacts, then the equalities in blocks of up to six rows.
static tbBlock* make_blocks(const tbFclib* p, int equalities, int* count) {
  int extra = (equalities + TB_MAX_BLOCK_DIM - 1) / TB_MAX_BLOCK_DIM;
  tbBlock* blocks = calloc((size_t)(p->contacts + extra) + 1, sizeof *blocks);
  if (!blocks) return NULL;
  int row = 0;
  for (int k = 0; k < p->contacts; k++) {
    blocks[k].type = TB_BLOCK_CONE;
    blocks[k].row = row;
    blocks[k].dim = p->spacedim;
    for (int t = 0; t < p->spacedim - 1; t++) blocks[k].mu[t] = p->mu[k];
    row += p->spacedim;
  }
  for (int k = 0; k < extra; k++) {
    int left = equalities - k * TB_MAX_BLOCK_DIM;
    blocks[p->contacts + k].type = TB_BLOCK_EQUALITY;
    blocks[p->contacts + k].row = row;
    blocks[p->contacts + k].dim = left < TB_MAX_BLOCK_DIM ? left : TB_MAX_BLOCK_DIM;
    row += blocks[p->contacts + k].dim;
  }
  *count = p->contacts + extra;
  return blocks;
}

// The block row out = [A B]; both matrices have the same rows.
static tbResult append_columns(const tbFclibMatrix* a, const tbFclibMatrix* b, tbFclibMatrix* out,
                               tbError* error) {
  int rows = a->rows, na = rows > 0 ? a->start[rows] : 0;
  int nb = b->start && b->rows > 0 ? b->start[b->rows] : 0;
  *out = (tbFclibMatrix){rows, a->cols + b->cols, NULL, NULL, NULL};
  out->start = calloc((size_t)rows + 1, sizeof(int));
  out->index = malloc(((size_t)na + (size_t)nb + 1) * sizeof(int));
  out->value = malloc(((size_t)na + (size_t)nb + 1) * sizeof(tbReal));
  if (!out->start || !out->index || !out->value) {
    tb_fclib_matrix_free(out);
    return tb_fail(error, TB_ERROR_MEMORY, "no memory for a matrix of %d entries", na + nb);
  }
  int to = 0;
  for (int r = 0; r < rows; r++) {
    for (int k = a->start[r]; k < a->start[r + 1]; k++) {
      out->index[to] = a->index[k];
      out->value[to++] = a->value[k];
    }
    for (int k = nb ? b->start[r] : 0; nb && k < b->start[r + 1]; k++) {
      out->index[to] = a->cols + b->index[k];
      out->value[to++] = b->value[k];
    }
    out->start[r + 1] = to;
  }
  return TB_OK;
}

// G = [W V; V' R], g = [q; s].
static tbResult local_problem(const tbFclib* p, tbProblem** problem, tbError* error) {
  int nc = p->W.rows, ne = p->V.cols, nblock = 0;
  tbFclibMatrix top = {0, 0, NULL, NULL, NULL}, bottom = top, turned = top, all = top, G = top;
  tbReal* g = calloc((size_t)(nc + ne) + 1, sizeof(tbReal));
  tbBlock* blocks = make_blocks(p, ne, &nblock);
  tbResult result = TB_OK;
  if (!g || !blocks) result = tb_fail(error, TB_ERROR_MEMORY, "no memory for the problem");
  if (result == TB_OK && ne == 0) result = symmetric_part(&p->W, "W", &G, error);
  if (result == TB_OK && ne > 0) {
    // [W V; V' R] as the transpose of [top' bottom'], with append_columns for the block rows.
    result = append_columns(&p->W, &p->V, &top, error);
    if (result == TB_OK) result = tb_fclib_matrix_transpose(&p->V, &turned, error);
    if (result == TB_OK) result = append_columns(&turned, &p->R, &bottom, error);
    tbFclibMatrix top_t = {0, 0, NULL, NULL, NULL}, bottom_t = top_t;
    if (result == TB_OK) result = tb_fclib_matrix_transpose(&top, &top_t, error);
    if (result == TB_OK) result = tb_fclib_matrix_transpose(&bottom, &bottom_t, error);
    if (result == TB_OK) result = append_columns(&top_t, &bottom_t, &all, error);
    if (result == TB_OK) result = symmetric_part(&all, "[W V; V' R]", &G, error);
    tb_fclib_matrix_free(&top_t);
    tb_fclib_matrix_free(&bottom_t);
  }
  if (result == TB_OK) {
    for (int k = 0; k < nc; k++) g[k] = p->q[k];
    for (int k = 0; k < ne; k++) g[nc + k] = p->s[k];
    *problem = tb_problem_create_csr(nblock, blocks, G.start, G.index, G.value, NULL, g, error);
    if (!*problem) result = error && error->code != TB_OK ? error->code : TB_ERROR_NUMERIC;
  }
  tb_fclib_matrix_free(&top);
  tb_fclib_matrix_free(&bottom);
  tb_fclib_matrix_free(&turned);
  tb_fclib_matrix_free(&all);
  tb_fclib_matrix_free(&G);
  free(blocks);
  free(g);
  return result;
}

// In-place, row-oriented Cholesky factorization of a matrix in envelope storage: row r has columns
// first[r] to r at env + offset[r]. Mass matrices of bodies and meshes have a narrow envelope in
// their own order.
static tbResult factor_envelope(int n, const int* first, const size_t* offset, tbReal* env,
                                tbError* error) {
  for (int r = 0; r < n; r++) {
    tbReal* row = env + offset[r] - first[r];
    for (int c = first[r]; c < r; c++) {
      const tbReal* other = env + offset[c] - first[c];
      int from = first[r] > first[c] ? first[r] : first[c];
      tbReal sum = row[c];
      for (int k = from; k < c; k++) sum -= row[k] * other[k];
      row[c] = sum / other[c];
    }
    tbReal pivot = row[r];
    for (int k = first[r]; k < r; k++) pivot -= row[k] * row[k];
    if (!(pivot > 0)) {
      return tb_fail(error, TB_ERROR_PARSE, "matrix M is not positive definite: pivot %d is %g", r,
                     pivot);
    }
    row[r] = sqrt(pivot);
  }
  return TB_OK;
}

// x = M^-1 f.
static tbResult solve_mass(const tbFclibMatrix* M, const tbReal* f, tbReal* x, tbError* error) {
  int n = M->rows;
  int* first = malloc(((size_t)n + 1) * sizeof(int));
  size_t* offset = malloc(((size_t)n + 1) * sizeof(size_t));
  size_t size = 0;
  for (int r = 0; first && offset && r < n; r++) {
    bool empty = M->start[r] == M->start[r + 1];
    first[r] = empty || M->index[M->start[r]] > r ? r : M->index[M->start[r]];
    offset[r] = size;
    size += (size_t)(r - first[r]) + 1;
  }
  tbReal* env = first && offset ? calloc(size + 1, sizeof(tbReal)) : NULL;
  tbResult result = TB_OK;
  if (!env) result = tb_fail(error, TB_ERROR_MEMORY, "no memory for the factor of M");
  for (int r = 0; result == TB_OK && r < n; r++) {
    for (int k = M->start[r]; k < M->start[r + 1] && M->index[k] <= r; k++) {
      env[offset[r] + (size_t)(M->index[k] - first[r])] = M->value[k];
    }
  }
  if (result == TB_OK) result = factor_envelope(n, first, offset, env, error);
  // L y = f, then L' x = y.
  for (int r = 0; result == TB_OK && r < n; r++) {
    const tbReal* row = env + offset[r] - first[r];
    tbReal sum = f[r];
    for (int k = first[r]; k < r; k++) sum -= row[k] * x[k];
    x[r] = sum / row[r];
  }
  for (int r = n - 1; result == TB_OK && r >= 0; r--) {
    const tbReal* row = env + offset[r] - first[r];
    x[r] /= row[r];
    for (int k = first[r]; k < r; k++) x[k] -= row[k] * x[r];
  }
  free(env);
  free(first);
  free(offset);
  return result;
}

// J = [H G]', J M^-1 f + [w; b].
static tbResult global_problem(const tbFclib* p, tbProblem** problem, tbError* error) {
  int nc = p->H.cols, ne = p->G.cols, nblock = 0;
  tbFclibMatrix M = {0, 0, NULL, NULL, NULL}, columns = M, J = M;
  tbReal* gamma = calloc((size_t)(nc + ne) + 1, sizeof(tbReal));
  tbReal* free_velocity = calloc((size_t)p->M.rows + 1, sizeof(tbReal));
  tbBlock* blocks = make_blocks(p, ne, &nblock);
  tbResult result = TB_OK;
  if (!gamma || !free_velocity || !blocks) {
    result = tb_fail(error, TB_ERROR_MEMORY, "no memory for the problem");
  }
  if (result == TB_OK) result = symmetric_part(&p->M, "M", &M, error);
  if (result == TB_OK) result = append_columns(&p->H, &p->G, &columns, error);
  if (result == TB_OK) result = tb_fclib_matrix_transpose(&columns, &J, error);
  if (result == TB_OK) result = solve_mass(&M, p->f, free_velocity, error);
  if (result == TB_OK) {
    for (int k = 0; k < nc; k++) gamma[k] = p->w[k];
    for (int k = 0; k < ne; k++) gamma[nc + k] = p->b[k];
    *problem = tb_problem_create_mass(nblock, blocks, M.rows, M.start, M.index, M.value, J.start,
                                      J.index, J.value, NULL, free_velocity, gamma, error);
    if (!*problem) result = error && error->code != TB_OK ? error->code : TB_ERROR_NUMERIC;
  }
  tb_fclib_matrix_free(&M);
  tb_fclib_matrix_free(&columns);
  tb_fclib_matrix_free(&J);
  free(blocks);
  free(gamma);
  free(free_velocity);
  return result;
}

tbResult tb_fclib_problem(const tbFclib* fclib, tbProblem** problem, tbError* error) {
  tb_error_clear(error);
  if (!fclib || !problem) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the content of a file and a result are needed");
  }
  *problem = NULL;
  tbResult result = tb_fclib_check(fclib, error);
  if (result != TB_OK) return result;
  return fclib->global ? global_problem(fclib, problem, error)
                       : local_problem(fclib, problem, error);
}
