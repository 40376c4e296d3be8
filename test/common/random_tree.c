#include "common/random_tree.h"

#include "common/test.h"
#include "model/model.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"

enum { MAX_JOINTS = 3 };

static const int COORDINATES[] = {7, 4, 1, 1};
static const int DOFS[] = {6, 3, 1, 1};

// The shape of the tree, before there is a model.
typedef struct {
  int* parent;
  int* njoint;
  int (*type)[MAX_JOINTS];
} Shape;

static void random_quat(tbRng* rng, tbReal q[4]) {
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
}

static void random_vec(tbRng* rng, tbReal* v, int n, tbReal size) {
  for (int i = 0; i < n; i++) v[i] = tb_rng_uniform(rng, -size, size);
}

static Shape random_shape(const tbRandomTree* o, tbRng* rng) {
  size_t n = (size_t)o->nbody + 1;
  Shape shape = {calloc(n, sizeof(int)), calloc(n, sizeof(int)), calloc(n, sizeof(int[3]))};
  for (int i = 1; i <= o->nbody; i++) {
    // Depth-first order: the parent is the previous body or one of its ancestors.
    int parent = i - 1;
    while (parent > 0 && tb_rng_int(rng, 4) == 0) parent = shape.parent[parent];
    shape.parent[i] = parent;
    if (parent == 0 && !o->fixed_base && tb_rng_int(rng, 2)) {
      shape.njoint[i] = 1;
      shape.type[i][0] = TB_JOINT_FREE;
      continue;
    }
    static const int COUNT[] = {0, 1, 1, 1, 1, 1, 2, 3};
    shape.njoint[i] = i == 1 ? 1 : COUNT[tb_rng_int(rng, 8)];
    for (int j = 0; j < shape.njoint[i]; j++) {
      static const int TYPE[] = {TB_JOINT_HINGE, TB_JOINT_HINGE, TB_JOINT_SLIDE, TB_JOINT_BALL};
      shape.type[i][j] = TYPE[tb_rng_int(rng, o->scalar_only ? 3 : 4)];
      // As in MJCF, no rotation follows a ball in the same body.
      if (j > 0 && shape.type[i][j - 1] != TB_JOINT_HINGE) shape.type[i][j] = TB_JOINT_SLIDE;
    }
  }
  return shape;
}

static void free_shape(Shape shape) {
  free(shape.parent);
  free(shape.njoint);
  free(shape.type);
}

static tbModel sizes_of(const tbRandomTree* o, Shape shape) {
  tbModel s;
  memset(&s, 0, sizeof s);
  s.opt = tbDefaultOption();
  s.nbody = o->nbody + 1;
  for (int i = 1; i < s.nbody; i++) {
    s.njnt += shape.njoint[i];
    for (int j = 0; j < shape.njoint[i]; j++) {
      s.nq += COORDINATES[shape.type[i][j]];
      s.nv += DOFS[shape.type[i][j]];
    }
    // A tree starts at a moving body on a fixed one.
    s.ntree += shape.njoint[i] > 0;
  }
  s.ngeom = o->nbody;
  s.nsite = 2 * o->nbody;
  s.ntendon = o->ntendon;
  s.nwrap = 7 * o->ntendon;
  s.nu = o->nu;
  s.nnames = 1;
  return s;
}

static void add_joint(const tbRandomTree* o, tbModel* m, tbRng* rng, int joint, int body, int type,
                      int* nq, int* nv) {
  m->jnt_type[joint] = type;
  m->jnt_bodyid[joint] = body;
  m->jnt_qposadr[joint] = *nq;
  m->jnt_dofadr[joint] = *nv;
  tbReal* axis = m->jnt_axis + 3 * joint;
  random_vec(rng, axis, 3, 1);
  tb_normalize3(axis);
  if (type != TB_JOINT_FREE && tb_rng_int(rng, 2)) random_vec(rng, m->jnt_pos + 3 * joint, 3, 0.2);
  tbReal* q = m->qpos0 + *nq;
  if (type == TB_JOINT_FREE) {
    random_vec(rng, q, 3, 1);
    random_quat(rng, q + 3);
  } else if (type == TB_JOINT_BALL) {
    q[0] = 1;
  } else {
    q[0] = tb_rng_uniform(rng, -0.5, 0.5);
  }
  m->jnt_stiffness[joint] = tb_rng_int(rng, 2) ? tb_rng_uniform(rng, 0, 10) : 0;
  for (int k = 0; k < DOFS[type]; k++) {
    int dof = *nv + k;
    m->dof_bodyid[dof] = body;
    m->dof_jntid[dof] = joint;
    m->dof_armature[dof] = tb_rng_int(rng, 2) ? tb_rng_uniform(rng, 0, 0.1) : 0;
    m->dof_damping[dof] = o->conservative ? 0 : tb_rng_uniform(rng, 0, 1);
  }
  *nq += COORDINATES[type];
  *nv += DOFS[type];
}

static void add_body(tbModel* m, tbRng* rng, int i) {
  random_vec(rng, m->body_pos + 3 * i, 3, 0.5);
  random_quat(rng, m->body_quat + 4 * i);
  random_vec(rng, m->body_ipos + 3 * i, 3, 0.2);
  random_quat(rng, m->body_iquat + 4 * i);
  if (tb_rng_int(rng, 3) == 0) tb_quat_identity(m->body_iquat + 4 * i);
  m->body_mass[i] = tb_rng_uniform(rng, 0.1, 2);
  // Principal moments of a box satisfy the triangle inequality.
  tbReal a = tb_rng_uniform(rng, 0.05, 0.3), b = tb_rng_uniform(rng, 0.05, 0.3);
  tbReal c = tb_rng_uniform(rng, 0.05, 0.3), mass = m->body_mass[i] / 3;
  tb_set3(m->body_inertia + 3 * i, mass * (b * b + c * c), mass * (a * a + c * c),
          mass * (a * a + b * b));
}

static void add_tree(const tbRandomTree* o, tbModel* m, tbRng* rng, Shape shape) {
  int nq = 0, nv = 0, njnt = 0, ntree = 0;
  m->body_lastdof[0] = m->body_treeid[0] = m->body_jntadr[0] = m->body_dofadr[0] = -1;
  m->body_mocapid[0] = -1;
  tb_quat_identity(m->body_quat);
  tb_quat_identity(m->body_iquat);
  for (int i = 1; i < m->nbody; i++) {
    int parent = shape.parent[i], count = shape.njoint[i];
    add_body(m, rng, i);
    m->body_mocapid[i] = -1;
    m->body_parentid[i] = parent;
    m->body_rootid[i] = parent == 0 ? i : m->body_rootid[parent];
    m->body_weldid[i] = count ? i : m->body_weldid[parent];
    m->body_jntnum[i] = count;
    m->body_jntadr[i] = count ? njnt : -1;
    m->body_dofadr[i] = count ? nv : -1;
    m->body_treeid[i] = m->body_treeid[parent];
    if (count && m->body_treeid[i] < 0) {
      m->tree_bodyadr[ntree] = i;
      m->tree_dofadr[ntree] = nv;
      m->body_treeid[i] = ntree++;
    }
    int last = m->body_lastdof[parent], first = nv;
    for (int j = 0; j < count; j++) add_joint(o, m, rng, njnt++, i, shape.type[i][j], &nq, &nv);
    for (int dof = first; dof < nv; dof++) {
      m->dof_parentid[dof] = last;
      m->dof_treeid[dof] = m->body_treeid[i];
      last = dof;
    }
    m->body_dofnum[i] = nv - first;
    m->body_lastdof[i] = last;
  }
  m->ntree = ntree;
  for (int i = 0; i < m->nbody; i++) {
    if (m->body_treeid[i] >= 0) m->tree_bodynum[m->body_treeid[i]]++;
  }
  for (int i = 0; i < nv; i++) m->tree_dofnum[m->dof_treeid[i]]++;
  for (int i = m->nbody - 1; i >= 0; i--) {
    m->body_subtreenum[i]++;
    if (i > 0) m->body_subtreenum[m->body_parentid[i]] += m->body_subtreenum[i];
  }
  for (int i = nv - 1; i >= 0; i--) {
    m->dof_subtreenum[i]++;
    if (m->dof_parentid[i] >= 0) m->dof_subtreenum[m->dof_parentid[i]] += m->dof_subtreenum[i];
  }
}

static void add_frames(tbModel* m, tbRng* rng) {
  for (int g = 0; g < m->ngeom; g++) {
    int body = g + 1;
    m->geom_bodyid[g] = body;
    m->body_geomadr[body] = g;
    m->body_geomnum[body] = 1;
    m->geom_type[g] = tb_rng_int(rng, 2) ? TB_GEOM_SPHERE : TB_GEOM_CYLINDER;
    m->geom_dataid[g] = -1;
    random_vec(rng, m->geom_pos + 3 * g, 3, 0.1);
    random_quat(rng, m->geom_quat + 4 * g);
    m->geom_size[3 * g] = tb_rng_uniform(rng, 0.05, 0.2);
    m->geom_size[3 * g + 1] = 0.3;
    m->geom_rbound[g] = m->geom_size[3 * g];
  }
  for (int s = 0; s < m->nsite; s++) {
    m->site_bodyid[s] = 1 + s / 2;
    random_vec(rng, m->site_pos + 3 * s, 3, 0.4);
    random_quat(rng, m->site_quat + 4 * s);
    if (tb_rng_int(rng, 3) == 0) tb_quat_identity(m->site_quat + 4 * s);
  }
}

static int random_scalar_joint(const tbModel* m, tbRng* rng) {
  for (int trial = 0; trial < 1000; trial++) {
    int j = tb_rng_int(rng, m->njnt);
    if (m->jnt_type[j] == TB_JOINT_HINGE || m->jnt_type[j] == TB_JOINT_SLIDE) return j;
  }
  return -1;
}

// Path: site, geom (half of them with a side site), site, pulley, site, site; or a few joints.
static void add_tendons(const tbRandomTree* o, tbModel* m, tbRng* rng) {
  int at = 0;
  for (int t = 0; t < m->ntendon; t++) {
    m->tendon_adr[t] = at;
    m->tendon_lengthspring[2 * t] = m->tendon_lengthspring[2 * t + 1] = -1;
    m->tendon_stiffness[t] = tb_rng_uniform(rng, 0, 5);
    int joint = random_scalar_joint(m, rng);
    if (t % 2 == 0 && joint >= 0) {
      for (int k = 0; k < 3; k++) {
        m->wrap_type[at] = TB_WRAP_JOINT;
        m->wrap_objid[at] = random_scalar_joint(m, rng);
        m->wrap_prm[at++] = tb_rng_normal(rng);
      }
    } else {
      static const int PATH[] = {TB_WRAP_SITE, TB_WRAP_SPHERE, TB_WRAP_SITE, TB_WRAP_PULLEY,
                                 TB_WRAP_SITE, TB_WRAP_SITE,   TB_WRAP_SITE};
      for (int k = 0; k < 7; k++, at++) {
        m->wrap_type[at] = PATH[k];
        m->wrap_objid[at] = tb_rng_int(rng, m->nsite);
        if (PATH[k] == TB_WRAP_PULLEY) m->wrap_prm[at] = tb_rng_uniform(rng, 1, 3);
        if (PATH[k] != TB_WRAP_SPHERE) continue;
        if (o->tendon_armature) {
          m->wrap_type[at] = TB_WRAP_SITE;
          continue;
        }
        int geom = tb_rng_int(rng, m->ngeom);
        m->wrap_objid[at] = geom;
        if (m->geom_type[geom] == TB_GEOM_CYLINDER) m->wrap_type[at] = TB_WRAP_CYLINDER;
        m->wrap_prm[at] = tb_rng_int(rng, 2) ? tb_rng_int(rng, m->nsite) : -1;
      }
    }
    m->tendon_num[t] = at - m->tendon_adr[t];
    if (o->tendon_armature) m->tendon_armature[t] = tb_rng_uniform(rng, 0, 1);
  }
}

static void add_actuators(tbModel* m, tbRng* rng) {
  for (int u = 0; u < m->nu; u++) {
    int* id = m->actuator_trnid + 2 * u;
    static const int TYPE[] = {TB_TRN_JOINT, TB_TRN_JOINTINPARENT, TB_TRN_SLIDERCRANK,
                               TB_TRN_TENDON, TB_TRN_SITE};
    int type = TYPE[tb_rng_int(rng, 5)];
    if (type == TB_TRN_TENDON && m->ntendon == 0) type = TB_TRN_JOINT;
    id[0] = tb_rng_int(rng, type == TB_TRN_TENDON                               ? m->ntendon
                            : type == TB_TRN_SITE || type == TB_TRN_SLIDERCRANK ? m->nsite
                                                                                : m->njnt);
    id[1] = type == TB_TRN_SLIDERCRANK ? (id[0] + 1) % m->nsite : -1;
    m->actuator_trntype[u] = type;
    m->actuator_cranklength[u] = tb_rng_uniform(rng, 0.5, 2);
    m->actuator_actadr[u] = -1;
    random_vec(rng, m->actuator_gear + 6 * u, 6, 2);
  }
}

tbModel* tb_random_tree(const tbRandomTree* options) {
  tbRng rng = {options->seed};
  Shape shape = random_shape(options, &rng);
  tbModel sizes = sizes_of(options, shape);
  tbError error;
  tbModel* m = tb_model_new(&sizes, &error);
  assert_non_null(m);
  add_tree(options, m, &rng, shape);
  free_shape(shape);
  memcpy(m->qpos_spring, m->qpos0, (size_t)m->nq * sizeof(tbReal));
  add_frames(m, &rng);
  add_tendons(options, m, &rng);
  add_actuators(m, &rng);
  for (int i = 0; i < m->nbody; i++) m->name_bodyadr[i] = -1;
  if (tb_set_constants(m, &error) != TB_OK) fail_msg("%s", error.message);
  return m;
}

void tb_random_state(const tbModel* m, tbData* d, tbRng* rng) {
  for (int i = 0; i < m->nq; i++) d->qpos[i] = tb_rng_normal(rng);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = tb_rng_normal(rng);
  tb_normalize_quat(m, d->qpos);
}

bool tb_has_redundant_dofs(const tbModel* m, const tbData* d) {
  bool redundant = false;
  for (int i = 0; i < m->nv; i++) {
    tbReal share = d->qLDiagInv[i] * d->qM[m->M_rowadr[i] + m->M_rownnz[i] - 1];
    redundant |= share > 1e11 || share < 1e-11;
  }
  return redundant;
}
