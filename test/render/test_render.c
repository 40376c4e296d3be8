// The renderer of the library: cameras, framing, arrows, labels, and refused input.
#include "tribo/render.h"

#include "common/test.h"
#include "tribo/tribo.h"

enum { WIDTH = 120, HEIGHT = 90, BYTES = 3 * WIDTH * HEIGHT };

static const char SCENE[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='0 0 1'/>"
    "<camera name='above' pos='0 0 4' fovy='30'/>"
    "<camera name='chip' pos='0 0 4' focal='0.02 0.02' sensorsize='0.02 0.02' resolution='9 9'/>"
    "<body name='red' pos='0 0 0.2'><freejoint/>"
    "<geom type='box' size='0.2 0.2 0.2' rgba='1 0 0 1'/></body>"
    "<body name='green' pos='2 1 0.1'><freejoint/>"
    "<geom type='sphere' size='0.1' rgba='0 1 0 1'/></body></worldbody></mujoco>";

static tbModel* m;
static tbData* d;
static tbRenderer* renderer;
static unsigned char rgb[BYTES], other[BYTES];

static int open_all(void** state) {
  (void)state;
  tbError error;
  m = tb_load_string(SCENE, NULL, NULL, &error);
  d = m ? tb_data_new(m) : NULL;
  renderer = tb_renderer_new(WIDTH, HEIGHT, &error);
  return d && renderer && tb_forward(m, d) == TB_OK ? 0 : -1;
}

static int close_all(void** state) {
  (void)state;
  tb_renderer_free(renderer);
  tb_data_free(d);
  tb_model_free(m);
  return 0;
}

static void draw(const tbCamera* camera, const tbRenderOptions* options, unsigned char* out) {
  tbError error;
  const tbRenderWorld world = {.data = d};
  if (tb_render(renderer, m, &world, 1, camera, options, out, &error) != TB_OK) {
    fail_msg("%s", error.message);
  }
}

// Pixels of which channel `k` is far above both others: their number, the middle of them, and
// whether they touch the edge of the picture.
typedef struct {
  int count;
  double x, y;
  bool at_edge;
} Patch;

static Patch find(const unsigned char* picture, int k) {
  Patch p = {0};
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++) {
      const unsigned char* pixel = picture + 3 * (y * WIDTH + x);
      if (pixel[k] < 60 || pixel[k] < 2 * pixel[(k + 1) % 3] || pixel[k] < 2 * pixel[(k + 2) % 3]) {
        continue;
      }
      p.count++;
      p.x += x;
      p.y += y;
      p.at_edge = p.at_edge || x == 0 || y == 0 || x == WIDTH - 1 || y == HEIGHT - 1;
    }
  }
  p.x /= p.count;
  p.y /= p.count;
  return p;
}

// Along +x at azimuth 0: +y is on the left. Along +y at 90: +x is on the right. From above at a
// positive elevation: farther points are higher in the picture.
static void the_signs_of_the_free_camera(void** state) {
  (void)state;
  tbCamera camera = tbDefaultCamera();
  const tbReal middle[3] = {1, 0.5, 0.1};
  memcpy(camera.lookat, middle, sizeof middle);
  camera.distance = 6;
  camera.elevation = 10;
  camera.azimuth = 0;
  draw(&camera, NULL, rgb);
  assert_true(find(rgb, 0).count > 20 && find(rgb, 1).count > 3);
  assert_true(find(rgb, 1).x < find(rgb, 0).x);
  camera.azimuth = 90;
  draw(&camera, NULL, rgb);
  assert_true(find(rgb, 1).x > find(rgb, 0).x);
  camera.elevation = 60;
  draw(&camera, NULL, rgb);
  assert_true(find(rgb, 1).y < find(rgb, 0).y);
  // Straight down, with the direction of the azimuth up.
  camera.elevation = 90;
  draw(&camera, NULL, rgb);
  assert_true(find(rgb, 1).y < find(rgb, 0).y && find(rgb, 1).x > find(rgb, 0).x);
}

// Both bodies are wholly in the picture from any side, and fill a good part of it.
static void the_fit_sees_everything_closely(void** state) {
  (void)state;
  for (int k = 0; k < 12; k++) {
    tbCamera camera = tbDefaultCamera();
    camera.azimuth = 30 * k;
    camera.elevation = 5 + 7 * k;
    tbCameraFit fit = tb_camera_fit_begin(&camera, WIDTH, HEIGHT);
    tb_camera_fit_add(&fit, m, d, 0);
    camera = tb_camera_fit_end(&fit);
    draw(&camera, NULL, rgb);
    Patch red = find(rgb, 0), green = find(rgb, 1);
    // One may hide the other.
    assert_true(red.count > 0 || green.count > 0);
    assert_false(red.at_edge || green.at_edge);
    // One step nearer along the view, and something would leave the frame.
    camera.distance *= 0.7;
    draw(&camera, NULL, rgb);
    assert_true(find(rgb, 0).at_edge || find(rgb, 1).at_edge || find(rgb, 0).count == 0 ||
                find(rgb, 1).count == 0);
  }
  // Several states: the place where the sphere was is seen, too.
  tbCameraFit one = tb_camera_fit_begin(NULL, WIDTH, HEIGHT), two = one;
  tb_camera_fit_add(&one, m, d, 0);
  tb_camera_fit_add(&two, m, d, 0);
  d->qpos[7] = 8;
  assert_int_equal(tb_forward(m, d), TB_OK);
  tb_camera_fit_add(&two, m, d, 0);
  assert_true(tb_camera_fit_end(&two).distance > 1.5 * tb_camera_fit_end(&one).distance);
  tb_reset(m, d);
  assert_int_equal(tb_forward(m, d), TB_OK);
}

static void cameras_of_the_file_are_used(void** state) {
  (void)state;
  tbCamera camera = {.id = tb_name2id(m, TB_OBJ_CAMERA, "above")};
  draw(&camera, NULL, rgb);
  // 30 degrees from 3.6 m above the box: 0.4 m are 0.4 / (2 * 3.6 * tan 15) of the height.
  double side = HEIGHT * 0.4 / (2 * 3.6 * tan(15 * acos(-1) / 180));
  Patch red = find(rgb, 0);
  assert_near(red.count, side * side, 0.08 * side * side);
  assert_near(red.x, 0.5 * WIDTH - 0.5, 1.5);
  assert_near(red.y, 0.5 * HEIGHT - 0.5, 1.5);
  // A focal length of the chip's size is a field of view of 2 atan(1/2).
  camera.id = tb_name2id(m, TB_OBJ_CAMERA, "chip");
  draw(&camera, NULL, rgb);
  side = HEIGHT * 0.4 / 3.6;
  assert_near(find(rgb, 0).count, side * side, 0.12 * side * side);
}

static void arrows_have_their_scale(void** state) {
  (void)state;
  for (int i = 0; i < 200; i++) assert_int_equal(tb_step(m, d), TB_OK);
  tbReal scale = tb_force_scale(m, d);
  assert_true(scale > 0 && d->ncon > 0);
  // The weight is half as long as the box of both bodies is large.
  assert_near(scale * 9.81 * (m->body_mass[1] + m->body_mass[2]),
              0.5 * sqrt(2.3 * 2.3 + 1.3 * 1.3 + 0.4 * 0.4), 1e-3);
  draw(NULL, NULL, rgb);
  draw(NULL, &(tbRenderOptions){.force_scale = scale}, other);
  assert_memory_not_equal(rgb, other, BYTES);
  draw(NULL, &(tbRenderOptions){.force_scale = 0}, other);
  assert_memory_equal(rgb, other, BYTES);
  tb_reset(m, d);
  assert_int_equal(tb_forward(m, d), TB_OK);
}

// Labels are drawn in the colour of their world; the same picture gives the same bytes.
static void worlds_have_labels_and_colours(void** state) {
  (void)state;
  tbError error;
  tbRenderWorld worlds[2] = {{.data = d, .label = "ncp"}, {.data = d, .label = "soft"}};
  assert_int_equal(tb_render(renderer, m, worlds, 2, NULL, NULL, rgb, &error), TB_OK);
  assert_int_equal(tb_render(renderer, m, worlds, 2, NULL, NULL, other, &error), TB_OK);
  assert_memory_equal(rgb, other, BYTES);
  for (int i = 0; i < 2; i++) {
    unsigned char colour[3];
    int count = 0;
    tb_render_colour(i, colour);
    for (int k = 0; k < BYTES; k += 3) count += memcmp(rgb + k, colour, 3) == 0;
    assert_true(count > 20);
  }
  worlds[1].label = NULL;
  assert_int_equal(tb_render(renderer, m, worlds, 2, NULL, NULL, other, &error), TB_OK);
  assert_memory_not_equal(rgb, other, BYTES);
}

#define REFUSED(call, says)                                          \
  do {                                                               \
    tbError error = {TB_OK, ""};                                     \
    assert_int_equal(call, TB_ERROR_ARGUMENT);                       \
    if (!strstr(error.message, says)) fail_msg("%s", error.message); \
  } while (0)

static void wrong_arguments_are_named(void** state) {
  (void)state;
  tbError e;
  assert_null(tb_renderer_new(0, 5, &e));
  assert_non_null(strstr(e.message, "0 x 5"));
  assert_null(tb_renderer_new(5, TB_RENDER_MOST_PIXELS + 1, &e));
  const tbRenderWorld world = {.data = d}, none = {.data = NULL};
  tbCamera camera = tbDefaultCamera();
  REFUSED(tb_render(NULL, m, &world, 1, NULL, NULL, rgb, &error), "renderer is NULL");
  REFUSED(tb_render(renderer, m, &world, 0, NULL, NULL, rgb, &error), "count is 0");
  REFUSED(tb_render(renderer, m, &none, 1, NULL, NULL, rgb, &error), "worlds[0]");
  camera.distance = 0;
  REFUSED(tb_render(renderer, m, &world, 1, &camera, NULL, rgb, &error), "distance");
  camera = tbDefaultCamera();
  camera.azimuth = NAN;
  REFUSED(tb_render(renderer, m, &world, 1, &camera, NULL, rgb, &error), "azimuth");
  camera = tbDefaultCamera();
  camera.fovy = 180;
  REFUSED(tb_render(renderer, m, &world, 1, &camera, NULL, rgb, &error), "fovy");
  camera.id = 2;
  REFUSED(tb_render(renderer, m, &world, 1, &camera, NULL, rgb, &error), "camera 2");
  const tbRenderOptions options = {.force_scale = -1};
  REFUSED(tb_render(renderer, m, &world, 1, NULL, &options, rgb, &error), "force_scale");
  assert_int_equal(tb_render(renderer, m, &none, 1, NULL, NULL, rgb, NULL), TB_ERROR_ARGUMENT);
  tb_renderer_free(NULL);
  tb_camera_fit_add(NULL, m, d, 0);
  assert_true(tb_force_scale(NULL, d) == 0);
}

// A world that has exploded is a picture too.
static void poses_that_are_not_finite_are_survived(void** state) {
  (void)state;
  d->geom_xpos[3] = NAN;
  d->geom_xpos[6] = 1e300;
  draw(NULL, NULL, rgb);
  tb_reset(m, d);
  assert_int_equal(tb_forward(m, d), TB_OK);
}

static void png_files_are_complete_or_refused(void** state) {
  (void)state;
  tbError error = {TB_OK, ""};
#ifdef TB_WITH_ZLIB
  static const char PATH[] = TB_BUILD_DIR "/test_render.png";
  assert_null(tb_png_open("/nonexistent/x.png", 4, 4, 1, 0, &error));
  assert_int_equal(error.code, TB_ERROR_FILE);
  assert_null(tb_png_open(PATH, 0, 4, 1, 0, &error));
  assert_int_equal(error.code, TB_ERROR_ARGUMENT);
  tbPng* png = tb_png_open(PATH, WIDTH, HEIGHT, 1, 0, &error);
  assert_non_null(png);
  draw(NULL, NULL, rgb);
  assert_int_equal(tb_png_frame(png, rgb, &error), TB_OK);
  assert_int_equal(tb_png_frame(png, rgb, &error), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_png_close(png), 1);
  remove(PATH);
#else
  assert_null(tb_png_open("x.png", 4, 4, 1, 0, &error));
  assert_int_equal(error.code, TB_ERROR_UNSUPPORTED);
#endif
  assert_int_equal(tb_png_close(NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_signs_of_the_free_camera),
      cmocka_unit_test(the_fit_sees_everything_closely),
      cmocka_unit_test(cameras_of_the_file_are_used),
      cmocka_unit_test(arrows_have_their_scale),
      cmocka_unit_test(worlds_have_labels_and_colours),
      cmocka_unit_test(wrong_arguments_are_named),
      cmocka_unit_test(poses_that_are_not_finite_are_survived),
      cmocka_unit_test(png_files_are_complete_or_refused),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
