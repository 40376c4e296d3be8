// A first simulation of a URDF: a fixed root is part of the world, a floating one needs a floor,
// and a scene in MJCF gives it one.
#define PROCESS_NAME "urdf"
#include "cli/process.h"

#define ROBOT TB_BUILD_DIR "/cli_urdf.urdf"
#define SCENE TB_BUILD_DIR "/cli_urdf_scene.xml"

static int run(const char* arguments) {
  return finish(start(PROGRAM, "%s", arguments));
}

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int write_robot(void** state) {
  (void)state;
  write_text(ROBOT,
             "<?xml version='1.0'?><!-- <mujoco> --><robot name='r'>"
             "<link name='base'><collision><geometry><box size='0.2 0.2 0.2'/></geometry>"
             "</collision></link><link name='arm'><collision><geometry><sphere radius='0.1'/>"
             "</geometry></collision></link><link name='sensor'><collision><geometry>"
             "<sphere radius='0.01'/></geometry></collision></link>"
             "<joint name='j' type='revolute'><parent link='base'/><child link='arm'/>"
             "<origin xyz='0 0 0.15'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
             "<joint name='f' type='fixed'><parent link='arm'/><child link='sensor'/></joint>"
             "</robot>");
  return 0;
}

static int remove_files(void** state) {
  (void)state;
  remove(ROBOT);
  remove(SCENE);
  return 0;
}

static void overlaps_with_a_fixed_root_say_what_is_fixed(void** state) {
  (void)state;
  assert_int_equal(run("sim " ROBOT " --time 0.01"), 0);
  assert_file_says(STDERR_FILE,
                   "the root link is fixed and fused into the world: exclude the pair, "
                   "use --floating, or --srdf");
  // The same overlap in MJCF has no such link.
  write_text(SCENE,
             "<mujoco><worldbody><geom type='box' size='.1 .1 .1'/><body pos='0 0 .15'><joint/>"
             "<geom size='.1'/></body></worldbody></mujoco>");
  assert_int_equal(run("sim " SCENE " --time 0.01"), 0);
  assert_file_says(STDERR_FILE, "move them apart in the model");
}

static void a_floating_robot_without_floor_is_told(void** state) {
  (void)state;
  assert_int_equal(run("sim " ROBOT " --floating --time 0.01"), 0);
  assert_file_says(STDERR_FILE, "no static geom to land on");
}

static void a_scene_gives_it_a_floor(void** state) {
  (void)state;
  write_text(SCENE,
             "<mujoco><asset><model name='robot' file='cli_urdf.urdf'/></asset><worldbody>"
             "<geom type='plane' size='5 5 0.1'/><body pos='0 0 0.3'><freejoint/>"
             "<attach model='robot' prefix=''/></body></worldbody></mujoco>");
  assert_int_equal(run("sim " SCENE " --time 0.01 --strict"), 0);
  // Fixed links are bodies there, and fused with --floating.
  assert_int_equal(run("info " SCENE), 0);
  assert_file_says(STDOUT_FILE, "sensor");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlaps_with_a_fixed_root_say_what_is_fixed),
      cmocka_unit_test(a_floating_robot_without_floor_is_told),
      cmocka_unit_test(a_scene_gives_it_a_floor),
  };
  return cmocka_run_group_tests(tests, write_robot, remove_files);
}
