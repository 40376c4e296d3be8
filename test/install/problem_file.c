// The reader's own contact problem: two points of a unit mass, one at rest and one that slides.
//   problem_file FILE.hdf5
#include <stdio.h>
#include <tribo/fclib.h>

int main(int argc, char** argv) {
  int start[] = {0, 1, 2, 3, 4, 5, 6}, column[] = {0, 1, 2, 3, 4, 5};
  double value[] = {1, 1, 1, 1, 1, 1}, q[] = {-1, 0.1, 0, -1, 2, 0}, mu[] = {0.5, 0.5};
  tbFclib problem = {.spacedim = 3, .contacts = 2, .q = q, .mu = mu};
  problem.W = (tbFclibMatrix){6, 6, start, column, value};
  tbError error = {0};
  if (argc == 2 && tb_fclib_write(&problem, TB_FCLIB_CSR, argv[1], &error) == TB_OK) return 0;
  fprintf(stderr, "problem_file: %s\n", error.message);
  return 1;
}
