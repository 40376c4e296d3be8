// A and B of a step under every law with its integrators, after some steps of random controls.
#include <stdio.h>
#include <stdlib.h>

#include "golden/golden.h"

static const struct {
  const char* path;
} SCENES[] = {{TB_SCENES_DIR "/quadruped.xml"},  {TB_SCENES_DIR "/humanoid.xml"},
              {TB_SCENES_DIR "/hand.xml"},       {TB_SCENES_DIR "/islands.xml"},
              {TB_SCENES_DIR "/muscle_leg.xml"}, {TB_SCENES_DIR "/slider_crank.xml"}};
enum { NSCENES = sizeof SCENES / sizeof SCENES[0], STEPS = 15 };

static uint64_t linearize(const tbModel* m) {
  tbData* d = tb_data_new(m);
  tbDerivatives* x = tb_derivatives_new(m);
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na, nu = (size_t)m->nu;
  tbReal *A = calloc(nx * nx + 1, sizeof *A), *B = calloc(nx * nu + 1, sizeof *B);
  if (!d || !x || !A || !B) exit(1);
  tbRng rng = {5};
  for (int i = 0; i < STEPS; i++) {
    golden_controls(m, &rng, d->ctrl);
    tb_step(m, d);
  }
  tbDerivativeInfo info = {0};
  int result = (int)tb_step_linearize(m, d, NULL, x, &info);
  uint64_t hash = golden_ints(TB_HASH_SEED, &result, 1);
  hash = golden_ints(hash, &info.differentiable, 1);
  if (result == TB_OK) {
    tb_derivatives_dense(x, A, B);
    hash = golden_reals(hash, A, (int)(nx * nx));
    hash = golden_reals(hash, B, (int)(nx * nu));
  }
  free(A);
  free(B);
  tb_derivatives_free(x);
  tb_data_free(d);
  return hash;
}

void golden_derivatives(void) {
  for (int s = 0; s < NSCENES; s++) {
    tbModel* m = golden_load(SCENES[s].path);
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      int last =
          law == TB_LAW_VISCOELASTIC ? TB_INTEGRATOR_EULER_IMPLICIT : TB_INTEGRATOR_IMPLICITFAST;
      for (int integrator = 0; integrator <= last; integrator++) {
        char name[128];
        m->opt.law = law;
        m->opt.integrator = integrator;
        snprintf(name, sizeof name, "%s %s integrator %d", golden_name(SCENES[s].path),
                 tb_step_law_name(law), integrator);
        golden_line("derivative", name, linearize(m));
      }
    }
    tb_model_free(m);
  }
}
