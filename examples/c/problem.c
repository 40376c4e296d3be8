#include <math.h>
#include <stdio.h>
#include <tribo/problem.h>

enum { CONTACTS = 4, ROWS = 12, DOFS = 6 };

// Rows (n, t1, t2) of the velocity of the corner `r` of a body: v + w x r.
static void corner(const double r[3], double J[3][DOFS]) {
  const double axis[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  for (int k = 0; k < 3; k++) {
    const double* a = axis[k];
    double row[DOFS] = {a[0],
                        a[1],
                        a[2],
                        r[1] * a[2] - r[2] * a[1],
                        r[2] * a[0] - r[0] * a[2],
                        r[0] * a[1] - r[1] * a[0]};
    for (int i = 0; i < DOFS; i++) J[k][i] = row[i];
  }
}

static int solve(const char* name, tbProblem* problem, const tbError* error, double sigma[ROWS]) {
  double lambda[ROWS] = {0};
  tbSolveInfo info;
  tbSolveSettings settings = tbDefaultSolveSettings();  // law ncp, solver auto
  settings.tol = 1e-9;
  if (!problem) return fprintf(stderr, "%s: %s\n", name, error->message), 0;
  tbResult result = tb_solve(problem, &settings, lambda, NULL, &info, NULL);
  tb_problem_velocity(problem, lambda, sigma, NULL);
  printf("%-6s %s by %s, residual %.1e, corner slides at %.6f m/s\n", name,
         tb_solve_status_name((tbSolveStatus)info.status), info.solver, info.residual.relative,
         hypot(sigma[1], sigma[2]));
  tb_problem_free(problem);
  return result == TB_OK && info.status == TB_SOLVE_CONVERGED;
}

int main(void) {
  const double mass[DOFS] = {1, 1, 1, 1. / 6, 1. / 6, 1. / 6};
  const double free_velocity[DOFS] = {1, 0.5, -0.00981, 0, 0, 0};
  const double mu[CONTACTS] = {0.5, 0.5, 0.5, 0.5};
  double J[ROWS][DOFS], G[ROWS * ROWS] = {0}, g[ROWS] = {0}, sigma[3][ROWS];
  for (int c = 0; c < CONTACTS; c++) {
    const double r[3] = {c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, -0.5};
    corner(r, &J[3 * c]);
  }
  for (int i = 0; i < ROWS; i++) {
    for (int d = 0; d < DOFS; d++) {
      g[i] += J[i][d] * free_velocity[d];
      for (int j = 0; j < ROWS; j++) G[i * ROWS + j] += J[i][d] * J[j][d] / mass[d];
    }
  }
  tbBlock block[CONTACTS];
  tbError error;
  tb_blocks_contacts(CONTACTS, mu, block);

  // 1. G as a matrix.
  tbProblem* p = tb_problem_create_dense(CONTACTS, block, G, NULL, g, &error);
  int good = solve("dense", p, &error, sigma[0]);

  // 2. G in compressed rows, for many bodies.
  int start[ROWS + 1], column[ROWS * ROWS];
  for (int i = 0; i <= ROWS; i++) start[i] = i * ROWS;
  for (int k = 0; k < ROWS * ROWS; k++) column[k] = k % ROWS;
  p = tb_problem_create_csr(CONTACTS, block, start, column, G, NULL, g, &error);
  good = solve("sparse", p, &error, sigma[1]) && good;

  // 3. M, J and the free velocity.
  int M_start[DOFS + 1], M_column[DOFS], J_start[ROWS + 1], J_column[ROWS * DOFS];
  for (int i = 0; i <= DOFS; i++) M_start[i] = i;
  for (int i = 0; i < DOFS; i++) M_column[i] = i;
  for (int i = 0; i <= ROWS; i++) J_start[i] = i * DOFS;
  for (int k = 0; k < ROWS * DOFS; k++) J_column[k] = k % DOFS;
  p = tb_problem_create_mass(CONTACTS, block, DOFS, M_start, M_column, mass, J_start, J_column,
                             &J[0][0], NULL, free_velocity, NULL, &error);
  good = solve("mass", p, &error, sigma[2]) && good;

  // Impulses of four corners are not unique, velocities are.
  for (int i = 0; i < ROWS; i++) {
    good = good && fabs(sigma[1][i] - sigma[0][i]) < 1e-7 && fabs(sigma[2][i] - sigma[0][i]) < 1e-7;
  }
  return good ? 0 : 1;
}
