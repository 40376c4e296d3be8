// Several files: include, replicate, attach.
#include <sys/stat.h>
#include <unistd.h>

#include "common/model_files.h"
#include "io/mjcf_test.h"

// Files of these tests live in a folder of their own.
static const char* folder(void) {
  static char path[256];
  if (!path[0]) {
    snprintf(path, sizeof path, "%s/test_mjcf.%d", TB_BUILD_DIR, (int)getpid());
    mkdir(path, 0777);
  }
  return path;
}

static const char* path_of(const char* name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", folder(), name);
  return path;
}

static void put(const char* name, const char* text) {
  FILE* file = fopen(path_of(name), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int clean(void** state) {
  (void)state;
  static const char* const names[] = {"main.xml",  "a.xml",     "b.xml", "sub/c.xml", "sub/d.xml",
                                      "child.xml", "grand.xml", "sub",   NULL};
  for (int i = 0; names[i]; i++) remove(path_of(names[i]));
  return rmdir(folder());
}

static tbFlat* load(const char* name) {
  tbError error;
  tbFlat* spec = tb_test_spec(path_of(name), NULL, &error);
  if (!spec) fail_msg("%s: %s", tb_result_name(error.code), error.message);
  return spec;
}

static void load_refused(const char* name, tbResult code, const char* words) {
  tbError error;
  tbFlat* spec = tb_test_spec(path_of(name), NULL, &error);
  if (spec) {
    tb_flat_free(spec);
    fail_msg("accepted, but expected: %s", words);
  }
  if (!strstr(error.message, words)) fail_msg("got '%s', expected '%s'", error.message, words);
  assert_int_equal(error.code, code);
}

static void test_include(void** state) {
  (void)state;
  mkdir(path_of("sub"), 0777);
  put("main.xml",
      "<mujoco><include file='a.xml'/><worldbody><include file='b.xml'/>"
      "<geom name='last' size='1'/></worldbody><include file='sub/c.xml'/></mujoco>");
  put("a.xml", "<mujoco model='not used'><compiler angle='radian' meshdir='m'/></mujoco>");
  put("b.xml",
      "<anything><body name='b' euler='0 0 1'><geom name='first' size='1'/></body></anything>");
  // against the main file's folder first, then beside the file that includes
  put("sub/c.xml", "<mujoco><include file='d.xml'/><asset><mesh file='x.stl'/></asset></mujoco>");
  put("sub/d.xml", "<mujoco><option timestep='.5'/></mujoco>");
  tbFlat* s = load("main.xml");
  assert_near(s->body[1].quat[0], cos(0.5), 1e-15);
  assert_near(s->option.timestep, 0.5, 0);
  assert_string_equal(s->geom[0].name, "last");
  assert_string_equal(s->geom[1].source, path_of("b.xml"));
  assert_string_equal(s->mesh[0].path, path_of("m/x.stl"));
  tb_flat_free(s);
}

// Names with backslashes, and files that lie elsewhere.
static void test_file_names(void** state) {
  (void)state;
  mkdir(path_of("sub"), 0777);
  put("sub/c.xml", "<mujoco><option timestep='.25'/></mujoco>");
  put("sub/d.xml", "not a mesh");
  put("main.xml",
      "<mujoco><compiler meshdir='m\\n'/><include file='sub\\c.xml'/><asset>"
      "<mesh file='x\\y.stl'/><mesh name='z' file='d.xml'/></asset></mujoco>");
  char elsewhere[512];
  snprintf(elsewhere, sizeof elsewhere, "%s", path_of("sub"));
  const char* paths[] = {"/nowhere", elsewhere};
  tbLoadOptions options = {.search_paths = paths, .nsearch_paths = 2};
  tbError error;
  tbFlat* s = tb_test_spec(path_of("main.xml"), &options, &error);
  if (!s) fail_msg("%s", error.message);
  assert_near(s->option.timestep, 0.25, 0);
  assert_string_equal(s->mesh[0].name, "y");
  assert_string_equal(s->mesh[0].path, path_of("m/n/x/y.stl"));
  assert_string_equal(s->mesh[1].path, path_of("sub/d.xml"));
  tb_flat_free(s);
}

static void test_include_errors(void** state) {
  (void)state;
  put("main.xml", "<mujoco>\n<include file='a.xml'/></mujoco>");
  put("a.xml", "<mujoco><include file='main.xml'/></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "already included");
  put("a.xml", "<mujoco><include file='a.xml'/></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "already included");
  put("a.xml", "<mujoco>\n\n<worldbody><geom sise='1'/></worldbody></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "a.xml:3: <geom>: unknown attribute 'sise'");
  put("a.xml", "<mujoco>\n<worldbody></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "a.xml:2: not well-formed");
  put("main.xml", "<mujoco>\n<include file='none.xml'/></mujoco>");
  load_refused("main.xml", TB_ERROR_FILE, "main.xml:2: <include>: ");
  load_refused("main.xml", TB_ERROR_FILE, "none.xml: no such file");
  put("main.xml", "<mujoco><include/></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "'file' is missing");
  put("main.xml", "<mujoco><include file='.'/></mujoco>");
  load_refused("main.xml", TB_ERROR_FILE, "not a regular file");
  load_refused("none.xml", TB_ERROR_FILE, "none.xml: no such file");
  load_refused(".", TB_ERROR_FILE, "not a regular file");
}

static void test_replicate(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><worldbody><site name='fix'/><frame pos='0 0 1'>"
      "<replicate count='12' offset='1 0 0' euler='0 0 90' sep='-'>"
      "<body name='b' pos='.5 0 0'><joint name='j' axis='1 0 0'/><geom size='1'/>"
      "<site name='s'/></body><site name='t' pos='0 .1 0'/></replicate></frame>"
      "<body name='after'/></worldbody>"
      "<tendon><fixed name='other'><joint joint='x' coef='1'/></fixed>"
      "<spatial name='w'><site site='fix'/><site site='s'/></spatial></tendon>"
      "<actuator><motor name='m' joint='j'/><motor name='keep' joint='x'/>"
      "<motor name='pull' tendon='w'/></actuator>"
      "<sensor><actuatorpos name='r' actuator='pull'/><clock name='c'/></sensor></mujoco>");
  assert_int_equal(s->nbody, 14);
  assert_string_equal(s->body[1].name, "b-00");
  assert_string_equal(s->body[12].name, "b-11");
  assert_string_equal(s->body[13].name, "after");
  // the offsets turn with the copies: a unit square
  double h = sqrt(0.5);
  assert_vec(s->body[1].pos, 3, 0.5, 0, 1);
  assert_vec(s->body[2].pos, 3, 1, 0.5, 1);
  assert_vec(s->body[2].quat, 4, h, 0, 0, h);
  assert_vec(s->body[3].pos, 3, 0.5, 1, 1);
  assert_vec(s->body[4].pos, 3, 0, 0.5, 1);
  assert_vec(s->joint[1].axis, 3, 1, 0, 0);
  assert_vec(s->site[FIND(s, site, "t-01")].pos, 3, 0.9, 0, 1);
  assert_int_equal(s->site[FIND(s, site, "s-03")].body, 4);
  // what refers to the pattern is copied, the rest stays
  assert_int_equal(s->ntendon, 13);
  assert_string_equal(s->tendon[0].name, "other");
  assert_string_equal(s->tendon[2].name, "w-01");
  assert_string_equal(s->wrap[s->tendon[2].wrapadr].target, "fix");
  assert_string_equal(s->wrap[s->tendon[2].wrapadr + 1].target, "s-01");
  assert_int_equal(s->nwrap, 25);
  assert_int_equal(s->nactuator, 25);
  assert_string_equal(s->actuator[0].name, "keep");
  assert_string_equal(s->actuator[1].joint, "j-00");
  assert_string_equal(s->actuator[2].tendon, "w-00");
  assert_int_equal(s->nsensor, 13);
  assert_string_equal(s->sensor[12].objname, "pull-11");
  tb_flat_free(s);
}

static void test_nested_replicate(void** state) {
  (void)state;
  tbFlat* s = parse(
      "<mujoco><worldbody><replicate count='2' offset='0 1 0'><frame pos='0 0 .5'>"
      "<replicate count='3' offset='1 0 0' sep='_'><body name='b'><joint name='j'/></body>"
      "</replicate></frame></replicate></worldbody>"
      "<sensor><jointpos name='q' joint='j'/></sensor></mujoco>");
  const char* names[] = {"b_00", "b_10", "b_20", "b_01", "b_11", "b_21"};
  const char* sensors[] = {"q_00", "q_10", "q_20", "q_01", "q_11", "q_21"};
  for (int i = 0; i < 6; i++) {
    assert_string_equal(s->body[1 + i].name, names[i]);
    assert_vec(s->body[1 + i].pos, 3, i % 3, i / 3, 0.5);
    assert_string_equal(s->sensor[i].name, sensors[i]);
  }
  tb_flat_free(s);
  refuse(WORLD("<replicate><body/></replicate>"), TB_ERROR_PARSE, "count");
  refuse(WORLD("<replicate count='-1'><body/></replicate>"), TB_ERROR_PARSE, "count");
  refuse(WORLD("<replicate count='2' angle='3'/>"), TB_ERROR_PARSE, "'angle'");
}

static const char CHILD[] =
    "<mujoco model='kid'><compiler angle='radian' meshdir='meshes'/><option timestep='.1'/>"
    "<asset><mesh name='m' file='m.stl'/><material name='red' rgba='1 0 0 1'/></asset>"
    "<default><geom density='7'/></default><worldbody><geom name='floor' type='plane' size='1 1 "
    "1'/>"
    "<body name='a' pos='0 0 1'><joint name='ja' range='-1 1'/><geom type='mesh' mesh='m' "
    "material='red'/><body name='b'><joint name='jb' type='ball'/></body></body>"
    "<body name='c'><freejoint name='jc'/></body></worldbody>"
    "<contact><exclude name='in' body1='a' body2='b'/><exclude name='out' body1='a' body2='c'/>"
    "<exclude name='world' body1='world' body2='a'/></contact>"
    "<actuator><motor name='ua' joint='ja'/><position name='uc' joint='jc'/></actuator>"
    "<keyframe><key name='k' time='4' qpos='.1 1 0 0 0 1 2 3 1 0 0 0' ctrl='5 6'/></keyframe>"
    "</mujoco>";

static void test_attach_body(void** state) {
  (void)state;
  put("child.xml", CHILD);
  put("main.xml",
      "<mujoco><asset><model file='child.xml'/></asset><worldbody><body name='base'>"
      "<joint name='j0'/><frame pos='1 0 0' euler='0 0 90'><attach model='kid' body='a' "
      "prefix='k_'/></frame></body></worldbody><actuator><motor name='u0' joint='j0'/></actuator>"
      "</mujoco>");
  tbFlat* s = load("main.xml");
  assert_int_equal(s->nbody, 4);
  assert_string_equal(s->body[2].name, "k_a");
  assert_int_equal(s->body[2].parent, 1);
  assert_int_equal(s->body[3].parent, 2);
  double h = sqrt(0.5);
  assert_vec(s->body[2].pos, 3, 1, 0, 1);
  assert_vec(s->body[2].quat, 4, h, 0, 0, h);
  // the child's own settings hold for what came from it
  assert_vec(s->joint[1].range, 2, -1, 1);
  assert_string_equal(s->geom[0].mesh, "k_m");
  assert_near(s->geom[0].density, 7, 0);
  assert_vec(s->geom[0].rgba, 4, 1, 0, 0, 1);
  assert_string_equal(s->mesh[0].name, "k_m");
  assert_string_equal(s->mesh[0].path, path_of("meshes/m.stl"));
  assert_int_equal(s->geom[0].compiler->angle, 0);
  assert_int_equal(s->body[1].compiler->angle, 1);
  assert_near(s->option.timestep, 0.002, 0);
  // what refers only to attached things came along
  assert_int_equal(s->nexclude, 2);
  assert_string_equal(s->exclude[0].name, "k_in");
  assert_string_equal(s->exclude[1].body1, "world");
  assert_string_equal(s->exclude[1].body2, "k_a");
  assert_int_equal(s->nactuator, 2);
  assert_string_equal(s->actuator[1].joint, "k_ja");
  find_note(s, "'out'");
  find_note(s, "'uc'");
  find_note(s, "options of the attached model");
  // the keyframe has the values of what was attached, and gaps elsewhere
  assert_string_equal(s->key[0].name, "k_k");
  assert_near(s->key[0].time, 4, 0);
  assert_int_equal(s->key[0].qpos.n, 6);
  assert_true(isnan(s->key[0].qpos.v[0]));
  assert_vec(s->key[0].qpos.v + 1, 5, 0.1, 1, 0, 0, 0);
  assert_vec(s->key[0].ctrl.v, 2, 0, 5);
  tb_flat_free(s);
}

static void test_attach_world(void** state) {
  (void)state;
  put("grand.xml",
      "<mujoco model='g'><worldbody><body name='leaf'><geom name='x' size='1'/></body></worldbody>"
      "</mujoco>");
  put("child.xml",
      "<mujoco model='kid'><asset><model name='gg' file='grand.xml'/></asset><worldbody>"
      "<geom name='floor' size='1' pos='1 0 0'/><body name='a'><attach model='gg' body='leaf' "
      "prefix='g_'/></body></worldbody></mujoco>");
  put("main.xml",
      "<mujoco><asset><model name='one' file='child.xml'/></asset><worldbody>"
      "<replicate count='2' offset='0 5 0'><attach model='one' prefix='p_'/></replicate>"
      "</worldbody></mujoco>");
  tbFlat* s = load("main.xml");
  const char* bodies[] = {"world", "p_a0", "p_g_leaf0", "p_a1", "p_g_leaf1"};
  assert_int_equal(s->nbody, 5);
  for (int i = 0; i < 5; i++) assert_string_equal(s->body[i].name, bodies[i]);
  assert_vec(s->geom[FIND(s, geom, "p_floor1")].pos, 3, 1, 5, 0);
  assert_int_equal(s->geom[FIND(s, geom, "p_g_x1")].body, 4);
  tb_flat_free(s);
}

static void test_attach_errors(void** state) {
  (void)state;
  put("child.xml", CHILD);
#define MAIN(attach)                                                                \
  "<mujoco><asset><model name='kid' file='child.xml'/></asset><worldbody>\n" attach \
  "</worldbody></mujoco>"
  put("main.xml", MAIN("<attach model='no' body='a' prefix='p'/>"));
  load_refused("main.xml", TB_ERROR_PARSE, "main.xml:2: <attach>: unknown model 'no'");
  put("main.xml", MAIN("<attach model='kid' body='no' prefix='p'/>"));
  load_refused("main.xml", TB_ERROR_PARSE, "no body 'no'");
  put("main.xml", MAIN("<attach model='kid' body='a'/>"));
  load_refused("main.xml", TB_ERROR_PARSE, "'prefix' is missing");
  put("main.xml", MAIN("<attach model='kid' body='a' prefix=''/><body name='a'/>"));
  load_refused("main.xml", TB_ERROR_PARSE, "'a' is already taken");
  put("main.xml", "<mujoco><asset><model file='main.xml'/></asset></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "attached to itself");
  put("main.xml", "<mujoco><asset>\n<model file='none.xml'/></asset></mujoco>");
  load_refused("main.xml", TB_ERROR_FILE, "main.xml:2: <model>: ");
  load_refused("main.xml", TB_ERROR_FILE, "none.xml: no such file");
  put("child.xml", "<mujoco>\n<wordbody/></mujoco>");
  put("main.xml", "<mujoco><asset><model file='child.xml'/></asset></mujoco>");
  load_refused("main.xml", TB_ERROR_PARSE, "child.xml:2: <wordbody>");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_include),       cmocka_unit_test(test_include_errors),
      cmocka_unit_test(test_replicate),     cmocka_unit_test(test_nested_replicate),
      cmocka_unit_test(test_attach_body),   cmocka_unit_test(test_attach_world),
      cmocka_unit_test(test_attach_errors), cmocka_unit_test(test_file_names),
  };
  return cmocka_run_group_tests(tests, NULL, clean);
}
