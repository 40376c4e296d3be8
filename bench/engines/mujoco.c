// MuJoCo of Debian, its defaults; the model file is read by MuJoCo itself.
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>

#include "common/mujoco_model.h"
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

static void* create(const Rig* rig) {
  const tbModel* model = rig->model;
  World* w = calloc(1, sizeof *w);
  char error[1000];
  if (!w) return NULL;
  w->m = tb_mujoco_load(engine_model_path, engine_model_include, error);
  w->d = w->m ? mj_makeData(w->m) : NULL;
  if (!w->d || w->m->nq != model->nq || w->m->ngeom != model->ngeom) {
    destroy(w);
    return NULL;
  }
  w->m->opt.timestep = rig->dt;
  w->m->opt.integrator = mjINT_EULER;
  w->m->opt.disableflags |=
      mjDSBL_ACTUATION | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS | mjDSBL_EQUALITY | mjDSBL_PASSIVE;
  memset(w->m->dof_damping, 0, sizeof(mjtNum) * (size_t)w->m->nv);
  memcpy(w->m->dof_armature, model->dof_armature, sizeof(mjtNum) * (size_t)w->m->nv);
  for (int g = 0; g < w->m->ngeom; g++) w->m->geom_condim[g] = model->geom_condim[g];
  memcpy(w->d->qpos, rig->start->qpos, sizeof(mjtNum) * (size_t)w->m->nq);
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
    "mujoco 2.2.2", "defaults: Newton, pyramidal cone, soft contacts", create, step, read, destroy};
