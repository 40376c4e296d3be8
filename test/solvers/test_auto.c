// ncp/auto: problems with a known solution, hyperstatic and ill-scaled ones, islands, determinism.
#include "common/test.h"
#include "tribo/fclib.h"
#include "tribo/problem.h"

// Random contacts between `bodies` free bodies (and the ground), as G = J M^-1 J^T in dense form.
typedef struct {
  int contacts, n;
  tbBlock* block;
  tbReal *G, *g;
  tbProblem* p;
} Scene;

typedef struct {
  int bodies, contacts;
  double heaviest;  // masses from 1 to this
  double unit;      // factor on all impulses' units
  bool stacked;     // body k rests on body k - 1, instead of random pairs
} SceneDef;

static void add_contact(tbRng* rng, int c, int a, int b, const tbReal* mass, int dofs, tbReal* J) {
  (void)mass;
  for (int r = 0; r < 3; r++) {
    for (int side = 0; side < 2; side++) {
      int body = side ? b : a;
      if (body < 0) continue;
      tbReal* row = J + (size_t)(3 * c + r) * (size_t)dofs + 6 * body;
      tbReal sign = side ? 1 : -1;
      // Normal is z; the lever arm couples rotation.
      int axis = (r + 2) % 3;
      tbReal x = tb_rng_uniform(rng, -0.5, 0.5), y = tb_rng_uniform(rng, -0.5, 0.5);
      tbReal arm[3] = {x, y, side ? -0.5 : 0.5};
      tbReal e[3] = {axis == 0, axis == 1, axis == 2};
      for (int k = 0; k < 3; k++) row[k] = sign * e[k];
      row[3] = sign * (arm[1] * e[2] - arm[2] * e[1]);
      row[4] = sign * (arm[2] * e[0] - arm[0] * e[2]);
      row[5] = sign * (arm[0] * e[1] - arm[1] * e[0]);
    }
  }
}

static Scene make_scene(tbRng* rng, SceneDef def) {
  Scene s = {.contacts = def.contacts, .n = 3 * def.contacts};
  int dofs = 6 * def.bodies;
  tbReal* J = calloc((size_t)s.n * (size_t)dofs + 1, sizeof(tbReal));
  tbReal* inverse = calloc((size_t)dofs + 1, sizeof(tbReal));
  tbReal* mass = calloc((size_t)def.bodies + 1, sizeof(tbReal));
  tbReal* mu = calloc((size_t)s.contacts + 1, sizeof(tbReal));
  for (int b = 0; b < def.bodies; b++) {
    mass[b] = def.unit * pow(def.heaviest, def.bodies > 1 ? (double)b / (def.bodies - 1) : 0);
    for (int k = 0; k < 6; k++) inverse[6 * b + k] = (k < 3 ? 1 : 6) / mass[b];
  }
  for (int c = 0; c < s.contacts; c++) {
    int b = def.stacked ? c * def.bodies / s.contacts : tb_rng_int(rng, def.bodies);
    int a = def.stacked ? b - 1 : tb_rng_int(rng, def.bodies + 1) - 1;
    if (a == b) a = -1;
    add_contact(rng, c, a, b, mass, dofs, J);
    mu[c] = tb_rng_uniform(rng, 0.1, 0.9);
  }
  s.block = calloc((size_t)s.contacts + 1, sizeof *s.block);
  s.G = calloc((size_t)s.n * (size_t)s.n + 1, sizeof(tbReal));
  s.g = calloc((size_t)s.n + 1, sizeof(tbReal));
  tb_blocks_contacts(s.contacts, mu, s.block);
  for (int i = 0; i < s.n; i++) {
    for (int j = 0; j < s.n; j++) {
      for (int k = 0; k < dofs; k++) {
        s.G[i * s.n + j] += J[i * dofs + k] * inverse[k] * J[j * dofs + k];
      }
    }
    // Falling bodies with some sideways speed, and spin.
    for (int k = 0; k < dofs; k++) {
      tbReal v = k % 6 == 2 ? -0.1 : k % 6 < 2 ? 0.05 * (k % 4 - 1) : 0.02;
      s.g[i] += J[i * dofs + k] * v;
    }
  }
  tbError error;
  s.p = tb_problem_create_dense(s.contacts, s.block, s.G, NULL, s.g, &error);
  if (!s.p) fail_msg("%s", error.message);
  free(J);
  free(inverse);
  free(mass);
  free(mu);
  return s;
}

static void free_scene(Scene* s) {
  tb_problem_free(s->p);
  free(s->block);
  free(s->G);
  free(s->g);
}

static tbSolveInfo solve(const tbProblem* p, double tol, tbReal* lambda, tbSolveWork* work) {
  tbSolveSettings set = tbDefaultSolveSettings();
  tbSolveInfo info;
  tbError error;
  set.solver = "auto";
  set.tol = tol;
  if (tb_solve(p, &set, lambda, work, &info, &error) != TB_OK) fail_msg("%s", error.message);
  return info;
}

// Piles and stacks, light on heavy and heavy on light, grams and tons: all to 1e-8, except at a
// mass ratio of 1e9, where G lambda itself has rounding errors of that size.
static void test_scenes(void** state) {
  (void)state;
  static const SceneDef defs[] = {
      {1, 1, 1, 1, false},    {1, 4, 1, 1, true},      {3, 12, 1, 1, true},
      {5, 20, 1e3, 1, true},  {5, 20, 1e6, 1, true},   {8, 40, 1e9, 1, true},
      {6, 20, 1, 1, false},   {12, 40, 1e2, 1, false}, {20, 50, 1e4, 1, false},
      {4, 16, 1, 1e-6, true}, {4, 16, 1e2, 1e6, true}, {10, 60, 1, 1e-3, false},
      {3, 60, 1, 1, true},    {2, 14, 1e6, 1, true},   {2, 8, 1e9, 1, true},
      {2, 24, 1e9, 1, true},
  };
  tbRng rng = {7};
  tbSolveWork* work = tb_solve_work_create();
  for (size_t k = 0; k < sizeof defs / sizeof defs[0]; k++) {
    for (int trial = 0; trial < 3; trial++) {
      Scene s = make_scene(&rng, defs[k]);
      tbReal *lambda = calloc((size_t)s.n, sizeof(tbReal)),
             *sigma = calloc((size_t)s.n, sizeof(tbReal));
      double tol = defs[k].heaviest > 1e6 ? 1e-6 : 1e-8;
      tbSolveInfo info = solve(s.p, tol, lambda, work);
      if (info.status != TB_SOLVE_CONVERGED) {
        fail_msg("scene %d, trial %d: %s, %.2e", (int)k, trial,
                 tb_solve_status_name((tbSolveStatus)info.status), info.residual.relative);
      }
      // No false success: the residual again, from scratch.
      tbError error;
      assert_int_equal(tb_problem_velocity(s.p, lambda, sigma, &error), TB_OK);
      assert_true(tb_residual(s.p, TB_LAW_NCP, lambda, sigma).relative <= tol);
      free(lambda);
      free(sigma);
      free_scene(&s);
    }
  }
  tb_solve_work_free(work);
}

// Built backwards: choose impulses and velocities that fulfil the law, and g from them.
static void test_known_solution(void** state) {
  (void)state;
  tbRng rng = {11};
  for (int trial = 0; trial < 30; trial++) {
    SceneDef def = {10, 10, 1, 1, false};
    Scene s = make_scene(&rng, def);
    tbReal want[30], sigma[30], got[30] = {0}, velocity[30];
    for (int c = 0; c < s.contacts; c++) {
      tbReal mu = s.block[c].mu[0], angle = tb_rng_uniform(&rng, 0, 6.28);
      tbReal t[2] = {cos(angle), sin(angle)}, force = tb_rng_uniform(&rng, 0.5, 2);
      tbReal speed = tb_rng_uniform(&rng, 0.1, 1);
      int kind = tb_rng_int(&rng, 3);  // sticking, sliding, separating
      want[3 * c] = kind == 2 ? 0 : force;
      sigma[3 * c] = kind == 2 ? speed : 0;
      for (int k = 0; k < 2; k++) {
        want[3 * c + 1 + k] = kind == 0   ? 0.5 * mu * force * t[k]
                              : kind == 1 ? mu * force * t[k]
                                          : 0;
        sigma[3 * c + 1 + k] = kind == 0 ? 0 : kind == 1 ? -speed * t[k] : speed * t[k];
      }
    }
    for (int i = 0; i < s.n; i++) {
      s.g[i] = sigma[i];
      for (int j = 0; j < s.n; j++) s.g[i] -= s.G[i * s.n + j] * want[j];
    }
    tbError error;
    tbProblem* p = tb_problem_create_dense(s.contacts, s.block, s.G, NULL, s.g, &error);
    assert_non_null(p);
    tbSolveInfo info = solve(p, 1e-12, got, NULL);
    assert_true(info.residual.relative <= 1e-9);
    // Velocities are unique in nearly all such problems; forces need not be.
    assert_int_equal(tb_problem_velocity(p, got, velocity, &error), TB_OK);
    assert_true(tb_residual(p, TB_LAW_NCP, got, velocity).relative <= 1e-9);
    tb_problem_free(p);
    free_scene(&s);
  }
}

// Two copies of a scene that do not touch move alike. Their impulses may differ: they are not
// unique, and residuals are relative to the scale of all islands solved so far.
static void test_islands(void** state) {
  (void)state;
  tbRng rng = {13};
  SceneDef def = {4, 16, 1e2, 1, true};
  Scene s = make_scene(&rng, def);
  int n = s.n, c = s.contacts;
  tbReal* G = calloc((size_t)(4 * n * n), sizeof(tbReal));
  tbReal *g = calloc((size_t)(2 * n), sizeof(tbReal)),
         *both = calloc((size_t)(2 * n), sizeof(tbReal));
  tbReal* one = calloc((size_t)n, sizeof(tbReal));
  tbBlock* block = calloc((size_t)(2 * c), sizeof *block);
  for (int i = 0; i < n; i++) {
    g[i] = g[n + i] = s.g[i];
    for (int j = 0; j < n; j++) {
      G[i * 2 * n + j] = G[(n + i) * 2 * n + n + j] = s.G[i * n + j];
    }
  }
  for (int i = 0; i < 2 * c; i++) {
    block[i] = s.block[i % c];
    block[i].row = 3 * i;
  }
  tbError error;
  tbProblem* p = tb_problem_create_dense(2 * c, block, G, NULL, g, &error);
  assert_non_null(p);
  assert_int_equal(solve(s.p, 1e-9, one, NULL).status, TB_SOLVE_CONVERGED);
  assert_int_equal(solve(p, 1e-9, both, NULL).status, TB_SOLVE_CONVERGED);
  tbReal* sigma = calloc((size_t)(2 * n), sizeof(tbReal));
  assert_int_equal(tb_problem_velocity(p, both, sigma, &error), TB_OK);
  for (int i = 0; i < n; i++) assert_near(sigma[i], sigma[n + i], 1e-7);
  free(sigma);
  tb_problem_free(p);
  free(G);
  free(g);
  free(both);
  free(one);
  free(block);
  free_scene(&s);
}

// Dense, sparse and product forms of one problem give solutions of it; equal runs equal bits; a
// second solve takes no memory.
static void test_repeatable(void** state) {
  (void)state;
  tbRng rng = {17};
  SceneDef def = {6, 30, 1e4, 1, true};
  Scene s = make_scene(&rng, def);
  tbReal *a = calloc((size_t)s.n, sizeof(tbReal)), *b = calloc((size_t)s.n, sizeof(tbReal));
  tbSolveWork* work = tb_solve_work_create();
  solve(s.p, 1e-8, a, work);
  solve(s.p, 1e-8, b, work);
  size_t before = tb_solve_work_allocations(work);
  memset(b, 0, (size_t)s.n * sizeof *b);
  solve(s.p, 1e-8, b, work);
  assert_int_equal(tb_solve_work_allocations(work), before);
  assert_memory_equal(a, b, (size_t)s.n * sizeof *a);
  tb_solve_work_free(work);
  free(a);
  free(b);
  free_scene(&s);
}

enum { MOST_SOLVERS = 64 };

// Adds one for each solver of each law that solves the problem.
static void count_solved(const tbProblem* p, int* solved) {
  assert_true(tb_solver_count() <= MOST_SOLVERS);
  for (int s = 0; s < tb_solver_count(); s++) {
    tbSolveSettings settings = tbDefaultSolveSettings();
    tbSolveInfo info;
    tbReal lambda[MOST_SOLVERS] = {0};
    assert_true(p->n <= MOST_SOLVERS);
    settings.law = tb_solver_law(s);
    settings.solver = tb_solver_name(s);
    settings.tol = 1e-6;
    tb_solve(p, &settings, lambda, NULL, &info, NULL);
    solved[s] += info.status == TB_SOLVE_CONVERGED;
  }
}

// Equality, one-sided and box rows beside cones, compliant or not, frictionless and very rough.
static void test_other_blocks(void** state) {
  (void)state;
  tbRng rng = {19};
  int solved[MOST_SOLVERS] = {0};
  for (int trial = 0; trial < 60; trial++) {
    enum { N = 14 };
    tbBlock block[] = {
        {TB_BLOCK_EQUALITY, 0, 2, {0}, 0, 0},
        {TB_BLOCK_CONE, 2, 3, {0.5, 0.5}, 0, 0},
        {TB_BLOCK_BOX, 5, 2, {0}, -0.3, 0.2},
        {TB_BLOCK_ONE_SIDED, 7, 1, {0}, 0, 0},
        {TB_BLOCK_CONE, 8, 6, {0.7, 0.3, 0.05, 0.01, 0.02}, 0, 0},
    };
    if (trial % 3 == 1) block[1].mu[0] = block[1].mu[1] = 0;
    if (trial % 3 == 2) block[1].mu[0] = block[1].mu[1] = 1e3;
    if (trial % 4 == 3) block[2].upper = INFINITY;
    tbReal A[N * N], G[N * N] = {0}, g[N], R[N], lambda[N] = {0};
    for (int i = 0; i < N * N; i++) A[i] = tb_rng_normal(&rng);
    for (int i = 0; i < N; i++) {
      g[i] = tb_rng_normal(&rng);
      R[i] = trial % 2 ? 0.01 : 0;
      for (int j = 0; j < N; j++) {
        for (int k = 0; k < N; k++) G[i * N + j] += A[i * N + k] * A[j * N + k];
      }
    }
    tbError error;
    tbProblem* p = tb_problem_create_dense(5, block, G, R, g, &error);
    if (!p) fail_msg("%s", error.message);
    tbSolveInfo info = solve(p, 1e-8, lambda, NULL);
    if (info.status != TB_SOLVE_CONVERGED)
      fail_msg("trial %d: %.2e", trial, info.residual.relative);
    count_solved(p, solved);
    tb_problem_free(p);
  }
  // Most solvers of all laws solve all of them; those without a proof of convergence solve most.
  static const char* const MOSTLY[] = {"ncp/admm",         "ncp/staggered", "ncp/ipm",
                                       "ncp/prox-newton",         "lcp/staggered", "lcp/ipm",
                                       "raisim/pgs", "raisim/auto"};
  for (int s = 0; s < tb_solver_count(); s++) {
    char name[64];
    int least = 60;
    snprintf(name, sizeof name, "%s/%s", tb_law_name(tb_solver_law(s)), tb_solver_name(s));
    for (size_t k = 0; k < sizeof MOSTLY / sizeof *MOSTLY; k++) {
      if (strcmp(name, MOSTLY[k]) == 0) least = 35;
    }
    if (solved[s] < least) fail_msg("%s solves %d of 60", name, solved[s]);
  }
}

// The residual of a round cone has code of its own: it agrees with the general one, which a
// coefficient with another last digit selects.
static void test_round_residual(void** state) {
  (void)state;
  tbRng rng = {23};
  tbReal G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[3] = {-1, 0.5, 0.2};
  for (int trial = 0; trial < 2000; trial++) {
    tbBlock block[2] = {{TB_BLOCK_CONE, 0, 3, {0}, 0, 0}, {TB_BLOCK_CONE, 0, 3, {0}, 0, 0}};
    tbReal mu = tb_rng_uniform(&rng, 0.01, 2), scale = pow(10, tb_rng_uniform(&rng, -150, 150));
    if (trial % 3) scale = 1;
    block[0].mu[0] = block[0].mu[1] = block[1].mu[0] = mu;
    block[1].mu[1] = nextafter(mu, 3);
    tbReal lambda[3], sigma[3];
    for (int k = 0; k < 3; k++) {
      lambda[k] = scale * tb_rng_normal(&rng);
      sigma[k] = tb_rng_normal(&rng);
      if (tb_rng_int(&rng, 4) == 0) lambda[k] = 0;
      if (tb_rng_int(&rng, 4) == 0) sigma[k] = 0;
    }
    tbResidual r[2];
    for (int k = 0; k < 2; k++) {
      tbProblem p = {.n = 3, .nblock = 1, .block = &block[k], .g = g};
      p.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 3};
      r[k] = tb_residual(&p, trial % 2 ? TB_LAW_NCP : TB_LAW_CCP, lambda, sigma);
    }
    assert_near(r[0].primal / scale, r[1].primal / scale, 1e-12);
    assert_near(r[0].dual, r[1].dual, 1e-12);
    assert_near(r[0].complementarity / scale, r[1].complementarity / scale, 1e-12);
  }
}

static void test_corpus(void** state) {
  (void)state;
  // Small members of every family; the whole corpus is the benchmark's.
  static const char* const names[] = {
      "local/gen-HeavyTop5_4-s00020-nc0018",
      "local/gen-BoxStackRatio8_4-s00119-nc0032",
      "local/gen-Soup150-s00130-nc0064",
      "local/gen-Chain20_1-s00080-nc0019",
      "local/Capsules-i101-404",
      "local/gen-Arch-s00040-nc0058",
      "local/LMGC_100_PR_PerioBox-i00361-60-03000",
      "local/gen-SpherePile60-s00120-nc0102",
      "local/gen-Kapla60-s00015-nc0091",
      "local/Confeti-ex13-Fc3D-SBM",
      "global/Box_Stacks-i0122-82-5",
      "global/GFC3D_TwoRods1",
      "local/fclib_local_problem_test",
      "local/OneObject-i100000-316",
      "local/gen-BoxTower20-s00030-nc0079",
      "local/gen-SlidingStack-s00030-nc0021",
  };
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    char path[256], full[1024];
    tbFclib* fclib = NULL;
    tbProblem* p = NULL;
    tbError error;
    snprintf(path, sizeof path, "fclib/%s.hdf5", names[k]);
    if (!tb_test_shared(path, full, sizeof full)) skip();
    if (tb_fclib_read(full, &fclib, &error) == TB_ERROR_UNSUPPORTED) skip();
    if (!fclib || tb_fclib_problem(fclib, &p, &error) != TB_OK) fail_msg("%s", error.message);
    tbReal* lambda = calloc((size_t)p->n, sizeof(tbReal));
    tbSolveInfo info = solve(p, 1e-8, lambda, NULL);
    if (info.status != TB_SOLVE_CONVERGED) fail_msg("%s: %.2e", names[k], info.residual.relative);
    free(lambda);
    tb_problem_free(p);
    tb_fclib_free(fclib);
  }
}

// A cube that lands flat, recorded in a heap: all four contacts are at the edge of friction, the
// path of interior points turns back, and sweeps take thousands.
static void flat_landings_are_solved(void** state) {
  (void)state;
  enum { N = 12 };
  static const double B[N][6] = {
      {0.84562, -1.98888, -0.68862, -0.87010, 1.82506, 0},
      {0.79685, 0.77588, 2.40689, 0.06118, -0.00080, 0},
      {0.71765, -0.72741, 1.05861, -0.81772, -0.02693, 1.31762},
      {-1.89598, 1.03606, -0.68862, -0.87010, 1.82506, 0},
      {0.79715, 0.77551, -0.56806, 2.41728, 0, 0},
      {0.71809, -0.72789, 0.94347, -0.72653, -0.02690, 1.31762},
      {3.04006, 0, 0, 0, 0, 0},
      {0.79589, 0.77496, 2.48334, 0, 0, 0},
      {0.71665, -0.72709, -0.92481, 0.75286, -0.02608, 1.31762},
      {0.29846, 3.02495, 0, 0, 0, 0},
      {0.79619, 0.77459, -0.49161, 2.35609, 0.00080, 0},
      {0.71709, -0.72758, -1.03995, 0.84404, -0.02605, 1.31762},
  };
  const double g[N] = {-0.0111198, -0.0343780, -0.0016722, -0.0196012, -0.0001992, -0.0003509,
                       -0.0271937, -0.0352364, 0.0211257,  -0.0356755, -0.0010576, 0.0224470};
  tbBlock block[4] = {{0}};
  double G[N * N], lambda[N] = {0}, sigma[N];
  for (int i = 0; i < 4; i++) {
    block[i] = (tbBlock){.type = TB_BLOCK_CONE, .row = 3 * i, .dim = 3, .mu = {1, 1}};
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      G[N * i + j] = 0;
      for (int k = 0; k < 6; k++) G[N * i + j] += B[i][k] * B[j][k];
    }
  }
  tbError error;
  tbProblem* p = tb_problem_create_dense(4, block, G, NULL, g, &error);
  assert_non_null(p);
  tbSolveSettings settings = tbDefaultSolveSettings();
  tbSolveInfo info;
  settings.solver = "auto";
  settings.tol = 1e-6;
  settings.max_iter = 200;
  assert_int_equal(tb_solve(p, &settings, lambda, NULL, &info, &error), TB_OK);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  for (int i = 0; i < N; i++) {
    sigma[i] = g[i];
    for (int j = 0; j < N; j++) sigma[i] += G[N * i + j] * lambda[j];
  }
  assert_true(tb_residual(p, TB_LAW_NCP, lambda, sigma).relative <= 1.001e-6);
  tb_problem_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_landings_are_solved),
      cmocka_unit_test(test_scenes),
      cmocka_unit_test(test_known_solution),
      cmocka_unit_test(test_islands),
      cmocka_unit_test(test_repeatable),
      cmocka_unit_test(test_other_blocks),
      cmocka_unit_test(test_corpus),
      cmocka_unit_test(test_round_residual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
