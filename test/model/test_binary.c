// Compiled models as files: exact round trips, and truncated, modified or malicious files.
#include <unistd.h>

#include "common/test.h"
#include "model/binary.h"
#include "model/model.h"
#include "tribo/tribo.h"

// A model with a bit of everything; `n` changes its shape.
static tbModel* make(int n) {
  char* text = malloc(1 << 16);
  char* at = text;
  at += sprintf(
      at,
      "<mujoco model='m%d'><asset><mesh name='t' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1'/><hfield "
      "name='h' nrow='3' ncol='4' size='1 1 .1 .1'/></asset><worldbody><geom name='floor' "
      "type='plane' size='1 1 1'/><geom type='hfield' hfield='h'/>",
      n);
  for (int i = 0; i < n; i++) {
    at +=
        sprintf(at,
                "<body name='b%d' pos='0 0 %d'>%s<geom name='g%d' type='%s' size='.1 .1 .1'/><site "
                "name='s%d'/><body pos='.1 0 0'><joint name='h%d' range='-1 1' damping='.1'/><geom "
                "type='mesh' mesh='t'/><site name='q%d'/></body></body>",
                i, i + 1, i % 2 ? "<freejoint/>" : "<joint type='ball'/>", i,
                i % 3 ? "box" : "cylinder", i, i, i);
  }
  at += sprintf(at, "<body mocap='true'><geom size='.1'/></body></worldbody>");
  if (n > 0) {
    at += sprintf(
        at,
        "<contact><pair geom1='floor' geom2='g0'/></contact><tendon><fixed name='f'><joint "
        "joint='h0' coef='1'/></fixed><spatial name='s'><site site='s0'/><site site='q0'/>"
        "</spatial></tendon><actuator><motor joint='h0'/><general tendon='s' "
        "dyntype='filter'/></actuator><sensor><gyro site='s0'/><tendonpos tendon='s'/></sensor>"
        "<equality><weld body1='b0'/></equality><custom><text name='t' data='hello'/>"
        "</custom><keyframe><key name='k'/></keyframe>");
  }
  sprintf(at, "</mujoco>");
  tbError error = {0};
  tbModel* model = tb_load_string(text, NULL, NULL, &error);
  free(text);
  if (!model) fail_msg("%s", error.message);
  return model;
}

static unsigned char* pack(const tbModel* model, size_t* size) {
  *size = tb_model_binary_size(model);
  unsigned char* bytes = malloc(*size);
  tb_model_write(model, bytes);
  return bytes;
}

static void set_checksum(unsigned char* bytes, size_t size) {
  uint64_t checksum = tb_model_checksum(bytes, size);
  memcpy(bytes + 32, &checksum, sizeof checksum);
}

static void test_round_trip(void** state) {
  (void)state;
  for (int n = 0; n < 8; n++) {
    tbModel* model = make(n);
    tbError error = {0};
    size_t size, again_size;
    unsigned char* bytes = pack(model, &size);
    tbModel* copy = tb_model_load_binary(bytes, size, &error);
    if (!copy) fail_msg("%s", error.message);
    unsigned char* again = pack(copy, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    // Field by field, through the lists and not the writer.
    TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what)                                               \
  if ((rows) * (columns) > 0) {                                                                \
    assert_memory_equal(model->name, copy->name, (size_t)((rows) * (columns)) * sizeof(type)); \
  }
    TB_MODEL_ARRAYS(X)
#undef X
    assert_memory_equal(&model->opt, &copy->opt, sizeof model->opt);
    // And it simulates the same.
    tbData *one = tb_data_new(model), *two = tb_data_new(copy);
    for (int i = 0; i < 5; i++) {
      assert_int_equal(tb_step(model, one), tb_step(copy, two));
      assert_memory_equal(one->qpos, two->qpos, (size_t)model->nq * sizeof(tbReal));
    }
    tb_data_free(one);
    tb_data_free(two);
    tb_model_free(copy);
    tb_model_free(model);
    free(bytes);
    free(again);
  }
}

static void test_file(void** state) {
  (void)state;
  char path[] = "/tmp/tribo_model_XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  tbModel* model = make(2);
  tbError error = {0};
  assert_int_equal(tb_model_save(model, path, &error), TB_OK);
  tbModel* copy = tb_load(path, NULL, &error);
  if (!copy) fail_msg("%s", error.message);
  assert_string_equal(tb_id2name(copy, TB_OBJ_BODY, 1), "b0");
  assert_int_equal(tb_model_save(model, "/no/such/folder/m.tbm", &error), TB_ERROR_FILE);
  tb_model_free(copy);
  tb_model_free(model);
  remove(path);
}

// Every word of every option survives, those of other laws included; a number that no word stands
// for does not.
static void test_choices(void** state) {
  (void)state;
  tbModel* model = make(1);
  tbOption standard = model->opt;
  int* const CHOICE[] = {&model->opt.integrator, &model->opt.law,      &model->opt.solver,
                         &model->opt.cone,       &model->opt.mjsolver, &model->opt.jacobian};
  const int COUNT[] = {
      TB_INTEGRATOR_EULER_IMPLICIT + 1, TB_STEP_LAW_COUNT,   TB_SOLVER_COUNT, TB_CONE_ELLIPTIC + 1,
      TB_MJSOLVER_NEWTON + 1,           TB_JACOBIAN_AUTO + 1};
  for (int k = 0; k < 6; k++) {
    for (int value = -1; value <= COUNT[k]; value++) {
      model->opt = standard;
      *CHOICE[k] = value;
      size_t size;
      tbError error = {0};
      unsigned char* bytes = pack(model, &size);
      tbModel* copy = tb_model_load_binary(bytes, size, &error);
      if (value >= 0 && value < COUNT[k] && !copy) fail_msg("%s", error.message);
      if ((value < 0 || value == COUNT[k]) && copy) fail_msg("choice %d is %d", k, value);
      tb_model_free(copy);
      free(bytes);
    }
  }
  tb_model_free(model);
}

// A file cut at any length is an error, with and without a checksum that fits.
static void test_truncation(void** state) {
  (void)state;
  tbModel* model = make(1);
  size_t size;
  unsigned char* bytes = pack(model, &size);
  for (size_t cut = 0; cut < size; cut += cut < 600 || cut + 600 > size ? 1 : 37) {
    tbError error = {0};
    unsigned char* part = malloc(cut + 1);
    memcpy(part, bytes, cut);
    assert_null(tb_model_load_binary(part, cut, &error));
    assert_true(error.code != TB_OK && error.message[0]);
    if (cut >= TB_BINARY_HEADER) {
      uint64_t payload = cut - TB_BINARY_HEADER;
      memcpy(part + 24, &payload, sizeof payload);
      set_checksum(part, cut);
      assert_null(tb_model_load_binary(part, cut, &error));
    }
    free(part);
  }
  // Bytes behind the end are no part of a model either.
  unsigned char* longer = calloc(1, size + 8);
  memcpy(longer, bytes, size);
  uint64_t payload = size + 8 - TB_BINARY_HEADER;
  memcpy(longer + 24, &payload, sizeof payload);
  set_checksum(longer, size + 8);
  assert_null(tb_model_load_binary(longer, size + 8, NULL));
  free(longer);
  free(bytes);
  tb_model_free(model);
}

static void test_header(void** state) {
  (void)state;
  tbModel* model = make(1);
  size_t size;
  unsigned char* bytes = pack(model, &size);
  static const struct {
    int at;
    tbResult code;
    const char* words;
  } PLACES[] = {{0, TB_ERROR_PARSE, "not a compiled"},    {8, TB_ERROR_UNSUPPORTED, "version"},
                {12, TB_ERROR_UNSUPPORTED, "byte order"}, {16, TB_ERROR_UNSUPPORTED, "version"},
                {24, TB_ERROR_PARSE, "truncated"},        {32, TB_ERROR_PARSE, "checksum"},
                {200, TB_ERROR_PARSE, "checksum"}};
  for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
    tbError error = {0};
    bytes[PLACES[i].at] ^= 1;
    assert_null(tb_model_load_binary(bytes, size, &error));
    assert_int_equal(error.code, PLACES[i].code);
    assert_non_null(strstr(error.message, PLACES[i].words));
    bytes[PLACES[i].at] ^= 1;
  }
  free(bytes);
  tb_model_free(model);
}

// Changes at random, with a checksum that fits: an error or a model that can be used.
static void test_changes(void** state) {
  (void)state;
  tbModel* model = make(3);
  size_t size;
  unsigned char *bytes = pack(model, &size), *copy = malloc(size);
  tbRng rng = {11};
  static const int VALUES[] = {-1, 0, 1, 2, 7, 1000, 0x7fffffff, -2147483647};
  int accepted = 0;
  for (int trial = 0; trial < 20000; trial++) {
    memcpy(copy, bytes, size);
    // One or a few places: a bit, a byte, or a whole number.
    for (int k = 1 + tb_rng_int(&rng, 3); k > 0; k--) {
      size_t at = TB_BINARY_HEADER + tb_rng_next(&rng) % (size - TB_BINARY_HEADER - 4);
      switch (tb_rng_int(&rng, 3)) {
        case 0: copy[at] ^= (unsigned char)(1 << tb_rng_int(&rng, 8)); break;
        case 1: copy[at] = (unsigned char)tb_rng_int(&rng, 256); break;
        default: memcpy(copy + at / 4 * 4, &VALUES[tb_rng_int(&rng, 8)], 4); break;
      }
    }
    set_checksum(copy, size);
    tbModel* changed = tb_model_load_binary(copy, size, NULL);
    if (!changed) continue;
    accepted++;
    if (accepted % 10 == 0) {
      tbData* data = tb_data_new(changed);
      assert_non_null(data);
      (void)tb_step(changed, data);
      tb_data_free(data);
    }
    tb_model_free(changed);
  }
  print_message("%d of 20000 changed models were still sound\n", accepted);
  assert_true(accepted > 100);
  free(copy);
  free(bytes);
  tb_model_free(model);
}

// Every whole-number field of every kind, set out of its range, is found.
static void test_indices(void** state) {
  (void)state;
  tbModel* model = make(3);
  assert_int_equal(tb_model_check(model, NULL), TB_OK);
  struct {
    const char* name;
    int* at;
    int value;
  } cases[] = {
      {"body_parentid", &model->body_parentid[2], 5},
      {"body_jntadr", &model->body_jntadr[1], 99},
      {"jnt_bodyid", &model->jnt_bodyid[0], 0},
      {"jnt_type", &model->jnt_type[1], 4},
      {"dof_parentid", &model->dof_parentid[3], 7},
      {"M_colind", &model->M_colind[1], -1},
      {"geom_type", &model->geom_type[0], 8},
      {"geom_dataid", &model->geom_dataid[3], 1},
      {"geom_condim", &model->geom_condim[0], 2},
      {"site_bodyid", &model->site_bodyid[0], -1},
      {"mesh_face", &model->mesh_face[0], 4},
      {"hull_edge", &model->hull_edge[0], 4},
      {"hull_polyadj", &model->hull_polyadj[0], 4},
      {"mesh_hullguess", &model->mesh_hullguess[0], 4},
      {"hfield_nrow", &model->hfield_nrow[0], 1 << 20},
      {"pair_geom1", &model->pair_geom1[0], model->ngeom},
      {"eq_obj1id", &model->eq_obj1id[0], model->nbody},
      {"wrap_objid", &model->wrap_objid[1], 1000},
      {"wrap_type", &model->wrap_type[1], 5},
      {"tendon_adr", &model->tendon_adr[1], 2},
      {"Jten_colind", &model->Jten_colind[0], model->nv},
      {"actuator_trnid", &model->actuator_trnid[2], 2},
      {"actuator_actadr", &model->actuator_actadr[1], 1},
      {"sensor_objid", &model->sensor_objid[0], model->nsite},
      {"sensor_dim", &model->sensor_dim[0], 4},
      {"sensor_adr", &model->sensor_adr[1], 4},
      {"text_size", &model->text_size[0], 100},
      {"name_bodyadr", &model->name_bodyadr[1], model->nnames},
      {"body_mocapid", &model->body_mocapid[model->nbody - 1], 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int keep = *cases[i].at;
    tbError error = {0};
    *cases[i].at = cases[i].value;
    tbResult result = tb_model_check(model, &error);
    if (result == TB_OK) print_error("%s was not found\n", cases[i].name);
    assert_int_equal(result, TB_ERROR_MODEL);
    assert_true(error.message[0] != 0);
    *cases[i].at = keep;
  }
  model->body_quat[4] = 0.5;
  assert_int_equal(tb_model_check(model, NULL), TB_ERROR_MODEL);
  model->body_quat[4] = NAN;
  assert_int_equal(tb_model_check(model, NULL), TB_ERROR_MODEL);
  tb_model_free(model);
}

// A ball of 300 points has cells of directions. They name vertices, or the file is refused.
static void test_cells(void** state) {
  (void)state;
  enum { POINTS = 300 };
  static char xml[POINTS * 40 + 400];
  const double golden = 2.399963229728653;
  int n = snprintf(xml, sizeof xml, "<mujoco><asset><mesh name='ball' vertex='");
  for (int i = 0; i < POINTS; i++) {
    double z = 1 - (2 * i + 1.0) / POINTS, r = sqrt(1 - z * z);
    n += snprintf(xml + n, sizeof xml - (size_t)n, "%.6f %.6f %.6f ", r * cos(golden * i),
                  r * sin(golden * i), z);
  }
  snprintf(xml + n, sizeof xml - (size_t)n,
           "'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='ball'/></body>"
           "</worldbody></mujoco>");
  tbError error = {0};
  tbModel* model = tb_load_string(xml, NULL, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  int side = model->mesh_hullside[0], half = model->nhullcell / 2;
  assert_int_equal(model->nhullcell, TB_NCELL * 6 * side * side);
  assert_true(side > 0);
  tbRng rng = {5};
  for (int trial = 0; trial < 400; trial++) {
    bool rest = trial % 2;
    int at = tb_rng_int(&rng, half / 4) * 4;
    if (rest && model->hull_cell[half + at] == UINT16_MAX) continue;
    uint16_t *entry = &model->hull_cell[(rest ? half : 0) + at + tb_rng_int(&rng, 4)],
             keep = *entry;
    *entry = POINTS;
    assert_int_equal(tb_model_check(model, &error), TB_ERROR_MODEL);
    *entry = keep;
  }
  assert_int_equal(tb_model_check(model, &error), TB_OK);
  for (int wrong = -1; wrong < 1 << 20; wrong += 1 << 19) {
    model->mesh_hullside[0] = wrong == -1 ? -1 : side + 1 + wrong;
    assert_int_equal(tb_model_check(model, &error), TB_ERROR_MODEL);
  }
  model->mesh_hullside[0] = side;
  model->mesh_hullcelladr[0] = 4;
  assert_int_equal(tb_model_check(model, &error), TB_ERROR_MODEL);
  tb_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_file),
      cmocka_unit_test(test_choices),    cmocka_unit_test(test_truncation),
      cmocka_unit_test(test_header),     cmocka_unit_test(test_changes),
      cmocka_unit_test(test_indices),    cmocka_unit_test(test_cells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
