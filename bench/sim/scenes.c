// The scenes: robots of the models' folder, and piles made here.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "sim_bench.h"
#include "page/text.h"

#define MENAGERIE "mujoco_menagerie/"
#define STANDS .kind = STANDING, .dt = 0.002, .time = 2
#define IS_HELD .kind = HELD, .dt = 0.002, .time = 2
#define FALLS .kind = DROP, .dt = 0.001, .time = 2
#define ARE_MANY .kind = MANY, .dt = 0.002, .time = 2

const Scene SCENES[] = {
    {.name = "ur5e",
     .path = MENAGERIE "universal_robots_ur5e/scene.xml",
     .include = {"ur5e.xml"},
     STANDS,
     .newest = 202000,
     .debian = 116000},
    {.name = "leap",
     .path = MENAGERIE "leap_hand/scene_right.xml",
     .include = {"right_hand.xml"},
     STANDS,
     .newest = 52400,
     .debian = 20400},
    {.name = "go2",
     .path = MENAGERIE "unitree_go2/scene.xml",
     .include = {"go2.xml"},
     STANDS,
     .newest = 16400,
     .debian = 12800},
    {.name = "anymal",
     .path = MENAGERIE "anybotics_anymal_c/scene.xml",
     .include = {"anymal_c.xml"},
     STANDS,
     .newest = 45400,
     .debian = 22300},
    {.name = "allegro",
     .path = MENAGERIE "wonik_allegro/scene_right.xml",
     .include = {"right_hand.xml"},
     STANDS,
     .newest = 49900,
     .debian = 34200},
    {.name = "humanoid",
     .path = "mujoco/model/humanoid/humanoid.xml",
     STANDS,
     .newest = 29400,
     .debian = 24600},
    {.name = "cassie",
     .path = MENAGERIE "agility_cassie/scene.xml",
     .include = {"cassie.xml"},
     STANDS,
     .newest = 27700,
     .debian = 21200},
    {.name = "g1",
     .path = MENAGERIE "unitree_g1/scene.xml",
     .include = {"g1.xml"},
     STANDS,
     .newest = 20000},
    {.name = "talos",
     .path = MENAGERIE "pal_talos/scene_position.xml",
     .include = {"talos_position.xml", "talos.xml"},
     STANDS,
     .newest = 11600,
     .debian = 6700},
    {.name = "go2",
     .path = MENAGERIE "unitree_go2/scene.xml",
     .include = {"go2.xml"},
     IS_HELD,
     .newest = 16400,
     .debian = 12800,
     .posture = {.kp = 60, .kd = 1}},
    {.name = "humanoid",
     .path = "mujoco/model/humanoid/humanoid.xml",
     IS_HELD,
     .newest = 29400,
     .debian = 24600,
     .posture = {.kp = 300, .kd = 10}},
    {.name = "cassie",
     .path = MENAGERIE "agility_cassie/scene.xml",
     .include = {"cassie.xml"},
     IS_HELD,
     .newest = 27700,
     .debian = 21200,
     .posture = {.kp = 1000, .kd = 20, .lean = 1000, .lean_rate = 100}},
    {.name = "ur5e",
     .path = MENAGERIE "universal_robots_ur5e/scene.xml",
     .include = {"ur5e.xml"},
     FALLS,
     .newest = 87800,
     .debian = 74500},
    {.name = "cassie",
     .path = MENAGERIE "agility_cassie/scene.xml",
     .include = {"cassie.xml"},
     FALLS,
     .newest = 32900,
     .debian = 25900},
    {.name = "humanoid",
     .path = "mujoco/model/humanoid/humanoid.xml",
     FALLS,
     .newest = 31600,
     .debian = 24900},
    {.name = "g1",
     .path = MENAGERIE "unitree_g1/scene.xml",
     .include = {"g1.xml"},
     FALLS,
     .newest = 8700},
    {.name = "go2",
     .path = MENAGERIE "unitree_go2/scene.xml",
     .include = {"go2.xml"},
     FALLS,
     .newest = 23800},
    {.name = "anymal",
     .path = MENAGERIE "anybotics_anymal_c/scene.xml",
     .include = {"anymal_c.xml"},
     FALLS,
     .newest = 20000},
    {.name = "allegro",
     .path = MENAGERIE "wonik_allegro/scene_right.xml",
     .include = {"right_hand.xml"},
     FALLS,
     .newest = 39700},
    {.name = "leap",
     .path = MENAGERIE "leap_hand/scene_right.xml",
     .include = {"right_hand.xml"},
     FALLS,
     .newest = 43300},
    {.name = "talos",
     .path = MENAGERIE "pal_talos/scene_motor.xml",
     .include = {"talos_motor.xml", "talos.xml"},
     FALLS},
    {.name = "wall", ARE_MANY, .newest = 7290},
    {.name = "tight wall", ARE_MANY},
    {.name = "drop", ARE_MANY, .newest = 630},
    {.name = "packed wall", ARE_MANY},
    {.name = "packed block", ARE_MANY},
    {.name = "bin", .kind = MANY, .dt = 0.002, .time = 5},
    {.name = "bin of boxes", .kind = MANY, .dt = 0.002, .time = 4},
    {.name = "22 humanoids",
     .path = "mujoco/model/humanoid/22_humanoids.xml",
     ARE_MANY,
     .newest = 1210},
    {.name = "100 humanoids",
     .path = "mujoco/model/humanoid/100_humanoids.xml",
     ARE_MANY,
     .newest = 238},
};
const int NSCENES = sizeof SCENES / sizeof *SCENES;

// Room for some contacts per body is for MuJoCo 2.2.2, which does not grow.
static void begin(PageText* t, int bodies) {
  page_text_add(
      t,
      "<mujoco><option timestep=\"0.002\" jacobian=\"sparse\"/><size nconmax=\"%d\" njmax=\"%d\"/>"
      "<worldbody><geom type=\"plane\" size=\"50 50 1\"/>",
      12 * bodies + 50, 48 * bodies + 200);
}

// ---- generated scenes --------------------------------------------------------------------------

// 4 x 5 cubes of 0.5 m and a ball of 1e3 kg at 10 m/s. As in the ADMM paper's figure 1 the masses
// grow by rows from 1 kg at the bottom to 1e4 kg at the top, and columns stand apart: 15 cubes
// there have some 60 contacts, four per cube. The tight wall has its columns in touch and heavy
// next to light everywhere.
static char* wall_text(bool tight) {
  PageText t = {0};
  double pitch = tight ? 0.5 : 0.51;
  begin(&t, 21);
  for (int i = 0; i < 20; i++) {
    double mass = pow(10, tight ? 4.0 * ((7 * i) % 20) / 19 : i / 4);
    page_text_add(&t,
                  "<body pos=\"0 %g %g\"><freejoint/><geom type=\"box\" size=\".25 .25 .25\" "
                  "mass=\"%g\"/></body>",
                  pitch * (i % 4 - 1.5), 0.25 + 0.5 * (i / 4), mass);
  }
  page_text_add(
      &t,
      "<body name=\"ball\" pos=\"-3 0 1.2\"><freejoint/><geom type=\"sphere\" size=\".4\" "
      "mass=\"1000\"/></body></worldbody><keyframe><key qpos=\"");
  for (int i = 0; i < 20; i++) {
    page_text_add(&t, "0 %g %g 1 0 0 0 ", pitch * (i % 4 - 1.5), 0.25 + 0.5 * (i / 4));
  }
  page_text_add(&t, "-3 0 1.2 1 0 0 0\" qvel=\"");
  for (int i = 0; i < 20; i++) page_text_add(&t, "0 0 0 0 0 0 ");
  page_text_add(&t, "10 0 0 0 0 0\"/></keyframe></mujoco>");
  return t.text;
}

// `turn`: largest angle about each axis, degrees; `jitter`: of the place, m.
static void add_primitive(PageText* t, tbRng* rng, int i, const double pos[3], double turn,
                          double jitter) {
  static const char* const SHAPES[] = {
      "type=\"box\" size=\".05 .05 .05\"", "type=\"sphere\" size=\".05\"",
      "type=\"capsule\" size=\".035 .035\"", "type=\"cylinder\" size=\".045 .045\"",
      "type=\"box\" size=\".06 .04 .03\""};
  // Drawn one by one: the order in which arguments are evaluated is the compiler's.
  double euler[3], place[2];
  for (int k = 2; k >= 0; k--) euler[k] = tb_rng_uniform(rng, 0, turn);
  for (int k = 1; k >= 0; k--) place[k] = pos[k] + jitter * (tb_rng_uniform(rng, 0, 1) - 0.5);
  page_text_add(
      t, "<body pos=\"%g %g %g\" euler=\"%g %g %g\"><freejoint/><geom %s density=\"1000\"/></body>",
      place[0], place[1], pos[2], euler[0], euler[1], euler[2], SHAPES[i % 5]);
}

// 5 x 5 x 5 primitives of 10 cm above a floor.
static char* drop_text(void) {
  PageText t = {0};
  tbRng rng = {11};
  begin(&t, 125);
  for (int i = 0; i < 125; i++) {
    double pos[3] = {0.14 * (i % 5 - 2), 0.14 * (i / 5 % 5 - 2), 0.15 + 0.16 * (i / 25)};
    add_primitive(&t, &rng, i, pos, 90, 0.02);
  }
  page_text_add(&t, "</worldbody></mujoco>");
  return t.text;
}

// Cubes of 10 cm side by side, at rest.
static char* packed_text(int columns, int deep, int high) {
  PageText t = {0};
  int bodies = columns * deep * high;
  begin(&t, 2 * bodies);
  for (int i = 0; i < bodies; i++) {
    page_text_add(&t,
                  "<body pos=\"%.17g %.17g %.17g\"><freejoint/><geom type=\"box\" "
                  "size=\".05 .05 .05\" mass=\"1\"/></body>",
                  0.1 * (i % columns), 0.1 * (i / columns % deep),
                  0.05 + 0.1 * (i / columns / deep));
  }
  page_text_add(&t, "</worldbody></mujoco>");
  return t.text;
}

// The four walls of a bin of 0.6 m by 0.6 m.
static void add_walls(PageText* t) {
  for (int side = 0; side < 4; side++) {
    double x = side < 2 ? 0.32 : 0, y = 0.32 - x, sign = side % 2 ? 1 : -1;
    page_text_add(t, "<geom type=\"box\" pos=\"%g %g .3\" size=\"%g %g .3\"/>", sign * x, sign * y,
                  x > 0 ? 0.02 : 0.34, x > 0 ? 0.34 : 0.02);
  }
}

// 50 primitives that fall into a bin and lie there: their friction is that of rolling, too.
static char* bin_text(void) {
  PageText t = {0};
  tbRng rng = {5};
  page_text_add(&t,
                "<mujoco><option timestep=\"0.002\" jacobian=\"sparse\"/>"
                "<size nconmax=\"1000\" njmax=\"8000\"/><default><geom condim=\"6\" "
                "friction=\".7 .02 .002\"/></default><worldbody><geom type=\"plane\" "
                "size=\"50 50 1\"/>");
  add_walls(&t);
  for (int i = 0; i < 50; i++) {
    double pos[3] = {0, 0, 0.1 + 0.1 * i};
    add_primitive(&t, &rng, i, pos, 180, 0.4);
  }
  page_text_add(&t, "</worldbody></mujoco>");
  return t.text;
}

// 100 boxes of a kilogram that fall into a bin, turned any way, and lie there.
static char* boxes_text(void) {
  enum { BOXES = 100, SIDE = 4 };
  const double PITCH = 0.15;
  PageText t = {0};
  tbRng rng = {9};
  begin(&t, BOXES);
  add_walls(&t);
  for (int i = 0; i < BOXES; i++) {
    double turn[3];
    for (int k = 0; k < 3; k++) turn[k] = tb_rng_uniform(&rng, 0, 180);
    page_text_add(&t,
                  "<body pos=\"%g %g %g\" euler=\"%g %g %g\"><freejoint/><geom type=\"box\" "
                  "size=\"%s\" mass=\"1\"/></body>",
                  PITCH * (i % SIDE - 1.5), PITCH * (i / SIDE % SIDE - 1.5),
                  0.1 + PITCH * (i / SIDE / SIDE), turn[0], turn[1], turn[2],
                  i % 2 ? ".05 .05 .05" : ".06 .04 .03");
  }
  page_text_add(&t, "</worldbody></mujoco>");
  return t.text;
}

// A heap four layers high, so that the contacts of a body do not depend on the number of bodies.
// Every other layer is shifted by half a pitch: each body falls on four, all become one island.
// They start apart.
char* pile_text(int bodies) {
  const double PITCH = 0.14, HEIGHT = 0.145;
  PageText t = {0};
  tbRng rng = {3};
  int side = (int)ceil(sqrt(bodies / 4.0));
  begin(&t, bodies);
  for (int i = 0; i < bodies; i++) {
    int layer = i / (side * side);
    double shift = layer % 2 ? 0.5 : 0;
    double pos[3] = {PITCH * (i % side + shift), PITCH * (i / side % side + shift),
                     0.09 + HEIGHT * layer};
    add_primitive(&t, &rng, i, pos, 15, 0.005);
  }
  page_text_add(&t, "</worldbody></mujoco>");
  return t.text;
}

char* scene_text(const char* name) {
  if (strcmp(name, "wall") == 0) return wall_text(false);
  if (strcmp(name, "tight wall") == 0) return wall_text(true);
  if (strcmp(name, "drop") == 0) return drop_text();
  if (strcmp(name, "packed wall") == 0) return packed_text(8, 1, 6);
  if (strcmp(name, "packed block") == 0) return packed_text(4, 4, 4);
  if (strcmp(name, "bin") == 0) return bin_text();
  if (strcmp(name, "bin of boxes") == 0) return boxes_text();
  return NULL;
}
