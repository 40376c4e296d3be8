// HDF5 is loaded when a file needs it: its interface is the one declared here, and a library that
// is missing, another one or too old is an error that says what to do.
#include "io/hdf5.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/test.h"
#include "tribo/fclib.h"
#include "tribo/tribo.h"

#ifdef TB_WITH_HDF5
#include <hdf5.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
SAME(sizeof(tbH5), sizeof(hid_t));
SAME(sizeof(tbH5Size), sizeof(hsize_t));
SAME(sizeof(int64_t), sizeof(hssize_t));
SAME(sizeof(int), sizeof(herr_t));
SAME(sizeof(int), sizeof(htri_t));
SAME(sizeof(int), sizeof(H5T_class_t));
SAME(sizeof(int), sizeof(H5D_layout_t));
SAME(sizeof(int), sizeof(H5S_seloper_t));
SAME(TB_H5_DEFAULT, H5P_DEFAULT);
SAME(TB_H5_DEFAULT, H5E_DEFAULT);
SAME(TB_H5_DEFAULT, H5S_ALL);
SAME(TB_H5_SCALAR, H5S_SCALAR);
SAME(TB_H5_SELECT_SET, H5S_SELECT_SET);
SAME(TB_H5_COMPACT, H5D_COMPACT);
SAME(TB_H5_DEFLATE, H5Z_FILTER_DEFLATE);
SAME(TB_H5_NO_CLASS, H5T_NO_CLASS);
SAME(TB_H5_INTEGER, H5T_INTEGER);
SAME(TB_H5_FLOAT, H5T_FLOAT);
SAME(TB_H5_STRING, H5T_STRING);
SAME(TB_H5_UNLIMITED, H5S_UNLIMITED);

// The rest are no constants for the compiler: macros that call H5open.
static void values_are_those_of_the_header(void** state) {
  (void)state;
  tbError error;
  if (tb_h5_load("x.h5", &error) != TB_OK) fail_msg("%s", error.message);
  assert_int_equal(TB_H5_READ_ONLY, H5F_ACC_RDONLY);
  assert_int_equal(TB_H5_READ_WRITE, H5F_ACC_RDWR);
  assert_int_equal(TB_H5_TRUNCATE, H5F_ACC_TRUNC);
  assert_int_equal(tb_h5.native_int, H5T_NATIVE_INT);
  assert_int_equal(tb_h5.native_double, H5T_NATIVE_DOUBLE);
  assert_int_equal(tb_h5.i32le, H5T_STD_I32LE);
  assert_int_equal(tb_h5.f64le, H5T_IEEE_F64LE);
  assert_int_equal(tb_h5.c_string, H5T_C_S1);
  assert_int_equal(tb_h5.link_create, H5P_LINK_CREATE);
  assert_int_equal(tb_h5.dataset_create, H5P_DATASET_CREATE);
}
#endif

// In a process of its own, in which TRIBO_HDF5 names `library`, reading an FCLIB file and opening a
// trajectory say `message`.
static void expect(const char* library, const char* message) {
  static const char PATH[] = TB_BUILD_DIR "/test_hdf5.h5";
  fclose(fopen(PATH, "w"));
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    tbError one = {0}, two = {0};
    tbFclib* problem = NULL;
    alarm(60);
    setenv("TRIBO_HDF5", library, 1);
    tbModel* m = tb_load_string("<mujoco/>", NULL, NULL, NULL);
    bool good = tb_fclib_read(PATH, &problem, &one) == TB_ERROR_UNSUPPORTED && !problem &&
                strstr(one.message, message) && strstr(one.message, PATH) &&
                !tb_trajectory_open(PATH, m, &two) && two.code == TB_ERROR_UNSUPPORTED &&
                strstr(two.message, message);
    tb_model_free(m);
    if (!good) fprintf(stderr, "%s: %s\n%s\n", library, one.message, two.message);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  unlink(PATH);
}

static void a_library_that_cannot_be_used_is_an_error(void** state) {
  (void)state;
  expect("/nonexistent/libhdf5.so", "cannot be loaded");
  expect("libm.so.6", "not the HDF5 library");
  expect(OLD_HDF5, "HDF5 1.8.23: Tribo needs 1.10 or later");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_library_that_cannot_be_used_is_an_error),
#ifdef TB_WITH_HDF5
      cmocka_unit_test(values_are_those_of_the_header),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
