// Milliseconds from a model file to a model that can be simulated, ours and MuJoCo 2.2.2's in turn.
//
// Where a file is too new for 2.2.2, MuJoCo reads a copy without the attributes it does not know;
// both read the same meshes from disk. A cell is the fastest of several loads; an arm with muscles,
// whose length ranges are found by simulation, is loaded once.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/timer.h"
#include "common/bench.h"
#include "tribo/model.h"
#ifdef TB_BENCH_MUJOCO
#include "common/mujoco_model.h"
#endif

static const char* const ROBOTS[][2] = {
    {"humanoid", "mujoco/model/humanoid/humanoid.xml"},
    {"Cassie", "mujoco_menagerie/agility_cassie/cassie.xml"},
    {"Talos", "mujoco_menagerie/pal_talos/talos.xml"},
    {"G1", "mujoco_menagerie/unitree_g1/g1.xml"},
    {"Go2", "mujoco_menagerie/unitree_go2/go2.xml"},
    {"ANYmal C", "mujoco_menagerie/anybotics_anymal_c/anymal_c.xml"},
    {"Allegro", "mujoco_menagerie/wonik_allegro/left_hand.xml"},
};
enum { NROBOTS = sizeof ROBOTS / sizeof ROBOTS[0] };

// Seconds of one load, negative where it fails.
static double our_load(const char* path, int* nmesh) {
  tbError error = {0};
  double start = tb_seconds();
  tbModel* m = tb_load(path, NULL, &error);
  double seconds = tb_seconds() - start;
  if (!m) fprintf(stderr, "%s\n", error.message);
  if (m) *nmesh = m->nmesh;
  bool good = m != NULL;
  tb_model_free(m);
  return good ? seconds : -1;
}

#ifdef TB_BENCH_MUJOCO
// A file system with the stripped copy, or NULL where MuJoCo reads the file as it is.
static mjVFS* stripped_copy(const char* path) {
  char error[1000];
  mjModel* m = mj_loadXML(path, NULL, error, sizeof error);
  mj_deleteModel(m);
  if (m) return NULL;
  mjVFS* vfs = malloc(sizeof *vfs);
  if (!vfs) return NULL;
  mj_defaultVFS(vfs);
  tb_add_stripped(vfs, path);
  return vfs;
}

static double their_load(const char* path, const mjVFS* vfs) {
  char error[1000];
  double start = tb_seconds();
  mjModel* m = mj_loadXML(path, vfs, error, sizeof error);
  double seconds = tb_seconds() - start;
  if (!m) fprintf(stderr, "%s: MuJoCo: %s\n", path, error);
  bool good = m != NULL;
  mj_deleteModel(m);
  return good ? seconds : -1;
}
#endif

static double fastest(double a, double b) {
  return a < 0 || (b >= 0 && b < a) ? b : a;
}

static double measure(tbTable* table, const char* name, const char* path, int repeats) {
  double ours = -1, ratio = -1;
  int nmesh = 0;
#ifdef TB_BENCH_MUJOCO
  mjVFS* vfs = stripped_copy(path);
  double theirs = -1;
#endif
  for (int i = 0; i < repeats; i++) {
    ours = fastest(ours, our_load(path, &nmesh));
#ifdef TB_BENCH_MUJOCO
    theirs = fastest(theirs, their_load(path, vfs));
#endif
  }
  if (ours < 0) return -1;
  tb_table_row(table);
  tb_table_text(table, "robot", name);
  tb_table_int(table, "meshes", nmesh);
  tb_table_real(table, "tribo_ms", 1e3 * ours);
#ifdef TB_BENCH_MUJOCO
  if (theirs > 0) {
    ratio = ours / theirs;
    tb_table_real(table, "mujoco_ms", 1e3 * theirs);
    tb_table_real(table, "ratio", ratio);
  }
  if (vfs) mj_deleteVFS(vfs);
  free(vfs);
#endif
  return ratio;
}

enum { JOINTS = 7, MUSCLES = 24 };

// An arm whose muscles have no length range: finding it takes a simulation of each, both ways. Its
// file, or NULL.
static const char* write_arm(char* path) {
  int descriptor = mkstemp(path);
  FILE* f = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (!f) return NULL;
  fprintf(f, "<mujoco><compiler angle='radian'/><worldbody>");
  for (int j = 0; j < JOINTS; j++) {
    fprintf(f,
            "<body pos='%g 0 %d'><joint axis='0 1 0' range='-1.5 1.5' limited='true'/>"
            "<geom type='capsule' fromto='0 0 0 0.2 0 0' size='0.03'/>",
            j ? 0.2 : 0, j == 0);
    for (int k = 0; k < 4; k++) {
      fprintf(f, "<site name='s%d_%d' pos='%g 0 %g'/>", j, k, 0.02 + 0.05 * k, 0.03 + 0.002 * k);
    }
  }
  for (int j = 0; j < JOINTS; j++) fprintf(f, "</body>");
  fprintf(f, "</worldbody><tendon>");
  for (int i = 0; i < MUSCLES; i++) {
    int j = i % (JOINTS - 1), k = i / (JOINTS - 1);
    fprintf(f, "<spatial name='t%d'><site site='s%d_%d'/><site site='s%d_%d'/></spatial>", i, j, k,
            j + 1, 3 - k);
  }
  fprintf(f, "</tendon><actuator>");
  for (int i = 0; i < MUSCLES; i++) fprintf(f, "<muscle tendon='t%d'/>", i);
  fprintf(f, "</actuator></mujoco>");
  return fclose(f) == 0 ? path : NULL;
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("load", argc, argv);
  if (!bench) return 2;
  if (!tb_bench_check_arguments(bench)) return tb_bench_close(bench), 2;
  tbTable* table = tb_bench_table(bench, "load");
  int repeats = tb_bench_short(bench) ? 3 : 9, nratio = 0;
  double ratios[NROBOTS];
  for (int i = 0; i < NROBOTS; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, ROBOTS[i][1]);
    tb_bench_progress(bench, i, NROBOTS, ROBOTS[i][0]);
    if (access(path, R_OK) != 0) {
      tb_bench_note(bench, "%s: skipped, %s is not here", ROBOTS[i][0], path);
      continue;
    }
    double ratio = measure(table, ROBOTS[i][0], path, repeats);
    if (ratio > 0) ratios[nratio++] = ratio;
  }
  char path[] = "/tmp/tribo_load_XXXXXX";
  tb_bench_progress(bench, NROBOTS, NROBOTS, "muscles");
  if (write_arm(path)) measure(table, "arm, 24 muscles", path, 1);
  remove(path);
  if (nratio) {
    tb_bench_note(bench, "geometric mean of our time over MuJoCo 2.2.2's on robots: %.2f",
                  tb_bench_geomean(ratios, nratio));
  }
  return tb_bench_close(bench);
}
