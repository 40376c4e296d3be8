// C -= A B on row-major panels: the common kernel of the blocked factorisations.
#ifndef TRIBO_LINALG_GEMM_H_
#define TRIBO_LINALG_GEMM_H_

// C (m x n, row stride ldc) -= A (m x k, lda) B (k x n, ldb). The sum over k runs in sequence, so
// that every machine gives the same bits.
void tb_gemm_subtract(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                      double* C, int ldc);

// C (m x n) += A (m x k) B (k x n).
void tb_gemm_add(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C,
                 int ldc);

#endif
