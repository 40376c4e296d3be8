// A contact problem in a file, for `tribo solve`.
#ifndef TRIBO_TEST_CLI_FCLIB_PROBLEM_H_
#define TRIBO_TEST_CLI_FCLIB_PROBLEM_H_

#include "common/test.h"
#include "tribo/fclib.h"

#ifdef TB_WITH_HDF5
// A problem of 400 contacts that sweeps do not solve to a tolerance of zero.
static inline void write_fclib_problem(const char* path) {
  enum { N = 400 };
  int start_of[3 * N + 1], column[9 * N];
  double value[9 * N], q[3 * N], mu[N];
  for (int r = 0; r < 3 * N; r++) {
    start_of[r] = 3 * r;
    q[r] = r % 3 ? 0.1 * (r % 7) : -1;
    for (int k = 0; k < 3; k++) {
      column[3 * r + k] = r - r % 3 + k;
      value[3 * r + k] = r % 3 == k ? 1 : 0.3;
    }
  }
  start_of[3 * N] = 9 * N;
  for (int i = 0; i < N; i++) mu[i] = 0.5;
  tbFclib problem = {.spacedim = 3, .contacts = N, .q = q, .mu = mu};
  problem.W = (tbFclibMatrix){3 * N, 3 * N, start_of, column, value};
  tbError error;
  if (tb_fclib_write(&problem, TB_FCLIB_CSR, path, &error) != TB_OK) fail_msg("%s", error.message);
}
#endif

#endif
