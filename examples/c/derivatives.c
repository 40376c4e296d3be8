// How a step changes with the state: the linear model of a robot that stands, compared with two
// steps.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

int main(int argc, char** argv) {
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/quadruped.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  m->opt.solve_tolerance = 1e-12;  // so that the difference of two steps has digits
  tbData *d = tb_data_new(m), *other = NULL;
  tbDerivatives* derivatives = tb_derivatives_new(m);
  int nv = m->nv, nx = 2 * nv + m->na;  // dx: positions, velocities, activations
  double *dx = calloc((size_t)nx, sizeof *dx), *predicted = calloc((size_t)nx, sizeof *dx);
  if (!d || !derivatives || !dx || !predicted) return 2;

  // Let it come to rest; then linearise the next step, with feet that stay on the floor.
  tb_reset_keyframe(m, d, tb_name2id(m, TB_OBJ_KEY, "stand"));
  while (d->time < 1) {
    if (tb_step(m, d) != TB_OK) return fprintf(stderr, "%s\n", d->message), 1;
  }
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  tbDerivativeInfo info;
  settings.hold_contacts = 1;
  if (tb_step_linearize(m, d, &settings, derivatives, &info) != TB_OK) {
    return fprintf(stderr, "%s\n", d->message), 1;
  }
  printf("%d contacts stick, %d slide; differentiable: %s\n", info.sticking, info.sliding,
         info.differentiable ? "yes" : info.reason);

  // dx+ = A dx for a small push of the trunk, forwards and down.
  dx[nv] = 1e-5, dx[nv + 2] = -1e-5;  // m/s
  tb_derivatives_apply(derivatives, dx, NULL, predicted);

  // The same by two steps: with the push and without.
  other = tb_data_copy(m, d);
  if (!other) return 2;
  for (int i = 0; i < nv; i++) other->qvel[i] += dx[nv + i];
  if (tb_step(m, d) != TB_OK || tb_step(m, other) != TB_OK) return 1;
  double error_of_velocity = 0, size = 0;
  for (int i = 0; i < nv; i++) {
    error_of_velocity =
        fmax(error_of_velocity, fabs(other->qvel[i] - d->qvel[i] - predicted[nv + i]));
    size = fmax(size, fabs(predicted[nv + i]));
  }
  printf("change of velocity %.2e m/s, of it unpredicted %.1e\n", size, error_of_velocity);
  free(dx);
  free(predicted);
  tb_derivatives_free(derivatives);
  tb_data_free(other);
  tb_data_free(d);
  tb_model_free(m);
  return info.differentiable && error_of_velocity < 1e-6 * size ? 0 : 1;
}
