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
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo render MODEL --out FILE.png [--key NAME] [--time X] [--frames N] [--size WxH]\n"
    "             [--camera AZIMUTH,ELEVATION[,DISTANCE]] [--forces] [--law L] [--option "
    "NAME=VALUE]\n\n"
    "Simulates for --time seconds (default 0: the pose as it is) and draws the end, or with "
    "--frames\n"
    "N pictures on the way as an animated PNG. --forces draws contact forces as "
    "arrows.\n\n" MODEL_ARGS_USAGE;

typedef struct {
  ModelArgs model;
  const char *out, *key, *camera;
  double time;
  int frames, width, height;
  bool forces;
} Arguments;

static bool parse(Arguments* a, int argc, char** argv) {
  for (int i = 0; i < argc;) {
    int taken = model_args_take(&a->model, "render", argc - i, argv + i);
    if (taken < 0) return false;
    i += taken;
    if (taken) continue;
    const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(arg, "--forces") == 0) {
      a->forces = true;
      i++;
      continue;
    }
    bool ok = value != NULL;
    if (!ok) {
    } else if (strcmp(arg, "--out") == 0) {
      a->out = value;
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

// Draw `frames` pictures over the time asked for; false after a message.
static bool animate(const Arguments* a, const tbModel* m, tbData* d) {
  Camera camera = camera_for(m, d);
  if (a->camera) {
    double az, el, distance = camera.distance;
    if (sscanf(a->camera, "%lf,%lf,%lf", &az, &el, &distance) < 2 || !(distance > 0)) {
      fprintf(stderr, "tribo render: --camera expects AZIMUTH,ELEVATION[,DISTANCE]\n");
      return false;
    }
    camera.azimuth = az;
    camera.elevation = el;
    camera.distance = distance;
  }
  int delay = a->frames > 1 ? (int)lround(1000 * a->time / (a->frames - 1)) : 0;
  PngWriter* png = png_open(a->out, a->width, a->height, a->frames, delay);
  if (!png) {
    fprintf(stderr, "tribo render: cannot write %s\n", a->out);
    return false;
  }
  bool ok = true;
  for (int f = 0; f < a->frames && ok; f++) {
    double until = a->frames > 1 ? a->time * f / (a->frames - 1) : a->time;
    while (ok && d->time + 0.5 * m->opt.timestep < until) ok = tb_step(m, d) == TB_OK;
    if (!ok) fprintf(stderr, "tribo render: %s\n", d->message);
    // Contacts and frames of the state that is drawn.
    ok = ok && tb_forward(m, d) == TB_OK;
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
  bool ok = true;
  tbData* d = tb_data_new(m);
  if (d && a.key) {
    int key = tb_name2id(m, TB_OBJ_KEY, a.key);
    ok = key >= 0 && tb_reset_keyframe(m, d, key) == TB_OK;
    if (!ok) fprintf(stderr, "tribo render: no keyframe '%s'\n", a.key);
  }
  ok = ok && d && tb_forward(m, d) == TB_OK && animate(&a, m, d);
  tb_data_free(d);
  tb_model_free(m);
  return ok ? 0 : 1;
}
#else
typedef int tbNothingToRender;  // C has no empty files
#endif
