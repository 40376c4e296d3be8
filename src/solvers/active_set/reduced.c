// Contact-space reduction. Contacts depend on a robot only through the twists of its bodies in
// contact: J = P J_b with six rows of J_b for a body, however many contacts it has. Equalities e
// are always active. With the rows of B = [J_e; J_b] H^-1/2, dl the change of impulses and sigma
// the velocity before that change,
//
//     B B^T + [R_e, 0] = U^T U,   U = [U_ee U_eb; 0 C^T]                                       (9)
//     t = U_ee^-T sigma_e,   dl_e = -U_ee^-1 (t + U_eb P^T dl_c)                              (10)
//     sigma_c + P (-U_eb^T t) + (P C C^T P^T + R) dl_c                                        (11)
//
// where (11) is the new velocity of all other rows. So the reduced problem has H = 1 and J = P C,
// with as many columns as C has pivots, and everything else unchanged.
#include "solvers/active_set/reduced.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "linalg/simd4.h"
#include "solvers/active_set/state.h"
#include "operator/velocity_dense.h"

enum { TWIST = 6 };

// The tolerance of the reduced problem, as a share of the island's; the remainder allows for
// rounding errors of the equalities.
static const tbReal SHARE = 0.9;
// A row whose diagonal is below this share of its estimate keeps the estimate.
static const tbReal LITTLE = 1e-6;

// ---- classification of rows --------------------------------------------------------------------

static bool is_equality(const tbReduced* s, int i) {
  return s->a->p->block[i].type == TB_BLOCK_EQUALITY;
}

int tb_active_reduced_rows(const tbActive* a, const tbReducedSpace* twists) {
  int count = TWIST * twists->count;
  for (int i = 0; i < a->p->nblock; i++) {
    const tbBlock* b = &a->p->block[i];
    if (b->type != TB_BLOCK_EQUALITY && twists->of[i] < 0) count += b->dim;
  }
  return count;
}

// Assign base rows to all blocks; returns the number of kept blocks.
static int sort_blocks(tbReduced* s) {
  const tbProblem* p = s->a->p;
  int kept = 0;
  for (int i = 0; i < p->nblock; i++) {
    if (!is_equality(s, i)) continue;
    s->at[i] = s->nequal;
    s->nequal += p->block[i].dim;
  }
  s->nbase = s->nequal + TWIST * s->twists->count;
  for (int i = 0; i < p->nblock; i++) {
    int twist = s->twists->of[i];
    if (is_equality(s, i)) continue;
    kept++;
    s->problem.n += p->block[i].dim;
    s->at[i] = twist >= 0 ? s->nequal + TWIST * twist : s->nbase;
    if (twist < 0) s->nbase += p->block[i].dim;
  }
  s->stride = (s->nbase + 3) & ~3;
  return kept;
}

// x += J^T f; out += J x, for the reduced problem.
static void add_impulse(const tbRows* rows, const tbReal* f, tbReal* x) {
  for (int r = 0; r < rows->dim; r++) {
    const tbReal* J = rows->J + r * rows->nnz;
    if (f[r] == 0) continue;
    for (int k = 0; k < rows->nnz; k++) x[k] += J[k] * f[r];
  }
}

static void add_velocity(const tbRows* rows, const tbReal* x, tbReal* out) {
  for (int r = 0; r < rows->dim; r++) {
    const tbReal* J = rows->J + r * rows->nnz;
    tbReal sum = 0;
    for (int k = 0; k < rows->nnz; k++) sum += J[k] * x[k];
    out[r] += sum;
  }
}

// ---- base rows ---------------------------------------------------------------------------------

typedef struct {
  int n;
  int* place;            // by dof
  tbReal* Bt;            // B transposed: by dof, then by base row
  tbReal* half;          // scratch
  tbReal* diagonal;      // by base row
  const tbRows** block;  // by base row, where a block of them begins: its rows
  int* list;             // scratch: offset in Bt of each dof that moves a block
} Base;

// Half-solve some rows, unless `half` holds them, and store them in the columns from `at` on.
static void add_base_rows(const tbReduced* s, const Base* base, const tbRows* rows,
                          const tbReal* half, int at) {
  int nnz = rows->nnz;
  base->block[at] = rows;
  if (!half) {
    half = base->half;
    memcpy(base->half, rows->J, sizeof(tbReal) * (size_t)(rows->dim * nnz));
    const tbForestInertia* m = &s->a->inertia;
    tb_ltdl_half_solve_support(m->forest, m->LD, m->inverse, rows->col, nnz, base->half, nnz,
                               rows->dim);
  }
  for (int k = 0; k < nnz; k++) {
    tbReal* to = base->Bt + base->place[rows->col[k]] * s->stride + at;
    const tbReal* from = half + k;
    for (int r = 0; r < rows->dim; r++, from += nnz) to[r] = *from;
  }
}

// sum += or -= rows of z, each times its own entry z[own]; `parts` SIMD registers hold the sum. The
// rows start at the offsets in `list`, or are consecutive if it is NULL.
TB_INLINE void add_rows(int parts, int depth, const int* list, int stride, const tbReal* z, int own,
                        bool add, tbPart* sum) {
#define ROW(r) (z + (list ? list[r] : (r)*stride))
  int r = 0;
  for (; r + 3 <= depth; r += 3) {
    const tbReal *z0 = ROW(r), *z1 = ROW(r + 1), *z2 = ROW(r + 2);
    tbReal a0 = z0[own], a1 = z1[own], a2 = z2[own];
    for (int p = 0; p < parts; p++, z0 += TB_PART, z1 += TB_PART, z2 += TB_PART) {
      tbPart three = a0 * *(const tbPart*)z0 + a1 * *(const tbPart*)z1 + a2 * *(const tbPart*)z2;
      sum[p] = add ? sum[p] + three : sum[p] - three;
    }
  }
  for (; r < depth; r++) {
    const tbReal* z0 = ROW(r);
    tbReal a0 = z0[own];
    for (int p = 0; p < parts; p++) {
      tbPart one = a0 * *(const tbPart*)(z0 + p * TB_PART);
      sum[p] = add ? sum[p] + one : sum[p] - one;
    }
  }
#undef ROW
}

// Entries j and up of row k of U: those of B B^T, over the dofs that move the row, minus the
// contributions of the rows above.
TB_INLINE void fill_row(int parts, const tbReduced* s, const Base* base, int k, int dofs, int j) {
  enum { MOST = 4 * TB_PARTS };
  tbPart sum[MOST];
  tbReal* y = s->U + k * s->stride + j;
  for (int p = 0; p < parts; p++) sum[p] = *(const tbPart*)(y + p * TB_PART);
  add_rows(parts, dofs, base->list, 0, base->Bt + j, k - j, true, sum);
  add_rows(parts, k, NULL, s->stride, s->U + j, k - j, false, sum);
  for (int p = 0; p < parts; p++) *(tbPart*)(y + p * TB_PART) = sum[p];
}

// The diagonal of B B^T + R.
TB_INLINE void fill_diagonal(const tbReduced* s, const Base* base) {
  tbReal* TB_RESTRICT diagonal = base->diagonal;
  for (int k = 0; k < s->stride; k++) diagonal[k] = k < s->nbase ? s->U[k * (s->stride + 1)] : 0;
  for (int i = 0; i < base->n; i++) {
    const tbReal* TB_RESTRICT row = base->Bt + i * s->stride;
    for (int k = 0; k < s->stride; k++) diagonal[k] += row[k] * row[k];
  }
}

// U of (9), row by row: the row of B B^T + R minus the contributions of the rows of U above it. R
// is stored beforehand, because a SIMD load stalls on a scalar that was stored just before. The
// code does not test for zeros, since such a test waits for every row. A pivot at rounding level is
// skipped, since nothing moves along it; false if it belongs to an equality.
TB_INLINE bool factor_base(const tbReduced* s, const Base* base) {
  int stride = s->stride, end = 0, dofs = 0;
  fill_diagonal(s, base);
  for (int k = 0; k < s->nbase; k++) {
    if (k == end) {
      const tbRows* rows = base->block[k];
      end += rows->dim;
      dofs = rows->nnz;
      for (int i = 0; i < dofs; i++) base->list[i] = base->place[rows->col[i]] * stride;
    }
    int start = k & ~3, j = start;
    for (; j + 16 <= stride; j += 16) fill_row(4 * TB_PARTS, s, base, k, dofs, j);
    if (j + 8 <= stride) {
      fill_row(2 * TB_PARTS, s, base, k, dofs, j);
      j += 8;
    }
    if (j < stride) fill_row(TB_PARTS, s, base, k, dofs, j);
    tbReal* TB_RESTRICT row = s->U + k * stride;
    bool holds = row[k] > TB_LEAST_PIVOT * base->diagonal[k];
    if (!(row[k] < INFINITY) || (!holds && k < s->nequal)) return false;
    tbReal scale = holds ? 1 / sqrt(row[k]) : 0;
    for (j = start; j < stride; j++) row[j] *= j < k ? 0 : scale;
  }
  return true;
}

static bool factor_generic(const tbReduced* s, const Base* base) {
  return factor_base(s, base);
}

TB_WIDE static bool factor_avx2(const tbReduced* s, const Base* base) {
  return factor_base(s, base);
}

// Allocate the base rows and fill B.
static bool fill_base(tbReduced* s, tbArena* arena, Base* base) {
  const tbActive* a = s->a;
  int widest = 0, nv = a->inertia.forest.n;
  for (int i = 0; i < a->p->nblock; i++) {
    int size = a->block[i].dim * a->block[i].nnz;
    if (size > widest) widest = size;
  }
  for (int i = 0; i < s->twists->count; i++) {
    int size = TWIST * s->twists->twist[i].nnz;
    if (size > widest) widest = size;
  }
  base->place = tb_arena_alloc(arena, sizeof(int) * (size_t)(nv + 1));
  if (!base->place) return false;
  for (int t = 0; t < a->inertia.ntree; t++) {
    const tbRange* tree = &a->inertia.tree[t];
    for (int k = tree->first; k < tree->end; k++) base->place[k] = base->n++;
  }
  size_t size = (size_t)((base->n + s->nbase) * s->stride + 4);
  s->f = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->stride + 4));
  s->shift = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->stride + 4));
  s->offset = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->stride + 4));
  base->Bt = tb_arena_alloc(arena, sizeof(tbReal) * size);
  base->block = tb_arena_alloc(arena, sizeof(tbRows*) * (size_t)(s->nbase + 1));
  base->diagonal = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->stride + 1));
  base->list = tb_arena_alloc(arena, sizeof(int) * (size_t)(base->n + 1));
  base->half = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(widest + 4));
  if (arena->failed) return false;
  memset(base->Bt, 0, sizeof(tbReal) * size);
  s->U = base->Bt + base->n * s->stride;
  for (int i = 0; i < a->p->nblock; i++) {
    if (is_equality(s, i) || s->twists->of[i] < 0)
      add_base_rows(s, base, &a->block[i], s->twists->half[i], s->at[i]);
  }
  for (int i = 0; i < s->twists->count; i++) {
    add_base_rows(s, base, &s->twists->twist[i], NULL, s->nequal + TWIST * i);
  }
  return true;
}

// (9). Sets `possible`.
static bool build_base(tbReduced* s, tbArena* arena) {
  const tbProblem* p = s->a->p;
  Base base = {0};
  if (!fill_base(s, arena, &base)) return false;
  for (int i = 0; i < p->nblock && p->R; i++) {
    if (!is_equality(s, i)) continue;
    for (int r = 0; r < p->block[i].dim; r++) {
      s->U[(s->at[i] + r) * (s->stride + 1)] = p->R[p->block[i].row + r];
    }
  }
  s->possible = tb_wide() ? factor_avx2(s, &base) : factor_generic(s, &base);
  return true;
}

// ---- the reduced problem -----------------------------------------------------------------------

// t of (10) in the rows of equalities, and the shift of (11) in the others, for velocities sigma.
static void fill_shift(const tbReduced* s, const tbReal* sigma, tbReal* shift) {
  const tbProblem* p = s->a->p;
  memset(shift, 0, sizeof(tbReal) * (size_t)s->stride);
  for (int i = 0; i < p->nblock && s->nequal > 0; i++) {
    if (!is_equality(s, i)) continue;
    memcpy(shift + s->at[i], sigma + p->block[i].row, sizeof(tbReal) * (size_t)p->block[i].dim);
  }
  // Forward substitution with U_ee^T, continued through U_eb^T.
  for (int k = 0; k < s->nequal; k++) {
    const tbReal* row = s->U + k * s->stride;
    tbReal t = shift[k] /= row[k];
    for (int j = k + 1; j < s->nbase; j++) shift[j] -= row[j] * t;
  }
}

// out += P y of a kept block.
static void add_from_base(const tbReduced* s, int i, const tbReal* y, tbReal* out) {
  int dim = s->a->p->block[i].dim;
  const tbReal *from = y + s->at[i], *P = s->twists->P[i];
  for (int r = 0; r < dim; r++) {
    if (s->twists->of[i] < 0) {
      out[r] += from[r];
      continue;
    }
    for (int q = 0; q < TWIST; q++) out[r] += P[r * TWIST + q] * from[q];
  }
}

// y += P^T f.
static void add_to_base(const tbReduced* s, int i, const tbReal* f, tbReal* y) {
  int dim = s->a->p->block[i].dim;
  tbReal* to = y + s->at[i];
  const tbReal* P = s->twists->P[i];
  for (int r = 0; r < dim; r++) {
    if (s->twists->of[i] < 0) {
      to[r] += f[r];
      continue;
    }
    for (int q = 0; q < TWIST; q++) to[q] += P[r * TWIST + q] * f[r];
  }
}

// Rows P C of a block over the columns that have a pivot.
static int fill_columns(const tbReduced* s, int i, tbReal* J) {
  int dim = s->a->p->block[i].dim, at = s->at[i], twist = s->twists->of[i];
  int end = at + (twist >= 0 ? TWIST : dim), width = 0, column = 0;
  for (int k = s->nequal; k < end; k++) width += s->U[k * (s->stride + 1)] != 0;
  for (int k = s->nequal; k < end; k++) {
    const tbReal *row = s->U + k * s->stride + at, *P = s->twists->P[i];
    if (s->U[k * (s->stride + 1)] == 0) continue;
    for (int r = 0; r < dim; r++) {
      if (twist >= 0) {
        const tbReal* p = P + r * TWIST;
        J[r * width + column] = (p[0] * row[0] + p[1] * row[1] + p[2] * row[2]) +
                                (p[3] * row[3] + p[4] * row[4] + p[5] * row[5]);
      } else {
        J[r * width + column] = row[r];
      }
    }
    column++;
  }
  return width;
}

// The diagonal of J J^T of a block, with one value for the three directions of a contact; a row
// that hardly moves keeps its estimate.
static void fill_rho(int dim, int width, const tbReal* J, tbReal* rho) {
  tbReal diagonal[TB_MAX_BLOCK_DIM], linear = 0;
  for (int r = 0; r < dim; r++) {
    diagonal[r] = 0;
    for (int k = 0; k < width; k++) diagonal[r] += J[r * width + k] * J[r * width + k];
    if (r < 3) linear = tb_max(linear, diagonal[r]);
  }
  for (int r = 0; r < dim; r++) {
    tbReal size = r < 3 ? linear : diagonal[r];
    if (size > LITTLE * rho[r]) rho[r] = size;
  }
}

// A forest of `n` uncoupled dofs with unit inertia.
static bool unit_forest(tbActive* small, tbArena* arena, int n) {
  int* index = tb_arena_alloc(arena, sizeof(int) * (size_t)(2 * n + 2));
  tbReal* one = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(n + 1));
  tbRange* tree = tb_arena_alloc(arena, sizeof(tbRange));
  if (!index || !one || !tree) return false;
  for (int k = 0; k < n; k++) {
    index[k] = k;
    index[n + k] = 1;
    one[k] = 1;
  }
  *tree = (tbRange){0, n};
  small->inertia = (tbForestInertia){.forest = {n, index, index + n, index, index},
                                     .M = one,
                                     .LD = one,
                                     .inverse = one,
                                     .ntree = 1,
                                     .tree = tree};
  return true;
}

// Copy the kept blocks: R, rho, first impulses and their velocity.
static bool copy_kept(tbReduced* s, tbArena* arena, int kept) {
  const tbProblem* p = s->a->p;
  size_t n = (size_t)s->problem.n + 1;
  tbBlock* block = tb_arena_alloc(arena, sizeof(tbBlock) * (size_t)(kept + 1));
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(kept + 1));
  s->kept = tb_arena_alloc(arena, sizeof(int) * (size_t)(kept + 1));
  tbReal* vectors = tb_arena_alloc(arena, sizeof(tbReal) * 5 * n);
  tbReal* J = tb_arena_alloc(arena, sizeof(tbReal) * n * (size_t)(s->nbase - s->nequal + 1));
  if (arena->failed) return false;
  tbReal *R = vectors, *rho = R + n;
  s->g = rho + n;
  s->first = s->g + n;
  s->velocity = s->first + n;
  for (int i = 0, k = 0, row = 0; i < p->nblock; i++) {
    int dim = p->block[i].dim, from = p->block[i].row;
    if (is_equality(s, i)) continue;
    block[k] = p->block[i];
    block[k].row = row;
    s->kept[k] = i;
    int width = fill_columns(s, i, J);
    rows[k++] = (tbRows){dim, width, s->reduced.inertia.forest.colind, J};
    for (int r = 0; r < dim; r++, row++) {
      R[row] = p->R ? p->R[from + r] : 0;
      rho[row] = s->a->rho[from + r];
      s->first[row] = s->lambda[from + r];
      s->velocity[row] = s->sigma[from + r];
    }
    add_from_base(s, i, s->shift, s->velocity + row - dim);
    fill_rho(dim, width, J, rho + row - dim);
    J += dim * width;
  }
  s->problem.nblock = kept;
  s->problem.block = block;
  s->problem.R = R;
  s->problem.g = s->g;
  s->reduced.block = rows;
  s->reduced.rho = rho;
  return true;
}

static tbReal largest(int n, const tbReal* x) {
  tbReal most = 0;
  for (int r = 0; r < n; r++) most = tb_max(most, fabs(x[r]));
  return most;
}

// g of the reduced problem: the velocity at the first impulses minus their contribution.
static void fill_free(tbReduced* s) {
  const tbProblem* p = &s->problem;
  const tbActive* small = &s->reduced;
  tbReal* x = s->f;
  memset(x, 0, sizeof(tbReal) * (size_t)s->stride);
  for (int k = 0; k < p->nblock; k++) {
    add_impulse(&small->block[k], s->first + p->block[k].row, x);
  }
  for (int k = 0; k < p->nblock; k++) {
    int row = p->block[k].row;
    tbReal sum[TB_MAX_BLOCK_DIM] = {0};
    add_velocity(&small->block[k], x, sum);
    for (int r = 0; r < p->block[k].dim; r++) {
      s->g[row + r] = s->velocity[row + r] - sum[r] - p->R[row + r] * s->first[row + r];
    }
  }
}

bool tb_active_reduce(const tbActive* a, const tbReducedSpace* twists, tbArena* arena,
                      const tbReal* lambda, const tbReal* sigma, tbReduced* s) {
  *s = (tbReduced){.a = a, .twists = twists, .lambda = lambda, .sigma = sigma, .reduced = *a};
  s->at = tb_arena_alloc(arena, sizeof(int) * (size_t)(a->p->nblock + 1));
  if (!s->at) return false;
  int kept = sort_blocks(s), rank = 0;
  if (!build_base(s, arena)) return false;
  if (!s->possible) return true;
  fill_shift(s, sigma, s->shift);
  for (int k = s->nequal; k < s->nbase; k++) rank += s->U[k * (s->stride + 1)] != 0;
  if (!unit_forest(&s->reduced, arena, rank) || !copy_kept(s, arena, kept)) return false;
  fill_free(s);
  // The reduced problem allows the same velocity error as the island.
  tbReal all = largest(a->p->n, a->p->g), left = largest(s->problem.n, s->problem.g);
  s->scale = all > 0 && left > 0 ? all / left : 1;
  s->reduced.p = &s->problem;
  s->reduced.tolerance = SHARE * a->tolerance * s->scale;
  s->reduced.acceptable = 0;
  s->reduced.start_residual = NULL;
  s->reduced.resting_start = NULL;
  s->reduced.last_applied = NULL;
  s->reduced.carried_error_removed = &s->carried_error_removed;
  return true;
}

// ---- expansion ---------------------------------------------------------------------------------

// Impulses of all rows, for t of (10) in `shift`.
static void expand(const tbReduced* s, const tbReal* small, const tbReal* shift, tbReal* lambda) {
  const tbProblem* p = s->a->p;
  tbReal* f = s->f;
  memset(f, 0, sizeof(tbReal) * (size_t)s->stride);
  for (int k = 0; k < s->problem.nblock; k++) {
    int i = s->kept[k], row = p->block[i].row, from = s->problem.block[k].row;
    tbReal change[TB_MAX_BLOCK_DIM];
    for (int r = 0; r < p->block[i].dim; r++) {
      change[r] = small[from + r] - s->first[from + r];
      lambda[row + r] = small[from + r];
    }
    if (s->nequal > 0) add_to_base(s, i, change, f);
  }
  // Backward substitution (10) with U_ee.
  for (int k = s->nequal - 1; k >= 0; k--) {
    const tbReal* row = s->U + k * s->stride;
    tbReal sum = shift[k];
    for (int j = s->nequal; j < s->nbase; j++) sum += row[j] * f[j];
    for (int j = k + 1; j < s->nequal; j++) sum += row[j] * f[j];
    f[k] = -sum / row[k];
  }
  for (int i = 0; i < p->nblock && s->nequal > 0; i++) {
    int row = p->block[i].row;
    for (int r = 0; r < p->block[i].dim && is_equality(s, i); r++) {
      lambda[row + r] = s->lambda[row + r] + f[s->at[i] + r];
    }
  }
}

void tb_active_expand(const tbReduced* s, const tbReal* small, tbReal* lambda) {
  expand(s, small, s->shift, lambda);
}

// ---- reduce, solve, expand ---------------------------------------------------------------------

// `carried_error` (active_set.h) of the reduced problem. Equalities whose velocity error exceeds
// what the last step left are moving: then there is no resting warm start.
static bool reduce_carried_error(tbReduced* s, tbArena* arena) {
  const tbActive* a = s->a;
  const tbProblem* p = a->p;
  tbReal most = TB_CARRIED_ERROR_MOST * a->last_residual * largest(p->n, p->g);
  for (int i = 0; i < p->nblock; i++) {
    if (!is_equality(s, i)) continue;
    if (!(largest(p->block[i].dim, a->carried_error + p->block[i].row) <= most)) return true;
  }
  size_t n = (size_t)s->problem.n + 1;
  tbReal* vectors = tb_arena_alloc(arena, sizeof(tbReal) * 2 * n);
  if (!vectors) return false;
  fill_shift(s, a->carried_error, s->offset);
  for (int k = 0; k < s->problem.nblock; k++) {
    int i = s->kept[k], row = s->problem.block[k].row;
    memcpy(vectors + row, a->carried_error + p->block[i].row,
           sizeof(tbReal) * (size_t)p->block[i].dim);
    add_from_base(s, i, s->offset, vectors + row);
  }
  s->reduced.carried_error = vectors;
  s->reduced.last_residual = a->last_residual * s->scale;
  s->reduced.resting_start = vectors + n;
  return true;
}

// The resting impulses of the island, without the carried velocity error if it was removed.
static void expand_rest(const tbReduced* s, const tbReal* lambda) {
  if (s->reduced.resting_start) {
    for (int k = 0; k < s->stride && s->carried_error_removed; k++)
      s->offset[k] = s->shift[k] - s->offset[k];
    expand(s, s->reduced.resting_start, s->carried_error_removed ? s->offset : s->shift,
           s->a->resting_start);
  } else {
    memcpy(s->a->resting_start, lambda, sizeof(tbReal) * (size_t)s->a->p->n);
  }
}

bool tb_active_solve_reduced(const tbActive* a, const tbReducedSpace* twists, tbArena* arena,
                             const tbReal* sigma, tbReal* lambda, tbSolveInfo* info) {
  tbReduced s;
  tbVelocity system;
  const tbActive* left = &s.reduced;
  *info = (tbSolveInfo){.status = TB_SOLVE_MAX_ITERATIONS, .law = tb_law_name(a->law)};
  info->solver = "active-set";
  tbReal* guess = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(a->p->n + 1));
  if (!guess) return false;
  memcpy(guess, lambda, sizeof(tbReal) * (size_t)a->p->n);
  if (!tb_active_reduce(a, twists, arena, guess, sigma, &s)) return false;
  if (!s.possible) return true;
  if (a->resting_start && !reduce_carried_error(&s, arena)) return false;
  s.reduced.system = &system;
  tbReal* small = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s.problem.n + 1));
  if (!small) return false;
  memcpy(small, s.first, sizeof(tbReal) * (size_t)s.problem.n);
  if (!tb_velocity_build_dense(&system, arena, &left->inertia, s.problem.nblock, left->block,
                               NULL) ||
      !tb_active_solve(left, arena, s.velocity, small, info)) {
    return false;
  }
  if (info->status != TB_SOLVE_CONVERGED) return true;
  tb_active_expand(&s, small, lambda);
  if (a->resting_start) expand_rest(&s, lambda);
  return true;
}
