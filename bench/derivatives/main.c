// Derivatives: microseconds per robot and their errors, in one run.
#include "derivatives.h"

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("derivatives", argc, argv);
  if (!bench || !tb_bench_check_arguments(bench)) return 2;
  bench_rigid_bodies(bench);
  bench_wall(bench);
  bench_steps(bench);
  return tb_bench_close(bench);
}
