#include <math.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include "expo_bench.h"
int main(int argc, char** argv) {
  tbBench* b = tb_bench_open("expo", argc, argv);
  if (!b) return 2;
  int which = atoi(tb_bench_option(b, "test", "0"));
  int steps = atoi(tb_bench_option(b, "steps", "50"));
  int tr = atoi(tb_bench_option(b, "truth", "256"));
  Motion mo;
  if (!motion_open(b, which, &mo)) {
    printf("no\n");
    return 1;
  }
  Truth t;
  printf("%s nv %d points %d\n", mo.name, mo.robot.m->nv, mo.robot.npoint);
  bool ok = truth_make(b, &mo, steps, tr, &t);
  printf("truth %d\n", ok);
  int nq = mo.robot.m->nq;
  for (int i = 0; i <= steps; i += steps / 8) {
    printf("%d:", i);
    for (int k = 0; k < 7; k++) printf(" %.4f", t.qpos[i * nq + k]);
    printf("\n");
  }
  static const Method M[] = {
      {"expo", TB_INTEGRATOR_EXPO, 0},  {"expo1", TB_INTEGRATOR_EXPO, 1},
      {"expo2", TB_INTEGRATOR_EXPO, 2}, {"expo3", TB_INTEGRATOR_EXPO, 3},
      {"expo5", TB_INTEGRATOR_EXPO, 5}, {"euler-exp", TB_INTEGRATOR_EULER_EXPLICIT, 0},
      {"rk4", TB_INTEGRATOR_RK4, 0},    {"euler-imp", TB_INTEGRATOR_EULER_IMPLICIT, 0}};
  if (ok)
    for (int j = 0; j < 8; j++)
      for (int n = 1; n <= mo.finest; n *= 4) {
        if (j == 7 && n > 16) break;
        LocalRun r = run_local(&mo, &t, &M[j], n);
        printf("%-10s n %4d dt %.3f ms error %.3e factor %.1f us/step %.2f\n", M[j].name, n,
               1e3 * mo.control_dt / n, r.error, r.factor, 1e6 * r.seconds / steps / n);
      }
  return 0;
}
