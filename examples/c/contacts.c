// Which geoms touch, with which force, and do they stick? Two fingers hold a box; parts by name.
#include <math.h>
#include <stdio.h>
#include <tribo/tribo.h>

static const char GRIPPER[] =
    "<mujoco><worldbody>"
    "<body name='left' pos='-.11 0 1'><joint name='left' type='slide' axis='1 0 0' damping='10'/>"
    "<geom name='left_pad' type='box' size='.01 .03 .03' mass='.2'/></body>"
    "<body name='right' pos='.11 0 1'><joint name='right' type='slide' axis='-1 0 0' damping='10'/>"
    "<geom name='right_pad' type='box' size='.01 .03 .03' mass='.2'/></body>"
    "<body name='box' pos='0 0 1'><freejoint/><geom name='box' type='box' size='.1 .05 .05' "
    "mass='1'/></body></worldbody>"
    "<actuator><motor name='left' joint='left'/><motor name='right' joint='right'/></actuator>"
    "<sensor><jointactuatorfrc name='grip' joint='left'/></sensor>"
    "<keyframe><key name='hold' ctrl='20 20'/></keyframe></mujoco>";

static tbError error;

// Every contact: its force in the world on the second of its geoms, its state, its slip.
static void list_contacts(const tbModel* m, const tbData* d) {
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    tbReal wrench[6], slip[3], velocity[6];
    tbContactState state;
    tb_contact_wrench(m, d, i, c->geom[1], wrench, &error);
    tb_contact_state(m, d, i, &state, slip, &error);
    tb_contact_velocity(m, d, i, velocity, &error);  // along normal and tangents, then about them
    printf("%s on %s: %7.2f %7.2f %7.2f N, %s, slips at %.0e m/s, parts at %.0e m/s\n",
           tb_id2name(m, TB_OBJ_GEOM, c->geom[0]), tb_id2name(m, TB_OBJ_GEOM, c->geom[1]),
           wrench[0], wrench[1], wrench[2], tb_contact_state_name(state),
           sqrt(slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]), velocity[0]);
  }
}

// What the fingers do to the box, one by one and together; and what a joint transmits.
static double held(const tbModel* m, tbData* d) {
  int box = tb_name2id(m, TB_OBJ_BODY, "box"), left = tb_name2id(m, TB_OBJ_BODY, "left");
  tbReal by_left[6], all[6];
  tb_pair_contact_wrench(m, d, box, left, NULL, by_left, &error);
  tb_body_contact_wrench(m, d, box, NULL, all, &error);
  tb_rne_post_constraint(m, d, &error);  // fills cacc, cfrc_int, cfrc_ext
  printf("left presses with %.2f N and lifts with %.2f N; both lift with %.4f N\n", by_left[0],
         by_left[2], all[2]);
  printf("the slide of the left finger carries %.2f N\n", d->cfrc_int[6 * left + 5]);
  return all[2];
}

// Joints, actuators, sensors and poses by name; an unknown name is an error with the nearest one.
static int by_name(const tbModel* m, tbData* d) {
  tbReal q, v, ctrl, force, pos[3], quat[4];
  int good = tb_joint_qpos(m, d, "left", &q, 1, &error) == TB_OK &&
             tb_joint_qvel(m, d, "left", &v, 1, &error) == TB_OK &&
             tb_actuator_ctrl(m, d, "left", &ctrl, &error) == TB_OK &&
             tb_sensor_values(m, d, "grip", &force, 1, &error) == TB_OK &&
             tb_pose(m, d, TB_OBJ_BODY, "box", pos, quat, &error) == TB_OK &&
             tb_set_actuator_ctrl(m, d, "left", ctrl / 2, &error) == TB_OK &&
             tb_set_joint_qvel(m, d, "left", &v, 1, &error) == TB_OK;
  if (!good) return fprintf(stderr, "%s\n", error.message), 0;
  printf("finger at %.4f m, ctrl %.2f N, sensor %.2f N, box at height %.4f m\n", q, ctrl, force,
         pos[2]);
  return tb_set_joint_qpos(m, d, "lefft", &q, 1, &error) != TB_OK && puts(error.message) > 0;
}

int main(void) {
  tbModel* m = tb_load_string(GRIPPER, NULL, NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  tbData* d = tb_data_new(m);
  tb_reset_keyframe(m, d, tb_name2id(m, TB_OBJ_KEY, "hold"));
  while (d->time < 0.5) {
    if (tb_step(m, d) != TB_OK) return fprintf(stderr, "%s\n", d->message), 1;
  }
  list_contacts(m, d);
  double lift = held(m, d);
  int good = by_name(m, d);
  tb_data_free(d);
  tb_model_free(m);
  return good && fabs(lift - 9.81) < 1e-3 ? 0 : 1;
}
