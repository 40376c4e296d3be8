// Derivatives of a step of standing bodies: where the gap term has a kink there are none, and with
// hold_contacts they are those of contacts that stay closed.
#include "common/test.h"
#include "linalg/dense.h"
#include "tribo/tribo.h"

static const tbReal H = 0.002;
static const int LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP, TB_LAW_RAISIM};

enum { LAW_COUNT = 4, MOST = 48 };

// ---- worlds -------------------------------------------------------------------------------------

typedef struct {
  tbModel* m;
  tbData* d;
  tbDerivatives* x;
  int nx;
} World;

static World world_of(tbModel* m) {
  World w = {m, tb_data_new(m), tb_derivatives_new(m), 2 * m->nv + m->na};
  assert_true(w.d && w.x && w.nx <= MOST);
  return w;
}

static World world_load(const char* xml) {
  tbError error;
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.solve_tolerance = 1e-13;
  return world_of(m);
}

static World scene_load(const char* name) {
  char path[1024];
  tbError error;
  snprintf(path, sizeof path, "%s/%s", TB_SCENES_DIR, name);
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  World w = world_of(m);
  assert_int_equal(tb_reset_keyframe(m, w.d, 0), TB_OK);
  return w;
}

static void world_free(World* w) {
  tb_derivatives_free(w->x);
  tb_data_free(w->d);
  tb_model_free(w->m);
}

// A body with one shape at height z above a floor, on three slides or free.
static World body_on_floor(const char* joints, const char* geom, const char* attributes, tbReal z) {
  char xml[2048];
  snprintf(xml, sizeof xml,
           "<mujoco><option timestep='0.002'/><default><geom friction='0.5 0.005 0.0001' %s/>"
           "</default><worldbody><geom name='floor' type='plane' size='9 9 1'/><body pos='0 0 "
           "%.15f'>%s<geom name='shape' mass='3' %s/></body></worldbody></mujoco>",
           attributes, z, joints, geom);
  return world_load(xml);
}

static const char SLIDES[] =
    "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide' "
    "axis='0 0 1'/>";
static const char BALL[] = "type='sphere' size='0.1'";

// A pendulum whose weight presses it on the upper limit of its hinge, or of a tendon over it.
static World on_its_limit(int tendon, tbReal gap) {
  char xml[2048], limit[2][80] = {"", ""};
  snprintf(limit[tendon], sizeof limit[0], "limited='true' range='-1 %.15f'", gap);
  snprintf(xml, sizeof xml,
           "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody><body><joint "
           "name='hip' axis='0 1 0' %s/><geom type='sphere' size='0.1' pos='1 0 0' mass='3'/>"
           "</body></worldbody><tendon><fixed name='string' %s><joint joint='hip' coef='1'/>"
           "</fixed></tendon></mujoco>",
           limit[0], limit[1]);
  return world_load(xml);
}

static tbDerivativeInfo linearize(const World* w, int hold, tbReal* A, tbReal* B) {
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  tbDerivativeInfo info;
  settings.hold_contacts = hold;
  assert_int_equal(tb_step_linearize(w->m, w->d, &settings, w->x, &info), TB_OK);
  tb_derivatives_dense(w->x, A, B);
  return info;
}

static tbReal apart(const tbReal* a, const tbReal* b, int n) {
  tbReal most = 0, scale = 1;
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(b[i]));
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]) / scale);
  return most;
}

// ---- kinks of the gap term ----------------------------------------------------------------------

// The info at a gap, and with it what to do and the contact's name.
static void flagged(World w, int expected, const char* name, const char* what) {
  tbDerivativeInfo info = linearize(&w, 0, NULL, NULL);
  if (info.differentiable != !expected) {
    fail_msg("%s: differentiable %d (%s)", what, info.differentiable, info.reason);
  }
  if (expected) {
    assert_non_null(strstr(info.reason, name));
    assert_non_null(strstr(info.reason, "hold_contacts"));
  }
  info = linearize(&w, 1, NULL, NULL);
  assert_true(info.differentiable);
  assert_string_equal(info.reason, "");
  world_free(&w);
}

// A ball at rest and a hinge on its limit: within 1e-5 of a kink from outside of the overlap that
// is left alone, within a quarter of it inside; at the cap of the push too.
static void test_kinks_of_contacts_that_carry(void** state) {
  (void)state;
  const struct {
    tbReal gap;
    int bends;
  } cases[] = {{2e-5, 0},  {5e-6, 1},      {1e-8, 1},      {1e-9, 1},  {0, 1},
               {-1e-9, 1}, {-2e-6, 1},     {-5e-6, 0},     {-9e-6, 1}, {-1.5e-5, 1},
               {-3e-5, 0}, {-3.005e-3, 1}, {-3.013e-3, 1}, {-4e-3, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int l = 0; l < LAW_COUNT; l++) {
      char what[64];
      snprintf(what, sizeof what, "law %d, gap %g", LAWS[l], cases[i].gap);
      World w = body_on_floor(SLIDES, BALL, "", 0.1 + cases[i].gap);
      w.m->opt.law = LAWS[l];
      flagged(w, cases[i].bends, "floor and shape", what);
      for (int tendon = 0; tendon < 2; tendon++) {
        w = on_its_limit(tendon, cases[i].gap);
        w.m->opt.law = LAWS[l];
        flagged(w, cases[i].bends, tendon ? "limit of string" : "limit of hip", what);
      }
    }
  }
}

// What carries nothing counts where it would close within the step: at 1 mm/s, but not at rest
// without gravity or on its way up.
static void test_kinks_of_contacts_that_may_carry(void** state) {
  (void)state;
  const struct {
    tbReal gap, velocity;
    int bends;
  } cases[] = {{5e-6, -1e-3, 1}, {5e-6, 1e-3, 0}, {2e-5, -1e-3, 0}, {-5e-6, 1e-3, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char what[64];
    snprintf(what, sizeof what, "gap %g at %g m/s", cases[i].gap, cases[i].velocity);
    World w = body_on_floor(SLIDES, BALL, "", 0.1 + cases[i].gap);
    w.m->opt.gravity[2] = 0;
    w.d->qvel[2] = cases[i].velocity;
    flagged(w, cases[i].bends, "floor and shape", what);
  }
}

// A spring with a damper, which acts below the surface, has a kink there even where contacts are
// held; without one it has none. Bouncing contacts do so from any gap.
static void test_kinks_of_springs_and_impacts(void** state) {
  (void)state;
  World w = body_on_floor(SLIDES, BALL, "", 0.1 - 1e-7);
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_compliance[g] = 1e-4;
  w.d->qvel[2] = -0.1;
  assert_true(linearize(&w, 0, NULL, NULL).differentiable);
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_contactdamping[g] = 10;
  assert_false(linearize(&w, 0, NULL, NULL).differentiable);
  assert_false(linearize(&w, 1, NULL, NULL).differentiable);
  world_free(&w);
  w = body_on_floor(SLIDES, BALL, "", 0.1 + 1e-7);
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_restitution[g] = 0.5;
  w.d->qvel[2] = -1;
  assert_true(linearize(&w, 0, NULL, NULL).differentiable);
  world_free(&w);
}

// A robot that comes to rest: where the info reports derivatives, differences of 1e-6 agree.
// Returns the number of compared states.
static int settles(const char* scene, int steps) {
  static tbReal A[MOST * MOST], F[MOST * MOST];
  World w = scene_load(scene);
  int n = w.nx * w.nx, judged = 0, wrong = 0;
  tbReal worst = 0;
  for (int k = 0; k < steps; k++) {
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    if (k % 7) continue;
    if (!linearize(&w, 0, A, NULL).differentiable) continue;
    World at = {w.m, tb_data_copy(w.m, w.d), NULL, 0};
    assert_int_equal(tb_step_differences(w.m, at.d, 1e-6, 1, F, NULL), TB_OK);
    worst = fmax(worst, apart(A, F, n));
    wrong += apart(A, F, n) > 0.05;
    judged++;
    tb_data_free(at.d);
  }
  world_free(&w);
  if (wrong) fail_msg("%s: %d of %d up to %g apart", scene, wrong, judged, worst);
  return judged;
}

static void test_settling(void** state) {
  (void)state;
  settles("quadruped.xml", 600);
  assert_true(settles("quadruped_torque.xml", 400) > 10);
}

// ---- contacts that stay closed ------------------------------------------------------------------

// What sticks on all of its dofs keeps its place and has no velocity: A = (1 0; 0 0) at any gap.
// While the gap may close within the step, A without the setting follows it at 1 / h, but for
// bodies that fly free: next to the floor their contacts at rest count as closed.
static void keeps_its_place(World w, int flies) {
  tbReal A[MOST * MOST], expected[MOST * MOST] = {0};
  tbDerivativeInfo info = linearize(&w, 1, A, NULL);
  assert_true(info.differentiable);
  for (int i = 0; i < w.m->nv; i++) expected[i * w.nx + i] = 1;
  assert_near_array(A, expected, w.nx * w.nx, 1e-6);
  assert_false(linearize(&w, 0, A, NULL).differentiable);
  assert_true(flies || apart(A, expected, w.nx * w.nx) > 0.1 / H);
  world_free(&w);
}

static void test_what_sticks_keeps_its_place(void** state) {
  (void)state;
  static const tbReal GAPS[] = {1e-11, 1e-9, 1e-6};
  for (size_t g = 0; g < sizeof GAPS / sizeof *GAPS; g++) {
    for (int l = 0; l < LAW_COUNT; l++) {
      World w[] = {
          body_on_floor(SLIDES, BALL, "", 0.1 + GAPS[g]),
          body_on_floor("<freejoint/>", "type='box' size='0.1 0.1 0.1'", "", 0.1 + GAPS[g]),
          on_its_limit(0, GAPS[g]), on_its_limit(1, GAPS[g])};
      for (int i = 0; i < 4; i++) {
        w[i].m->opt.law = LAWS[l];
        keeps_its_place(w[i], i == 1);
      }
    }
  }
}

// Without friction the horizontal motion is free, at any gap.
static void test_without_friction(void** state) {
  (void)state;
  static const tbReal GAPS[] = {1e-9, 0, -1e-9, -1e-4};
  for (size_t g = 0; g < sizeof GAPS / sizeof *GAPS; g++) {
    World w = body_on_floor(SLIDES, BALL, "condim='1'", 0.1 + GAPS[g]);
    w.m->opt.correction_softness = 0;
    w.d->qvel[0] = 0.3;
    tbReal A[36], expected[36] = {0};
    assert_true(linearize(&w, 1, A, NULL).differentiable);
    for (int i = 0; i < 3; i++) expected[7 * i] = 1;
    for (int i = 0; i < 2; i++) expected[6 * i + 3 + i] = H, expected[7 * (3 + i)] = 1;
    assert_near_array(A, expected, 36, 1e-8);
    world_free(&w);
  }
}

// A box that slides: as in the overlap that is left alone, where the gap term is zero.
static void test_sliding(void** state) {
  (void)state;
  static const tbReal GAPS[] = {-5e-6, 1e-11, 0, -1e-9};
  for (int l = 0; l < LAW_COUNT; l++) {
    tbReal expected[144], A[144], free[144];
    int first = 0;
    for (int g = 0; g < 4; g++) {
      World w = body_on_floor("<freejoint/>", "type='box' size='0.1 0.1 0.1'", "", 0.1 + GAPS[g]);
      w.m->opt.law = LAWS[l];
      w.d->qvel[0] = 2;
      w.d->qvel[1] = 0.5;
      tbDerivativeInfo info = linearize(&w, 0, g ? free : expected, NULL);
      // Four corners share the load in many ways: lcp leaves one of them at its bound.
      if (g == 0) first = info.differentiable;
      assert_true(g == 0 || !info.differentiable);
      assert_int_equal(linearize(&w, 1, A, NULL).differentiable, first);
      assert_near_array(A, expected, 144, 1e-5);
      assert_true(g != 1 || apart(free, expected, 144) > 1);
      world_free(&w);
    }
  }
}

// ---- next to a step whose gap terms are constants -----------------------------------------------

enum { FEET = 4, ROWS = 3 * FEET };

// A robot on four feet that stick, without the engine's contacts: v+ = v_free + W f with
// J v+ = -gamma, where v_free and W = h H^-1 J^T are those of steps that know no contacts.
typedef struct {
  tbModel* m;
  tbData* d;
  tbReal gamma[ROWS];
} Feet;

static void feet_rows(const Feet* s, tbReal* J) {
  static const int AXIS[3] = {2, 0, 1};
  int nv = s->m->nv, row = 0;
  for (int g = 0; g < s->m->ngeom; g++) {
    const char* name = tb_id2name(s->m, TB_OBJ_GEOM, g);
    if (!name || strncmp(name, "foot_", 5) != 0) continue;
    tbReal point[3], jacp[3 * MOST];
    memcpy(point, s->d->geom_xpos + 3 * g, sizeof point);
    point[2] = (point[2] - s->m->geom_size[3 * g]) / 2;
    tb_jac(s->m, s->d, s->m->geom_bodyid[g], point, jacp, NULL);
    for (int r = 0; r < 3; r++) {
      memcpy(J + row++ * nv, jacp + AXIS[r] * nv, sizeof(tbReal) * (size_t)nv);
    }
  }
  assert_int_equal(row, ROWS);
}

static void free_velocity(const Feet* s, tbReal* v) {
  assert_int_equal(tb_forward(s->m, s->d), TB_OK);
  for (int i = 0; i < s->m->nv; i++) v[i] = s->d->qvel[i] + s->m->opt.timestep * s->d->qacc[i];
}

static tbReal dot(const tbReal* a, const tbReal* b, int n) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// v+ at the state and controls of s->d.
static void held_velocity(const Feet* s, tbReal* v) {
  int nv = s->m->nv, pivot[ROWS];
  tbReal J[ROWS * MOST], W[ROWS * MOST], K[ROWS * ROWS], f[ROWS];
  free_velocity(s, v);
  feet_rows(s, J);
  for (int r = 0; r < ROWS; r++) {
    memcpy(s->d->qfrc_applied, J + r * nv, sizeof(tbReal) * (size_t)nv);
    free_velocity(s, W + r * nv);
    for (int i = 0; i < nv; i++) W[r * nv + i] -= v[i];
    f[r] = -s->gamma[r] - dot(J + r * nv, v, nv);
  }
  memset(s->d->qfrc_applied, 0, sizeof(tbReal) * (size_t)nv);
  for (int r = 0; r < ROWS; r++) {
    for (int k = 0; k < ROWS; k++) K[r * ROWS + k] = dot(J + r * nv, W + k * nv, nv);
  }
  assert_true(tb_lu(ROWS, K, ROWS, pivot));
  tb_lu_solve(ROWS, K, ROWS, pivot, f);
  for (int r = 0; r < ROWS; r++) {
    for (int i = 0; i < nv; i++) v[i] += f[r] * W[r * nv + i];
  }
}

// The next state after a move by e along column k of (q, v, ctrl) from `at`.
static void held_step(const Feet* s, const tbData* at, int k, tbReal e, tbReal* q, tbReal* v) {
  int nv = s->m->nv, nq = s->m->nq;
  tbReal unit[MOST] = {0};
  memcpy(s->d->qpos, at->qpos, sizeof(tbReal) * (size_t)nq);
  memcpy(s->d->qvel, at->qvel, sizeof(tbReal) * (size_t)nv);
  memcpy(s->d->ctrl, at->ctrl, sizeof(tbReal) * (size_t)s->m->nu);
  unit[k % nv] = 1;
  if (k < nv) tb_integrate_pos(s->m, s->d->qpos, unit, e);
  if (k >= nv && k < 2 * nv) s->d->qvel[k - nv] += e;
  if (k >= 2 * nv) s->d->ctrl[k - 2 * nv] += e;
  held_velocity(s, v);
  memcpy(q, s->d->qpos, sizeof(tbReal) * (size_t)nq);
  tb_integrate_pos(s->m, q, v, s->m->opt.timestep);
}

// A and B by hold_contacts against differences of that step.
static void compare_with_held_step(const World* w, const char* what) {
  static tbReal A[MOST * MOST], B[MOST * MOST], FA[MOST * MOST], FB[MOST * MOST];
  const tbReal e = 1e-6;
  int nv = w->m->nv, nu = w->m->nu, nx = w->nx;
  tbDerivativeInfo info = linearize(w, 1, A, B);
  assert_true(info.differentiable);
  assert_int_equal(info.sticking, FEET);
  tbReal J[ROWS * MOST], v[MOST], low[MOST], high[MOST], q[2][MOST], change[MOST];
  for (int i = 0; i < nv; i++) v[i] = w->d->qvel[i] + w->m->opt.timestep * w->d->qacc[i];
  Feet s = {.m = w->m, .d = tb_data_new(w->m)};
  s.m->opt.disableflags |= TB_DISABLE_CONTACT;
  memcpy(s.d->qpos, w->d->qpos, sizeof(tbReal) * (size_t)w->m->nq);
  tb_compute_position(s.m, s.d);
  feet_rows(&s, J);
  for (int r = 0; r < ROWS; r++) s.gamma[r] = -dot(J + r * nv, v, nv);
  held_step(&s, w->d, 0, 0, q[0], low);
  assert_near_array(low, v, nv, 1e-9);
  for (int k = 0; k < nx + nu; k++) {
    held_step(&s, w->d, k, -e, q[0], low);
    held_step(&s, w->d, k, e, q[1], high);
    tb_differentiate_pos(w->m, change, 2 * e, q[0], q[1]);
    for (int i = 0; i < nx; i++) {
      tbReal slope = i < nv ? change[i] : (high[i - nv] - low[i - nv]) / (2 * e);
      if (k < nx) FA[i * nx + k] = slope;
      if (k >= nx) FB[i * nu + k - nx] = slope;
    }
  }
  s.m->opt.disableflags &= ~TB_DISABLE_CONTACT;
  print_message("%s: A %.1e, B %.1e apart\n", what, apart(A, FA, nx * nx), apart(B, FB, nx * nu));
  assert_near_array(A, FA, nx * nx, 1e-6);
  assert_near_array(B, FB, nx * nu, 1e-6);
  tb_data_free(s.d);
}

// Products with A and B, which are never formed, against them.
static void compare_products(const World* w) {
  static tbReal A[MOST * MOST], B[MOST * MOST];
  tbReal dx[MOST], du[MOST], y[MOST], next[MOST], by_x[MOST], by_u[MOST];
  int nx = w->nx, nu = w->m->nu;
  tbRng rng = {11};
  linearize(w, 1, A, B);
  for (int i = 0; i < nx; i++) dx[i] = tb_rng_normal(&rng), y[i] = tb_rng_normal(&rng);
  for (int i = 0; i < nu; i++) du[i] = tb_rng_normal(&rng);
  tb_derivatives_apply(w->x, dx, du, next);
  tb_derivatives_apply_transposed(w->x, y, by_x, by_u, NULL, NULL);
  for (int i = 0; i < nx; i++) {
    tbReal back = 0;
    for (int k = 0; k < nx; k++) back += A[k * nx + i] * y[k];
    assert_near(next[i], dot(A + i * nx, dx, nx) + dot(B + i * nu, du, nu), 1e-9);
    assert_near(by_x[i], back, 1e-9);
  }
  for (int i = 0; i < nu; i++) {
    tbReal back = 0;
    for (int k = 0; k < nx; k++) back += B[k * nu + i] * y[k];
    assert_near(by_u[i], back, 1e-9);
  }
}

// The robot while it comes to rest (gaps of 1e-11 to 1e-8 m) and while its feet are pushed out of
// the floor, under every law.
static void test_quadruped(void** state) {
  (void)state;
  static const tbReal DEPTH[] = {0, 5e-5};
  World w = scene_load("quadruped.xml");
  for (int k = 0; k < 300; k++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  w.m->opt.correction_softness = 0;
  w.m->opt.solve_tolerance = 1e-13;
  for (int i = 0; i < 2; i++) {
    w.d->qpos[2] -= DEPTH[i];
    for (int l = 0; l < LAW_COUNT; l++) {
      char what[64];
      w.m->opt.law = LAWS[l];
      snprintf(what, sizeof what, "law %d, %g m deep", LAWS[l], DEPTH[i]);
      compare_with_held_step(&w, what);
      compare_products(&w);
    }
  }
  world_free(&w);
}

// Feet on springs rest away from the kink: A agrees with differences and needs no setting, which
// leaves springs as they are.
static void test_compliant_feet(void** state) {
  (void)state;
  static tbReal A[MOST * MOST], F[MOST * MOST];
  World w = scene_load("quadruped.xml");
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_compliance[g] = 0.5e-5;
  for (int k = 0; k < 1000; k++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  assert_true(linearize(&w, 0, A, NULL).differentiable);
  assert_true(linearize(&w, 1, F, NULL).differentiable);
  assert_near_array(A, F, w.nx * w.nx, 1e-12);
  assert_int_equal(tb_step_differences(w.m, w.d, 1e-6, 1, F, NULL), TB_OK);
  assert_near_array(A, F, w.nx * w.nx, 1e-6);
  world_free(&w);
}

// Where the whole step is differenced nothing can be held, and the info says so; means over samples
// hold contacts in every sample.
static void test_differences_and_samples(void** state) {
  (void)state;
  tbReal A[36], expected[36] = {0};
  World w = body_on_floor(SLIDES, BALL, "", 0.1 + 1e-9);
  w.m->opt.sleep = 1;
  tbDerivativeInfo info = linearize(&w, 1, NULL, NULL);
  assert_false(info.differentiable);
  assert_non_null(strstr(info.reason, "hold_contacts"));
  w.m->opt.sleep = 0;
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  settings.hold_contacts = 1;
  settings.samples = 8;
  settings.spread = 1e-10;
  assert_int_equal(tb_step_linearize(w.m, w.d, &settings, w.x, &info), TB_OK);
  tb_derivatives_dense(w.x, A, NULL);
  for (int i = 0; i < 3; i++) expected[7 * i] = 1;
  assert_near_array(A, expected, 36, 1e-6);
  world_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinks_of_contacts_that_carry),
      cmocka_unit_test(test_kinks_of_contacts_that_may_carry),
      cmocka_unit_test(test_kinks_of_springs_and_impacts),
      cmocka_unit_test(test_settling),
      cmocka_unit_test(test_what_sticks_keeps_its_place),
      cmocka_unit_test(test_without_friction),
      cmocka_unit_test(test_sliding),
      cmocka_unit_test(test_quadruped),
      cmocka_unit_test(test_compliant_feet),
      cmocka_unit_test(test_differences_and_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
