// Hold a quadruped at its keyframe by PD control of its motors, and weigh it with its feet.
#include <math.h>
#include <stdio.h>
#include <tribo/tribo.h>

int main(int argc, char** argv) {
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/quadruped_torque.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  m->opt.solve_tolerance = 1e-10;  // relative; 1e-6 is enough unless forces are to be exact
  int key = tb_name2id(m, TB_OBJ_KEY, "stand");
  if (key < 0) return fprintf(stderr, "the model has no keyframe 'stand'\n"), 2;
  tbData* d = tb_data_new(m);
  if (!d) return fprintf(stderr, "out of memory\n"), 2;
  if (tb_reset_keyframe(m, d, key) != TB_OK) return fprintf(stderr, "%s\n", d->message), 2;
  const tbReal* pose = m->key_qpos + key * m->nq;

  // The control loop: read the state, write the torques, step.
  while (d->time < 4) {
    for (int i = 0; i < m->nu; i++) {
      int joint = m->actuator_trnid[2 * i], q = m->jnt_qposadr[joint], v = m->jnt_dofadr[joint];
      d->ctrl[i] = 10 * (pose[q] - d->qpos[q]) - 0.1 * d->qvel[v];  // N m
    }
    if (tb_step(m, d) != TB_OK) return fprintf(stderr, "%s\n", d->message), 1;
  }

  // What every geom gets from its contacts: force and torque in world axes.
  double carried = 0, weight = 0;
  for (int g = 0; g < m->ngeom; g++) {
    tbReal wrench[6];
    if (m->geom_bodyid[g] == 0) continue;  // the floor
    tb_geom_contact_wrench(m, d, g, NULL, wrench, &error);
    if (wrench[2] != 0) printf("%-8s %8.4f N\n", tb_id2name(m, TB_OBJ_GEOM, g), wrench[2]);
    carried += wrench[2];
  }
  for (int b = 1; b < m->nbody; b++) weight -= m->body_mass[b] * m->opt.gravity[2];
  double off = fabs(carried - weight) / weight;
  printf("carried  %8.4f N of %.4f N: relative difference %.1e\n", carried, weight, off);
  tb_data_free(d);
  tb_model_free(m);
  return off < 1e-6 ? 0 : 1;
}
