#include "base/elementary.h"
#include "common/contact_problems.h"

#include "problem/delassus.h"

static tbReal* reals(int n) {
  return calloc((size_t)n + 1, sizeof(tbReal));
}

void tb_test_problem_free(tbTestProblem* test) {
  tb_problem_free(test->problem);
  free(test->lambda);
}

// G = I + small symmetric part, scaled so that it stays positive definite.
static tbReal* random_matrix(int n, tbRng* rng) {
  tbReal *A = reals(n * n), *G = reals(n * n);
  for (int i = 0; i < n * n; i++) A[i] = tb_rng_normal(rng);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      tbReal sum = 0;
      for (int k = 0; k < n; k++) sum += A[i * n + k] * A[j * n + k];
      G[i * n + j] = 0.5 * sum / n + (i == j);
    }
  }
  free(A);
  return G;
}

// lambda and sigma of one cone in a state of the exact law.
static void cone_state(tbTestState state, const tbBlock* b, tbRng* rng, tbReal* lambda,
                       tbReal* sigma) {
  int m = b->dim - 1;
  if (state == TB_STATE_MIXED) state = (tbTestState)tb_rng_int(rng, TB_STATE_MIXED);
  tbReal u[TB_MAX_BLOCK_DIM], length = 0;
  for (int i = 0; i < m; i++) {
    u[i] = tb_rng_normal(rng);
    length = tb_hypot(length, u[i]);
  }
  tbReal normal = tb_rng_uniform(rng, 0.5, 2), speed = tb_rng_uniform(rng, 0.2, 1);
  for (int i = 0; i <= m; i++) lambda[i] = sigma[i] = 0;
  if (state == TB_STATE_APART || state == TB_STATE_TIP) {
    sigma[0] = state == TB_STATE_APART ? speed : 0;
    for (int i = 0; i < m; i++) sigma[i + 1] = u[i];
    return;
  }
  tbReal share = state == TB_STATE_STICK ? tb_rng_uniform(rng, 0, 0.8) : 1;
  lambda[0] = normal;
  for (int i = 0; i < m; i++) lambda[i + 1] = share * normal * b->mu[i] * u[i] / length;
  if (state != TB_STATE_SLIDE) return;
  // Maximum dissipation: lambda_Ti = -lambda_N mu_i^2 sigma_Ti / |mu sigma_T|.
  for (int i = 0; i < m; i++) {
    sigma[i + 1] = b->mu[i] > 0 ? -speed * u[i] / (length * b->mu[i]) : u[i];
  }
}

static void finish(tbTestProblem* test, int nblock, const tbBlock* block, int n, const tbReal* G,
                   const tbReal* R, const tbReal* sigma) {
  tbReal* g = reals(n);
  for (int i = 0; i < n; i++) {
    g[i] = sigma[i] - (R ? R[i] * test->lambda[i] : 0);
    for (int j = 0; j < n; j++) g[i] -= G[i * n + j] * test->lambda[j];
  }
  tbError error;
  test->problem = tb_problem_create_dense(nblock, block, G, R, g, &error);
  if (!test->problem) fail_msg("%s", error.message);
  free(g);
}

tbTestProblem tb_test_backward(tbTestState state, int contacts, int dim, bool anisotropic,
                               tbReal compliance, uint64_t seed) {
  tbTestProblem test = {0};
  snprintf(test.name, sizeof test.name, "backward-%d-%dx%d-%llu", (int)state, contacts, dim,
           (unsigned long long)seed);
  tbRng rng = {seed};
  int n = contacts * dim;
  tbBlock* block = calloc((size_t)contacts + 1, sizeof *block);
  tbReal *G = random_matrix(n, &rng), *sigma = reals(n), *R = reals(n);
  test.lambda = reals(n);
  for (int i = 0; i < contacts; i++) {
    block[i] = (tbBlock){.type = TB_BLOCK_CONE, .row = i * dim, .dim = dim};
    tbReal mu = tb_rng_uniform(&rng, 0.2, 0.6);
    for (int k = 0; k < dim - 1; k++) {
      block[i].mu[k] = anisotropic ? tb_rng_uniform(&rng, 0.1, 0.8) : mu;
    }
    cone_state(state, &block[i], &rng, test.lambda + i * dim, sigma + i * dim);
  }
  for (int i = 0; i < n; i++) R[i] = compliance * tb_rng_uniform(&rng, 0.5, 1);
  finish(&test, contacts, block, n, G, compliance > 0 ? R : NULL, sigma);
  free(block);
  free(G);
  free(sigma);
  free(R);
  return test;
}

tbTestProblem tb_test_backward_blocks(int blocks, uint64_t seed) {
  tbTestProblem test = {0};
  snprintf(test.name, sizeof test.name, "blocks-%d-%llu", blocks, (unsigned long long)seed);
  tbRng rng = {seed};
  tbBlock* block = calloc((size_t)blocks, sizeof *block);
  int n = 0, dims[4] = {3, 4, 6, 2};
  for (int i = 0; i < blocks; i++) {
    int type = i % 4;
    block[i] = (tbBlock){.type = type, .row = n, .lower = -0.5, .upper = 1};
    block[i].dim = type == TB_BLOCK_CONE ? dims[(i / 4) % 4] : 1 + tb_rng_int(&rng, 3);
    for (int k = 0; k < TB_MAX_BLOCK_DIM - 1; k++) block[i].mu[k] = 0.4;
    n += block[i].dim;
  }
  tbReal *G = random_matrix(n, &rng), *sigma = reals(n);
  test.lambda = reals(n);
  for (int i = 0; i < blocks; i++) {
    tbReal *x = test.lambda + block[i].row, *y = sigma + block[i].row;
    if (block[i].type == TB_BLOCK_CONE) cone_state(TB_STATE_MIXED, &block[i], &rng, x, y);
    for (int r = 0; r < block[i].dim && block[i].type != TB_BLOCK_CONE; r++) {
      int state = tb_rng_int(&rng, 3);
      if (block[i].type == TB_BLOCK_EQUALITY) {
        x[r] = tb_rng_normal(&rng);
      } else if (block[i].type == TB_BLOCK_ONE_SIDED) {
        x[r] = state ? tb_rng_uniform(&rng, 0.1, 1) : 0;
        y[r] = state ? 0 : tb_rng_uniform(&rng, 0.1, 1);
      } else {
        x[r] = state == 0 ? block[i].lower : state == 1 ? block[i].upper : 0.2;
        y[r] = state == 0 ? 0.3 : state == 1 ? -0.3 : 0;
      }
    }
  }
  finish(&test, blocks, block, n, G, NULL, sigma);
  free(block);
  free(G);
  free(sigma);
  return test;
}

// ---- bodies ------------------------------------------------------------------------------------

// J's rows for a contact at `point` (relative to a cube's centre), normal z, tangents x and y:
// velocity of the point is v + omega x r. `sign` for the side of the contact.
static int add_rows(int at, int body, const tbReal* r, tbReal sign, tbReal rows[3][12],
                    int columns[12]) {
  const tbReal axis[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  for (int k = 0; k < 6; k++) columns[at + k] = 6 * body + k;
  for (int i = 0; i < 3; i++) {
    const tbReal* a = axis[i];
    for (int k = 0; k < 3; k++) rows[i][at + k] = sign * a[k];
    // a . (omega x r) = omega . (r x a)
    rows[i][at + 3] = sign * (r[1] * a[2] - r[2] * a[1]);
    rows[i][at + 4] = sign * (r[2] * a[0] - r[0] * a[2]);
    rows[i][at + 5] = sign * (r[0] * a[1] - r[1] * a[0]);
  }
  return at + 6;
}

typedef struct {
  int nv, n, entries;
  int M_start[100], M_column[100], J_start[400], J_column[4000];
  tbReal M_value[100], J_value[4000], v_free[100];
} Bodies;

// Unit cubes of the given masses, falling for 1 ms under gravity.
static void set_bodies(Bodies* b, int count, const tbReal* mass) {
  b->nv = 6 * count;
  for (int i = 0; i < b->nv; i++) {
    b->M_start[i] = i;
    b->M_column[i] = i;
    b->M_value[i] = mass[i / 6] * (i % 6 < 3 ? 1 : 1.0 / 6);
    b->v_free[i] = i % 6 == 2 ? -9.81e-3 : 0;
  }
  b->M_start[b->nv] = b->nv;
}

static void add_contact(Bodies* b, int lower, const tbReal* r_lower, int upper,
                        const tbReal* r_upper) {
  tbReal rows[3][12] = {{0}};
  int columns[12] = {0}, count = 0;
  if (lower >= 0) count = add_rows(count, lower, r_lower, -1, rows, columns);
  count = add_rows(count, upper, r_upper, 1, rows, columns);
  for (int i = 0; i < 3; i++) {
    b->J_start[b->n++] = b->entries;
    for (int k = 0; k < count; k++) {
      b->J_column[b->entries] = columns[k];
      b->J_value[b->entries++] = rows[i][k];
    }
  }
  b->J_start[b->n] = b->entries;
}

static tbProblem* bodies_problem(const Bodies* b, tbReal mu) {
  int contacts = b->n / 3;
  tbBlock* block = calloc((size_t)contacts + 1, sizeof *block);
  tbReal* coefficient = reals(contacts);
  for (int i = 0; i < contacts; i++) coefficient[i] = mu;
  tb_blocks_contacts(contacts, coefficient, block);
  tbError error;
  tbProblem* p =
      tb_problem_create_mass(contacts, block, b->nv, b->M_start, b->M_column, b->M_value,
                             b->J_start, b->J_column, b->J_value, NULL, b->v_free, NULL, &error);
  if (!p) fail_msg("%s", error.message);
  free(block);
  free(coefficient);
  return p;
}

tbTestProblem tb_test_table(int legs, tbReal mu, tbReal slip) {
  tbTestProblem test = {0};
  snprintf(test.name, sizeof test.name, "table-%d-%g-%g", legs, mu, slip);
  Bodies* b = calloc(1, sizeof *b);
  tbReal mass = 1;
  set_bodies(b, 1, &mass);
  b->v_free[0] = slip;
  for (int i = 0; i < legs; i++) {
    tbReal angle = 6.283185307179586 * i / legs + 0.3;
    tbReal r[3] = {0.5 * tb_cos(angle), 0.5 * tb_sin(angle), -0.5};
    add_contact(b, -1, NULL, 0, r);
  }
  test.problem = bodies_problem(b, mu);
  free(b);
  return test;
}

tbTestProblem tb_test_stack(int cubes, const tbReal* mass, tbReal mu) {
  tbTestProblem test = {0};
  snprintf(test.name, sizeof test.name, "stack-%d-%g", cubes, mass[cubes - 1] / mass[0]);
  Bodies* b = calloc(1, sizeof *b);
  set_bodies(b, cubes, mass);
  for (int i = 0; i < cubes; i++) {
    for (int k = 0; k < 4; k++) {
      tbReal x = k & 1 ? 0.5 : -0.5, y = k & 2 ? 0.5 : -0.5;
      tbReal low[3] = {x, y, 0.5}, high[3] = {x, y, -0.5};
      add_contact(b, i - 1, low, i, high);
    }
  }
  test.problem = bodies_problem(b, mu);
  free(b);
  return test;
}

// ---- forms -------------------------------------------------------------------------------------

tbReal* tb_test_matrix(const tbProblem* p) {
  tbReal* G = reals(p->n * p->n);
  tb_delassus_dense(p, G);
  for (int i = 0; i < p->n && p->R; i++) G[i * (p->n + 1)] += p->R[i];
  return G;
}

tbProblem* tb_test_convert(const tbProblem* p, tbDelassusForm form) {
  tbReal* G = reals(p->n * p->n);
  tb_delassus_dense(p, G);
  tbError error;
  tbProblem* result = NULL;
  if (form == TB_DELASSUS_DENSE) {
    result = tb_problem_create_dense(p->nblock, p->block, G, p->R, p->g, &error);
  } else {
    int *start = calloc((size_t)p->n + 1, sizeof *start), count = 0;
    int* column = calloc((size_t)(p->n * p->n) + 1, sizeof *column);
    tbReal* value = reals(p->n * p->n);
    for (int i = 0; i < p->n; i++) {
      for (int j = 0; j < p->n; j++) {
        if (G[i * p->n + j] == 0) continue;
        column[count] = j;
        value[count++] = G[i * p->n + j];
      }
      start[i + 1] = count;
    }
    result = tb_problem_create_csr(p->nblock, p->block, start, column, value, p->R, p->g, &error);
    free(start);
    free(column);
    free(value);
  }
  if (!result) fail_msg("%s", error.message);
  free(G);
  return result;
}

tbSolveInfo tb_test_solve(const tbProblem* problem, tbLaw law, const char* solver, tbReal tol,
                          int max_iter, tbReal* lambda) {
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.law = law;
  settings.solver = solver;
  settings.tol = tol;
  settings.max_iter = max_iter;
  tbSolveInfo info;
  tbError error;
  if (tb_solve(problem, &settings, lambda, NULL, &info, &error) != TB_OK) {
    fail_msg("%s/%s: %s", tb_law_name(law), solver, error.message);
  }
  return info;
}

bool tb_test_supports(const tbProblem* problem, int index) {
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.law = tb_solver_law(index);
  settings.solver = tb_solver_name(index);
  settings.max_iter = 1;
  tbReal* lambda = reals(problem->n);
  tbResult result = tb_solve(problem, &settings, lambda, NULL, NULL, NULL);
  free(lambda);
  return result != TB_ERROR_UNSUPPORTED;
}
