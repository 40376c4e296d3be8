// Vehicles whose motion is known: the benchmark bicycle (Meijaard, Papadopoulos, Ruina and Schwab
// 2007), which steers itself upright between its weave and its capsize speed, a car whose front
// wheels stand as Ackermann says, and a rover on mecanum wheels, which goes sideways.
#include <stdarg.h>
#include <stdio.h>

#include "common/worlds.h"

static const tbReal GRAVITY = 9.81;

// ---- the bicycle --------------------------------------------------------------------------------

enum { LEAN, STEER };

// The benchmark's coefficients of M q'' + v C1 q' + (g K0 + v^2 K2) q = 0, q = (lean, steer).
static const tbReal M[2][2] = {{80.81722, 2.31941332208709}, {2.31941332208709, 0.29784188199686}};
static const tbReal C1[2][2] = {{0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}};
static const tbReal K0[2][2] = {{-80.95, -2.59951685249872},
                                {-2.59951685249872, -0.80329488458618}};
static const tbReal K2[2][2] = {{0, 76.59734589573222}, {0, 2.65431523794604}};

// d/dt (q, q')
static void lean_and_steer(tbReal v, const tbReal y[4], tbReal out[4]) {
  tbReal f[2] = {0, 0}, det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      f[i] -= v * C1[i][j] * y[2 + j] + (GRAVITY * K0[i][j] + v * v * K2[i][j]) * y[j];
    }
    out[i] = y[2 + i];
  }
  out[2] = (M[1][1] * f[0] - M[0][1] * f[1]) / det;
  out[3] = (M[0][0] * f[1] - M[1][0] * f[0]) / det;
}

static void runge_kutta(tbReal v, tbReal h, tbReal y[4]) {
  const tbReal ahead[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  tbReal slope[4] = {0}, sum[4] = {0}, at[4];
  for (int stage = 0; stage < 4; stage++) {
    for (int i = 0; i < 4; i++) at[i] = y[i] + h * ahead[stage] * slope[i];
    lean_and_steer(v, at, slope);
    for (int i = 0; i < 4; i++) sum[i] += weight[stage] * slope[i];
  }
  for (int i = 0; i < 4; i++) y[i] += h / 6 * sum[i];
}

// The frame stands where the rear wheel touches, x forward. The wheels are knife edges. The
// steering axis leans back by 18 degrees and meets the ground 8 cm before the front wheel does.
#define WHEEL(size) "<geom type='ellipsoid' size='" size "' zaxis='0 1 0' friction='1.5'/></body>"
static const char* BICYCLE =
    "<mujoco><worldbody><geom type='plane' size='9 9 .1'/>"
    "<body><freejoint/><inertial pos='.3 0 .9' mass='85' fullinertia='9.2 11 2.8 0 -2.4 0'/>"
    "<body pos='0 0 .3'><joint axis='0 1 0'/>"
    "<inertial pos='0 0 0' mass='2' diaginertia='.0603 .12 .0603'/>" WHEEL(".3 .3 .002")
    "<body pos='1.1 0 0'><joint axis='-.3090169943749474 0 .9510565162951535'/>"
    "<inertial pos='-.2 0 .7' mass='4' fullinertia='.05892 .06 .00708 0 .00756 0'/>"
    "<body pos='-.08 0 .35'><joint axis='0 1 0'/>"
    "<inertial pos='0 0 0' mass='3' diaginertia='.1405 .28 .1405'/>" WHEEL(".35 .35 .002")
    "</body></body></worldbody></mujoco>";

// Tipped at `speed`: how far lean and steer are from the benchmark's, relative to its largest.
static tbReal bicycle_error(tbReal speed, tbReal h) {
  const tbReal tip = 0.005;
  tbWorld w = tb_world_text(BICYCLE);
  tbReal y[4] = {0, 0, tip, 0}, error[2] = {0, 0}, most[2] = {0, 0};
  w.m->opt.timestep = h;
  w.d->qvel[0] = speed;
  w.d->qvel[3] = tip;
  w.d->qvel[6] = speed / 0.3;
  w.d->qvel[8] = speed / 0.35;
  while (w.d->time < 3) {
    tb_world_run_solved(w, 1);
    runge_kutta(speed, h, y);
    const tbReal* q = w.d->qpos + 3;
    tbReal lean = atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] * q[1] + q[2] * q[2]));
    // The benchmark's steering axis points down.
    tbReal now[2] = {lean, -w.d->qpos[8]};
    for (int k = LEAN; k <= STEER; k++) {
      error[k] = fmax(error[k], fabs(now[k] - y[k]));
      most[k] = fmax(most[k], fabs(y[k]));
    }
  }
  tb_world_free(w);
  return fmax(error[LEAN] / most[LEAN], error[STEER] / most[STEER]);
}

// It weaves ever more below 4.29 m/s, and leans over slowly above 6.02; in between it rights
// itself. The step is of first order.
static void bicycle_is_the_benchmark(void** state) {
  (void)state;
  const tbReal speed[3] = {4, 5, 6.5}, most[3] = {0.02, 0.008, 0.008};
  for (int k = 0; k < 3; k++) {
    tbReal error = bicycle_error(speed[k], 5e-4);
    assert_true(error < most[k]);
    assert_near(bicycle_error(speed[k], 1e-3) / error, 2, 0.1);
  }
}

// ---- the car ------------------------------------------------------------------------------------

#define HUB(x, y, steers)                                                                       \
  "<body pos='" x " " y                                                                         \
  " -.1'><joint type='slide' axis='0 0 1' stiffness='2e4' damping='1200'/>" steers              \
  "<inertial pos='0 0 0' mass='5' diaginertia='.05 .05 .05'/><body><joint axis='0 1 0'/><geom " \
  "type='ellipsoid' size='.3 .3 .09' zaxis='0 1 0' mass='15'/></body></body>"
static const char* CAR =
    "<mujoco><worldbody><geom type='plane' size='9 9 .1'/><body pos='0 0 .41'><freejoint/>"
    "<geom type='box' size='1.8 .7 .2' pos='0 0 .3' mass='1000' contype='0' conaffinity='0'/>"
    HUB("1.3", ".75", "<joint name='left' axis='0 0 1'/>")
    HUB("1.3", "-.75", "<joint name='right' axis='0 0 1'/>") HUB("-1.3", ".75", "")
    HUB("-1.3", "-.75", "") "</body></worldbody><actuator>"
    "<position joint='left' kp='5e4' kv='2e3'/><position joint='right' kp='5e4' kv='2e3'/>"
    "</actuator></mujoco>";

// Where the front wheels' axles meet the rear one, 20 m to the left, the car turns about it without
// slip: its middle, 1.3 m before the rear axle, on a circle of sqrt(20^2 + 1.3^2) m. Under every
// rigid law.
static void car_turns_about_one_point(void** state) {
  (void)state;
  const tbReal radius = 20, base = 2.6, track = 1.5, speed = 8;
  const tbReal expected = sqrt(radius * radius + 0.25 * base * base);
  for (int law = 0; law < TB_LAW_COUNT; law++) {
    tbWorld w = tb_world_text(CAR);
    w.m->opt.law = law;
    // dofs: 6 of the car, then slide, steer and wheel of both front hubs, slide and wheel behind
    const int wheel[4] = {8, 11, 13, 15};
    w.d->qvel[0] = speed;
    for (int k = 0; k < 4; k++) w.d->qvel[wheel[k]] = speed / 0.3;
    for (int i = 0; i < 2000; i++) {
      tbReal turned = fmin(w.d->time, 1);
      w.d->ctrl[0] = turned * atan(base / (radius - 0.5 * track));
      w.d->ctrl[1] = turned * atan(base / (radius + 0.5 * track));
      tb_world_run_solved(w, 1);
    }
    assert_near(hypot(w.d->qvel[0], w.d->qvel[1]) / w.d->qvel[5], expected, 3e-4 * expected);
    tb_world_free(w);
  }
}

// ---- mecanum wheels -----------------------------------------------------------------------------

static const tbReal WHEEL_RADIUS = 0.05;

typedef struct {
  char* text;
  size_t room, used;
} Text;

static void say(Text* t, const char* format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsnprintf(t->text + t->used, t->room - t->used, format, list);
  va_end(list);
  assert_true(length >= 0 && t->used + (size_t)length < t->room);
  t->used += (size_t)length;
}

// A wheel about y with nine ellipsoids on its rim, which turn about axes half way between y and the
// rim. `among` lets them touch each other.
static void add_mecanum_wheel(Text* t, tbReal x, tbReal y, tbReal hand, bool among) {
  enum { ROLLERS = 9 };
  const tbReal thick = 0.012, half = sqrt(0.5);
  say(t, "<body pos='%g %g 0'><joint name='%g %g' axis='0 1 0' damping='.01'/>", x, y, x, y);
  say(t, "<inertial pos='0 0 0' mass='.2' diaginertia='6e-5 9e-5 6e-5'/>");
  for (int k = 0; k < ROLLERS; k++) {
    tbReal angle = 2 * acos(-1) * k / ROLLERS, c = cos(angle), s = sin(angle);
    char axis[96];
    snprintf(axis, sizeof axis, "%.12g %.12g %.12g", -hand * half * s, half, hand * half * c);
    say(t, "<body pos='%.12g 0 %.12g'><joint axis='%s' damping='1e-5'/>",
        (WHEEL_RADIUS - thick) * c, (WHEEL_RADIUS - thick) * s, axis);
    say(t, "<geom type='ellipsoid' size='%g %g .03' zaxis='%s' mass='.01' friction='.9' ", thick,
        thick, axis);
    say(t, "contype='%d' conaffinity='1'/></body>", among ? 1 : 2);
  }
  say(t, "</body>");
}

static tbWorld mecanum_rover(bool among) {
  Text t = {.room = 1 << 16};
  t.text = malloc(t.room);
  assert_non_null(t.text);
  const tbReal side = 0.12;
  say(&t, "<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='9 9 .1' ");
  say(&t, "friction='.9'/><body pos='0 0 .06'><freejoint/>");
  say(&t, "<geom type='box' size='.15 .08 .02' mass='5' pos='0 0 .03'/>");
  for (int k = 0; k < 4; k++) {
    tbReal x = k < 2 ? side : -side, y = k % 2 == 0 ? side : -side;
    add_mecanum_wheel(&t, x, y, x * y > 0 ? 1 : -1, among);
  }
  say(&t, "</body></worldbody><actuator>");
  for (int k = 0; k < 4; k++) {
    say(&t, "<velocity joint='%g %g' kv='.5'/>", k < 2 ? side : -side, k % 2 == 0 ? side : -side);
  }
  say(&t, "</actuator></mujoco>");
  tbWorld w = tb_world_text(t.text);
  free(t.text);
  return w;
}

// Wheels that turn alike take it ahead; where those of one diagonal turn the other way, to its
// side: at the speed of a rim, under every rigid law.
static void mecanum_wheels_go_sideways(void** state) {
  (void)state;
  const tbReal sign[2][4] = {{1, 1, 1, 1}, {1, -1, -1, 1}};
  for (int k = 0; k < 2 * TB_LAW_COUNT; k++) {
    int law = k / 2, sideways = k % 2;
    tbWorld w = mecanum_rover(false);
    w.m->opt.law = law;
    tbReal start = 0, turned = 0;
    for (int i = 0; i < 600; i++) {
      for (int j = 0; j < 4; j++) w.d->ctrl[j] = 6 * sign[sideways][j] * fmin(2 * w.d->time, 1);
      tb_world_run_solved(w, 1);
      if (i == 349) start = w.d->qpos[sideways];
      // Ten dofs a wheel: its own first.
      for (int j = 0; i >= 350 && j < 4; j++) {
        turned += 0.25 * fabs(w.d->qvel[6 + 10 * j]) * w.m->opt.timestep;
      }
    }
    assert_near(w.d->qpos[sideways] - start, WHEEL_RADIUS * turned, 5e-3);
    assert_near(w.d->qpos[1 - sideways], 0, 5e-3);
    tb_world_free(w);
  }
}

// Rollers that are in each other's way make islands of more than a hundred rows: lcp solves them.
static void jammed_rollers_are_solved(void** state) {
  (void)state;
  tbWorld w = mecanum_rover(true);
  w.m->opt.law = TB_LAW_LCP;
  for (int i = 0; i < 200; i++) {
    for (int j = 0; j < 4; j++) w.d->ctrl[j] = 8 * sin(20 * w.d->time + 3 * j * j);
    tb_world_run_solved(w, 1);
  }
  assert_true(w.d->ncon > 30);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bicycle_is_the_benchmark),
      cmocka_unit_test(car_turns_about_one_point),
      cmocka_unit_test(mecanum_wheels_go_sideways),
      cmocka_unit_test(jammed_rollers_are_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
