// Models in memory: built, changed, attached, compiled, written.
#include "common/test.h"
#include "tribo/tribo.h"

static tbSpec* load(const char* xml) {
  tbError error;
  tbSpec* spec = tb_spec_load_xml(xml, NULL, NULL, &error);
  if (!spec) fail_msg("%s", error.message);
  return spec;
}

static tbModel* compile(const tbSpec* spec) {
  tbError error;
  tbModel* m = tb_spec_compile(spec, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

static tbElement* add(tbElement* parent, const char* tag, const char* name) {
  tbError error;
  tbElement* e = tb_spec_add(parent, tag, name, &error);
  if (!e) fail_msg("%s", error.message);
  return e;
}

static void set(tbElement* e, const char* attribute, const char* text) {
  tbError error;
  if (tb_spec_set(e, attribute, text, &error) != TB_OK) fail_msg("%s", error.message);
}

static tbElement* find(const tbSpec* spec, const char* kind, const char* name) {
  tbError error;
  tbElement* e = tb_spec_find(spec, kind, name, &error);
  if (!e) fail_msg("%s", error.message);
  return e;
}

static void refused(tbResult got, tbResult expected, const tbError* error, const char* words) {
  assert_int_equal(got, expected);
  assert_int_equal(error->code, expected);
  if (!strstr(error->message, words)) fail_msg("got '%s', expected '%s'", error->message, words);
}

static bool same_model(const tbModel* a, const tbModel* b) {
  return a->nq == b->nq && a->nbody == b->nbody && a->ngeom == b->ngeom && a->nu == b->nu &&
         memcmp(a->body_pos, b->body_pos, sizeof(tbReal) * 3 * (size_t)a->nbody) == 0 &&
         memcmp(a->body_mass, b->body_mass, sizeof(tbReal) * (size_t)a->nbody) == 0 &&
         memcmp(a->body_inertia, b->body_inertia, sizeof(tbReal) * 3 * (size_t)a->nbody) == 0 &&
         memcmp(a->geom_size, b->geom_size, sizeof(tbReal) * 3 * (size_t)a->ngeom) == 0 &&
         memcmp(a->qpos0, b->qpos0, sizeof(tbReal) * (size_t)a->nq) == 0;
}

static const char PENDULUM[] =
    "<mujoco model='pendulum'><default><default class='rod'><geom type='capsule' rgba='1 0 0 1'/>"
    "</default></default>"
    "<worldbody><geom name='floor' type='plane' size='1 1 1'/>"
    "<frame name='stand' pos='0 0 1'><body name='arm'><joint name='hinge' axis='0 1 0' range='-90 "
    "90'/><geom name='rod' class='rod' fromto='0 0 0 0 0 -0.5' size='0.02'/></body></frame>"
    "</worldbody><actuator><motor name='m' joint='hinge' gear='2'/></actuator></mujoco>";

// The same model, element by element, with texts and with numbers.
static void test_build(void** state) {
  (void)state;
  tbSpec* spec = tb_spec_create();
  set(tb_spec_root(spec), "model", "pendulum");
  tbElement* rod = add(add(tb_spec_section(spec, "default", NULL), "default", "rod"), "geom", NULL);
  set(rod, "type", "capsule");
  set(rod, "rgba", "1 0 0 1");
  tbElement* floor = add(tb_spec_world(spec), "geom", "floor");
  set(floor, "type", "plane");
  set(floor, "size", "1 1 1");
  tbElement* stand = add(tb_spec_world(spec), "frame", "stand");
  const tbReal up[3] = {0, 0, 1}, ends[6] = {0, 0, 0, 0, 0, -0.5}, radius = 0.02;
  assert_int_equal(tb_spec_set_reals(stand, "pos", up, 3, NULL), TB_OK);
  tbElement* arm = add(stand, "body", "arm");
  assert_non_null(tb_spec_add_xml(arm, "<joint name='hinge' axis='0 1 0' range='-90 90'/>", NULL));
  tbElement* geom = add(arm, "geom", "rod");
  set(geom, "class", "rod");
  assert_int_equal(tb_spec_set_reals(geom, "fromto", ends, 6, NULL), TB_OK);
  assert_int_equal(tb_spec_set_reals(geom, "size", &radius, 1, NULL), TB_OK);
  tbElement* motor = add(tb_spec_section(spec, "actuator", NULL), "motor", "m");
  set(motor, "joint", "hinge");
  set(motor, "gear", "2");
  tbSpec* twin = load(PENDULUM);
  tbModel *a = compile(spec), *b = compile(twin);
  assert_true(same_model(a, b));
  assert_int_equal(a->geom_type[1], TB_GEOM_CAPSULE);
  assert_near(a->actuator_gear[0], 2, 0);
  // Attributes are kept as given, numbers with the fewest digits.
  assert_string_equal(tb_spec_get(geom, "fromto"), "0 0 0 0 0 -0.5");
  assert_string_equal(tb_spec_get(geom, "size"), "0.02");
  tb_model_free(a);
  tb_model_free(b);
  tb_spec_free(twin);
  tb_spec_free(spec);
}

// The same attributes as a struct.
static void test_structs(void** state) {
  (void)state;
  tbError error;
  tbSpec* spec = load(PENDULUM);
  tbElement* rod = find(spec, "geom", "rod");
  tbSpecGeom geom;
  assert_int_equal(tb_spec_get_geom(rod, &geom, &error), TB_OK);
  assert_near(geom.size[0], 0.02, 0);
  assert_near(geom.fromto[5], -0.5, 0);
  assert_near(geom.density, 1000, 0);
  // The class is not looked at, and stays.
  assert_int_equal(geom.type, TB_GEOM_SPHERE);
  tbReal marks[2] = {1, 2.5};
  geom.size[0] = 0.1;
  geom.friction[1] = 0.01;
  geom.condim = 4;
  geom.user = (tbSpecList){2, marks};
  geom.material = "steel";
  assert_int_equal(tb_spec_set_geom(rod, &geom, &error), TB_OK);
  assert_string_equal(tb_spec_get(rod, "size"), "0.1 0 0");
  assert_string_equal(tb_spec_get(rod, "friction"), "1 0.01 0.0001");
  assert_string_equal(tb_spec_get(rod, "condim"), "4");
  assert_string_equal(tb_spec_get(rod, "user"), "1 2.5");
  assert_string_equal(tb_spec_get(rod, "material"), "steel");
  assert_null(tb_spec_get(rod, "type"));
  assert_null(tb_spec_get(rod, "density"));
  // Back to an unset attribute.
  geom.material = NULL;
  geom.user.n = 0;
  assert_int_equal(tb_spec_set_geom(rod, &geom, &error), TB_OK);
  assert_null(tb_spec_get(rod, "material"));
  assert_null(tb_spec_get(rod, "user"));
  tbModel* m = compile(spec);
  assert_near(m->geom_friction[4], 0.01, 0);
  assert_int_equal(m->geom_condim[1], 4);
  assert_int_equal(m->geom_type[1], TB_GEOM_CAPSULE);
  tb_model_free(m);
  // A mistake in one changes none.
  geom.condim = 3;
  geom.pos[1] = (tbReal)NAN;
  refused(tb_spec_set_geom(rod, &geom, &error), TB_ERROR_PARSE, &error, "'nan' is not a finite");
  assert_string_equal(tb_spec_get(rod, "condim"), "4");
  geom.pos[1] = 0;
  geom.type = 99;
  refused(tb_spec_set_geom(rod, &geom, &error), TB_ERROR_PARSE, &error, "'99' is none of");
  // Several elements share one struct, others have another.
  tbSpecActuator motor = tb_spec_default_actuator();
  assert_int_equal(tb_spec_get_actuator(find(spec, "actuator", "m"), &motor, &error), TB_OK);
  assert_string_equal(motor.joint, "hinge");
  motor.gear[0] = 3;
  motor.ctrllimited = TB_AUTO;
  assert_int_equal(tb_spec_set_actuator(find(spec, "actuator", "m"), &motor, &error), TB_OK);
  motor.dyntype = TB_DYN_FILTER;
  refused(tb_spec_set_actuator(find(spec, "actuator", "m"), &motor, &error), TB_ERROR_PARSE, &error,
          "<motor>: unknown attribute 'dyntype'");
  refused(tb_spec_get_actuator(rod, &motor, &error), TB_ERROR_ARGUMENT, &error, "another element");
  refused(tb_spec_get_geom(NULL, &geom, &error), TB_ERROR_ARGUMENT, &error, "NULL");
  refused(tb_spec_set_geom(rod, NULL, &error), TB_ERROR_ARGUMENT, &error, "NULL");
  tb_spec_free(spec);
}

static void test_walk(void** state) {
  (void)state;
  tbSpec* spec = load(PENDULUM);
  tbElement* arm = find(spec, "body", "arm");
  assert_string_equal(tb_spec_tag(tb_spec_parent(arm)), "frame");
  assert_string_equal(tb_spec_name(tb_spec_first(arm)), "hinge");
  assert_string_equal(tb_spec_name(tb_spec_next(tb_spec_first(arm))), "rod");
  assert_null(tb_spec_next(arm));
  assert_ptr_equal(find(spec, "body", "world"), tb_spec_world(spec));
  assert_ptr_equal(find(spec, "frame", "stand"), tb_spec_parent(arm));
  assert_string_equal(tb_spec_tag(find(spec, "actuator", "m")), "motor");
  assert_string_equal(tb_spec_tag(find(spec, "default", "rod")), "default");
  tbReal range[2];
  assert_int_equal(tb_spec_get_reals(find(spec, "joint", "hinge"), "range", range, 2), 2);
  assert_near(range[0], -90, 0);
  assert_int_equal(tb_spec_get_reals(arm, "pos", range, 2), -1);
  assert_null(tb_spec_get(arm, "pos"));
  assert_null(tb_spec_parent(tb_spec_root(spec)));
  tb_spec_free(spec);
}

// A changed spec compiles to the changed model, any number of times.
static void test_change(void** state) {
  (void)state;
  tbSpec* spec = load(PENDULUM);
  tbModel* before = compile(spec);
  set(find(spec, "geom", "rod"), "size", "0.04");
  set(tb_spec_first(find(spec, "default", "rod")), "rgba", "0 1 0 1");
  tbModel* after = compile(spec);
  assert_near(after->geom_size[3], 0.04, 0);
  assert_near(after->geom_rgba[5], 1, 0);
  assert_true(after->body_mass[1] > before->body_mass[1]);
  // An attribute that is removed has its default again.
  set(find(spec, "actuator", "m"), "gear", NULL);
  tb_model_free(after);
  after = compile(spec);
  assert_near(after->actuator_gear[0], 1, 0);
  // What refers to a deleted element is an error, that names both.
  tbError error;
  assert_int_equal(tb_spec_delete(find(spec, "joint", "hinge"), &error), TB_OK);
  assert_null(tb_spec_compile(spec, &error));
  assert_non_null(strstr(error.message, "no joint is called 'hinge'"));
  assert_int_equal(tb_spec_delete(find(spec, "actuator", "m"), &error), TB_OK);
  tb_model_free(after);
  after = compile(spec);
  assert_int_equal(after->nq, 0);
  tb_model_free(before);
  tb_model_free(after);
  tb_spec_free(spec);
}

static void test_mistakes(void** state) {
  (void)state;
  tbError error;
  tbSpec* spec = load(PENDULUM);
  tbElement* rod = find(spec, "geom", "rod");
  refused(tb_spec_set(rod, "sise", "1", &error), TB_ERROR_PARSE, &error,
          "<geom>: unknown attribute 'sise', did you mean 'size'?");
  refused(tb_spec_set(rod, "type", "capsul", &error), TB_ERROR_PARSE, &error,
          "did you mean 'capsule'?");
  refused(tb_spec_set(rod, "pos", "1 2", &error), TB_ERROR_PARSE, &error,
          "expected 3 numbers, got 2");
  refused(tb_spec_set(rod, "sise", NULL, &error), TB_ERROR_PARSE, &error, "did you mean 'size'?");
  refused(tb_spec_set(rod, "name", "a\x01", &error), TB_ERROR_PARSE, &error, "control characters");
  refused(tb_spec_set(rod, "name", "\xff", &error), TB_ERROR_PARSE, &error, "not UTF-8");
  const tbReal odd[3] = {0, (tbReal)NAN, 0};
  refused(tb_spec_set_reals(rod, "pos", odd, 3, &error), TB_ERROR_PARSE, &error,
          "'nan' is not a finite number");
  refused(tb_spec_set_reals(rod, "pos", odd, 0, &error), TB_ERROR_ARGUMENT, &error, "one number");
  refused(tb_spec_set_reals(rod, "condim", (tbReal[]){1.5}, 1, &error), TB_ERROR_PARSE, &error,
          "not a whole number");
  // Nothing has changed.
  assert_string_equal(tb_spec_get(rod, "size"), "0.02");
  assert_null(tb_spec_get(rod, "pos"));

  assert_null(tb_spec_add(rod, "body", NULL, &error));
  refused(error.code, TB_ERROR_PARSE, &error, "<body>: not allowed in <geom>");
  assert_null(tb_spec_add(tb_spec_world(spec), "boddy", NULL, &error));
  refused(error.code, TB_ERROR_PARSE, &error, "did you mean <body>?");
  assert_null(tb_spec_add(tb_spec_world(spec), "composite", NULL, &error));
  refused(error.code, TB_ERROR_UNSUPPORTED, &error, "<composite>: is not supported");
  assert_null(tb_spec_add(tb_spec_root(spec), "option", "o", &error));
  refused(error.code, TB_ERROR_ARGUMENT, &error, "takes no name");
  assert_null(tb_spec_add_xml(tb_spec_world(spec), "<geom", &error));
  refused(error.code, TB_ERROR_PARSE, &error, "not well-formed");
  assert_null(tb_spec_add_xml(tb_spec_world(spec), "<body><geom sise='1'/></body>", &error));
  refused(error.code, TB_ERROR_PARSE, &error, "unknown attribute 'sise'");
  assert_null(tb_spec_add_xml(tb_spec_world(spec), "<include file='a.xml'/>", &error));
  assert_null(tb_spec_section(spec, "actuators", &error));
  refused(error.code, TB_ERROR_PARSE, &error, "did you mean <actuator>?");
  assert_null(tb_spec_find(spec, "geom", "rodd", &error));
  refused(error.code, TB_ERROR_ARGUMENT, &error, "no geom is called 'rodd', did you mean 'rod'?");
  assert_null(tb_spec_find(spec, "gem", "rod", &error));

  // A name twice is an error of the compilation, at the second element.
  tbElement* twice = add(tb_spec_world(spec), "site", "s");
  add(tb_spec_world(spec), "site", "s");
  assert_null(tb_spec_compile(spec, &error));
  refused(error.code, TB_ERROR_PARSE, &error, "the name 's' is already taken by another site");
  // An element without a file is named in messages.
  set(twice, "name", "other");
  tbElement* joint = add(find(spec, "body", "arm"), "joint", "second");
  set(joint, "axis", "0 0 0");
  assert_null(tb_spec_compile(spec, &error));
  refused(error.code, TB_ERROR_PARSE, &error, "<joint 'second'>: axis has no length");
  tb_spec_free(spec);
}

static void test_misuse(void** state) {
  (void)state;
  tbError error;
  assert_null(tb_spec_load(NULL, NULL, &error));
  assert_null(tb_spec_load("/nowhere.xml", NULL, &error));
  assert_int_equal(error.code, TB_ERROR_FILE);
  assert_null(tb_spec_load_xml(NULL, NULL, NULL, &error));
  assert_null(tb_spec_load_xml("<html/>", NULL, NULL, &error));
  assert_null(tb_spec_compile(NULL, &error));
  assert_null(tb_spec_copy(NULL, &error));
  assert_null(tb_spec_from_model(NULL, &error));
  assert_null(tb_spec_save_xml(NULL, &error));
  assert_null(tb_spec_world(NULL));
  assert_null(tb_spec_root(NULL));
  assert_null(tb_spec_section(NULL, "asset", &error));
  assert_null(tb_spec_add(NULL, "body", NULL, &error));
  assert_null(tb_spec_add_xml(NULL, "<body/>", &error));
  assert_null(tb_spec_find(NULL, "body", "a", &error));
  assert_null(tb_spec_attach(NULL, NULL, NULL, NULL, &error));
  assert_int_equal(tb_spec_set(NULL, "size", "1", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_spec_set_reals(NULL, "size", NULL, 1, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_spec_delete(NULL, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_spec_save(NULL, "x.xml", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_save_mjcf(NULL, "x.xml", &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_save_urdf(NULL, "x.urdf", NULL, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_spec_recompile(NULL, NULL, NULL, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_spec_get_reals(NULL, "pos", NULL, 0), -1);
  assert_null(tb_spec_get(NULL, "pos"));
  assert_null(tb_spec_name(NULL));
  tb_spec_free(NULL);
  tb_text_free(NULL);
  tbLoadOptions options = tbDefaultLoadOptions();
  options.nsearch_paths = -1;
  assert_null(tb_spec_load_xml("<mujoco/>", NULL, &options, &error));

  tbSpec* spec = load(PENDULUM);
  tbElement *arm = find(spec, "body", "arm"), *rod = find(spec, "geom", "rod");
  assert_int_equal(tb_spec_set(rod, NULL, "1", &error), TB_ERROR_ARGUMENT);
  assert_null(tb_spec_add(arm, NULL, NULL, &error));
  assert_null(tb_spec_add_xml(arm, NULL, &error));
  assert_int_equal(tb_spec_delete(tb_spec_root(spec), &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_spec_delete(arm, &error), TB_OK);
  // The contents of a deleted element are deleted, too.
  refused(tb_spec_set(rod, "size", "1", &error), TB_ERROR_ARGUMENT, &error, "deleted");
  refused(tb_spec_delete(arm, &error), TB_ERROR_ARGUMENT, &error, "deleted");
  assert_null(tb_spec_add(arm, "geom", NULL, &error));
  assert_null(tb_spec_attach(arm, tb_spec_root(spec), "a_", NULL, &error));
  refused(tb_spec_save(spec, "/nowhere/x.xml", &error), TB_ERROR_FILE, &error, "/nowhere/x.xml");
  tb_spec_free(spec);
}

// Any number reads back as the same bits.
static void test_numbers(void** state) {
  (void)state;
  tbSpec* spec = tb_spec_create();
  tbElement* geom = add(tb_spec_world(spec), "geom", NULL);
  tbRng rng = {7};
  for (int i = 0; i < 20000; i++) {
    uint64_t bits[3] = {tb_rng_next(&rng), tb_rng_next(&rng) >> 12, tb_rng_next(&rng)};
    tbReal values[3], back[3];
    memcpy(values, bits, sizeof values);
    values[2] = ldexp((double)(bits[2] % 1000), (int)(bits[2] >> 40) % 40 - 20);
    if (!isfinite(values[0])) continue;
    assert_int_equal(tb_spec_set_reals(geom, "pos", values, 3, NULL), TB_OK);
    assert_int_equal(tb_spec_get_reals(geom, "pos", back, 3), 3);
    assert_memory_equal(values, back, sizeof values);
  }
  const tbReal plain[3] = {0.1, -1e-7, 1e22};
  assert_int_equal(tb_spec_set_reals(geom, "pos", plain, 3, NULL), TB_OK);
  assert_string_equal(tb_spec_get(geom, "pos"), "0.1 -1e-07 1e+22");
  const tbReal open[2] = {-INFINITY, INFINITY};
  tbElement* joint = add(add(tb_spec_world(spec), "body", NULL), "joint", NULL);
  assert_int_equal(tb_spec_set_reals(joint, "range", open, 2, NULL), TB_OK);
  assert_string_equal(tb_spec_get(joint, "range"), "-inf inf");
  tb_spec_free(spec);
}

// Deep nesting and long texts end in an error, or work.
static void test_extremes(void** state) {
  (void)state;
  tbError error;
  tbSpec* spec = tb_spec_create();
  tbElement* body = tb_spec_world(spec);
  int depth = 0;
  for (tbElement* next; (next = tb_spec_add(body, "body", NULL, &error)) != NULL; depth++) {
    body = next;
  }
  refused(error.code, TB_ERROR_PARSE, &error, "nested");
  assert_true(depth > 900);
  char* text = tb_spec_save_xml(spec, &error);
  tbSpec* again = tb_spec_load_xml(text, NULL, NULL, &error);
  assert_true(tb_spec_equal(spec, again));
  tb_text_free(text);
  tb_spec_free(again);
  tb_spec_free(spec);
  // Every character that XML escapes, in names.
  spec = load("<mujoco/>");
  const char name[] = "<a & \"b\"\t\n'c'> \xc3\xa9";
  add(tb_spec_world(spec), "site", name);
  text = tb_spec_save_xml(spec, &error);
  again = load(text);
  assert_true(tb_spec_equal(spec, again));
  assert_non_null(find(again, "site", name));
  tb_text_free(text);
  tb_spec_free(again);
  tb_spec_free(spec);
}

// ---- attach -------------------------------------------------------------------------------------

static const char GRIPPER[] =
    "<mujoco><compiler angle='radian'/><default><geom rgba='0 0 1 1'/></default><worldbody>"
    "<body name='palm'><geom name='p' size='0.1'/><body name='finger' pos='0.1 0 0'>"
    "<joint name='j' range='-1 1'/><geom name='f' size='0.05'/></body></body></worldbody>"
    "<actuator><motor name='m' joint='j'/></actuator>"
    "<keyframe><key name='k' qpos='0.5'/></keyframe></mujoco>";

static void test_attach(void** state) {
  (void)state;
  tbError error;
  tbSpec *arm = load(PENDULUM), *gripper = load(GRIPPER);
  tbElement* tip = add(find(arm, "body", "arm"), "site", "tip");
  set(tip, "pos", "0 0 -0.5");
  set(tip, "quat", "0 1 0 0");
  tbElement* e = tb_spec_attach(tip, find(gripper, "body", "palm"), "g_", "_1", &error);
  if (!e) fail_msg("%s", error.message);
  // The child is a copy: changing it afterwards has no effect.
  set(find(gripper, "geom", "f"), "size", "0.5");
  tbModel* m = compile(arm);
  assert_int_equal(m->nbody, 4);
  assert_int_equal(m->nu, 2);
  int palm = tb_name2id(m, TB_OBJ_BODY, "g_palm_1"), joint = tb_name2id(m, TB_OBJ_JOINT, "g_j_1");
  assert_int_equal(m->body_parentid[palm], tb_name2id(m, TB_OBJ_BODY, "arm"));
  assert_near(m->body_pos[3 * palm + 2], -0.5, 0);
  assert_near(m->body_quat[4 * palm + 1], 1, 0);
  // Angles are those of the child's file, and so is its default class.
  assert_near(m->jnt_range[2 * joint + 1], 1, 0);
  assert_near(m->geom_size[3 * tb_name2id(m, TB_OBJ_GEOM, "g_f_1")], 0.05, 0);
  assert_near(m->geom_rgba[4 * tb_name2id(m, TB_OBJ_GEOM, "g_f_1") + 2], 1, 0);
  assert_true(tb_name2id(m, TB_OBJ_ACTUATOR, "g_m_1") >= 0);
  assert_near(m->key_qpos[m->jnt_qposadr[joint]], 0.5, 0);

  // The text has the attached part, too.
  char* text = tb_spec_save_xml(arm, &error);
  if (!text) fail_msg("%s", error.message);
  tbSpec* again = load(text);
  tbModel* n = compile(again);
  assert_true(same_model(m, n));
  assert_near(n->key_qpos[m->jnt_qposadr[joint]], 0.5, 0);
  tb_text_free(text);
  tb_spec_free(again);
  tb_model_free(n);
  tb_model_free(m);

  // The same twice clashes, with another prefix it does not; a spec can be attached to itself.
  assert_non_null(tb_spec_attach(tip, find(gripper, "body", "palm"), "g_", "_1", &error));
  assert_null(tb_spec_compile(arm, &error));
  assert_non_null(strstr(error.message, "already taken"));
  tb_spec_free(arm);
  arm = load(PENDULUM);
  for (int i = 0; i < 3; i++) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "p%d_", i);
    tbElement* world = tb_spec_world(arm);
    assert_non_null(tb_spec_attach(world, find(arm, "body", "arm"), prefix, NULL, &error));
  }
  tbSpec* copy = tb_spec_copy(arm, &error);
  assert_true(tb_spec_equal(arm, copy));
  m = compile(copy);
  assert_int_equal(m->nbody, 1 + 4);
  assert_int_equal(m->nu, 4);
  tb_model_free(m);
  tb_spec_free(copy);

  // Elements that cannot be attached, and places that take none.
  tbElement* floor = find(arm, "geom", "floor");
  assert_null(tb_spec_attach(floor, tb_spec_root(gripper), "x_", NULL, &error));
  refused(error.code, TB_ERROR_ARGUMENT, &error, "expected a body, a frame or a site");
  assert_null(tb_spec_attach(tb_spec_world(arm), floor, "x_", NULL, &error));
  refused(error.code, TB_ERROR_ARGUMENT, &error, "a body with a name");
  tb_spec_free(gripper);
  tb_spec_free(arm);
}

// ---- recompile ----------------------------------------------------------------------------------

static void test_recompile(void** state) {
  (void)state;
  tbError error;
  tbSpec* spec = load(
      "<mujoco><worldbody>"
      "<body name='ball' pos='0 0 5'><freejoint/><geom size='0.1'/></body>"
      "<body name='arm' pos='1 0 1'><joint name='a' axis='0 1 0' ref='10'/><joint axis='1 0 0'/>"
      "<geom size='0.1' pos='0 0 -0.3'/></body>"
      "<body name='hand' mocap='true' pos='0 0 2'/></worldbody>"
      "<actuator><motor name='m' joint='a'/><position name='p' joint='a' kp='1' timeconst='0.1'/>"
      "</actuator></mujoco>");
  tbModel* m = compile(spec);
  tbData* d = tb_data_new(m);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.1 * (i + 1);
  for (int i = 0; i < 50; i++) {
    d->ctrl[0] = 0.01 * i;
    d->ctrl[1] = 0.5;
    tb_step(m, d);
  }
  d->mocap_pos[0] = 7;
  tbReal *qpos = malloc(sizeof(tbReal) * (size_t)m->nq), *qvel = malloc(sizeof(tbReal) * 16);
  memcpy(qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(qvel, d->qvel, sizeof(tbReal) * (size_t)m->nv);
  tbReal time = d->time, act = d->act[0], ctrl = d->ctrl[0];
  assert_true(act != 0);

  // New elements before, between and after the old ones; a new mass.
  tbElement* world = tb_spec_world(spec);
  assert_non_null(tb_spec_add_xml(world,
                                  "<body name='box' pos='3 0 1'><freejoint name='new'/><geom "
                                  "type='box' size='.1 .1 .1'/></body>",
                                  &error));
  assert_non_null(tb_spec_add_xml(
      find(spec, "body", "arm"),
      "<body name='tool' pos='0 0 -0.6'><joint name='t' ref='20'/><geom size='0.05'/></body>",
      &error));
  assert_non_null(tb_spec_add_xml(tb_spec_section(spec, "actuator", NULL),
                                  "<motor name='first' joint='t'/>", &error));
  tbResult result = tb_spec_recompile(spec, &m, &d, &error);
  if (result != TB_OK) fail_msg("%s", error.message);
  assert_near(d->time, time, 0);
  int arm = tb_name2id(m, TB_OBJ_BODY, "arm"), box = tb_name2id(m, TB_OBJ_JOINT, "new");
  int first = m->jnt_qposadr[m->body_jntadr[arm]];
  assert_true(memcmp(d->qpos, qpos, 7 * sizeof(tbReal)) == 0);
  assert_true(memcmp(d->qvel, qvel, 6 * sizeof(tbReal)) == 0);
  // The two hinges of the arm, one of them without a name.
  assert_near(d->qpos[first], qpos[7], 0);
  assert_near(d->qpos[first + 1], qpos[8], 0);
  assert_near(d->qvel[m->jnt_dofadr[m->body_jntadr[arm]] + 1], qvel[7], 0);
  // New joints at their reference.
  assert_near(d->qpos[m->jnt_qposadr[box]], 3, 0);
  assert_near(d->qpos[m->jnt_qposadr[tb_name2id(m, TB_OBJ_JOINT, "t")]], m->qpos0[first + 2], 0);
  assert_near(d->act[0], act, 0);
  assert_near(d->ctrl[0], ctrl, 0);
  assert_near(d->ctrl[2], 0, 0);
  assert_near(d->mocap_pos[0], 7, 0);
  tb_step(m, d);
  assert_int_equal(d->status, TB_OK);

  // A failure keeps both.
  tbModel *kept = m, *other = tb_load(TB_SCENES_DIR "/arm.xml", NULL, NULL);
  refused(tb_spec_recompile(spec, &other, &d, &error), TB_ERROR_ARGUMENT, &error, "another model");
  tb_model_free(other);
  set(find(spec, "joint", "t"), "axis", "0 0 0");
  refused(tb_spec_recompile(spec, &m, &d, &error), TB_ERROR_PARSE, &error, "axis has no length");
  assert_ptr_equal(kept, m);
  // Without the ball, the arm's values move to the front.
  set(find(spec, "joint", "t"), "axis", NULL);
  memcpy(qpos, d->qpos, 9 * sizeof(tbReal));
  assert_int_equal(tb_spec_delete(find(spec, "body", "ball"), &error), TB_OK);
  assert_int_equal(tb_spec_recompile(spec, &m, &d, &error), TB_OK);
  assert_near(d->qpos[0], qpos[7], 0);
  free(qpos);
  free(qvel);
  tb_data_free(d);
  tb_model_free(m);
  tb_spec_free(spec);
}

// ---- files --------------------------------------------------------------------------------------

static void test_files(void** state) {
  (void)state;
  tbError error;
  char path[1100], urdf[1100];
  // A model with meshes, written in another folder, still finds them.
  tbSpec* spec = tb_spec_load(TB_TEST_DIR "/io/features/shapes.xml", NULL, &error);
  if (!spec) fail_msg("%s", error.message);
  tbModel* m = compile(spec);
  snprintf(path, sizeof path, "%s/spec_saved.xml", TB_BUILD_DIR);
  if (tb_spec_save(spec, path, &error) != TB_OK) fail_msg("%s", error.message);
  tbModel* n = tb_load(path, NULL, &error);
  if (!n) fail_msg("%s", error.message);
  assert_true(same_model(m, n));
  tb_model_free(n);
  // A changed model as MJCF.
  m->body_mass[m->nbody - 1] *= 2;
  assert_int_equal(tb_save_mjcf(m, path, &error), TB_OK);
  n = tb_load(path, NULL, &error);
  if (!n) fail_msg("%s", error.message);
  assert_near(n->body_mass[m->nbody - 1], m->body_mass[m->nbody - 1], 0);
  tb_model_free(n);
  tb_model_free(m);
  tb_spec_free(spec);
  // What MJCF cannot say is refused by name.
  spec = load(
      "<mujoco><worldbody><body><joint name='b' type='ball'/><geom size='1'/></body>"
      "</worldbody></mujoco>");
  m = compile(spec);
  m->dof_damping[1] = 3;
  refused(tb_save_mjcf(m, path, &error), TB_ERROR_UNSUPPORTED, &error, "joint 'b'");
  snprintf(urdf, sizeof urdf, "%s/spec_saved.urdf", TB_BUILD_DIR);
  refused(tb_save_urdf(m, urdf, NULL, &error), TB_ERROR_UNSUPPORTED, &error,
          "'b' is neither a hinge nor");
  tb_model_free(m);
  tb_spec_free(spec);
}

// Inertia matrix at a configuration.
static void mass_matrix(const tbModel* m, const tbReal* qpos, tbReal* M) {
  tbData* d = tb_data_new(m);
  memcpy(d->qpos, qpos, sizeof(tbReal) * (size_t)m->nq);
  tb_kinematics(m, d);
  tb_com_position(m, d);
  tb_crb(m, d);
  tb_full_m(m, d, M);
  tb_data_free(d);
}

// A URDF has the same inertia matrix, whatever the anchors, references and frames.
static void test_urdf(void** state) {
  (void)state;
  tbError error;
  char path[1100];
  tbSpec* spec = load(
      "<mujoco model='chain'><compiler angle='radian'/><worldbody>"
      "<body name='a' pos='0.1 0 1' euler='0.3 0.2 0.1'>"
      "<joint name='one' axis='1 2 0' pos='0.05 0.02 0' range='-1 2' damping='0.3'/>"
      "<geom type='box' size='.1 .2 .3' pos='0.1 0 0' euler='0 0.5 0'/>"
      "<body name='b' pos='0 0.3 0' euler='0 1.5707963267948966 0'>"
      "<joint name='two' axis='0 0 1' ref='0.4' pos='0 0 0.1' frictionloss='0.1'/>"
      "<geom type='capsule' size='.05 .2'/><geom size='0.1' pos='0 0 0.3' contype='0' "
      "conaffinity='0'/><body name='c' pos='0.1 0.1 0.1'>"
      "<joint name='three' type='slide' axis='0 1 1' ref='0.02'/><geom type='cylinder' size='.1 "
      ".1'/></body></body></body></worldbody><equality><joint joint1='two' joint2='one' "
      "polycoef='0.1 2 0 0 0'/></equality><actuator><motor joint='one'/></actuator></mujoco>");
  tbModel* m = compile(spec);
  snprintf(path, sizeof path, "%s/spec_chain.urdf", TB_BUILD_DIR);
  char* left_out;
  if (tb_save_urdf(m, path, &left_out, &error) != TB_OK) fail_msg("%s", error.message);
  assert_string_equal(left_out, "1 actuators\n");
  tb_text_free(left_out);
  tbLoadOptions options = tbDefaultLoadOptions();
  options.keep_visual = 1;
  tbModel* n = tb_load(path, &options, &error);
  if (!n) fail_msg("%s", error.message);
  assert_int_equal(n->nq, 3);
  assert_int_equal(n->ngeom, m->ngeom);
  const tbReal qpos[3] = {0.3, -0.2, 0.1};
  tbReal M[9], N[9];
  mass_matrix(m, qpos, M);
  mass_matrix(n, qpos, N);
  assert_near_array(M, N, 9, 1e-12);
  assert_near_array(m->jnt_range, n->jnt_range, 2, 0);
  assert_near(n->dof_damping[0], 0.3, 0);
  assert_near(n->dof_frictionloss[1], 0.1, 0);
  // q2 - 0.4 = 0.1 + 2 q1
  assert_int_equal(n->neq, 1);
  assert_near(n->eq_data[0], 0.5, 1e-15);
  assert_near(n->eq_data[1], 2, 0);
  tb_model_free(n);
  tb_model_free(m);
  tb_spec_free(spec);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_build),   cmocka_unit_test(test_structs),
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_walk),
      cmocka_unit_test(test_change),  cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_misuse),  cmocka_unit_test(test_extremes),
      cmocka_unit_test(test_attach),  cmocka_unit_test(test_recompile),
      cmocka_unit_test(test_files),   cmocka_unit_test(test_urdf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
