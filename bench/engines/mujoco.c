// MuJoCo of Debian, its defaults; the model file is read by MuJoCo itself.
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"

typedef struct {
  mjModel* m;
  mjData* d;
} World;

static void destroy(void* world) {
  World* w = world;
  if (w->d) mj_deleteData(w->d);
  if (w->m) mj_deleteModel(w->m);
  free(w);
}

static void* create(const tbModel* model, const tbData* start, tbReal dt) {
  World* w = calloc(1, sizeof *w);
  char error[512];
  if (!w) return NULL;
  w->m = mj_loadXML(engine_model_path, NULL, error, sizeof error);
  w->d = w->m ? mj_makeData(w->m) : NULL;
  if (!w->d || w->m->nq != model->nq) {
    destroy(w);
    return NULL;
  }
  w->m->opt.timestep = dt;
  w->m->opt.disableflags |= mjDSBL_ACTUATION | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  memset(w->m->dof_damping, 0, sizeof(mjtNum) * (size_t)w->m->nv);
  memcpy(w->m->dof_armature, model->dof_armature, sizeof(mjtNum) * (size_t)w->m->nv);
  memcpy(w->d->qpos, start->qpos, sizeof(mjtNum) * (size_t)w->m->nq);
  return w;
}

static void step(void* world) {
  World* w = world;
  mj_step(w->m, w->d);
}

static void read(void* world, tbReal* qpos) {
  World* w = world;
  memcpy(qpos, w->d->qpos, sizeof(tbReal) * (size_t)w->m->nq);
}

const Engine ENGINE_MUJOCO = {
    "mujoco 2.2.2", "defaults: Newton, pyramidal cone", create, step, read, destroy};
