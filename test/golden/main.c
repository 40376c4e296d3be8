// The golden lines of this build, printed or compared with stored ones.
//
//   tribo_golden [THREADS...]      all lines; those of steps once per number, which must not matter
//   tribo_golden --check FILE      exit 1 where lines differ from those of FILE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"

static FILE* out;

uint64_t golden_reals(uint64_t hash, const tbReal* x, int n) {
  for (int i = 0; i < n; i++) {
    tbReal value = isnan(x[i]) ? 0x1p-1000 : x[i];
    hash = tb_hash(hash, &value, sizeof value);
  }
  return hash;
}

uint64_t golden_ints(uint64_t hash, const int* x, int n) {
  return n > 0 ? tb_hash(hash, x, sizeof(int) * (size_t)n) : hash;
}

void golden_line(const char* section, const char* name, uint64_t hash) {
  fprintf(out, "%-12s %-48s %016" PRIx64 "\n", section, name, hash);
}

const char* golden_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

tbModel* golden_load(const char* path) {
  tbError error;
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  return m;
}

void golden_controls(const tbModel* m, tbRng* rng, tbReal* ctrl) {
  for (int i = 0; i < m->nu; i++) {
    int limited = m->actuator_ctrllimited[i];
    tbReal low = limited ? m->actuator_ctrlrange[2 * i] : -1;
    tbReal high = limited ? m->actuator_ctrlrange[2 * i + 1] : 1;
    ctrl[i] = tb_rng_uniform(rng, low, high);
  }
}

static int print_all(const int* threads, int nthreads) {
  int failed = golden_steps(threads, nthreads);
  golden_solvers();
  golden_derivatives();
  golden_contacts();
  golden_sensors();
  golden_models();
  return failed;
}

// Lines of both files in turn; says which differ.
static int compare(FILE* stored, FILE* computed) {
  char a[256], b[256];
  int differ = 0, lines = 0;
  for (;; lines++) {
    char *one = fgets(a, sizeof a, stored), *two = fgets(b, sizeof b, computed);
    if (!one && !two) break;
    if (one && two && strcmp(a, b) == 0) continue;
    if (++differ <= 20) printf("stored   %scomputed %s", one ? a : "-\n", two ? b : "-\n");
    if (!one || !two) break;
  }
  if (differ) {
    printf(
        "%d of %d golden lines differ. Where a change of results is meant, store them again with\n"
        "scripts/golden.sh and say in the commit which lines change and why.\n",
        differ, lines);
  } else {
    printf("%d golden lines are the stored ones\n", lines);
  }
  return differ > 0;
}

int main(int argc, char** argv) {
  int threads[8] = {1}, n = 0;
  out = stdout;
  if (argc == 3 && strcmp(argv[1], "--check") == 0) {
    FILE* stored = fopen(argv[2], "r");
    out = tmpfile();
    if (!stored || !out) return fprintf(stderr, "cannot open %s\n", argv[2]), 2;
    print_all(threads, 1);
    rewind(out);
    int differ = compare(stored, out);
    fclose(stored);
    fclose(out);
    return differ;
  }
  for (int i = 1; i < argc && n < 8; i++) threads[n++] = atoi(argv[i]);
  int failed = print_all(threads, n ? n : 1);
  if (failed) fprintf(stderr, "%d lines depend on the number of threads\n", failed);
  return failed > 0;
}
