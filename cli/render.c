// `tribo render`: a picture or a short animation of a model, without a display.
#ifdef TB_WITH_ZLIB
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apng.h"
#include "args.h"
#include "commands.h"
#include "replay.h"
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo render MODEL --out FILE.png [--key NAME] [--time X] [--frames N] [--size WxH]\n"
    "             [--camera AZIMUTH,ELEVATION[,DISTANCE]] [--follow] [--forces] [--replay "
    "FILE.csv]\n"
    "             [--law L] [--option NAME=VALUE]\n\n"
    "Simulates for --time seconds (default 0: the pose as it is) and draws the end, or with "
    "--frames\n"
    "N pictures on the way as an animated PNG. --replay takes the states from a file of `tribo "
    "sim\n"
    "--out` instead. --follow moves the camera with the first body, --forces draws contact forces "
    "as\narrows.\n\n" MODEL_ARGS_USAGE;

typedef struct {
  ModelArgs model;
  const char *out, *key, *camera, *replay;
  double time;
  int frames, width, height;
  bool forces, follow;
} Arguments;

static bool parse(Arguments* a, int argc, char** argv) {
  for (int i = 0; i < argc;) {
    int taken = model_args_take(&a->model, "render", argc - i, argv + i);
    if (taken < 0) return false;
    i += taken;
    if (taken) continue;
    const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    bool* flag = strcmp(arg, "--forces") == 0   ? &a->forces
                 : strcmp(arg, "--follow") == 0 ? &a->follow
                                                : NULL;
    if (flag) {
      *flag = true;
      i++;
      continue;
    }
    bool ok = value != NULL;
    if (!ok) {
    } else if (strcmp(arg, "--out") == 0) {
      a->out = value;
    } else if (strcmp(arg, "--replay") == 0) {
      a->replay = value;
    } else if (strcmp(arg, "--key") == 0) {
      a->key = value;
    } else if (strcmp(arg, "--camera") == 0) {
      a->camera = value;
    } else if (strcmp(arg, "--time") == 0) {
      ok = sscanf(value, "%lf", &a->time) == 1 && a->time >= 0 && a->time < 1e6;
    } else if (strcmp(arg, "--frames") == 0) {
      ok = sscanf(value, "%d", &a->frames) == 1 && a->frames > 0 && a->frames <= 10000;
    } else if (strcmp(arg, "--size") == 0) {
      ok = sscanf(value, "%dx%d", &a->width, &a->height) == 2 && a->width > 0 && a->height > 0 &&
           a->width <= 8192 && a->height <= 8192;
    } else {
      ok = false;
    }
    if (!ok) {
      fprintf(stderr, "tribo render: cannot use '%s %s' (see --help)\n", arg, value ? value : "");
      return false;
    }
    i += 2;
  }
  if (!a->model.path || !a->out) fprintf(stderr, "%s", USAGE);
  return a->model.path && a->out;
}

// What the arguments ask of the camera, on top of one that sees everything.
static bool place_camera(const Arguments* a, Camera* camera) {
  if (!a->camera) return true;
  double az, el, distance = camera->distance;
  if (sscanf(a->camera, "%lf,%lf,%lf", &az, &el, &distance) < 2 || !(distance > 0)) {
    fprintf(stderr, "tribo render: --camera expects AZIMUTH,ELEVATION[,DISTANCE]\n");
    return false;
  }
  camera->azimuth = az;
  camera->elevation = el;
  camera->distance = distance;
  return true;
}

// The state at `until`, by steps or from the file, with contacts and frames.
static bool advance(const tbModel* m, tbData* d, const Replay* replay, double until) {
  bool ok = true;
  if (replay->rows) replay_pose(replay, until, d);
  while (!replay->rows && ok && d->time + 0.5 * m->opt.timestep < until)
    ok = tb_step(m, d) == TB_OK;
  ok = ok && tb_forward(m, d) == TB_OK;
  if (!ok) fprintf(stderr, "tribo render: %s\n", d->message);
  return ok;
}

// Draw `frames` pictures over the time asked for; false after a message.
static bool animate(const Arguments* a, const tbModel* m, tbData* d, const Replay* replay) {
  double first = replay->rows ? replay->time[0] : 0;
  double time = replay->rows ? replay->time[replay->rows - 1] - first : a->time;
  if (replay->rows && !advance(m, d, replay, first)) return false;
  Camera camera = camera_for(m, d);
  if (!place_camera(a, &camera)) return false;
  int delay = a->frames > 1 ? (int)lround(1000 * time / (a->frames - 1)) : 0;
  PngWriter* png = png_open(a->out, a->width, a->height, a->frames, delay);
  if (!png) {
    fprintf(stderr, "tribo render: cannot write %s\n", a->out);
    return false;
  }
  bool ok = true;
  const int leader = m->nbody > 1;
  tbReal offset[3];
  for (int k = 0; k < 3; k++) offset[k] = camera.lookat[k] - d->xpos[3 * leader + k];
  for (int f = 0; f < a->frames && ok; f++) {
    ok = advance(m, d, replay, first + (a->frames > 1 ? time * f / (a->frames - 1) : time));
    for (int k = 0; k < 3 && a->follow; k++) camera.lookat[k] = d->xpos[3 * leader + k] + offset[k];
    Image image = {a->width, a->height, NULL};
    ok = ok && render(m, d, &camera, a->forces, &image) && png_frame(png, &image);
    image_free(&image);
  }
  ok = png_close(png) && ok;
  if (!ok) fprintf(stderr, "tribo render: %s was not written completely\n", a->out);
  return ok;
}

int tribo_cmd_render(int argc, char** argv) {
  if (argc == 0 || strcmp(argv[0], "--help") == 0) {
    printf("%s", USAGE);
    return argc == 0 ? 2 : 0;
  }
  Arguments a = {.frames = 1, .width = 640, .height = 480};
  if (!parse(&a, argc, argv)) return 2;
  tbModel* m = model_args_load(&a.model, "render");
  if (!m) return 1;
  tbData* d = tb_data_new(m);
  bool ok = d && (!a.key || model_args_reset(m, d, a.key, "render"));
  Replay replay = {0};
  ok = ok && (!a.replay || replay_read(&replay, a.replay, m, "render"));
  ok = ok && tb_forward(m, d) == TB_OK && animate(&a, m, d, &replay);
  replay_free(&replay);
  tb_data_free(d);
  tb_model_free(m);
  return ok ? 0 : 1;
}
#else
typedef int tbNothingToRender;  // C has no empty files
#endif
