// Derivatives of a step of every robot of the shared models, on its floor, against differences.
#include "common/robots.h"
#include "common/test.h"
#include "tribo/tribo.h"

// The robot after some steps from its first keyframe with noise: contacts, limits, motion.
static tbData* robot_state(const tbModel* m, uint64_t seed) {
  tbData* d = tb_data_new(m);
  assert_non_null(d);
  tbRng rng = {seed};
  if (m->nkey > 0) tb_reset_keyframe(m, d, 0);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.2 * tb_rng_normal(&rng);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] += 0.01 * tb_rng_normal(&rng);
  for (int s = 0; s < 40; s++) tb_step(m, d);
  // Muscles that have reached their control are at a kink: they relax slower than they tighten.
  for (int i = 0; i < m->nu && m->na > 0; i++) d->ctrl[i] += 0.1 + 0.01 * tb_rng_normal(&rng);
  return d;
}

typedef struct {
  int states, differentiable, kinks, columns, judged, failed, differenced;
} Count;

// A law with an integrator and a step of its own, where it needs them.
typedef struct {
  const char* name;
  int law, integrator;
  tbReal timestep;
} Case;

// Compare column by column. Differences across a kink, or at the level of the solver's tolerance,
// change with the increment: such columns are skipped.
static tbReal judge(const tbReal* A, const tbReal* coarse, const tbReal* fine, int nx, int columns,
                    Count* count) {
  tbReal scale = 1, worst = 0;
  for (int i = 0; i < nx * columns; i++) scale = fmax(scale, fabs(fine[i]));
  for (int k = 0; k < columns; k++) {
    tbReal apart = 0, error[2] = {0, 0};
    for (int i = 0; i < nx; i++) {
      int at = i * columns + k;
      apart = fmax(apart, fabs(coarse[at] - fine[at]) / scale);
      error[0] = fmax(error[0], fabs(A[at] - coarse[at]) / scale);
      error[1] = fmax(error[1], fabs(A[at] - fine[at]) / scale);
    }
    count->columns++;
    if (!(apart < 1e-5)) continue;
    count->judged++;
    tbReal e = fmin(error[0], error[1]);
    // The differences know their own value only so well.
    count->failed += !(e < 1e-5 + apart);
    worst = fmax(worst, e);
  }
  return worst;
}

// y . (A dx + B du) = (A^T y) . dx + (B^T y) . du, and both products against the matrices, in some
// directions at random.
static void check_products(tbDerivatives* x, const tbModel* m, const tbReal* A, const tbReal* B,
                           uint64_t seed) {
  int nx = 2 * m->nv + m->na, nu = m->nu;
  tbReal* room = calloc((size_t)(4 * nx + 2 * nu + 1), sizeof(tbReal));
  tbReal *dx = room, *y = dx + nx, *next = y + nx, *by_x = next + nx, *du = by_x + nx;
  tbReal* by_u = du + nu;
  tbRng rng = {seed};
  for (int trial = 0; trial < 3; trial++) {
    for (int i = 0; i < nx; i++) dx[i] = tb_rng_normal(&rng), y[i] = tb_rng_normal(&rng);
    for (int i = 0; i < nu; i++) du[i] = tb_rng_normal(&rng);
    tb_derivatives_apply(x, dx, du, next);
    tb_derivatives_apply_transposed(x, y, by_x, by_u, NULL, NULL);
    tbReal forward = 0, back = 0, scale = 1, error = 0;
    for (int i = 0; i < nx; i++) {
      tbReal sum = 0, size = 0;
      for (int k = 0; k < nx; k++) {
        sum += A[i * nx + k] * dx[k];
        size += fabs(A[i * nx + k]);
      }
      for (int k = 0; k < nu; k++) sum += B[i * nu + k] * du[k];
      scale = fmax(scale, size);
      error = fmax(error, fabs(sum - next[i]));
      forward += y[i] * next[i];
      back += by_x[i] * dx[i];
    }
    for (int i = 0; i < nu; i++) back += by_u[i] * du[i];
    if (!(error < 1e-8 * scale) || !(fabs(forward - back) < 1e-8 * scale * nx)) {
      fail_msg("products: %g and %g apart at scale %g", error, fabs(forward - back), scale);
    }
  }
  free(room);
}

static void check_model(tbModel* m, int index, const Case* which, Count* count) {
  int law = which->law;
  m->opt.law = law;
  if (which->integrator >= 0) m->opt.integrator = which->integrator;
  if (which->timestep > 0) {
    // Explicit steps of light fingers: soft springs, or they explode.
    m->opt.timestep = which->timestep;
    m->opt.contact_stiffness = 1e3;
    m->opt.contact_damping = 0.1;
  }
  tbData* d = robot_state(m, (uint64_t)index + 3);
  if (which->integrator == TB_INTEGRATOR_EULER_EXPLICIT || which->integrator == TB_INTEGRATOR_RK4) {
    // Joint damping alone is too stiff for explicit steps of some.
    tbData* copy = tb_data_copy(m, d);
    int steps = copy && tb_step(m, copy) == TB_OK;
    if (!steps) {
      print_message("%s %s: no state, %s\n", which->name, tb_test_robot_name(index),
                    copy ? copy->message : "");
    }
    tb_data_free(copy);
    if (!steps) {
      tb_data_free(d);
      return;
    }
  }
  m->opt.solve_tolerance = 1e-12;
  m->opt.warmstart = 0;
  int nx = 2 * m->nv + m->na, na = nx * nx, nb = nx * m->nu;
  tbReal* room = calloc((size_t)(3 * (na + nb) + 1), sizeof(tbReal));
  tbReal *A = room, *B = A + na, *CA = B + nb, *CB = CA + na, *FA = CB + nb, *FB = FA + na;
  tbDerivatives* x = tb_derivatives_new(m);
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(m, d, NULL, x, &info), TB_OK);
  tb_derivatives_dense(x, A, B);
  for (int i = 0; i < na + nb; i++) assert_true(isfinite(A[i]));
  // Where forces are not unique and there is no derivative, rounding shows.
  if (info.differentiable) check_products(x, m, A, B, (uint64_t)index + 5);
  count->states++;
  count->differentiable += info.differentiable;
  count->kinks += !info.differentiable && strstr(info.reason, "near a kink");
  tbReal error = 0;
  if (info.differentiable) {
    assert_int_equal(tb_step_differences(m, d, 1e-6, 1, CA, CB), TB_OK);
    memcpy(FA, CA, sizeof(tbReal) * (size_t)(na + nb));
    Count before = *count;
    error = fmax(judge(A, CA, FA, nx, nx, count), judge(B, CB, FB, nx, m->nu, count));
    if (!(error < 1e-5)) {
      *count = before;
      assert_int_equal(tb_step_differences(m, d, 1e-7, 1, FA, FB), TB_OK);
      error = fmax(judge(A, CA, FA, nx, nx, count), judge(B, CB, FB, nx, m->nu, count));
    }
  }
  print_message("%s %s: contacts %d (free %d stick %d slide %d), rows %d, error %.1e %s\n",
                which->name, tb_test_robot_name(index), d->ncon, info.separated, info.sticking,
                info.sliding, info.rows, error, info.reason);
  free(room);
  tb_derivatives_free(x);
  tb_data_free(d);
}

// Differences of large robots take long: `derivatives/robots_large` has these, under one law
// of each kind, `TRIBO_TEST_ROBOTS=large` alone under every law.
enum { LARGE = 24 };

static void run(const Case* which) {
  const char* robots = getenv("TRIBO_TEST_ROBOTS");
  bool large = robots && strcmp(robots, "large") == 0;
  Count count = {0};
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    tbModel* m = tb_test_robot(i);
    if (m && m->nv > 0 && (m->nv > LARGE) == large) check_model(m, i, which, &count);
    tb_model_free(m);
  }
  if (count.states == 0) skip();
  print_message("%s: %d states, %d differentiable; %d of %d columns judged\n", which->name,
                count.states, count.differentiable, count.judged, count.columns);
  assert_int_equal(count.failed, 0);
  // Limits and contacts that rest at a gap of nothing stay at its kink.
  assert_true(3 * (count.differentiable + count.kinks) > count.states);
  assert_true(count.judged >= 0.8 * count.columns);
}

#define CASE(function, ...)                \
  static void function(void** state) {     \
    static const Case which = __VA_ARGS__; \
    (void)state;                           \
    run(&which);                           \
  }

CASE(test_ncp, {"ncp", TB_LAW_NCP, -1, 0})
CASE(test_ccp, {"ccp", TB_LAW_CCP, -1, 0})
CASE(test_lcp, {"lcp", TB_LAW_LCP, -1, 0})
CASE(test_raisim, {"raisim", TB_LAW_RAISIM, -1, 0})
CASE(test_soft, {"soft", TB_LAW_SOFT, -1, 0})
CASE(test_comfree, {"comfree", TB_LAW_COMFREE, -1, 0})
CASE(test_explicit, {"explicit", TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EULER_EXPLICIT, 1e-5})
CASE(test_expo, {"expo", TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EXPO, 0})
CASE(test_rk4, {"rk4", TB_LAW_VISCOELASTIC, TB_INTEGRATOR_RK4, 1e-5})
CASE(test_soft_rk4, {"soft rk4", TB_LAW_SOFT, TB_INTEGRATOR_RK4, 0})
CASE(test_soft_implicit, {"soft implicit", TB_LAW_SOFT, TB_INTEGRATOR_IMPLICIT, 0})
CASE(test_implicit, {"implicit", TB_LAW_VISCOELASTIC, TB_INTEGRATOR_EULER_IMPLICIT, 0})

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ncp),      cmocka_unit_test(test_ccp),
      cmocka_unit_test(test_lcp),      cmocka_unit_test(test_raisim),
      cmocka_unit_test(test_soft),     cmocka_unit_test(test_comfree),
      cmocka_unit_test(test_explicit), cmocka_unit_test(test_expo),
      cmocka_unit_test(test_implicit), cmocka_unit_test(test_rk4),
      cmocka_unit_test(test_soft_rk4), cmocka_unit_test(test_soft_implicit),
  };
  if (getenv("TRIBO_TEST_FILTER")) cmocka_set_test_filter(getenv("TRIBO_TEST_FILTER"));
  return cmocka_run_group_tests(tests, NULL, NULL);
}
