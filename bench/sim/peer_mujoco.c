#include <math.h>

#include "common/bench.h"
#include "common/mujoco_model.h"
#include "sim_bench.h"

const char* peer_version(void) {
  return mj_versionString();
}

// ---- the same model ----------------------------------------------------------------------------

// `path` read from stripped copies of it and of the files it includes.
static mjModel* load_stripped(const Scene* scene, const char* path, char* error) {
  mjVFS* vfs = malloc(sizeof *vfs);
  if (!vfs) return NULL;
  mj_defaultVFS(vfs);
  bool ok = tb_add_stripped(vfs, path);
  for (int i = 0; i < 2 && ok && scene->include[i]; i++) {
    char other[1024];
    snprintf(other, sizeof other, "%.*s/%s", (int)(strrchr(path, '/') - path), path,
             scene->include[i]);
    ok = tb_add_stripped(vfs, other);
  }
  mjModel* model = ok ? mj_loadXML(path, vfs, error, 1000) : NULL;
  mj_deleteVFS(vfs);
  free(vfs);
  return model;
}

static mjModel* load_text(const char* text, char* error) {
  mjVFS* vfs = malloc(sizeof *vfs);
  if (!vfs) return NULL;
  mj_defaultVFS(vfs);
  mjModel* model = NULL;
  if (mj_makeEmptyFileVFS(vfs, "scene.xml", (int)strlen(text)) == 0) {
    memcpy(vfs->filedata[mj_findFileVFS(vfs, "scene.xml")], text, strlen(text));
    model = mj_loadXML("scene.xml", vfs, error, 1000);
  }
  mj_deleteVFS(vfs);
  free(vfs);
  return model;
}

static mjModel* load(const Scene* scene, const char* text, char* error) {
  if (text) return load_text(text, error);
  char path[1024];
  snprintf(path, sizeof path, "%s/models/%s", TB_SHARED_DIR, scene->path);
  mjModel* model = mj_loadXML(path, NULL, error, 1000);
  return model ? model : load_stripped(scene, path, error);
}

// Parts of a newer file that an old MuJoCo ignores, and the options of the scene.
static bool take_over(const tbModel* m, const Scene* scene, mjModel* theirs) {
  if (theirs->nv != m->nv || theirs->nq != m->nq || theirs->nu != m->nu ||
      theirs->ngeom != m->ngeom) {
    return false;
  }
  theirs->opt.timestep = scene->dt;
  theirs->opt.integrator = mjINT_EULER;
  for (int i = 0; i < m->nv; i++) {
    theirs->dof_damping[i] = m->dof_damping[i];
    theirs->dof_armature[i] = m->dof_armature[i];
  }
  for (int u = 0; u < m->nu; u++) {
    memcpy(theirs->actuator_gainprm + mjNGAIN * u, m->actuator_gainprm + TB_NGAIN * u,
           sizeof(double) * 3);
    memcpy(theirs->actuator_biasprm + mjNBIAS * u, m->actuator_biasprm + TB_NBIAS * u,
           sizeof(double) * 3);
    theirs->actuator_biastype[u] = m->actuator_biastype[u];
  }
  if (scene->kind == DROP) {
    theirs->opt.disableflags |= mjDSBL_ACTUATION | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  }
  return true;
}

// ---- its answer under our residual function ----------------------------------------------------

// Contacts of the last step as a contact problem: impulses, the velocity after the step (with the
// geometry before the step), and the free velocity as scale.
static double exact_residual(const mjModel* m, mjData* d, const double* v_free) {
  int n = 0, count = 0;
  tbBlock* block = calloc((size_t)d->ncon + 1, sizeof *block);
  double* rows = calloc(3 * 6 * (size_t)(d->ncon + 1), sizeof *rows);
  double* jac = calloc(12 * (size_t)(m->nv + 1), sizeof *jac);
  if (!block || !rows || !jac) return NAN;
  double *lambda = rows, *sigma = rows + 6 * (d->ncon + 1), *g = sigma + 6 * (d->ncon + 1);
  size_t step = 3 * (size_t)m->nv;
  for (int i = 0; i < d->ncon; i++) {
    const mjContact* c = &d->contact[i];
    if (c->exclude || c->efc_address < 0) continue;
    double force[6];
    mj_contactForce(m, d, i, force);
    mj_jac(m, d, jac, jac + step, c->pos, m->geom_bodyid[c->geom1]);
    mj_jac(m, d, jac + 2 * step, jac + 3 * step, c->pos, m->geom_bodyid[c->geom2]);
    tbBlock* b = &block[count++];
    *b =
        (tbBlock){.type = c->dim > 1 ? TB_BLOCK_CONE : TB_BLOCK_ONE_SIDED, .row = n, .dim = c->dim};
    for (int r = 0; r < c->dim; r++) {
      // Relative velocity of the points, along axis r % 3 of the frame; rotations after the third.
      const double *first = jac + (r < 3 ? 0 : step), *second = first + 2 * step;
      double after = 0, before = 0;
      for (int k = 0; k < 3; k++) {
        for (int j = 0; j < m->nv; j++) {
          double J = c->frame[3 * (r % 3) + k] * (second[k * m->nv + j] - first[k * m->nv + j]);
          after += J * d->qvel[j];
          before += J * v_free[j];
        }
      }
      double gap = r == 0 && c->dist > 0 ? c->dist / m->opt.timestep : 0;
      lambda[n] = force[r] * m->opt.timestep;
      sigma[n] = after + gap;
      g[n++] = before + gap;
      if (r > 0) b->mu[r - 1] = c->friction[r - 1];
    }
  }
  tbProblem problem = {.n = n, .nblock = count, .block = block, .g = g};
  double relative = n ? tb_residual(&problem, TB_LAW_NCP, lambda, sigma).relative : 0;
  free(block);
  free(rows);
  free(jac);
  return relative;
}

// ---- running -----------------------------------------------------------------------------------

typedef struct {
  double *v_before, *v_free;
  double depths;
  int judged;
} Tally;

static void add_step(Run* run, const mjModel* m, mjData* d, Tally* tally, bool judge) {
  run->contacts += d->ncon;
  run->iterations += d->solver_iter;
  for (int i = 0; i < d->ncon; i++) {
    mjtNum force[6];
    mj_contactForce(m, d, i, force);
    if (d->contact[i].dist > 0 && !(force[0] > 0)) continue;
    double depth = fmax(0, -d->contact[i].dist);
    run->depth_mean += depth;
    run->depth_max = fmax(run->depth_max, depth);
    tally->depths++;
  }
  if (!judge) return;
  for (int j = 0; j < m->nv; j++) {
    tally->v_free[j] = tally->v_before[j] + m->opt.timestep * d->qacc_smooth[j];
  }
  double relative = exact_residual(m, d, tally->v_free);
  run->residual_mean += relative;
  run->residual_max = fmax(run->residual_max, relative);
  tally->judged++;
}

static void start(const tbModel* model, const mjModel* m, mjData* d) {
  mj_resetData(m, d);
  if (!model->nkey) return;
  memcpy(d->qpos, model->key_qpos, sizeof(double) * (size_t)m->nq);
  memcpy(d->qvel, model->key_qvel, sizeof(double) * (size_t)m->nv);
  memcpy(d->ctrl, model->key_ctrl, sizeof(double) * (size_t)m->nu);
}

static void run_steps(const tbModel* model, const Scene* scene, const mjModel* m, mjData* d,
                      Run* run, Tally* tally) {
  start(model, m, d);
  // The residual of at most some hundred steps is computed, since it takes longer than the steps.
  int stride = 1 + run->steps / 100;
  double height = d->qpos[2];
  for (int i = 0; i < run->steps && run->ok; i++) {
    bool judge = i % stride == 0;
    if (judge) memcpy(tally->v_before, d->qvel, sizeof(double) * (size_t)m->nv);
    hold_posture(model, &scene->posture, d->qpos, d->qvel, d->ctrl);
    tbClock begin = tb_bench_clock();
    mj_step(m, d);
    run->seconds[i] = tb_bench_since(begin);
    add_step(run, m, d, tally, judge);
    if (d->warning[mjWARN_BADQACC].number || d->warning[mjWARN_CONTACTFULL].number) {
      run->ok = false;
      snprintf(
          run->message, sizeof run->message, "step %d: %s", i,
          d->warning[mjWARN_BADQACC].number ? "it diverged and was reset" : "contacts are full");
    }
  }
  if (m->jnt_type[0] == mjJNT_FREE) run->sunk = height - d->qpos[2];
}

void run_peer(const tbModel* model, const Scene* scene, const char* text, Run* run) {
  char error[1000] = "";
  memset(run, 0, sizeof *run);
  mjModel* m = load(scene, text, error);
  mjData* d = m ? mj_makeData(m) : NULL;
  if (!d) {
    snprintf(run->message, sizeof run->message, "MuJoCo cannot load it: %.200s", error);
    mj_deleteModel(m);
    return;
  }
  run->steps = (int)(scene->time / scene->dt + 0.5);
  run->seconds = calloc((size_t)run->steps + 1, sizeof(double));
  Tally tally = {calloc((size_t)m->nv + 1, sizeof(double)),
                 calloc((size_t)m->nv + 1, sizeof(double)), 0, 0};
  run->ok = run->seconds && tally.v_before && tally.v_free && take_over(model, scene, m);
  if (!run->ok) snprintf(run->message, sizeof run->message, "its model is another one");
  if (run->ok) run_steps(model, scene, m, d, run, &tally);
  run->contacts /= run->steps;
  run->iterations /= run->steps;
  run->depth_mean /= tally.depths > 0 ? tally.depths : 1;
  run->residual_mean /= tally.judged ? tally.judged : 1;
  run->bytes = sizeof *d + (size_t)d->nbuffer + (size_t)d->maxuse_stack * sizeof(mjtNum);
  free(tally.v_before);
  free(tally.v_free);
  mj_deleteData(d);
  mj_deleteModel(m);
}
