// `tribo bench cm`: the experiments of "Contact Models in Robotics: a Comparative Analysis".
#include <string.h>

#include "cm.h"

static const struct {
  const char* name;
  void (*run)(tbBench* bench);
} EXPERIMENT[] = {
    {"laws", cm_laws},
    {"sliding", cm_sliding},
    {"growing", cm_growing},
    {"mass-ratio", cm_mass_ratio},
    {"compliance", cm_compliance},
    {"consistency", cm_consistency},
    {"robots", cm_robots},
    {"locomotion", cm_locomotion},
    {"tables", cm_tables},
    {"solvers", cm_solvers},
    {"stages", cm_stages},
};

// Whether a name is one of the words of "laws,sliding"; NULL wants everything.
static bool wanted(const char* only, const char* name) {
  size_t n = strlen(name);
  for (const char* at = only; at && *at; at += strcspn(at, ","), at += *at == ',') {
    if (strcspn(at, ",") == n && strncmp(at, name, n) == 0) return true;
  }
  return only == NULL;
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("cm", argc, argv);
  if (!bench) return 2;
  const char* only = tb_bench_option(bench, "only", NULL);
  if (!tb_bench_check_arguments(bench)) return tb_bench_close(bench), 2;
  int count = (int)(sizeof EXPERIMENT / sizeof *EXPERIMENT);
  for (int i = 0; i < count; i++) {
    tb_bench_progress(bench, i, count, EXPERIMENT[i].name);
    if (wanted(only, EXPERIMENT[i].name)) EXPERIMENT[i].run(bench);
  }
  tb_bench_progress(bench, count, count, "");
  return tb_bench_close(bench);
}
