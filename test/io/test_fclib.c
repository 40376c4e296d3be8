// FCLIB files: round trips in every encoding, hostile files, the corpus.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/test.h"
#include "io/fclib/file.h"
#include "io/fclib/matrix.h"
#include "tribo/fclib.h"

static const tbFclibEncoding ENCODINGS[] = {TB_FCLIB_TRIPLET, TB_FCLIB_CSC, TB_FCLIB_CSR};

static void file_name(char* path, size_t size, const char* what) {
  snprintf(path, size, "%s/test_fclib_%s_%d.h5", TB_BUILD_DIR, what, (int)getpid());
}

// ---- building problems -------------------------------------------------------------------------

static tbFclibMatrix random_matrix(tbRng* rng, int rows, int cols, double density) {
  tbFclibMatrix m = {rows, cols, NULL, NULL, NULL};
  m.start = calloc((size_t)rows + 1, sizeof(int));
  m.index = malloc(((size_t)rows * (size_t)cols + 1) * sizeof(int));
  m.value = malloc(((size_t)rows * (size_t)cols + 1) * sizeof(double));
  int k = 0;
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < cols; c++) {
      if (tb_rng_uniform(rng, 0, 1) >= density) continue;
      m.index[k] = c;
      m.value[k++] = tb_rng_normal(rng);
    }
    m.start[r + 1] = k;
  }
  return m;
}

// A' A + I by rows, dense pattern: symmetric positive definite.
static tbFclibMatrix random_spd(tbRng* rng, int n) {
  tbFclibMatrix a = random_matrix(rng, n, n, 1), m = random_matrix(rng, n, n, 1);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = i == j;
      for (int k = 0; k < n; k++) sum += a.value[k * n + i] * a.value[k * n + j];
      m.value[i * n + j] = sum;
    }
  }
  tb_fclib_matrix_free(&a);
  return m;
}

static tbReal* random_vector(tbRng* rng, int n) {
  tbReal* x = malloc(((size_t)n + 1) * sizeof *x);
  for (int i = 0; i < n; i++) x[i] = tb_rng_normal(rng);
  return x;
}

static char* text(const char* s) {
  return strcpy(malloc(strlen(s) + 1), s);
}

static tbFclib* random_problem(tbRng* rng, bool global, int spacedim, int contacts,
                               int equalities) {
  tbFclib* p = calloc(1, sizeof *p);
  int rows = spacedim * contacts, dofs = 7;
  p->global = global;
  p->spacedim = spacedim;
  p->contacts = contacts;
  p->mu = random_vector(rng, contacts);
  for (int i = 0; i < contacts; i++) p->mu[i] = fabs(p->mu[i]);
  if (global) {
    p->M = random_spd(rng, dofs);
    p->H = random_matrix(rng, dofs, rows, 0.6);
    p->f = random_vector(rng, dofs);
    p->w = random_vector(rng, rows);
    if (equalities) p->G = random_matrix(rng, dofs, equalities, 0.6);
    if (equalities) p->b = random_vector(rng, equalities);
  } else {
    p->W = random_spd(rng, rows);
    p->q = random_vector(rng, rows);
    if (equalities) p->V = random_matrix(rng, rows, equalities, 0.6);
    if (equalities) p->R = random_spd(rng, equalities);
    if (equalities) p->s = random_vector(rng, equalities);
    // W and R are at least the identity, so that [W V; V' R] is positive definite.
    for (int k = 0; equalities && k < p->V.start[rows]; k++) p->V.value[k] *= 0.1;
  }
  p->title = text("random problem");
  p->math_info = text("");
  return p;
}

static void assert_same_matrix(const tbFclibMatrix* a, const tbFclibMatrix* b) {
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->cols, b->cols);
  if (a->rows == 0) return;
  assert_memory_equal(a->start, b->start, ((size_t)a->rows + 1) * sizeof(int));
  assert_memory_equal(a->index, b->index, (size_t)a->start[a->rows] * sizeof(int));
  assert_memory_equal(a->value, b->value, (size_t)a->start[a->rows] * sizeof(tbReal));
}

static void assert_same_vector(const tbReal* a, const tbReal* b, int n) {
  for (int i = 0; i < n; i++) assert_true(a[i] == b[i]);
}

static void assert_same(const tbFclib* a, const tbFclib* b) {
  assert_int_equal(a->global, b->global);
  assert_int_equal(a->spacedim, b->spacedim);
  assert_int_equal(a->contacts, b->contacts);
  const tbFclibMatrix* ma[] = {&a->W, &a->V, &a->R, &a->M, &a->H, &a->G};
  const tbFclibMatrix* mb[] = {&b->W, &b->V, &b->R, &b->M, &b->H, &b->G};
  for (int k = 0; k < 6; k++) assert_same_matrix(ma[k], mb[k]);
  int rows = a->spacedim * a->contacts;
  if (a->q) assert_same_vector(a->q, b->q, rows);
  if (a->s) assert_same_vector(a->s, b->s, a->V.cols);
  if (a->f) assert_same_vector(a->f, b->f, a->M.rows);
  if (a->w) assert_same_vector(a->w, b->w, rows);
  if (a->b) assert_same_vector(a->b, b->b, a->G.cols);
  assert_same_vector(a->mu, b->mu, a->contacts);
  assert_string_equal(a->title, b->title);
  assert_string_equal(a->math_info, b->math_info);
  assert_null(b->description);
}

// ---- round trips -------------------------------------------------------------------------------

static void test_round_trip(void** state) {
  (void)state;
  tbRng rng = {1};
  char path[512];
  file_name(path, sizeof path, "round");
  for (int trial = 0; trial < 48; trial++) {
    tbFclib* a = random_problem(&rng, trial % 2, 2 + trial / 2 % 2, trial % 7, trial / 4 % 3 * 4);
    tbFclib* b = NULL;
    tbError error;
    tbFclibEncoding encoding = ENCODINGS[trial % 3];
    assert_int_equal(tb_fclib_write(a, encoding, path, &error), TB_OK);
    if (tb_fclib_read(path, &b, &error) != TB_OK) fail_msg("%s", error.message);
    assert_same(a, b);

    // A solution beside the problem, replaced by another one.
    tbFclibSolution s = {a->global ? random_vector(&rng, a->M.rows) : NULL, NULL,
                         random_vector(&rng, a->spacedim * a->contacts), NULL};
    tbFclibSolution t;
    for (int k = 0; k < 2; k++) {
      if (a->contacts) s.r[0] = k;
      assert_int_equal(tb_fclib_write_solution(path, a, &s, &error), TB_OK);
    }
    if (a->contacts) {
      assert_int_equal(tb_fclib_read_solution(path, b, 0, &t, &error), TB_OK);
      assert_same_vector(s.r, t.r, a->spacedim * a->contacts);
      if (s.v) assert_same_vector(s.v, t.v, a->M.rows);
      assert_null(t.u);
      tb_fclib_solution_free(&t);
      assert_int_equal(tb_fclib_read_solution(path, b, 3, &t, &error), TB_ERROR_PARSE);
    }
    tb_fclib_solution_free(&s);
    tb_fclib_free(a);
    tb_fclib_free(b);
  }
  unlink(path);
}

// Triplets in any order with repeated entries mean their sum.
static void test_triplets(void** state) {
  (void)state;
  int p[] = {1, 0, 1, 0, 1}, i[] = {1, 1, 0, 0, 1};
  tbReal x[] = {4, 2, 3, 1, 10};
  tbFclibStored stored = {2, 2, 5, 5, p, i, x, 5, 5, 5};
  tbFclibMatrix m;
  tbError error;
  assert_int_equal(tb_fclib_matrix_unpack(&stored, "W", &m, &error), TB_OK);
  const tbReal want[] = {1, 2, 3, 14};
  assert_int_equal(m.start[2], 4);
  assert_same_vector(want, m.value, 4);
  tb_fclib_matrix_free(&m);
}

// ---- hostile files -----------------------------------------------------------------------------

typedef struct {
  const char* name;      // dataset to replace
  bool real;             // its type
  double value;          // entry that is changed
  int entry;             // which one; -1: make the dataset one entry shorter
  const char* expected;  // part of the message
} Damage;

static const Damage DAMAGES[] = {
    {"fclib_local/W/m", false, -3, 0, "negative"},
    {"fclib_local/W/m", false, 5, 0, "expected"},
    {"fclib_local/W/n", false, 1000000000, 0, "claims"},
    {"fclib_local/W/nz", false, -7, 0, "nz"},
    {"fclib_local/W/nz", false, 2000000000, 0, "triplets"},
    {"fclib_local/W/p", false, 1, 0, "p[0]"},
    {"fclib_local/W/p", false, 2000000000, 6, "entries"},
    {"fclib_local/W/p", false, -1, 3, "decrease"},
    {"fclib_local/W/p", false, 0, -1, "offsets"},
    {"fclib_local/W/i", false, 6, 4, "index"},
    {"fclib_local/W/i", false, -1, 4, "index"},
    {"fclib_local/W/i", false, 0, -1, "entries"},
    {"fclib_local/W/x", true, NAN, 2, "finite"},
    {"fclib_local/W/x", true, INFINITY, 2, "finite"},
    {"fclib_local/W/x", true, 0, -1, "entries"},
    {"fclib_local/vectors/q", true, NAN, 1, "finite"},
    {"fclib_local/vectors/q", true, 0, -1, "expected 6"},
    {"fclib_local/vectors/mu", true, -0.1, 1, "negative"},
    {"fclib_local/vectors/mu", true, NAN, 1, "finite"},
    {"fclib_local/vectors/mu", true, 0, -1, "expected 2"},
    {"fclib_local/spacedim", false, 4, 0, "spacedim"},
    {"fclib_local/spacedim", false, 0, 0, "spacedim"},
};

#ifdef TB_WITH_HDF5

static void apply_damage(const char* path, const Damage* d) {
  tbH5 file;
  tbError error;
  int count = 0;
  assert_int_equal(tb_h5_open(path, true, &file, &error), TB_OK);
  if (d->real) {
    tbReal* x = NULL;
    assert_int_equal(tb_h5_read_reals(file, d->name, &x, &count, &error), TB_OK);
    if (d->entry >= 0) x[d->entry] = d->value;
    assert_int_equal(tb_h5_write_reals(file, d->name, x, count - (d->entry < 0), &error), TB_OK);
    free(x);
  } else {
    int* x = NULL;
    assert_int_equal(tb_h5_read_ints(file, d->name, &x, &count, &error), TB_OK);
    if (d->entry >= 0) x[d->entry] = (int)d->value;
    assert_int_equal(tb_h5_write_ints(file, d->name, x, count - (d->entry < 0), &error), TB_OK);
    free(x);
  }
  tb_h5_close(file);
}

static void test_damaged_content(void** state) {
  (void)state;
  tbRng rng = {2};
  char path[512];
  file_name(path, sizeof path, "damaged");
  tbFclib *a = random_problem(&rng, false, 3, 2, 0), *b = NULL;
  for (size_t k = 0; k < sizeof DAMAGES / sizeof DAMAGES[0]; k++) {
    tbError error = {TB_OK, ""};
    assert_int_equal(tb_fclib_write(a, TB_FCLIB_CSR, path, &error), TB_OK);
    apply_damage(path, &DAMAGES[k]);
    assert_int_equal(tb_fclib_read(path, &b, &error), TB_ERROR_PARSE);
    assert_null(b);
    if (!strstr(error.message, DAMAGES[k].expected)) {
      fail_msg("%s: '%s' does not mention '%s'", DAMAGES[k].name, error.message,
               DAMAGES[k].expected);
    }
  }
  tb_fclib_free(a);
  unlink(path);
}

// A dataset that claims more than the file can hold must not take that memory.
static void test_claimed_size(void** state) {
  (void)state;
  tbRng rng = {3};
  char path[512];
  file_name(path, sizeof path, "claimed");
  tbFclib *a = random_problem(&rng, false, 3, 2, 0), *b = NULL;
  tbError error;
  assert_int_equal(tb_fclib_write(a, TB_FCLIB_CSR, path, &error), TB_OK);
  tbH5 file;
  assert_int_equal(tb_h5_open(path, true, &file, &error), TB_OK);
  tbH5Size huge = 2000000000;
  tbH5 space = tb_h5.Screate_simple(1, &huge, NULL);
  tb_h5.Ldelete(file, "fclib_local/vectors/q", TB_H5_DEFAULT);
  tbH5 set = tb_h5.Dcreate2(file, "fclib_local/vectors/q", tb_h5.native_double, space,
                            TB_H5_DEFAULT, TB_H5_DEFAULT, TB_H5_DEFAULT);
  tb_h5.Dclose(set);
  tb_h5.Sclose(space);
  tb_h5_close(file);
  assert_int_equal(tb_fclib_read(path, &b, &error), TB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "claims"));
  tb_fclib_free(a);
  unlink(path);
}

#endif

// Cut the file at many lengths and flip its bytes; returns how often the reader contradicted
// itself.
static int read_damaged(const char* path, const unsigned char* bytes, size_t size) {
  static unsigned char copy[1 << 16];
  tbRng rng = {4};
  int wrong = 0;
  for (int trial = 0; trial < 300; trial++) {
    memcpy(copy, bytes, size);
    size_t length = trial % 2 ? size : (size_t)tb_rng_int(&rng, (int)size);
    int flips = trial % 2 ? 1 + tb_rng_int(&rng, 4) : 0;
    for (int k = 0; k < flips; k++) {
      int at = tb_rng_int(&rng, (int)size);
      copy[at] = (unsigned char)tb_rng_next(&rng);
    }
    FILE* f = fopen(path, "wb");
    fwrite(copy, 1, length, f);
    fclose(f);
    tbFclib* b = NULL;
    tbError error;
    tbResult result = tb_fclib_read(path, &b, &error);
    wrong += (result == TB_OK) != (b != NULL);
    wrong += length < size / 2 && result == TB_OK;
    tb_fclib_free(b);
  }
  return wrong;
}

// An error or a valid problem, never a crash. In a child process: HDF5 itself does not always clean
// up after a damaged file, and would complain at exit.
static void test_damaged_bytes(void** state) {
  (void)state;
  tbRng rng = {4};
  char path[512];
  file_name(path, sizeof path, "bytes");
  tbFclib* a = random_problem(&rng, false, 3, 3, 0);
  tbError error;
  assert_int_equal(tb_fclib_write(a, TB_FCLIB_CSR, path, &error), TB_OK);
  tb_fclib_free(a);
  static unsigned char bytes[1 << 16];
  FILE* f = fopen(path, "rb");
  size_t size = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  assert_true(size > 1000 && size < sizeof bytes);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(read_damaged(path, bytes, size) == 0 ? 0 : 1);
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  unlink(path);
}

static void test_bad_arguments(void** state) {
  (void)state;
  tbFclib* b = NULL;
  tbError error;
  assert_int_equal(tb_fclib_read("/nonexistent/file.h5", &b, &error), TB_ERROR_FILE);
  assert_int_equal(tb_fclib_read(NULL, &b, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_fclib_read(__FILE__, &b, &error), TB_ERROR_FILE);
  tbRng rng = {5};
  tbFclib* a = random_problem(&rng, false, 3, 1, 0);
  assert_int_equal(tb_fclib_write(a, TB_FCLIB_CSR, "/nonexistent/file.h5", &error), TB_ERROR_FILE);
  // Sizes that a program has filled wrongly.
  tbFclibSolution solution = {NULL, NULL, NULL, NULL};
  int* const sizes[] = {&a->contacts, &a->spacedim, &a->M.rows, &a->V.cols};
  for (int i = 0; i < 4; i++) {
    int before = *sizes[i];
    *sizes[i] = -1000;
    assert_int_equal(tb_fclib_write_solution(__FILE__, a, &solution, &error), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_fclib_read_solution(__FILE__, a, 0, &solution, &error), TB_ERROR_ARGUMENT);
    *sizes[i] = before;
  }
  tb_fclib_free(a);
  tb_fclib_free(NULL);
}

// ---- problems ----------------------------------------------------------------------------------

// x = A^-1 b by elimination, for small dense matrices.
static void dense_solve(int n, tbReal* A, tbReal* b) {
  for (int k = 0; k < n; k++) {
    for (int r = k + 1; r < n; r++) {
      tbReal factor = A[r * n + k] / A[k * n + k];
      for (int c = k; c < n; c++) A[r * n + c] -= factor * A[k * n + c];
      b[r] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int c = k + 1; c < n; c++) b[k] -= A[k * n + c] * b[c];
    b[k] /= A[k * n + k];
  }
}

static tbReal entry(const tbFclibMatrix* m, int r, int c) {
  for (int k = m->start[r]; k < m->start[r + 1]; k++) {
    if (m->index[k] == c) return m->value[k];
  }
  return 0;
}

// u = H' v + w (and G' v + b) with M v = H r + G l + f, directly from the matrices.
static void global_velocity(const tbFclib* p, const tbReal* lambda, tbReal* sigma) {
  int n = p->M.rows, rows = p->H.cols, ne = p->G.cols;
  tbReal A[64], v[8];
  for (int i = 0; i < n; i++) {
    v[i] = p->f[i];
    for (int j = 0; j < n; j++) A[i * n + j] = entry(&p->M, i, j);
    for (int j = 0; j < rows; j++) v[i] += entry(&p->H, i, j) * lambda[j];
    for (int j = 0; j < ne; j++) v[i] += entry(&p->G, i, j) * lambda[rows + j];
  }
  dense_solve(n, A, v);
  for (int j = 0; j < rows + ne; j++) {
    sigma[j] = j < rows ? p->w[j] : p->b[j - rows];
    for (int i = 0; i < n; i++) {
      sigma[j] += (j < rows ? entry(&p->H, i, j) : entry(&p->G, i, j - rows)) * v[i];
    }
  }
}

static void local_velocity(const tbFclib* p, const tbReal* lambda, tbReal* sigma) {
  int rows = p->W.rows, ne = p->V.cols;
  for (int i = 0; i < rows + ne; i++) {
    sigma[i] = i < rows ? p->q[i] : p->s[i - rows];
    for (int j = 0; j < rows + ne; j++) {
      tbReal a = i < rows && j < rows ? entry(&p->W, i, j)
                 : i < rows           ? entry(&p->V, i, j - rows)
                 : j < rows           ? entry(&p->V, j, i - rows)
                                      : entry(&p->R, i - rows, j - rows);
      sigma[i] += a * lambda[j];
    }
  }
}

static void test_problem(void** state) {
  (void)state;
  tbRng rng = {6};
  for (int trial = 0; trial < 40; trial++) {
    tbFclib* p =
        random_problem(&rng, trial % 2, 2 + trial / 2 % 2, 1 + trial % 4, trial / 4 % 3 * 4);
    tbProblem* problem = NULL;
    tbError error;
    if (tb_fclib_problem(p, &problem, &error) != TB_OK) fail_msg("%s", error.message);
    int n = p->spacedim * p->contacts + (p->global ? p->G.cols : p->V.cols);
    assert_int_equal(problem->n, n);
    tbReal *lambda = random_vector(&rng, n), want[64], got[64];
    if (p->global) global_velocity(p, lambda, want);
    if (!p->global) local_velocity(p, lambda, want);
    assert_int_equal(tb_problem_velocity(problem, lambda, got, &error), TB_OK);
    assert_near_array(got, want, n, 1e-9);
    for (int i = 0; i < p->contacts; i++) assert_true(problem->block[i].mu[0] == p->mu[i]);
    free(lambda);
    tb_problem_free(problem);
    tb_fclib_free(p);
  }
}

static void test_problem_errors(void** state) {
  (void)state;
  tbRng rng = {7};
  tbProblem* problem = NULL;
  tbError error;
  tbFclib* p = random_problem(&rng, false, 3, 2, 0);
  p->W.value[1] += 1;
  assert_int_equal(tb_fclib_problem(p, &problem, &error), TB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "symmetric"));
  tb_fclib_free(p);
  p = random_problem(&rng, true, 3, 2, 0);
  p->M.value[0] = -1;
  assert_int_equal(tb_fclib_problem(p, &problem, &error), TB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "definite"));
  assert_null(problem);
  tb_fclib_free(p);
}

// A tbFclib that a program filled with contradicting values is refused, by writing and by solving.
static void test_made_by_hand(void** state) {
  (void)state;
  static const char* const EXPECTED[] = {"2 or 3 rows",
                                         "6 x 6, expected 9 x 9",
                                         "vector mu is missing",
                                         "expected a finite number >= 0",
                                         "column 99",
                                         "ends before it starts",
                                         "no entries",
                                         "entry 2 is nan",
                                         "vector q is missing",
                                         "not a tbFclibEncoding"};
  for (int k = 0; k < 10; k++) {
    tbRng rng = {8};
    tbFclib* p = random_problem(&rng, false, 3, 2, 0);
    tbFclib made = *p;
    int start[7];
    tbProblem* problem = NULL;
    tbError error;
    memcpy(start, p->W.start, sizeof start);
    if (k == 0) made.spacedim = 4;
    if (k == 1) made.contacts = 3;
    if (k == 2) made.mu = NULL;
    if (k == 3) made.mu[1] = -1;
    if (k == 4) made.W.index[p->W.start[1]] = 99;
    if (k == 5) start[2] = -5, made.W.start = start;
    if (k == 6) made.W.start = NULL;
    if (k == 7) made.q[2] = NAN;
    if (k == 8) made.q = NULL;
    if (k < 9) assert_int_equal(tb_fclib_problem(&made, &problem, &error), TB_ERROR_ARGUMENT);
    tbFclibEncoding encoding = k == 9 ? (tbFclibEncoding)7 : TB_FCLIB_CSR;
    tbResult result = tb_fclib_write(&made, encoding, "no_such_folder/x.hdf5", &error);
    if (result != TB_ERROR_UNSUPPORTED) assert_int_equal(result, TB_ERROR_ARGUMENT);
    if (result != TB_ERROR_UNSUPPORTED && !strstr(error.message, EXPECTED[k])) {
      fail_msg("%d: '%s' does not mention '%s'", k, error.message, EXPECTED[k]);
    }
    tb_fclib_free(p);
  }
}

// ---- the corpus --------------------------------------------------------------------------------

static void read_folder(const char* kind, int expected) {
  char folder[512], path[1024];
  snprintf(path, sizeof path, "fclib/%s", kind);
  if (!tb_test_shared(path, folder, sizeof folder)) skip();
  DIR* dir = opendir(folder);
  assert_non_null(dir);
  int count = 0;
  for (struct dirent* e = readdir(dir); e; e = readdir(dir)) {
    if (!strstr(e->d_name, ".hdf5")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    tbFclib* fclib = NULL;
    tbProblem* problem = NULL;
    tbError error;
    if (tb_fclib_read(path, &fclib, &error) != TB_OK) fail_msg("%s", error.message);
    if (tb_fclib_problem(fclib, &problem, &error) != TB_OK) fail_msg("%s: %s", path, error.message);
    assert_int_equal(problem->n, 3 * fclib->contacts);
    int guesses = 0;
    assert_int_equal(tb_fclib_guess_count(path, &guesses, &error), TB_OK);
    for (int k = 1; k <= guesses; k++) {
      tbFclibSolution s;
      if (tb_fclib_read_solution(path, fclib, k, &s, &error) != TB_OK)
        fail_msg("%s", error.message);
      tb_fclib_solution_free(&s);
    }
    tb_problem_free(problem);
    tb_fclib_free(fclib);
    count++;
  }
  closedir(dir);
  assert_int_equal(count, expected);
}

static void test_corpus_local(void** state) {
  (void)state;
  read_folder("local", 79);
}

static void test_corpus_global(void** state) {
  (void)state;
  read_folder("global", 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_triplets),       cmocka_unit_test(test_problem),
      cmocka_unit_test(test_problem_errors), cmocka_unit_test(test_made_by_hand),
#ifdef TB_WITH_HDF5
      cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_damaged_content),
      cmocka_unit_test(test_claimed_size),   cmocka_unit_test(test_damaged_bytes),
      cmocka_unit_test(test_bad_arguments),  cmocka_unit_test(test_corpus_local),
      cmocka_unit_test(test_corpus_global),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
