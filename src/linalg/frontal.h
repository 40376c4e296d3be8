// Dense kernels of the sparse LU: elimination of the leading part of a square matrix.
#ifndef TRIBO_LINALG_FRONTAL_H_
#define TRIBO_LINALG_FRONTAL_H_

#include "tribo/types.h"

// Eliminate the first `width` rows and columns of the row-major `size` x `size` matrix `a`, with
// row exchanges among those rows only: on return the first `width` rows hold U and, left of the
// diagonal, L; the rows below hold L in their first `width` columns and the Schur complement in the
// remaining ones. pivot[k] is the row exchanged with row k. A pivot whose magnitude is below
// `floor` is replaced by it (with its sign); returns the number of replaced pivots.
int tb_frontal_factor(int size, int width, tbReal* a, int* pivot, tbReal floor);

#endif
