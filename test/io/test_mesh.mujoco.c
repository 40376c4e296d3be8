// Mesh volume, inertia and frame against MuJoCo, on every mesh file of the shared robots.
#include <dirent.h>
#include <mujoco/mujoco.h>
#include <sys/stat.h>

#include "common/test.h"
#include "io/mesh/mesh.h"
#include "spatial/quat.h"

// MuJoCo 2.2.2 keeps vertices in single precision while it transforms them.
// Vertices are single precision there: small parts far from their origin lose digits.
static const double TOLERANCE = 2e-5;
static const double TRANSFORMED_TOLERANCE = 1e-4;

typedef struct {
  int files;
  int frames;  // whose axes are unique enough to compare
  double worst;
} Tally;

// MuJoCo's model of one body that is one mesh.
static mjModel* load(const char* path, const char* compiler, const char* attributes, char* error) {
  char* text = malloc(strlen(path) + 1000);
  sprintf(text,
          "<mujoco><compiler %s/><asset><mesh name='m' file='%s' %s/></asset><worldbody><body>"
          "<freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
          compiler, path, attributes);
  char file[] = "/tmp/tribo_mesh_XXXXXX";
  int descriptor = mkstemp(file);
  assert_true(descriptor >= 0);
  FILE* out = fdopen(descriptor, "w");
  fputs(text, out);
  fclose(out);
  free(text);
  mjModel* model = mj_loadXML(file, NULL, error, 1000);
  remove(file);
  return model;
}

// I = R diag(J) R^T
static void tensor(double I[9], const double quat[4], const double J[3]) {
  double R[9], S[9];
  tb_quat_to_mat(R, quat);
  for (int i = 0; i < 9; i++) S[i] = R[i] * J[i % 3];
  tb_mul_mat3_mat3t(I, S, R);
}

static void compare(const char* path, const char* compiler, const char* attributes,
                    tbMeshOptions options, Tally* tally) {
  char reason[1000] = "";
  mjModel* model = load(path, compiler, attributes, reason);
  if (!model) {
    // Meshes that MuJoCo refuses (for instance open ones in exact mode) are tested elsewhere.
    return;
  }
  tbArena arena;
  tbMeshData data;
  tbMesh mesh;
  tbError error = {0};
  tb_arena_init(&arena);
  options.need_hull = false;
  if (tb_mesh_read(&data, &arena, path, &error) ||
      tb_mesh_process(&mesh, &arena, path, &data, &options, &error)) {
    fail_msg("%s", error.message);
  }
  // MuJoCo 2.2.2 takes mass and inertia of a mesh from its inertia box.
  double* h = mesh.box;
  double mass = 8000 * h[0] * h[1] * h[2], ours[9], theirs[9], inertia[3];
  for (int i = 0; i < 3; i++) {
    double b = h[(i + 1) % 3], c = h[(i + 2) % 3];
    inertia[i] = mass / 3 * (b * b + c * c);
  }
  tensor(ours, mesh.quat, inertia);
  tensor(theirs, model->body_iquat + 4, model->body_inertia + 3);
  double worst = fabs(mass - model->body_mass[1]) / mass;
  for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(ours[i] - theirs[i]) / inertia[0]);
  double size = mesh.aabb[3] - mesh.aabb[0];
  for (int i = 0; i < 3; i++) {
    worst = fmax(worst, fabs(mesh.pos[i] - model->body_ipos[3 + i]) / size);
  }
  double allowed = *attributes ? TRANSFORMED_TOLERANCE : TOLERANCE;
  if (!(worst < allowed)) print_error("%s %s: relative difference %g\n", path, attributes, worst);
  assert_true(worst < allowed);
  tally->worst = fmax(tally->worst, worst);
  tally->files++;

  // Where the moments are well apart the axes must be the same up to sign.
  if (inertia[0] > 1.01 * inertia[1] && inertia[1] > 1.01 * inertia[2]) {
    double a[9], b[9];
    tb_quat_to_mat(a, mesh.quat);
    tb_quat_to_mat(b, model->geom_quat);
    for (int i = 0; i < 3; i++) {
      double dot = a[i] * b[i] + a[3 + i] * b[3 + i] + a[6 + i] * b[6 + i];
      assert_true(fabs(fabs(dot) - 1) < 1e-5);
    }
    tally->frames++;
  }
  mj_deleteModel(model);
  tb_arena_free(&arena);
}

static void visit(const char* folder, Tally* tally) {
  DIR* dir = opendir(folder);
  if (!dir) return;
  for (struct dirent* entry; (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
      visit(path, tally);
      continue;
    }
    const char* dot = strrchr(entry->d_name, '.');
    // MuJoCo 2.2.2 reads no more than 200000 faces and no quads larger than this needs.
    if (!dot || (strcmp(dot, ".stl") && strcmp(dot, ".STL") && strcmp(dot, ".obj"))) continue;
    if (info.st_size > 1 << 20) continue;
    tbMeshOptions options = tb_mesh_default_options();
    compare(path, "", "", options, tally);
    // A mirrored, stretched copy in another frame; every fourth file also in the other modes.
    if (tally->files % 4 == 0) {
      options = (tbMeshOptions){{-1, 2, 0.5}, {0.1, -0.2, 0.3}, {0.5, 0.5, -0.5, 0.5}, 2, -1, 0, 0};
      compare(path, "", "scale='-1 2 0.5' refpos='0.1 -0.2 0.3' refquat='0.5 0.5 -0.5 0.5'",
              options, tally);
    }
  }
  closedir(dir);
}

static void test_shared_meshes(void** state) {
  (void)state;
  char folder[4096];
  if (!tb_test_shared("models", folder, sizeof folder)) skip();
  Tally tally = {0};
  visit(folder, &tally);
  print_message("%d meshes agree with MuJoCo to %.2g, %d frames compared\n", tally.files,
                tally.worst, tally.frames);
  assert_true(tally.files > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared_meshes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
