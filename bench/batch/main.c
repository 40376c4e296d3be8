// What models and fields by world cost a batch: time by world and step.
//
// Counts of instructions: valgrind --tool=callgrind build/bench/tribo-bench-batch --case NAME
// --calls N, less the same with fewer calls.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bench.h"
#include "tribo/tribo.h"

enum { MOST_NAMES = 8 };

typedef struct {
  const char* name;
  const char* expand[MOST_NAMES];   // arrays and options by world
  const char* request[MOST_NAMES];  // fields
  bool changes;                     // every call finds other values in the first array
} Case;

static const Case CASES[] = {
    {"nothing", {NULL}, {NULL}, false},
    {"friction", {"geom_friction"}, {NULL}, false},
    {"gravity", {"opt.gravity"}, {NULL}, false},
    {"masses", {"body_mass", "body_inertia"}, {NULL}, false},
    {"robot",
     {"body_mass", "body_inertia", "geom_friction", "dof_damping", "dof_armature",
      "actuator_gainprm", "actuator_biasprm"},
     {NULL},
     false},
    {"sizes", {"geom_size"}, {NULL}, false},
    {"poses", {NULL}, {"xpos", "xquat", "qacc"}, false},
    {"reactions", {NULL}, {"cfrc_int"}, false},
    {"wrenches", {NULL}, {"body_contact_wrench"}, false},
    {"friction-changes", {"geom_friction"}, {NULL}, true},
    {"masses-change", {"body_mass"}, {NULL}, true},
    {"places-change", {"body_pos"}, {NULL}, true},
};
enum { NCASE = sizeof CASES / sizeof *CASES };

// Another value, as near to the last one as numbers are.
static void change(tbReal* x, int n, int call) {
  for (int i = 0; i < n; i++) x[i] *= call % 2 ? 1 + 1e-12 : 1 - 1e-12;
}

static tbBatch* batch_of(const tbModel* m, const Case* c, int nworld) {
  tbError error;
  tbBatch* b = tb_batch_new(m, nworld, 1, 0, &error);
  if (!b) return NULL;
  bool good = true;
  for (int i = 0; i < MOST_NAMES && c->expand[i]; i++) good &= !!tb_batch_expand(b, c->expand[i]);
  for (int i = 0; i < MOST_NAMES && c->request[i]; i++) {
    good &= !!tb_batch_request(b, c->request[i]);
  }
  if (good && tb_batch_reset(b, NULL, m->nkey > 0 ? 0 : -1) == TB_OK) return b;
  fprintf(stderr, "%s\n", b->message);
  tb_batch_free(b);
  return NULL;
}

static void run(tbBatch* b, const Case* c, int calls, int nstep) {
  int n = 0;
  tbReal* x = c->changes ? tb_batch_field(b, c->expand[0], NULL, &n) : NULL;
  for (int k = 0; k < calls; k++) {
    if (x) change(x, n * b->nworld, k);
    if (tb_batch_step(b, nstep) != TB_OK) fprintf(stderr, "%s\n", b->message);
  }
}

// The least of several times, in microseconds by world and step.
static double measure(const tbModel* m, const Case* c, int nworld, int calls, int nstep) {
  double least = 0;
  for (int repeat = 0; repeat < 5; repeat++) {
    tbBatch* b = batch_of(m, c, nworld);
    if (!b) return 0;
    run(b, c, 2, nstep);
    tbClock start = tb_bench_clock();
    run(b, c, calls, nstep);
    double time = 1e6 * tb_bench_since(start) / ((double)nworld * calls * nstep);
    if (repeat == 0 || time < least) least = time;
    tb_batch_free(b);
  }
  return least;
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("batch", argc, argv);
  if (!bench) return 2;
  const char* only = tb_bench_option(bench, "case", NULL);
  const char* law = tb_bench_option(bench, "law", "comfree");
  const char* scene = tb_bench_option(bench, "scene", TB_SCENES_DIR "/hand.xml");
  int nworld = atoi(tb_bench_option(bench, "worlds", "16"));
  int calls = atoi(tb_bench_option(bench, "calls", "40"));
  int nstep = atoi(tb_bench_option(bench, "steps", "1"));
  if (!tb_bench_check_arguments(bench)) return 2;
  tbError error;
  tbModel* m = tb_load(scene, NULL, &error);
  if (!m || tb_option_set(&m->opt, "law", law, &error) != TB_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  tbTable* table = tb_bench_table(bench, "batch");
  for (int i = 0; i < NCASE; i++) {
    const Case* c = &CASES[i];
    if (only && strcmp(only, c->name) != 0) continue;
    tbBatch* b = batch_of(m, c, nworld);
    if (!b) continue;
    if (only) {
      run(b, c, calls, nstep);
    } else {
      tb_bench_progress(bench, i, NCASE, c->name);
      tb_table_row(table);
      tb_table_text(table, "case", c->name);
      tb_table_real(table, "us_call_of_1", measure(m, c, nworld, calls, 1));
      tb_table_real(table, "us_call_of_10", measure(m, c, nworld, calls / 4, 10));
      tb_table_int(table, "bytes_by_world", (long long)(tb_batch_memory(b) / (size_t)nworld));
    }
    tb_batch_free(b);
  }
  tb_model_free(m);
  return tb_bench_close(bench);
}
