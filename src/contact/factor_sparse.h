// The sparse side of tbFactor. Without CHOLMOD every function says no.
#ifndef TRIBO_CONTACT_FACTOR_SPARSE_H_
#define TRIBO_CONTACT_FACTOR_SPARSE_H_

#include "contact/factor.h"

bool tb_factor_sparse_available(void);
tbSparseFactor* tb_factor_sparse_create(const tbProblem* problem, const tbReal* scale);
void tb_factor_sparse_free(tbSparseFactor* sparse);
bool tb_factor_sparse_shift(tbSparseFactor* sparse, const tbReal* shift);
void tb_factor_sparse_solve(tbSparseFactor* sparse, const tbReal* b, tbReal* x);

#endif
