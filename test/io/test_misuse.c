// Wrong words and values of model files are refused with the reason; known words without effect are
// noted. Nothing is ignored silently.
#include "common/test.h"
#include "tribo/step.h"

#define BODIES                                                                      \
  "<body><joint name='j' axis='0 1 0'/><geom size='0.1'/></body><body pos='1 0 0'>" \
  "<joint name='k' axis='0 1 0'/><geom size='0.1'/></body>"
#define WITH(rest) "<mujoco><worldbody>" BODIES "</worldbody>" rest "</mujoco>"

static void refuse(const char* xml, const char* part) {
  tbError error = {TB_OK, "OLD"};
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  tb_model_free(m);
  if (m) fail_msg("loaded: %s", xml);
  if (!strstr(error.message, part)) fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

static void note(const char* xml, const char* part, bool expected) {
  tbError error;
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s: %s", xml, error.message);
  bool found = strstr(m->nnotes ? m->notes : "", part) != NULL;
  if (found != expected) fail_msg("%s \"%s\": %s", part, m->nnotes ? m->notes : "", xml);
  tb_model_free(m);
}

static void tendons(void** state) {
  (void)state;
  refuse(WITH("<tendon><fixed armature='-1'><joint joint='j' coef='1'/></fixed></tendon>"),
         "armature cannot be negative");
  refuse(WITH("<default><tendon armature='-1'/></default><tendon><fixed><joint joint='j' "
              "coef='1'/></fixed></tendon>"),
         "armature cannot be negative");
  refuse(WITH("<tendon><fixed name='t'><joint joint='j' coef='1'/><joint joint='k' coef='1'/>"
              "<joint joint='j' coef='2'/></fixed></tendon>"),
         "joint 'j' is listed twice");
  // Each joint once, and one joint in two tendons.
  note(WITH("<tendon><fixed armature='0.1'><joint joint='j' coef='1'/><joint joint='k' coef='1'/>"
            "</fixed><fixed><joint joint='j' coef='1'/></fixed></tendon>"),
       "twice", false);
}

static void frames(void** state) {
  (void)state;
  refuse(
      "<mujoco><worldbody><frame name='f'><body/></frame><frame name='f'><body/></frame>"
      "</worldbody></mujoco>",
      "two frames called 'f'");
  refuse(
      "<mujoco><worldbody><frame name='f'><body><frame name='f'><geom size='1'/></frame></body>"
      "</frame></worldbody></mujoco>",
      "two frames called 'f'");
  // Names of the same kind only, and no duplicates in replicated elements.
  note(
      "<mujoco><worldbody><replicate count='3' offset='1 0 0'><frame name='f'><body name='f'>"
      "<geom name='f' size='0.1'/></body></frame></replicate><frame><body/></frame><frame><body/>"
      "</frame></worldbody></mujoco>",
      "frame", false);
}

static void words(void** state) {
  (void)state;
  refuse("<mujoco><worldbody><body sleep='nevr'/></worldbody></mujoco>", "did you mean 'never'?");
  note("<mujoco><worldbody><body sleep='never'/></worldbody></mujoco>", "'sleep' of <body>", true);
  refuse("<mujoco><worldbody><geom type='sphre' size='1'/></worldbody></mujoco>",
         "did you mean 'sphere'?");
  refuse("<mujoco><worldbody><light castshadow='yes'/></worldbody></mujoco>",
         "'yes' is none of: false, true");
  refuse("<mujoco><worldbody><light type='spt'/></worldbody></mujoco>", "did you mean 'spot'?");
  refuse("<mujoco><worldbody><camera projection='ortho'/></worldbody></mujoco>",
         "did you mean 'orthographic'?");
  refuse(WITH("<actuator><general joint='j' dyntype='usr'/></actuator>"), "did you mean 'user'?");
  refuse("<mujoco><option integrator='euler'/></mujoco>", "did you mean 'Euler'?");
  refuse("<mujoco><compiler convexhull='1'/></mujoco>", "none of: false, true");
  refuse(
      "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolut'>"
      "<parent link='a'/><child link='b'/></joint></robot>",
      "did you mean 'revolute'?");
}

static void user_code(void** state) {
  (void)state;
  note(WITH("<actuator><general joint='j' dyntype='user' actdim='1'/></actuator>"),
       "dyntype 'user' of an actuator is the callback act_dyn", true);
  note(WITH("<actuator><general joint='j' gaintype='user'/></actuator>"),
       "act_gain of the user; without it the gain is one", true);
  note(WITH("<actuator><general joint='j' biastype='user'/></actuator>"), "act_bias of the user",
       true);
  note(WITH("<default><general dyntype='user' actdim='1'/></default><actuator><general joint='j'/>"
            "</actuator>"),
       "dyntype 'user'", true);
  note(WITH("<actuator><motor joint='j'/><position joint='k' kp='1'/></actuator>"), "'user'",
       false);
  note(WITH("<sensor><user dim='3'/></sensor>"), "the sensor <user> is measured by the callback",
       true);
  note(WITH("<sensor><clock/></sensor>"), "sensor", false);

  // As the note says, the gain is one, and a user's values stay.
  tbError error;
  tbModel* m = tb_load_string(WITH("<actuator><general joint='j' gaintype='user'/></actuator>"
                                   "<sensor><clock/><user dim='2'/></sensor>"),
                              NULL, NULL, &error);
  tbData* d = tb_data_new(m);
  d->ctrl[0] = 3;
  d->sensordata[1] = 5;
  d->sensordata[2] = -7;
  for (int i = 0; i < 3; i++) assert_int_equal(tb_step(m, d), TB_OK);
  assert_true(d->actuator_force[0] == 3);
  assert_true(d->sensordata[1] == 5 && d->sensordata[2] == -7);
  tb_data_free(d);
  tb_model_free(m);
}

static void settings_without_effect(void** state) {
  (void)state;
  static const char* const FLAGS[] = {
      "midphase='disable'",  "nativeccd='disable'", "island='disable'",
      "autoreset='disable'", "fwdinv='enable'",     "invdiscrete='enable'",
      "multiccd='enable'",   "sleep='enable'",      "sensornoise='disable'"};
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
    char xml[200], part[100];
    snprintf(xml, sizeof xml, "<mujoco><option><flag %s/></option></mujoco>", FLAGS[i]);
    snprintf(part, sizeof part, "the flag '%.*s' is not used", (int)strcspn(FLAGS[i], "="),
             FLAGS[i]);
    note(xml, part, true);
  }
  note(
      "<mujoco><option><flag midphase='enable' multiccd='disable' sleep='disable' "
      "gravity='disable' energy='enable'/></option></mujoco>",
      "flag", false);
  note("<mujoco><option ls_iterations='10'/></mujoco>", "'ls_iterations' of <option>", true);
  note("<mujoco><option jacobian='dense'/></mujoco>", "'jacobian' of <option>", true);
  note("<mujoco><option timestep='0.01' iterations='10'/></mujoco>", "<option>", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tendons), cmocka_unit_test(frames),
                                     cmocka_unit_test(words), cmocka_unit_test(user_code),
                                     cmocka_unit_test(settings_without_effect)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
