#include "common/robots.h"

#include "common/test.h"

static const char* const FILES[TB_TEST_ROBOT_COUNT] = {
    "mujoco/model/humanoid/humanoid.xml",
    "mujoco/model/car/car.xml",
    "mujoco/model/cube/cube_3x3x3.xml",
    "mujoco/model/replicate/newton_cradle.xml",
    "mujoco/model/slider_crank/slider_crank.xml",
    "mujoco/model/tendon_arm/arm26.xml",
    "mujoco_menagerie/agility_cassie/scene.xml",
    "mujoco_menagerie/anybotics_anymal_c/scene.xml",
    "mujoco_menagerie/anybotics_anymal_c/scene_mjx.xml",
    "mujoco_menagerie/leap_hand/scene_left.xml",
    "mujoco_menagerie/leap_hand/scene_right.xml",
    "mujoco_menagerie/pal_talos/scene_motor.xml",
    "mujoco_menagerie/pal_talos/scene_position.xml",
    "mujoco_menagerie/unitree_g1/scene.xml",
    "mujoco_menagerie/unitree_g1/scene_mjx.xml",
    "mujoco_menagerie/unitree_go2/scene.xml",
    "mujoco_menagerie/unitree_go2/scene_mjx.xml",
    "mujoco_menagerie/universal_robots_ur5e/scene.xml",
    "mujoco_menagerie/wonik_allegro/scene_left.xml",
    "mujoco_menagerie/wonik_allegro/scene_right.xml",
    "example-robot-data/robots/allegro_hand_description/urdf/allegro_left_hand.urdf",
    "example-robot-data/robots/romeo_description/urdf/romeo_small.urdf",
    "example-robot-data/robots/solo_description/robots/solo12.urdf",
    "example-robot-data/robots/talos_data/robots/talos_reduced.urdf",
    "example-robot-data/robots/ur_description/urdf/ur5_robot.urdf",
};

const char* tb_test_robot_name(int index) {
  return FILES[index];
}

void tb_test_robot_compiled(int index, const char* folder, char* path, size_t size) {
  size_t start = (size_t)snprintf(path, size, "%s/", folder);
  snprintf(path + start, size - start, "%s.tbm", FILES[index]);
  for (char* c = path + start; *c; c++) {
    if (*c == '/') *c = '-';
  }
}

tbModel* tb_test_robot(int index) {
  char relative[512], path[1024];
  snprintf(relative, sizeof relative, "models/%s", FILES[index]);
  if (!tb_test_shared(relative, path, sizeof path)) return NULL;
  tbLoadOptions options = tbDefaultLoadOptions();
  tbError error;
  options.floating_base = 1;
  tbModel* m = tb_load(path, &options, &error);
  if (!m) print_message("skipped: %s: %s\n", FILES[index], error.message);
  return m;
}
