// What a batch of worlds can do, one function each.
//   batch scenes/hand.xml
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

enum { WORLDS = 16, STEPS = 20 };

// A number in [low, high] by world.
static double vary(int w, double low, double high) {
  return low + (high - low) * w / (WORLDS - 1);
}

// Domain randomisation: friction, masses, damping, gravity by world.
static int randomize(tbBatch* b) {
  const tbModel* m = b->model;
  tbReal* friction = tb_batch_expand(b, "geom_friction");
  tbReal* mass = tb_batch_expand(b, "body_mass");
  tbReal* inertia = tb_batch_expand(b, "body_inertia");
  tbReal* gravity = tb_batch_expand(b, "opt.gravity");
  if (!friction || !mass || !inertia || !gravity) return puts(b->message), 0;
  for (int w = 0; w < b->nworld; w++) {
    for (int g = 0; g < m->ngeom; g++) friction[3 * (w * m->ngeom + g)] *= vary(w, 0.8, 1.2);
    // Bodies become heavier, not larger: their inertias grow as their masses do.
    for (int i = 0; i < m->nbody; i++) mass[w * m->nbody + i] *= vary(w, 0.9, 1.1);
    for (int i = 0; i < 3 * m->nbody; i++) inertia[3 * w * m->nbody + i] *= vary(w, 0.9, 1.1);
    gravity[3 * w + 2] = -9.81 * vary(w, 0.99, 1.01);
  }
  return tb_batch_set_constants(b, NULL) == TB_OK;  // checks now what a step would check
}

// Observations: poses at the new state, contact wrenches of the last step.
static int observe(tbBatch* b) {
  tbReal* xpos = tb_batch_request(b, "xpos");
  tbReal* wrench = tb_batch_request(b, "body_contact_wrench");
  if (!xpos || !wrench) return puts(b->message), 0;
  if (tb_batch_step(b, 5) != TB_OK) return puts(b->message), 0;
  if (tb_batch_forward(b, NULL, TB_FORWARD_VELOCITY) != TB_OK) return puts(b->message), 0;
  int last = b->model->nbody - 1;
  printf("world 1: body %d at z %.3f m, %.2f N up\n", last, xpos[3 * (b->model->nbody + last) + 2],
         wrench[6 * (b->model->nbody + last) + 2]);
  return 1;
}

// Trajectories: every fifth step of two fields, under controls that change at each step.
static int collect(tbBatch* b) {
  const size_t rows = (size_t)b->nworld * (STEPS / 5), real = sizeof(tbReal);
  tbReal* ctrl = calloc((size_t)b->nworld * STEPS * (size_t)b->model->nu, real);
  tbReal* qpos = malloc(rows * (size_t)b->model->nq * real);
  tbReal* qacc = malloc(rows * (size_t)b->model->nv * real);
  const tbRecord record[] = {{"qpos", qpos}, {"qacc", qacc}};
  tbRollout r = {.nstep = STEPS, .ctrl = ctrl, .record = record, .nrecord = 2, .every = 5};
  int good = tb_batch_rollout(b, &r) == TB_OK;
  if (!good) puts(b->message);
  free(ctrl);
  free(qpos);
  free(qacc);
  return good;
}

// Search: try something in all worlds, then go on from the best one everywhere.
static int search(tbBatch* b) {
  size_t size = tb_batch_state_size(b);
  void* before = malloc(size * (size_t)b->nworld);
  int best = 0, index[WORLDS];
  int good = tb_batch_state_get(b, NULL, before, size) == TB_OK && tb_batch_step(b, 10) == TB_OK;
  for (int w = 1; w < b->nworld; w++) best = b->qvel[w * b->model->nv] > b->qvel[best] ? w : best;
  good = good && tb_batch_state_set(b, NULL, before, size) == TB_OK;  // as if nothing was tried
  for (int w = 0; w < b->nworld; w++) index[w] = best;
  good = good && tb_batch_gather(b, index) == TB_OK;
  good = good && tb_batch_clone(b, 0, 1) == TB_OK;  // one alone
  free(before);
  return good;
}

// One world by itself, with its own model, and back.
static int take_out(tbBatch* b) {
  tbModel* own = tb_model_copy(b->model);
  int good = tb_batch_get_model(b, 3, own) == TB_OK;
  tbData* d = tb_data_new(own);
  good = good && tb_batch_get_world(b, 3, own, d) == TB_OK && tb_step(own, d) == TB_OK;
  good = good && tb_batch_set_world(b, 3, own, d) == TB_OK;
  own->opt.timestep /= 2;
  good = good && tb_batch_set_model(b, 4, own) == TB_OK;  // world 4 gets this model
  tb_data_free(d);
  tb_model_free(own);
  return good;
}

// The Jacobian of the last body's centre of mass in every world.
static tbResult jacobian(const tbModel* m, tbData* d, int world, void* rows) {
  tb_compute_position(m, d);
  tb_jac_body_com(m, d, m->nbody - 1, (tbReal*)rows + (size_t)(3 * world * m->nv), NULL);
  return TB_OK;
}

static int jacobians(tbBatch* b) {
  tbReal* rows = malloc((size_t)(3 * b->nworld * b->model->nv) * sizeof(tbReal));
  int good = tb_batch_apply(b, NULL, jacobian, rows, 0) == TB_OK;
  free(rows);
  return good;
}

// Some worlds begin again; a wrong value stops its world alone, with a message.
static int begin_again(tbBatch* b) {
  unsigned char fallen[WORLDS] = {0};
  fallen[2] = fallen[5] = 1;
  const int world[] = {7, 9}, keyframe[] = {-1, -1};
  int good = tb_batch_reset(b, fallen, -1) == TB_OK &&
             tb_batch_reset_worlds(b, world, 2, keyframe) == TB_OK;
  tbReal* friction = tb_batch_expand(b, "geom_friction");
  friction[3 * 6 * b->model->ngeom] = -1;
  if (tb_batch_step(b, 1) == TB_OK) return 0;
  printf("%s\n%s\n", b->message, tb_batch_error(b, 6));
  return good && !tb_batch_expand(b, "geom_fricton") && puts(b->message) > 0;
}

int main(int argc, char** argv) {
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/hand.xml", NULL, &error);
  tbBatch* b = m ? tb_batch_new(m, WORLDS, 0, 0, &error) : NULL;
  if (!b) return fprintf(stderr, "%s\n", error.message), 1;
  int good = randomize(b) && observe(b) && collect(b) && search(b) && take_out(b) && jacobians(b) &&
             begin_again(b);
  if (!good) fprintf(stderr, "%s\n", b->message);
  tb_batch_free(b);
  tb_model_free(m);
  return good ? 0 : 1;
}
