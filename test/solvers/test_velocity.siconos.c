// Siconos' answer beside ours: contact velocities are unique on these problems, impulses where G is
// regular. (A stack that slides may have several motions: of gen-SlidingStack-s00030-nc0021 Siconos
// finds ours on x86-64 and another one on aarch64.)
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>

#include "common/test.h"
#include "tribo/fclib.h"
#include "tribo/problem.h"

static NumericsMatrix* make_matrix(const tbFclibMatrix* W) {
  NumericsMatrix* matrix = NM_create(NM_SPARSE, W->rows, W->cols);
  NM_triplet_alloc(matrix, W->start[W->rows]);
  matrix->matrix2->origin = NSM_TRIPLET;
  for (int r = 0; r < W->rows; r++) {
    for (int k = W->start[r]; k < W->start[r + 1]; k++) {
      NM_entry(matrix, r, W->index[k], W->value[k]);
    }
  }
  return matrix;
}

static bool siconos(const tbFclib* f, int id, double tol, double* r, double* u) {
  NumericsMatrix* W = make_matrix(&f->W);
  FrictionContactProblem* p = frictionContactProblem_new_with_data(3, f->contacts, W, f->q, f->mu);
  SolverOptions* options = solver_options_create(id);
  options->dparam[SICONOS_DPARAM_TOL] = tol;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
  int info = fc3d_driver(p, r, u, options);
  solver_options_delete(options);
  // q and mu stay ours.
  p->q = p->mu = NULL;
  frictionContactProblem_free(p);
  return info == 0;
}

typedef struct {
  const char* name;
  int solver;
  bool regular;  // G has full rank: impulses are unique, too
} Case;

static void same_velocity(void** state) {
  (void)state;
  static const Case cases[] = {
      {"FC3D_Example1", SICONOS_FRICTION_3D_NSGS, true},
      {"NESpheres_10_1", SICONOS_FRICTION_3D_NSGS, true},
      {"Rover4396", SICONOS_FRICTION_3D_NSGS, true},
      {"LMGC_GlobalFrictionContactProblem00046-condensed", SICONOS_FRICTION_3D_NSGS, true},
      {"gen-Chain10_0-s00199-nc0009", SICONOS_FRICTION_3D_NSGS, true},
      {"gen-Chain20_1-s00080-nc0019", SICONOS_FRICTION_3D_NSN_AC, true},
      {"gen-CapsulePile50-s00120-nc0008", SICONOS_FRICTION_3D_NSN_AC, true},
      {"gen-OneBoxCorner-s00163-nc0003", SICONOS_FRICTION_3D_NSGS, false},
      {"Box_Stacks-i0122-82-5-condensed", SICONOS_FRICTION_3D_NSN_AC, false},
      {"gen-BoxStackRatio3_2-s00119-nc0012", SICONOS_FRICTION_3D_NSN_AC, false},
      {"gen-Arch-s00004-nc0016", SICONOS_FRICTION_3D_NSN_AC, true},
  };
  int compared = 0;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char path[256], full[1024];
    tbFclib* f = NULL;
    tbProblem* p = NULL;
    tbError error;
    snprintf(path, sizeof path, "fclib/local/%s.hdf5", cases[k].name);
    if (!tb_test_shared(path, full, sizeof full)) skip();
    if (tb_fclib_read(full, &f, &error) == TB_ERROR_UNSUPPORTED) skip();
    if (!f || tb_fclib_problem(f, &p, &error) != TB_OK) fail_msg("%s", error.message);
    size_t n = (size_t)p->n;
    double *r = calloc(n, sizeof *r), *u = calloc(n, sizeof *u);
    tbReal *lambda = calloc(n, sizeof *lambda), *sigma = calloc(n, sizeof *sigma);
    tbSolveSettings set = tbDefaultSolveSettings();
    tbSolveInfo info;
    set.tol = 1e-10;
    assert_int_equal(tb_solve(p, &set, lambda, NULL, &info, &error), TB_OK);
    if (info.status != TB_SOLVE_CONVERGED) {
      fail_msg("%s: %.1e", cases[k].name, info.residual.relative);
    }
    tb_problem_velocity(p, lambda, sigma, NULL);
    bool converged = siconos(f, cases[k].solver, 1e-11, r, u);
    // Its own multiplication by W, and ours. Its stop test is not ours: only good answers count.
    tb_problem_velocity(p, r, u, NULL);
    if (converged && tb_residual(p, TB_LAW_NCP, r, u).relative <= 1e-8) {
      tbReal speed = 0, impulse = 0;
      for (size_t i = 0; i < n; i++) {
        speed = fmax(speed, fabs(p->g[i]));
        impulse = fmax(impulse, fabs(lambda[i]));
      }
      for (size_t i = 0; i < n; i++) {
        if (!(fabs(u[i] - sigma[i]) <= 1e-5 * speed)) {
          fail_msg("%s, row %d: %.10g here, %.10g there", cases[k].name, (int)i, sigma[i], u[i]);
        }
        if (cases[k].regular && !(fabs(r[i] - lambda[i]) <= 1e-5 * impulse)) {
          fail_msg("%s, impulse %d: %.10g here, %.10g there", cases[k].name, (int)i, lambda[i],
                   r[i]);
        }
      }
      compared++;
    } else {
      print_message("%s: Siconos did not reach 1e-8\n", cases[k].name);
    }
    free(r);
    free(u);
    free(lambda);
    free(sigma);
    tb_problem_free(p);
    tb_fclib_free(f);
  }
  print_message("%d compared\n", compared);
  assert_true(compared >= 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_velocity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
