// Parts of tb_problem_check that other files need.
#ifndef TRIBO_PROBLEM_PROBLEM_H_
#define TRIBO_PROBLEM_PROBLEM_H_

#include <stdbool.h>

#include "tribo/problem.h"

// Check compressed row starts: start[0..rows] begins with 0 and never descends, and no row has more
// entries than there are columns. To be called before any array that these starts index is read.
tbResult tb_check_row_starts(const char* what, int rows, int columns, const int* start,
                             tbError* error);

// Whether the symmetric n x n matrix A, which is overwritten, has an eigenvalue below minus a
// thousandth of its diagonal.
bool tb_is_indefinite(int n, tbReal* A);

// TB_ERROR_ARGUMENT if G + R, of up to some hundred rows, is indefinite. TB_OK for larger problems,
// and if memory is short.
tbResult tb_problem_check_definite(const tbProblem* problem, tbError* error);

#endif
