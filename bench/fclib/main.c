// `tribo bench fclib`: contact problems of the FCLIB corpus, every solver, Siconos beside them, and
// the ADMM paper's tables III, IV and figures 4, 7.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fclib/fclib_bench.h"
#include "fclib/siconos.h"

// One thread for everybody: OpenBLAS reads this when it is loaded, so start over with it set.
static void one_thread(char** argv) {
  if (getenv("OPENBLAS_NUM_THREADS")) return;
  if (setenv("OPENBLAS_NUM_THREADS", "1", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

int main(int argc, char** argv) {
  one_thread(argv);
  Bench b;
  memset(&b, 0, sizeof b);
  b.bench = tb_bench_open("fclib", argc, argv);
  if (!b.bench) return 2;
  bool quick = tb_bench_short(b.bench);
  const char* folder = tb_bench_option(b.bench, "data", TB_SHARED_DIR "/fclib");
  b.tol = strtod(tb_bench_option(b.bench, "tol", "1e-6"), NULL);
  b.limit = strtod(tb_bench_option(b.bench, "limit", quick ? "0.5" : "10"), NULL);
  b.repeats = atoi(tb_bench_option(b.bench, "repeats", quick ? "5" : "9"));
  b.all_laws = !quick && !tb_bench_flag(b.bench, "ncp-only");
  b.problems = tb_bench_option(b.bench, "problems", "");
  b.only = tb_bench_option(b.bench, "solvers", "");
  b.peers = siconos_available() && !tb_bench_flag(b.bench, "no-peers");
  bool paper = !tb_bench_flag(b.bench, "no-paper");
  b.intervals = tb_bench_flag(b.bench, "intervals");
  bool corpus = !tb_bench_flag(b.bench, "no-corpus");
  int hard = atoi(tb_bench_option(b.bench, "hard", quick ? "2" : "5"));
  if (!tb_bench_check_arguments(b.bench) || !(b.tol > 0) || !(b.limit > 0) || b.repeats < 1) {
    fprintf(
        stderr,
        "tribo-bench-fclib [--data DIR] [--tol X] [--limit SECONDS] [--repeats N] [--ncp-only]\n"
        "                  [--no-peers] [--no-paper] [--no-corpus] [--hard N] [--problems TEXT]\n"
        "                  [--solvers ncp/auto,...] [--intervals] [--short] [--json] [--out "
        "DIR]\n");
    tb_bench_close(b.bench);
    return 2;
  }
  if (hard > 0) bench_hard(&b, hard);
  if (corpus && bench_load(&b, folder)) {
    bench_run_all(&b);
    bench_report(&b);
    if (paper) bench_paper(&b);
  }
  bench_free(&b);
  return tb_bench_close(b.bench);
}
