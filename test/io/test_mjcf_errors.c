// Bad input: every mistake has a message that names the file, the line and the expected input.
#include "io/mjcf_test.h"

static void test_xml(void** state) {
  (void)state;
  refuse("", TB_ERROR_PARSE, "model.xml");
  refuse("hello", TB_ERROR_PARSE, "not well-formed");
  refuse("<mujoco>\n<worldbody>\n</mujoco>", TB_ERROR_PARSE, "model.xml:3");
  refuse("<robot/>", TB_ERROR_PARSE, "root element of MJCF is <mujoco>");
  refuse("<mujoco><worldbody><geom size='1' size='2'/></worldbody></mujoco>", TB_ERROR_PARSE,
         "model.xml:1");
  refuse("<!DOCTYPE a [<!ENTITY x 'y'>]><mujoco/>", TB_ERROR_PARSE, "entity");
  tbFlat* s =
      parse("<?xml version='1.0' encoding='ISO-8859-1'?><!DOCTYPE mujoco><mujoco model='\xe9'/>");
  assert_string_equal(s->model_name, "\xc3\xa9");
  tb_flat_free(s);
  s = parse("<mujoco xmlns:xsi='http://a' xsi:schema='b'/>");
  find_note(s, "xsi:schema");
  tb_flat_free(s);
  refuse("<mujoco xmlns:x='http://a'><x:option/></mujoco>", TB_ERROR_PARSE, "prefix 'x:'");
}

// A bomb of entities, elements nested very deep, and a replicate that would fill any memory.
static void test_bombs(void** state) {
  (void)state;
  refuse(
      "<!DOCTYPE l [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;'>]>"
      "<mujoco model='&d;'/>",
      TB_ERROR_PARSE, "entity");
  size_t depth = 1500;
  char* xml = (char*)malloc(depth * 16 + 200);
  char* at = xml + sprintf(xml, "<mujoco><worldbody>");
  for (size_t i = 0; i < depth; i++) at += sprintf(at, "<body>");
  for (size_t i = 0; i < depth; i++) at += sprintf(at, "</body>");
  sprintf(at, "</worldbody></mujoco>");
  refuse(xml, TB_ERROR_PARSE, "nested more than");
  depth = 800;
  at = xml + sprintf(xml, "<mujoco><worldbody>");
  for (size_t i = 0; i < depth; i++) at += sprintf(at, "<body>");
  for (size_t i = 0; i < depth; i++) at += sprintf(at, "</body>");
  sprintf(at, "</worldbody></mujoco>");
  tbFlat* s = parse(xml);
  assert_int_equal(s->nbody, 801);
  tb_flat_free(s);
  free(xml);
  refuse(WORLD("<replicate count='2000000000'><body/></replicate>"), TB_ERROR_MEMORY, "more than");
  refuse(WORLD("<replicate count='1000'><replicate count='1000'><replicate count='1000'><body/>"
               "</replicate></replicate></replicate>"),
         TB_ERROR_MEMORY, "more than");
}

static void test_numbers(void** state) {
  (void)state;
  refuse(WORLD("\n<geom size='1' pos='1 2'/>"), TB_ERROR_PARSE,
         "model.xml:2: <geom>: attribute 'pos': expected 3 numbers, got 2");
  refuse(WORLD("<geom size='1 2 3 4'/>"), TB_ERROR_PARSE, "expected 1 to 3 numbers, got 4");
  refuse(WORLD("<geom rgba='1 2'/>"), TB_ERROR_PARSE, "got 2");
  refuse(WORLD("<geom size='1' pos='1 2 x'/>"), TB_ERROR_PARSE, "'x' is not a finite number");
  refuse(WORLD("<geom size='nan'/>"), TB_ERROR_PARSE, "'nan' is not a finite number");
  refuse(WORLD("<geom size='inf'/>"), TB_ERROR_PARSE, "'inf' is not a finite number");
  refuse(WORLD("<geom size='1e999'/>"), TB_ERROR_PARSE, "not a finite number");
  refuse(WORLD("<geom size='1,2'/>"), TB_ERROR_PARSE, "'1,2' is not a finite number");
  refuse(WORLD("<geom size='1' condim='1.5'/>"), TB_ERROR_PARSE, "not a whole number");
  refuse(WORLD("<geom size='1' contype='1e20'/>"), TB_ERROR_PARSE, "not a whole number");
  refuse(WORLD("<geom size='1' condim='2'/>"), TB_ERROR_PARSE, "condim");
  refuse(WORLD("<geom size='-1'/>"), TB_ERROR_PARSE, "size cannot be negative");
  refuse(WORLD("<body><joint frictionloss='-1'/></body>"), TB_ERROR_PARSE,
         "frictionloss cannot be negative");
  refuse(WORLD("<body><joint springdamper='1 0'/></body>"), TB_ERROR_PARSE, "two positive numbers");
  refuse("<mujoco><tendon><fixed frictionloss='-1'/></tendon></mujoco>", TB_ERROR_PARSE,
         "frictionloss cannot be negative");
  refuse(WORLD("<geom size='1' quat='0 0 0 0'/>"), TB_ERROR_PARSE, "quat");
  refuse(WORLD("<geom size='1' zaxis='0 0 0'/>"), TB_ERROR_PARSE, "zaxis");
  refuse(WORLD("<geom size='1' xyaxes='1 0 0 2 0 0'/>"), TB_ERROR_PARSE, "xyaxes");
  refuse(WORLD("<geom size='1' axisangle='0 0 0 1'/>"), TB_ERROR_PARSE, "axisangle");
  refuse(WORLD("<geom size='1' quat='1 0 0 0' euler='0 0 0'/>"), TB_ERROR_PARSE, "more than one");
  refuse(WORLD("<body><joint axis='0 0 0'/></body>"), TB_ERROR_PARSE, "axis has no length");
  // ranges may be open, masks may have all bits
  tbFlat* s = parse(WORLD(
      "<body><joint actuatorfrcrange='-inf inf'/></body><geom size='1' contype='4294967295'/>"));
  assert_true(isinf(s->joint[0].actuatorfrcrange[0]));
  assert_int_equal(s->geom[0].contype, -1);
  tb_flat_free(s);
}

static void test_names(void** state) {
  (void)state;
  refuse(WORLD("<geom name='g' size='1'/>\n<geom name='g' size='1'/>"), TB_ERROR_PARSE,
         "model.xml:2: the name 'g' is already taken by the geom at model.xml:1");
  refuse(WORLD("<body name='world'/>"), TB_ERROR_PARSE, "'world' is already taken");
  tbFlat* s =
      parse(WORLD("<body name='x'/><geom name='x' size='1'/><geom size='1'/><site name='x'/>"));
  tb_flat_free(s);
}

static void test_unknown(void** state) {
  (void)state;
  refuse(WORLD("\n\n<geom sise='1'/>"), TB_ERROR_PARSE,
         "model.xml:3: <geom>: unknown attribute 'sise', did you mean 'size'?");
  refuse("<mujoco><wordbody/></mujoco>", TB_ERROR_PARSE, "did you mean <worldbody>?");
  refuse(WORLD("<boddy/>"), TB_ERROR_PARSE, "not known in <worldbody>, did you mean <body>?");
  refuse(WORLD("<geom type='sphre' size='1'/>"), TB_ERROR_PARSE, "'sphre' is none of: plane");
  refuse("<mujoco modle='x'/>", TB_ERROR_PARSE, "'model'");
  refuse("<mujoco><worldbody name='w'/></mujoco>", TB_ERROR_PARSE, "takes no attribute");
  refuse(WORLD("<geom size='1'><body/></geom>"), TB_ERROR_PARSE, "not allowed in <geom>");
  refuse(WORLD("<body><freejoint damping='1'/></body>"), TB_ERROR_PARSE, "'damping'");
}

static void test_unsupported(void** state) {
  (void)state;
  refuse(WORLD("\n<body><composite type='cable'/></body>"), TB_ERROR_UNSUPPORTED,
         "model.xml:2: <composite>: is not supported");
  refuse(WORLD("<flexcomp name='f'/>"), TB_ERROR_UNSUPPORTED, "<flexcomp>");
  refuse(WORLD("<body><plugin plugin='x'/></body>"), TB_ERROR_UNSUPPORTED, "<plugin>");
  refuse("<mujoco><sensor><plugin plugin='x'/></sensor></mujoco>", TB_ERROR_UNSUPPORTED,
         "<plugin>: is not supported");
  refuse(WORLD("<geom type='sdf'/>"), TB_ERROR_UNSUPPORTED, "sdf");
  refuse(WORLD("<geom size='1' surfacevel='1'/>"), TB_ERROR_UNSUPPORTED, "surfacevel");
  refuse(WORLD("<body><joint stiffness='1 2'/></body>"), TB_ERROR_UNSUPPORTED, "polynomial");
  refuse("<mujoco><option integrator='discrete'/></mujoco>", TB_ERROR_UNSUPPORTED, "'discrete'");
  refuse("<mujoco><option><flag diagexact='enable'/></option></mujoco>", TB_ERROR_UNSUPPORTED,
         "the flag 'diagexact' is not supported");
  refuse("<mujoco><option><flag ipc='enable'/></option></mujoco>", TB_ERROR_UNSUPPORTED, "'ipc'");
  refuse(WORLD("<site type='mesh' mesh='m'/>"), TB_ERROR_UNSUPPORTED, "<site>: a mesh");
  refuse("<mujoco><actuator><general joint='j' velrange='0 1'/></actuator></mujoco>",
         TB_ERROR_UNSUPPORTED, "<general>: velrange is not supported");
  refuse("<mujoco><deformable><flex name='f'/></deformable></mujoco>", TB_ERROR_UNSUPPORTED,
         "<flex>");
  tb_flat_free(parse("<mujoco><option><flag diagexact='disable'/></option></mujoco>"));
  tbFlat* s = parse(
      "<mujoco><visual><anything/></visual><deformable><skin name='s'/></deformable>"
      "<extension><plugin plugin='p'/></extension><sensor><tactile mesh='m' geom='g'/>"
      "<rangefinder camera='c'/></sensor></mujoco>");
  find_note(s, "<visual>");
  find_note(s, "<tactile>");
  find_note(s, "<rangefinder>");
  find_note(s, "<skin>");
  find_note(s, "<extension>");
  tb_flat_free(s);
}

// A tag over several lines is named by its first one.
static void test_first_line(void** state) {
  (void)state;
  refuse("<mujoco>\n<worldbody>\n<geom\n  size='1'\n  pos='1 2'\n/></worldbody></mujoco>",
         TB_ERROR_PARSE, "model.xml:3: <geom>");
}

// Lines of messages beyond 65535, the limit of libxml2's short counter.
static void test_long_file(void** state) {
  (void)state;
  size_t lines = 70000;
  char* xml = (char*)malloc(lines + 200);
  char* at = xml + sprintf(xml, "<mujoco><worldbody>");
  memset(at, '\n', lines);
  sprintf(at + lines, "<geom sise='1'/>\n</worldbody></mujoco>");
  refuse(xml, TB_ERROR_PARSE, "model.xml:70001: <geom>");
  free(xml);
}

// Numbers are read and written with a point in any locale.
static void test_locale(void** state) {
  (void)state;
  if (!tb_test_comma("locale_mjcf")) skip();
  tbFlat* s = parse(
      "<mujoco><option timestep='1.25' baumgarte='0.5'/>"
      "<worldbody><geom size='1.5'/></worldbody></mujoco>");
  tb_test_comma(NULL);
  assert_near(s->geom[0].size[0], 1.5, 0);
  assert_near(s->option.timestep, 1.25, 0);
  assert_near(s->option.baumgarte, 0.5, 0);
  tb_flat_free(s);
}

// Infinity is a word where a range is open, and a mistake elsewhere.
static void test_infinity(void** state) {
  (void)state;
  tbFlat* s = parse(WORLD("<body><joint range='-inf +Infinity'/><geom size='1'/></body>"));
  assert_true(s->joint[0].range[0] == -INFINITY && s->joint[0].range[1] == INFINITY);
  tb_flat_free(s);
  static const char* const WORDS[] = {"infi", "in", "infinityy", "nan", "-", "1e", "0x1", "1,5"};
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    char xml[200];
    snprintf(xml, sizeof xml, WORLD("<body><joint range='0 %s'/><geom size='1'/></body>"),
             WORDS[i]);
    refuse(xml, TB_ERROR_PARSE, "is not a finite number");
  }
  refuse(WORLD("<geom size='inf'/>"), TB_ERROR_PARSE, "'inf' is not a finite number");
}

// Text cut anywhere, and with bytes changed, gives an error or a spec, never a crash.
static void test_damaged(void** state) {
  (void)state;
  static const char XML[] =
      "<mujoco><compiler angle='radian'/><option timestep='.1'><flag contact='disable'/></option>"
      "<default><geom size='1'/><default class='c'><joint damping='1'/></default></default>"
      "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody>"
      "<replicate count='3' euler='0 0 1'><body name='b'><joint name='j' class='c'/>"
      "<geom type='mesh' mesh='m'/><site name='s'/></body></replicate></worldbody>"
      "<tendon><spatial><site site='s'/><site site='s'/></spatial></tendon>"
      "<actuator><position joint='j' kp='3'/></actuator><sensor><gyro site='s'/></sensor>"
      "<keyframe><key qpos='1 2 3'/></keyframe></mujoco>";
  tbRng rng = {7};
  char copy[sizeof XML];
  int accepted = 0;
  for (int round = 0; round < 3000; round++) {
    memcpy(copy, XML, sizeof XML);
    size_t size = sizeof XML - 1;
    int changes = (int)(tb_rng_next(&rng) % 3);
    for (int i = 0; i < changes; i++) {
      size_t at = tb_rng_next(&rng) % size;
      copy[at] = (char)(tb_rng_next(&rng) % 256);
    }
    if (tb_rng_next(&rng) % 4 == 0) size = tb_rng_next(&rng) % size;
    tbError error;
    tbFlat* s = tb_flat_parse_mjcf(copy, size, "model.xml", NULL, &error);
    if (!s) assert_true(error.code != TB_OK && error.message[0]);
    accepted += s != NULL;
    tb_flat_free(s);
  }
  assert_true(accepted > 0 && accepted < 3000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_xml),        cmocka_unit_test(test_bombs),
      cmocka_unit_test(test_numbers),    cmocka_unit_test(test_names),
      cmocka_unit_test(test_unknown),    cmocka_unit_test(test_unsupported),
      cmocka_unit_test(test_long_file),  cmocka_unit_test(test_locale),
      cmocka_unit_test(test_infinity),   cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_first_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
