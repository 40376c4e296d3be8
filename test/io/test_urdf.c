// URDF and SRDF: structure, joints, options, files, and refused input.
#include <sys/stat.h>
#include <unistd.h>

#include "common/test.h"
#include "spatial/quat.h"
#include "tribo/tribo.h"

#define INERTIAL                                                                    \
  "<inertial><mass value='2'/><inertia ixx='.1' iyy='.2' izz='.25' ixy='0' ixz='0'" \
  " iyz='0'/></inertial>"
#define LINK(name, inside) "<link name='" name "'>" INERTIAL inside "</link>"
#define JOINT(name, type, parent, child, inside)                                          \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child \
  "'/>" inside "</joint>"
#define ROBOT(inside) "<robot name='r'>" inside "</robot>"

static tbModel* load(const char* text, tbLoadOptions options) {
  tbError error = {0};
  tbModel* model = tb_load_string(text, NULL, &options, &error);
  if (!model) fail_msg("%s", error.message);
  return model;
}

static void refuse(const char* text, tbLoadOptions options, tbResult code, const char* words) {
  tbError error = {0};
  tbModel* model = tb_load_string(text, NULL, &options, &error);
  if (model || error.code != code || !strstr(error.message, words)) {
    print_error("expected an error with '%s', got '%s'\n", words, error.message);
  }
  assert_null(model);
  assert_int_equal(error.code, code);
  assert_non_null(strstr(error.message, words));
}

static void test_joint_types(void** state) {
  (void)state;
  tbLoadOptions options = {0};
  tbModel* m = load(
      ROBOT(LINK("base", "") LINK("a", "") LINK("b", "") LINK("c", "") LINK("d", "") LINK("e", "")
                JOINT("ja", "revolute", "base", "a",
                      "<origin xyz='1 2 3' rpy='0.1 0.2 0.3'/><axis xyz='0 0 2'/>"
                      "<limit lower='-1' upper='2' effort='7' velocity='3'/>"
                      "<dynamics damping='0.5' friction='0.25'/>")
                    JOINT("jb", "continuous", "a", "b", "<axis xyz='0 1 0'/>")
                        JOINT("jc", "prismatic", "b", "c", "<limit lower='0' upper='0.5'/>")
                            JOINT("jd", "fixed", "c", "d", "<origin xyz='0 0 1'/>")
                                JOINT("je", "planar", "d", "e", "<axis xyz='0 0 1'/>")),
      options);
  // The base is fixed and fused into the world, d into c.
  assert_int_equal(m->nbody, 5);
  assert_int_equal(m->nv, 6);
  int ja = tb_name2id(m, TB_OBJ_JOINT, "ja"), jb = tb_name2id(m, TB_OBJ_JOINT, "jb");
  int jc = tb_name2id(m, TB_OBJ_JOINT, "jc");
  assert_int_equal(m->jnt_type[ja], TB_JOINT_HINGE);
  assert_int_equal(m->jnt_type[jc], TB_JOINT_SLIDE);
  assert_true(m->jnt_limited[ja] && !m->jnt_limited[jb] && m->jnt_limited[jc]);
  assert_near(m->jnt_range[2 * ja], -1, 0);
  assert_near(m->jnt_range[2 * ja + 1], 2, 0);
  assert_near(m->jnt_axis[3 * ja + 2], 1, 1e-15);
  // The axis is x where none is given.
  assert_near(m->jnt_axis[3 * jc], 1, 0);
  assert_near(m->dof_damping[m->jnt_dofadr[ja]], 0.5, 0);
  assert_near(m->dof_frictionloss[m->jnt_dofadr[ja]], 0.25, 0);
  assert_true(m->jnt_actfrclimited[ja]);
  assert_near(m->jnt_actfrcrange[2 * ja], -7, 0);
  assert_false(m->jnt_actfrclimited[jb]);
  // A planar joint is two slides and a hinge.
  assert_true(tb_name2id(m, TB_OBJ_JOINT, "je_TX") >= 0);
  assert_int_equal(m->jnt_type[tb_name2id(m, TB_OBJ_JOINT, "je_TY")], TB_JOINT_SLIDE);
  assert_int_equal(m->jnt_type[tb_name2id(m, TB_OBJ_JOINT, "je_RZ")], TB_JOINT_HINGE);

  // Roll, pitch, yaw about fixed axes: R = Rz(0.3) Ry(0.2) Rx(0.1).
  int a = tb_name2id(m, TB_OBJ_BODY, "a");
  double cx = cos(.1), sx = sin(.1), cy = cos(.2), sy = sin(.2), cz = cos(.3), sz = sin(.3);
  double expected[9] = {cz * cy,
                        cz * sy * sx - sz * cx,
                        cz * sy * cx + sz * sx,
                        sz * cy,
                        sz * sy * sx + cz * cx,
                        sz * sy * cx - cz * sx,
                        -sy,
                        cy * sx,
                        cy * cx};
  double R[9];
  tb_quat_to_mat(R, m->body_quat + 4 * a);
  assert_near_array(R, expected, 9, 1e-15);
  assert_near(m->body_pos[3 * a + 1], 2, 0);

  // Fused: c carries its own mass and d's, one metre above; the frame d stays as a site.
  int c = tb_name2id(m, TB_OBJ_BODY, "c");
  assert_near(m->body_mass[c], 4, 1e-15);
  assert_near(m->body_ipos[3 * c + 2], 0.5, 1e-15);
  int d = tb_name2id(m, TB_OBJ_SITE, "d");
  assert_true(d >= 0);
  assert_int_equal(m->site_bodyid[d], c);
  assert_near(m->site_pos[3 * d + 2], 1, 1e-15);
  tb_model_free(m);
}

static void test_base_options(void** state) {
  (void)state;
  const char* text = ROBOT(LINK("base", "") LINK("a", "") LINK("tool", "") JOINT(
      "j", "revolute", "base", "a", "") JOINT("k", "fixed", "a", "tool", ""));
  tbLoadOptions options = {0};
  tbModel* m = load(text, options);
  assert_int_equal(m->nv, 1);
  assert_int_equal(m->nbody, 2);
  tb_model_free(m);

  options.floating_base = 1;
  m = load(text, options);
  assert_int_equal(m->nq, 8);
  assert_int_equal(m->nbody, 3);
  assert_int_equal(m->jnt_type[tb_name2id(m, TB_OBJ_JOINT, "root_joint")], TB_JOINT_FREE);
  assert_near(m->total_mass, 6, 1e-14);
  tb_model_free(m);

  options.keep_fixed = 1;
  m = load(text, options);
  assert_int_equal(m->nbody, 4);
  assert_true(tb_name2id(m, TB_OBJ_BODY, "tool") > 0);
  tb_model_free(m);
}

// A link called "world" is the world; a floating base releases the links fixed to it.
static void test_world_link(void** state) {
  (void)state;
  const char* text = ROBOT("<link name='world'/>" LINK("base", "")
                               JOINT("j", "fixed", "world", "base", "<origin xyz='0 0 2'/>"));
  tbLoadOptions options = {0};
  tbModel* m = load(text, options);
  assert_int_equal(m->nbody, 1);
  tb_model_free(m);
  options.floating_base = 1;
  m = load(text, options);
  assert_int_equal(m->nq, 7);
  assert_near(m->qpos0[2], 2, 0);
  tb_model_free(m);
  // A floating joint below links that stand still.
  options.floating_base = 0;
  m = load(ROBOT("<link name='world'/>" LINK("table", "") LINK("cup", "") JOINT(
               "j", "fixed", "world", "table", "<origin xyz='0 0 2' rpy='0 0 1.5707963267948966'/>")
                     JOINT("k", "floating", "table", "cup", "<origin xyz='1 0 0'/>")),
           options);
  assert_int_equal(m->nq, 7);
  double pose[7] = {0, 1, 2, sqrt(0.5), 0, 0, sqrt(0.5)};
  assert_near_array(m->qpos0, pose, 7, 1e-15);
  tb_model_free(m);
}

// Inertia given in a turned frame: I = R I' R^T.
static void test_inertial_frame(void** state) {
  (void)state;
  tbLoadOptions options = {.floating_base = 1};
  tbModel* m = load(
      ROBOT(
          "<link name='a'><inertial><origin xyz='.1 .2 .3' rpy='.4 .5 .6'/><mass value='3'/>"
          "<inertia ixx='.3' iyy='.4' izz='.5' ixy='.01' ixz='-.02' iyz='.03'/></inertial></link>"),
      options);
  double given[9] = {.3, .01, -.02, .01, .4, .03, -.02, .03, .5}, q[4] = {1, 0, 0, 0};
  double angle[3] = {.4, .5, .6}, R[9], RI[9], expected[9], S[9], I[9];
  for (int i = 0; i < 3; i++) {
    double axis[3] = {i == 0, i == 1, i == 2}, turn[4];
    tb_quat_from_axis_angle(turn, axis, angle[i]);
    tb_quat_mul(q, turn, q);
  }
  tb_quat_to_mat(R, q);
  tb_mul_mat3(RI, R, given);
  tb_mul_mat3_mat3t(expected, RI, R);
  tb_quat_to_mat(R, m->body_iquat + 4);
  for (int i = 0; i < 9; i++) S[i] = R[i] * m->body_inertia[3 + i % 3];
  tb_mul_mat3_mat3t(I, S, R);
  assert_near_array(I, expected, 9, 1e-12);
  assert_near(m->body_ipos[3 + 2], .3, 0);
  tb_model_free(m);
}

static void test_mimic(void** state) {
  (void)state;
  tbLoadOptions options = {0};
  tbModel* m = load(
      ROBOT(LINK("base", "") LINK("a", "") LINK("b", "") LINK("c", "")
                JOINT("ja", "revolute", "base", "a", "") JOINT(
                    "jb", "revolute", "a", "b", "<mimic joint='ja' multiplier='-2' offset='0.3'/>")
                    JOINT("jc", "fixed", "b", "c", "<mimic joint='ja'/>")),
      options);
  assert_int_equal(m->neq, 1);
  assert_int_equal(m->eq_type[0], TB_EQ_JOINT);
  assert_int_equal(m->eq_obj1id[0], tb_name2id(m, TB_OBJ_JOINT, "jb"));
  assert_int_equal(m->eq_obj2id[0], tb_name2id(m, TB_OBJ_JOINT, "ja"));
  assert_near(m->eq_data[0], 0.3, 0);
  assert_near(m->eq_data[1], -2, 0);
  assert_non_null(strstr(m->notes, "mimic"));
  tb_model_free(m);
}

static void test_shapes(void** state) {
  (void)state;
  const char* text = ROBOT(LINK(
      "a",
      "<collision name='x'><geometry><box size='1 2 3'/></geometry></collision>"
      "<collision name='x'><origin xyz='1 0 0'/><geometry><cylinder radius='.1' length='2'/>"
      "</geometry></collision><collision><geometry><sphere radius='.3'/></geometry></collision>"
      "<collision><geometry><capsule radius='.1' length='1'/></geometry></collision>"
      "<visual><geometry><box size='1 1 1'/></geometry><material name='red'/></visual>")
                               "<material name='red'><color rgba='1 0 0 .5'/></material>");
  tbLoadOptions options = {.floating_base = 1};
  tbModel* m = load(text, options);
  assert_int_equal(m->ngeom, 4);
  double box[3] = {0.5, 1, 1.5};
  assert_near_array(m->geom_size, box, 3, 0);
  assert_near(m->geom_size[3], .1, 0);
  assert_near(m->geom_size[4], 1, 0);
  assert_near(m->geom_pos[3], 1, 0);
  assert_int_equal(m->geom_type[3], TB_GEOM_CAPSULE);
  // The inertial counts, not the shapes.
  assert_near(m->body_mass[1], 2, 0);
  assert_non_null(strstr(m->notes, "visual"));
  tb_model_free(m);
  options.keep_visual = 1;
  m = load(text, options);
  assert_int_equal(m->ngeom, 5);
  assert_true(m->geom_contype[4] == 0 && m->geom_conaffinity[4] == 0);
  assert_near(m->geom_rgba[16], 1, 0);
  assert_near(m->geom_rgba[19], .5, 1e-7);
  assert_near(m->body_mass[1], 2, 0);
  tb_model_free(m);
}

// A link without inertial takes its mass from its shapes; without either it is a dummy.
static void test_missing_inertia(void** state) {
  (void)state;
  tbLoadOptions options = {0};
  tbModel* m = load(
      ROBOT("<link name='base'/><link name='a'><collision><geometry><box size='.1 .1 .1'/>"
            "</geometry></collision></link><link name='b'/>" JOINT("j", "revolute", "base", "a", "")
                JOINT("k", "revolute", "a", "b", "<axis xyz='0 1 0'/>")),
      options);
  assert_near(m->body_mass[1], 1, 1e-12);
  assert_true(m->body_mass[2] > 0 && m->body_mass[2] < 1e-5);
  assert_non_null(strstr(m->notes, "without mass"));
  tb_model_free(m);

  // A thin rod: the two moments of the file stay, only the one about it is added.
  m = load(ROBOT("<link name='base'/><link name='a'><inertial><mass value='1'/><inertia ixx='.02' "
                 "iyy='.01' izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link>" JOINT(
                     "j", "revolute", "base", "a", "<axis xyz='0 0 1'/>")),
           options);
  assert_near(m->body_inertia[3], .02, 1e-15);
  assert_near(m->body_inertia[4], .01, 1e-15);
  assert_true(m->body_inertia[5] > 1e-4 && m->body_inertia[5] < .01);
  assert_non_null(strstr(m->notes, "the missing values"));
  tb_model_free(m);
}

// One end of a range may be open; the other holds.
static void test_open_limits(void** state) {
  (void)state;
  static const struct {
    const char* limit;
    int limited;
    double lower, upper;
  } CASE[] = {{"<limit lower='-1' upper='inf'/>", 1, -1, INFINITY},
              {"<limit lower='-Infinity' upper='1'/>", 1, -INFINITY, 1},
              {"<limit lower='-inf' upper='+inf' effort='inf' velocity='inf'/>", 0, 0, 0},
              {"<limit lower='-1'/>", 1, -1, 0}};
  for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             ROBOT(LINK("a", "") LINK("b", "")
                       JOINT("j", "prismatic", "a", "b", "<axis xyz='0 0 1'/>%s")),
             CASE[i].limit);
    tbModel* m = load(text, (tbLoadOptions){0});
    assert_int_equal(m->jnt_limited[0], CASE[i].limited);
    assert_true(m->jnt_range[0] == CASE[i].lower && m->jnt_range[1] == CASE[i].upper);
    assert_false(m->jnt_actfrclimited[0]);
    assert_string_equal(m->notes, "");
    // It falls onto its lower limit and rises through zero.
    tbData* d = tb_data_new(m);
    d->qpos[0] = CASE[i].limited ? fmax(CASE[i].lower, -2) : 0;
    for (int k = 0; k < 100; k++) assert_int_equal(tb_step(m, d), TB_OK);
    assert_near(d->qpos[0], CASE[i].lower == -1 ? -1 : d->qpos[0], 1e-9);
    for (int k = 0; k < 100; k++) {
      d->qfrc_applied[0] = 100;
      assert_int_equal(tb_step(m, d), TB_OK);
    }
    assert_true(CASE[i].upper == INFINITY ? d->qpos[0] > -0.5 : isfinite(d->qpos[0]));
    tb_data_free(d);
    tb_model_free(m);
  }
}

// A revolute joint with both limits at zero, as exporters write it, turns freely, and that is said.
static void test_equal_limits(void** state) {
  (void)state;
  tbModel* m = load(ROBOT(LINK("a", "") LINK("b", "") JOINT(
                        "j", "revolute", "a", "b", "<limit lower='0' upper='0' effort='0'/>")),
                    (tbLoadOptions){0});
  assert_false(m->jnt_limited[0]);
  assert_non_null(strstr(m->notes, "lower limit is not below the upper one"));
  tb_model_free(m);
}

// A quaternion (x, y, z, w) in place of roll, pitch and yaw, as URDF 1.2 has it.
static void test_quaternion(void** state) {
  (void)state;
  tbModel* m = load(ROBOT(LINK("a", "") LINK("b", "")
                              JOINT("j", "continuous", "a", "b",
                                    "<origin xyz='1 2 3' quat_xyzw='0.2 0 0 1.98997487421324'/>")),
                    (tbLoadOptions){0});
  const double expected[4] = {sqrt(0.99), 0.1, 0, 0};
  assert_near_array(m->body_quat + 4, expected, 4, 1e-12);
  assert_near(m->body_pos[4], 2, 0);
  tb_model_free(m);
  refuse(ROBOT(LINK("a", "") LINK("b", "")
                   JOINT("j", "fixed", "a", "b", "<origin quat_xyzw='0 0 0 1' rpy='0 0 0'/>")),
         (tbLoadOptions){0}, TB_ERROR_PARSE, "not both");
  refuse(ROBOT(LINK("a", "") LINK("b", "")
                   JOINT("j", "fixed", "a", "b", "<origin quat_xyzw='0 0 0 0'/>")),
         (tbLoadOptions){0}, TB_ERROR_PARSE, "quat_xyzw is zero");
}

// Unused parts of a link or a joint are noted: unknown attributes, unknown elements, and elements
// that appear twice. Known ones are not.
static void test_unknown_is_noted(void** state) {
  (void)state;
  static const char* const CASE[][2] = {
      {LINK("b", "") JOINT("j", "continuous", "a", "b", "<dynamics spring_stiffness='3'/>"),
       "'spring_stiffness' of <dynamics> is not used"},
      {LINK("b", "") JOINT("j", "continuous", "a", "b", "<dynamics drake:damping='3'/>"),
       "'damping' of <dynamics> is not used"},
      {LINK("b", "") JOINT("j", "continuous", "a", "b", "<axis xyz='1 0 0'/><axis xyz='0 1 0'/>"),
       "another <axis> in <joint> is not used"},
      {LINK("b", INERTIAL) JOINT("j", "continuous", "a", "b", ""),
       "another <inertial> in <link> is not used"},
      {LINK("b",
            "<collision><geometry><sphere radius='.1'/></geometry><contact_coefficients mu='0'/>"
            "</collision>") JOINT("j", "continuous", "a", "b", ""),
       "<contact_coefficients> in <collision> is not used"},
      {LINK("b",
            "<collision><geometry><sphere radius='.1'/></geometry><drake:proximity_properties/>"
            "</collision>") JOINT("j", "continuous", "a", "b", ""),
       "<proximity_properties> in <collision> is not used"},
      {LINK("b",
            "<collision><geometry><sphere radius='.1'/><box size='1 1 1'/></geometry>"
            "</collision>") JOINT("j", "continuous", "a", "b", ""),
       "<sphere> in <geometry> is not used"}};
  char text[4000];
  for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
    snprintf(text, sizeof text, "<robot name='r' xmlns:drake='d'>%s%s</robot>", LINK("a", ""),
             CASE[i][0]);
    tbModel* m = load(text, (tbLoadOptions){0});
    if (!strstr(m->notes, CASE[i][1])) fail_msg("'%s' is not in '%s'", CASE[i][1], m->notes);
    tb_model_free(m);
  }
  tbModel* m =
      load(ROBOT(LINK("a",
                      "<collision name='c'><origin xyz='0 0 1' rpy='0 0 1'/><geometry>"
                      "<capsule radius='.1' length='1'/></geometry></collision>"
                      "<collision><geometry><cylinder radius='.1' length='1'/></geometry>"
                      "</collision>") LINK("b", "")
                     JOINT("j", "revolute", "a", "b",
                           "<origin xyz='0 0 1'/><axis xyz='0 0 1'/><dynamics damping='1' "
                           "friction='1'/><limit lower='-1' upper='1' effort='3' velocity='0'/>")
                         LINK("c", "") JOINT("k", "revolute", "b", "c",
                                             "<mimic joint='j' multiplier='2' offset='0'/>")),
           (tbLoadOptions){0});
  assert_string_equal(m->notes, "");
  tb_model_free(m);
}

// ---- files --------------------------------------------------------------------------------------

static void write_file(const char* path, const char* text) {
  FILE* out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
}

// A package with a mesh, reached in every way a URDF can name it.
static void test_resolution(void** state) {
  (void)state;
  char root[] = "/tmp/tribo_urdf_XXXXXX", path[1024], text[4096], mesh[1024];
  assert_non_null(mkdtemp(root));
  snprintf(path, sizeof path, "%s/robot pkg", root);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/robot pkg/meshes", root);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/robot pkg/urdf", root);
  mkdir(path, 0700);
  snprintf(mesh, sizeof mesh, "%s/robot pkg/meshes/t.obj", root);
  write_file(mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  snprintf(path, sizeof path, "%s/robot pkg/urdf/r.urdf", root);
  char file_uri[1100], short_uri[1100], paths[2][64];
  snprintf(file_uri, sizeof file_uri, "file://%s", mesh);
  snprintf(short_uri, sizeof short_uri, "file:%s", mesh);
  snprintf(paths[0], sizeof paths[0], "/nowhere");
  snprintf(paths[1], sizeof paths[1], "%s", root);
  const char* uris[] = {"package://robot pkg/meshes/t.obj",
                        "package://robot%20pkg/meshes/t.obj",
                        "package:///robot pkg/meshes/t.obj",
                        "../meshes/t.obj",
                        "..\\meshes\\t.obj",
                        "package://robot pkg\\meshes\\t.obj",
                        file_uri,
                        short_uri,
                        mesh};
  for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
    snprintf(text, sizeof text,
             ROBOT(LINK("a",
                        "<collision><geometry><mesh filename='%s' scale='1 1 -2'/></geometry>"
                        "</collision>")),
             uris[i]);
    write_file(path, text);
    tbError error = {0};
    tbLoadOptions options = {.floating_base = 1};
    tbModel* m = tb_load(path, &options, &error);
    if (!m) fail_msg("%s: %s", uris[i], error.message);
    assert_int_equal(m->nmesh, 1);
    assert_string_equal(tb_id2name(m, TB_OBJ_MESH, 0), "t");
    tb_model_free(m);
  }
  // From elsewhere, by a search path and by the environment.
  const char* search[] = {paths[0], paths[1]};
  snprintf(text, sizeof text,
           ROBOT(LINK("a",
                      "<collision><geometry><mesh filename='%s'/></geometry>"
                      "</collision>")),
           uris[0]);
  tbLoadOptions options = {.floating_base = 1, .search_paths = search, .nsearch_paths = 2};
  tb_model_free(load(text, options));
  options.nsearch_paths = 0;
  refuse(text, options, TB_ERROR_FILE, "was not found");
  snprintf(file_uri, sizeof file_uri, "/nowhere:%s", root);
  setenv("TRIBO_PACKAGE_PATH", file_uri, 1);
  tb_model_free(load(text, options));
  unsetenv("TRIBO_PACKAGE_PATH");
  setenv("ROS_PACKAGE_PATH", file_uri, 1);
  tb_model_free(load(text, options));
  unsetenv("ROS_PACKAGE_PATH");
  remove(path);
  remove(mesh);
  for (int i = 0; i < 4; i++) {
    static const char* const FOLDERS[] = {"/robot pkg/urdf", "/robot pkg/meshes", "/robot pkg", ""};
    snprintf(path, sizeof path, "%s%s", root, FOLDERS[i]);
    rmdir(path);
  }
}

static void test_srdf(void** state) {
  (void)state;
  char srdf[] = "/tmp/tribo_srdf_XXXXXX";
  int descriptor = mkstemp(srdf);
  assert_true(descriptor >= 0);
  close(descriptor);
  write_file(srdf,
             "<robot name='r'><group name='g'><joint name='j'/></group>"
             "<group_state name='up' group='g'><joint name='root_joint' value='1 2 3 0 0 1 0'/>"
             "<joint name='ja' value='.5'/></group_state>"
             "<group_state name='up' group='h'><joint name='jb' value='.25'/></group_state>"
             "<disable_collisions link1='base' link2='b' reason='Never'/>"
             "<disable_collisions link1='b' link2='base'/>"
             "<disable_collisions link1='base' link2='nobody'/></robot>");
  tbLoadOptions options = {.floating_base = 1, .srdf = srdf};
#define BALL "<collision><geometry><sphere radius='.1'/></geometry></collision>"
  tbModel* m = load(ROBOT(LINK("base", BALL) LINK("a", BALL) LINK("b", BALL)
                              JOINT("ja", "revolute", "base", "a", "")
                                  JOINT("jb", "revolute", "a", "b", "<mimic joint='ja'/>")),
                    options);
  assert_int_equal(m->nkey, 2);
  double up[9] = {1, 2, 3, 0, 0, 0, 1, .5, .5};
  assert_near_array(m->key_qpos, up, 9, 1e-15);
  assert_string_equal(tb_id2name(m, TB_OBJ_KEY, 0), "up");
  assert_string_equal(tb_id2name(m, TB_OBJ_KEY, 1), "h/up");
  assert_int_equal(m->nexclude, 1);
  assert_int_equal(m->exclude_body1[0] + m->exclude_body2[0],
                   tb_name2id(m, TB_OBJ_BODY, "base") + tb_name2id(m, TB_OBJ_BODY, "b"));
  assert_non_null(strstr(m->notes, "not in the URDF"));
  tb_model_free(m);
  write_file(
      srdf,
      "<robot name='r'><group_state name='s'><joint name='ja' value='x'/></group_state></robot>");
  refuse(ROBOT(LINK("base", "") LINK("a", "") JOINT("ja", "revolute", "base", "a", "")), options,
         TB_ERROR_PARSE, "finite number");
  remove(srdf);
  refuse(ROBOT(LINK("base", "")), options, TB_ERROR_FILE, "no such file");
}

static void test_extension(void** state) {
  (void)state;
  tbLoadOptions options = {0};
  tbModel* m =
      load(ROBOT("<mujoco><compiler fusestatic='false'/><option timestep='0.01'/></mujoco>" LINK(
               "base", "") LINK("a", "") JOINT("j", "fixed", "base", "a", "")),
           options);
  assert_int_equal(m->nbody, 3);
  assert_near(m->opt.timestep, 0.01, 0);
  tb_model_free(m);
  // Other sections of MJCF are not allowed here, and are refused with a message.
  m = load(ROBOT("<mujoco><worldbody/></mujoco>" LINK("base", "")), options);
  assert_non_null(strstr(m->notes, "<worldbody> in <mujoco> is not used"));
  tb_model_free(m);
  refuse(ROBOT("<mujoco>\n<compiler nonsense='1'/></mujoco>" LINK("a", "")), options,
         TB_ERROR_PARSE, ":2:");
}

// A file of MJCF attaches a robot: fixed where it is attached, whatever the caller asks of a URDF
// that is loaded alone, and with moments that only a URDF may have.
static void test_attached(void** state) {
  (void)state;
  char file[] = "/tmp/tribo_urdf_XXXXXX", text[1024];
  int descriptor = mkstemp(file);
  assert_true(descriptor >= 0);
  close(descriptor);
  write_file(file,
             ROBOT("<link name='base'/><link name='a'><inertial><mass value='1'/><inertia "
                   "ixx='.1' iyy='.1' izz='.3' ixy='0' ixz='0' iyz='0'/></inertial></link>" LINK(
                       "tool", "") JOINT("j", "revolute", "base", "a", "")
                       JOINT("k", "fixed", "a", "tool", "")));
  for (int fuse = 0; fuse < 2; fuse++) {
    snprintf(text, sizeof text,
             "<mujoco><compiler fusestatic='%s'/><asset><model name='r' file='%s'/></asset>"
             "<worldbody><frame pos='0 0 1'><attach model='r' body='base' prefix='x_'/></frame>"
             "</worldbody><actuator><motor joint='x_j'/></actuator></mujoco>",
             fuse ? "true" : "false", file);
    tbModel* m = load(text, (tbLoadOptions){.floating_base = 1});
    assert_int_equal(m->nv, 1);
    assert_int_equal(m->nbody, fuse ? 2 : 4);
    assert_near(m->body_mass[fuse ? 1 : 2], fuse ? 3 : 1, 1e-12);
    assert_near(m->body_pos[5], 1, 1e-12);
    tb_model_free(m);
  }
  remove(file);
}

// Declarations as Bullet's published robots have them, which libxml2 does not take.
static void test_declaration(void** state) {
  (void)state;
  tbLoadOptions options = {0};
  static const char* const HEADS[] = {"<?xml version=\"0.0\" ?>\n", "\n<?xml version='1.0'?>\n",
                                      "\xef\xbb\xbf \r\n<?xml version = '0.1'\n?>",
                                      "<?xml version='1.1' encoding='ISO-8859-1'?><!-- \xe9 -->"};
  for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s", HEADS[i],
             ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "continuous", "a", "b", "")));
    tbModel* m = load(text, options);
    assert_int_equal(m->nv, 1);
    tb_model_free(m);
  }
  tbModel* scene = load("\n<?xml version='0.0'?><mujoco/>", options);
  assert_int_equal(scene->nbody, 1);
  tb_model_free(scene);
  // Line numbers are those of the file, and errors stay errors.
  refuse("\n<?xml version='1.0'\n?>\n<robot name='r'>\n<oops>", options, TB_ERROR_PARSE, ":5:");
  refuse("<?xml version='0.0'", options, TB_ERROR_PARSE, "not a model");
}

static void test_errors(void** state) {
  (void)state;
  tbLoadOptions options = {0}, floating = {.floating_base = 1};
  refuse("<robot", options, TB_ERROR_PARSE, "");
  refuse("<robot name='r'/>", options, TB_ERROR_MODEL, "without links");
  refuse(ROBOT(LINK("a", "") LINK("a", "")), options, TB_ERROR_PARSE, "two links called 'a'");
  refuse(ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "hinge", "a", "b", "")), options,
         TB_ERROR_PARSE, "unknown joint type 'hinge'");
  refuse(ROBOT(LINK("a", "") JOINT("j", "fixed", "a", "b", "")), options, TB_ERROR_MODEL,
         "no link called 'b'");
  refuse(ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "fixed", "a", "b", "")
                   JOINT("k", "fixed", "b", "a", "")),
         options, TB_ERROR_MODEL, "loop");
  refuse(ROBOT(LINK("a", "") LINK("b", "") LINK("c", "") JOINT("j", "fixed", "a", "c", "")
                   JOINT("k", "fixed", "b", "c", "")),
         options, TB_ERROR_MODEL, "child of both");
  refuse(ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "revolute", "a", "b", "<axis xyz='0 0 0'/>")),
         options, TB_ERROR_MODEL, "axis");
  refuse(
      ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "revolute", "a", "b", "<axis xyz='0 nan 0'/>")),
      options, TB_ERROR_PARSE, "3 finite numbers");
  refuse(ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "floating", "a", "b", "")), floating,
         TB_ERROR_UNSUPPORTED, "moving parent");
  refuse(ROBOT("<link name='a'><inertial><mass value='-1'/></inertial></link>"), options,
         TB_ERROR_MODEL, "negative");
  refuse(ROBOT(LINK("a", "") "<link name='b'><inertial><mass value='1'/><inertia ixx='.1' ixy='5' "
                             "iyy='.1' izz='.1'/></inertial></link>" JOINT("j", "revolute", "a",
                                                                           "b", "")),
         options, TB_ERROR_MODEL, "negative principal moment (-4.9)");
  refuse(ROBOT(LINK("a", "<collision><geometry><sphere radius='0'/></geometry></collision>")),
         options, TB_ERROR_MODEL, "positive");
  refuse(ROBOT(LINK("a", "<collision><geometry><torus/></geometry></collision>")), options,
         TB_ERROR_UNSUPPORTED, "expected box");
  refuse(ROBOT(LINK("a",
                    "<collision><geometry><mesh filename='http://x/y.stl'/></geometry>"
                    "</collision>")),
         options, TB_ERROR_UNSUPPORTED, "http");
  refuse(ROBOT(LINK("a", "") LINK("b", "")
                   JOINT("j", "revolute", "a", "b", "<mimic joint='nobody'/>")),
         options, TB_ERROR_MODEL, "nobody");
  refuse(
      ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "fixed", "a", "b", "<origin xyz='${x} 0 0'/>")),
      options, TB_ERROR_PARSE, "run xacro");
  refuse(ROBOT(LINK("a",
                    "<collision><geometry><mesh filename='file://$(find x)/y.stl'/></geometry>"
                    "</collision>")),
         options, TB_ERROR_FILE, "run xacro");
  refuse("<!DOCTYPE r [<!ENTITY a 'aa'>]><robot name='&a;'><link name='a'/></robot>", options,
         TB_ERROR_UNSUPPORTED, "document type");
  tb_model_free(load("<!DOCTYPE robot>" ROBOT("<link name='a'/>"), options));
  refuse(
      "<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><xacro:include filename='x'/>"
      "</robot>",
      options, TB_ERROR_UNSUPPORTED, "run xacro");
}

static char* chain(int links, const char* type) {
  char* text = malloc((size_t)links * 200 + 100);
  char* at = text + sprintf(text, "<robot name='r'>");
  for (int i = 0; i < links; i++) at += sprintf(at, "<link name='l%d'/>", i);
  for (int i = 1; i < links; i++) {
    at += sprintf(at, "<joint name='j%d' type='%s'><parent link='l%d'/><child link='l%d'/></joint>",
                  i, type, i - 1, i);
  }
  sprintf(at, "</robot>");
  return text;
}

// Chains of links that would overflow a recursive parser: fixed ones are one body, moving ones
// would have a mass matrix of 2e8 entries.
static void test_long_chain(void** state) {
  (void)state;
  enum { LINKS = 20000 };
  tbLoadOptions options = {0};
  char* text = chain(LINKS, "fixed");
  tbModel* m = load(text, options);
  assert_int_equal(m->nbody, 1);
  tb_model_free(m);
  free(text);
  text = chain(LINKS, "continuous");
  refuse(text, options, TB_ERROR_MEMORY, "a chain of joints has more than");
  free(text);
}

// Every robot of the shared folder: coordinates, mass (with all links kept) and SRDF poses.
static void test_shared_robots(void** state) {
  (void)state;
  static const struct {
    const char* path;
    const char* srdf;
    int nq, keys;
    double mass;
  } ROBOTS[] = {
      {"solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf", 12, 2, 2.5},
      {"romeo_description/urdf/romeo_small.urdf", "romeo_description/srdf/romeo_small.srdf", 31, 1,
       40.52937},
      {"romeo_description/urdf/romeo.urdf", "romeo_description/srdf/romeo.srdf", 55, 1, 40.52937},
      {"talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf", 32, 1, 90.27219},
      {"ur_description/urdf/ur5_robot.urdf", "ur_description/srdf/ur5.srdf", 6, 0, 20.9939},
      {"ur_description/urdf/ur5_joint_limited_robot.urdf", NULL, 6, 0, 20.9939},
      {"allegro_hand_description/urdf/allegro_right_hand.urdf", NULL, 16, 0, 0.9549},
      {"allegro_hand_description/urdf/allegro_left_hand.urdf", NULL, 16, 0, 0.9549},
  };
  char folder[1024];
  if (!tb_test_shared("models/example-robot-data/robots", folder, sizeof folder)) skip();
  for (size_t i = 0; i < sizeof ROBOTS / sizeof ROBOTS[0]; i++) {
    char path[2048], srdf[2048];
    tbError error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, ROBOTS[i].path);
    snprintf(srdf, sizeof srdf, "%s/%s", folder, ROBOTS[i].srdf ? ROBOTS[i].srdf : "");
    for (int floating = 0; floating < 2; floating++) {
      tbLoadOptions options = {.floating_base = floating, .keep_fixed = 1};
      if (ROBOTS[i].srdf) options.srdf = srdf;
      tbModel* m = tb_load(path, &options, &error);
      if (!m) fail_msg("%s", error.message);
      assert_int_equal(m->nq, ROBOTS[i].nq + 7 * floating);
      assert_int_equal(m->nv, ROBOTS[i].nq + 6 * floating);
      assert_int_equal(m->nkey, ROBOTS[i].keys);
      assert_true(fabs(m->total_mass - ROBOTS[i].mass) < 1e-5);
      // Fusing changes the number of bodies, not the moving mass.
      if (floating) {
        options.keep_fixed = 0;
        tbModel* fused = tb_load(path, &options, &error);
        if (!fused) fail_msg("%s", error.message);
        assert_near(fused->total_mass, m->total_mass, 1e-12);
        assert_true(fused->nbody < m->nbody);
        assert_int_equal(fused->nv, m->nv);
        tb_model_free(fused);
      }
      tb_model_free(m);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joint_types),
      cmocka_unit_test(test_base_options),
      cmocka_unit_test(test_world_link),
      cmocka_unit_test(test_inertial_frame),
      cmocka_unit_test(test_mimic),
      cmocka_unit_test(test_shapes),
      cmocka_unit_test(test_missing_inertia),
      cmocka_unit_test(test_open_limits),
      cmocka_unit_test(test_equal_limits),
      cmocka_unit_test(test_quaternion),
      cmocka_unit_test(test_unknown_is_noted),
      cmocka_unit_test(test_resolution),
      cmocka_unit_test(test_srdf),
      cmocka_unit_test(test_extension),
      cmocka_unit_test(test_attached),
      cmocka_unit_test(test_declaration),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_long_chain),
      cmocka_unit_test(test_shared_robots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
