// Models that make no sense: each must be refused with a message that names the line and the cause.
#include "common/test.h"
#include "tribo/model.h"

typedef struct {
  const char* xml;       // inside <mujoco>, on one line
  const char* expected;  // part of the message
} Case;

#define BODY(content) "<worldbody><body name='b'>" content "</body></worldbody>"
#define BALL "<geom name='g' size='.1'/>"

static const Case CASES[] = {
    // masses
    {BODY("<joint/>"), "give it a geom with mass or an inertial element"},
    {BODY("<joint/><geom size='.1' mass='0'/>"), "can move but has mass 0"},
    {BODY("<freejoint/><geom size='1e-5'/>"), "all must be at least 1e-15; for smaller bodies"},
    {BODY("<joint type='slide'/><inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/>"),
     "all must be at least"},
    {BODY("<joint/><inertial pos='0 0 0' mass='2'/>"), "give its inertial a diaginertia"},
    {BODY("<camera name='wide' fovy='180'/>"), "camera 'wide': fovy is 180 degrees"},
    {BODY("<joint/><body name='c'><joint/>" BALL "</body>"), "body 'b' can move but has mass 0"},
    {BODY("<joint/><geom size='.1' mass='-1'/>"), "cannot be negative"},
    {BODY("<joint/><geom size='.1' density='-1'/>"), "cannot be negative"},
    {BODY("<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>"), "cannot be negative"},
    {BODY("<inertial pos='0 0 0' mass='1' diaginertia='1 -1 1'/>"), "must not be negative"},
    {BODY("<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>"), "A + B >= C"},
    {BODY("<inertial pos='0 0 0' mass='1' fullinertia='1 1.5 2 3 0 0'/>"), "principal moments"},
    // shapes
    {BODY("<geom size='0'/>"), "size 1 is 0"},
    {BODY("<geom size='-1'/>"), "size cannot be negative"},
    {BODY("<geom type='box' size='1 0 1'/>"), "size 2 is 0"},
    {BODY("<geom type='plane'/>"), "third size of a plane"},
    {BODY("<freejoint/>" BALL "<geom type='plane' size='1 1 1'/>"), "cannot move"},
    {BODY("<geom type='mesh'/>"), "the name of its mesh is missing"},
    {BODY("<geom type='mesh' mesh='nope'/>"), "no mesh is called 'nope'"},
    {BODY("<geom type='hfield' hfield='nope'/>"), "no hfield is called 'nope'"},
    {BODY("<geom size='1' condim='2'/>"), "condim must be 1, 3, 4 or 6"},
    {"<asset><mesh name='flat' vertex='0 0 0 1 0 0 0 1 0'/></asset>", "mesh 'flat'"},
    {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 9'/></asset>",
     "face index 9"},
    {"<asset><mesh name='m' file='no_such.stl'/></asset>", "no_such.stl"},
    {"<asset><hfield name='h' nrow='2' ncol='2' size='1 0 1 1'/></asset>", "four positive numbers"},
    // the tree
    {BODY("<body><freejoint/>" BALL "</body>"), "child of the world"},
    {BODY("<freejoint/><joint/>" BALL), "7 degrees of freedom"},
    {"<worldbody><body mocap='true'><joint/>" BALL "</body></worldbody>", "mocap body"},
    {BODY("<body mocap='true'>" BALL "</body>"), "mocap body"},
    // joints
    {BODY("<joint axis='0 0 0'/>" BALL), "axis"},
    {BODY("<joint limited='true' range='2 1'/>" BALL), "is not below the upper end"},
    {BODY("<joint type='ball' range='1 2'/>" BALL), "ball joint"},
    {"<compiler autolimits='false'/>" BODY("<joint range='0 1'/>" BALL), "autolimits"},
    // references
    {BODY(BALL) "<contact><pair geom1='g' geom2='h'/></contact>", "no geom is called 'h'"},
    {BODY(BALL) "<contact><exclude body1='b' body2='c'/></contact>", "no body is called 'c'"},
    {"<worldbody><body name='left_foot'>" BALL "</body></worldbody>"
     "<contact><exclude body1='leftfoot' body2='world'/></contact>",
     "did you mean 'left_foot'"},
    // the nearest of several
    {"<worldbody><body name='left_foot'>" BALL "</body><body name='left_boot'/></worldbody>"
     "<contact><exclude body1='leftfoot' body2='world'/></contact>",
     "did you mean 'left_foot'"},
    {BODY("<joint name='j'/>" BALL) "<actuator><motor joint='k'/></actuator>",
     "no joint is called 'k'"},
    {BODY("<joint name='j'/>" BALL) "<actuator><motor joint='j' ctrllimited='true' "
                                    "ctrlrange='1 0'/>"
                                    "</actuator>",
     "ctrlrange"},
    {BODY("<joint name='j'/>" BALL) "<actuator><position joint='j' "
                                    "inheritrange='1'/></actuator>",
     "no range"},
    {BODY("<joint name='j'/>" BALL) "<actuator><general joint='j' actlimited='true' "
                                    "actrange='0 1'/>"
                                    "</actuator>",
     "dyntype is none"},
    {"<sensor><gyro site='s'/></sensor>", "no site is called 's'"},
    {BODY("<joint name='j' type='ball'/>" BALL) "<sensor><jointpos joint='j'/></sensor>",
     "slide or a hinge"},
    {BODY("<joint name='j'/>" BALL) "<sensor><jointlimitpos joint='j'/></sensor>", "has no limits"},
    {BODY("<site name='s'/>") "<sensor><gyro site='s' cutoff='-1'/></sensor>",
     "cutoff cannot be negative"},
    {BODY("<joint name='j'/>" BALL) "<equality><joint joint1='j' "
                                    "joint2='j'/></equality>",
     "both objects"},
    {BODY(BALL) "<equality><weld body1='nope'/></equality>", "no body is called 'nope'"},
    // tendons
    {"<tendon><fixed name='t'/></tendon>", "has no path"},
    {BODY("<site name='s'/>") "<tendon><spatial name='t'><site "
                              "site='s'/></spatial></tendon>",
     "path has 1 elements"},
    {BODY("<site name='s'/><site name='r'/>") "<tendon><spatial><site site='s'/><site "
                                              "site='r'/><pulley "
                                              "divisor='2'/></spatial></tendon>",
     "no element follows the pulley"},
    {BODY("<site name='s'/><site name='r'/><geom name='c' type='capsule' size='.1 "
          ".1'/>") "<tendon><spatial><site site='s'/><geom geom='c'/><site "
                   "site='r'/></spatial></tendon>",
     "sphere or a cylinder"},
    {BODY("<site name='s'/>" BALL) "<tendon><spatial><geom geom='g'/><site "
                                   "site='s'/></spatial></tendon>",
     "between two sites"},
    {BODY("<joint name='j'/>" BALL) "<tendon><fixed springlength='2 1'><joint "
                                    "joint='j' coef='1'/></fixed></tendon>",
     "springlength"},
    // keyframes and user values
    {BODY("<joint/>" BALL) "<keyframe><key name='k' qpos='1 2'/></keyframe>",
     "qpos has 2 values, expected 1"},
    {"<sensor><user dim='1000000'/><user dim='1000000'/><user dim='1000000'/><user dim='1000000'/>"
     "<user dim='1000000'/><user dim='1000000'/><user dim='1000000'/><user dim='1000000'/>"
     "<user dim='1000000'/><user dim='1000000'/><user dim='1000000'/><user dim='1000000'/>"
     "<user dim='1000000'/><user dim='1000000'/><user dim='1000000'/><user dim='1000000'/>"
     "<user dim='1000000'/></sensor>",
     "more than 16777216 values"},
    {BODY("<joint/>" BALL) "<keyframe><key ctrl='1'/></keyframe>", "ctrl has 1 values, expected 0"},
    {"<size nuser_geom='1'/>" BODY("<geom size='1' user='1 2'/>"), "user values"},
};

static void test_errors(void** state) {
  (void)state;
  int failures = 0;
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    char text[4096];
    snprintf(text, sizeof text, "<mujoco>\n%s\n</mujoco>", CASES[i].xml);
    tbError error = {0};
    tbModel* m = tb_load_string(text, NULL, NULL, &error);
    bool good = !m && error.code != TB_OK && strstr(error.message, CASES[i].expected) &&
                strstr(error.message, ":2: ");
    if (!good)
      print_error("%s\n  gave '%s', expected '%s'\n", text, error.message, CASES[i].expected);
    failures += !good;
    tb_model_free(m);
  }
  assert_int_equal(failures, 0);
}

static void test_arguments(void** state) {
  (void)state;
  tbError error = {0};
  assert_null(tb_load(NULL, NULL, &error));
  assert_int_equal(error.code, TB_ERROR_ARGUMENT);
  assert_null(tb_load("/no/such/file.xml", NULL, &error));
  assert_int_equal(error.code, TB_ERROR_FILE);
  assert_null(tb_load_string("not a model", NULL, NULL, &error));
  assert_int_equal(error.code, TB_ERROR_PARSE);
  assert_null(tb_load_string("", NULL, NULL, &error));
  assert_null(tb_load_string("<!-- <mujoco> --> <html/>", NULL, NULL, &error));
  assert_int_equal(error.code, TB_ERROR_PARSE);
  // The error may be left out.
  assert_null(tb_load_string("<mujoco><nonsense/></mujoco>", NULL, NULL, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
