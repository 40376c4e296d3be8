// Wrong arguments of what a program asks of a simulation: NULL, names, indices, sizes, NaN. Every
// function of these headers refuses each of them, changes nothing, and its message names the
// argument.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "common/test.h"
#include "common/worlds.h"

static tbError error;
static int wrong;

static void judge(const char* call, bool refused, const char* message, const char* word) {
  if (refused && strstr(message, word)) return;
  print_error("%s\n    %s: '%s', expected '%s'\n", call, refused ? "refused" : "ACCEPTED", message,
              word);
  wrong++;
}

#define CLEAR() (error = (tbError){TB_OK, ""})
#define REFUSED(call, word) \
  (CLEAR(), judge(#call, (call) == TB_ERROR_ARGUMENT && error.code != TB_OK, error.message, word))
#define NOTHING(call, word) \
  (CLEAR(), judge(#call, (call) == NULL && error.code != TB_OK, error.message, word))
// Functions whose message is that of the world or the batch.
#define REFUSED_BY(owner, call, word) \
  ((owner)->message[0] = 0, judge(#call, (call) == TB_ERROR_ARGUMENT, (owner)->message, word))

static const char ARM[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 .1'/>"
    "<body name='arm' pos='0 0 1'><joint name='hinge' axis='0 1 0'/><geom name='rod' "
    "type='capsule' "
    "fromto='0 0 0 .3 0 0' size='.02'/><site name='tip' pos='.3 0 0'/></body>"
    "<body name='ball' pos='1 0 .1'><freejoint name='free'/><geom name='ball' size='.1'/></body>"
    "</worldbody><actuator><motor name='motor' joint='hinge'/></actuator>"
    "<sensor><framepos name='where' objtype='site' objname='tip'/></sensor></mujoco>";

static tbReal v[64];
static const tbReal nan3[3] = {0, NAN, 0}, zero3[3] = {0, 0, 0};

// Functions that begin with model and data: each of them NULL, and data of another model.
#define WORLD_OF(call_with, tail)                            \
  do {                                                       \
    REFUSED(call_with(NULL, w.d, tail, &error), "model");    \
    REFUSED(call_with(w.m, NULL, tail, &error), "data");     \
    REFUSED(call_with(w.m, other.d, tail, &error), "model"); \
  } while (0)
#define PARTS(...) __VA_ARGS__

static void contacts_and_names(void** state) {
  (void)state;
  wrong = 0;
  tbWorld w = tb_world_text(ARM), other = tb_world_scene("drop.xml", NULL);
  tbContactState now;
  tb_world_run(w, 20);
  assert_true(w.d->ncon > 0);
  WORLD_OF(tb_contact_wrench, PARTS(0, 0, v));
  REFUSED(tb_contact_wrench(w.m, w.d, -1, 0, v, &error), "contact");
  REFUSED(tb_contact_wrench(w.m, w.d, w.d->ncon, 0, v, &error), "contact");
  REFUSED(tb_contact_wrench(w.m, w.d, 0, 1, v, &error), "on_geom");
  REFUSED(tb_contact_wrench(w.m, w.d, 0, 0, NULL, &error), "wrench");
  WORLD_OF(tb_geom_contact_wrench, PARTS(0, NULL, v));
  REFUSED(tb_geom_contact_wrench(w.m, w.d, -1, NULL, v, &error), "geom");
  REFUSED(tb_geom_contact_wrench(w.m, w.d, w.m->ngeom, NULL, v, &error), "geom");
  REFUSED(tb_geom_contact_wrench(w.m, w.d, 0, nan3, v, &error), "about");
  REFUSED(tb_geom_contact_wrench(w.m, w.d, 0, NULL, NULL, &error), "wrench");
  WORLD_OF(tb_body_contact_wrench, PARTS(0, NULL, v));
  REFUSED(tb_body_contact_wrench(w.m, w.d, -1, NULL, v, &error), "body");
  REFUSED(tb_body_contact_wrench(w.m, w.d, w.m->nbody, NULL, v, &error), "body");
  REFUSED(tb_body_contact_wrench(w.m, w.d, 0, nan3, v, &error), "about");
  REFUSED(tb_body_contact_wrench(w.m, w.d, 0, NULL, NULL, &error), "wrench");
  WORLD_OF(tb_pair_contact_wrench, PARTS(0, 1, NULL, v));
  REFUSED(tb_pair_contact_wrench(w.m, w.d, -1, 1, NULL, v, &error), "on_body");
  REFUSED(tb_pair_contact_wrench(w.m, w.d, 0, 99, NULL, v, &error), "by_body");
  REFUSED(tb_pair_contact_wrench(w.m, w.d, 0, 1, nan3, v, &error), "about");
  REFUSED(tb_pair_contact_wrench(w.m, w.d, 0, 1, NULL, NULL, &error), "wrench");
  WORLD_OF(tb_contact_velocity, PARTS(0, v));
  REFUSED(tb_contact_velocity(w.m, w.d, 99, v, &error), "contact");
  REFUSED(tb_contact_velocity(w.m, w.d, 0, NULL, &error), "velocity");
  WORLD_OF(tb_contact_state, PARTS(0, &now, NULL));
  REFUSED(tb_contact_state(w.m, w.d, 99, &now, NULL, &error), "contact");
  REFUSED(tb_contact_state(w.m, w.d, 0, NULL, NULL, &error), "state");
  assert_string_equal(tb_contact_state_name((tbContactState)-1), "unknown");
  REFUSED(tb_rne_post_constraint(NULL, w.d, &error), "model");
  REFUSED(tb_rne_post_constraint(w.m, NULL, &error), "data");
  REFUSED(tb_rne_post_constraint(w.m, other.d, &error), "model");

#define GET(function, name, count)                                     \
  do {                                                                 \
    WORLD_OF(function, PARTS(name, v, count));                         \
    REFUSED(function(w.m, w.d, NULL, v, count, &error), "NULL");       \
    REFUSED(function(w.m, w.d, "hinje", v, count, &error), "'hinje'"); \
    REFUSED(function(w.m, w.d, "", v, count, &error), "''");           \
    REFUSED(function(w.m, w.d, name, NULL, count, &error), "NULL");    \
    REFUSED(function(w.m, w.d, name, v, count + 1, &error), "count");  \
    REFUSED(function(w.m, w.d, name, v, -1, &error), "count");         \
  } while (0)
  GET(tb_joint_qpos, "hinge", 1);
  GET(tb_joint_qvel, "free", 6);
  GET(tb_sensor_values, "where", 3);
  GET(tb_set_joint_qpos, "free", 7);
  GET(tb_set_joint_qvel, "hinge", 1);
  v[0] = NAN;
  REFUSED(tb_set_joint_qpos(w.m, w.d, "hinge", v, 1, &error), "not finite");
  REFUSED(tb_set_joint_qvel(w.m, w.d, "hinge", v, 1, &error), "not finite");
  v[0] = 0;
  REFUSED(tb_set_joint_qpos(w.m, w.d, "free", v, 7, &error), "quaternion");
  WORLD_OF(tb_actuator_ctrl, PARTS("motor", v));
  REFUSED(tb_actuator_ctrl(w.m, w.d, NULL, v, &error), "NULL");
  REFUSED(tb_actuator_ctrl(w.m, w.d, "moter", v, &error), "did you mean 'motor'");
  REFUSED(tb_actuator_ctrl(w.m, w.d, "motor", NULL, &error), "NULL");
  WORLD_OF(tb_set_actuator_ctrl, PARTS("motor", 1));
  REFUSED(tb_set_actuator_ctrl(w.m, w.d, NULL, 1, &error), "NULL");
  REFUSED(tb_set_actuator_ctrl(w.m, w.d, "moter", 1, &error), "did you mean 'motor'");
  REFUSED(tb_set_actuator_ctrl(w.m, w.d, "motor", NAN, &error), "not finite");
  WORLD_OF(tb_pose, PARTS(TB_OBJ_BODY, "arm", v, NULL));
  REFUSED(tb_pose(w.m, w.d, TB_OBJ_BODY, NULL, v, NULL, &error), "NULL");
  REFUSED(tb_pose(w.m, w.d, TB_OBJ_BODY, "arn", v, NULL, &error), "did you mean 'arm'");
  REFUSED(tb_pose(w.m, w.d, (tbObjType)77, "arm", v, NULL, &error), "type");
  tb_world_free(w);
  tb_world_free(other);
  assert_int_equal(wrong, 0);
}

static int visit(void* user, int geom1, int geom2) {
  (void)user, (void)geom1, (void)geom2;
  return 0;
}

#define NAN_BY(call, word) (w.d->message[0] = 0, judge(#call, isnan(call), w.d->message, word))

static void queries(void** state) {
  (void)state;
  wrong = 0;
  tbWorld w = tb_world_text(ARM), other = tb_world_scene("drop.xml", NULL);
  tb_kinematics(w.m, w.d);
  const tbReal up[3] = {0, 0, 1};
  NAN_BY(tb_ray(NULL, w.d, up, up, NULL, 1, -1, NULL, NULL), "model");
  NAN_BY(tb_ray(other.m, w.d, up, up, NULL, 1, -1, NULL, NULL), "model");
  NAN_BY(tb_ray(w.m, w.d, NULL, up, NULL, 1, -1, NULL, NULL), "pnt");
  NAN_BY(tb_ray(w.m, w.d, nan3, up, NULL, 1, -1, NULL, NULL), "pnt");
  NAN_BY(tb_ray(w.m, w.d, up, NULL, NULL, 1, -1, NULL, NULL), "vec");
  NAN_BY(tb_ray(w.m, w.d, up, zero3, NULL, 1, -1, NULL, NULL), "vec");
  NAN_BY(tb_ray(w.m, w.d, up, nan3, NULL, 1, -1, NULL, NULL), "vec");
  NAN_BY(tb_ray(w.m, w.d, up, up, NULL, 1, -2, NULL, NULL), "bodyexclude");
  NAN_BY(tb_ray(w.m, w.d, up, up, NULL, 1, w.m->nbody, NULL, NULL), "bodyexclude");
  NAN_BY(tb_geom_distance(NULL, w.d, 0, 1, 1, NULL), "model");
  NAN_BY(tb_geom_distance(other.m, w.d, 0, 1, 1, NULL), "model");
  NAN_BY(tb_geom_distance(w.m, w.d, -1, 1, 1, NULL), "geom1");
  NAN_BY(tb_geom_distance(w.m, w.d, 0, 99, 1, NULL), "geom2");
  NAN_BY(tb_geom_distance(w.m, w.d, 0, 1, NAN, NULL), "distmax");
  REFUSED_BY(w.d, tb_visit_pairs(NULL, w.d, 1, visit, NULL), "model");
  REFUSED_BY(w.d, tb_visit_pairs(other.m, w.d, 1, visit, NULL), "model");
  REFUSED_BY(w.d, tb_visit_pairs(w.m, w.d, -1, visit, NULL), "margin");
  REFUSED_BY(w.d, tb_visit_pairs(w.m, w.d, NAN, visit, NULL), "margin");
  REFUSED_BY(w.d, tb_visit_pairs(w.m, w.d, 1, NULL, NULL), "visit");
  REFUSED_BY(w.d, tb_find_contacts(NULL, w.d), "model");
  REFUSED_BY(w.d, tb_find_contacts(other.m, w.d), "model");
  assert_true(isnan(tb_ray(w.m, NULL, up, up, NULL, 1, -1, NULL, NULL)));
  assert_true(isnan(tb_geom_distance(w.m, NULL, 0, 1, 1, NULL)));
  assert_int_equal(tb_visit_pairs(w.m, NULL, 1, visit, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_find_contacts(w.m, NULL), TB_ERROR_ARGUMENT);
  tb_world_free(w);
  tb_world_free(other);
  assert_int_equal(wrong, 0);
}

static tbResult work(const tbModel* model, tbData* data, int world, void* argument) {
  (void)model, (void)data, (void)world, (void)argument;
  return TB_OK;
}

// NULL instead of a batch has no message: it is refused.
static void no_batch(tbWorld w) {
  tbRollout r = {.nstep = 1};
  assert_null(tb_batch_field(NULL, "qpos", NULL, NULL));
  assert_non_null(tb_batch_error(NULL, 0));
  assert_int_equal(tb_batch_memory(NULL), 0);
  assert_null(tb_batch_expand(NULL, "geom_friction"));
  assert_null(tb_batch_request(NULL, "xpos"));
  assert_int_equal(tb_batch_step(NULL, 1), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_rollout(NULL, &r), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_forward(NULL, NULL, TB_FORWARD_FORCE), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_apply(NULL, NULL, work, NULL, 0), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_reset(NULL, NULL, -1), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_reset_worlds(NULL, NULL, 0, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_set_constants(NULL, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_model(NULL, 0, w.m), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_set_model(NULL, 0, w.m), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_clone(NULL, 0, 1), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_gather(NULL, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_world(NULL, 0, w.m, w.d), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_set_world(NULL, 0, w.m, w.d), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_state_size(NULL), 0);
  assert_int_equal(tb_batch_state_get(NULL, NULL, v, 64), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_state_set(NULL, NULL, v, 64), TB_ERROR_ARGUMENT);
  tb_batch_free(NULL);
}

#define NOT_THERE(call, word) (b->message[0] = 0, judge(#call, (call) == NULL, b->message, word))

static void batches(void** state) {
  (void)state;
  wrong = 0;
  tbWorld w = tb_world_text(ARM), other = tb_world_scene("drop.xml", NULL);
  NOTHING(tb_batch_new(NULL, 3, 1, 0, &error), "model");
  NOTHING(tb_batch_new(w.m, 0, 1, 0, &error), "nworld");
  NOTHING(tb_batch_new(w.m, -3, 1, 0, &error), "nworld");
  NOTHING(tb_batch_new(w.m, 3, -1, 0, &error), "nthread");
  NOTHING(tb_batch_new(w.m, 3, 1, 10, &error), "limit");
  tbBatch* b = tb_batch_new(w.m, 3, 1, 0, &error);
  assert_non_null(b);
  no_batch(w);
  assert_null(tb_batch_field(b, "qqpos", NULL, NULL));
  assert_null(tb_batch_field(b, NULL, NULL, NULL));
  assert_string_equal(tb_batch_error(b, -1), "");
  assert_string_equal(tb_batch_error(b, 99), "");
  NOT_THERE(tb_batch_expand(b, NULL), "name");
  NOT_THERE(tb_batch_expand(b, "geom_fricton"), "did you mean 'geom_friction'");
  NOT_THERE(tb_batch_expand(b, "geom_bodyid"), "geom_bodyid");
  NOT_THERE(tb_batch_request(b, NULL), "name");
  NOT_THERE(tb_batch_request(b, "xpoz"), "did you mean 'xpos'");
  REFUSED_BY(b, tb_batch_step(b, -1), "nstep");
  REFUSED_BY(b, tb_batch_rollout(b, NULL), "rollout");
  tbRollout r = {.nstep = -1};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "nstep");
  r = (tbRollout){.nstep = 1, .nrecord = 1};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "record");
  r = (tbRollout){.nstep = 1, .nrecord = -1};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "nrecord");
  r = (tbRollout){.nstep = 1, .every = -1};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "every");
  tbRecord record = {"xpoz", v};
  r = (tbRollout){.nstep = 1, .nrecord = 1, .record = &record};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "record[0]");
  record = (tbRecord){NULL, v};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "record[0]");
  record = (tbRecord){"xpos", NULL};
  REFUSED_BY(b, tb_batch_rollout(b, &r), "record[0]");
  REFUSED_BY(b, tb_batch_forward(b, NULL, (tbForwardStage)7), "stage");
  REFUSED_BY(b, tb_batch_apply(b, NULL, NULL, NULL, 0), "function");
  REFUSED_BY(b, tb_batch_reset(b, NULL, 5), "keyframe 5");
  REFUSED_BY(b, tb_batch_reset_worlds(b, NULL, 1, NULL), "world");
  REFUSED_BY(b, tb_batch_reset_worlds(b, (int[]){9}, 1, NULL), "world");
  REFUSED_BY(b, tb_batch_reset_worlds(b, (int[]){0}, -1, NULL), "count");
  REFUSED_BY(b, tb_batch_reset_worlds(b, (int[]){0}, 1, (int[]){3}), "keyframe 3");
  REFUSED_BY(b, tb_batch_get_model(b, 3, w.m), "world");
  REFUSED_BY(b, tb_batch_get_model(b, 0, NULL), "model");
  REFUSED_BY(b, tb_batch_get_model(b, 0, other.m), "model");
  REFUSED_BY(b, tb_batch_set_model(b, -1, w.m), "world");
  REFUSED_BY(b, tb_batch_set_model(b, 0, NULL), "model");
  REFUSED_BY(b, tb_batch_set_model(b, 0, other.m), "model");
  REFUSED_BY(b, tb_batch_clone(b, 3, 0), "from");
  REFUSED_BY(b, tb_batch_clone(b, 0, -1), "to");
  REFUSED_BY(b, tb_batch_gather(b, NULL), "index");
  REFUSED_BY(b, tb_batch_gather(b, (int[]){0, 1, 3}), "index[2]");
  REFUSED_BY(b, tb_batch_get_world(b, 3, w.m, w.d), "world");
  REFUSED_BY(b, tb_batch_get_world(b, 0, NULL, w.d), "model");
  REFUSED_BY(b, tb_batch_get_world(b, 0, w.m, NULL), "data");
  REFUSED_BY(b, tb_batch_get_world(b, 0, w.m, other.d), "model");
  REFUSED_BY(b, tb_batch_get_world(b, 0, other.m, other.d), "model");
  REFUSED_BY(b, tb_batch_set_world(b, 3, w.m, w.d), "world");
  REFUSED_BY(b, tb_batch_set_world(b, 0, NULL, w.d), "model");
  REFUSED_BY(b, tb_batch_set_world(b, 0, w.m, NULL), "data");
  REFUSED_BY(b, tb_batch_set_world(b, 0, other.m, other.d), "model");
  REFUSED_BY(b, tb_batch_state_get(b, NULL, NULL, 4096), "rows");
  REFUSED_BY(b, tb_batch_state_get(b, NULL, v, 8), "size");
  REFUSED_BY(b, tb_batch_state_set(b, NULL, NULL, 4096), "rows");
  assert_int_not_equal(tb_batch_state_set(b, NULL, v, 8), TB_OK);
  assert_non_null(strstr(b->message, "size: 8 bytes"));
  // A number that is not finite, written into a row: refused by world and name.
  tbReal* friction = tb_batch_expand(b, "geom_friction");
  friction[3 * w.m->ngeom] = NAN;
  REFUSED_BY(b, tb_batch_set_constants(b, NULL), "world 1: geom_friction[0]");
  tb_batch_free(b);
  tb_world_free(w);
  tb_world_free(other);
  assert_int_equal(wrong, 0);
}

static void specs(void** state) {
  (void)state;
  wrong = 0;
  NOTHING(tb_spec_load(NULL, NULL, &error), "path");
  NOTHING(tb_spec_load_xml(NULL, NULL, NULL, &error), "xml");
  NOTHING(tb_spec_from_model(NULL, &error), "model");
  NOTHING(tb_spec_copy(NULL, &error), "spec");
  NOTHING(tb_spec_compile(NULL, &error), "spec");
  tbModel* m = NULL;
  tbData* d = NULL;
  tbSpec* s = tb_spec_load_xml(ARM, NULL, NULL, &error);
  assert_non_null(s);
  REFUSED(tb_spec_recompile(NULL, &m, &d, &error), "spec");
  REFUSED(tb_spec_recompile(s, NULL, &d, &error), "model");
  REFUSED(tb_spec_recompile(s, &m, NULL, &error), "data");
  REFUSED(tb_spec_save(NULL, "x.xml", &error), "spec");
  REFUSED(tb_spec_save(s, NULL, &error), "path");
  NOTHING(tb_spec_save_xml(NULL, &error), "spec");
  REFUSED(tb_save_mjcf(NULL, "x.xml", &error), "model");
  REFUSED(tb_save_urdf(NULL, "x.urdf", NULL, &error), "model");
  m = tb_spec_compile(s, &error);
  REFUSED(tb_save_mjcf(m, NULL, &error), "path");
  REFUSED(tb_save_urdf(m, NULL, NULL, &error), "path");
  assert_false(tb_spec_equal(s, NULL));
  assert_null(tb_spec_root(NULL));
  assert_null(tb_spec_world(NULL));
  NOTHING(tb_spec_section(NULL, "asset", &error), "spec");
  NOTHING(tb_spec_section(s, NULL, &error), "name");
  NOTHING(tb_spec_section(s, "aset", &error), "asset");
  tbElement *world = tb_spec_world(s), *rod = tb_spec_find(s, "geom", "rod", &error);
  NOTHING(tb_spec_add(NULL, "body", NULL, &error), "parent");
  NOTHING(tb_spec_add(world, NULL, NULL, &error), "tag");
  NOTHING(tb_spec_add(world, "bodi", NULL, &error), "bodi");
  NOTHING(tb_spec_add_xml(NULL, "<body/>", &error), "parent");
  NOTHING(tb_spec_add_xml(world, NULL, &error), "xml");
  REFUSED(tb_spec_set(NULL, "size", "1", &error), "element");
  REFUSED(tb_spec_set(rod, NULL, "1", &error), "attribute");
  REFUSED(tb_spec_set_reals(NULL, "size", v, 1, &error), "element");
  REFUSED(tb_spec_set_reals(rod, NULL, v, 1, &error), "attribute");
  REFUSED(tb_spec_set_reals(rod, "size", NULL, 1, &error), "values");
  REFUSED(tb_spec_set_reals(rod, "size", v, -1, &error), "count");
  REFUSED(tb_spec_set_reals(rod, "size", v, 0, &error), "count");
  assert_null(tb_spec_get(NULL, "size"));
  assert_null(tb_spec_get(rod, NULL));
  assert_int_equal(tb_spec_get_reals(NULL, "size", v, 3), -1);
  assert_int_equal(tb_spec_get_reals(rod, "size", NULL, 3), 1);  // how many there are
  assert_int_equal(tb_spec_get_reals(rod, NULL, v, 3), -1);
  tbSpecGeom geom = tb_spec_default_geom();
  REFUSED(tb_spec_get_geom(NULL, &geom, &error), "element");
  REFUSED(tb_spec_get_geom(rod, NULL, &error), "values");
  REFUSED(tb_spec_get_geom(world, &geom, &error), "values");
  REFUSED(tb_spec_set_geom(NULL, &geom, &error), "element");
  REFUSED(tb_spec_set_geom(rod, NULL, &error), "values");
  REFUSED(tb_spec_set_geom(world, &geom, &error), "values");
  REFUSED(tb_spec_delete(NULL, &error), "element");
  REFUSED(tb_spec_delete(tb_spec_root(s), &error), "root");
  NOTHING(tb_spec_find(NULL, "geom", "rod", &error), "spec");
  NOTHING(tb_spec_find(s, NULL, "rod", &error), "kind");
  NOTHING(tb_spec_find(s, "gom", "rod", &error), "did you mean 'geom'");
  NOTHING(tb_spec_find(s, "geom", NULL, &error), "name");
  NOTHING(tb_spec_find(s, "geom", "ro", &error), "did you mean 'rod'");
  assert_null(tb_spec_tag(NULL));
  assert_null(tb_spec_name(NULL));
  assert_null(tb_spec_parent(NULL));
  assert_null(tb_spec_first(NULL));
  assert_null(tb_spec_next(NULL));
  NOTHING(tb_spec_attach(NULL, world, NULL, NULL, &error), "place");
  NOTHING(tb_spec_attach(world, NULL, NULL, NULL, &error), "child");
  NOTHING(tb_spec_attach(rod, world, NULL, NULL, &error), "geom");
  NOTHING(tb_spec_attach(world, rod, NULL, NULL, &error), "geom");
  assert_non_null(tb_spec_create);
  tb_spec_free(NULL);
  tb_text_free(NULL);
  tb_model_free(m);
  tb_spec_free(s);
  assert_int_equal(wrong, 0);
}

static void recordings_and_measures(void** state) {
  (void)state;
  wrong = 0;
  tbWorld w = tb_world_text(ARM), other = tb_world_scene("drop.xml", NULL);
  char path[1024];
  snprintf(path, sizeof path, "%s/misuse.csv", TB_BUILD_DIR);
  NOTHING(tb_record_open(NULL, w.m, NULL, &error), "path");
  NOTHING(tb_record_open(path, NULL, NULL, &error), "model");
  NOTHING(tb_record_open(path, w.m, "qpoz", &error), "qpoz");
  NOTHING(tb_record_open(path, w.m, "", &error), "no fields");
  NOTHING(tb_record_open("run.txt", w.m, NULL, &error), "run.txt");
  tbRecording* r = tb_record_open(path, w.m, NULL, &error);
  assert_non_null(r);
  REFUSED(tb_record_append(NULL, w.m, w.d, &error), "record");
  REFUSED(tb_record_append(r, NULL, w.d, &error), "model");
  REFUSED(tb_record_append(r, w.m, NULL, &error), "data");
  REFUSED(tb_record_append(r, other.m, other.d, &error), "model");
  REFUSED(tb_record_append(r, w.m, other.d, &error), "model");
  assert_int_equal(tb_record_append(r, w.m, w.d, &error), TB_OK);
  assert_int_equal(tb_record_close(r, &error), TB_OK);
  assert_int_equal(tb_record_close(NULL, &error), TB_OK);  // nothing to finish
  tbSeries series;
  REFUSED(tb_series_read(NULL, w.m, "qpos", &series, &error), "path");
  REFUSED(tb_series_read(path, NULL, "qpos", &series, &error), "model");
  REFUSED(tb_series_read(path, w.m, NULL, &series, &error), "field");
  REFUSED(tb_series_read(path, w.m, "qpoz", &series, &error), "qpoz");
  REFUSED(tb_series_read(path, w.m, "qpos", NULL, &error), "series");
  assert_int_equal(tb_series_row(NULL, 1, 0.1), -1);
  tb_series_free(NULL);
  remove(path);

  tbReal norm;
  REFUSED(tb_internal_force(NULL, w.d, NULL, &norm, &error), "model");
  REFUSED(tb_internal_force(w.m, NULL, NULL, &norm, &error), "data");
  REFUSED(tb_internal_force(w.m, other.d, NULL, &norm, &error), "model");
  REFUSED(tb_internal_force(w.m, w.d, NULL, NULL, &error), "norm");
  tbPath line = {v, 2, 1, 0.1}, bad = {v, 2, 1, NAN}, none = {NULL, 2, 1, 0.1};
  assert_true(isnan(tb_path_distance(NULL, &line, NULL)));
  assert_true(isnan(tb_path_distance(&line, NULL, NULL)));
  assert_true(isnan(tb_path_distance(&bad, &line, NULL)));
  assert_true(isnan(tb_path_distance(&line, &none, NULL)));

  tbWorldReport report;
  tb_report_clear(NULL);
  tb_report_clear(&report);
  tb_report_add(NULL, w.d);
  tb_report_add(&report, NULL);
  tb_report_merge(NULL, &report);
  tb_report_merge(&report, NULL);
  assert_int_equal(report.steps, 0);

  tbFclib* fclib = NULL;
  REFUSED(tb_fclib_of_problem(NULL, &fclib, &error), "problem");
  tb_world_free(w);
  tb_world_free(other);
  assert_int_equal(wrong, 0);
}

static void pictures(void** state) {
  (void)state;
  wrong = 0;
  tbWorld w = tb_world_text(ARM), other = tb_world_scene("drop.xml", NULL);
  tb_world_run(w, 1);
  NOTHING(tb_renderer_new(0, 10, &error), "width");
  NOTHING(tb_renderer_new(10, TB_RENDER_MOST_PIXELS + 1, &error), "height");
  tbRenderer* r = tb_renderer_new(8, 8, &error);
  static unsigned char rgb[3 * 8 * 8];
  tbRenderWorld world = {.data = w.d}, empty = {.data = NULL}, foreign = {.data = other.d};
  REFUSED(tb_render(NULL, w.m, &world, 1, NULL, NULL, rgb, &error), "renderer");
  REFUSED(tb_render(r, NULL, &world, 1, NULL, NULL, rgb, &error), "model");
  REFUSED(tb_render(r, w.m, NULL, 1, NULL, NULL, rgb, &error), "worlds");
  REFUSED(tb_render(r, w.m, &world, 0, NULL, NULL, rgb, &error), "count");
  REFUSED(tb_render(r, w.m, &empty, 1, NULL, NULL, rgb, &error), "worlds[0]");
  REFUSED(tb_render(r, w.m, &foreign, 1, NULL, NULL, rgb, &error), "worlds[0]");
  REFUSED(tb_render(r, w.m, &world, 1, NULL, NULL, NULL, &error), "rgb");
  tbCamera camera = tbDefaultCamera();
  camera.id = 3;
  REFUSED(tb_render(r, w.m, &world, 1, &camera, NULL, rgb, &error), "camera");
  camera = tbDefaultCamera();
  camera.fovy = 180;
  REFUSED(tb_render(r, w.m, &world, 1, &camera, NULL, rgb, &error), "fovy");
  camera = tbDefaultCamera();
  camera.distance = NAN;
  REFUSED(tb_render(r, w.m, &world, 1, &camera, NULL, rgb, &error), "distance");
  camera = tbDefaultCamera();
  camera.azimuth = INFINITY;
  REFUSED(tb_render(r, w.m, &world, 1, &camera, NULL, rgb, &error), "azimuth");
  tbRenderOptions options = {.force_scale = NAN};
  REFUSED(tb_render(r, w.m, &world, 1, NULL, &options, rgb, &error), "force_scale");
  world.trail = v;
  world.trail_count = -3;
  REFUSED(tb_render(r, w.m, &world, 1, NULL, NULL, rgb, &error), "trail_count");
  tb_renderer_free(r);
  tb_renderer_free(NULL);
  assert_true(tb_force_scale(NULL, w.d) == 0 && tb_force_scale(w.m, NULL) == 0);
  tbCameraFit fit = tb_camera_fit_begin(NULL, 8, 8);
  tb_camera_fit_add(NULL, w.m, w.d, 0);
  tb_camera_fit_add(&fit, NULL, w.d, 0);
  tb_camera_fit_add(&fit, w.m, NULL, 0);
  (void)tb_camera_fit_end(&fit);
  (void)tb_camera_fit_end(NULL);
  tb_render_colour(-3, rgb);
  tb_render_colour(0, NULL);
  NOTHING(tb_png_open(NULL, 8, 8, 1, 0, &error), "path");
  NOTHING(tb_png_open("x.png", 0, 8, 1, 0, &error), "width");
  NOTHING(tb_png_open("x.png", 8, -8, 1, 0, &error), "height");
  NOTHING(tb_png_open("x.png", 8, 8, 0, 0, &error), "frames");
  NOTHING(tb_png_open("x.png", 8, 8, 2, -1, &error), "delay");
  REFUSED(tb_png_frame(NULL, rgb, &error), "png");
  assert_int_equal(tb_png_close(NULL), 0);
  tb_world_free(w);
  tb_world_free(other);
  assert_int_equal(wrong, 0);
}

// ---- completeness ------------------------------------------------------------------------------

static char* read_text(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) fail_msg("%s is not there", path);
  char* text = calloc(1, 1 << 20);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

static bool has_word(const char* text, const char* word) {
  size_t n = strlen(word);
  for (const char* at = text; (at = strstr(at, word)); at += n) {
    if (!isalnum((unsigned char)at[n]) && at[n] != '_') return true;
  }
  return false;
}

// A function that is added to one of these headers is missed here.
static void every_function_is_above(void** state) {
  (void)state;
  static const char* const HEADERS[] = {"contact", "named",  "query",   "batch", "spec",
                                        "record",  "render", "measure", "report"};
  char* here = read_text(TB_TEST_DIR "/misuse/test_arguments.c");
  int functions = 0, missed = 0;
  for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/../include/tribo/%s.h", TB_TEST_DIR, HEADERS[i]);
    char* text = read_text(path);
    for (char* at = text; (at = strstr(at, "TB_API ")); at++) {
      char *open = strchr(at, '('), *name = open;
      while (isalnum((unsigned char)name[-1]) || name[-1] == '_') name--;
      *open = 0;
      functions++;
      // The structs of specs are all of one macro: tb_spec_get_##kind.
      if (!has_word(here, name) && name[-1] != '#') {
        print_error("%s.h: %s is not tested with wrong arguments\n", HEADERS[i], name);
        missed++;
      }
      at = open;
    }
    free(text);
  }
  free(here);
  print_message("%d functions\n", functions);
  assert_int_equal(missed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_and_names),
      cmocka_unit_test(queries),
      cmocka_unit_test(batches),
      cmocka_unit_test(specs),
      cmocka_unit_test(recordings_and_measures),
      cmocka_unit_test(pictures),
      cmocka_unit_test(every_function_is_above),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
