#include "solvers/newton/system.h"

#include <string.h>

#include "linalg/dense.h"
#include "linalg/gemm.h"

enum { CHUNK = 64 };

// y_i = block_i x_i for all blocks; y must not be x.
static void apply_blocks(const tbProblem* p, const tbReal* blocks, const int* start,
                         const tbReal* x, tbReal* y) {
  for (int i = 0; i < p->nblock; i++) {
    int d = p->block[i].dim, row = p->block[i].row;
    const tbReal* a = blocks + start[i];
    for (int r = 0; r < d; r++) {
      tbReal sum = 0;
      for (int c = 0; c < d; c++) sum += a[r * d + c] * x[row + c];
      y[row + r] = sum;
    }
  }
}

// The scaled dense matrix. A given dense G may not be exactly symmetric, so both halves are used.
static void scaled_dense(tbSystem* system) {
  const tbProblem* p = system->p;
  size_t n = (size_t)p->n;
  tb_delassus_dense(p, system->G);
  for (size_t i = 0; i < n; i++) {
    tbReal* row = system->G + i * n;
    if (p->R) row[i] += p->R[i];
    for (size_t j = 0; j < n; j++) row[j] *= system->scale[i] * system->scale[j];
  }
}

static void transpose_B(tbSystem* system) {
  for (int i = 0; i < system->n; i++) {
    for (int k = 0; k < system->rank; k++) {
      system->Bt[(size_t)k * (size_t)system->n + (size_t)i] =
          system->B[(size_t)i * (size_t)system->rank + (size_t)k];
    }
  }
}

// B from the product form's rows.
static void product_B(tbSystem* system) {
  const tbDelassus* G = &system->p->G;
  for (int r = 0; r < system->n; r++) {
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      system->B[(size_t)r * (size_t)system->rank + (size_t)G->row_column[k]] =
          G->row_value[k] * system->scale[r];
    }
  }
}

// Find B by pivoted Cholesky, and keep it if velocity space is clearly smaller.
static bool low_rank_B(tbSystem* system, tbSolve* s) {
  size_t n = (size_t)system->n;
  tbReal *B = tb_solve_reals(s, n * n), *work = tb_solve_reals(s, 2 * n);
  int* perm = TB_ARENA_NEW(s->arena, int, n);
  if (s->arena->failed) return false;
  int rank = tb_cholesky_pivoted(system->n, system->G, system->n, 1e-12, B, system->n, work, perm);
  if (rank > 0.7 * system->n) return true;
  system->velocity = true;
  system->rank = rank;
  // Close the gaps between rows.
  for (size_t i = 1; i < n; i++) {
    memmove(B + i * (size_t)rank, B + i * n, (size_t)rank * sizeof *B);
  }
  system->B = B;
  return true;
}

bool tb_system_init(tbSystem* system, tbSolve* s, tbReal* scale) {
  const tbProblem* p = s->p;
  size_t n = (size_t)p->n;
  *system = (tbSystem){.p = p, .n = p->n, .scale = scale};
  bool product = p->G.form == TB_DELASSUS_PRODUCT && !p->R && p->G.ncol < p->n;
  if (product) {
    system->velocity = true;
    system->rank = p->G.ncol;
    system->B = tb_solve_reals(s, n * (size_t)system->rank);
    if (!system->B) return false;
    product_B(system);
  } else {
    system->G = tb_solve_reals(s, n * n);
    if (!system->G) return false;
    scaled_dense(system);
    if (p->n >= 24 && !p->R && !low_rank_B(system, s)) return false;
  }
  system->size = system->velocity ? system->rank : system->n;
  size_t size = (size_t)system->size, longest = n > size ? n : size;
  system->M = tb_solve_reals(s, size * size);
  system->pivot = TB_ARENA_NEW(s->arena, int, size);
  system->w = tb_solve_reals(s, longest);
  system->r = tb_solve_reals(s, longest);
  system->dx = tb_solve_reals(s, longest);
  if (system->velocity) {
    system->Bt = tb_solve_reals(s, n * size);
    system->EB = tb_solve_reals(s, n * size);
  }
  if (s->arena->failed) return false;
  if (system->velocity) transpose_B(system);
  return true;
}

// w = B^T x.
static void transposed_product(const tbSystem* system, const tbReal* x, tbReal* w) {
  memset(w, 0, (size_t)system->rank * sizeof *w);
  for (int i = 0; i < system->n; i++) {
    if (x[i] == 0) continue;
    const tbReal* row = system->B + (size_t)i * (size_t)system->rank;
    for (int k = 0; k < system->rank; k++) w[k] += row[k] * x[i];
  }
}

// y = B w.
static void product(const tbSystem* system, const tbReal* w, tbReal* y) {
  memset(y, 0, (size_t)system->n * sizeof *y);
  for (int k = 0; k < system->rank; k++) {
    const tbReal* row = system->Bt + (size_t)k * (size_t)system->n;
    for (int i = 0; i < system->n; i++) y[i] += row[i] * w[k];
  }
}

void tb_system_apply(const tbSystem* system, const tbReal* x, tbReal* y) {
  if (!system->G) {
    transposed_product(system, x, system->w);
    product(system, system->w, y);
    return;
  }
  size_t n = (size_t)system->n;
  // G is symmetric, so columns can replace rows: this order vectorises.
  memset(y, 0, n * sizeof *y);
  for (size_t j = 0; j < n; j++) {
    const tbReal* row = system->G + j * n;
    tbReal v = x[j];
    if (v == 0) continue;
    for (size_t i = 0; i < n; i++) y[i] += row[i] * v;
  }
}

// LU of I + B^T E B, formed a chunk of rows at a time.
static bool factor_velocity(tbSystem* system, const tbReal* E, const int* start) {
  const tbProblem* p = system->p;
  size_t size = (size_t)system->size;
  memset(system->M, 0, size * size * sizeof *system->M);
  for (size_t k = 0; k < size; k++) system->M[k * (size + 1)] = 1;
  for (int i = 0; i < p->nblock; i++) {
    int d = p->block[i].dim, row = p->block[i].row;
    const tbReal* a = E + start[i];
    for (int r = 0; r < d; r++) {
      tbReal* out = system->EB + (size_t)(row + r) * size;
      memset(out, 0, size * sizeof *out);
      for (int c = 0; c < d; c++) {
        tbReal f = a[r * d + c];
        const tbReal* in = system->B + (size_t)(row + c) * size;
        for (size_t k = 0; k < size; k++) out[k] += f * in[k];
      }
    }
  }
  for (int k = 0; k < system->n; k += CHUNK) {
    int width = system->n - k < CHUNK ? system->n - k : CHUNK;
    tb_gemm_add(system->size, system->size, width, system->Bt + k, system->n,
                system->EB + (size_t)k * size, system->size, system->M, system->size);
  }
  return tb_lu(system->size, system->M, system->size, system->pivot);
}

bool tb_system_factor(tbSystem* system, const tbReal* H, const tbReal* E, const int* start) {
  const tbProblem* p = system->p;
  size_t n = (size_t)system->n;
  system->H = H;
  system->E = E;
  system->start = start;
  if (!system->velocity) {
    memcpy(system->M, system->G, n * n * sizeof *system->M);
    for (int i = 0; i < p->nblock; i++) {
      int d = p->block[i].dim, row = p->block[i].row;
      for (int r = 0; r < d; r++) {
        for (int c = 0; c < d; c++) {
          system->M[(size_t)(row + r) * n + (size_t)(row + c)] += H[start[i] + r * d + c];
        }
      }
    }
    return tb_lu(system->n, system->M, system->n, system->pivot);
  }

  return factor_velocity(system, E, start);
}

static void solve_once(tbSystem* system, const tbReal* b, tbReal* x) {
  size_t n = (size_t)system->n;
  if (!system->velocity) {
    memcpy(x, b, n * sizeof *x);
    tb_lu_solve(system->n, system->M, system->n, system->pivot, x);
    return;
  }
  // x = E (b - B w), (I + B^T E B) w = B^T E b.
  apply_blocks(system->p, system->E, system->start, b, x);
  transposed_product(system, x, system->w);
  tb_lu_solve(system->size, system->M, system->size, system->pivot, system->w);
  tbReal* t = system->dx;
  product(system, system->w, t);
  for (size_t i = 0; i < n; i++) t[i] = b[i] - t[i];
  apply_blocks(system->p, system->E, system->start, t, x);
}

void tb_system_solve(tbSystem* system, const tbReal* b, int refinements, tbReal* x) {
  size_t n = (size_t)system->n;
  solve_once(system, b, x);
  for (int k = 0; k < refinements; k++) {
    // r = b - (G + H) x; `r` is free while solve_once uses w and dx.
    tbReal* t = system->dx;
    tb_system_apply(system, x, t);
    apply_blocks(system->p, system->H, system->start, x, system->r);
    for (size_t i = 0; i < n; i++) system->r[i] = b[i] - t[i] - system->r[i];
    tbReal* step = system->EB && system->n > 0 ? system->EB : NULL;
    if (step) {
      // EB is free between factorisations.
      solve_once(system, system->r, step);
      for (size_t i = 0; i < n; i++) x[i] += step[i];
    } else {
      tb_lu_solve(system->n, system->M, system->n, system->pivot, system->r);
      for (size_t i = 0; i < n; i++) x[i] += system->r[i];
    }
  }
}

bool tb_system_factor_mixed(tbSystem* system, const tbReal* C, const tbReal* D, const tbReal* E,
                            const int* start) {
  const tbProblem* p = system->p;
  size_t n = (size_t)system->n;
  system->E = E;
  system->start = start;
  if (system->velocity) return factor_velocity(system, E, start);
  for (int i = 0; i < p->nblock; i++) {
    int d = p->block[i].dim, row = p->block[i].row;
    const tbReal *c = C + start[i], *f = D + start[i];
    for (int r = 0; r < d; r++) {
      tbReal* out = system->M + (size_t)(row + r) * n;
      memset(out, 0, n * sizeof *out);
      for (int k = 0; k < d; k++) {
        if (f[r * d + k] == 0) continue;
        const tbReal* in = system->G + (size_t)(row + k) * n;
        for (size_t j = 0; j < n; j++) out[j] += f[r * d + k] * in[j];
      }
      for (int k = 0; k < d; k++) out[row + k] += c[r * d + k];
    }
  }
  return tb_lu(system->n, system->M, system->n, system->pivot);
}

void tb_system_solve_mixed(tbSystem* system, const tbReal* b, const tbReal* Cb, tbReal* x) {
  size_t n = (size_t)system->n;
  if (!system->velocity) {
    memcpy(x, b, n * sizeof *x);
    tb_lu_solve(system->n, system->M, system->n, system->pivot, x);
    return;
  }
  // x = C^-1 b - E B w, (I + B^T E B) w = B^T C^-1 b.
  transposed_product(system, Cb, system->w);
  tb_lu_solve(system->size, system->M, system->size, system->pivot, system->w);
  product(system, system->w, system->dx);
  apply_blocks(system->p, system->E, system->start, system->dx, x);
  for (size_t i = 0; i < n; i++) x[i] = Cb[i] - x[i];
}
