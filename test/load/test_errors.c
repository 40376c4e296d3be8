// A call that fails says why in its own message: no text of an older message is left.
#include <unistd.h>

#include "common/test.h"
#include "tribo/tribo.h"

// Everything that the calls below need.
static tbError error;
static tbModel* m;
static tbModel* other;
static tbData* d;
static tbData* other_data;
static tbTrajectory* trajectory;
static tbProblem* problem;
static tbReal x[64];
static int start[4] = {0, 1, 2, 3}, column[3] = {0, 1, 2};
static tbBlock block;
static const char FOLDER[] = "/nonexistent/folder/file.h5";

static int open_all(void** state) {
  (void)state;
  static const tbReal value[3] = {1, 1, 1}, g[3] = {-1, 0, 0};
  tbReal mu = 0.5;
  char path[200];
  m = tb_load_string(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.09'>"
      "<freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
      NULL, NULL, &error);
  other = tb_load_string(
      "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody>"
      "</mujoco>",
      NULL, NULL, &error);
  d = tb_data_new(m);
  other_data = tb_data_new(other);
  tb_blocks_contacts(1, &mu, &block);
  problem = tb_problem_create_csr(1, &block, start, column, value, NULL, g, &error);
  snprintf(path, sizeof path, "%s/test_errors_%d.csv", TB_BUILD_DIR, (int)getpid());
  trajectory = tb_trajectory_open(path, m, &error);
  unlink(path);
  return m && other && d && other_data && problem && trajectory ? 0 : -1;
}

static int close_all(void** state) {
  (void)state;
  tb_trajectory_close(trajectory, NULL);
  tb_problem_free(problem);
  tb_data_free(d);
  tb_data_free(other_data);
  tb_model_free(m);
  tb_model_free(other);
  return 0;
}

static tbSolveSettings bad_settings(int k) {
  tbSolveSettings s = tbDefaultSolveSettings();
  if (k == 0) s.law = 99;
  if (k == 1) s.solver = "none";
  if (k == 2) s.tol = -1;
  if (k == 3) s.max_iter = -1;
  return s;
}

static tbResult solve_with(int k) {
  tbSolveSettings s = bad_settings(k);
  return tb_solve(problem, &s, x, NULL, NULL, &error);
}

static tbResult set_setting(const char* name, const char* value) {
  tbSolveSettings s = tbDefaultSolveSettings();
  return tb_solve_settings_set(&s, name, value, &error);
}

static tbResult set_option(const char* name, const char* value) {
  tbOption o = tbDefaultOption();
  return tb_option_set(&o, name, value, &error);
}

static tbResult qp(int k) {
  const tbReal H[1] = {k == 2 ? -1 : k == 3 ? NAN : 1}, c[1] = {0};
  tbBlock box = {.type = TB_BLOCK_BOX, .dim = 1};
  tbQp q = {.n = k == 0 ? 0 : 1, .H = k == 1 ? NULL : H, .c = c};
  if (k == 4) q.nblock = 1;
  if (k == 5) q = (tbQp){1, H, c, 1, &box, H, c};
  return tb_qp_solve(&q, 1e-9, x, NULL, NULL, NULL, &error);
}

static tbResult control(int k) {
  tbTask task = {
      .type = k == 1 ? 77 : TB_TASK_COM, .body = k == 2 ? 9 : 1, .weight = k == 3 ? -1 : 1};
  tbInverseDynamics c = {.task = &task, .ntask = 1, .force_weight = k == 0 ? 0 : 1};
  return tb_inverse_dynamics_control(m, k == 4 ? other_data : d, &c, x, NULL, NULL, NULL, NULL,
                                     &error);
}

static tbResult length_ranges(double inttotal, int mode) {
  tbLengthRangeOptions o = tbDefaultLengthRangeOptions();
  o.inttotal = inttotal;
  o.mode = mode;
  return tb_set_length_ranges(m, &o, NULL, &error);
}

static tbFclib* damaged(void) {
  static tbFclib f;
  memset(&f, 0, sizeof f);
  f.spacedim = 3;
  f.contacts = 1;
  return &f;
}

static tbResult with_fclib(int k) {
  tbFclib* read = NULL;
  tbProblem* made = NULL;
  tbFclibSolution solution = {NULL, NULL, NULL, NULL};
  int count;
  switch (k) {
    case 0: return tb_fclib_read(FOLDER, &read, &error);
    case 1: return tb_fclib_read(NULL, &read, &error);
    case 2: return tb_fclib_write(damaged(), TB_FCLIB_CSR, FOLDER, &error);
    case 3: return tb_fclib_write(NULL, TB_FCLIB_CSR, FOLDER, &error);
    case 4: return tb_fclib_guess_count(FOLDER, &count, &error);
    case 5: return tb_fclib_guess_count(NULL, &count, &error);
    case 6: return tb_fclib_read_solution(FOLDER, damaged(), 0, &solution, &error);
    case 7: return tb_fclib_read_solution(NULL, damaged(), 0, &solution, &error);
    case 8: return tb_fclib_write_solution(FOLDER, damaged(), &solution, &error);
    case 9: return tb_fclib_write_solution(NULL, NULL, NULL, &error);
    case 10: return tb_fclib_problem(damaged(), &made, &error);
    default: return tb_fclib_problem(NULL, NULL, &error);
  }
}

static tbResult wrong_problem(int k) {
  tbProblem p = *problem;
  if (k == 0) p.n = 7;
  if (k == 1) p.g = NULL;
  if (k == 2) p.G.form = 9;
  return k == 3 ? tb_problem_check(NULL, &error) : tb_problem_check(&p, &error);
}

static tbResult changed_model(int save) {
  int before = m->jnt_type[0];
  m->jnt_type[0] = 50;
  tbResult result =
      save ? tb_model_save(m, "/tmp/never_written.tbm", &error) : tb_model_check(m, &error);
  m->jnt_type[0] = before;
  return result;
}

static tbResult snapshot(int k) {
  unsigned char bytes[64] = {0};
  return k == 0   ? tb_snapshot_load(m, d, bytes, sizeof bytes, &error)
         : k == 1 ? tb_snapshot_load(m, d, bytes, 3, &error)
         : k == 2 ? tb_snapshot_load(m, other_data, bytes, sizeof bytes, &error)
                  : tb_snapshot_load(NULL, d, bytes, sizeof bytes, &error);
}

#define LOAD(xml) tb_load_string(xml, NULL, NULL, &error)

static void old_message(void) {
  error.code = TB_OK;
  strcpy(error.message, "OLD");
}

static void assert_own_words(const char* call, tbResult result) {
  if (result == TB_OK) fail_msg("%s did not fail", call);
  if (error.code != result) fail_msg("%s: %d, but the error says %d", call, result, error.code);
  if (!error.message[0] || strstr(error.message, "OLD"))
    fail_msg("%s: \"%s\"", call, error.message);
}

// A call that returns a result, and one that returns a pointer.
#define FAILS(call) old_message(), assert_own_words(#call, call)
#define GIVES_NULL(call) old_message(), assert_own_words(#call, (call) ? TB_OK : error.code)

static void settings_and_controllers(void** state) {
  (void)state;
  FAILS(solve_with(0));
  FAILS(solve_with(1));
  FAILS(solve_with(2));
  FAILS(solve_with(3));
  FAILS(tb_solve(NULL, NULL, x, NULL, NULL, &error));
  FAILS(tb_solve(problem, NULL, NULL, NULL, NULL, &error));
  FAILS(set_setting("no_such", "1"));
  FAILS(set_setting("tol", "x"));
  FAILS(set_setting("tol", "-1"));
  FAILS(set_setting("max_iter", "1.5"));
  FAILS(set_setting("law", "none"));
  FAILS(set_setting(NULL, "1"));
  FAILS(set_setting("tol", NULL));
  FAILS(set_option("no_such", "1"));
  FAILS(set_option("timestep", "x"));
  FAILS(set_option("timestep", "-1"));
  FAILS(set_option("law", "none"));
  FAILS(set_option("law", ""));
  FAILS(set_option("iterations", "1.5"));
  FAILS(set_option(NULL, "1"));
  FAILS(set_option("timestep", "nan"));
  FAILS(set_option("gravity", "1 2"));
  FAILS(qp(0));
  FAILS(qp(1));
  FAILS(qp(2));
  FAILS(qp(3));
  FAILS(qp(4));
  FAILS(qp(5));
  FAILS(control(0));
  FAILS(control(1));
  FAILS(control(2));
  FAILS(control(3));
  FAILS(control(4));
  FAILS(length_ranges(1, 9));
  FAILS(length_ranges(NAN, 1));
  FAILS(tb_set_length_ranges(NULL, NULL, NULL, &error));
  FAILS(tb_set_constants(NULL, &error));
}

static void problems_files_and_worlds(void** state) {
  (void)state;
  FAILS(with_fclib(0));
  FAILS(with_fclib(1));
  FAILS(with_fclib(2));
  FAILS(with_fclib(3));
  FAILS(with_fclib(4));
  FAILS(with_fclib(5));
  FAILS(with_fclib(6));
  FAILS(with_fclib(7));
  FAILS(with_fclib(8));
  FAILS(with_fclib(9));
  FAILS(with_fclib(10));
  FAILS(with_fclib(11));
  FAILS(wrong_problem(0));
  FAILS(wrong_problem(1));
  FAILS(wrong_problem(2));
  FAILS(wrong_problem(3));
  FAILS(tb_problem_velocity(problem, NULL, x, &error));
  FAILS(tb_problem_velocity(NULL, x, x, &error));
  FAILS(changed_model(0));
  FAILS(changed_model(1));
  FAILS(tb_model_check(NULL, &error));
  FAILS(tb_model_save(m, FOLDER, &error));
  FAILS(tb_model_save(NULL, FOLDER, &error));
  FAILS(tb_model_save(m, NULL, &error));
  FAILS(snapshot(0));
  FAILS(snapshot(1));
  FAILS(snapshot(2));
  FAILS(snapshot(3));
  FAILS(tb_trajectory_append(trajectory, other, other_data, &error));
  FAILS(tb_trajectory_append(trajectory, m, other_data, &error));
  FAILS(tb_trajectory_append(NULL, m, d, &error));
  FAILS(tb_trajectory_append(trajectory, m, NULL, &error));
}

static void loading(void** state) {
  (void)state;
  GIVES_NULL(tb_load(NULL, NULL, &error));
  GIVES_NULL(tb_load(FOLDER, NULL, &error));
  GIVES_NULL(tb_load("/", NULL, &error));
  GIVES_NULL(tb_load_string(NULL, NULL, NULL, &error));
  GIVES_NULL(LOAD(""));
  GIVES_NULL(LOAD("x"));
  GIVES_NULL(LOAD("<mujoco>"));
  GIVES_NULL(LOAD("<other/>"));
  GIVES_NULL(LOAD("<robot/>"));
  GIVES_NULL(
      LOAD("<mujoco><worldbody><body><joint/></body></"
           "worldbody></mujoco>"));
  GIVES_NULL(
      LOAD("<mujoco><worldbody><geom "
           "size='-1'/></worldbody></mujoco>"));
  GIVES_NULL(LOAD("<mujoco><worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>"));
  GIVES_NULL(LOAD("<mujoco><asset><mesh file='none.stl'/></asset></mujoco>"));
  GIVES_NULL(
      LOAD("<mujoco><"
           "include "
           "file='none.xml'"
           "/></mujoco>"));
  GIVES_NULL(LOAD("<robot name='r'><link name='a'/><link name='a'/></robot>"));
  GIVES_NULL(tb_model_load_binary(NULL, 5, &error));
  GIVES_NULL(tb_model_load_binary("abc", 3, &error));
  GIVES_NULL(tb_model_load_binary(x, sizeof x, &error));
}

static tbModel* load_with_paths(int count) {
  tbLoadOptions options = tbDefaultLoadOptions();
  options.nsearch_paths = count;
  return tb_load_string(
      "<robot name='r'><link name='a'><collision><geometry><mesh "
      "filename='package://x/y.stl'/></geometry></collision></link></robot>",
      NULL, &options, &error);
}

static void search_paths(void** state) {
  (void)state;
  GIVES_NULL(load_with_paths(3));
  GIVES_NULL(load_with_paths(-3));
  assert_int_equal(error.code, TB_ERROR_ARGUMENT);
}

// After a failed write only regular files are removed.
static void devices(void** state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  FAILS(tb_model_save(m, "/dev/full", &error));
  assert_int_equal(access("/dev/full", F_OK), 0);
}

static void making(void** state) {
  (void)state;
  GIVES_NULL(tb_problem_create_dense(1, &block, NULL, NULL, x, &error));
  GIVES_NULL(tb_problem_create_dense(1, NULL, x, NULL, x, &error));
  GIVES_NULL(tb_problem_create_dense(-1, &block, x, NULL, x, &error));
  GIVES_NULL(tb_problem_create_csr(1, &block, NULL, NULL, NULL, NULL, x, &error));
  GIVES_NULL(tb_problem_create_csr(1, &block, start, NULL, NULL, NULL, x, &error));
  GIVES_NULL(tb_problem_create_product(1, &block, 3, NULL, NULL, NULL, NULL, x, &error));
  GIVES_NULL(tb_problem_create_product(1, &block, 3, start, column, x, NULL, NULL, &error));
  GIVES_NULL(tb_problem_create_mass(1, &block, 3, NULL, NULL, NULL, start, column, x, NULL, x, NULL,
                                    &error));
  GIVES_NULL(tb_problem_create_mass(1, &block, 3, start, column, x, start, column, x, NULL, NULL,
                                    NULL, &error));
  GIVES_NULL(tb_problem_create_mass(1, &block, 3, start, column, x, start, column, x, NULL, x, NULL,
                                    &error));
  GIVES_NULL(tb_step_problem(NULL, d, &error));
  GIVES_NULL(tb_step_problem(m, NULL, &error));
  GIVES_NULL(tb_step_problem(m, d, &error));
  GIVES_NULL(tb_step_problem(m, other_data, &error));
  GIVES_NULL(tb_trajectory_open(NULL, m, &error));
  GIVES_NULL(tb_trajectory_open("a.csv", NULL, &error));
  GIVES_NULL(tb_trajectory_open("a.txt", m, &error));
  GIVES_NULL(tb_trajectory_open(FOLDER, m, &error));
  GIVES_NULL(tb_trajectory_open("/nonexistent/folder/a.csv", m, &error));
  GIVES_NULL(tb_feedback_load(NULL, "a", "b", "c", 1, 0, NULL, &error));
  GIVES_NULL(tb_feedback_load(m, "/no/a", "/no/b", "/no/c", 1, 0, NULL, &error));
  GIVES_NULL(tb_feedback_load(m, "/no/a", "/no/b", "/no/c", -1, 0, NULL, &error));
  GIVES_NULL(tb_batch_new(m, -1, 1, 0, &error));
  GIVES_NULL(tb_batch_new(m, 1, -1, 0, &error));
  GIVES_NULL(tb_batch_new(NULL, 1, 1, 0, &error));
  GIVES_NULL(tb_batch_new(m, 1000, 1, 10, &error));
}

// The same calls without an error to fill.
static void failing_calls_without_an_error(void** state) {
  (void)state;
  assert_null(tb_load_string("<mujoco>", NULL, NULL, NULL));
  assert_null(tb_load(FOLDER, NULL, NULL));
  assert_int_not_equal(tb_solve(NULL, NULL, x, NULL, NULL, NULL), TB_OK);
  assert_int_not_equal(tb_model_save(m, FOLDER, NULL), TB_OK);
  assert_int_not_equal(tb_model_check(NULL, NULL), TB_OK);
  assert_null(tb_model_load_binary("abc", 3, NULL));
  assert_int_not_equal(tb_qp_solve(NULL, 1, x, NULL, NULL, NULL, NULL), TB_OK);
  assert_null(tb_step_problem(NULL, NULL, NULL));
  assert_null(tb_trajectory_open(NULL, NULL, NULL));
  assert_int_not_equal(tb_snapshot_load(m, d, x, 3, NULL), TB_OK);
  assert_null(tb_batch_new(NULL, 1, 1, 0, NULL));
}

// A step that fails, too, and one that does not leaves nothing.
static void messages_of_worlds(void** state) {
  (void)state;
  tbReal force[6];
  tbOption before = m->opt;
  strcpy(d->message, "OLD");
  m->opt.timestep = -1;
  assert_int_not_equal(tb_step(m, d), TB_OK);
  assert_non_null(strstr(d->message, "timestep"));
  m->opt = before;
  strcpy(d->message, "OLD");
  m->opt.law = TB_LAW_SOFT;
  m->opt.solver = TB_SOLVER_ADMM;
  assert_int_not_equal(tb_step(m, d), TB_OK);
  assert_non_null(strstr(d->message, "solver"));
  m->opt = before;
  strcpy(d->message, "OLD");
  m->opt.law = TB_LAW_COMFREE;
  assert_int_not_equal(tb_inverse(m, d, d->qacc, NULL, force, NULL), TB_OK);
  assert_non_null(strstr(d->message, "comfree"));
  m->opt = before;
  strcpy(d->message, "OLD");
  assert_int_not_equal(tb_step(m, NULL), TB_OK);
  assert_int_equal(tb_step(m, d), TB_OK);
  assert_string_equal(d->message, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(settings_and_controllers),
                                     cmocka_unit_test(problems_files_and_worlds),
                                     cmocka_unit_test(loading),
                                     cmocka_unit_test(making),
                                     cmocka_unit_test(search_paths),
                                     cmocka_unit_test(devices),
                                     cmocka_unit_test(failing_calls_without_an_error),
                                     cmocka_unit_test(messages_of_worlds)};
  return cmocka_run_group_tests(tests, open_all, close_all);
}
