// Default classes, and the settings of a file.
#include "io/mjcf_test.h"

static void test_classes(void** state) {
  (void)state;
  // a nested class inherits what its parent says anywhere, also below it
  tbFlat* s = parse(
      "<mujoco><default><geom density='500'/><default class='outer'>"
      "<default class='inner'><geom condim='6'/></default>"
      "<geom friction='.2 .3' rgba='1 0 0 1'/><joint damping='3'/></default></default>"
      "<worldbody><geom name='plain' size='1'/><body childclass='outer'><joint name='j'/>"
      "<geom name='o' size='1'/><geom name='i' class='inner' size='1' friction='.9'/>"
      "<body><geom name='deep' size='1'/><joint name='k' class='main'/></body>"
      "<frame childclass='inner'><geom name='f' size='1'/>"
      "<body childclass='main'><geom name='m' "
      "size='1'/></body></frame></body></worldbody></mujoco>");
  const tbFlatGeom* g = s->geom;
  int plain = FIND(s, geom, "plain"), o = FIND(s, geom, "o"), i = FIND(s, geom, "i");
  assert_near(g[plain].density, 500, 0);
  assert_vec(g[plain].friction, 3, 1, 0.005, 0.0001);
  assert_vec(g[o].friction, 3, 0.2, 0.3, 0.0001);
  assert_near(g[o].density, 500, 0);
  assert_int_equal(g[o].condim, 3);
  assert_int_equal(g[i].condim, 6);
  assert_vec(g[i].friction, 3, 0.9, 0.3, 0.0001);
  assert_near(g[FIND(s, geom, "deep")].friction[0], 0.2, 0);
  assert_int_equal(g[FIND(s, geom, "f")].condim, 6);
  assert_near(g[FIND(s, geom, "m")].friction[0], 1, 0);
  assert_near(s->joint[FIND(s, joint, "j")].damping[0], 3, 0);
  assert_near(s->joint[FIND(s, joint, "k")].damping[0], 0, 0);
  tb_flat_free(s);
}

static void test_merged_sections(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><default><geom condim='1'/></default><default class='main'><geom density='7'/>"
      "</default><option timestep='.1'/><option gravity='0 0 -1'/><compiler meshdir='a'/>"
      "<compiler angle='radian'/><worldbody><geom size='1'/></worldbody></mujoco>");
  assert_int_equal(s->geom[0].condim, 1);
  assert_near(s->geom[0].density, 7, 0);
  assert_near(s->option.timestep, 0.1, 0);
  assert_near(s->option.gravity[2], -1, 0);
  assert_string_equal(s->compiler->meshdir, "a");
  assert_int_equal(s->compiler->angle, 0);
  tb_flat_free(s);
}

static void test_orientation_of_class(void** state) {
  (void)state;
  // An element's own orientation attribute overrides that of its class. Any other attribute (euler,
  // zaxis, ...) overrides quat, so a class's euler overrides the element's quat, as in MuJoCo.
  double h = sqrt(0.5);
  tbFlat* s = parse(
      "<mujoco><default><geom euler='0 0 90'/></default><worldbody><geom size='1'/>"
      "<geom size='1' quat='0 1 0 0'/><geom size='1' zaxis='0 0 -1'/></worldbody></mujoco>");
  assert_vec(s->geom[0].quat, 4, h, 0, 0, h);
  assert_vec(s->geom[1].quat, 4, h, 0, 0, h);
  assert_vec(s->geom[2].quat, 4, 0, 1, 0, 0);
  tb_flat_free(s);
}

static void test_class_errors(void** state) {
  (void)state;
  refuse(
      "<mujoco><default><default class='arm'/></default><worldbody>\n\n"
      "<geom class='amr' size='1'/></worldbody></mujoco>",
      TB_ERROR_PARSE, "model.xml:3: <geom>: unknown default class 'amr', did you mean 'arm'?");
  refuse("<mujoco><default><default class='a'/><default class='a'/></default></mujoco>",
         TB_ERROR_PARSE, "'a' is already defined");
  refuse("<mujoco><default><default/></default></mujoco>", TB_ERROR_PARSE, "class");
  refuse("<mujoco><default><geom name='x'/></default></mujoco>", TB_ERROR_PARSE,
         "no name and no class");
  refuse("<mujoco><default><motor class='x'/></default></mujoco>", TB_ERROR_PARSE, "no class");
  refuse("<mujoco><default><goem size='1'/></default></mujoco>", TB_ERROR_PARSE,
         "did you mean <geom>?");
  refuse("<mujoco><default><equality body1='a'/></default></mujoco>", TB_ERROR_PARSE, "body1");
}

static void test_renamed_main(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><default class='robot'><geom condim='4'/></default><worldbody>"
      "<geom class='robot' size='1'/></worldbody></mujoco>");
  assert_int_equal(s->geom[0].condim, 4);
  find_note(s, "'robot'");
  tb_flat_free(s);
}

static void test_option(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><option integrator='implicitfast' cone='elliptic' solver='CG' jacobian='sparse' "
      "iterations='7' ls_iterations='8' noslip_iterations='9' impratio='3' tolerance='1e-5' "
      "wind='1 2 3' density='1.2' viscosity='2e-5' o_solref='.5' apirate='100' "
      "mpr_iterations='33' actuatorgroupdisable='0 3'>"
      "<flag contact='disable' gravity='disable' energy='enable' passive='disable' "
      "multiccd='enable'/></option></mujoco>");
  const tbOption* o = &s->option;
  assert_int_equal(o->integrator, TB_INTEGRATOR_IMPLICITFAST);
  assert_int_equal(o->cone, TB_CONE_ELLIPTIC);
  assert_int_equal(o->mjsolver, TB_MJSOLVER_CG);
  assert_int_equal(o->jacobian, TB_JACOBIAN_SPARSE);
  assert_int_equal(o->iterations, 7);
  assert_int_equal(o->ls_iterations, 8);
  assert_int_equal(o->noslip_iterations, 9);
  assert_int_equal(o->ccd_iterations, 33);
  assert_vec(o->wind, 3, 1, 2, 3);
  assert_vec(o->o_solref, 2, 0.5, 1);
  assert_int_equal(o->disableactuator, 9);
  assert_int_equal(o->disableflags,
                   TB_DISABLE_CONTACT | TB_DISABLE_GRAVITY | TB_DISABLE_SPRING | TB_DISABLE_DAMPER);
  assert_int_equal(o->enableflags, TB_ENABLE_ENERGY | TB_ENABLE_MULTICCD);
  find_note(s, "'apirate'");
  tb_flat_free(s);
  refuse("<mujoco><option timestep='0'/></mujoco>", TB_ERROR_PARSE, "timestep");
  s = parse("<mujoco><option law='viscoelastic' integrator='expo'/></mujoco>");
  assert_int_equal(s->option.integrator, TB_INTEGRATOR_EXPO);
  tb_flat_free(s);
  refuse("<mujoco><option integrator='rk4'/></mujoco>", TB_ERROR_PARSE,
         "'rk4' is none of: Euler, RK4, implicit, implicitfast");
  refuse("<mujoco><option><flag contct='disable'/></option></mujoco>", TB_ERROR_PARSE, "'contact'");
}

static void test_collision_of_older_files(void** state) {
  (void)state;
  const char* body =
      "<worldbody><geom name='a' size='1'/><geom name='b' size='1'/></worldbody>"
      "<contact><pair geom1='a' geom2='b'/></contact></mujoco>";
  char xml[512];
  snprintf(xml, sizeof xml, "<mujoco><option collision='predefined'/>%s", body);
  tbFlat* s = parse(xml);
  assert_int_equal(s->geom[0].contype, 0);
  assert_int_equal(s->geom[1].conaffinity, 0);
  assert_int_equal(s->npair, 1);
  tb_flat_free(s);
  snprintf(xml, sizeof xml, "<mujoco><option collision='dynamic'/>%s", body);
  s = parse(xml);
  assert_int_equal(s->npair, 0);
  assert_int_equal(s->geom[0].contype, 1);
  tb_flat_free(s);
}

static void test_compiler(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><compiler boundmass='1' boundinertia='2' settotalmass='3' balanceinertia='true' "
      "strippath='true' fitaabb='true' discardvisual='true' fusestatic='true' convexhull='true' "
      "inertiafromgeom='true' inertiagrouprange='1 3' assetdir='stuff' coordinate='local' "
      "usethread='false' alignfree='true'>"
      "<lengthrange mode='none' timestep='.5'/></compiler>"
      "<size njmax='500' nconmax='100' nuserdata='4' nuser_geom='2' memory='1M'/>"
      "<statistic extent='2' center='1 2 3' meaninertia='.5'/>"
      "<asset><mesh file='deep/folder/part.stl'/></asset></mujoco>");
  const tbFlatCompiler* c = s->compiler;
  assert_near(c->boundmass, 1, 0);
  assert_near(c->boundinertia, 2, 0);
  assert_near(c->settotalmass, 3, 0);
  assert_true(c->balanceinertia && c->fitaabb && c->discardvisual && c->fusestatic);
  assert_int_equal(c->inertiafromgeom, 1);
  assert_int_equal(c->inertiagrouprange[0], 1);
  assert_int_equal(c->inertiagrouprange[1], 3);
  assert_int_equal(c->alignfree, 1);
  assert_int_equal(c->lengthrange.mode, 0);
  assert_near(c->lengthrange.timestep, 0.5, 0);
  assert_int_equal(s->size.nuserdata, 4);
  assert_int_equal(s->size.nuser_geom, 2);
  assert_true(TB_GIVEN(statistic, &s->statistic, extent));
  assert_false(TB_GIVEN(statistic, &s->statistic, meansize));
  assert_string_equal(s->mesh[0].name, "part");
  assert_string_equal(s->mesh[0].path, "stuff/part.stl");
  find_note(s, "'njmax'");
  tb_flat_free(s);
  refuse("<mujoco><statistic extent='0'/></mujoco>", TB_ERROR_PARSE, "extent");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_merged_sections),
      cmocka_unit_test(test_orientation_of_class),
      cmocka_unit_test(test_class_errors),
      cmocka_unit_test(test_renamed_main),
      cmocka_unit_test(test_option),
      cmocka_unit_test(test_collision_of_older_files),
      cmocka_unit_test(test_compiler),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
