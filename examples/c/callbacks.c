// Functions of your own within a step, one each: ice, wind, and a motor.
#include <math.h>
#include <stdio.h>
#include <tribo/tribo.h>

static const char SCENE[] =
    "<mujoco><option timestep='.002'/><worldbody><geom name='floor' type='plane' size='9 9 .1' "
    "friction='.5 0 0'/>"
    "<body name='sledge' pos='0 0 .1'><freejoint/><geom name='sledge' type='box' size='.2 .1 .1' "
    "mass='2' friction='.5 0 0'/></body>"
    "<body name='ghost' pos='3 0 .3'><freejoint/><geom name='ghost' size='.1' mass='1'/></body>"
    "<body name='cart' pos='0 3 .1'><joint name='cart' type='slide' axis='1 0 0'/><geom size='.1' "
    "mass='1'/>"
    "</body></worldbody><actuator><general name='motor' joint='cart' gaintype='user' "
    "biastype='user' dyntype='user' actdim='1' ctrlrange='-1 1'/></actuator>"
    "<sensor><user name='power' dim='1' needstage='acc'/></sensor></mujoco>";

// 1. No contact of this pair: the ghost falls through the floor.
static int filter(const tbModel* m, const tbData* d, int geom1, int geom2, const void* user) {
  int ghost = tb_name2id(m, TB_OBJ_GEOM, "ghost");
  return geom1 == ghost || geom2 == ghost;
}

// 2. Ice beyond x = 1; rubber with a stiffness, and under `comfree` gains of its own, before.
static void contact(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  if (c->pos[0] > 1) {
    c->friction[0] = c->friction[1] = 0.02;
  } else {
    c->compliance = c->tangentcompliance = 1e-6;  // m/N
    c->damping = 100;                             // N s/m
    c->comfree[0] = 0.3, c->comfree[1] = 0.002;   // K and D
  }
}

// 3. Wind, as a force on degrees of freedom.
static void wind(const tbModel* m, tbData* d, const void* user) {
  const double* speed = user;
  d->qfrc_passive[0] += 0.5 * (speed[0] - d->qvel[0]);  // N along x on the sledge
}

// 4. A controller: full throttle for half a second.
static void control(const tbModel* m, tbData* d, const void* user) {
  d->ctrl[0] = d->time < 0.5;
}

// 5. A motor: its current follows the control in 50 ms, its force falls with its speed and has
// friction.
static tbReal lag(const tbModel* m, const tbData* d, int i, const void* user) {
  return (d->ctrl[i] - d->act[i]) / 0.05;
}
static tbReal gain(const tbModel* m, const tbData* d, int i, const void* user) {
  return 8 - d->actuator_velocity[i];
}
static tbReal bias(const tbModel* m, const tbData* d, int i, const void* user) {
  return -0.5 * tanh(100 * d->actuator_velocity[i]);
}

// 6. A sensor: the power of the motor.
static void power(const tbModel* m, const tbData* d, int sensor, tbReal* value, const void* user) {
  value[0] = d->actuator_force[0] * d->actuator_velocity[0];
}

int main(void) {
  static const double speed[] = {3};  // m/s
  static const tbCallbacks callbacks = {filter, contact, wind,  control, lag,
                                        gain,   bias,    power, speed};
  tbError error;
  tbModel* m = tb_load_string(SCENE, NULL, NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  m->callbacks = &callbacks;  // for all worlds of the model; must outlive them
  tbData* d = tb_data_new(m);
  d->qvel[0] = 4;  // the sledge brakes on rubber, reaches the ice and slides on
  tbReal most = 0, watts, pos[3];
  while (d->time < 1) {
    if (tb_step(m, d) != TB_OK) return fprintf(stderr, "%s\n", d->message), 1;
    tb_sensor_values(m, d, "power", &watts, 1, &error);
    most = fmax(most, watts);
  }
  tb_pose(m, d, TB_OBJ_BODY, "ghost", pos, NULL, &error);
  printf("sledge at x = %.2f m with %.2f m/s, ghost at z = %.2f m, motor up to %.2f W\n",
         d->qpos[0], d->qvel[0], pos[2], most);
  int good = d->qvel[0] > 1.5 && pos[2] < -1 && most > 5;
  tb_data_free(d);
  tb_model_free(m);
  return good ? 0 : 1;
}
