// A thousand worlds with random friction and mass: where does a thrown cube stop? By Coulomb's law
// after v^2 / (2 mu g), whatever its mass; half a step of the throw less, since a step ends with
// the velocity that it begins to move with.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

enum { WORLDS = 1000 };

static double between(double low, double high) {
  return low + (high - low) * rand() / RAND_MAX;
}

int main(int argc, char** argv) {
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/sliding_cube.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  tbBatch* b = tb_batch_new(m, WORLDS, 0, 0, &error);  // threads: one per core
  if (!b) return fprintf(stderr, "%s\n", error.message), 2;

  // A row per world of any array or option of the model; inertias follow their masses here.
  tbReal* friction = tb_batch_expand(b, "opt.friction_scale");
  tbReal* mass = tb_batch_expand(b, "body_mass");
  tbReal* inertia = tb_batch_expand(b, "body_inertia");
  if (!friction || !mass || !inertia) return fprintf(stderr, "%s\n", b->message), 1;
  srand(1);
  for (int w = 0; w < WORLDS; w++) {
    double scale = between(0.1, 10);
    friction[w] = between(0.5, 2);
    for (int i = 0; i < m->nbody; i++) mass[w * m->nbody + i] *= scale;
    for (int i = 0; i < 3 * m->nbody; i++) inertia[3 * w * m->nbody + i] *= scale;
  }
  double h = m->opt.timestep, worst = 0, nearest = INFINITY, farthest = 0;
  if (tb_batch_reset(b, NULL, tb_name2id(m, TB_OBJ_KEY, "thrown")) != TB_OK ||
      tb_batch_step(b, (int)lround(1.5 / h)) != TB_OK) {
    return fprintf(stderr, "%s\n", b->message), 1;
  }
  for (int w = 0; w < WORLDS; w++) {
    double x = b->qpos[w * m->nq], y = b->qpos[w * m->nq + 1], v = hypot(2, 1);  // m, m/s
    double expected = v * v / (2 * 0.4 * friction[w] * 9.81) - v * h / 2;
    double distance = hypot(x, y);
    worst = fmax(worst, fabs(distance - expected));
    nearest = fmin(nearest, distance);
    farthest = fmax(farthest, distance);
  }
  printf("%d worlds: stop after %.3f to %.3f m, at most %.2g m from Coulomb's law\n", WORLDS,
         nearest, farthest, worst);
  tb_batch_free(b);
  tb_model_free(m);
  return worst < 1e-3 ? 0 : 1;
}
