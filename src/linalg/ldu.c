#include "linalg/ldu.h"

#include <math.h>
#include <string.h>

#include "base/kernel.h"
#include "linalg/simd4.h"
#include "linalg/simd6.h"

enum { SIX = 6 };    // rows of a free body: nodes of this size have code with constant sizes
enum { GROUP = 4 };  // most nodes that are eliminated together

// ---- pattern -----------------------------------------------------------------------------------

static void sort_ints(int* x, int n) {
  for (int gap = n > 16 ? n / 3 : 1; gap > 0; gap = gap > 1 && gap < 3 ? 1 : gap / 3) {
    for (int i = gap; i < n; i++) {
      int v = x[i], j = i;
      for (; j >= gap && x[j - gap] > v; j -= gap) x[j] = x[j - gap];
      x[j] = v;
    }
  }
}

// Memory of the lists of later nodes, which grows as nodes are found.
typedef struct {
  tbArena* arena;
  int* list;
  int count, capacity;
} Lists;

static bool reserve(Lists* l, int extra) {
  if (l->count + extra <= l->capacity) return true;
  int capacity = 2 * (l->count + extra);
  int* grown = tb_arena_alloc(l->arena, sizeof(int) * (size_t)capacity);
  if (!grown) return false;
  memcpy(grown, l->list, sizeof(int) * (size_t)l->count);
  l->list = grown;
  l->capacity = capacity;
  return true;
}

// Find the later nodes of each node k: its own neighbours and the later nodes of those nodes whose
// first later node is k.
static bool find_later(tbLdu* ldu, tbArena* arena, const int* edge_start, const int* edge) {
  int n = ldu->nodes;
  int* child = tb_arena_alloc(arena, sizeof(int) * (size_t)(n + 1));
  int* sibling = tb_arena_alloc(arena, sizeof(int) * (size_t)(n + 1));
  int* mark = tb_arena_alloc(arena, sizeof(int) * (size_t)(n + 1));
  Lists lists = {.arena = arena, .capacity = edge_start[n] + 4 * n + 16};
  lists.list = tb_arena_alloc(arena, sizeof(int) * (size_t)lists.capacity);
  if (!child || !sibling || !mark || !lists.list) return false;
  for (int k = 0; k <= n; k++) child[k] = mark[k] = -1;
  for (int k = 0; k < n; k++) {
    int begin = lists.count, size = edge_start[k + 1] - edge_start[k];
    for (int c = child[k]; c >= 0; c = sibling[c]) size += ldu->start[c + 1] - ldu->start[c];
    if (!reserve(&lists, size)) return false;
    ldu->start[k] = begin;
    mark[k] = k;
    for (int e = edge_start[k]; e < edge_start[k + 1]; e++) {
      if (mark[edge[e]] == k) continue;
      mark[edge[e]] = k;
      lists.list[lists.count++] = edge[e];
    }
    for (int c = child[k]; c >= 0; c = sibling[c]) {
      for (int e = ldu->start[c]; e < ldu->start[c + 1]; e++) {
        int b = lists.list[e];
        if (mark[b] == k) continue;
        mark[b] = k;
        lists.list[lists.count++] = b;
      }
    }
    sort_ints(lists.list + begin, lists.count - begin);
    ldu->start[k + 1] = lists.count;
    if (lists.count > begin) {
      int parent = lists.list[begin];
      sibling[k] = child[parent];
      child[parent] = k;
    }
  }
  ldu->later = lists.list;
  return true;
}

// Find groups of consecutive nodes of six rows with the same later nodes.
static void find_groups(tbLdu* ldu) {
  for (int k = ldu->nodes - 1; k >= 0; k--) {
    int begin = ldu->start[k], end = ldu->start[k + 1];
    bool same = ldu->six[k] && end > begin && ldu->later[begin] == k + 1 &&
                end - begin - 1 == ldu->start[k + 2] - end;
    ldu->group[k] = same && ldu->group[k + 1] - k <= GROUP ? ldu->group[k + 1] : k + 1;
  }
}

bool tb_ldu_analyze(tbLdu* ldu, tbArena* arena, int nodes, const int* dim, const int* edge_start,
                    const int* edge) {
  size_t n = (size_t)nodes + 1;
  memset(ldu, 0, sizeof *ldu);
  ldu->nodes = nodes;
  ldu->dim = dim;
  ldu->first = tb_arena_alloc(arena, sizeof(int) * n);
  ldu->start = tb_arena_alloc(arena, sizeof(int) * n);
  ldu->width = tb_arena_alloc(arena, sizeof(int) * n);
  ldu->at = tb_arena_alloc(arena, sizeof(size_t) * n);
  ldu->skew = tb_arena_alloc(arena, sizeof(size_t) * n);
  ldu->six = tb_arena_alloc(arena, sizeof(bool) * n);
  ldu->group = tb_arena_alloc(arena, sizeof(int) * n);
  if (arena->failed) return false;
  ldu->start[0] = 0;
  if (!find_later(ldu, arena, edge_start, edge)) return false;
  ldu->column = tb_arena_alloc(arena, sizeof(int) * (size_t)(ldu->start[nodes] + 1));
  if (!ldu->column) return false;
  ldu->first[0] = 0;
  int widest = 0;
  for (int k = 0; k < nodes; k++) {
    int width = 0;
    ldu->six[k] = dim[k] == SIX;
    for (int e = ldu->start[k]; e < ldu->start[k + 1]; e++) {
      ldu->column[e] = width;
      width += dim[ldu->later[e]];
      ldu->six[k] = ldu->six[k] && dim[ldu->later[e]] == SIX;
    }
    ldu->width[k] = width;
    if (width > widest) widest = width;
    ldu->first[k + 1] = ldu->first[k] + dim[k];
    ldu->at[k] = ldu->size;
    ldu->skew[k] = ldu->mirror_size;
    ldu->size += (size_t)dim[k] * (size_t)(dim[k] + width);
    ldu->mirror_size += (size_t)dim[k] * (size_t)width;
    ldu->flops += (double)dim[k] * width * width;
  }
  find_groups(ldu);
  ldu->value = tb_arena_alloc(arena, sizeof(tbReal) * (ldu->size + 1));
  ldu->mirror = tb_arena_alloc(arena, sizeof(tbReal) * (ldu->mirror_size + 1));
  ldu->pivot = tb_arena_alloc(arena, sizeof(int) * (size_t)(ldu->first[nodes] + 1));
  ldu->inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(ldu->first[nodes] + 1));
  ldu->scratch = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(widest + 1));
  return ldu->value && ldu->mirror && ldu->pivot && ldu->inverse && ldu->scratch;
}

int tb_ldu_column(const tbLdu* ldu, int a, int b) {
  int low = ldu->start[a], high = ldu->start[a + 1];
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (ldu->later[middle] <= b) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return ldu->column[low];
}

// ---- numbers -----------------------------------------------------------------------------------

// D = L L^T in place, in the lower triangle; `inverse` receives the reciprocals of L's diagonal.
TB_INLINE bool factor_symmetric(int n, tbReal* D, tbReal* inverse) {
  for (int j = 0; j < n; j++) {
    tbReal d = D[j * n + j];
    for (int k = 0; k < j; k++) d -= D[j * n + k] * D[j * n + k];
    if (!(d > 0) || !isfinite(d)) return false;
    d = sqrt(d);
    D[j * n + j] = d;
    inverse[j] = 1 / d;
    for (int i = j + 1; i < n; i++) {
      tbReal sum = D[i * n + j];
      for (int k = 0; k < j; k++) sum -= D[i * n + k] * D[j * n + k];
      D[i * n + j] = sum * inverse[j];
    }
  }
  return true;
}

// P D = L U in place, L with a unit diagonal; `inverse` receives the reciprocals of U's diagonal.
TB_INLINE bool factor_general(int n, tbReal* D, int* pivot, tbReal* inverse) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++) {
      if (fabs(D[i * n + k]) > fabs(D[best * n + k])) best = i;
    }
    pivot[k] = best;
    for (int j = 0; best != k && j < n; j++) {
      tbReal t = D[k * n + j];
      D[k * n + j] = D[best * n + j];
      D[best * n + j] = t;
    }
    if (D[k * n + k] == 0 || !isfinite(D[k * n + k])) return false;
    inverse[k] = 1 / D[k * n + k];
    for (int i = k + 1; i < n; i++) {
      tbReal f = D[i * n + k] *= inverse[k];
      for (int j = k + 1; j < n; j++) D[i * n + j] -= f * D[k * n + j];
    }
  }
  return true;
}

TB_INLINE void swap_rows(int width, tbReal* X, int i, int j) {
  for (int k = 0; k < width; k++) {
    tbReal t = X[(size_t)i * (size_t)width + k];
    X[(size_t)i * (size_t)width + k] = X[(size_t)j * (size_t)width + k];
    X[(size_t)j * (size_t)width + k] = t;
  }
}

// X <- T^-1 X for a lower triangular T given by T(r, s) = D[r * row + s * col], with the diagonal
// of `inverse` or, if that is NULL, ones.
TB_INLINE void substitute(int n, const tbReal* D, int row, int col, const tbReal* inverse,
                          int width, tbReal* X) {
  for (int r = 0; r < n; r++) {
    tbReal* TB_RESTRICT x = X + (size_t)r * (size_t)width;
    for (int s = 0; s < r; s++) {
      tbReal f = D[r * row + s * col];
      const tbReal* TB_RESTRICT y = X + (size_t)s * (size_t)width;
      for (int j = 0; j < width; j++) x[j] -= f * y[j];
    }
    if (!inverse) continue;
    for (int j = 0; j < width; j++) x[j] *= inverse[r];
  }
}

// y -= f^T Z for six rows of Z, the most frequent depth (a free body): y is read once.
TB_INLINE void subtract_six(int n, const tbReal* f, int step, const tbReal* TB_RESTRICT Z,
                            int width, tbReal* TB_RESTRICT y) {
  const tbReal *TB_RESTRICT z1 = Z + width, *TB_RESTRICT z2 = z1 + width;
  const tbReal *TB_RESTRICT z3 = z2 + width, *TB_RESTRICT z4 = z3 + width;
  const tbReal* TB_RESTRICT z5 = z4 + width;
  tbReal f0 = f[0], f1 = f[step], f2 = f[2 * step], f3 = f[3 * step], f4 = f[4 * step];
  tbReal f5 = f[5 * step];
  for (int j = 0; j < n; j++) {
    y[j] -= (f0 * Z[j] + f1 * z1[j]) + (f2 * z2[j] + f3 * z3[j]) + (f4 * z4[j] + f5 * z5[j]);
  }
}

// Y (rows x n, own stride) -= X^T Z for X (depth x rows) and Z (depth x n) with stride `width`.
TB_INLINE void subtract_product(int rows, int depth, int n, int width, const tbReal* X,
                                const tbReal* TB_RESTRICT Z, tbReal* TB_RESTRICT Y, int stride) {
  for (int i = 0; i < rows; i++) {
    tbReal* TB_RESTRICT y = Y + (size_t)i * (size_t)stride;
    int r = 0;
    for (; r + 6 <= depth; r += 6) {
      subtract_six(n, X + (size_t)r * (size_t)width + (size_t)i, width,
                   Z + (size_t)r * (size_t)width, width, y);
    }
    for (; r + 2 <= depth; r += 2) {
      tbReal f = X[(size_t)r * (size_t)width + (size_t)i];
      tbReal g = X[(size_t)(r + 1) * (size_t)width + (size_t)i];
      const tbReal* TB_RESTRICT z = Z + (size_t)r * (size_t)width;
      const tbReal* TB_RESTRICT w = z + width;
      for (int j = 0; j < n; j++) y[j] -= f * z[j] + g * w[j];
    }
    if (r < depth) {
      tbReal f = X[(size_t)r * (size_t)width + (size_t)i];
      const tbReal* TB_RESTRICT z = Z + (size_t)r * (size_t)width;
      for (int j = 0; j < n; j++) y[j] -= f * z[j];
    }
  }
}

// Eliminate node k from the remaining nodes: A[a, b] -= C[:, a]^T V[:, b], where V = L^-1 U_k and C
// = U^-T C_k with the factors L U of D_k.
TB_INLINE void eliminate(tbLdu* ldu, int k, const tbReal* C, const tbReal* V, bool symmetric) {
  int depth = ldu->dim[k], width = ldu->width[k], end = ldu->start[k + 1];
  for (int e = ldu->start[k]; e < end; e++) {
    int a = ldu->later[e], da = ldu->dim[a], ca = ldu->column[e], wa = ldu->width[a];
    tbReal* D = ldu->value + ldu->at[a];
    tbReal* U = D + da * da;
    tbReal* T = ldu->mirror + ldu->skew[a];
    subtract_product(da, depth, da, width, C + ca, V + ca, D, da);
    // Runs of later nodes that lie side by side in both rows.
    for (int f = e + 1, g = ldu->start[a]; f < end;) {
      while (ldu->later[g] != ldu->later[f]) g++;
      int from = ldu->column[f], to = ldu->column[g], n = 0;
      while (f < end && ldu->later[g] == ldu->later[f]) {
        n += ldu->dim[ldu->later[f]];
        f++;
        g++;
        if (g == ldu->start[a + 1]) break;
      }
      subtract_product(da, depth, n, width, C + ca, V + from, U + to, wa);
      if (!symmetric) subtract_product(da, depth, n, width, V + ca, C + from, T + to, wa);
    }
  }
}

// Subtract the contributions of the nodes `first` to `end` - 1 of a group from the later nodes. All
// of them have six rows and the same later nodes; one by one they would load and store each block
// again.
TB_INLINE void eliminate_group(tbLdu* ldu, int first, int end, bool symmetric) {
  tbSimd6Panel panel[GROUP], mirrored[GROUP];
  int last = end - 1, begin = ldu->start[last], stop = ldu->start[end], count = end - first;
  for (int k = first; k < end; k++) {
    tbReal* V = ldu->value + ldu->at[k] + SIX * SIX + SIX * (last - k);
    tbReal* C = symmetric ? V : ldu->mirror + ldu->skew[k] + SIX * (last - k);
    panel[k - first] = (tbSimd6Panel){C, V, ldu->width[k]};
    mirrored[k - first] = (tbSimd6Panel){V, C, ldu->width[k]};
  }
  for (int e = begin; e < stop; e++) {
    int a = ldu->later[e], wa = ldu->width[a], ca = SIX * (e - begin);
    tbReal *D = ldu->value + ldu->at[a], *U = D + SIX * SIX, *T = ldu->mirror + ldu->skew[a];
    tb_simd6_subtract_panels(count, panel, ca, ca, SIX, D, SIX);
    // Runs of later nodes that lie side by side in both rows.
    for (int f = e + 1, g = ldu->start[a]; f < stop;) {
      while (ldu->later[g] != ldu->later[f]) g++;
      int from = SIX * (f - begin), to = ldu->column[g], n = 0;
      for (; f < stop && ldu->later[g] == ldu->later[f]; f++, g++) n += SIX;
      tb_simd6_subtract_panels(count, panel, ca, from, n, U + to, wa);
      if (!symmetric) tb_simd6_subtract_panels(count, mirrored, ca, from, n, T + to, wa);
    }
  }
}

// Subtract a node's contribution from the later nodes of its own group, whose rows have the same
// columns.
TB_INLINE void eliminate_inside(tbLdu* ldu, int k, int end, bool symmetric) {
  tbReal* V = ldu->value + ldu->at[k] + SIX * SIX;
  tbReal* C = symmetric ? V : ldu->mirror + ldu->skew[k];
  tbSimd6Panel panel = {C, V, ldu->width[k]}, mirrored = {V, C, ldu->width[k]};
  for (int a = k + 1, ca = 0; a < end; a++, ca += SIX) {
    tbReal* D = ldu->value + ldu->at[a];
    int wa = ldu->width[a];
    tb_simd6_subtract_panels(1, &panel, ca, ca, SIX, D, SIX);
    tb_simd6_subtract_panels(1, &panel, ca, ca + SIX, wa, D + SIX * SIX, wa);
    if (symmetric) continue;
    tb_simd6_subtract_panels(1, &mirrored, ca, ca + SIX, wa, ldu->mirror + ldu->skew[a], wa);
  }
}

// V <- L^-1 V and C <- U^-T C for the factors of a node; V = C if symmetric.
TB_INLINE void substitute_node(const tbLdu* ldu, int k, int d, bool symmetric, tbReal* V,
                               tbReal* C) {
  int width = ldu->width[k];
  const tbReal *D = ldu->value + ldu->at[k], *inverse = ldu->inverse + ldu->first[k];
  substitute(d, D, d, 1, symmetric ? inverse : NULL, width, V);
  if (!symmetric) substitute(d, D, 1, d, inverse, width, C);
}

TB_INLINE void substitute_six(const tbLdu* ldu, int k, bool symmetric, tbReal* V, tbReal* C) {
  int width = ldu->width[k];
  const tbReal *D = ldu->value + ldu->at[k], *inverse = ldu->inverse + ldu->first[k];
  for (int j = 0; j < width; j += SIX) {
    tb_simd6_substitute(D, SIX, 1, symmetric ? inverse : NULL, V + j, width);
    if (!symmetric) tb_simd6_substitute(D, 1, SIX, inverse, C + j, width);
  }
}

// Factor a node of `d` rows and its blocks with later nodes. `six`: these have six rows too.
TB_INLINE bool factor_node(tbLdu* ldu, int k, int d, bool six, bool symmetric) {
  tbReal *D = ldu->value + ldu->at[k], *V = D + d * d;
  tbReal* C = symmetric ? V : ldu->mirror + ldu->skew[k];
  tbReal* inverse = ldu->inverse + ldu->first[k];
  int* pivot = ldu->pivot + ldu->first[k];
  if (symmetric ? !factor_symmetric(d, D, inverse) : !factor_general(d, D, pivot, inverse)) {
    return false;
  }
  for (int r = 0; r < d && !symmetric; r++) {
    if (pivot[r] != r) swap_rows(ldu->width[k], V, r, pivot[r]);
  }
  if (six) {
    substitute_six(ldu, k, symmetric, V, C);
  } else {
    substitute_node(ldu, k, d, symmetric, V, C);
  }
  return true;
}

TB_INLINE bool factor_all(tbLdu* ldu, bool symmetric) {
  ldu->symmetric = symmetric;
  for (int k = 0; k < ldu->nodes;) {
    int end = ldu->group[k];
    if (!ldu->six[k]) {
      int d = ldu->dim[k];
      if (!factor_node(ldu, k, d, false, symmetric)) return false;
      tbReal* V = ldu->value + ldu->at[k] + (size_t)(d * d);
      eliminate(ldu, k, symmetric ? V : ldu->mirror + ldu->skew[k], V, symmetric);
      k++;
      continue;
    }
    for (int first = k; k < end; k++) {
      if (!factor_node(ldu, k, SIX, true, symmetric)) return false;
      eliminate_inside(ldu, k, end, symmetric);
      if (k + 1 == end) eliminate_group(ldu, first, end, symmetric);
    }
  }
  return true;
}

static bool factor_generic(tbLdu* ldu, bool symmetric) {
  return factor_all(ldu, symmetric);
}

TB_WIDE static bool factor_avx2(tbLdu* ldu, bool symmetric) {
  return factor_all(ldu, symmetric);
}

bool tb_ldu_factor(tbLdu* ldu, bool symmetric) {
  return tb_wide() ? factor_avx2(ldu, symmetric) : factor_generic(ldu, symmetric);
}

int tb_ldu_sign(const tbLdu* ldu) {
  int sign = 1;
  for (int k = 0; k < ldu->nodes; k++) {
    const int* pivot = ldu->pivot + ldu->first[k];
    const tbReal* inverse = ldu->inverse + ldu->first[k];
    for (int r = 0; r < ldu->dim[k]; r++) sign *= (inverse[r] < 0) == (pivot[r] != r) ? 1 : -1;
  }
  return sign;
}

// x <- L^-1 P x, or L^-1 x.
TB_INLINE void solve_lower(const tbLdu* ldu, int k, int d, tbReal* x) {
  const tbReal* D = ldu->value + ldu->at[k];
  for (int r = 0; r < d && !ldu->symmetric; r++) {
    int p = ldu->pivot[ldu->first[k] + r];
    tbReal t = x[r];
    x[r] = x[p];
    x[p] = t;
  }
  for (int r = 0; r < d; r++) {
    tbReal sum = x[r];
    for (int s = 0; s < r; s++) sum -= D[r * d + s] * x[s];
    x[r] = ldu->symmetric ? sum * ldu->inverse[ldu->first[k] + r] : sum;
  }
}

// x <- U^-1 x, or L^-T x.
TB_INLINE void solve_upper(const tbLdu* ldu, int k, int d, tbReal* x) {
  const tbReal* D = ldu->value + ldu->at[k];
  for (int r = d - 1; r >= 0; r--) {
    tbReal sum = x[r];
    for (int s = r + 1; s < d; s++) sum -= (ldu->symmetric ? D[s * d + r] : D[r * d + s]) * x[s];
    x[r] = sum * ldu->inverse[ldu->first[k] + r];
  }
}

// Products of the rows of U or C with the later nodes' entries of x: gathered into one vector, so
// that the loops are as long as the rows.
TB_INLINE void gather(const tbLdu* ldu, int k, const tbReal* x, tbReal* TB_RESTRICT out) {
  for (int e = ldu->start[k]; e < ldu->start[k + 1]; e++) {
    int b = ldu->later[e], n = ldu->dim[b];
    const tbReal* from = x + ldu->first[b];
    for (int j = 0; j < n; j++) *out++ = from[j];
  }
}

// out -= own^T C
TB_INLINE void subtract_transposed(int d, int width, const tbReal* C, const tbReal* own,
                                   tbReal* TB_RESTRICT out) {
  int r = 0;
  for (; r + 6 <= d; r += 6) {
    subtract_six(width, own + r, 1, C + (size_t)r * (size_t)width, width, out);
  }
  for (; r < d; r++) {
    const tbReal* TB_RESTRICT row = C + (size_t)r * (size_t)width;
    tbReal f = own[r];
    for (int j = 0; j < width; j++) out[j] -= f * row[j];
  }
}

// own -= V x
TB_INLINE void subtract_product_with(int d, int width, const tbReal* V, const tbReal* TB_RESTRICT x,
                                     tbReal* own) {
  for (int r = 0; r < d; r++) {
    const tbReal* TB_RESTRICT row = V + (size_t)r * (size_t)width;
    own[r] -= tb_dot_sums(row, x, width);
  }
}

// Subtract node k's contribution from the later ones.
TB_INLINE void subtract_node(const tbLdu* ldu, int k, const tbReal* C, const tbReal* own,
                             tbReal* x) {
  int d = ldu->dim[k], width = ldu->width[k];
  tbReal* row = ldu->scratch;
  memset(row, 0, sizeof(tbReal) * (size_t)width);
  subtract_transposed(d, width, C, own, row);
  for (int e = ldu->start[k]; e < ldu->start[k + 1]; e++) {
    int b = ldu->later[e], n = ldu->dim[b];
    tbReal* to = x + ldu->first[b];
    for (int j = 0; j < n; j++) to[j] += *row++;
  }
}

TB_INLINE void subtract_node_six(const tbLdu* ldu, int k, const tbReal* C, const tbReal* own,
                                 tbReal* x) {
  for (int e = ldu->start[k]; e < ldu->start[k + 1]; e++, C += SIX) {
    tb_simd6_subtract(1, own, 1, C, ldu->width[k], x + ldu->first[ldu->later[e]], 0);
  }
}

TB_INLINE void solve_all(const tbLdu* ldu, tbReal* x) {
  tbReal* row = ldu->scratch;
  for (int k = 0; k < ldu->nodes; k++) {
    int d = ldu->dim[k];
    const tbReal* C =
        ldu->symmetric ? ldu->value + ldu->at[k] + (size_t)(d * d) : ldu->mirror + ldu->skew[k];
    tbReal* own = x + ldu->first[k];
    if (ldu->six[k]) {
      solve_lower(ldu, k, SIX, own);
      subtract_node_six(ldu, k, C, own, x);
    } else {
      solve_lower(ldu, k, d, own);
      subtract_node(ldu, k, C, own, x);
    }
  }
  for (int k = ldu->nodes - 1; k >= 0; k--) {
    int d = ldu->dim[k], width = ldu->width[k];
    const tbReal* V = ldu->value + ldu->at[k] + (size_t)(d * d);
    tbReal* own = x + ldu->first[k];
    gather(ldu, k, x, row);
    if (ldu->six[k]) {
      tb_simd6_pull(width, V, row, own);
      solve_upper(ldu, k, SIX, own);
    } else {
      subtract_product_with(d, width, V, row, own);
      solve_upper(ldu, k, d, own);
    }
  }
}

static void solve_generic(const tbLdu* ldu, tbReal* x) {
  solve_all(ldu, x);
}

TB_WIDE static void solve_avx2(const tbLdu* ldu, tbReal* x) {
  solve_all(ldu, x);
}

void tb_ldu_solve(const tbLdu* ldu, tbReal* x) {
  if (tb_wide()) {
    solve_avx2(ldu, x);
  } else {
    solve_generic(ldu, x);
  }
}
