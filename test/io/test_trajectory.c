// Trajectories as files: written values are read back, over chunks, in CSV and HDF5; values that
// cannot be written are errors.
#include <unistd.h>

#include "common/test.h"
#include "tribo/tribo.h"
#ifdef TB_WITH_HDF5
#include <hdf5.h>
#endif

enum { ROWS = 600 };  // more than two chunks

static tbModel* make(const char* more) {
  char text[1000];
  tbError error = {0};
  snprintf(text, sizeof text,
           "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.2'><freejoint/>"
           "<geom size='0.1'/></body><body pos='1 0 0'><joint name='j'/><geom size='0.1'/></body>"
           "%s</worldbody><actuator><motor joint='j'/></actuator></mujoco>",
           more);
  tbModel* m = tb_load_string(text, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// The state of row r: numbers that need all their digits.
static void set_row(const tbModel* m, tbData* d, int r) {
  d->time = r / 3.0;
  for (int i = 0; i < m->nq; i++) d->qpos[i] = sin(r + 0.1 * i);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 1e-7 * cos(r + 0.3 * i);
  d->ctrl[0] = -1e5 / (r + 1);
}

static const char* write_rows(const tbModel* m, tbData* d, const char* name) {
  static char path[1024];
  tbError error = {0};
  snprintf(path, sizeof path, "%s/%s", TB_BUILD_DIR, name);
  tbTrajectory* t = tb_trajectory_open(path, m, &error);
  if (!t) fail_msg("%s", error.message);
  for (int r = 0; r < ROWS; r++) {
    set_row(m, d, r);
    assert_int_equal(tb_trajectory_append(t, m, d, &error), TB_OK);
  }
  assert_int_equal(tb_trajectory_close(t, &error), TB_OK);
  return path;
}

static void read_csv(const tbModel* m, tbData* d, const char* path) {
  FILE* f = fopen(path, "r");
  assert_non_null(f);
  char line[4096];
  assert_non_null(fgets(line, sizeof line, f));
  assert_ptr_equal(strstr(line, "time,qpos0,qpos1"), line);
  int r = 0;
  for (; fgets(line, sizeof line, f); r++) {
    set_row(m, d, r);
    char* at = line;
    assert_true(strtod(at, &at) == d->time);
    for (int i = 0; i < m->nq; i++) assert_true(strtod(at + 1, &at) == d->qpos[i]);
    for (int i = 0; i < m->nv; i++) assert_true(strtod(at + 1, &at) == d->qvel[i]);
    assert_true(strtod(at + 1, &at) == d->ctrl[0]);
    for (int i = 0; i < 4; i++) strtod(at + 1, &at);
    assert_int_equal(*at, '\n');
  }
  assert_int_equal(r, ROWS);
  fclose(f);
}

static void csv_is_read_back(void** state) {
  (void)state;
  tbModel* m = make("");
  tbData* d = tb_data_new(m);
  for (int comma = 0; comma < 2; comma++) {
    if (comma && !tb_test_comma("locale_trajectory")) break;
    const char* path = write_rows(m, d, "trajectory.csv");
    tb_test_comma(NULL);
    read_csv(m, d, path);
    remove(path);
  }
  tb_data_free(d);
  tb_model_free(m);
}

static void hdf5_is_read_back(void** state) {
  (void)state;
#ifdef TB_WITH_HDF5
  tbModel* m = make("");
  tbData* d = tb_data_new(m);
  const char* path = write_rows(m, d, "trajectory.h5");
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  const char* const NAMES[] = {"time", "qpos", "qvel", "ctrl"};
  const int WIDTH[] = {1, m->nq, m->nv, m->nu};
  const tbReal* const FIELD[] = {&d->time, d->qpos, d->qvel, d->ctrl};
  for (int k = 0; k < 4; k++) {
    hid_t set = H5Dopen2(file, NAMES[k], H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t shape[2];
    assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), 2);
    assert_int_equal(shape[0], ROWS);
    assert_int_equal(shape[1], WIDTH[k]);
    double* values = malloc(sizeof(double) * ROWS * (size_t)WIDTH[k]);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (int r = 0; r < ROWS; r++) {
      set_row(m, d, r);
      assert_memory_equal(values + r * WIDTH[k], FIELD[k], sizeof(double) * (size_t)WIDTH[k]);
    }
    free(values);
    H5Sclose(space);
    H5Dclose(set);
  }
  H5Fclose(file);
  remove(path);
  tb_data_free(d);
  tb_model_free(m);
#else
  skip();
#endif
}

static void what_cannot_be_written_is_said(void** state) {
  (void)state;
  tbModel *m = make(""), *other = make("<body><joint/><geom size='0.1'/></body>");
  tbData *d = tb_data_new(m), *theirs = tb_data_new(other);
  tbError error = {0};
  static const char* const BAD[] = {"nowhere/a.csv", "nowhere/a.h5", "a.txt", "", "csv"};
  for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
    error = (tbError){0};
    assert_null(tb_trajectory_open(BAD[i], m, &error));
    assert_true(error.code != TB_OK && error.message[0]);
  }
  assert_null(tb_trajectory_open(NULL, m, &error));
  // A world of another model has other columns.
  char path[1024];
  snprintf(path, sizeof path, "%s/trajectory_other.csv", TB_BUILD_DIR);
  tbTrajectory* t = tb_trajectory_open(path, m, &error);
  assert_non_null(t);
  assert_int_equal(tb_trajectory_append(t, other, theirs, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "another model"));
  assert_int_equal(tb_trajectory_append(t, m, d, &error), TB_OK);
  assert_int_equal(tb_trajectory_close(t, &error), TB_OK);
  remove(path);
  // A full disk shows at the end at the latest.
  snprintf(path, sizeof path, "%s/trajectory_full.csv", TB_BUILD_DIR);
  remove(path);
  if (access("/dev/full", W_OK) == 0 && symlink("/dev/full", path) == 0) {
    t = tb_trajectory_open(path, m, &error);
    assert_non_null(t);
    tbResult result = tb_trajectory_append(t, m, d, &error);
    if (result == TB_OK) result = tb_trajectory_close(t, &error);
    assert_int_equal(result, TB_ERROR_FILE);
    remove(path);
  }
  assert_int_equal(tb_trajectory_close(NULL, &error), TB_OK);
  tb_data_free(d);
  tb_data_free(theirs);
  tb_model_free(m);
  tb_model_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csv_is_read_back),
      cmocka_unit_test(hdf5_is_read_back),
      cmocka_unit_test(what_cannot_be_written_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
