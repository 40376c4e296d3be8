// Arrays of a model and of a world by their names: address, type and shape.
#include "common/worlds.h"

typedef struct {
  const char* name;
  const void* address;
  const char* type;
  int rows, columns;
} Field;

static void check(const Field* f, const void* found, const char* type, int rows, int columns) {
  if (found != f->address) fail_msg("%s is elsewhere", f->name);
  assert_string_equal(type, f->type);
  assert_int_equal(rows, f->rows);
  assert_int_equal(columns, f->columns);
}

static void arrays_have_their_shape(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("hand.xml", NULL);
  const tbModel* m = w.m;
  const Field of_model[] = {{"qpos0", m->qpos0, "real", m->nq, 1},
                            {"body_pos", m->body_pos, "real", m->nbody, 3},
                            {"geom_type", m->geom_type, "int", m->ngeom, 1},
                            {"geom_rgba", m->geom_rgba, "float", m->ngeom, 4},
                            {"actuator_gainprm", m->actuator_gainprm, "real", m->nu, TB_NGAIN},
                            {"hull_cell", m->hull_cell, "uint16_t", m->nhullcell, 1},
                            {"names", m->names, "char", m->nnames, 1}};
  const Field of_world[] = {{"qpos", w.d->qpos, "real", m->nq, 1},
                            {"xquat", w.d->xquat, "real", m->nbody, 4},
                            {"eq_active", w.d->eq_active, "int", m->neq, 1},
                            {"ctrl", w.d->ctrl, "real", m->nu, 1},
                            {"xfrc_applied", w.d->xfrc_applied, "real", m->nbody, 6}};
  const char* type;
  int rows, columns;
  for (size_t i = 0; i < sizeof of_model / sizeof *of_model; i++) {
    const void* found = tb_model_field(m, of_model[i].name, &type, &rows, &columns);
    check(&of_model[i], found, type, rows, columns);
  }
  for (size_t i = 0; i < sizeof of_world / sizeof *of_world; i++) {
    const void* found = tb_data_field(m, w.d, of_world[i].name, &type, &rows, &columns);
    check(&of_world[i], found, type, rows, columns);
  }
  tb_world_free(w);
}

static void what_is_not_wanted_or_not_there_is_null(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("stack.xml", NULL);
  assert_ptr_equal(tb_model_field(w.m, "qpos0", NULL, NULL, NULL), w.m->qpos0);
  assert_ptr_equal(tb_data_field(w.m, w.d, "qpos", NULL, NULL, NULL), w.d->qpos);
  assert_null(tb_model_field(w.m, "qpos", NULL, NULL, NULL));
  assert_null(tb_data_field(w.m, w.d, "qpos0", NULL, NULL, NULL));
  assert_null(tb_data_field(w.m, w.d, "", NULL, NULL, NULL));
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_have_their_shape),
      cmocka_unit_test(what_is_not_wanted_or_not_there_is_null),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
