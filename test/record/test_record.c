// Recordings and series: names of columns, round trips, and refused input.
#include "tribo/record.h"

#include "common/test.h"
#include "tribo/tribo.h"

static const char SCENE[] =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
    "<body name='ball' pos='0 0 0.1'><freejoint name='free'/><geom size='0.1'/></body>"
    "<body name='arm' pos='1 0 1'><joint name='a,\"b\"' damping='1'/>"
    "<geom size='0.05' fromto='0 0 0 0.3 0 0' type='capsule'/>"
    "<body pos='0.3 0 0'><joint axis='0 1 0' damping='1'/><geom size='0.1'/></body></body>"
    "</worldbody><actuator><motor name='first' joint='a,&quot;b&quot;'/>"
    "<motor joint='a,&quot;b&quot;'/></actuator>"
    "<sensor><framepos name='where' objtype='body' objname='ball'/><clock name='when'/></sensor>"
    "</mujoco>";

static tbModel* m;
static tbData* d;
static tbError error;

static int open_all(void** state) {
  (void)state;
  m = tb_load_string(&SCENE[0], NULL, NULL, &error);
  d = m ? tb_data_new(m) : NULL;
  return d ? 0 : -1;
}

static int close_all(void** state) {
  (void)state;
  tb_data_free(d);
  tb_model_free(m);
  return 0;
}

static const char* path_of(const char* name) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/test_record_%s", TB_BUILD_DIR, name);
  return path;
}

static void write_text(const char* path, const char* text) {
  FILE* f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

enum { STEPS = 300 };  // more than a chunk
static tbReal qpos[STEPS][9], ctrl[STEPS][2];

// Record some steps with varying controls, and keep their values.
static void record(const char* path, const char* what) {
  tbRecording* r = tb_record_open(path, m, what, &error);
  if (!r) fail_msg("%s", error.message);
  tb_reset(m, d);
  for (int i = 0; i < STEPS; i++) {
    d->ctrl[0] = sin(0.1 * i);
    d->ctrl[1] = 0.3 * cos(0.2 * i);
    assert_int_equal(tb_step(m, d), TB_OK);
    assert_int_equal(tb_record_append(r, m, d, &error), TB_OK);
    memcpy(qpos[i], d->qpos, sizeof qpos[i]);
    memcpy(ctrl[i], d->ctrl, sizeof ctrl[i]);
  }
  assert_int_equal(tb_record_close(r, &error), TB_OK);
}

static void assert_read_back(const char* path) {
  tbSeries s;
  if (tb_series_read(path, m, "qpos", &s, &error) != TB_OK) fail_msg("%s", error.message);
  assert_int_equal(s.rows, STEPS);
  assert_int_equal(s.width, 9);
  assert_memory_equal(s.value, qpos, sizeof qpos);
  assert_non_null(s.time);
  assert_near(s.time[STEPS - 1], STEPS * m->opt.timestep, 1e-9);
  tb_series_free(&s);
  assert_int_equal(tb_series_read(path, m, "ctrl", &s, &error), TB_OK);
  assert_memory_equal(s.value, ctrl, sizeof ctrl);
  tb_series_free(&s);
  assert_null(s.value);
}

static void columns_have_the_names_of_parts(void** state) {
  (void)state;
  const char* path = path_of("names.csv");
  record(path, "time,qpos,ctrl,sensordata,xpos,ncon,energy");
  char line[4096];
  FILE* f = fopen(path, "r");
  assert_non_null(fgets(line, sizeof line, f));
  fclose(f);
  static const char EXPECTED[] =
      "time,qpos:free:0,qpos:free:1,qpos:free:2,qpos:free:3,qpos:free:4,qpos:free:5,qpos:free:6,"
      "\"qpos:a,\"\"b\"\"\",qpos8,ctrl:first,ctrl1,sensordata:where:0,sensordata:where:1,"
      "sensordata:where:2,sensordata:when,xpos:world:0,xpos:world:1,xpos:world:2,xpos:ball:0,"
      "xpos:ball:1,xpos:ball:2,xpos:arm:0,xpos:arm:1,xpos:arm:2,xpos9,xpos10,xpos11,ncon,energy0,"
      "energy1\n";
  assert_string_equal(line, EXPECTED);
  assert_read_back(path);
  remove(path);
}

static void hdf5_is_read_back(void** state) {
  (void)state;
#ifdef TB_WITH_HDF5
  const char* path = path_of("rows.h5");
  record(path, TB_RECORD_DEFAULT ",contacts,eq_active");
  assert_read_back(path);
  remove(path);
#else
  skip();
#endif
}

// A row per contact whose forces add up to the weight of the ball at rest.
static void contacts_have_a_row_each(void** state) {
  (void)state;
  const char* path = path_of("contacts.csv");
  record(path, "contacts");
  char line[4096], last[4096] = "";
  FILE* f = fopen(path, "r");
  assert_non_null(fgets(line, sizeof line, f));
  assert_int_equal(strncmp(line, TB_RECORD_CONTACT, strlen(TB_RECORD_CONTACT)), 0);
  int rows = 0;
  for (; fgets(line, sizeof line, f); rows++) strcpy(last, line);
  fclose(f);
  assert_true(rows >= STEPS);
  double v[TB_RECORD_CONTACT_WIDTH];
  char* at = last;
  for (int i = 0; i < TB_RECORD_CONTACT_WIDTH; i++) v[i] = strtod(at, &at), at++;
  assert_near(v[0], STEPS * m->opt.timestep, 1e-9);
  assert_near(v[8], 1, 1e-6);                        // the normal points up
  assert_near(v[15], 9.81 * m->body_mass[1], 1e-3);  // world force on the ball
  assert_near(v[10], v[15], 1e-6);
  remove(path);
  assert_null(tb_record_open(path, m, "time,contacts", &error));
  assert_non_null(strstr(error.message, "file of their own"));
}

// ---- series ------------------------------------------------------------------------------------

static void a_row_holds_from_its_time_on(void** state) {
  (void)state;
  tbReal time[4] = {0.5, 0.6, 0.6, 1};
  tbSeries s = {.rows = 4, .width = 1, .time = time};
  const double at[][2] = {{-1, 0}, {0, 0}, {0.0999, 0}, {0.1, 2}, {0.4999, 2}, {0.5, 3}, {9, 3}};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    assert_int_equal(tb_series_row(&s, at[i][0], 1e-3), (int)at[i][1]);
  }
  s.time = NULL;
  assert_int_equal(tb_series_row(&s, 0, 0.1), 0);
  assert_int_equal(tb_series_row(&s, 3 * 0.1, 0.1), 3);
  assert_int_equal(tb_series_row(&s, 0.25, 0.1), 2);
  assert_int_equal(tb_series_row(&s, 1e300, 0.1), 3);
  s.rows = 0;
  assert_int_equal(tb_series_row(&s, 0, 0.1), -1);
}

static void controls_by_name_or_in_order(void** state) {
  (void)state;
  static const char* const TEXT[] = {
      "1,2\n3,4\n", "first, ctrl1\n1,2\n\n3,4\n", "ctrl1,x,first\n2,9,1\n4,,3\n",
      "\"ctrl:first\",ctrl1\r\n1,2\r\n3,4\r\n", "ctrl0,ctrl1\n1,2\n3,4"};
  const char* path = path_of("controls.csv");
  for (size_t i = 0; i < sizeof TEXT / sizeof *TEXT; i++) {
    tbSeries s;
    write_text(path, TEXT[i]);
    if (tb_series_read(path, m, "ctrl", &s, &error) != TB_OK) {
      fail_msg("%zu: %s", i, error.message);
    }
    assert_int_equal(s.rows, 2);
    assert_null(s.time);
    for (int k = 0; k < 4; k++) assert_near(s.value[k], k + 1, 0);
    tb_series_free(&s);
  }
  remove(path);
}

static void bad_files_say_what_was_expected(void** state) {
  (void)state;
  static const struct {
    const char *name, *text, *says;
  } BAD[] = {
      {"a.csv", "", "is empty"},
      {"a.csv", "ctrl0,ctrl1\n", "has no rows"},
      {"a.csv", "1,2,3\n", "3 columns of numbers, expected 2"},
      {"a.csv", "first\n1\n", "has no column ctrl1 (every value needs one)"},
      {"a.csv", "frist,ctrl1\n1,2\n", "has no column ctrl:first (nearest: 'frist')"},
      {"a.csv", "ctrl0,ctrl1,ctrl2\n1,2,3\n", "more columns"},
      {"a.csv", "ctrl0,ctrl1\n1,2\n1,nan\n", ":3: has a line that is not finite numbers"},
      {"a.csv", "ctrl0,ctrl1\n1\n", "finite numbers"},
      {"a.csv", "ctrl0,ctrl1\n1,2x\n", "finite numbers"},
      {"a.csv", "time,ctrl0,ctrl1\n1,1,2\n0,1,2\n", "times that decrease"},
      {"a.npy", "no numpy", "a.npy"},
      {"a.h5", "no hdf5", "a.h5"},
      {"a.what", "1,2\n", "expected a file .csv, .npy, .h5"},
  };
  tbSeries s;
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    const char* path = path_of(BAD[i].name);
    write_text(path, BAD[i].text);
    error.message[0] = 0;
    assert_int_not_equal(tb_series_read(path, m, "ctrl", &s, &error), TB_OK);
    if (!strstr(error.message, BAD[i].says)) fail_msg("%s", error.message);
    assert_true(!s.value && !s.time && s.rows == 0);
    remove(path);
  }
  assert_int_equal(tb_series_read("/nonexistent.csv", m, "ctrl", &s, &error), TB_ERROR_FILE);
  assert_int_equal(tb_series_read(TB_BUILD_DIR, m, "ctrl", &s, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_series_read("a.csv", m, "xpos", &s, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_series_read(NULL, m, "ctrl", &s, NULL), TB_ERROR_ARGUMENT);
}

// numpy's format: magic, version, a header of 118 bytes, then the numbers.
static void numpy_arrays_are_read(void** state) {
  (void)state;
  const char* path = path_of("controls.npy");
  const double values[6] = {1, 2, 3, 4, 5, 6};
  for (int columns = 2; columns <= 3; columns++) {
    FILE* f = fopen(path, "wb");
    char header[119];
    snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }",
             6 / columns, columns);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%-117s\n", header);
    fwrite(values, sizeof *values, 6, f);
    fclose(f);
    tbSeries s;
    tbResult result = tb_series_read(path, m, "ctrl", &s, &error);
    if (columns == 2) {
      if (result != TB_OK) fail_msg("%s", error.message);
      assert_int_equal(s.rows, 3);
      for (int k = 0; k < 6; k++) assert_near(s.value[k], values[k], 0);
    } else {
      assert_int_equal(result, TB_ERROR_PARSE);
      assert_non_null(strstr(error.message, "rows x 2 (ctrl)"));
    }
    tb_series_free(&s);
  }
  remove(path);
}

static void what_cannot_be_recorded_is_named(void** state) {
  (void)state;
  const char* path = path_of("x.csv");
  assert_null(tb_record_open(path, m, "sensrdata", &error));
  assert_non_null(strstr(error.message, "did you mean 'sensordata'"));
  assert_null(tb_record_open(path, m, "scratch_nv", &error));
  assert_null(tb_record_open(path, m, ",", &error));
  assert_null(tb_record_open("x.what", m, NULL, &error));
  assert_non_null(strstr(error.message, ".csv, .h5 or .hdf5"));
  assert_null(tb_record_open(NULL, m, NULL, &error));
  assert_int_equal(tb_record_append(NULL, m, d, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_record_close(NULL, &error), TB_OK);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_have_the_names_of_parts),
      cmocka_unit_test(hdf5_is_read_back),
      cmocka_unit_test(contacts_have_a_row_each),
      cmocka_unit_test(a_row_holds_from_its_time_on),
      cmocka_unit_test(controls_by_name_or_in_order),
      cmocka_unit_test(bad_files_say_what_was_expected),
      cmocka_unit_test(numpy_arrays_are_read),
      cmocka_unit_test(what_cannot_be_recorded_is_named),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
