// Interior points in velocity space: against the problem in Delassus form, against other solvers
// where the answer is unique, on contacts that depend on each other, and on bad input.
#include "common/test.h"
#include "problem/cone.h"
#include "solvers/active_set/subdomains.h"
#include "solvers/gauss_seidel/free_body_contacts.h"
#include "solvers/local/local.h"
#include "tribo/tribo.h"

enum { BODIES = 12, MOST = 72, NV = 6 * BODIES, ROWS = 4 * MOST };

// Free bodies of masses over some decades and random blocks of rows between them.
typedef struct {
  tbArena arena;
  tbForest forest;
  tbReal LD[NV * 6], inverse[NV];
  tbForestInertia inertia;
  int adr[NV], nnz[NV], col[NV * 6], place[NV];
  tbBlock block[MOST];
  tbRows rows[MOST];
  int support[MOST][12];
  tbReal J[MOST][4 * 12], g[ROWS], R[ROWS], rho[ROWS];
  tbReal G[ROWS * ROWS];
  tbProblem p;
  tbVelocity system;
  tbActive active;
} Case;

static void make_bodies(Case* c, tbRng* rng, double decades) {
  for (int i = 0; i < NV; i++) {
    c->adr[i] = i == 0 ? 0 : c->adr[i - 1] + c->nnz[i - 1];
    c->nnz[i] = i % 6 + 1;
    c->place[i] = -1;
    for (int k = 0; k < c->nnz[i]; k++) c->col[c->adr[i] + k] = i - i % 6 + k;
  }
  for (int b = 0; b < BODIES; b++) {
    double mass = pow(10, tb_rng_uniform(rng, 0, decades)), A[36];
    for (int k = 0; k < 36; k++) A[k] = 0.2 * tb_rng_normal(rng);
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j <= i; j++) {
        double sum = i == j;
        for (int k = 0; k < 6; k++) sum += A[i * 6 + k] * A[j * 6 + k];
        c->LD[c->adr[6 * b + i] + j] = mass * sum;
      }
    }
  }
  c->forest = (tbForest){NV, c->adr, c->nnz, c->col, NULL};
  assert_int_equal(tb_ltdl_factor(c->forest, c->LD, c->inverse, 0), -1);
  c->inertia = (tbForestInertia){.forest = c->forest, .LD = c->LD, .inverse = c->inverse};
}

// G = J M^-1 J^T, column by column.
static void fill_delassus(Case* c) {
  int n = c->p.n;
  for (int i = 0; i < c->p.nblock; i++) {
    const tbRows* rows = &c->rows[i];
    for (int r = 0; r < rows->dim; r++) {
      tbReal v[NV] = {0};
      for (int k = 0; k < rows->nnz; k++) v[rows->col[k]] = rows->J[r * rows->nnz + k];
      tb_ltdl_solve(c->forest, c->LD, c->inverse, v);
      for (int j = 0; j < c->p.nblock; j++) {
        const tbRows* other = &c->rows[j];
        for (int s = 0; s < other->dim; s++) {
          tbReal sum = 0;
          for (int k = 0; k < other->nnz; k++)
            sum += other->J[s * other->nnz + k] * v[other->col[k]];
          c->G[(c->block[j].row + s) * n + c->block[i].row + r] = sum;
        }
      }
    }
  }
  for (int i = 0; i < n; i++) c->rho[i] = fmax(c->G[i * n + i], 1e-12);
}

static int random_type(tbRng* rng, bool mixed) {
  int k = tb_rng_int(rng, 8);
  if (!mixed || k > 2) return TB_BLOCK_CONE;
  return k == 0 ? TB_BLOCK_ONE_SIDED : k == 1 ? TB_BLOCK_BOX : TB_BLOCK_EQUALITY;
}

static void make_block(Case* c, tbRng* rng, int i, bool mixed) {
  tbBlock* b = &c->block[i];
  *b = (tbBlock){.type = random_type(rng, mixed), .row = c->p.n, .lower = -0.3, .upper = 0.2};
  b->dim = b->type == TB_BLOCK_CONE ? 3 + (mixed && tb_rng_int(rng, 4) == 0) : 1;
  for (int k = 0; k < b->dim - 1; k++) b->mu[k] = tb_rng_uniform(rng, 0, 0.5);
  if (!mixed) b->mu[1] = b->mu[0];
  int first = tb_rng_int(rng, BODIES), second = tb_rng_int(rng, BODIES), n = 0;
  if (first > second) {
    int t = first;
    first = second;
    second = t;
  }
  for (int k = 0; k < 6; k++) c->support[i][n++] = 6 * first + k;
  for (int k = 0; k < 6 && second != first; k++) c->support[i][n++] = 6 * second + k;
  for (int k = 0; k < 4 * 12; k++) c->J[i][k] = tb_rng_normal(rng);
  c->rows[i] = (tbRows){b->dim, n, c->support[i], c->J[i]};
  c->p.n += b->dim;
}

static Case* case_new(tbRng* rng, int nblock, double decades, bool mixed, double compliance) {
  Case* c = calloc(1, sizeof *c);
  assert_non_null(c);
  tb_arena_init(&c->arena);
  make_bodies(c, rng, decades);
  for (int i = 0; i < nblock; i++) make_block(c, rng, i, mixed);
  c->p.nblock = nblock;
  c->p.block = c->block;
  c->p.g = c->g;
  c->p.R = compliance > 0 ? c->R : NULL;
  for (int k = 0; k < c->p.n; k++) c->g[k] = tb_rng_normal(rng);
  fill_delassus(c);
  for (int k = 0; k < c->p.n; k++) c->R[k] = compliance * c->rho[k];
  assert_true(tb_velocity_build(&c->system, &c->arena, &c->inertia, nblock, c->rows, c->place));
  c->active = (tbActive){.p = &c->p,
                         .block = c->rows,
                         .inertia = c->inertia,
                         .system = &c->system,
                         .rho = c->rho,
                         .law = TB_LAW_NCP,
                         .tolerance = 1e-6,
                         .max_iter = 200};
  return c;
}

static void case_free(Case* c) {
  tb_arena_free(&c->arena);
  free(c);
}

// sigma = (G + R) lambda + g, by the dense matrix.
static void dense_velocity(const Case* c, const tbReal* lambda, tbReal* sigma) {
  int n = c->p.n;
  for (int i = 0; i < n; i++) {
    sigma[i] = c->g[i] + (c->p.R ? c->R[i] * lambda[i] : 0);
    for (int j = 0; j < n; j++) sigma[i] += c->G[i * n + j] * lambda[j];
  }
}

// Interior points alone from `lambda`, at first with products `mu`; the residual in Delassus form.
static double solve_from(Case* c, tbReal mu, tbReal* lambda, tbSolveInfo* info) {
  const tbInterior settings = {100, 20, 0.5, mu, 0.02, false, false};
  tbReal sigma[ROWS], *x = TB_ARENA_NEW(&c->arena, tbReal, c->system.size + 1);
  *info = (tbSolveInfo){0};
  tb_active_response(&c->active, lambda, x, sigma);
  assert_true(tb_active_interior(&c->active, &c->arena, &settings, lambda, sigma, info));
  tbReal dense[ROWS];
  dense_velocity(c, lambda, dense);
  assert_near_array(sigma, dense, c->p.n, 1e-8);
  return tb_residual(&c->p, c->active.law, lambda, dense).relative;
}

// The same from nothing.
static double solve(Case* c, tbReal* lambda, tbSolveInfo* info) {
  memset(lambda, 0, sizeof(tbReal) * ROWS);
  return solve_from(c, 1, lambda, info);
}

// Near an answer of a slightly different problem the first point is on the central path at products
// as small as its residual: fewer iterations, and as many answers.
static void answers_nearby_help(void** state) {
  (void)state;
  int cold = 0, warm = 0, failed = 0, count = 0;
  for (int trial = 0; trial < 40; trial++) {
    tbRng rng = {(uint64_t)trial + 1001};
    Case* c = case_new(&rng, 10 + trial % 10, trial % 3, trial % 2, 0);
    tbReal lambda[ROWS], sigma[ROWS];
    tbSolveInfo first, again;
    if (solve(c, lambda, &first) <= 1e-6) {
      for (int k = 0; k < c->p.n; k++) c->g[k] *= 1 + 1e-4 * tb_rng_normal(&rng);
      dense_velocity(c, lambda, sigma);
      double start = tb_residual(&c->p, c->active.law, lambda, sigma).relative;
      failed += !(solve_from(c, fmin(1, 0.1 * start), lambda, &again) <= 1e-6);
      cold += first.iterations;
      warm += again.iterations;
      count++;
    }
    case_free(c);
  }
  print_message("interior: %.1f iterations from nothing, %.1f from nearby, %d of %d failed\n",
                (double)cold / count, (double)warm / count, failed, count);
  assert_true(count >= 36);
  assert_true(failed <= 2);
  assert_true(warm < 0.8 * cold);
}

// Where the path has no turning points, following it as if it had some leads to the same end.
static void paths_without_folds(void** state) {
  (void)state;
  int solved = 0, iterations = 0, count = 60;
  for (int trial = 0; trial < count; trial++) {
    tbRng rng = {(uint64_t)trial + 6001};
    Case* c = case_new(&rng, 5 + trial, trial % 3, trial % 2, 0);
    const tbInterior settings = {.max_iter = 150, .target = 0.9, .mu = 1, .turning_points = true};
    tbReal lambda[ROWS] = {0}, sigma[ROWS];
    tbSolveInfo info = {0};
    memcpy(sigma, c->g, sizeof sigma);
    assert_true(tb_active_interior(&c->active, &c->arena, &settings, lambda, sigma, &info));
    assert_true(info.iterations <= settings.max_iter);
    dense_velocity(c, lambda, sigma);
    solved += tb_residual(&c->p, TB_LAW_NCP, lambda, sigma).relative <= 1e-6;
    iterations += info.iterations;
    case_free(c);
  }
  print_message("interior: %d of %d solved along the path, in %.1f iterations\n", solved, count,
                (double)iterations / count);
  assert_true(solved >= 58);
}

// If half of the contacts have other modes than the guess, a large island costs as much as interior
// points alone, if these solve it (all but one in fifteen): no active-set iterations before or
// after. The others need active-set iterations near the answer: mostly a contact opens more slowly
// than a thousandth of the fastest velocity, and so is closed in the first iteration.
static void guesses_far_off_are_not_tried(void** state) {
  (void)state;
  int alike = 0, near = 0, count = 16;
  for (int trial = 0; trial < count; trial++) {
    tbRng rng = {(uint64_t)trial + 3001};
    Case* c = case_new(&rng, MOST, trial % 3, false, 0);
    assert_true(c->p.n > 200);
    // A single, tiny impulse: there was a last step, but its impulses are no help.
    tbReal lambda[ROWS] = {1e-9}, alone[ROWS] = {1e-9}, sigma[ROWS];
    tbSolveInfo whole, interior = {0};
    dense_velocity(c, alone, sigma);
    double start = tb_residual(&c->p, TB_LAW_NCP, alone, sigma).relative;
    assert_true(tb_active_solve(&c->active, &c->arena, sigma, lambda, &whole));
    const tbInterior settings = {40, 4, 0.9, 0.1 * fmin(1, start), 0.005, false, false};
    assert_true(tb_active_interior(&c->active, &c->arena, &settings, alone, sigma, &interior));
    if (tb_residual(&c->p, TB_LAW_NCP, alone, sigma).relative <= 1e-6) {
      assert_int_equal(whole.status, TB_SOLVE_CONVERGED);
      assert_int_equal(whole.factorizations, interior.factorizations);
      alike++;
    }

    // Once more from its last digits, for velocities that differ in the seventh.
    c->active.tolerance = 1e-9;
    for (int k = 0; k < 2; k++) {
      for (int r = 0; r < c->p.n && k == 1; r++) c->g[r] *= 1 + 1e-7 * tb_rng_normal(&rng);
      dense_velocity(c, lambda, sigma);
      assert_true(tb_active_solve(&c->active, &c->arena, sigma, lambda, &whole));
    }
    near += whole.status == TB_SOLVE_CONVERGED && whole.factorizations <= 3;
    case_free(c);
  }
  print_message("interior: %d of %d as interior points alone, %d solved by rounds nearby\n", alike,
                count, near);
  assert_true(alike > count / 2);
  assert_true(near > count / 2);
}

static void residuals_are_small_in_delassus_form(void** state) {
  (void)state;
  int rounds = 0, failed = 0, count = 60;
  for (int trial = 0; trial < count; trial++) {
    tbRng rng = {(uint64_t)trial + 1};
    Case* c = case_new(&rng, 5 + trial % 16, trial % 4, trial % 2, trial % 3 ? 0 : 1e-3);
    c->active.law = trial % 5 == 0 ? TB_LAW_CCP : TB_LAW_NCP;
    tbReal lambda[ROWS];
    tbSolveInfo info;
    double residual = solve(c, lambda, &info);
    failed += !(residual <= 1e-6);
    // ccp is convex: every problem is solved.
    if (c->active.law == TB_LAW_CCP) assert_true(residual <= 1e-6);
    rounds += info.iterations;
    case_free(c);
  }
  print_message("interior: %.1f iterations, %d of %d did not end\n", (double)rounds / count, failed,
                count);
  assert_true(failed <= count / 20);
  assert_true(rounds < 30 * count);
}

// With compliance everywhere and little friction there is one answer.
static void impulses_agree_with_other_solvers(void** state) {
  (void)state;
  for (int trial = 0; trial < 12; trial++) {
    tbRng rng = {(uint64_t)trial + 100};
    Case* c = case_new(&rng, 8, 1, false, 0.1);
    for (int i = 0; i < c->p.nblock; i++) c->block[i].mu[0] = c->block[i].mu[1] = 0.1;
    c->active.law = trial % 2 ? TB_LAW_CCP : TB_LAW_NCP;
    c->active.tolerance = 1e-8;
    tbReal lambda[ROWS], other[ROWS] = {0};
    tbSolveInfo info;
    assert_true(solve(c, lambda, &info) <= 1e-7);
    tbError error;
    tbProblem* p = tb_problem_create_dense(c->p.nblock, c->block, c->G, c->R, c->g, &error);
    assert_non_null(p);
    tbSolveSettings settings = tbDefaultSolveSettings();
    settings.law = (int)c->active.law;
    settings.solver = "pgs";
    settings.tol = 1e-10;
    settings.max_iter = 100000;
    assert_int_equal(tb_solve(p, &settings, other, NULL, &info, &error), TB_OK);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    assert_near_array(lambda, other, c->p.n, 1e-4);
    tb_problem_free(p);
    case_free(c);
  }
}

// Every contact three times: impulses are not unique, velocities are those of one.
static void repeated_contacts_are_no_obstacle(void** state) {
  (void)state;
  for (int trial = 0; trial < 10; trial++) {
    tbRng rng = {(uint64_t)trial + 200};
    Case* c = case_new(&rng, 24, 4, false, 0);
    for (int i = 8; i < 24; i++) {
      c->block[i] = c->block[i % 8];
      c->block[i].row = 3 * i;
      c->rows[i] = c->rows[i % 8];
      memcpy(c->g + 3 * i, c->g + 3 * (i % 8), 3 * sizeof(tbReal));
    }
    fill_delassus(c);
    tb_velocity_release(&c->system);
    assert_true(tb_velocity_build(&c->system, &c->arena, &c->inertia, 24, c->rows, c->place));
    tbReal lambda[ROWS], sigma[ROWS];
    tbSolveInfo info;
    assert_true(solve(c, lambda, &info) <= 1e-6);
    dense_velocity(c, lambda, sigma);
    assert_near_array(sigma, sigma + 24, 24, 1e-9);
    case_free(c);
  }
}

// Contacts that open, no friction, numbers that are none: an answer or a best guess, never a hang.
static void bad_input_ends(void** state) {
  (void)state;
  tbRng rng = {300};
  Case* c = case_new(&rng, 10, 2, true, 0);
  tbReal lambda[ROWS], g[ROWS];
  tbSolveInfo info;
  memcpy(g, c->g, sizeof g);
  for (int i = 0; i < c->p.nblock; i++) {
    for (int k = 0; k < 3; k++) c->block[i].mu[k] = 0;
  }
  assert_true(solve(c, lambda, &info) <= 1e-6);
  for (int i = 0; i < c->p.nblock; i++) {
    for (int r = 1; r < c->block[i].dim; r++) assert_near(lambda[c->block[i].row + r], 0, 0);
  }
  memset(c->g, 0, sizeof c->g);
  assert_true(solve(c, lambda, &info) <= 1e-6);
  static const tbReal BAD[] = {NAN, INFINITY, 1e300};
  for (int k = 0; k < 3; k++) {
    memcpy(c->g, g, sizeof g);
    c->g[2] = BAD[k];
    const tbInterior settings = {60, 10, 0.5, 1, 0.02, false, false};
    tbReal sigma[ROWS];
    memset(lambda, 0, sizeof lambda);
    memcpy(sigma, c->g, sizeof sigma);
    info = (tbSolveInfo){0};
    assert_true(tb_active_interior(&c->active, &c->arena, &settings, lambda, sigma, &info));
    assert_true(info.iterations <= 60);
    for (int r = 0; r < c->p.n; r++) assert_true(isfinite(lambda[r]));
  }
  case_free(c);
}

// Products with the rows of a list of contacts, on one body or two, are those of one at a time.
static void contacts_at_once(void** state) {
  (void)state;
  for (int trial = 0; trial < 20; trial++) {
    tbRng rng = {(uint64_t)trial + 400};
    Case* c = case_new(&rng, 1 + 3 * trial, 1, false, 0);
    int list[MOST], n = 0;
    for (int i = c->p.nblock - 1; i >= 0; i -= 1 + tb_rng_int(&rng, 2)) list[n++] = i;
    tbReal x[NV], y[NV], out[3 * MOST], f[3 * MOST];
    for (int k = 0; k < NV; k++) x[k] = y[k] = tb_rng_normal(&rng);
    for (int k = 0; k < 3 * n; k++) f[k] = tb_rng_normal(&rng);
    tb_velocity_mul_contacts(&c->system, n, list, x, out);
    for (int k = 0; k < n; k++) {
      tbReal one[TB_ROWS_DIM];
      tb_velocity_mul(&c->system, list[k], x, one);
      assert_near_array(out + 3 * k, one, 3, 1e-13);
    }
    tb_velocity_push_contacts(&c->system, n, list, f, x);
    for (int k = 0; k < n; k++) tb_velocity_apply_transposed(&c->system, list[k], f + 3 * k, y);
    assert_near_array(x, y, c->system.size, 1e-12);
    case_free(c);
  }
}

// With few dofs many active-set iterations with sparse factors are allowed, as with dense ones:
// both solve as many problems, on different paths.
static void few_dofs_take_rounds(void** state) {
  (void)state;
  int solved[2] = {0}, work[2] = {0}, others = 0, count = 40;
  for (int trial = 0; trial < count; trial++) {
    tbRng rng = {(uint64_t)trial + 5001};
    Case* c = case_new(&rng, 12 + trial % 8, 2, false, 0);
    int spent[2];
    for (int few = 0; few < 2; few++) {
      tbReal lambda[ROWS] = {0}, sigma[ROWS];
      tbSolveInfo info;
      c->active.few_dofs = few;
      memcpy(sigma, c->g, sizeof sigma);
      assert_true(tb_active_solve(&c->active, &c->arena, sigma, lambda, &info));
      dense_velocity(c, lambda, sigma);
      double residual = tb_residual(&c->p, TB_LAW_NCP, lambda, sigma).relative;
      assert_true(info.status != TB_SOLVE_CONVERGED || residual <= 1e-6);
      solved[few] += info.status == TB_SOLVE_CONVERGED;
      work[few] += spent[few] = info.factorizations;
    }
    others += spent[0] != spent[1];
    case_free(c);
  }
  print_message("few dofs: %d and %d of %d solved, %.1f and %.1f factorisations\n", solved[0],
                solved[1], count, (double)work[0] / count, (double)work[1] / count);
  assert_true(solved[1] >= count - 1);
  assert_true(others > count / 4);
}

// The blocks in the order of a sweep: contacts on free bodies by their colours, then the others.
static void order_of_sweeps(Case* c, int* order) {
  tbActiveState s = {.a = &c->active, .p = &c->p};
  tbFreeContacts f;
  int place[MOST];
  tbReal* rows[MOST];
  assert_true(tb_free_body_contacts_open(&s, &c->arena, &f, place, rows));
  for (int i = 0, last = f.count; i < c->p.nblock; i++) {
    if (place[i] < 0) place[i] = last++;
  }
  int count = 0;
  for (int at = 0; count < c->p.nblock; at++) {
    for (int i = 0; i < c->p.nblock; i++) {
      if (place[i] == at) order[count++] = i;
    }
  }
}

// One sweep over the dense matrix.
static void dense_sweep(const Case* c, const int* order, tbReal* lambda) {
  int n = c->p.n;
  for (int j = 0; j < c->p.nblock; j++) {
    int i = order[j], row = c->block[i].row, d = c->block[i].dim;
    tbReal A[36], b[6], slip = 0, sigma[ROWS];
    dense_velocity(c, lambda, sigma);
    for (int r = 0; r < d; r++) {
      b[r] = sigma[row + r];
      for (int k = 0; k < d; k++) {
        A[r * d + k] = c->G[(row + r) * n + row + k] + (r == k && c->p.R ? c->R[row + r] : 0);
        b[r] -= A[r * d + k] * lambda[row + k];
      }
    }
    tb_local_solve(&c->block[i], c->active.law, A, b, lambda + row, &slip);
  }
}

// Single rows without the first of their ancestors, as limits and dry friction come.
static void shorten_rows(Case* c, tbRng* rng) {
  for (int i = 0; i < c->p.nblock; i++) {
    if (c->block[i].dim != 1) continue;
    int last = tb_rng_int(rng, NV), n = last % 6 < 2 || tb_rng_int(rng, 2) ? 1 : 3;
    for (int k = 0; k < n; k++) c->support[i][k] = last - n + 1 + k;
    c->rows[i].nnz = n;
  }
  fill_delassus(c);
}

// Sweeps on whitened velocities, with code of their own for contacts on free bodies, are those over
// the dense matrix with the general local solver.
static void sweeps_are_gauss_seidel(void** state) {
  (void)state;
  int slides = 0, sticks = 0, opens = 0;
  for (int trial = 0; trial < 40; trial++) {
    tbRng rng = {(uint64_t)trial + 6001};
    Case* c = case_new(&rng, 4 + trial % 12, trial % 3, trial % 4 == 3, trial % 5 ? 0 : 1e-2);
    c->active.law = trial % 8 == 7 ? TB_LAW_CCP : TB_LAW_NCP;
    if (trial % 10 == 9) c->block[0].mu[0] = c->block[0].mu[1] = 0;
    // Little sticks with little friction.
    for (int i = 0; i < c->p.nblock && trial % 3 == 2; i++) {
      for (int k = 0; k < c->block[i].dim - 1; k++) c->block[i].mu[k] *= 10;
    }
    if (trial % 8 == 3) shorten_rows(c, &rng);
    tbReal lambda[ROWS] = {0}, sigma[ROWS], expected[ROWS] = {0}, velocity[ROWS];
    tbActiveState s = {.a = &c->active, .p = &c->p, .lambda = lambda, .sigma = sigma};
    int order[MOST];
    order_of_sweeps(c, order);
    for (int k = 1; k <= 3; k++) {
      // Every call projects first, which changes nothing here.
      assert_true(tb_active_sweep(&s, &c->arena, k));
      for (int j = 0; j < k; j++) dense_sweep(c, order, expected);
      dense_velocity(c, expected, velocity);
      assert_near_array(lambda, expected, c->p.n, 1e-6);
      assert_near_array(sigma, velocity, c->p.n, 1e-6);
    }
    for (int i = 0; i < c->p.nblock; i++) {
      const tbBlock* b = &c->block[i];
      if (b->type != TB_BLOCK_CONE || b->dim != 3 || !(b->mu[0] > 0) || !(b->mu[1] > 0)) continue;
      const tbReal* f = expected + b->row;
      double tail = hypot(f[1] / b->mu[0], f[2] / b->mu[1]);
      opens += f[0] == 0;
      slides += f[0] > 0 && tail > (1 - 1e-6) * f[0];
      sticks += f[0] > 0 && tail <= (1 - 1e-6) * f[0];
    }
    case_free(c);
  }
  print_message("sweeps: %d contacts open, %d slide, %d stick\n", opens, slides, sticks);
  assert_true(opens > 10 && slides > 10 && sticks > 5);
}

// The residual of one block at impulses and their velocity, in a scale.
static double own_residual(const Case* c, int i, const tbReal* lambda, const tbReal* sigma,
                           const tbSubdomainScale* scale) {
  tbBlock b = c->block[i];
  tbProblem one = {.n = b.dim, .nblock = 1, .block = &b, .g = sigma + b.row};
  lambda += b.row;
  b.row = 0;
  tbResidual r = tb_residual(&one, c->active.law, lambda, one.g);
  return fmax(fmax(r.primal / scale->load, r.dual / scale->speed),
              r.complementarity / scale->load / scale->speed);
}

// Sweeps that go farther stay within the cones.
static bool is_within_cones(const Case* c, const tbReal* lambda) {
  bool within = true;
  for (int i = 0; i < c->p.nblock; i++) {
    const tbBlock* b = &c->block[i];
    tbReal projected[TB_MAX_BLOCK_DIM];
    if (b->type != TB_BLOCK_CONE) continue;
    tb_block_project(b, c->active.law, lambda + b->row, projected);
    for (int r = 0; r < b->dim; r++) {
      within = within && fabs(projected[r] - lambda[b->row + r]) <= 1e-9 * (1 + lambda[b->row]);
    }
  }
  return within;
}

// Sweeps over unconverged blocks: if no block counts as converged the first is a plain sweep. They
// end when every block converges by the residual function and the velocities of the dense matrix,
// and blocks that a later change affects are solved again.
static void unsettled_blocks_are_swept(void** state) {
  (void)state;
  int ended = 0, woken = 0, skipped = 0;
  for (int trial = 0; trial < 120; trial++) {
    tbRng rng = {(uint64_t)trial + 6101};
    Case* c = case_new(&rng, 4 + trial % 12, trial % 3, trial % 4 == 3, trial % 5 ? 1e-2 : 0.1);
    c->active.law = trial % 2 ? TB_LAW_CCP : TB_LAW_NCP;
    tbReal lambda[ROWS] = {0}, sigma[ROWS], plain[ROWS] = {0}, velocity[ROWS];
    tbActiveState s = {.a = &c->active, .p = &c->p, .lambda = lambda, .sigma = sigma};
    tbActiveState t = {.a = &c->active, .p = &c->p, .lambda = plain, .sigma = sigma};
    tbSubdomainScale scale = {.load = 1, .speed = 1, .target = 0};
    assert_true(tb_active_whiten(&s, &c->arena));
    tb_active_sweeps_begin(&s);
    assert_true(tb_active_refine(&s, &scale) <= c->p.nblock);
    tb_active_sweeps_end(&s);
    assert_true(tb_active_sweep(&t, &c->arena, 1));
    assert_near_array(lambda, plain, c->p.n, 1e-12);
    // To an end.
    scale.target = 1e-5;
    int count = 1;
    for (int k = 0; k < 300 && count > 0; k++) {
      tb_active_sweeps_begin(&s);
      for (int j = 0; j < 10 && count > 0; j++) {
        count = tb_active_refine(&s, &scale);
        skipped += c->p.nblock - count;
      }
      tb_active_sweeps_end(&s);
      assert_true(is_within_cones(c, lambda));
    }
    if (count > 0) {
      case_free(c);
      continue;
    }
    ended++;
    dense_velocity(c, lambda, velocity);
    for (int i = 0; i < c->p.nblock; i++) {
      assert_true(tb_active_fixed_point_residual(&s, i, &scale) <= scale.target);
      assert_true(own_residual(c, i, lambda, velocity, &scale) <= 1.001e-5);
    }
    // A push at one block.
    tbReal push[TB_MAX_BLOCK_DIM] = {0.5};
    lambda[c->block[0].row] += push[0];
    tb_active_whitened_push(&s, 0, push);
    dense_velocity(c, lambda, velocity);
    bool off = own_residual(c, 0, lambda, velocity, &scale) > 1e-3;
    assert_true(!off || tb_active_fixed_point_residual(&s, 0, &scale) > scale.target);
    tb_active_sweeps_begin(&s);
    assert_true(!off || tb_active_refine(&s, &scale) > 0);
    tb_active_sweeps_end(&s);
    woken += off;
    case_free(c);
  }
  print_message("unsettled: %d of 120 end, %d woken, %d skipped\n", ended, woken, skipped);
  assert_true(ended > 100 && woken > 60 && skipped > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(residuals_are_small_in_delassus_form),
                                     cmocka_unit_test(unsettled_blocks_are_swept),
                                     cmocka_unit_test(answers_nearby_help),
                                     cmocka_unit_test(paths_without_folds),
                                     cmocka_unit_test(contacts_at_once),
                                     cmocka_unit_test(sweeps_are_gauss_seidel),
                                     cmocka_unit_test(few_dofs_take_rounds),
                                     cmocka_unit_test(guesses_far_off_are_not_tried),
                                     cmocka_unit_test(impulses_agree_with_other_solvers),
                                     cmocka_unit_test(repeated_contacts_are_no_obstacle),
                                     cmocka_unit_test(bad_input_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
