// MuJoCo on the same scenes: one mjData per thread, through which its share of the worlds passes.
#include <pthread.h>

#include "comfree_bench.h"
#include "common/mujoco_model.h"

const char* peer_version(void) {
  return mj_versionString();
}

static mjModel* load(const Scene* scene) {
  mjVFS* vfs = malloc(sizeof *vfs);
  char error[1000] = "";
  if (!vfs || !scene->text) {
    free(vfs);
    return NULL;
  }
  mj_defaultVFS(vfs);
  mjModel* model = NULL;
  if (mj_makeEmptyFileVFS(vfs, "scene.xml", (int)strlen(scene->text)) == 0) {
    memcpy(vfs->filedata[mj_findFileVFS(vfs, "scene.xml")], scene->text, strlen(scene->text));
    model = mj_loadXML("scene.xml", vfs, error, sizeof error);
  }
  mj_deleteVFS(vfs);
  free(vfs);
  if (!model) fprintf(stderr, "MuJoCo: %s: %s\n", scene->name, error);
  if (model) model->opt.timestep = 0.002;
  return model;
}

bool peer_drop(const Scene* scene, int steps, Depths* depths) {
  mjModel* m = load(scene);
  mjData* d = m ? mj_makeData(m) : NULL;
  bool ok = d != NULL;
  for (int i = 0; ok && i < steps; i++) {
    mj_step(m, d);
    for (int k = 0; k < d->ncon; k++) depths_add(depths, d->contact[k].dist);
    ok = d->warning[mjWARN_CONTACTFULL].number == 0 && d->warning[mjWARN_CNSTRFULL].number == 0;
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  return ok;
}

typedef struct {
  const tbModel* model;
  const mjModel* m;
  mjData* d;
  double *state, *ctrl;  // per world: qpos, qvel, warm start; commands
  int first, end, block;
  long contacts;
} Share;

static size_t row_size(const mjModel* m) {
  return (size_t)(m->nq + 2 * m->nv);
}

static void* run_share(void* argument) {
  Share* s = argument;
  const mjModel* m = s->m;
  size_t row = row_size(m), nq = (size_t)m->nq, nv = (size_t)m->nv;
  for (int w = s->first; w < s->end; w++) {
    double* state = s->state + (size_t)w * row;
    memcpy(s->d->qpos, state, sizeof(double) * nq);
    memcpy(s->d->qvel, state + nq, sizeof(double) * nv);
    memcpy(s->d->qacc_warmstart, state + nq + nv, sizeof(double) * nv);
    memcpy(s->d->ctrl, s->ctrl + w * m->nu, sizeof(double) * (size_t)m->nu);
    for (int i = 0; i < BLOCK; i++) {
      mj_step(m, s->d);
      s->contacts += s->d->ncon;
    }
    memcpy(state, s->d->qpos, sizeof(double) * nq);
    memcpy(state + nq, s->d->qvel, sizeof(double) * nv);
    memcpy(state + nq + nv, s->d->qacc_warmstart, sizeof(double) * nv);
  }
  return NULL;
}

// All worlds by one block of steps, on `nthread` threads; returns the seconds.
static double run_block(Share* share, int nthread, int nworld) {
  pthread_t thread[64];
  tbClock start = tb_bench_clock();
  for (int t = 0; t < nthread; t++) {
    share[t].first = (int)((long)nworld * t / nthread);
    share[t].end = (int)((long)nworld * (t + 1) / nthread);
    if (t > 0) pthread_create(&thread[t], NULL, run_share, &share[t]);
  }
  run_share(&share[0]);
  for (int t = 1; t < nthread; t++) pthread_join(thread[t], NULL);
  return shared_seconds(start, nthread);
}

Throughput peer_worlds(const tbModel* model, const Scene* scene, int nworld, int nthread,
                       int blocks) {
  Throughput out = {0};
  mjModel* m = load(scene);
  if (!m || m->nq != model->nq || m->nv != model->nv || m->nu != model->nu || nthread > 64) {
    mj_deleteModel(m);
    return out;
  }
  Share share[64] = {0};
  size_t row = row_size(m);
  double* state = calloc((size_t)nworld * row, sizeof(double));
  double* ctrl = calloc((size_t)nworld * (size_t)m->nu + 1, sizeof(double));
  for (int t = 0; t < nthread; t++) {
    share[t] = (Share){.model = model, .m = m, .d = mj_makeData(m), .state = state, .ctrl = ctrl};
  }
  for (int w = 0; w < nworld; w++) {
    memcpy(state + (size_t)w * row, model->key_qpos, sizeof(double) * (size_t)m->nq);
  }
  double seconds = 0;
  for (int b = 0; b < blocks; b++) {
    for (int w = 0; w < nworld; w++) random_command(model, w, b, ctrl + w * m->nu);
    seconds += run_block(share, nthread, nworld);
  }
  double steps = (double)nworld * BLOCK * blocks;
  for (int t = 0; t < nthread; t++) {
    out.contacts += (double)share[t].contacts / steps;
    mj_deleteData(share[t].d);
  }
  for (int w = 0; w < nworld; w++) {
    out.held += (double)is_held(state + (size_t)w * row + m->nq - 7) / nworld;
  }
  out.rate = steps / seconds;
  out.ok = true;
  free(state);
  free(ctrl);
  mj_deleteModel(m);
  return out;
}
