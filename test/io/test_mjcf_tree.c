// The body tree: poses, frames, units, joints, geoms, inertials.
#include "io/mjcf_test.h"

static const double PI = 3.14159265358979323846;

static void test_order(void** state) {
  (void)state;
  // the second worldbody adds a geom to the world, which stands before the first body's geom
  tbFlat* s = parse(
      "<mujoco model='m'><worldbody>"
      "<body name='a'><geom name='g1' size='1'/><body name='b'><geom name='g2' size='1'/></body>"
      "<geom name='g3' size='1'/></body><body name='c'/></worldbody>"
      "<worldbody><geom name='g0' size='1'/></worldbody></mujoco>");
  assert_string_equal(s->model_name, "m");
  assert_int_equal(s->nbody, 4);
  const char* bodies[] = {"world", "a", "b", "c"};
  const int parents[] = {-1, 0, 1, 0};
  for (int i = 0; i < 4; i++) {
    assert_string_equal(s->body[i].name, bodies[i]);
    assert_int_equal(s->body[i].parent, parents[i]);
  }
  const char* geoms[] = {"g0", "g1", "g3", "g2"};
  const int at[] = {0, 1, 1, 2};
  for (int i = 0; i < 4; i++) {
    assert_string_equal(s->geom[i].name, geoms[i]);
    assert_int_equal(s->geom[i].body, at[i]);
  }
  tb_flat_free(s);
}

static void test_orientations(void** state) {
  (void)state;
  // the same rotation, a quarter turn about z, in all forms
  tbFlat* s = parse(
      "<mujoco><compiler angle='degree'/><worldbody>"
      "<body quat='2 0 0 2'/><body axisangle='0 0 5 90'/><body xyaxes='0 2 0 -1 1 0'/>"
      "<body euler='0 0 90'/></worldbody></mujoco>");
  double h = sqrt(0.5);
  for (int i = 1; i <= 4; i++) assert_vec(s->body[i].quat, 4, h, 0, 0, h);
  tb_flat_free(s);
  // zaxis takes the shortest way
  s = parse(WORLD("<body zaxis='3 0 0'/><body zaxis='0 0 -1'/><body zaxis='0 0 2'/>"));
  assert_vec(s->body[1].quat, 4, h, 0, h, 0);
  assert_vec(s->body[2].quat, 4, 0, 1, 0, 0);
  assert_vec(s->body[3].quat, 4, 1, 0, 0, 0);
  tb_flat_free(s);
}

static void test_eulerseq(void** state) {
  (void)state;
  // lower case turns about moving axes, upper case about fixed ones: the reverse order
  tbFlat* a = parse(
      "<mujoco><compiler angle='radian' eulerseq='xyz'/><worldbody><body euler='.3 -.5 .8'/>"
      "</worldbody></mujoco>");
  tbFlat* b = parse(
      "<mujoco><compiler angle='radian' eulerseq='ZYX'/><worldbody><body euler='.8 -.5 .3'/>"
      "</worldbody></mujoco>");
  assert_near_array(a->body[1].quat, b->body[1].quat, 4, 1e-14);
  tb_flat_free(a);
  tb_flat_free(b);
  refuse("<mujoco><compiler eulerseq='xyy2'/></mujoco>", TB_ERROR_PARSE, "eulerseq");
}

static void test_frames(void** state) {
  (void)state;
  tbFlat* s =
      parse(WORLD("<frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0'>"
                  "<body name='b' pos='0 0 1'><frame euler='0 90 0' pos='0 0 .5'>"
                  "<joint axis='0 0 2' pos='.1 0 0'/><joint type='ball' pos='.1 0 0'/>"
                  "<geom size='1' pos='1 0 0'/>"
                  "<site name='s'/><camera/><light dir='0 0 -3'/></frame></body></frame>"
                  "<geom name='w' size='1' pos='0 1 0'/></frame>"));
  double h = sqrt(0.5);
  assert_vec(s->body[1].pos, 3, 1, 1, 1);
  assert_vec(s->body[1].quat, 4, h, 0, 0, h);
  assert_vec(s->joint[0].axis, 3, 1, 0, 0);
  assert_vec(s->joint[0].pos, 3, 0, 0, 0.4);
  assert_vec(s->joint[1].axis, 3, 0, 0, 1);
  assert_vec(s->geom[1].pos, 3, 0, 0, -0.5);
  assert_vec(s->geom[1].quat, 4, h, 0, h, 0);
  assert_vec(s->site[0].pos, 3, 0, 0, 0.5);
  assert_vec(s->camera[0].quat, 4, h, 0, h, 0);
  assert_vec(s->light[0].dir, 3, -1, 0, 0);
  assert_vec(s->geom[0].pos, 3, 0, 0, 0);
  assert_vec(s->geom[0].quat, 4, h, 0, 0, h);
  tb_flat_free(s);
}

static void test_joint_units(void** state) {
  (void)state;
  tbFlat* s = parse(
      WORLD("<body><joint range='-90 180' ref='45' springref='-45'/>"
            "<joint type='slide' range='-1 2' ref='45' axis='0 0 4'/>"
            "<joint type='ball' range='0 60'/></body>"
            "<body><joint type='free' axis='1 1 1' pos='1 2 3'/></body><body><freejoint/></body>"));
  const tbFlatJoint* j = s->joint;
  assert_vec(j[0].range, 2, -PI / 2, PI);
  assert_near(j[0].ref, PI / 4, 1e-15);
  assert_near(j[0].springref, -PI / 4, 1e-15);
  assert_int_equal(tb_flat_limited(j[0].limited, j[0].range), 1);
  assert_vec(j[1].range, 2, -1, 2);
  assert_near(j[1].ref, 45, 0);
  assert_vec(j[1].axis, 3, 0, 0, 1);
  assert_vec(j[2].range, 2, 0, PI / 3);
  assert_vec(j[3].axis, 3, 0, 0, 1);
  assert_vec(j[3].pos, 3, 0, 0, 0);
  assert_int_equal(j[4].type, TB_JOINT_FREE);
  assert_int_equal(tb_flat_limited(j[4].limited, j[4].range), 0);
  tb_flat_free(s);
}

static void test_autolimits(void** state) {
  (void)state;
  refuse(
      "<mujoco><compiler autolimits='false'/><worldbody>\n<body><joint range='0 1'/></body>"
      "</worldbody></mujoco>",
      TB_ERROR_PARSE, "model.xml:2: <joint>: range is given");
  tbFlat* s = parse(
      "<mujoco><compiler autolimits='false'/><worldbody><body><joint range='0 1' limited='false'/>"
      "<joint range='0 1' limited='true'/></body></worldbody></mujoco>");
  assert_int_equal(tb_flat_limited(s->joint[0].limited, s->joint[0].range), 0);
  assert_int_equal(tb_flat_limited(s->joint[1].limited, s->joint[1].range), 1);
  tb_flat_free(s);
  refuse(WORLD("<body><joint range='1 0' limited='true'/></body>"), TB_ERROR_PARSE, "range");
  refuse(WORLD("<body><joint type='ball' range='.1 1' limited='true'/></body>"), TB_ERROR_PARSE,
         "ball");
}

static void test_fromto(void** state) {
  (void)state;
  tbFlat* s =
      parse(WORLD("<geom type='capsule' size='.1' fromto='0 0 0 0 0 2'/>"
                  "<geom type='box' size='.1' fromto='0 0 0 4 0 0'/>"
                  "<geom type='cylinder' size='.1' fromto='1 1 1 1 3 1'/>"
                  "<site type='ellipsoid' size='.2' fromto='0 0 0 0 0 -2'/>"));
  assert_vec(s->geom[0].pos, 3, 0, 0, 1);
  assert_vec(s->geom[0].size, 3, 0.1, 1, 0);
  // z runs from the second point to the first
  assert_vec(s->geom[0].quat, 4, 0, 1, 0, 0);
  assert_vec(s->geom[1].size, 3, 0.1, 0.1, 2);
  assert_vec(s->geom[1].pos, 3, 2, 0, 0);
  assert_vec(s->geom[2].size, 3, 0.1, 1, 0);
  assert_vec(s->site[0].size, 3, 0.2, 0.2, 1);
  assert_vec(s->site[0].quat, 4, 1, 0, 0, 0);
  tb_flat_free(s);
  refuse(WORLD("<geom size='1' fromto='0 0 0 1 0 0'/>"), TB_ERROR_PARSE, "fromto needs");
  refuse(WORLD("<geom type='box' size='1' fromto='1 0 0 1 0 0'/>"), TB_ERROR_PARSE, "coincide");
}

static void test_inertial(void** state) {
  (void)state;
  tbFlat* s = parse(
      WORLD("<body><inertial pos='1 2 3' mass='4' diaginertia='5 6 7' euler='0 0 180'/></body>"
            "<body><inertial pos='0 0 0' mass='1' fullinertia='3 4 5 .1 .2 .3'/></body><body/>"));
  assert_true(s->body[1].has_inertial);
  assert_vec(s->body[1].inertial.pos, 3, 1, 2, 3);
  assert_vec(s->body[1].inertial.quat, 4, 0, 0, 0, 1);
  assert_vec(s->body[1].inertial.diaginertia, 3, 5, 6, 7);
  assert_near(s->body[1].inertial.mass, 4, 0);
  assert_true(TB_GIVEN(inertial, &s->body[2].inertial, fullinertia));
  assert_false(TB_GIVEN(inertial, &s->body[2].inertial, diaginertia));
  assert_vec(s->body[2].inertial.fullinertia, 6, 3, 4, 5, 0.1, 0.2, 0.3);
  assert_false(s->body[3].has_inertial);
  tb_flat_free(s);
  // A frame rotates its elements, tensors too.
  s =
      parse(WORLD("<body><frame pos='1 0 0' euler='0 0 90'><inertial pos='1 0 0' mass='1' "
                  "diaginertia='1 2 3'/></frame></body><body><frame euler='0 0 90'><inertial "
                  "pos='0 0 0' mass='1' fullinertia='1 2 3 .1 .2 .3'/></frame></body>"));
  double h = sqrt(0.5);
  assert_vec(s->body[1].inertial.pos, 3, 1, 1, 0);
  assert_vec(s->body[1].inertial.quat, 4, h, 0, 0, h);
  assert_vec(s->body[2].inertial.fullinertia, 6, 2, 1, 3, -0.1, -0.3, 0.2);
  tb_flat_free(s);
  refuse(WORLD("<body><inertial mass='1'/></body>"), TB_ERROR_PARSE, "'pos' is missing");
  refuse(WORLD("<body><inertial pos='0 0 0'/></body>"), TB_ERROR_PARSE, "'mass' is missing");
  refuse(WORLD("<body><inertial pos='0 0 0' mass='-1'/></body>"), TB_ERROR_PARSE, "negative");
  refuse(WORLD("<inertial pos='0 0 0' mass='1'/>"), TB_ERROR_PARSE, "world");
  refuse(WORLD("<joint/>"), TB_ERROR_PARSE, "the world cannot have joints");
}

static void test_given_and_partial(void** state) {
  (void)state;
  // fewer numbers than a field has leave the rest as they were
  tbFlat* s =
      parse(WORLD("<geom size='1' friction='.3' solref='.01' mass='2' user='1 2 3' rgba='1 0 0 1'/>"
                  "<body gravcomp='.5' mocap='true' user='7'/>"));
  const tbFlatGeom* g = &s->geom[0];
  assert_vec(g->friction, 3, 0.3, 0.005, 0.0001);
  assert_vec(g->solref, 2, 0.01, 1);
  assert_vec(g->solimp, 5, 0.9, 0.95, 0.001, 0.5, 2);
  assert_true(TB_GIVEN(geom, g, mass));
  assert_false(TB_GIVEN(geom, g, density));
  assert_int_equal(g->user.n, 3);
  assert_vec(g->user.v, 3, 1, 2, 3);
  assert_string_equal(g->source, "model.xml");
  assert_int_equal(g->line, 1);
  assert_true(s->body[1].mocap);
  assert_near(s->body[1].gravcomp, 0.5, 0);
  assert_int_equal(s->body[1].user.n, 1);
  tb_flat_free(s);
}

static void test_own_attributes(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><default><geom restitution='.5'/><pair compliance='1e-4'/></default><worldbody>"
      "<geom name='a' size='1' compliance='1e-3' contactdamping='2'/><geom name='b' size='1' "
      "restitution='.1'/></worldbody><contact><pair geom1='a' geom2='b' restitution='.9'/>"
      "</contact></mujoco>");
  assert_near(s->geom[0].restitution, 0.5, 0);
  assert_near(s->geom[0].compliance, 1e-3, 0);
  assert_near(s->geom[0].contactdamping, 2, 0);
  assert_near(s->geom[1].restitution, 0.1, 0);
  assert_near(s->pair[0].restitution, 0.9, 0);
  assert_near(s->pair[0].compliance, 1e-4, 0);
  assert_near(s->pair[0].contactdamping, -1, 0);
  tb_flat_free(s);
  refuse(WORLD("<geom size='1' restitution='1.5'/>"), TB_ERROR_PARSE, "restitution");
  refuse(WORLD("<geom size='1' compliance='-1'/>"), TB_ERROR_PARSE, "compliance");
}

// The same model in both kinds of coordinates.
static void test_global(void** state) {
  (void)state;
  tbFlat* g = parse(
      "<mujoco><compiler coordinate='global'/><worldbody>"
      "<body name='a' pos='0 0 1' euler='0 0 90'><joint axis='0 1 0' pos='0 .2 1'/>"
      "<geom type='capsule' size='.1' fromto='0 0 1 0 2 1'/><inertial pos='0 .5 1' mass='1'/>"
      "<body name='b' pos='0 1 1'><site pos='0 1 2'/><light pos='1 1 1' dir='0 -1 "
      "0'/></body></body>"
      "</worldbody><equality><connect body1='b' anchor='0 1 3'/></equality></mujoco>");
  tbFlat* l =
      parse(WORLD("<body name='a' pos='0 0 1' euler='0 0 90'><joint axis='1 0 0' pos='.2 0 0'/>"
                  "<geom type='capsule' size='.1' fromto='0 0 0 2 0 0'/>"
                  "<inertial pos='.5 0 0' mass='1' euler='0 0 -90'/>"
                  "<body name='b' pos='1 0 0' euler='0 0 -90'><site pos='0 0 1'/>"
                  "<light pos='1 0 0' dir='0 -1 0'/></body></body>"));
  for (int i = 1; i < 3; i++) {
    assert_near_array(g->body[i].pos, l->body[i].pos, 3, 1e-15);
    assert_near_array(g->body[i].quat, l->body[i].quat, 4, 1e-15);
  }
  assert_near_array(g->joint[0].axis, l->joint[0].axis, 3, 1e-15);
  assert_near_array(g->joint[0].pos, l->joint[0].pos, 3, 1e-15);
  assert_near_array(g->geom[0].pos, l->geom[0].pos, 3, 1e-15);
  assert_near_array(g->site[0].pos, l->site[0].pos, 3, 1e-15);
  assert_near_array(g->light[0].pos, l->light[0].pos, 3, 1e-15);
  assert_near_array(g->light[0].dir, l->light[0].dir, 3, 1e-15);
  assert_near_array(g->body[1].inertial.pos, l->body[1].inertial.pos, 3, 1e-15);
  assert_near_array(g->body[1].inertial.quat, l->body[1].inertial.quat, 4, 1e-15);
  assert_vec(g->equality[0].anchor, 3, 0, 0, 2);
  tb_flat_free(g);
  tb_flat_free(l);
  refuse("<mujoco><compiler coordinate='global'/><worldbody><body/></worldbody></mujoco>",
         TB_ERROR_UNSUPPORTED, "every body has a pos");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_orientations),
      cmocka_unit_test(test_eulerseq),
      cmocka_unit_test(test_frames),
      cmocka_unit_test(test_joint_units),
      cmocka_unit_test(test_autolimits),
      cmocka_unit_test(test_fromto),
      cmocka_unit_test(test_inertial),
      cmocka_unit_test(test_given_and_partial),
      cmocka_unit_test(test_own_attributes),
      cmocka_unit_test(test_global),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
