// `tribo render` as a user runs it: a PNG of the right size that shows something.
#include <sys/wait.h>

#include "common/test.h"

static int run(const char* arguments) {
  char command[8192];
  snprintf(command, sizeof command, "'%s/tribo' render %s 2>/dev/null", TB_BUILD_DIR, arguments);
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Pictures need zlib.
static bool has_render(void) {
#ifdef TB_WITH_ZLIB
  return true;
#else
  return false;
#endif
}

// The whole file; the caller frees it.
static unsigned char* read_file(const char* path, size_t* size) {
  FILE* f = fopen(path, "rb");
  assert_non_null(f);
  unsigned char* bytes = malloc(1 << 22);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 22, f);
  fclose(f);
  return bytes;
}

static uint32_t word(const unsigned char* p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// Chunks in order, each whole; how many have that type.
static int count_chunks(const unsigned char* bytes, size_t size, const char* type) {
  int count = 0;
  size_t at = 8;
  while (at + 12 <= size) {
    uint32_t length = word(bytes + at);
    count += memcmp(bytes + at + 4, type, 4) == 0;
    at += 12 + (size_t)length;
  }
  assert_int_equal(at, size);
  return count;
}

static void draws_a_still(void** state) {
  (void)state;
  if (!has_render()) skip();
  char arguments[2048], path[1024];
  snprintf(path, sizeof path, "%s/render_test.png", TB_BUILD_DIR);
  snprintf(arguments, sizeof arguments,
           "'%s/stack.xml' --size 120x90 --forces --time 0.01 --out '%s'", TB_SCENES_DIR, path);
  assert_int_equal(run(arguments), 0);
  size_t size;
  unsigned char* bytes = read_file(path, &size);
  assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
  assert_int_equal(word(bytes + 16), 120);
  assert_int_equal(word(bytes + 20), 90);
  assert_int_equal(count_chunks(bytes, size, "IDAT"), 1);
  assert_int_equal(count_chunks(bytes, size, "acTL"), 0);
  // A picture of one colour would pack into almost nothing.
  assert_true(size > 2000);
  free(bytes);
  remove(path);
}

static void draws_an_animation(void** state) {
  (void)state;
  if (!has_render()) skip();
  char arguments[2048], path[1024];
  snprintf(path, sizeof path, "%s/render_frames.png", TB_BUILD_DIR);
  snprintf(arguments, sizeof arguments,
           "'%s/sliding_cube.xml' --key thrown --time 0.3 --frames 4 --size 80x60 --out '%s'",
           TB_SCENES_DIR, path);
  assert_int_equal(run(arguments), 0);
  size_t size;
  unsigned char* bytes = read_file(path, &size);
  assert_int_equal(count_chunks(bytes, size, "fcTL"), 4);
  assert_int_equal(count_chunks(bytes, size, "fdAT"), 3);
  free(bytes);
  remove(path);
}

static void refuses_what_it_cannot_do(void** state) {
  (void)state;
  if (!has_render()) skip();
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml'"), 2);
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml' --out /nonexistent/x.png"), 2);
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml' --size 0x0 --out x.png"), 2);
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml' --key nobody --out x.png"), 2);
  assert_int_equal(run("missing.xml --out x.png"), 2);
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml' --out x.jpg"), 2);
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml' --camera nan,1 --out x.png"), 2);
  // A number with something behind it is none.
  static const char* const BAD[] = {"--time 1s",       "--start 0.1x",   "--frames 2.5",
                                    "--size 80x60x",   "--camera 1,2,x", "--camera 1,2,3,4",
                                    "--lookat 1,2,3m", "--time"};
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    char arguments[2048];
    snprintf(arguments, sizeof arguments, "'%s/stack.xml' --out x.png %s", TB_SCENES_DIR, BAD[i]);
    if (run(arguments) != 2) fail_msg("'%s' is not refused", BAD[i]);
  }
}

static void write_file(const char* path, const char* text) {
  FILE* f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

// A state from a file gives the picture of that state.
static void replays_a_file(void** state) {
  (void)state;
  if (!has_render()) skip();
  char arguments[2600], csv[1024], drawn[1024], replayed[1024];
  snprintf(csv, sizeof csv, "%s/render_states.csv", TB_BUILD_DIR);
  snprintf(drawn, sizeof drawn, "%s/render_drawn.png", TB_BUILD_DIR);
  snprintf(replayed, sizeof replayed, "%s/render_replayed.png", TB_BUILD_DIR);
  snprintf(arguments, sizeof arguments, "'%s/sliding_cube.xml' --size 80x60 --out '%s'",
           TB_SCENES_DIR, drawn);
  assert_int_equal(run(arguments), 0);
  snprintf(arguments, sizeof arguments,
           "'%s/sliding_cube.xml' --replay '%s' --size 80x60 --out '%s'", TB_SCENES_DIR, csv,
           replayed);

  // Columns in any order, one without a name among them; the same pose from the first to the last
  // state gives the same picture.
  write_file(csv,
             "time,qpos2,,qpos0,qpos1,qpos3,qpos4,qpos5,qpos6,ncon\n"
             "0,0.1,7,0,0,1,0,0,0,0\n0.1,0.1,,0,0,1,0,0,0,4\n");
  assert_int_equal(run(arguments), 0);
  size_t size[2];
  unsigned char* bytes[2] = {read_file(drawn, &size[0]), read_file(replayed, &size[1])};
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(bytes[0], bytes[1], size[0]);
  free(bytes[1]);

  // Another last state gives another one.
  write_file(csv,
             "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6\n"
             "0,0,0,0.1,1,0,0,0\n0.1,0,0,0.3,1,0,0,0\n");
  assert_int_equal(run(arguments), 0);
  bytes[1] = read_file(replayed, &size[1]);
  assert_true(size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0);
  free(bytes[0]);
  free(bytes[1]);
  remove(csv);
  remove(drawn);
  remove(replayed);
}

// A picture; its size, and bytes that the caller frees.
static unsigned char* picture_of(const char* arguments, const char* path, size_t* size) {
  if (run(arguments) != 0) fail_msg("'%s' fails", arguments);
  return read_file(path, size);
}

// Arrows of a replayed run are those of the run: friction follows from the velocity, the normal
// force from the control.
static void replayed_forces_are_those_of_the_run(void** state) {
  (void)state;
  if (!has_render()) skip();
#define FORCES TB_BUILD_DIR "/render_forces"
  write_file(FORCES ".xml",
             "<mujoco><worldbody><geom type='plane' size='3 3 0.1'/>"
             "<body name='ball' pos='0 0 0.1'><joint type='slide' axis='1 0 0'/>"
             "<joint name='lift' type='slide' axis='0 0 1'/><geom type='sphere' size='0.1'/></body>"
             "</worldbody><actuator><motor joint='lift' gear='-1'/></actuator>"
             "<keyframe><key name='slide' qvel='1 0' ctrl='60'/></keyframe></mujoco>");
  static const char VIEW[] =
      "--forces --force-scale 0.005 --size 120x90 --camera 90,10,2 --lookat 0,0,0.2";
  char arguments[2600];
  size_t size[2];
  snprintf(arguments, sizeof arguments,
           "'" FORCES ".xml' --key slide --start 0.1 %s --out '" FORCES "_run.png'", VIEW);
  unsigned char* of_run = picture_of(arguments, FORCES "_run.png", &size[0]);
  int status =
      system("'" TB_BUILD_DIR "/tribo' sim '" FORCES ".xml' --key slide --time 0.1 --out '" FORCES
             ".csv' > '" FORCES ".txt' 2>&1");
  assert_int_equal(status, 0);
  // From the first row, a time step after the start, to the last one.
  snprintf(arguments, sizeof arguments,
           "'" FORCES ".xml' --replay '" FORCES ".csv' %s --start 0.098 --out '" FORCES
           "_replay.png'",
           VIEW);
  unsigned char* of_replay = picture_of(arguments, FORCES "_replay.png", &size[1]);
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(of_run, of_replay, size[0]);
  free(of_run);
  free(of_replay);

  // Poses alone have no forces, nor do springs with a memory.
  snprintf(arguments, sizeof arguments,
           "'" FORCES ".xml' --replay '" FORCES ".csv' %s --law viscoelastic --out x.png", VIEW);
  assert_int_equal(run(arguments), 2);
  write_file(FORCES ".csv", "0,0\n0,0\n");
  snprintf(arguments, sizeof arguments, "'" FORCES ".xml' --replay '" FORCES ".csv' %s --out x.png",
           VIEW);
  assert_int_equal(run(arguments), 2);
  snprintf(arguments, sizeof arguments,
           "'" FORCES ".xml' --replay '" FORCES ".csv' --size 80x60 --out '" FORCES "_replay.png'");
  assert_int_equal(run(arguments), 0);
  static const char* const FILES[] = {".xml", ".csv", ".txt", "_run.png", "_replay.png"};
  for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
    snprintf(arguments, sizeof arguments, FORCES "%s", FILES[i]);
    remove(arguments);
  }
}

// From so near that corners lie beyond any integer the picture still ends.
static void draws_from_very_near(void** state) {
  (void)state;
  if (!has_render()) skip();
  assert_int_equal(run("'" TB_SCENES_DIR "/sliding_cube.xml' --camera 0,0,1e-300 --size 9x9 --out "
                       "'" TB_BUILD_DIR "/render_near.png'"),
                   0);
  remove(TB_BUILD_DIR "/render_near.png");
}

// A scene drawn with some options; the caller frees the file's bytes.
static unsigned char* draw(const char* options, size_t* size) {
  char arguments[2600], path[1024];
  snprintf(path, sizeof path, "%s/render_compared.png", TB_BUILD_DIR);
  snprintf(arguments, sizeof arguments,
           "'%s/sliding_cube.xml' --key thrown --size 80x60 --out '%s' %s", TB_SCENES_DIR, path,
           options);
  assert_int_equal(run(arguments), 0);
  unsigned char* bytes = read_file(path, size);
  remove(path);
  return bytes;
}

// Two laws in one picture are two cubes where they differ; trails and cameras show.
static void compares_laws(void** state) {
  (void)state;
  if (!has_render()) skip();
  enum { PICTURES = 6 };
  static const char* const options[PICTURES] = {"--compare ncp,lcp",  "--compare ncp,ncp",
                                                "--frames 3 --trail", "--frames 3",
                                                "--lookat 0.3,0,0",   ""};
  unsigned char* bytes[PICTURES];
  size_t size[PICTURES];
  for (int i = 0; i < PICTURES; i++) {
    char all[256];
    snprintf(all, sizeof all, "--time 0.4 --camera 90,60,2 %s", options[i]);
    bytes[i] = draw(all, &size[i]);
  }
  for (int i = 0; i + 1 < PICTURES; i++) {
    assert_true(size[i] != size[i + 1] || memcmp(bytes[i], bytes[i + 1], size[i]) != 0);
  }
  for (int i = 0; i < PICTURES; i++) free(bytes[i]);

  // With a camera at rest a later frame holds only what changed; the last one is seen for long.
  size_t length;
  unsigned char* frames = draw("--time 0.2 --frames 3 --camera 90,60,2", &length);
  int seen = 0;
  for (size_t at = 8; at + 12 <= length; at += 12 + (size_t)word(frames + at)) {
    if (memcmp(frames + at + 4, "fcTL", 4) != 0) continue;
    const unsigned char* control = frames + at + 8;
    int delay = control[20] << 8 | control[21];
    assert_int_equal(word(control + 4) < 80, seen > 0);
    assert_true(word(control + 4) + word(control + 12) <= 80);
    assert_true(word(control + 8) + word(control + 16) <= 60);
    assert_int_equal(delay, seen == 2 ? 1200 : 100);
    seen++;
  }
  assert_int_equal(seen, 3);
  free(frames);
  const char* scene = "'" TB_SCENES_DIR "/sliding_cube.xml' --out x.png ";
  static const char* const bad[4] = {"--compare nonsense", "--compare ,",
                                     "--compare ncp,ncp,ncp,ncp,ncp,ncp,ncp,ncp", "--lookat 1,2"};
  for (int i = 0; i < 4; i++) {
    char arguments[1024];
    snprintf(arguments, sizeof arguments, "%s%s", scene, bad[i]);
    assert_int_not_equal(run(arguments), 0);
  }
}

static void write_scene(const char* path) {
  write_file(path,
             "<mujoco><worldbody><camera name='front' pos='0 -3 0.5' xyaxes='1 0 0 0 0 1'/>"
             "<geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/>"
             "<geom size='0.1'/></body></worldbody></mujoco>");
}

static void cameras_have_names(void** state) {
  (void)state;
  if (!has_render()) skip();
  static const char SCENE[] = TB_BUILD_DIR "/render_camera.xml";
  static const char* const options[2] = {"--camera front", ""};
  unsigned char* bytes[2];
  size_t size[2];
  write_scene(SCENE);
  for (int i = 0; i < 2; i++) {
    char arguments[2600], path[1024];
    snprintf(path, sizeof path, "%s/render_camera_%d.png", TB_BUILD_DIR, i);
    snprintf(arguments, sizeof arguments, "'%s' --size 80x60 --out '%s' %s", SCENE, path,
             options[i]);
    assert_int_equal(run(arguments), 0);
    bytes[i] = read_file(path, &size[i]);
    remove(path);
  }
  assert_true(size[0] != size[1] || memcmp(bytes[0], bytes[1], size[0]) != 0);
  assert_int_equal(run("'" TB_BUILD_DIR "/render_camera.xml' --out x.png --camera frnot"), 2);
  assert_int_equal(run("'" TB_BUILD_DIR "/render_camera.xml' --out x.png --camera front --follow"),
                   2);
  for (int i = 0; i < 2; i++) free(bytes[i]);
  remove(SCENE);
}

// Beside each other: three pictures in one, the first of which is that of the first law.
static void laws_stand_beside_each_other(void** state) {
  (void)state;
  if (!has_render()) skip();
  size_t size[2];
  unsigned char* one = draw("--compare ncp,soft,lcp --time 0.2", &size[0]);
  unsigned char* beside = draw("--compare ncp,soft,lcp --time 0.2 --beside", &size[1]);
  assert_true(size[0] != size[1] || memcmp(one, beside, size[0]) != 0);
  free(one);
  free(beside);
}

// MP4 by ffmpeg where it is installed, else a message that says so.
static void films_are_mp4(void** state) {
  (void)state;
  static const char FILM[] = TB_BUILD_DIR "/render_film.mp4";
  bool there = system("command -v ffmpeg >/dev/null 2>&1") == 0;
  char arguments[2048];
  snprintf(arguments, sizeof arguments,
           "'%s/sliding_cube.xml' --key thrown --time 0.2 --frames 4 --size 81x61 --out '%s'",
           TB_SCENES_DIR, FILM);
  assert_int_equal(run(arguments), there ? 0 : 2);
  if (there) {
    size_t size;
    unsigned char* bytes = read_file(FILM, &size);
    assert_memory_equal(bytes + 4, "ftyp", 4);
    free(bytes);
    remove(FILM);
  }
  // No folder of PATH has it.
  char command[4096];
  snprintf(command, sizeof command, "PATH=/nonexistent '%s/tribo' render %s 2>'%s/render_film.txt'",
           TB_BUILD_DIR, arguments, TB_BUILD_DIR);
  assert_int_equal(WEXITSTATUS(system(command)), 2);
  size_t size;
  unsigned char* text = read_file(TB_BUILD_DIR "/render_film.txt", &size);
  text[size] = 0;
  assert_non_null(strstr((char*)text, "needs the program ffmpeg"));
  free(text);
  remove(TB_BUILD_DIR "/render_film.txt");
}

static void refuses_bad_files(void** state) {
  (void)state;
  if (!has_render()) skip();
  static const char* const BAD[] = {
      "", "time,qpos0\n0,1\n", "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6\n",
      "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6\n0,0,0,nan,1,0,0,0\n",
      "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6\n0,0,0,0,1,0\n",
      // A file of a model with more coordinates.
      "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6,qpos7\n0,0,0,0.1,1,0,0,0,0\n",
      "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6\n1,0,0,0,1,0,0,0\n0,0,0,0,1,0,0,0\n"};
  char arguments[2600], csv[1024], out[1024];
  snprintf(csv, sizeof csv, "%s/render_bad.csv", TB_BUILD_DIR);
  snprintf(out, sizeof out, "%s/render_bad.png", TB_BUILD_DIR);
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    write_file(csv, BAD[i]);
    snprintf(arguments, sizeof arguments, "'%s/sliding_cube.xml' --replay '%s' --out '%s'",
             TB_SCENES_DIR, csv, out);
    assert_int_equal(run(arguments), 2);
  }
  remove(csv);
  assert_int_equal(run("'" TB_SCENES_DIR "/stack.xml' --replay missing.csv --out x.png"), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_a_still),
      cmocka_unit_test(draws_an_animation),
      cmocka_unit_test(replays_a_file),
      cmocka_unit_test(replayed_forces_are_those_of_the_run),
      cmocka_unit_test(compares_laws),
      cmocka_unit_test(refuses_bad_files),
      cmocka_unit_test(refuses_what_it_cannot_do),
      cmocka_unit_test(draws_from_very_near),
      cmocka_unit_test(cameras_have_names),
      cmocka_unit_test(laws_stand_beside_each_other),
      cmocka_unit_test(films_are_mp4),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
