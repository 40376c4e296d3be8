#include "linalg/gemm.h"

#include <stddef.h>

enum { ROWS = 4, COLUMNS = 8 };

typedef void (*Tile)(int k, double sign, const double* A, size_t lda, const double* B, size_t ldb,
                     double* C, size_t ldc);

// A full tile of 4 x 8 with the accumulators in registers.
static void tile_portable(int k, double sign, const double* A, size_t lda, const double* B,
                          size_t ldb, double* C, size_t ldc) {
  double c0[COLUMNS] = {0}, c1[COLUMNS] = {0}, c2[COLUMNS] = {0}, c3[COLUMNS] = {0};
  const double *a0 = A, *a1 = A + lda, *a2 = A + 2 * lda, *a3 = A + 3 * lda;
  for (int p = 0; p < k; p++) {
    const double* b = B + (size_t)p * ldb;
    for (int j = 0; j < COLUMNS; j++) c0[j] += a0[p] * b[j];
    for (int j = 0; j < COLUMNS; j++) c1[j] += a1[p] * b[j];
    for (int j = 0; j < COLUMNS; j++) c2[j] += a2[p] * b[j];
    for (int j = 0; j < COLUMNS; j++) c3[j] += a3[p] * b[j];
  }
  for (int j = 0; j < COLUMNS; j++) C[j] += sign * c0[j];
  for (int j = 0; j < COLUMNS; j++) C[ldc + (size_t)j] += sign * c1[j];
  for (int j = 0; j < COLUMNS; j++) C[2 * ldc + (size_t)j] += sign * c2[j];
  for (int j = 0; j < COLUMNS; j++) C[3 * ldc + (size_t)j] += sign * c3[j];
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same tile for machines with 32-byte registers, chosen at run time. Products and sums stay
// separate, so that the bits are those of the portable twin.
typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));

__attribute__((target("avx2"))) static void tile_avx2(int k, double sign, const double* A,
                                                      size_t lda, const double* B, size_t ldb,
                                                      double* C, size_t ldc) {
  Quad c00 = {0}, c01 = {0}, c10 = {0}, c11 = {0}, c20 = {0}, c21 = {0}, c30 = {0}, c31 = {0};
  const double *a0 = A, *a1 = A + lda, *a2 = A + 2 * lda, *a3 = A + 3 * lda;
  for (int p = 0; p < k; p++, B += ldb) {
    Quad b0 = *(const Quad*)B, b1 = *(const Quad*)(B + 4);
    c00 += a0[p] * b0;
    c01 += a0[p] * b1;
    c10 += a1[p] * b0;
    c11 += a1[p] * b1;
    c20 += a2[p] * b0;
    c21 += a2[p] * b1;
    c30 += a3[p] * b0;
    c31 += a3[p] * b1;
  }
  Quad *r0 = (Quad*)C, *r1 = (Quad*)(C + ldc), *r2 = (Quad*)(C + 2 * ldc),
       *r3 = (Quad*)(C + 3 * ldc);
  r0[0] += sign * c00;
  r0[1] += sign * c01;
  r1[0] += sign * c10;
  r1[1] += sign * c11;
  r2[0] += sign * c20;
  r2[1] += sign * c21;
  r3[0] += sign * c30;
  r3[1] += sign * c31;
}

static Tile choose_tile(void) {
  return __builtin_cpu_supports("avx2") ? tile_avx2 : tile_portable;
}
#else
static Tile choose_tile(void) {
  return tile_portable;
}
#endif

// Incomplete tiles at the edges.
static void edge(int m, int n, int k, double sign, const double* A, size_t lda, const double* B,
                 size_t ldb, double* C, size_t ldc) {
  for (int i = 0; i < m; i++) {
    double c[COLUMNS] = {0};
    for (int p = 0; p < k; p++) {
      double a = A[(size_t)i * lda + (size_t)p];
      for (int j = 0; j < n; j++) c[j] += a * B[(size_t)p * ldb + (size_t)j];
    }
    for (int j = 0; j < n; j++) C[(size_t)i * ldc + (size_t)j] += sign * c[j];
  }
}

static void gemm(int m, int n, int k, double sign, const double* A, int lda, const double* B,
                 int ldb, double* C, int ldc) {
  size_t sa = (size_t)lda, sb = (size_t)ldb, sc = (size_t)ldc;
  Tile tile = choose_tile();
  for (int j = 0; j < n; j += COLUMNS) {
    int width = n - j < COLUMNS ? n - j : COLUMNS;
    for (int i = 0; i < m; i += ROWS) {
      int height = m - i < ROWS ? m - i : ROWS;
      const double* a = A + (size_t)i * sa;
      double* c = C + (size_t)i * sc + j;
      if (width == COLUMNS && height == ROWS) {
        tile(k, sign, a, sa, B + j, sb, c, sc);
      } else {
        edge(height, width, k, sign, a, sa, B + j, sb, c, sc);
      }
    }
  }
}

void tb_gemm_subtract(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                      double* C, int ldc) {
  gemm(m, n, k, -1, A, lda, B, ldb, C, ldc);
}

void tb_gemm_add(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C,
                 int ldc) {
  gemm(m, n, k, 1, A, lda, B, ldb, C, ldc);
}
