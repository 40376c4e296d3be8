// MuJoCo 2.2.2 as an oracle for dynamics: load a file with it, and take its compiled model over
// field by field, so that the algorithms are compared on exactly the same robot, whatever a loader
// does.
//
// Header only: the tests and benchmarks that include it link MuJoCo, the helpers' library does not.
#ifndef TRIBO_TEST_MUJOCO_MODEL_H_
#define TRIBO_TEST_MUJOCO_MODEL_H_

#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "tribo/dynamics.h"

// --- files newer than MuJoCo 2.2.2 ----------------------------------------------------------

// Attributes that 2.2.2 cannot read and that change neither kinematics nor inertia.
static const char* const TB_NEWER_ATTRIBUTES[] = {
    "actuatorfrcrange", "dampratio", "inheritrange", "ls_iterations",
    "memory",           "kv",        "qpos",         "ctrl",
    "realtime",         "actdim",    "timeconst",    "shellinertia",
    "sleep_tolerance"};

// Remove every ` name="..."` from a text, in place.
static inline void tb_strip_attribute(char* text, const char* name) {
  size_t length = strlen(name);
  for (char* at = text; (at = strstr(at, name));) {
    bool is_name =
        at > text && strchr(" \t\n", at[-1]) && at[length] == '=' && at[length + 1] == '"';
    char* end = is_name ? strchr(at + length + 2, '"') : NULL;
    if (end) {
      memmove(at, end + 1, strlen(end + 1) + 1);
    } else {
      at += length;
    }
  }
}

// Replace the first `from` of a text, in place; there is room.
static inline void tb_replace(char* text, const char* from, const char* to) {
  char* at = strstr(text, from);
  if (!at) return;
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, to, strlen(to));
}

// Put a stripped copy of a file into the virtual file system under its base name.
static inline bool tb_add_stripped(mjVFS* vfs, const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) return false;
  char* text = calloc(1, 1 << 20);
  size_t size = text ? fread(text, 1, (1 << 20) - 1024, file) : 0;
  fclose(file);
  bool ok = size > 0;
  for (size_t i = 0; ok && i < sizeof TB_NEWER_ATTRIBUTES / sizeof *TB_NEWER_ATTRIBUTES; i++) {
    tb_strip_attribute(text, TB_NEWER_ATTRIBUTES[i]);
  }
  if (ok) {
    tb_replace(text, "\"implicitfast\"", "\"Euler\"");
    if (!strstr(text, "autolimits"))
      tb_replace(text, "<compiler ", "<compiler autolimits=\"true\" ");
  }
  const char* base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  ok = ok && mj_makeEmptyFileVFS(vfs, base, (int)strlen(text)) == 0;
  if (ok) {
    int i = mj_findFileVFS(vfs, base);
    memcpy(vfs->filedata[i], text, strlen(text));
  }
  free(text);
  return ok;
}

// Load `path`; where it is too new, stripped copies of it and of `include` (a file in the same
// folder, or NULL) stand in. NULL with a message in `error` (size 1000).
static inline mjModel* tb_mujoco_load(const char* path, const char* include, char* error) {
  mjModel* model = mj_loadXML(path, NULL, error, 1000);
  if (model) return model;
  mjVFS* vfs = malloc(sizeof *vfs);
  if (!vfs) return NULL;
  mj_defaultVFS(vfs);
  bool ok = tb_add_stripped(vfs, path);
  if (ok && include) {
    char other[1024];
    const char* slash = strrchr(path, '/');
    snprintf(other, sizeof other, "%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".",
             include);
    ok = tb_add_stripped(vfs, other);
  }
  if (ok) model = mj_loadXML(path, vfs, error, 1000);
  mj_deleteVFS(vfs);
  free(vfs);
  return model;
}

// A model as tb_mujoco_load has it, and a world of it; false with a message and both NULL.
static inline bool tb_mujoco_open(const char* path, const char* include, mjModel** m, mjData** d,
                                  char* message, size_t size) {
  char error[1000] = "";
  *m = tb_mujoco_load(path, include, error);
  *d = *m ? mj_makeData(*m) : NULL;
  if (*d) return true;
  snprintf(message, size, "MuJoCo cannot load it: %s", error);
  if (*m) mj_deleteModel(*m);
  *m = NULL;
  return false;
}

static inline void tb_mujoco_close(mjModel* m, mjData* d) {
  if (d) mj_deleteData(d);
  if (m) mj_deleteModel(m);
}

// --- from its model to ours -----------------------------------------------------------------

// Ids that MuJoCo 2.2.2 does not keep: trees, last dofs, sizes of subtrees.
static inline void tb_fill_topology(tbModel* m) {
  int ntree = 0;
  for (int i = 0; i < m->nbody; i++) {
    int parent = m->body_parentid[i], n = m->body_dofnum[i];
    m->body_lastdof[i] = n ? m->body_dofadr[i] + n - 1 : i ? m->body_lastdof[parent] : -1;
    m->body_treeid[i] = i ? m->body_treeid[parent] : -1;
    if (n && m->body_treeid[i] < 0) m->body_treeid[i] = ntree++;
    m->body_subtreenum[i] = 1;
  }
  for (int i = m->nbody - 1; i > 0; i--) {
    m->body_subtreenum[m->body_parentid[i]] += m->body_subtreenum[i];
  }
  for (int i = 0; i < m->nv; i++) {
    m->dof_treeid[i] = m->body_treeid[m->dof_bodyid[i]];
    m->dof_subtreenum[i] = 1;
  }
  for (int i = m->nv - 1; i >= 0; i--) {
    if (m->dof_parentid[i] >= 0) m->dof_subtreenum[m->dof_parentid[i]] += m->dof_subtreenum[i];
  }
}

// Fields that both models have under one name, of the same type and of byte type in MuJoCo's.
#define TB_MUJOCO_FIELDS(X)         \
  X(qpos0, nq, 1)                   \
  X(qpos_spring, nq, 1)             \
  X(body_parentid, nbody, 1)        \
  X(body_rootid, nbody, 1)          \
  X(body_weldid, nbody, 1)          \
  X(body_mocapid, nbody, 1)         \
  X(body_jntnum, nbody, 1)          \
  X(body_jntadr, nbody, 1)          \
  X(body_dofnum, nbody, 1)          \
  X(body_dofadr, nbody, 1)          \
  X(body_geomnum, nbody, 1)         \
  X(body_geomadr, nbody, 1)         \
  X(body_pos, nbody, 3)             \
  X(body_quat, nbody, 4)            \
  X(body_ipos, nbody, 3)            \
  X(body_iquat, nbody, 4)           \
  X(body_mass, nbody, 1)            \
  X(body_inertia, nbody, 3)         \
  X(jnt_type, njnt, 1)              \
  X(jnt_qposadr, njnt, 1)           \
  X(jnt_dofadr, njnt, 1)            \
  X(jnt_bodyid, njnt, 1)            \
  X(jnt_pos, njnt, 3)               \
  X(jnt_axis, njnt, 3)              \
  X(jnt_stiffness, njnt, 1)         \
  X(jnt_range, njnt, 2)             \
  X(dof_bodyid, nv, 1)              \
  X(dof_jntid, nv, 1)               \
  X(dof_parentid, nv, 1)            \
  X(dof_armature, nv, 1)            \
  X(dof_damping, nv, 1)             \
  X(geom_type, ngeom, 1)            \
  X(geom_bodyid, ngeom, 1)          \
  X(geom_dataid, ngeom, 1)          \
  X(geom_size, ngeom, 3)            \
  X(geom_rbound, ngeom, 1)          \
  X(geom_pos, ngeom, 3)             \
  X(geom_quat, ngeom, 4)            \
  X(site_bodyid, nsite, 1)          \
  X(site_pos, nsite, 3)             \
  X(site_quat, nsite, 4)            \
  X(hfield_size, nhfield, 4)        \
  X(tendon_adr, ntendon, 1)         \
  X(tendon_num, ntendon, 1)         \
  X(tendon_stiffness, ntendon, 1)   \
  X(wrap_type, nwrap, 1)            \
  X(wrap_objid, nwrap, 1)           \
  X(wrap_prm, nwrap, 1)             \
  X(actuator_trntype, nu, 1)        \
  X(actuator_dyntype, nu, 1)        \
  X(actuator_gaintype, nu, 1)       \
  X(actuator_biastype, nu, 1)       \
  X(actuator_trnid, nu, 2)          \
  X(actuator_gainprm, nu, TB_NGAIN) \
  X(actuator_biasprm, nu, TB_NBIAS) \
  X(actuator_gear, nu, 6)           \
  X(actuator_cranklength, nu, 1)

// Our model of the same robot, constants set; NULL (with a message on stderr) on failure. Contact,
// equality and sensor fields are left out.
static inline tbModel* tb_from_mujoco(const mjModel* source) {
  tbModel sizes;
  memset(&sizes, 0, sizeof sizes);
  sizes.opt = tbDefaultOption();
  for (int k = 0; k < 3; k++) sizes.opt.gravity[k] = source->opt.gravity[k];
  sizes.nq = source->nq;
  sizes.nv = source->nv;
  sizes.nu = source->nu;
  sizes.nbody = source->nbody;
  sizes.njnt = source->njnt;
  sizes.ngeom = source->ngeom;
  sizes.nsite = source->nsite;
  sizes.ntendon = source->ntendon;
  sizes.nwrap = source->nwrap;
  sizes.nmocap = source->nmocap;
  sizes.nhfield = source->nhfield;
  tbError error;
  tbModel* m = tb_model_new(&sizes, &error);
  if (!m) return NULL;
#define X(name, rows, columns) \
  memcpy(m->name, source->name, (size_t)(m->rows) * (columns) * sizeof *m->name);
  TB_MUJOCO_FIELDS(X)
#undef X
  for (int j = 0; j < m->njnt; j++) m->jnt_limited[j] = source->jnt_limited[j];
  for (int t = 0; t < m->ntendon; t++) {
    m->tendon_lengthspring[2 * t] = m->tendon_lengthspring[2 * t + 1] =
        source->tendon_lengthspring[t];
  }
  for (int u = 0; u < m->nu; u++) m->actuator_actadr[u] = -1;
  tb_fill_topology(m);
  if (tb_set_constants(m, &error) != TB_OK) {
    fprintf(stderr, "%s\n", error.message);
    tb_model_free(m);
    return NULL;
  }
  return m;
}

#endif
