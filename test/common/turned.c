#include "common/turned.h"

#include "spatial/quat.h"
#include "spatial/vec3.h"

// Not at all, and three ways without a symmetry.
static const tbReal TURNS[TB_TURNS][4] = {
    {1, 0, 0, 0}, {0.3, -0.5, 0.7, 0.2}, {-0.6, 0.1, 0.2, 0.9}, {0.05, 0.8, -0.5, 0.4}};

tbTurned tb_turned(int k, tbReal step, const tbReal g[3], const char* bodies, const char* rest) {
  tbTurned t;
  memcpy(t.turn, TURNS[k], sizeof t.turn);
  tb_quat_normalize(t.turn);
  tbReal down[3];
  tb_quat_rotate(down, t.turn, g);
  size_t size = strlen(bodies) + strlen(rest) + 1024;
  char* xml = malloc(size);
  assert_non_null(xml);
  snprintf(xml, size,
           "<mujoco><compiler angle='radian'/><option timestep='%.17g' gravity='%.17g %.17g "
           "%.17g'/><worldbody><frame quat='%.17g %.17g %.17g %.17g'>%s</frame></worldbody>%s"
           "</mujoco>",
           step, down[0], down[1], down[2], t.turn[0], t.turn[1], t.turn[2], t.turn[3], bodies,
           rest);
  t.w = tb_world_text(xml);
  free(xml);
  return t;
}

void tb_turned_throw(tbTurned t, int b, const tbReal v[3], const tbReal spin[3]) {
  tbReal* qvel = t.w.d->qvel + t.w.m->body_dofadr[b];
  tb_quat_rotate(qvel, t.turn, v);
  tb_copy3(qvel + 3, spin);
}

void tb_turned_look(tbTurned t, const tbReal v[3], tbReal local[3]) {
  tbReal back[4];
  tb_quat_conjugate(back, t.turn);
  tb_quat_rotate(local, back, v);
}

void tb_turned_place(tbTurned t, int b, tbReal local[3]) {
  tb_compute_position(t.w.m, t.w.d);
  tb_turned_look(t, t.w.d->xpos + 3 * b, local);
}

void tb_turned_axis(tbTurned t, int b, int axis, tbReal local[3]) {
  tb_compute_position(t.w.m, t.w.d);
  const tbReal* R = t.w.d->xmat + 9 * b;
  tb_turned_look(t, (tbReal[3]){R[axis], R[3 + axis], R[6 + axis]}, local);
}
