// Record a run, read it back, measure it, write the contact problem of a step, and draw it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

enum { WIDTH = 320, HEIGHT = 240, FRAMES = 10, STEPS = 500 };

static tbError error;

// Any arrays of the world, a row per step; contacts, a row each, in a file of their own.
static int record(const tbModel* m, tbData* d) {
  tbRecording* states = tb_record_open("run.csv", m, "time,qpos,qvel", &error);
  tbRecording* contacts = states ? tb_record_open("contacts.csv", m, "contacts", &error) : NULL;
  int good = contacts != NULL;
  for (int i = 0; good && i < STEPS; i++) {
    good = tb_step(m, d) == TB_OK && tb_record_append(states, m, d, &error) == TB_OK &&
           tb_record_append(contacts, m, d, &error) == TB_OK;
  }
  good = tb_record_close(states, NULL) == TB_OK && good;
  return tb_record_close(contacts, NULL) == TB_OK && good;
}

// The states come back by name, at any time.
static int replay(const tbModel* m, tbData* d) {
  tbSeries series;
  if (tb_series_read("run.csv", m, "qpos", &series, &error) != TB_OK) return 0;
  const tbReal* row = series.value + series.width * tb_series_row(&series, 0.4, m->opt.timestep);
  for (int i = 0; i < m->nq; i++) d->qpos[i] = row[i];
  printf("%d rows of %d numbers; after 0.4 s the cube is at x = %.3f m\n", series.rows,
         series.width, d->qpos[0]);
  tb_series_free(&series);
  return tb_forward(m, d) == TB_OK;
}

// How far are the paths of two laws apart, and how much do contacts press against each other?
static int compare(tbModel* m) {
  static tbReal path[2][3 * STEPS];
  const char* const LAWS[] = {"ncp", "soft"};
  tbReal end, inner = 0;
  for (int k = 0; k < 2; k++) {
    tbData* d = tb_data_new(m);
    tb_option_set(&m->opt, "law", LAWS[k], &error);
    tb_reset_keyframe(m, d, 0);
    for (int i = 0; i < STEPS && tb_step(m, d) == TB_OK; i++) {
      for (int c = 0; c < 3; c++) path[k][3 * i + c] = d->xpos[3 + c];
    }
    if (tb_internal_force(m, d, NULL, &inner, &error) != TB_OK) return 0;
    printf("%s: internal forces %.2e N\n", LAWS[k], inner);
    tb_data_free(d);
  }
  tbPath exact = {path[0], STEPS, 1, m->opt.timestep}, soft = {path[1], STEPS, 1, m->opt.timestep};
  tbReal apart = tb_path_distance(&soft, &exact, &end);
  printf("soft from ncp: %.2e m s, at the end %.2e m\n", apart, end);
  return apart > 0 && end > 0;
}

// The contact problem of the present state, for other programs: FCLIB, where HDF5 is installed.
static int write_problem(const tbModel* m, tbData* d, const char* path) {
  tbFclib* fclib = NULL;
  tbProblem* problem = tb_forward(m, d) == TB_OK ? tb_step_problem(m, d, &error) : NULL;
  int good = problem && tb_fclib_of_problem(problem, &fclib, &error) == TB_OK;
  tb_problem_free(problem);
  if (!good) return 0;
  tbResult result = tb_fclib_write(fclib, TB_FCLIB_CSR, path, &error);
  puts(result == TB_OK ? path : error.message);
  tb_fclib_free(fclib);
  return result == TB_OK || result == TB_ERROR_UNSUPPORTED;
}

// An animation with contact forces, from a camera that sees the whole run: the run is made twice.
static int draw(tbModel* m, tbData* d, const char* path) {
  unsigned char* rgb = malloc(3 * WIDTH * HEIGHT);
  tbRenderer* renderer = tb_renderer_new(WIDTH, HEIGHT, &error);
  tbPng* png = tb_png_open(path, WIDTH, HEIGHT, FRAMES, 50, &error);
  tbRenderOptions options = {.force_scale = tb_force_scale(m, d)};
  tbRenderWorld world = {.data = d, .label = "ncp"};
  tbCamera camera = tbDefaultCamera();
  tbCameraFit fit = tb_camera_fit_begin(&camera, WIDTH, HEIGHT);
  int good = rgb && renderer && png;
  for (int i = 0; good && i < 2 * FRAMES; i++) {
    if (i % FRAMES == 0) tb_reset_keyframe(m, d, 0);
    for (int k = 0; k < STEPS / FRAMES; k++) good = good && tb_step(m, d) == TB_OK;
    if (i < FRAMES) {
      tb_camera_fit_add(&fit, m, d, options.force_scale);
      camera = tb_camera_fit_end(&fit);
    } else {
      good = good && tb_render(renderer, m, &world, 1, &camera, &options, rgb, &error) == TB_OK &&
             tb_png_frame(png, rgb, &error) == TB_OK;
    }
  }
  tb_renderer_free(renderer);
  free(rgb);
  return (tb_png_close(png) == FRAMES) && good;
}

int main(int argc, char** argv) {
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/sliding_cube.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  tbData* d = tb_data_new(m);
  tb_reset_keyframe(m, d, 0);
  int good = record(m, d) && replay(m, d) && compare(m);
  tb_option_set(&m->opt, "law", "ncp", &error);
  good = good && write_problem(m, d, "problem.hdf5") && draw(m, d, "run.png");
  if (!good) fprintf(stderr, "%s %s\n", error.message, d->message);
  tb_data_free(d);
  tb_model_free(m);
  return good ? 0 : 1;
}
