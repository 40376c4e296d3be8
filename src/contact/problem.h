// Parts of tb_problem_check that others need.
#ifndef TRIBO_CONTACT_PROBLEM_H_
#define TRIBO_CONTACT_PROBLEM_H_

#include "tribo/problem.h"

// Compressed rows: start[0..rows] begins with 0 and never descends, and no row has more entries
// than there are columns. Read before anything that these starts lead to.
tbResult tb_check_row_starts(const char* what, int rows, int columns, const int* start,
                             tbError* error);

// Factor the symmetric n x n matrix A in place; returns a row at which it turns out to have a
// negative eigenvalue, -1 where none does.
int tb_find_indefinite(int n, tbReal* A);

// TB_ERROR_ARGUMENT with the row where G + R, of up to some hundred rows, is indefinite. TB_OK
// also where memory is short.
tbResult tb_problem_check_definite(const tbProblem* problem, tbError* error);

#endif
