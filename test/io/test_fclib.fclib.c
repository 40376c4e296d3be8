// Our FCLIB files against Debian's libfclib: it reads what we write, we read what it writes.
#include <dirent.h>
#include <fclib.h>
#include <unistd.h>

#include "common/test.h"
#include "tribo/fclib.h"

// Compare by dense scatter, since the peer keeps the stored encoding.
static void assert_same_matrix(const tbFclibMatrix* ours, const struct fclib_matrix* theirs) {
  assert_int_equal(ours->rows, theirs->m);
  assert_int_equal(ours->cols, theirs->n);
  size_t n = (size_t)ours->cols;
  tbReal* dense = calloc((size_t)ours->rows * n + 1, sizeof *dense);
  if (theirs->nz >= 0) {
    for (int k = 0; k < theirs->nz; k++) {
      dense[(size_t)theirs->p[k] * n + (size_t)theirs->i[k]] += theirs->x[k];
    }
  } else {
    int lines = theirs->nz == -2 ? theirs->m : theirs->n;
    for (int l = 0; l < lines; l++) {
      for (int k = theirs->p[l]; k < theirs->p[l + 1]; k++) {
        int r = theirs->nz == -2 ? l : theirs->i[k], c = theirs->nz == -2 ? theirs->i[k] : l;
        dense[(size_t)r * n + (size_t)c] += theirs->x[k];
      }
    }
  }
  for (int r = 0; r < ours->rows; r++) {
    for (int k = ours->start[r]; k < ours->start[r + 1]; k++) {
      tbReal* cell = &dense[(size_t)r * n + (size_t)ours->index[k]];
      assert_true(*cell == ours->value[k]);
      *cell = 0;
    }
  }
  for (size_t k = 0; k < (size_t)ours->rows * n; k++) assert_true(dense[k] == 0);
  free(dense);
}

static void assert_same_vector(const tbReal* a, const double* b, int n) {
  for (int i = 0; i < n; i++) assert_true(a[i] == b[i]);
}

static void compare_local(const tbFclib* ours, char* path) {
  struct fclib_local* theirs = fclib_read_local(path);
  assert_non_null(theirs);
  assert_int_equal(ours->spacedim, theirs->spacedim);
  assert_same_matrix(&ours->W, theirs->W);
  assert_same_vector(ours->q, theirs->q, ours->W.rows);
  assert_same_vector(ours->mu, theirs->mu, ours->contacts);
  fclib_delete_local(theirs);
  free(theirs);
}

static void compare_global(const tbFclib* ours, char* path) {
  struct fclib_global* theirs = fclib_read_global(path);
  assert_non_null(theirs);
  assert_same_matrix(&ours->M, theirs->M);
  assert_same_matrix(&ours->H, theirs->H);
  assert_same_vector(ours->f, theirs->f, ours->M.rows);
  assert_same_vector(ours->w, theirs->w, ours->H.cols);
  assert_same_vector(ours->mu, theirs->mu, ours->contacts);
  fclib_delete_global(theirs);
  free(theirs);
}

// Read a file with both, write it in each encoding, and let the peer read that.
static void cross(const char* source, const char* scratch) {
  char path[1024];
  tbFclib* ours = NULL;
  tbError error;
  snprintf(path, sizeof path, "%s", source);
  if (tb_fclib_read(path, &ours, &error) != TB_OK) fail_msg("%s", error.message);
  const tbFclibEncoding encodings[] = {TB_FCLIB_CSR, TB_FCLIB_CSC, TB_FCLIB_TRIPLET};
  for (int k = -1; k < 3; k++) {
    if (k >= 0) {
      snprintf(path, sizeof path, "%s", scratch);
      assert_int_equal(tb_fclib_write(ours, encodings[k], path, &error), TB_OK);
    }
    if (ours->global) compare_global(ours, path);
    if (!ours->global) compare_local(ours, path);
  }
  unlink(scratch);
  tb_fclib_free(ours);
}

// Every fifth local file and all global ones: the rest differs only in size.
static void test_corpus(void** state) {
  (void)state;
  const char* kinds[] = {"local", "global"};
  char folder[512], path[1024], scratch[512];
  snprintf(scratch, sizeof scratch, "%s/test_fclib_peer_%d.h5", TB_BUILD_DIR, (int)getpid());
  for (int kind = 0; kind < 2; kind++) {
    snprintf(path, sizeof path, "fclib/%s", kinds[kind]);
    if (!tb_test_shared(path, folder, sizeof folder)) skip();
    DIR* dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent* e = readdir(dir); e; e = readdir(dir)) {
      if (!strstr(e->d_name, ".hdf5") || (kind == 0 && count++ % 5 != 0)) continue;
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
      cross(path, scratch);
    }
    closedir(dir);
  }
}

// A file that libfclib itself wrote, with a solution, is read.
static void test_peer_writes(void** state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s/test_fclib_written_%d.h5", TB_BUILD_DIR, (int)getpid());
  unlink(path);
  double q[] = {-1, 0.1, 0, -2, 0, 0.3}, mu[] = {0.3, 0.4};
  int pw[] = {0, 0, 1, 2, 3, 3, 4, 5}, iw[] = {0, 3, 1, 2, 3, 0, 4, 5};
  double xw[] = {2, 0.5, 1, 1, 2, 0.5, 1, 1};
  struct fclib_matrix W = {8, 6, 6, pw, iw, xw, 8, NULL};
  char title[] = "two contacts";
  struct fclib_info info = {title, NULL, NULL};
  struct fclib_local local = {&W, NULL, NULL, mu, q, NULL, 3, &info};
  assert_int_equal(fclib_write_local(&local, path), 1);
  double u[] = {1, 2, 3, 4, 5, 6}, r[] = {6, 5, 4, 3, 2, 1};
  struct fclib_solution solution = {NULL, u, r, NULL};
  assert_int_equal(fclib_write_solution(&solution, path), 1);

  tbFclib* ours = NULL;
  tbError error;
  if (tb_fclib_read(path, &ours, &error) != TB_OK) fail_msg("%s", error.message);
  assert_same_matrix(&ours->W, &W);
  assert_same_vector(ours->q, q, 6);
  assert_same_vector(ours->mu, mu, 2);
  assert_string_equal(ours->title, title);
  tbFclibSolution got;
  if (tb_fclib_read_solution(path, ours, 0, &got, &error) != TB_OK) fail_msg("%s", error.message);
  assert_same_vector(got.u, u, 6);
  assert_same_vector(got.r, r, 6);
  tb_fclib_solution_free(&got);

  // The peer reads a solution that was written here.
  tbFclibSolution mine = {NULL, r, u, NULL};
  assert_int_equal(tb_fclib_write(ours, TB_FCLIB_CSR, path, &error), TB_OK);
  assert_int_equal(tb_fclib_write_solution(path, ours, &mine, &error), TB_OK);
  struct fclib_solution* theirs = fclib_read_solution(path);
  assert_non_null(theirs);
  assert_same_vector(u, theirs->r, 6);
  assert_same_vector(r, theirs->u, 6);
  fclib_delete_solutions(theirs, 1);
  tb_fclib_free(ours);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_corpus),
      cmocka_unit_test(test_peer_writes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
