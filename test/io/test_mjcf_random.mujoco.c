// Random models, read by this parser and by MuJoCo 2.2.2: the same poses, units, classes and
// actuator parameters.
#include <mujoco/mujoco.h>
#include <unistd.h>

#include "common/model_files.h"
#include "io/mjcf_test.h"

// ---- text of a random model ---------------------------------------------------------------------

typedef struct {
  tbRng rng;
  char text[1 << 17];
  size_t used;
  int nbody, njoint, nsite;
} Writer;

static void __attribute__((format(printf, 2, 3))) emit(Writer* w, const char* format, ...) {
  va_list args;
  va_start(args, format);
  w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
  va_end(args);
  assert_true(w->used < sizeof w->text);
}

static bool chance(Writer* w, double share) {
  return tb_rng_uniform(&w->rng, 0, 1) < share;
}

static double number(Writer* w) {
  return tb_rng_uniform(&w->rng, -2, 2);
}

static void numbers(Writer* w, const char* name, int n, double low, double high) {
  emit(w, " %s='", name);
  for (int i = 0; i < n; i++) emit(w, "%s%.17g", i ? " " : "", tb_rng_uniform(&w->rng, low, high));
  emit(w, "'");
}

static void orientation(Writer* w) {
  static const char* const names[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
  static const int sizes[] = {4, 4, 6, 3, 3};
  int form = tb_rng_int(&w->rng, 7);
  if (form < 5) numbers(w, names[form], sizes[form], -2, 2);
}

static void pose(Writer* w) {
  if (chance(w, 0.7)) numbers(w, "pos", 3, -2, 2);
  orientation(w);
}

static void class_name(Writer* w, const char* attribute) {
  static const char* const names[] = {"one", "two", "two_a", "main"};
  if (chance(w, 0.4)) emit(w, " %s='%s'", attribute, names[tb_rng_int(&w->rng, 4)]);
}

static void contact_parameters(Writer* w) {
  if (chance(w, 0.3)) numbers(w, "friction", 1 + tb_rng_int(&w->rng, 3), 0, 1);
  if (chance(w, 0.2)) numbers(w, "solref", 1 + tb_rng_int(&w->rng, 2), 0.01, 1);
  if (chance(w, 0.2)) numbers(w, "solimp", 1 + tb_rng_int(&w->rng, 3), 0.1, 0.9);
  if (chance(w, 0.2)) emit(w, " margin='%.17g' gap='%.17g'", 0.3, 0.1);
  if (chance(w, 0.2)) emit(w, " contype='%d' priority='%d'", tb_rng_int(&w->rng, 9), 2);
  if (chance(w, 0.2)) emit(w, " condim='%d' group='%d'", 4, tb_rng_int(&w->rng, 5));
}

static void geom(Writer* w) {
  static const char* const types[] = {"sphere", "capsule", "ellipsoid", "cylinder", "box"};
  int type = tb_rng_int(&w->rng, 5);
  emit(w, "<geom type='%s'", types[type]);
  class_name(w, "class");
  numbers(w, "size", 3, 0.1, 1);
  if (type > 0 && chance(w, 0.4)) {
    numbers(w, "fromto", 6, -2, 2);
  } else {
    pose(w);
  }
  contact_parameters(w);
  emit(w, "/>");
}

static void joint(Writer* w, bool first, bool root) {
  static const char* const types[] = {"hinge", "slide", "ball", "free"};
  int type = tb_rng_int(&w->rng, first ? (root ? 4 : 3) : 2);
  emit(w, "<joint name='j%d' type='%s'", w->njoint++, types[type]);
  class_name(w, "class");
  if (chance(w, 0.7)) numbers(w, "pos", 3, -2, 2);
  if (chance(w, 0.8)) numbers(w, "axis", 3, -2, 2);
  if (chance(w, 0.3)) emit(w, " range='%s %.17g'", type == 2 ? "0" : "-1.5", 2.5);
  if (chance(w, 0.3)) numbers(w, "ref", 1, -2, 2);
  if (chance(w, 0.3)) numbers(w, "springref", 1, -2, 2);
  if (chance(w, 0.3)) numbers(w, "stiffness", 1, 0, 2);
  if (chance(w, 0.3)) numbers(w, "damping", 1, 0, 2);
  if (chance(w, 0.3)) numbers(w, "armature", 1, 0, 2);
  if (chance(w, 0.3)) numbers(w, "solreflimit", 1, 0.1, 2);
  emit(w, "/>");
}

static void body(Writer* w, int depth) {
  emit(w, "<body name='b%d'", w->nbody++);
  pose(w);
  class_name(w, "childclass");
  emit(w, ">");
  int joints = tb_rng_int(&w->rng, 3);
  for (int i = 0; i < joints; i++) {
    int before = w->njoint;
    joint(w, joints == 1, depth == 0);
    if (w->njoint == before) break;
  }
  for (int i = 1 + tb_rng_int(&w->rng, 2); i > 0; i--) geom(w);
  if (chance(w, 0.5)) {
    emit(w, "<site name='s%d'", w->nsite++);
    pose(w);
    emit(w, "/>");
  }
  if (chance(w, 0.2)) {
    emit(w, "<camera");
    pose(w);
    emit(w, "/>");
  }
  if (chance(w, 0.2)) emit(w, "<light dir='%g %g -1'/>", number(w), number(w));
  for (int i = tb_rng_int(&w->rng, 3); depth < 3 && i > 0; i--) body(w, depth + 1);
  emit(w, "</body>");
}

// MuJoCo 2.2.2 wants the kinds without an activation first.
static void actuator(Writer* w, bool has_state) {
  static const char* const kinds[] = {"general", "motor",       "position", "velocity", "damper",
                                      "general", "intvelocity", "cylinder", "muscle"};
  int kind = has_state ? 5 + tb_rng_int(&w->rng, 4) : tb_rng_int(&w->rng, 5);
  emit(w, "<%s joint='j%d'", kinds[kind], tb_rng_int(&w->rng, w->njoint));
  // position servos take kv from their class since MuJoCo 3.1
  if (kind != 2 && kind != 6) class_name(w, "class");
  if (chance(w, 0.4)) numbers(w, "gear", 1 + tb_rng_int(&w->rng, 6), -2, 2);
  if (chance(w, 0.4)) emit(w, " forcerange='-%g 7'", 1 + fabs(number(w)));
  emit(w, " ctrlrange='0 %g'", 1 + fabs(number(w)));
  switch (kind) {
    case 0:
    case 5:
      if (chance(w, 0.5)) emit(w, " biastype='affine' biasprm='1 2'");
      if (chance(w, 0.5)) emit(w, " gaintype='affine' gainprm='3 2 1'");
      if (has_state) emit(w, " dyntype='filter' dynprm='.3'");
      break;
    case 2:
      if (chance(w, 0.7)) numbers(w, "kp", 1, 1, 9);
      break;
    case 3:
      if (chance(w, 0.7)) numbers(w, "kv", 1, 1, 9);
      break;
    case 6:
      emit(w, " actrange='-1 1'");
      if (chance(w, 0.7)) numbers(w, "kp", 1, 1, 9);
      break;
    case 4: numbers(w, "kv", 1, 1, 9); break;
    case 7:
      if (chance(w, 0.5)) numbers(w, "timeconst", 1, 1, 9);
      if (chance(w, 0.5)) numbers(w, "area", 1, 1, 9);
      if (chance(w, 0.5)) numbers(w, "diameter", 1, 1, 9);
      if (chance(w, 0.5)) numbers(w, "bias", 3, 1, 9);
      break;
    case 8:
      emit(w, " lengthrange='1 2' range='%g 1.1'", 0.5 + 0.1 * number(w));
      if (chance(w, 0.5)) numbers(w, "force", 1, 1, 9);
      if (chance(w, 0.5)) numbers(w, "timeconst", 2, 0.1, 1);
      if (chance(w, 0.5)) numbers(w, "lmin", 1, 0.1, 1);
      break;
    default: break;
  }
  emit(w, "/>");
}

static void model(Writer* w, uint64_t seed) {
  static const char letters[] = "xyzXYZ";
  w->rng = (tbRng){seed};
  w->used = 0;
  w->nbody = w->njoint = w->nsite = 0;
  char seq[4] = {0};
  for (int i = 0; i < 3; i++) seq[i] = letters[tb_rng_int(&w->rng, 6)];
  emit(w, "<mujoco><compiler autolimits='true' angle='%s' eulerseq='%s'>",
       chance(w, 0.5) ? "degree" : "radian", seq);
  emit(w, "<lengthrange mode='none'/></compiler><default><geom");
  contact_parameters(w);
  emit(w, "/><joint armature='.7'/><position kp='4'/><default class='one'><geom");
  contact_parameters(w);
  emit(w, "/><motor gear='3'/></default><default class='two'><joint damping='5' range='-1 1'");
  emit(w, "/><site pos='1 2 3'/><default class='two_a'><joint axis='1 1 0'/><geom");
  contact_parameters(w);
  emit(w, "/><velocity kv='8'/></default></default></default><worldbody>");
  geom(w);
  for (int i = 0; i < 4; i++) body(w, 0);
  emit(w, "</worldbody><actuator>");
  for (int i = 0; w->njoint && i < 12; i++) actuator(w, i >= 6);
  emit(w, "</actuator></mujoco>");
}

// ---- comparison ---------------------------------------------------------------------------------

// Quaternions that are the same rotation.
static void assert_same_rotation(const double* a, const double* b) {
  double dot = 0;
  for (int i = 0; i < 4; i++) dot += a[i] * b[i];
  assert_near(fabs(dot), 1, 1e-12);
}

static void compare_tree(const tbFlat* s, const mjModel* m) {
  assert_int_equal(s->nbody, m->nbody);
  assert_int_equal(s->njoint, m->njnt);
  assert_int_equal(s->ngeom, m->ngeom);
  assert_int_equal(s->nsite, m->nsite);
  assert_int_equal(s->ncamera, m->ncam);
  assert_int_equal(s->nlight, m->nlight);
  for (int i = 1; i < s->nbody; i++) {
    assert_int_equal(s->body[i].parent, m->body_parentid[i]);
    assert_near_array(s->body[i].pos, m->body_pos + 3 * i, 3, 1e-12);
    assert_same_rotation(s->body[i].quat, m->body_quat + 4 * i);
  }
  for (int i = 0; i < s->nsite; i++) {
    assert_near_array(s->site[i].pos, m->site_pos + 3 * i, 3, 1e-12);
    assert_same_rotation(s->site[i].quat, m->site_quat + 4 * i);
  }
  for (int i = 0; i < s->ncamera; i++) {
    assert_near_array(s->camera[i].pos, m->cam_pos + 3 * i, 3, 1e-12);
    assert_same_rotation(s->camera[i].quat, m->cam_quat + 4 * i);
  }
  for (int i = 0; i < s->nlight; i++) {
    assert_near_array(s->light[i].dir, m->light_dir + 3 * i, 3, 1e-12);
  }
}

static void compare_joints(const tbFlat* s, const mjModel* m) {
  for (int i = 0; i < s->njoint; i++) {
    const tbFlatJoint* j = &s->joint[i];
    int q = m->jnt_qposadr[i], d = m->jnt_dofadr[i];
    assert_int_equal(j->type, m->jnt_type[i]);
    assert_int_equal(j->body, m->jnt_bodyid[i]);
    assert_near_array(j->pos, m->jnt_pos + 3 * i, 3, 1e-12);
    assert_near_array(j->axis, m->jnt_axis + 3 * i, 3, 1e-12);
    assert_int_equal(j->type == TB_JOINT_FREE ? 0 : tb_flat_limited(j->limited, j->range),
                     m->jnt_limited[i]);
    if (m->jnt_limited[i]) assert_near_array(j->range, m->jnt_range + 2 * i, 2, 1e-12);
    assert_near_array(j->solreflimit, m->jnt_solref + 2 * i, 2, 1e-12);
    assert_near(j->stiffness[0], m->jnt_stiffness[i], 1e-12);
    assert_near(j->damping[0], m->dof_damping[d], 1e-12);
    assert_near(j->armature, m->dof_armature[d], 1e-12);
    if (j->type >= TB_JOINT_SLIDE) {
      assert_near(j->ref, m->qpos0[q], 1e-12);
      assert_near(j->springref, m->qpos_spring[q], 1e-12);
    }
  }
}

static void compare_geoms(const tbFlat* s, const mjModel* m) {
  static const int used[] = {0, 0, 1, 2, 3, 2, 3, 0};
  for (int i = 0; i < s->ngeom; i++) {
    const tbFlatGeom* g = &s->geom[i];
    assert_int_equal(g->type, m->geom_type[i]);
    assert_int_equal(g->body, m->geom_bodyid[i]);
    assert_near_array(g->pos, m->geom_pos + 3 * i, 3, 1e-12);
    assert_same_rotation(g->quat, m->geom_quat + 4 * i);
    assert_near_array(g->size, m->geom_size + 3 * i, used[g->type], 1e-12);
    assert_near_array(g->friction, m->geom_friction + 3 * i, 3, 1e-12);
    assert_near_array(g->solref, m->geom_solref + 2 * i, 2, 1e-12);
    assert_near_array(g->solimp, m->geom_solimp + 5 * i, 5, 1e-12);
    assert_near(g->margin, m->geom_margin[i], 0);
    assert_near(g->gap, m->geom_gap[i], 0);
    assert_int_equal(g->contype, m->geom_contype[i]);
    assert_int_equal(g->priority, m->geom_priority[i]);
    assert_int_equal(g->condim, m->geom_condim[i]);
    assert_int_equal(g->group, m->geom_group[i]);
  }
}

static void compare_actuators(const tbFlat* s, const mjModel* m) {
  assert_int_equal(s->nactuator, m->nu);
  for (int i = 0; i < s->nactuator; i++) {
    const tbFlatActuator* a = &s->actuator[i];
    assert_near_array(a->gainprm, m->actuator_gainprm + mjNGAIN * i, 10, 1e-12);
    assert_near_array(a->biasprm, m->actuator_biasprm + mjNBIAS * i, 10, 1e-12);
    assert_near_array(a->dynprm, m->actuator_dynprm + mjNDYN * i, 3, 1e-12);
    assert_near_array(a->gear, m->actuator_gear + 6 * i, 6, 1e-12);
    assert_near_array(a->ctrlrange, m->actuator_ctrlrange + 2 * i, 2, 1e-12);
    assert_near_array(a->forcerange, m->actuator_forcerange + 2 * i, 2, 1e-12);
    assert_int_equal(tb_flat_limited(a->ctrllimited, a->ctrlrange), m->actuator_ctrllimited[i]);
    assert_int_equal(tb_flat_limited(a->forcelimited, a->forcerange), m->actuator_forcelimited[i]);
    assert_int_equal(a->gaintype, m->actuator_gaintype[i]);
    assert_int_equal(a->biastype, m->actuator_biastype[i]);
  }
}

static void test_random(void** state) {
  (void)state;
  static Writer w;
  char path[256], why[1000] = "";
  snprintf(path, sizeof path, "%s/test_mjcf_random.%d.xml", TB_BUILD_DIR, (int)getpid());
  int accepted = 0;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    model(&w, seed);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fwrite(w.text, 1, w.used, file);
    fclose(file);
    mjModel* m = mj_loadXML(path, NULL, why, sizeof why);
    tbError error;
    tbFlat* s = tb_test_spec(path, NULL, &error);
    if (!m || !s) {
      if (s || m)
        fail_msg("seed %d: MuJoCo: %s, ours: %s", (int)seed, m ? "ok" : why,
                 s ? "ok" : error.message);
      continue;
    }
    accepted++;
    compare_tree(s, m);
    compare_joints(s, m);
    compare_geoms(s, m);
    compare_actuators(s, m);
    mj_deleteModel(m);
    tb_flat_free(s);
  }
  remove(path);
  print_message("%d of 150 models are valid\n", accepted);
  assert_true(accepted > 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
