// Integers of a model that were changed after loading: tb_model_check refuses the model, or it
// still is one that steps without reading outside of an array.
#include <limits.h>
#include <unistd.h>

#include "common/test.h"
#include "model/model.h"
#include "tribo/tribo.h"

// Something of everything that an integer of a model refers to.
static const char MODEL[] =
    "<mujoco><option timestep='0.002'/><custom><numeric name='n' data='1 2'/><text name='t' "
    "data='x'/><tuple name='u'><element objtype='body' objname='arm'/></tuple></custom>"
    "<asset><mesh name='tetra' vertex='0 0 0 0.2 0 0 0 0.2 0 0 0 0.2'/>"
    "<mesh name='wedge' vertex='0 0 0 0.2 0 0 0 0.2 0 0 0 0.2 0.1 0.1 0.1 0.2 0.2 0'/>"
    "<hfield name='hills' nrow='3' ncol='4' size='2 2 0.1 0.1' "
    "elevation='0 1 0 0 1 0 1 0 0 0 1 1'/></asset>"
    "<worldbody><geom name='ground' type='hfield' hfield='hills' pos='0 0 -0.3'/>"
    "<geom type='plane' size='5 5 1' pos='0 0 -0.4'/><camera name='c'/><light name='l'/>"
    "<site name='origin'/><body name='hand' mocap='true' pos='0 0 3'><geom size='0.05' "
    "contype='0' conaffinity='0'/></body>"
    "<body name='cube' pos='1 0 0.1'><freejoint name='free'/><geom name='cube' type='box' "
    "size='0.1 0.1 0.1'/><site name='top'/></body>"
    "<body name='stone' pos='-1 0 0.2'><freejoint/><geom type='mesh' mesh='tetra'/></body>"
    "<body name='wedge' pos='-1 1 0.2'><freejoint/><geom type='mesh' mesh='wedge'/></body>"
    "<body name='arm' pos='0 0 1'><joint name='shoulder' type='ball' damping='0.1'/>"
    "<geom name='upper' type='capsule' size='0.05' fromto='0 0 0 0.3 0 0'/><site name='s1' "
    "pos='0.1 0 0.1'/><body name='fore' pos='0.3 0 0'><joint name='elbow' axis='0 1 0' "
    "limited='true' range='-60 60' frictionloss='0.1'/><geom name='lower' type='cylinder' "
    "size='0.05 0.1'/><site name='s2' pos='0.2 0 0.1'/><camera mode='targetbody' target='cube'/>"
    "<body name='tip' pos='0.2 0 0'><joint name='wrist' type='slide' axis='1 0 0'/>"
    "<joint name='turn' axis='1 0 0'/><geom name='tip' type='ellipsoid' size='0.05 0.04 0.03'/>"
    "</body></body></body></worldbody>"
    "<contact><pair geom1='tip' geom2='cube' condim='4'/><exclude body1='arm' body2='fore'/>"
    "</contact>"
    "<equality><connect body1='stone' anchor='0 0 0' active='false'/><weld body1='hand' "
    "body2='wedge'/><joint joint1='elbow' joint2='turn'/><tendon tendon1='pull' tendon2='rod'/>"
    "</equality>"
    "<tendon><spatial name='pull' limited='true' range='0 1'><site site='s1'/><geom geom='lower' "
    "sidesite='top'/><site site='s2'/><pulley divisor='2'/><site site='s1'/><site site='origin'/>"
    "</spatial><fixed name='rod' stiffness='1'><joint joint='elbow' coef='1'/><joint joint='turn' "
    "coef='2'/></fixed></tendon>"
    "<actuator><motor name='motor' joint='elbow'/><position joint='shoulder' kp='1' gear='1 0 "
    "0'/><general "
    "tendon='pull' dyntype='filter' dynprm='0.1'/><muscle joint='turn' lengthrange='0 1'/>"
    "<general site='s2' refsite='origin'/><general cranksite='s1' slidersite='s2' "
    "cranklength='0.5'/><adhesion body='tip' ctrlrange='0 1'/><intvelocity joint='wrist' kp='1' "
    "actrange='-1 1'/></actuator>"
    "<sensor><touch site='top'/><accelerometer site='s2'/><force site='s2'/><rangefinder "
    "site='s1'/><camprojection site='s1' camera='c'/><jointpos joint='elbow'/><tendonpos "
    "tendon='pull'/><actuatorfrc actuator='motor'/><ballquat joint='shoulder'/><jointlimitfrc "
    "joint='elbow'/><tendonlimitpos tendon='pull'/><framepos objtype='geom' objname='tip' "
    "reftype='site' refname='s1'/><framelinacc objtype='body' objname='cube'/><subtreecom "
    "body='arm'/><insidesite objtype='body' objname='cube' site='top'/><distance geom1='cube' "
    "geom2='tip'/><contact geom1='cube' data='found force' num='2'/><clock/></sensor>"
    "<keyframe><key name='k' ctrl='1 0 0 0 0 0 0 0'/></keyframe></mujoco>";

static tbModel* load(void) {
  tbError error;
  tbModel* m = tb_load_string(MODEL, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

static void steps(const tbModel* m) {
  tbData* d = tb_data_new(m);
  assert_non_null(d);
  if (m->nkey) tb_reset_keyframe(m, d, 0);
  for (int i = 0; i < 10 && tb_step(m, d) == TB_OK; i++) continue;
  for (int i = 0; i < m->nbody; i++) tb_id2name(m, TB_OBJ_BODY, i);
  tb_data_free(d);
}

typedef struct {
  int refused, passed;
} Count;

// One entry changed: refused, or steps that a sanitizer finds nothing in.
static void change(tbModel* m, const char* name, int* entry, int value, Count* count) {
  int before = *entry;
  if (value == before) return;
  *entry = value;
  tbError error = {TB_OK, "OLD"};
  tbResult result = tb_model_check(m, &error);
  if (result == TB_OK) {
    m->opt.law = count->passed++ % TB_STEP_LAW_COUNT;
    steps(m);
  } else {
    count->refused++;
    assert_int_equal(result, TB_ERROR_MODEL);
    if (strncmp(error.message, "model: ", 7) != 0) fail_msg("%s: %s", name, error.message);
  }
  *entry = before;
}

static void change_all(tbModel* m, const char* name, int* a, int64_t n, Count* count) {
  // Up to 16 entries of an array, spread over it.
  int64_t stride = n > 16 ? n / 16 : 1;
  for (int64_t i = 0; i < n; i += stride) {
    const int other = n > 1 ? a[(i + 1) % n] : a[i] + 1;
    const int values[] = {-1, INT_MAX, INT_MIN, other, a[i] + 1, 1 << 20};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
      change(m, name, &a[i], values[k], count);
    }
  }
}

static void every_integer_of_every_array(void** state) {
  (void)state;
  tbModel* model = load();
  Count count = {0, 0};
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what)                                             \
  if (strcmp(#type, "int") == 0) {                                                           \
    change_all(model, #name, (int*)(void*)model->name, (int64_t)(rows) * (columns), &count); \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  // Whatever passes is a model that differs in something that nothing is addressed by.
  print_message("%d refused, %d passed\n", count.refused, count.passed);
  assert_true(count.refused > 3000 && count.passed > 100);
  assert_int_equal(tb_model_check(model, NULL), TB_OK);
  steps(model);
  tb_model_free(model);
}

static void every_size(void** state) {
  (void)state;
  tbModel* model = load();
  char path[200];
  snprintf(path, sizeof path, "%s/test_structure_%d.tbm", TB_BUILD_DIR, (int)getpid());
#define X(name, what)                                                    \
  for (int value = -1; value <= 1; value++) {                            \
    int before = model->name;                                            \
    model->name = value ? before + value : INT_MAX;                      \
    tbError error = {TB_OK, "OLD"};                                      \
    tbResult result = tb_model_check(model, &error);                     \
    if (result == TB_OK) fail_msg("%s = %d passed", #name, model->name); \
    assert_string_not_equal(error.message, "OLD");                       \
    assert_int_not_equal(tb_model_save(model, path, &error), TB_OK);     \
    model->name = before;                                                \
  }
  TB_MODEL_SIZES(X)
#undef X
  assert_int_equal(tb_model_check(model, NULL), TB_OK);
  tb_model_free(model);
}

static void saving_looks_first(void** state) {
  (void)state;
  tbModel* m = load();
  char path[200];
  snprintf(path, sizeof path, "%s/test_structure_%d.tbm", TB_BUILD_DIR, (int)getpid());
  tbError error = {TB_OK, "OLD"};
  m->body_parentid[2] = 100;
  assert_int_equal(tb_model_save(m, path, &error), TB_ERROR_MODEL);
  assert_non_null(strstr(error.message, "body_parentid"));
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(tb_model_check(NULL, &error), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "NULL"));
  tb_model_free(m);
}

// A debug build looks at the model before a step where its integers have changed.
static void debug_steps_look_too(void** state) {
  (void)state;
#ifdef NDEBUG
  skip();
#endif
  tbModel* m = load();
  tbData* d = tb_data_new(m);
  assert_int_equal(tb_step(m, d), TB_OK);
  int parent = m->body_parentid[3];
  m->body_parentid[3] = 1000;
  strcpy(d->message, "OLD");
  assert_int_equal(tb_step(m, d), TB_ERROR_MODEL);
  assert_non_null(strstr(d->message, "body_parentid"));
  m->body_parentid[3] = parent;
  int address = m->jnt_qposadr[1];
  m->jnt_qposadr[1] = -4;
  assert_int_equal(tb_forward(m, d), TB_ERROR_MODEL);
  assert_non_null(strstr(d->message, "jnt_qposadr"));
  m->jnt_qposadr[1] = address;
  assert_int_equal(tb_step(m, d), TB_OK);
  tb_data_free(d);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_integer_of_every_array), cmocka_unit_test(every_size),
      cmocka_unit_test(saving_looks_first), cmocka_unit_test(debug_steps_look_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
