// Every allocation of a call fails once: the call reports missing memory, does not crash, and works
// again afterwards.
#include "common/test.h"
#include "tribo/tribo.h"

// Calls left until one fails; negative: none does.
static long left = -1;
static bool failed;

static bool refuse(void) {
  if (left < 0) return false;
  if (left-- > 0) return false;
  failed = true;
  return true;
}

#ifdef TB_WRAPS_MALLOC
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* memory, size_t size);

void* __wrap_malloc(size_t size) {
  return refuse() ? NULL : __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size) {
  return refuse() ? NULL : __real_calloc(count, size);
}

void* __wrap_realloc(void* memory, size_t size) {
  return refuse() ? NULL : __real_realloc(memory, size);
}

#endif

static void fail_at(long n) {
  left = n;
  failed = false;
}

static void fail_never(void) {
  left = -1;
}

static const char MODEL[] =
    "<mujoco><asset><mesh name='tetra' vertex='0 0 0 0.2 0 0 0 0.2 0 0 0 0.2'/></asset>"
    "<worldbody><geom type='plane' size='5 5 1'/>"
    "<body name='a' pos='0 0 0.09'><freejoint/><geom type='box' size='0.1 0.1 0.1'/>"
    "<body pos='0.2 0 0'><joint name='j' axis='0 1 0' range='-60 60' damping='1'/>"
    "<geom type='capsule' size='0.05 0.1'/><site name='s'/></body></body>"
    "<body pos='1 0 0.05'><freejoint/><geom type='mesh' mesh='tetra'/></body></worldbody>"
    "<tendon><fixed name='t'><joint joint='j' coef='1'/></fixed></tendon>"
    "<actuator><motor joint='j'/><muscle joint='j' lengthrange='0 1'/></actuator>"
    "<sensor><accelerometer site='s'/></sensor></mujoco>";

static void assert_memory(const char* call, long n, const tbError* error) {
  if (error->code != TB_ERROR_MEMORY || !strstr(error->message, "memory") ||
      strstr(error->message, "2048")) {
    fail_msg("%s, allocation %ld: %s: \"%s\"", call, n, tb_result_name(error->code),
             error->message);
  }
}

static void loading(void** state) {
  (void)state;
  long n = 0;
  for (;; n++) {
    tbError error = {TB_OK, "OLD"};
    fail_at(n);
    tbModel* m = tb_load_string(MODEL, NULL, NULL, &error);
    fail_never();
    bool out = failed;
    if (m && !out) {
      tb_model_free(m);
      break;
    }
    // Calls that can continue without that memory have done so.
    if (!m) assert_memory("tb_load_string", n, &error);
    tb_model_free(m);
  }
  assert_true(n > 20);
}

// A chain that is too long says so, and nothing of memory.
static void long_chain(void** state) {
  (void)state;
  enum { BODIES = 700 };
  char *xml = malloc(BODIES * 130 + 200), *at = xml;
  at += sprintf(at, "<mujoco><worldbody>");
  for (int i = 0; i < BODIES; i++) {
    at += sprintf(at, "<body><joint type='ball'/><geom size='0.1' contype='0'/>");
  }
  for (int i = 0; i < BODIES; i++) at += sprintf(at, "</body>");
  sprintf(at, "</worldbody></mujoco>");
  tbError error = {TB_OK, "OLD"};
  assert_null(tb_load_string(xml, NULL, NULL, &error));
  if (!strstr(error.message, "nested") && !strstr(error.message, "chain of joints")) {
    fail_msg("%s", error.message);
  }
  assert_null(strstr(error.message, "memory"));
  free(xml);
}

static void steps(void** state) {
  (void)state;
  tbError error;
  tbModel* m = tb_load_string(MODEL, NULL, NULL, &error);
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    m->opt.law = law;
    long n = 0;
    for (;; n++) {
      fail_at(n);
      tbData* d = tb_data_new(m);
      tbResult result = d ? tb_step(m, d) : TB_ERROR_MEMORY;
      fail_never();
      if (d && result != TB_OK) {
        if (result != TB_ERROR_MEMORY || !strstr(d->message, "memory")) {
          fail_msg("law %d, allocation %ld: %s: \"%s\"", law, n, tb_result_name(result),
                   d->message);
        }
        // The same world can be stepped again once there is memory.
        assert_int_equal(tb_step(m, d), TB_OK);
      }
      bool out = failed;
      tb_data_free(d);
      if (!out) break;
    }
    assert_true(n > 3);
  }
  tb_model_free(m);
}

static void problems(void** state) {
  (void)state;
  tbReal mu[2] = {0.5, 0.5}, g[6] = {-1, 0.2, 0, -1, 0, 0}, value[6] = {1, 1, 1, 1, 1, 1};
  int start[7] = {0, 1, 2, 3, 4, 5, 6}, column[6] = {0, 1, 2, 3, 4, 5};
  tbBlock block[2];
  tb_blocks_contacts(2, mu, block);
  for (int kind = 0; kind < 3; kind++) {
    for (long n = 0;; n++) {
      tbError error = {TB_OK, "OLD"};
      tbReal lambda[6] = {0};
      fail_at(n);
      tbProblem* p =
          kind == 0 ? tb_problem_create_csr(2, block, start, column, value, NULL, g, &error)
          : kind == 1
              ? tb_problem_create_product(2, block, 6, start, column, value, NULL, g, &error)
              : tb_problem_create_mass(2, block, 6, start, column, value, start, column, value,
                                       NULL, g, NULL, &error);
      if (!p) assert_memory("tb_problem_create", n, &error);
      tbResult result = p ? tb_solve(p, NULL, lambda, NULL, NULL, &error) : TB_OK;
      if (result != TB_OK) assert_memory("tb_solve", n, &error);
      fail_never();
      tb_problem_free(p);
      if (!failed) break;
    }
  }
}

int main(void) {
#ifndef TB_WRAPS_MALLOC
  refuse();
  return 0;  // there is nothing to count with
#endif
  const struct CMUnitTest tests[] = {cmocka_unit_test(loading), cmocka_unit_test(long_chain),
                                     cmocka_unit_test(steps), cmocka_unit_test(problems)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
