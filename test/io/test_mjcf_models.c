// Every MJCF file of the shared models is read; the same file gives the same spec, in any thread.
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "common/model_files.h"
#include "io/mjcf_test.h"

// A number that changes with any pose, name or parameter of the spec.
static uint64_t fingerprint(const tbFlat* s) {
  uint64_t hash = TB_HASH_SEED;
  for (int i = 0; i < s->nbody; i++) {
    const tbFlatBody* b = &s->body[i];
    hash = tb_hash(hash, b->pos, sizeof b->pos);
    hash = tb_hash(hash, b->quat, sizeof b->quat);
    if (b->name) hash = tb_hash(hash, b->name, strlen(b->name));
  }
  for (int i = 0; i < s->ngeom; i++) {
    const tbFlatGeom* g = &s->geom[i];
    hash = tb_hash(hash, g->size, sizeof g->size);
    hash = tb_hash(hash, g->pos, sizeof g->pos);
    hash = tb_hash(hash, g->friction, sizeof g->friction);
  }
  for (int i = 0; i < s->njoint; i++) {
    hash = tb_hash(hash, s->joint[i].axis, sizeof s->joint[i].axis);
    hash = tb_hash(hash, s->joint[i].range, sizeof s->joint[i].range);
  }
  for (int i = 0; i < s->nactuator; i++) {
    hash = tb_hash(hash, s->actuator[i].gainprm, sizeof s->actuator[i].gainprm);
  }
  return hash;
}

static void check_file(const char* path) {
  tbError error;
  tbFlat* a = tb_test_spec(path, NULL, &error);
  if (!a) fail_msg("%s", error.message);
  tbFlat* b = tb_test_spec(path, NULL, &error);
  assert_true(fingerprint(a) == fingerprint(b));
  // the order that the compiler relies on
  for (int i = 1; i < a->nbody; i++) assert_true(a->body[i].parent < i);
  for (int i = 1; i < a->ngeom; i++) assert_true(a->geom[i - 1].body <= a->geom[i].body);
  for (int i = 1; i < a->njoint; i++) assert_true(a->joint[i - 1].body <= a->joint[i].body);
  tb_flat_free(a);
  tb_flat_free(b);
}

static int walk(const char* folder) {
  DIR* dir = opendir(folder);
  assert_non_null(dir);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    struct stat status;
    size_t length = strlen(entry->d_name);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
      count += walk(path);
    } else if (length > 4 && strcmp(entry->d_name + length - 4, ".xml") == 0) {
      check_file(path);
      count++;
    }
  }
  closedir(dir);
  return count;
}

static void test_all(void** state) {
  (void)state;
  char folder[512];
  int count = 0;
  if (tb_test_shared("models/mujoco/model", folder, sizeof folder)) count += walk(folder);
  if (tb_test_shared("models/mujoco_menagerie", folder, sizeof folder)) count += walk(folder);
  print_message("%d files\n", count);
}

// Sizes that MuJoCo 3.14 gives for these files.
static void test_sizes(void** state) {
  (void)state;
  static const struct {
    const char* path;
    int nu, nbody, ngeom, neq, nsensor, nkey;
  } FILES[] = {
      {"mujoco_menagerie/agility_cassie/scene.xml", 10, 26, 45, 4, 20, 1},
      {"mujoco_menagerie/pal_talos/scene_motor.xml", 32, 46, 105, 6, 0, 1},
      {"mujoco_menagerie/wonik_allegro/scene_left.xml", 16, 23, 44, 0, 0, 0},
      {"mujoco_menagerie/unitree_g1/scene_mjx.xml", 29, 31, 63, 0, 14, 2},
      {"mujoco_menagerie/unitree_go2/scene_mjx.xml", 12, 14, 57, 0, 30, 1},
      {"mujoco/model/humanoid/100_humanoids.xml", 2100, 1601, 1901, 0, 0, 4},
      {"mujoco/model/humanoid/humanoid100.xml", 21, 117, 128, 0, 0, 4},
      {"mujoco/model/replicate/particle.xml", 0, 1002, 1006, 0, 0, 0},
      {"mujoco/model/sleep/dominos.xml", 0, 97, 97, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
    char path[512], name[256];
    snprintf(name, sizeof name, "models/%s", FILES[i].path);
    if (!tb_test_shared(name, path, sizeof path)) continue;
    tbError error;
    tbFlat* s = tb_test_spec(path, NULL, &error);
    if (!s) fail_msg("%s", error.message);
    assert_int_equal(s->nactuator, FILES[i].nu);
    assert_int_equal(s->nbody, FILES[i].nbody);
    assert_int_equal(s->ngeom, FILES[i].ngeom);
    assert_int_equal(s->nequality, FILES[i].neq);
    assert_int_equal(s->nsensor, FILES[i].nsensor);
    assert_int_equal(s->nkey, FILES[i].nkey);
    tb_flat_free(s);
  }
}

static const char CHAIN[] =
    "<mujoco><default><geom size='.1'/></default><worldbody><replicate count='20' euler='0 0 9'>"
    "<body name='b' pos='1.25 0 0'><joint name='j' range='-10 10'/><geom/></body></replicate>"
    "</worldbody><actuator><position joint='j' kp='3'/></actuator></mujoco>";

static void* parse_often(void* result) {
  uint64_t hash = 0;
  for (int i = 0; i < 20; i++) {
    tbError error;
    tbFlat* s = tb_flat_parse_mjcf(CHAIN, sizeof CHAIN - 1, "chain.xml", NULL, &error);
    if (!s) return NULL;
    hash = fingerprint(s);
    tb_flat_free(s);
  }
  *(uint64_t*)result = hash;
  return result;
}

static void test_threads(void** state) {
  (void)state;
  enum { N = 4 };
  pthread_t thread[N];
  uint64_t hash[N] = {0};
  for (int i = 0; i < N; i++) {
    assert_int_equal(pthread_create(&thread[i], NULL, parse_often, &hash[i]), 0);
  }
  for (int i = 0; i < N; i++) {
    pthread_join(thread[i], NULL);
    assert_true(hash[i] != 0 && hash[i] == hash[0]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
