// Mesh mass, centre and inertia against the newest MuJoCo, in each of its modes.
#include <glob.h>

#include "common/oracle.h"
#include "common/test.h"
#include "io/mesh/mesh.h"
#include "spatial/quat.h"

typedef struct {
  char path[1024];
  const char* attributes;
  tbMeshOptions options;
} Case;

enum { MOST = 400 };

// Collision meshes of the shared robots, each in one of the modes.
static int collect(Case* cases) {
  static const char* const PATTERNS[] = {
      "models/example-robot-data/robots/talos_data/meshes/*/*.[sS][tT][lL]",
      "models/example-robot-data/robots/ur_description/meshes/*/*/*.stl",
      "models/mujoco_menagerie/leap_hand/assets/*tip.obj",
      "models/mujoco_menagerie/agility_cassie/assets/*.obj",
      "models/mujoco_menagerie/unitree_g1/assets/*link*.STL",
  };
  static const struct {
    const char* attributes;
    tbMeshOptions options;
  } MODES[] = {
      {"", {{1, 1, 1}, {0}, {1, 0, 0, 0}, TB_MESH_LEGACY, -1, false, false}},
      {"inertia=\"convex\"", {{1, 1, 1}, {0}, {1, 0, 0, 0}, TB_MESH_CONVEX, -1, true, false}},
      {"inertia=\"shell\"", {{1, 1, 1}, {0}, {1, 0, 0, 0}, TB_MESH_SHELL, -1, false, false}},
      {"inertia=\"exact\"", {{1, 1, 1}, {0}, {1, 0, 0, 0}, TB_MESH_EXACT, -1, false, false}},
      {"scale=\"-1 2 0.5\" refpos=\"0.1 -0.2 0.3\" refquat=\"0.5 0.5 -0.5 0.5\"",
       {{-1, 2, 0.5}, {0.1, -0.2, 0.3}, {0.5, 0.5, -0.5, 0.5}, TB_MESH_LEGACY, -1, false, false}},
  };
  int n = 0;
  for (size_t p = 0; p < sizeof PATTERNS / sizeof PATTERNS[0]; p++) {
    char full[1024];
    glob_t found;
    snprintf(full, sizeof full, "%s/%s", TB_SHARED_DIR, PATTERNS[p]);
    if (glob(full, 0, NULL, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc && n < MOST; i++, n++) {
        snprintf(cases[n].path, sizeof cases[n].path, "%s", found.gl_pathv[i]);
        cases[n].attributes = MODES[n % 5].attributes;
        cases[n].options = MODES[n % 5].options;
      }
      globfree(&found);
    }
  }
  return n;
}

// Keep what Tribo accepts; the properties in `mesh`.
static int process(Case* cases, int n, tbMesh* mesh, tbArena* arena) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    tbMeshData data;
    tbError error = {0};
    assert_int_equal(tb_mesh_read(&data, arena, cases[i].path, &error), TB_OK);
    tbResult result =
        tb_mesh_process(&mesh[kept], arena, cases[i].path, &data, &cases[i].options, &error);
    // Only exact mode may refuse a real mesh.
    if (result && cases[i].options.inertia != TB_MESH_EXACT) fail_msg("%s", error.message);
    if (result == TB_OK) cases[kept++] = cases[i];
  }
  return kept;
}

static void write_model(const char* path, const Case* cases, int n) {
  FILE* out = fopen(path, "w");
  assert_non_null(out);
  // The peer sees files below a folder of its own, so that paths must be relative.
  char up[256] = "";
  for (const char* c = TB_BUILD_DIR; *c; c++) {
    if (*c == '/' && strlen(up) + 8 < sizeof up) strcat(up, *up ? "/.." : "..");
  }
  fprintf(out, "<mujoco><asset>\n");
  for (int i = 0; i < n; i++) {
    fprintf(out, "<mesh name=\"m%d\" file=\"%s%s\" %s/>\n", i, up, cases[i].path,
            cases[i].attributes);
  }
  fprintf(out, "</asset><worldbody>\n");
  for (int i = 0; i < n; i++) {
    fprintf(out, "<body><freejoint/><geom type=\"mesh\" mesh=\"m%d\"/></body>\n", i);
  }
  fprintf(out, "</worldbody></mujoco>\n");
  fclose(out);
}

static void tensor(double I[9], const double quat[4], const double J[3]) {
  double R[9], S[9];
  tb_quat_to_mat(R, quat);
  for (int i = 0; i < 9; i++) S[i] = R[i] * J[i % 3];
  tb_mul_mat3_mat3t(I, S, R);
}

static void test_newest(void** state) {
  (void)state;
  if (!tb_oracle_available()) skip();
  static Case cases[MOST];
  static tbMesh mesh[MOST];
  tbArena arena;
  tb_arena_init(&arena);
  int n = process(cases, collect(cases), mesh, &arena);
  if (n == 0) skip();
  char path[1024], message[1000] = "";
  snprintf(path, sizeof path, "%s/mesh_newest.xml", TB_BUILD_DIR);
  write_model(path, cases, n);
  tbOracle* oracle = tb_oracle_run(path, NULL, 1, 0, message, sizeof message);
  if (!oracle) fail_msg("MuJoCo: %s", message);
  const double* mass = tb_oracle_model(oracle, "body_mass")->values;
  const double* ipos = tb_oracle_model(oracle, "body_ipos")->values;
  const double* iquat = tb_oracle_model(oracle, "body_iquat")->values;
  const double* inertia = tb_oracle_model(oracle, "body_inertia")->values;
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double ours[9], theirs[9], J[3];
    tb_scale3(J, mesh[i].inertia, 1000);
    tensor(ours, mesh[i].quat, J);
    tensor(theirs, iquat + 4 * (i + 1), inertia + 3 * (i + 1));
    double difference = fabs(1000 * mesh[i].volume / mass[i + 1] - 1);
    for (int k = 0; k < 9; k++) difference = fmax(difference, fabs(ours[k] - theirs[k]) / J[0]);
    double size = mesh[i].aabb[3] - mesh[i].aabb[0];
    for (int k = 0; k < 3; k++) {
      difference = fmax(difference, fabs(mesh[i].pos[k] - ipos[3 * (i + 1) + k]) / size);
    }
    if (!(difference < 1e-6)) {
      print_error("%s %s: %g\n", cases[i].path, cases[i].attributes, difference);
    }
    worst = fmax(worst, difference);
  }
  print_message("%d meshes, largest relative difference %.2g\n", n, worst);
  assert_true(worst < 1e-6);
  tb_oracle_free(oracle);
  tb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_newest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
