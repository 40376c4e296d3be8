#include <stdio.h>
#include <tribo/tribo.h>

int main(void) {
  tbError error = {TB_OK, ""};
  tbSpec* spec = tb_spec_create();
  tb_spec_add_xml(tb_spec_world(spec), "<geom type='plane' size='1 1 1'/>", &error);
  tbElement* ball = tb_spec_add(tb_spec_world(spec), "body", "ball", &error);
  tb_spec_set(ball, "pos", "0 0 1", &error);
  tb_spec_add(ball, "freejoint", NULL, &error);
  const tbReal radius = 0.1;
  tb_spec_set_reals(tb_spec_add(ball, "geom", NULL, &error), "size", &radius, 1, &error);
  tbModel* model = tb_spec_compile(spec, &error);
  if (!model) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  tbData* data = tb_data_new(model);
  for (int i = 0; i < 1000; i++) tb_step(model, data);
  printf("height after 2 s: %.3f m\n", data->qpos[2]);
  char* text = tb_spec_save_xml(spec, &error);
  printf("%s", text);
  tb_text_free(text);
  tb_data_free(data);
  tb_model_free(model);
  tb_spec_free(spec);
  return 0;
}
