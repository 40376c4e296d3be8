// Assets, contacts, equalities, tendons, actuators, sensors, custom fields and keyframes.
#include "io/mjcf_test.h"

static const double PI = 3.14159265358979323846;

// A model with two bodies, joints, sites and geoms, and `sections` after it.
static tbFlat* with(const char* sections) {
  char xml[4096];
  snprintf(xml, sizeof xml,
           "<mujoco><worldbody><site name='ws'/><body name='a'><joint name='ja' range='-90 90'/>"
           "<geom name='ga' size='1'/><site name='sa'/><body name='b'><joint name='jb'/>"
           "<geom name='gb' size='1'/><site name='sb'/></body></body></worldbody>%s</mujoco>",
           sections);
  return parse(xml);
}

static void with_refused(const char* sections, tbResult code, const char* words) {
  char xml[4096];
  snprintf(xml, sizeof xml, "<mujoco>%s</mujoco>", sections);
  refuse(xml, code, words);
}

static void test_assets(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><compiler meshdir='/m' texturedir='t'/><default><mesh scale='1 1 -1'/></default>"
      "<asset><mesh file='x/y.obj'/><mesh name='tri' vertex='0 0 0 1 0 0 0 1 0 0 0 1' "
      "face='0 1 2' inertia='shell' maxhullvert='20' refpos='1 0 0' refquat='0 1 0 0'/>"
      "<hfield name='h' nrow='2' ncol='3' size='1 2 .5 .1' elevation='0 1 2 3 4 5'/>"
      "<hfield name='flat' nrow='2' ncol='2' size='1 1 1 1'/><hfield file='ground.png' "
      "size='1 1 1 1'/>"
      "<texture name='t' builtin='flat' width='1' height='1'/><texture file='t.png'/>"
      "<material name='red' rgba='1 0 0 1' texture='t' shininess='1'/><skin name='k'/></asset>"
      "<worldbody><geom type='mesh' mesh='y' material='red'/><geom size='1' material='red' "
      "rgba='0 1 0 1'/></worldbody></mujoco>");
  assert_string_equal(s->mesh[0].name, "y");
  assert_string_equal(s->mesh[0].path, "/m/x/y.obj");
  assert_vec(s->mesh[0].scale, 3, 1, 1, -1);
  assert_null(s->mesh[1].path);
  assert_int_equal(s->mesh[1].vertex.n, 12);
  assert_int_equal(s->mesh[1].face.n, 3);
  assert_int_equal(s->mesh[1].inertia, 3);
  assert_int_equal(s->mesh[0].inertia, 2);
  assert_int_equal(s->mesh[1].maxhullvert, 20);
  assert_int_equal(s->hfield[0].elevation.n, 6);
  assert_int_equal(s->hfield[1].elevation.n, 0);
  assert_string_equal(s->hfield[2].name, "ground");
  assert_string_equal(s->hfield[2].path, "/m/ground.png");
  assert_vec(s->geom[0].rgba, 4, 1, 0, 0, 1);
  assert_vec(s->geom[1].rgba, 4, 0, 1, 0, 1);
  assert_int_equal(s->note[find_note(s, "<texture>")].count, 2);
  find_note(s, "<skin>");
  tb_flat_free(s);
  with_refused("<asset><mesh name='m'/></asset>", TB_ERROR_PARSE, "needs a file or vertices");
  with_refused("<asset><mesh name='m' vertex='1 2'/></asset>", TB_ERROR_PARSE, "multiple of 3");
  with_refused("<asset><mesh file='m.stl' maxhullvert='3'/></asset>", TB_ERROR_PARSE, "at least 4");
  with_refused("<asset><mesh name='m' vertex='0 0 0' face='0 -1 2'/></asset>", TB_ERROR_PARSE,
               "face");
  with_refused("<asset><mesh name='m' builtin='sphere' params='3'/></asset>", TB_ERROR_UNSUPPORTED,
               "builtin");
  with_refused("<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1'/></asset>",
               TB_ERROR_PARSE, "elevation has 1");
  with_refused("<asset><hfield name='h' nrow='2' ncol='2'/></asset>", TB_ERROR_PARSE, "'size'");
  with_refused("<worldbody><geom size='1' material='no'/></worldbody>", TB_ERROR_PARSE,
               "unknown material 'no'");
}

static void test_contacts(void** state) {
  (void)state;
  tbFlat* s = with(
      "<contact><pair name='p' geom1='ga' geom2='gb' friction='.5 .6' condim='1' gap='.1'/>"
      "<exclude body1='a' body2='b'/></contact>");
  assert_string_equal(s->pair[0].geom1, "ga");
  assert_vec(s->pair[0].friction, 5, 0.5, 0.6, 0.005, 0.0001, 0.0001);
  assert_int_equal(s->pair[0].condim, 1);
  assert_true(TB_GIVEN(pair, &s->pair[0], gap));
  assert_false(TB_GIVEN(pair, &s->pair[0], solref));
  assert_string_equal(s->exclude[0].body2, "b");
  tb_flat_free(s);
  s = with(
      "<contact><pair geom1='ga' geom2='gb'/><pair geom1='gb' geom2='ga' condim='1'/></contact>");
  assert_int_equal(s->npair, 2);
  find_note(s, "this <pair> is not used: a later one has the same geoms 'ga' and 'gb'");
  tb_flat_free(s);
  with_refused("<contact><pair geom1='a'/></contact>", TB_ERROR_PARSE, "'geom2' is missing");
  with_refused("<contact><pair geom1='a' geom2='b' condim='2'/></contact>", TB_ERROR_PARSE,
               "condim");
}

static void test_equalities(void** state) {
  (void)state;
  tbFlat* s = with(
      "<default><equality solref='.1'/></default><equality>"
      "<connect body1='a' anchor='1 2 3'/><connect site1='sa' site2='sb' active='false'/>"
      "<weld body1='a' body2='b' relpose='1 2 3 1 0 0 0' torquescale='.5'/>"
      "<weld site1='sa' site2='ws'/><joint joint1='ja' joint2='jb' polycoef='0 2'/>"
      "<joint joint1='ja'/><tendon tendon1='t'/></equality>"
      "<tendon><fixed name='t'><joint joint='ja' coef='1'/></fixed></tendon>");
  const tbFlatEquality* e = s->equality;
  assert_int_equal(s->nequality, 7);
  assert_int_equal(e[0].type, TB_EQ_CONNECT);
  assert_near(e[0].solref[0], 0.1, 0);
  assert_null(e[0].body2);
  assert_vec(e[0].anchor, 3, 1, 2, 3);
  assert_int_equal(e[1].active, 0);
  assert_string_equal(e[1].site2, "sb");
  assert_int_equal(e[2].type, TB_EQ_WELD);
  assert_vec(e[2].relpose, 7, 1, 2, 3, 1, 0, 0, 0);
  assert_near(e[2].torquescale, 0.5, 0);
  assert_false(TB_GIVEN(equality, &e[3], relpose));
  assert_vec(e[4].polycoef, 5, 0, 2, 0, 0, 0);
  assert_null(e[5].joint2);
  assert_int_equal(e[6].type, TB_EQ_TENDON);
  tb_flat_free(s);
  with_refused("<equality><connect body1='a'/></equality>", TB_ERROR_PARSE,
               "needs body1 and anchor");
  with_refused("<equality><weld body1='a' site1='s' site2='s'/></equality>", TB_ERROR_PARSE,
               "both");
  with_refused("<equality><weld site1='s'/></equality>", TB_ERROR_PARSE, "'site2' is missing");
  with_refused("<equality><joint joint2='a'/></equality>", TB_ERROR_PARSE, "'joint1' is missing");
  with_refused("<equality><joint joint1='a' anchor='0 0 0'/></equality>", TB_ERROR_PARSE,
               "'anchor'");
  with_refused("<equality><flex flex='f'/></equality>", TB_ERROR_UNSUPPORTED, "<flex>");
}

static void test_tendons(void** state) {
  (void)state;
  tbFlat* s = with(
      "<default><tendon damping='4' springlength='.3'/></default><tendon>"
      "<fixed name='f' range='-1 1'><joint joint='ja' coef='2'/><joint joint='jb' "
      "coef='-1'/></fixed>"
      "<spatial name='s' stiffness='5' springlength='.1 .2' width='.01'><site site='ws'/>"
      "<geom geom='ga' sidesite='sa'/><site site='sb'/><pulley divisor='2'/><site site='sa'/>"
      "<geom geom='gb'/><site site='sb'/></spatial></tendon>");
  assert_int_equal(s->tendon[0].type, TB_TENDON_FIXED);
  assert_int_equal(s->tendon[0].wrapnum, 2);
  assert_vec(s->tendon[0].springlength, 2, 0.3, 0.3);
  assert_near(s->wrap[1].prm, -1, 0);
  assert_string_equal(s->wrap[1].target, "jb");
  assert_int_equal(tb_flat_limited(s->tendon[0].limited, s->tendon[0].range), 1);
  const tbFlatTendon* t = &s->tendon[1];
  assert_int_equal(t->type, TB_TENDON_SPATIAL);
  assert_int_equal(t->wrapadr, 2);
  assert_int_equal(t->wrapnum, 7);
  assert_vec(t->springlength, 2, 0.1, 0.2);
  assert_near(t->damping[0], 4, 0);
  assert_int_equal(s->wrap[3].type, TB_WRAP_SPHERE);
  assert_string_equal(s->wrap[3].sidesite, "sa");
  assert_int_equal(s->wrap[5].type, TB_WRAP_PULLEY);
  assert_near(s->wrap[5].prm, 2, 0);
  assert_null(s->wrap[7].sidesite);
  tb_flat_free(s);
  with_refused("<tendon><fixed/></tendon>", TB_ERROR_PARSE, "no path");
  with_refused("<tendon><fixed><joint joint='a'/></fixed></tendon>", TB_ERROR_PARSE, "'coef'");
  with_refused("<tendon><fixed><site site='a'/></fixed></tendon>", TB_ERROR_PARSE,
               "did you mean <joint>");
  with_refused("<tendon><spatial><pulley divisor='0'/></spatial></tendon>", TB_ERROR_PARSE,
               "positive");
}

static void test_actuator_shortcuts(void** state) {
  (void)state;
  tbFlat* s = with(
      "<actuator><motor joint='ja' gear='3'/><position joint='ja' kp='20' kv='2'/>"
      "<position joint='ja' kp='20' dampratio='.7' timeconst='.1' inheritrange='1'/>"
      "<velocity joint='ja' kv='4'/><intvelocity joint='ja' kp='5' actrange='-1 1'/>"
      "<damper joint='ja' kv='6' ctrlrange='0 1'/>"
      "<cylinder joint='ja' timeconst='.2' diameter='2' bias='1 2 3'/>"
      "<muscle joint='ja' force='100' range='.8 1.1' timeconst='.02 .05'/>"
      "<adhesion body='a' gain='9' ctrlrange='0 1'/>"
      "<general joint='ja' dyntype='filter' gaintype='affine' biastype='affine' gainprm='1 2 3' "
      "biasprm='4' dynprm='.5' actdim='1' actlimited='true' actrange='0 1' actearly='true'/>"
      "</actuator>");
  const tbFlatActuator* a = s->actuator;
  assert_int_equal(s->nactuator, 10);
  assert_near(a[0].gear[0], 3, 0);
  assert_int_equal(a[0].biastype, TB_BIAS_NONE);
  assert_vec(a[1].gainprm, 3, 20, 0, 0);
  assert_vec(a[1].biasprm, 3, 0, -20, -2);
  assert_int_equal(a[1].biastype, TB_BIAS_AFFINE);
  assert_vec(a[2].biasprm, 3, 0, -20, 0.7);
  assert_int_equal(a[2].dyntype, TB_DYN_FILTEREXACT);
  assert_near(a[2].dynprm[0], 0.1, 0);
  assert_near(a[2].inheritrange, 1, 0);
  assert_vec(a[3].gainprm, 3, 4, 0, 0);
  assert_vec(a[3].biasprm, 3, 0, 0, -4);
  assert_int_equal(a[4].dyntype, TB_DYN_INTEGRATOR);
  assert_int_equal(a[4].actlimited, 1);
  assert_vec(a[5].gainprm, 3, 0, 0, -6);
  assert_int_equal(a[5].gaintype, TB_GAIN_AFFINE);
  assert_int_equal(a[5].ctrllimited, 1);
  assert_near(a[6].gainprm[0], PI, 1e-15);
  assert_vec(a[6].biasprm, 3, 1, 2, 3);
  assert_int_equal(a[6].dyntype, TB_DYN_FILTER);
  assert_vec(a[7].gainprm, 9, 0.8, 1.1, 100, 200, 0.5, 1.6, 1.5, 1.3, 1.2);
  assert_near_array(a[7].biasprm, a[7].gainprm, 9, 0);
  assert_vec(a[7].dynprm, 3, 0.02, 0.05, 0);
  assert_int_equal(a[8].ctrllimited, 1);
  assert_near(a[8].gainprm[0], 9, 0);
  assert_vec(a[9].gainprm, 3, 1, 2, 3);
  assert_vec(a[9].biasprm, 2, 4, 0);
  assert_int_equal(a[9].actearly, 1);
  tb_flat_free(s);
}

static void test_actuator_classes(void** state) {
  (void)state;
  // all kinds share one record, so that a class of one kind serves another
  tbFlat* s = with(
      "<default><default class='p'><position kp='30' kv='3' ctrlrange='-1 1'/></default>"
      "<default class='g'><general biastype='affine' gainprm='7' biasprm='0 -7 -1'/></default>"
      "</default><actuator><position class='p' joint='ja'/><general class='p' joint='ja'/>"
      "<position class='p' joint='ja' kp='10'/><motor class='p' joint='ja'/>"
      "<general class='g' joint='jb' forcerange='-2 2'/></actuator>");
  const tbFlatActuator* a = s->actuator;
  assert_vec(a[0].biasprm, 3, 0, -30, -3);
  assert_vec(a[1].biasprm, 3, 0, -30, -3);
  assert_int_equal(a[1].biastype, TB_BIAS_AFFINE);
  assert_vec(a[2].biasprm, 3, 0, -10, -3);
  assert_near(a[2].gainprm[0], 10, 0);
  assert_near(a[3].gainprm[0], 1, 0);
  assert_int_equal(a[3].biastype, TB_BIAS_NONE);
  assert_vec(a[3].ctrlrange, 2, -1, 1);
  assert_near(a[4].gainprm[0], 7, 0);
  assert_vec(a[4].forcerange, 2, -2, 2);
  tb_flat_free(s);
}

static void test_actuator_targets(void** state) {
  (void)state;
  tbFlat* s = with(
      "<actuator><motor jointinparent='ja'/><motor tendon='t'/><motor site='sa' refsite='ws' "
      "gear='0 0 1'/><motor cranksite='sa' slidersite='sb' cranklength='.5'/></actuator>"
      "<tendon><fixed name='t'><joint joint='ja' coef='1'/></fixed></tendon>");
  assert_string_equal(s->actuator[0].jointinparent, "ja");
  assert_string_equal(s->actuator[2].refsite, "ws");
  assert_vec(s->actuator[2].gear, 6, 0, 0, 1, 0, 0, 0);
  assert_near(s->actuator[3].cranklength, 0.5, 0);
  tb_flat_free(s);
  with_refused("<actuator>\n<motor/></actuator>", TB_ERROR_PARSE,
               "model.xml:2: <motor>: needs exactly one of");
  with_refused("<actuator><motor joint='a' tendon='b'/></actuator>", TB_ERROR_PARSE, "got 2");
  with_refused("<actuator><motor cranksite='a'/></actuator>", TB_ERROR_PARSE, "slidersite");
  with_refused("<actuator><motor joint='a' refsite='a'/></actuator>", TB_ERROR_PARSE, "refsite");
  with_refused("<actuator><motor joint='a' kp='2'/></actuator>", TB_ERROR_PARSE, "'kp'");
  with_refused("<actuator><position joint='a' kv='1' dampratio='1'/></actuator>", TB_ERROR_PARSE,
               "not both");
  with_refused("<actuator><position joint='a' inheritrange='1' ctrlrange='0 1'/></actuator>",
               TB_ERROR_PARSE, "inheritrange");
  with_refused("<actuator><muscle joint='a' range='2 1'/></actuator>", TB_ERROR_PARSE, "range");
  with_refused("<actuator><muscle joint='a' lmin='1'/></actuator>", TB_ERROR_PARSE, "lmin");
  with_refused("<actuator><damper joint='a' kv='-1'/></actuator>", TB_ERROR_PARSE, "negative");
  with_refused("<actuator><plugin joint='a'/></actuator>", TB_ERROR_UNSUPPORTED, "<plugin>");
  with_refused("<actuator><dcmotor joint='a'/></actuator>", TB_ERROR_UNSUPPORTED, "<dcmotor>");
  with_refused("<actuator><motor joint='a' ctrllimited='true' ctrlrange='1 -1'/></actuator>",
               TB_ERROR_PARSE, "ctrlrange");
}

static void test_sensors(void** state) {
  (void)state;
  tbFlat* s = with(
      "<sensor><gyro name='g' site='sa' cutoff='3' noise='.1'/><jointpos joint='ja' user='1 2'/>"
      "<framepos objtype='xbody' objname='a'/><framelinvel objtype='site' objname='sa' "
      "reftype='geom' refname='ga'/><subtreecom body='a'/><clock/><user dim='3' "
      "datatype='axis' needstage='pos'/><user objtype='tendon' objname='t' dim='1'/>"
      "<contact geom1='ga'/><tactile geom='ga' mesh='m'/><rangefinder camera='c'/></sensor>");
  const tbFlatSensor* r = s->sensor;
  assert_int_equal(s->nsensor, 9);
  assert_int_equal(r[0].type, TB_SENS_GYRO);
  assert_int_equal(r[0].objtype, TB_OBJ_SITE);
  assert_string_equal(r[0].objname, "sa");
  assert_near(r[0].cutoff, 3, 0);
  assert_int_equal(r[1].user.n, 2);
  assert_int_equal(r[2].objtype, TB_OBJ_XBODY);
  assert_null(r[2].refname);
  assert_int_equal(r[3].reftype, TB_OBJ_GEOM);
  assert_string_equal(r[3].refname, "ga");
  assert_int_equal(r[4].objtype, TB_OBJ_BODY);
  assert_int_equal(r[5].type, TB_SENS_CLOCK);
  assert_int_equal(r[6].dim, 3);
  assert_int_equal(r[6].needstage, 1);
  assert_int_equal(r[7].objtype, TB_OBJ_TENDON);
  assert_int_equal(r[8].objtype, TB_OBJ_GEOM);
  assert_int_equal(r[8].intprm[0], TB_CONTACT_FOUND);
  assert_int_equal(r[8].intprm[2], 1);
  find_note(s, "<tactile>");
  find_note(s, "<rangefinder>");
  tb_flat_free(s);
  with_refused("<sensor><gyro joint='a'/></sensor>", TB_ERROR_PARSE, "unknown attribute 'joint'");
  with_refused("<sensor><distance geom1='a'/></sensor>", TB_ERROR_PARSE, "geom2 and body2");
  with_refused("<sensor><normal geom1='a' body1='b' geom2='c'/></sensor>", TB_ERROR_PARSE,
               "geom1 and body1");
  with_refused("<sensor><contact data='force found'/></sensor>", TB_ERROR_PARSE, "'found'");
  with_refused("<sensor><contact data='farce'/></sensor>", TB_ERROR_PARSE, "'farce'");
  with_refused("<sensor><contact num='0'/></sensor>", TB_ERROR_PARSE, "num is 0");
  with_refused("<sensor><contact reduce='most'/></sensor>", TB_ERROR_PARSE, "'most'");
  with_refused("<sensor><camprojection site='s'/></sensor>", TB_ERROR_PARSE, "'camera'");
  with_refused("<sensor><gyro/></sensor>", TB_ERROR_PARSE, "'site' is missing");
  with_refused("<sensor><framepos objtype='site'/></sensor>", TB_ERROR_PARSE, "objname");
  with_refused("<sensor><framepos objtype='joint' objname='j'/></sensor>", TB_ERROR_PARSE,
               "none of: body, xbody, geom, site, camera");
  with_refused(
      "<sensor><framelinacc objtype='site' objname='a' reftype='site' refname='b'/>"
      "</sensor>",
      TB_ERROR_PARSE, "'reftype'");
  with_refused("<sensor><jointpas joint='a'/></sensor>", TB_ERROR_PARSE, "did you mean <jointpos>");
}

// Every sensor of the list is accepted and has its own type.
static void test_every_sensor(void** state) {
  (void)state;
  static const struct {
    const char* name;
    const char* attributes;
  } ALL[] = {
      {"touch", "site='s'"},
      {"accelerometer", "site='s'"},
      {"velocimeter", "site='s'"},
      {"gyro", "site='s'"},
      {"force", "site='s'"},
      {"torque", "site='s'"},
      {"magnetometer", "site='s'"},
      {"rangefinder", "site='s'"},
      {"camprojection", "site='s' camera='c'"},
      {"jointpos", "joint='j'"},
      {"jointvel", "joint='j'"},
      {"tendonpos", "tendon='t'"},
      {"tendonvel", "tendon='t'"},
      {"actuatorpos", "actuator='a'"},
      {"actuatorvel", "actuator='a'"},
      {"actuatorfrc", "actuator='a'"},
      {"jointactuatorfrc", "joint='j'"},
      {"tendonactuatorfrc", "tendon='t'"},
      {"ballquat", "joint='j'"},
      {"ballangvel", "joint='j'"},
      {"jointlimitpos", "joint='j'"},
      {"jointlimitvel", "joint='j'"},
      {"jointlimitfrc", "joint='j'"},
      {"tendonlimitpos", "tendon='t'"},
      {"tendonlimitvel", "tendon='t'"},
      {"tendonlimitfrc", "tendon='t'"},
      {"framepos", "objtype='body' objname='b'"},
      {"framequat", "objtype='body' objname='b'"},
      {"framexaxis", "objtype='body' objname='b'"},
      {"frameyaxis", "objtype='body' objname='b'"},
      {"framezaxis", "objtype='body' objname='b'"},
      {"framelinvel", "objtype='body' objname='b'"},
      {"frameangvel", "objtype='body' objname='b'"},
      {"framelinacc", "objtype='body' objname='b'"},
      {"frameangacc", "objtype='body' objname='b'"},
      {"subtreecom", "body='b'"},
      {"subtreelinvel", "body='b'"},
      {"subtreeangmom", "body='b'"},
      {"insidesite", "site='s' objtype='body' objname='b'"},
      {"distance", "geom1='g' body2='b'"},
      {"normal", "geom1='g' geom2='h'"},
      {"fromto", "body1='b' geom2='h'"},
      {"contact", "subtree1='b'"},
      {"e_potential", ""},
      {"e_kinetic", ""},
      {"clock", ""},
      {"user", "dim='1'"},
  };
  enum { N = sizeof ALL / sizeof ALL[0] };
  // but for tactile and plugin
  assert_int_equal(N, TB_NSENSORTYPES - 2);
  char xml[4096] = "<mujoco><sensor>";
  for (int i = 0; i < N; i++) {
    size_t used = strlen(xml);
    snprintf(xml + used, sizeof xml - used, "<%s %s/>", ALL[i].name, ALL[i].attributes);
  }
  strncat(xml, "</sensor></mujoco>", sizeof xml - strlen(xml) - 1);
  tbFlat* s = parse(xml);
  assert_int_equal(s->nsensor, N);
  for (int i = 0; i < N; i++) {
    assert_int_equal(s->sensor[i].type, i == N - 1 ? TB_SENS_USER : i);
  }
  tb_flat_free(s);
}

static void test_custom_and_keys(void** state) {
  (void)state;
  tbFlat* s = with(
      "<custom><numeric name='n' size='4' data='1 2'/><numeric name='m' data='3'/>"
      "<text name='t' data='words'/><text name='u'><![CDATA[a < b]]></text>"
      "<tuple name='p'><element objtype='body' objname='a' prm='2'/>"
      "<element objtype='joint' objname='ja'/></tuple></custom>"
      "<keyframe><key name='k' time='3' qpos='1 2' qvel='3 4' ctrl='' act='5'/><key/></keyframe>");
  assert_int_equal(s->numeric[0].size, 4);
  assert_int_equal(s->numeric[0].data.n, 2);
  assert_int_equal(s->numeric[1].size, 1);
  assert_string_equal(s->text[0].data, "words");
  assert_string_equal(s->text[1].data, "a < b");
  assert_int_equal(s->tuple[0].itemnum, 2);
  assert_int_equal(s->tupleitem[1].objtype, TB_OBJ_JOINT);
  assert_near(s->tupleitem[0].prm, 2, 0);
  assert_near(s->key[0].time, 3, 0);
  assert_vec(s->key[0].qpos.v, 2, 1, 2);
  assert_int_equal(s->key[0].ctrl.n, 0);
  assert_int_equal(s->nkey, 2);
  tb_flat_free(s);
  with_refused("<custom><numeric data='1'/></custom>", TB_ERROR_PARSE, "'name' is missing");
  with_refused("<custom><numeric name='n' size='1' data='1 2'/></custom>", TB_ERROR_PARSE,
               "size 1");
  with_refused("<custom><tuple name='t'><element objtype='bodi' objname='a'/></tuple></custom>",
               TB_ERROR_PARSE, "'bodi' is none of");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_assets),
      cmocka_unit_test(test_contacts),
      cmocka_unit_test(test_equalities),
      cmocka_unit_test(test_tendons),
      cmocka_unit_test(test_actuator_shortcuts),
      cmocka_unit_test(test_actuator_classes),
      cmocka_unit_test(test_actuator_targets),
      cmocka_unit_test(test_sensors),
      cmocka_unit_test(test_every_sensor),
      cmocka_unit_test(test_custom_and_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
