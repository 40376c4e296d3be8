// `tribo bench comfree`: the experiments of the ComFree paper (CF section IV) on this machine.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comfree_bench.h"

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("comfree", argc, argv);
  if (!bench) return 2;
  const char* part = tb_bench_option(bench, "part", "all");
  const char* threads = tb_bench_option(bench, "threads", "0");
  const char* worlds = tb_bench_option(bench, "worlds", "0");
  if (!tb_bench_check_arguments(bench)) return 2;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int nthread = atoi(threads) > 0 ? atoi(threads) : cores > 0 ? (int)cores : 1;
  if (nthread > 64) nthread = 64;
  int all = strcmp(part, "all") == 0;
  if (all || strcmp(part, "penetration") == 0) bench_penetration(bench);
  if (all || strcmp(part, "friction") == 0) bench_friction(bench);
  if (all || strcmp(part, "stability") == 0) bench_stability(bench);
  if (all || strcmp(part, "kernel") == 0) bench_kernel(bench);
  if (all || strcmp(part, "contacts") == 0) bench_contacts(bench, nthread);
  if (all || strcmp(part, "throughput") == 0) bench_throughput(bench, nthread, atoi(worlds));
  if (peer_version()) {
    tb_bench_note(bench, "peer: MuJoCo %s, stepping the same worlds on the same %d threads",
                  peer_version(), nthread);
  }
  tb_bench_note(bench,
                "--part penetration|friction|stability|kernel|contacts|throughput runs one part");
  return tb_bench_close(bench);
}
