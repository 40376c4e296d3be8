// A model built, changed, attached to another, compiled, recompiled with its state, and written.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tribo/tribo.h>

static tbError error;

// A ball above a floor.
static tbSpec* build(void) {
  tbSpec* spec = tb_spec_create();
  tb_spec_add_xml(tb_spec_world(spec), "<geom type='plane' size='1 1 1'/>", &error);
  tbElement* ball = tb_spec_add(tb_spec_world(spec), "body", "ball", &error);
  tb_spec_set(ball, "pos", "0 0 1", &error);
  tb_spec_add(ball, "freejoint", "ball", &error);
  const tbReal radius = 0.1;
  tb_spec_set_reals(tb_spec_add(ball, "geom", "ball", &error), "size", &radius, 1, &error);
  return spec;
}

// The ball becomes twice as large, and smoother, in the middle of a run: the state is carried over.
static int change(tbSpec* spec, tbModel** model, tbData** data) {
  tbElement* geom = tb_spec_find(spec, "geom", "ball", &error);
  tbSpecGeom values;
  if (tb_spec_get_geom(geom, &values, &error) != TB_OK) return 0;
  values.size[0] *= 2;
  values.friction[0] = 0.3;
  if (tb_spec_set_geom(geom, &values, &error) != TB_OK) return 0;
  printf("size is now %s m\n", tb_spec_get(geom, "size"));
  return tb_spec_recompile(spec, model, data, &error) == TB_OK;
}

// Two copies of an arm from a file, at two places of the world.
static int attach(tbSpec* spec) {
  tbSpec* arm = tb_spec_load("scenes/arm.xml", NULL, &error);
  tbElement* base = tb_spec_find(arm, "body", "base", &error);
  const char* const PLACES[][2] = {{"left_", "0 1 0"}, {"right_", "0 -1 0"}};
  int good = 1;
  for (int i = 0; i < 2; i++) {
    tbElement* place = tb_spec_add(tb_spec_world(spec), "frame", NULL, &error);
    tb_spec_set(place, "pos", PLACES[i][1], &error);
    good = good && tb_spec_attach(place, base, PLACES[i][0], NULL, &error) != NULL;
  }
  tb_spec_free(arm);
  return good;
}

// Walk over a copy, and take something out of it.
static int walk(const tbSpec* spec) {
  tbSpec* copy = tb_spec_copy(spec, &error);
  tbElement *at = tb_spec_first(tb_spec_world(copy)), *next;
  for (; at; at = next) {
    tbReal pos[3];
    next = tb_spec_next(at);
    printf("<%s> %s\n", tb_spec_tag(at), tb_spec_get_reals(at, "pos", pos, 3) == 3 ? "moved" : "");
    if (strcmp(tb_spec_tag(at), "body") == 0) tb_spec_delete(at, &error);
  }
  char* text = tb_spec_save_xml(copy, &error);
  tbSpec* again = tb_spec_load_xml(text, NULL, NULL, &error);
  int good = tb_spec_equal(again, copy) && !tb_spec_equal(again, spec);
  tb_text_free(text);
  tb_spec_free(again);
  tb_spec_free(copy);
  return good;
}

// A mistake is refused when it is made, and changes nothing.
static int mistake(tbSpec* spec) {
  tbElement* ball = tb_spec_find(spec, "body", "ball", &error);
  return tb_spec_set(ball, "poss", "0 0 1", &error) != TB_OK && puts(error.message) > 0;
}

int main(void) {
  tbSpec* spec = build();
  tbModel* model = tb_spec_compile(spec, &error);
  tbData* data = model ? tb_data_new(model) : NULL;
  if (!data) return fprintf(stderr, "%s\n", error.message), 1;
  while (data->time < 2) tb_step(model, data);
  printf("height after 2 s: %.3f m\n", data->qpos[2]);
  int good = change(spec, &model, &data);
  while (good && data->time < 4) tb_step(model, data);
  printf("height after 4 s: %.3f m\n", data->qpos[2]);
  good = good && fabs(data->qpos[2] - 0.2) < 0.01 && walk(spec) && attach(spec) && mistake(spec) &&
         tb_spec_recompile(spec, &model, &data, &error) == TB_OK;
  printf("%d bodies and %d actuators at %.1f s\n", model->nbody, model->nu, data->time);
  good = good && tb_spec_save(spec, "two_arms.xml", &error) == TB_OK &&  // as it was edited
         tb_save_mjcf(model, "compiled.xml", &error) == TB_OK &&
         tb_save_urdf(model, "compiled.urdf", NULL, &error) == TB_OK;  // as it was compiled
  if (!good) fprintf(stderr, "%s\n", error.message);
  tb_data_free(data);
  tb_model_free(model);
  tb_spec_free(spec);
  return good ? 0 : 1;
}
