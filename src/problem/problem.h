// Parts of tb_problem_check that others need.
#ifndef TRIBO_PROBLEM_PROBLEM_H_
#define TRIBO_PROBLEM_PROBLEM_H_

#include <stdbool.h>

#include "tribo/problem.h"

// Compressed rows: start[0..rows] begins with 0 and never descends, and no row has more entries
// than there are columns. Read before anything that these starts lead to.
tbResult tb_check_row_starts(const char* what, int rows, int columns, const int* start,
                             tbError* error);

// Whether the symmetric n x n matrix A, which is overwritten, has an eigenvalue below zero by more
// than a thousandth of its diagonal.
bool tb_is_indefinite(int n, tbReal* A);

// TB_ERROR_ARGUMENT where G + R, of up to some hundred rows, is indefinite. TB_OK
// also where memory is short.
tbResult tb_problem_check_definite(const tbProblem* problem, tbError* error);

#endif
