// Invariances: the unit of length, mass and time, the order of bodies, a mirror, a shift, a uniform
// motion (of less than a quarter of a radius in a step) or a free fall of the whole scene. Four
// bodies of different shapes, dropped or thrown at each other, under every rigid law.
#include "base/rng.h"
#include "common/worlds.h"

enum { BODIES = 4, STEPS = 150 };

typedef struct {
  double length, mass, time;  // units
  bool reversed, mirrored;
  double shift[3], boost[3];
} View;

static const View PLAIN = {.length = 1, .mass = 1, .time = 1};

// Starts of the bodies: places, turns and velocities.
typedef struct {
  double place[BODIES][3], turn[BODIES][4], velocity[BODIES][6];
  bool floor;
} Start;

static tbWorld make(const Start* s, const View* v, int law) {
  static const char* const SHAPE[BODIES] = {"box", "ellipsoid", "capsule", "cylinder"};
  static const double SIZE[BODIES][3] = {
      {0.06, 0.05, 0.04}, {0.07, 0.05, 0.04}, {0.03, 0.06, 0}, {0.05, 0.04, 0}};
  char xml[4096] = "<mujoco><worldbody>", body[512];
  double side = v->mirrored ? -1 : 1;
  if (s->floor) {
    snprintf(body, sizeof body, "<geom type='plane' size='9 9 1' pos='%.17g %.17g %.17g'/>",
             v->shift[0], v->shift[1], v->shift[2]);
    strcat(xml, body);
  }
  for (int k = 0; k < BODIES; k++) {
    int i = v->reversed ? BODIES - 1 - k : k;
    const double *p = s->place[i], *q = s->turn[i], l = v->length;
    snprintf(body, sizeof body,
             "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/><geom "
             "type='%s' size='%.17g %.17g %.17g' mass='%.17g' friction='%g'/></body>",
             l * p[0] + v->shift[0], l * side * p[1] + v->shift[1], l * p[2] + v->shift[2], q[0],
             side * q[1], q[2], side * q[3], SHAPE[i], l * SIZE[i][0], l * SIZE[i][1],
             l * SIZE[i][2], v->mass * (1 + 2 * i), 0.3 + 0.2 * i);
    strcat(xml, body);
  }
  tbWorld w = tb_world_text(strcat(xml, "</worldbody></mujoco>"));
  tbOption* o = &w.m->opt;
  double speed = v->length / v->time;
  o->law = law;
  o->solve_tolerance = 1e-11;
  o->timestep *= v->time;
  o->correction_speed *= speed;
  o->restitution_speed *= speed;
  o->overlap_allowed *= v->length;
  o->gap_allowed *= v->length;
  o->contact_margin *= v->length;
  for (int k = 0; k < 3; k++) o->gravity[k] *= s->floor ? speed / v->time : 0;
  for (int k = 0; k < BODIES; k++) {
    int i = v->reversed ? BODIES - 1 - k : k;
    // Mirrored at the plane y = 0: rotations about y keep their sign, the others change it.
    const double sign[6] = {1, side, 1, side, 1, side};
    for (int j = 0; j < 6; j++) {
      w.d->qvel[6 * k + j] =
          sign[j] * s->velocity[i][j] * (j < 3 ? speed : 1 / v->time) + (j < 3 ? v->boost[j] : 0);
    }
  }
  return w;
}

// Where body i is, in the plain view.
static void look(tbWorld w, const View* v, int i, double out[3]) {
  int k = v->reversed ? BODIES - 1 - i : i;
  for (int j = 0; j < 3; j++) {
    double x = w.d->qpos[7 * k + j] - v->shift[j] - v->boost[j] * w.d->time;
    out[j] = x / v->length * (j == 1 && v->mirrored ? -1 : 1);
  }
}

static Start scatter(tbRng* rng, bool floor) {
  Start s = {.floor = floor};
  for (int i = 0; i < BODIES; i++) {
    double angle = 1.5 * i;
    for (int k = 0; k < 4; k++) s.turn[i][k] = tb_rng_normal(rng);
    double norm = 0;
    for (int k = 0; k < 4; k++) norm += s.turn[i][k] * s.turn[i][k];
    for (int k = 0; k < 4; k++) s.turn[i][k] /= sqrt(norm);
    for (int k = 0; k < 6; k++) s.velocity[i][k] = (k < 3 ? 0.1 : 3) * tb_rng_normal(rng);
    const double ring[3] = {0.2 * cos(angle), 0.2 * sin(angle), 0.01 * i};
    const double pile[3] = {0.03 * ring[0], 0.03 * ring[1], 0.12 + 0.2 * i};
    for (int k = 0; k < 3; k++) {
      s.place[i][k] = floor ? pile[k] : ring[k];
      if (!floor) s.velocity[i][k] -= 4 * ring[k];
    }
  }
  return s;
}

static void views_agree(void** state) {
  (void)state;
  const View views[] = {
      {.length = 1000, .mass = 1000, .time = 1},  // mm, g
      {.length = 1, .mass = 1e-6, .time = 10},
      {.length = 1, .mass = 1, .time = 1, .reversed = true},
      {.length = 1, .mass = 1, .time = 1, .mirrored = true},
      {.length = 1, .mass = 1, .time = 1, .shift = {3, -2, 1}},
      {.length = 1, .mass = 1, .time = 1, .boost = {2, -1, 0.5}},
  };
  tbRng rng = {5 + (uint64_t)tb_test_setting("TRIBO_TEST_SEED", 0)};
  for (int trial = 0; trial < 4 * TB_LAW_COUNT; trial++) {
    Start start = scatter(&rng, trial % 2);
    int law = trial % TB_LAW_COUNT, touched = 0;
    tbWorld plain = make(&start, &PLAIN, law);
    for (int i = 0; i < STEPS; i++) {
      tb_world_run(plain, 1);
      touched += plain.d->ncon > 0;
    }
    assert_true(touched > 0);
    // On a floor nothing may move along with a view.
    for (int k = 0; k < 6 - start.floor; k++) {
      tbWorld w = make(&start, &views[k], law);
      tb_world_run(w, STEPS);
      for (int i = 0; i < BODIES; i++) {
        double here[3], there[3];
        look(plain, &PLAIN, i, here);
        look(w, &views[k], i, there);
        assert_near_array(there, here, 3, law == TB_LAW_RAISIM ? 1e-5 : 1e-8);
      }
      tb_world_free(w);
    }
    if (!start.floor) {
      // A free fall of everything: g h^2 (1 + 2 + ... + n) by the step's rule.
      tbWorld w = make(&start, &PLAIN, law);
      double h = w.m->opt.timestep;
      w.m->opt.gravity[2] = -9.81;
      tb_world_run(w, STEPS);
      for (int i = 0; i < BODIES; i++) {
        double fall = 9.81 * h * h * STEPS * (STEPS + 1) / 2;
        assert_near(w.d->qpos[7 * i + 2] + fall, plain.d->qpos[7 * i + 2], 1e-8);
      }
      tb_world_free(w);
    }
    tb_world_free(plain);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(views_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
