// Contact problems as FCLIB problems: the same problem in other rows, whose solutions are those of
// the first one.
#include "common/test.h"
#include "common/worlds.h"
#include "tribo/fclib.h"

// A friction cone with different coefficients, two limits, an equality of two rows, a cone in a
// plane: rows of the problem, and where they go.
enum { N = 9, BLOCKS = 4, CONTACTS = 4, OUT = 3 * CONTACTS + 2 };
static const tbBlock BLOCK[BLOCKS] = {{.type = TB_BLOCK_CONE, .row = 0, .dim = 3, .mu = {0.5, 0.3}},
                                      {.type = TB_BLOCK_ONE_SIDED, .row = 3, .dim = 2},
                                      {.type = TB_BLOCK_EQUALITY, .row = 5, .dim = 2},
                                      {.type = TB_BLOCK_CONE, .row = 7, .dim = 2, .mu = {0.7}}};
static const int PLACE[N] = {0, 1, 2, 3, 6, 12, 13, 9, 10};
static const tbReal SCALE[N] = {1, 1, 0.6, 1, 1, 1, 1, 1, 1};

// A well-conditioned symmetric matrix, compliance and free velocity.
static tbProblem* make(unsigned seed) {
  tbReal G[N * N], R[N], g[N], B[N * 12];
  tbError error;
  srand(seed);
  for (int i = 0; i < N * 12; i++) B[i] = rand() / (tbReal)RAND_MAX - 0.5;
  for (int i = 0; i < N; i++) {
    R[i] = i % 2 ? 0.01 : 0;
    g[i] = 2 * (rand() / (tbReal)RAND_MAX) - 1.5;
    for (int j = 0; j < N; j++) {
      G[N * i + j] = i == j ? 0.3 : 0;
      for (int k = 0; k < 12; k++) G[N * i + j] += B[12 * i + k] * B[12 * j + k];
    }
  }
  tbProblem* p = tb_problem_create_dense(BLOCKS, BLOCK, G, R, g, &error);
  if (!p) fail_msg("%s", error.message);
  return p;
}

// The problem of the file that an FCLIB problem makes: written and read.
static tbProblem* through_a_file(const tbProblem* p, int contacts) {
  static const char PATH[] = TB_BUILD_DIR "/fclib_of_problem.hdf5";
  tbError error;
  tbFclib *f = NULL, *read = NULL;
  tbProblem* out = NULL;
  if (tb_fclib_of_problem(p, &f, &error) != TB_OK) fail_msg("%s", error.message);
  assert_int_equal(f->contacts, contacts);
#ifdef TB_WITH_HDF5
  if (tb_fclib_write(f, TB_FCLIB_CSR, PATH, &error) != TB_OK) fail_msg("%s", error.message);
  if (tb_fclib_read(PATH, &read, &error) != TB_OK) fail_msg("%s", error.message);
  remove(PATH);
#else
  (void)PATH;
#endif
  if (tb_fclib_problem(read ? read : f, &out, &error) != TB_OK) fail_msg("%s", error.message);
  tb_fclib_free(f);
  tb_fclib_free(read);
  return out;
}

static void the_rows_are_those_of_the_problem(void** state) {
  (void)state;
  for (unsigned seed = 1; seed < 6; seed++) {
    tbProblem *p = make(seed), *q = through_a_file(p, CONTACTS);
    tbReal lambda[N], sigma[N], to[OUT] = {0}, velocity[OUT];
    assert_int_equal(q->n, OUT);
    for (int i = 0; i < N; i++) lambda[i] = sin(7.0 * i + seed);
    for (int i = 0; i < N; i++) to[PLACE[i]] = lambda[i] / SCALE[i];
    assert_int_equal(tb_problem_velocity(p, lambda, sigma, NULL), TB_OK);
    assert_int_equal(tb_problem_velocity(q, to, velocity, NULL), TB_OK);
    for (int i = 0; i < N; i++) assert_near(velocity[PLACE[i]], SCALE[i] * sigma[i], 1e-12);
    tb_problem_free(p);
    tb_problem_free(q);
  }
}

static void solutions_carry_over(void** state) {
  (void)state;
  tbSolveSettings s = tbDefaultSolveSettings();
  s.tol = 1e-11;
  for (unsigned seed = 1; seed < 6; seed++) {
    tbProblem *p = make(seed), *q = through_a_file(p, CONTACTS);
    tbReal lambda[N], there[OUT];
    tbSolveInfo info;
    assert_int_equal(tb_solve(p, &s, lambda, NULL, &info, NULL), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    assert_int_equal(tb_solve(q, &s, there, NULL, &info, NULL), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    for (int i = 0; i < N; i++) assert_near(SCALE[i] * there[PLACE[i]], lambda[i], 1e-6);
    // Limits and the cone in a plane have no friction along the other tangents.
    assert_near(there[4], 0, 1e-9);
    assert_near(there[11], 0, 1e-9);
    tb_problem_free(p);
    tb_problem_free(q);
  }
}

// The problem of a step, solved from its file, gives the forces of the step.
static void a_step_is_solved_from_its_file(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("sliding_cube.xml", "thrown");
  tbError error;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbProblem* p = tb_step_problem(w.m, w.d, &error);
  assert_non_null(p);
  tbProblem* q = through_a_file(p, w.d->ncon);
  tbReal lambda[64], step[64], sigma[64];
  assert_true(q->n <= 64 && q->n == 3 * w.d->ncon);
  tbSolveSettings s = tbDefaultSolveSettings();
  s.tol = 1e-10;
  assert_int_equal(tb_solve(q, &s, lambda, NULL, NULL, NULL), TB_OK);
  for (int c = 0; c < w.d->ncon; c++) {
    for (int k = 0; k < 3; k++) step[3 * c + k] = w.d->contact[c].force[k] * w.m->opt.timestep;
  }
  // Four corners share their forces in many ways; velocities are unique.
  tb_problem_velocity(q, step, sigma, NULL);
  tbResidual residual = tb_residual(q, TB_LAW_NCP, step, sigma);
  assert_true(residual.relative < 1e-5);
  tbReal sum = 0, total = 0;
  for (int c = 0; c < w.d->ncon; c++) sum += lambda[3 * c], total += step[3 * c];
  assert_near(sum, total, 1e-6);
  tb_problem_free(p);
  tb_problem_free(q);
  tb_world_free(w);
}

static void what_fclib_has_no_words_for_is_refused(void** state) {
  (void)state;
  const tbReal G[36] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                        0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1},
               g[6] = {-1, 0, 0, 0, 0, 0};
  const tbBlock BAD[3] = {{.type = TB_BLOCK_CONE, .dim = 4, .mu = {1, 1, 1}},
                          {.type = TB_BLOCK_BOX, .dim = 4, .lower = -1, .upper = 1},
                          {.type = TB_BLOCK_CONE, .dim = 3, .mu = {1, 0}}};
  static const char* const SAYS[3] = {"torsional", "dry friction", "one tangent"};
  tbError error;
  for (int i = 0; i < 3; i++) {
    tbReal dense[16];
    int n = BAD[i].dim;
    for (int r = 0; r < n * n; r++) dense[r] = G[6 * (r / n) + r % n];
    tbProblem* p = tb_problem_create_dense(1, &BAD[i], dense, NULL, g, &error);
    if (!p) fail_msg("%s", error.message);
    tbFclib* f = (tbFclib*)p;
    assert_int_equal(tb_fclib_of_problem(p, &f, &error), TB_ERROR_UNSUPPORTED);
    assert_null(f);
    if (!strstr(error.message, SAYS[i])) fail_msg("%s", error.message);
    tb_problem_free(p);
  }
  assert_int_equal(tb_fclib_of_problem(NULL, NULL, &error), TB_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rows_are_those_of_the_problem),
      cmocka_unit_test(solutions_carry_over),
      cmocka_unit_test(a_step_is_solved_from_its_file),
      cmocka_unit_test(what_fclib_has_no_words_for_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
