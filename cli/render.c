// `tribo render`: a picture or a short animation of a model, without a display.
#ifdef TB_WITH_ZLIB
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apng.h"
#include "args.h"
#include "commands.h"
#include "json.h"
#include "replay.h"
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo render MODEL --out FILE.png [--key NAME] [--start X] [--time X] [--frames N]\n"
    "             [--size WxH] [--camera AZIMUTH,ELEVATION[,DISTANCE]] [--lookat X,Y,Z]\n"
    "             [--follow] [--forces] [--trail] [--replay FILE.csv] [--compare LAW,LAW,...]\n"
    "             [--law L] [--option NAME=VALUE] [--json]\n\n"
    "Simulates for --start seconds unseen, then for --time seconds (both default to 0: the pose "
    "as\n"
    "it is), and draws the end, or with --frames N pictures on the way as an animated PNG.\n"
    "--replay takes the states from a file of `tribo sim --out` instead. --follow moves the "
    "camera\n"
    "with the first body, --forces draws contact forces as arrows, --trail dots where the first\n"
    "body was in earlier pictures. --compare runs the model under each of up to six laws and\n"
    "draws all into one picture: blue, orange, green, pink, yellow, light blue in their "
    "order.\n\n" MODEL_ARGS_USAGE;

enum { MOST_WORLDS = 6 };

typedef struct {
  ModelArgs model;
  const char *out, *key, *camera, *lookat, *replay, *compare;
  double start, time;
  int frames, width, height;
  bool forces, follow, trail;
} Arguments;

// Where the text after a flag goes; NULL for a flag that takes none.
static const char** text_of(Arguments* a, const char* flag) {
  const struct {
    const char *flag, **text;
  } known[] = {{"--out", &a->out},       {"--key", &a->key},       {"--camera", &a->camera},
               {"--lookat", &a->lookat}, {"--replay", &a->replay}, {"--compare", &a->compare}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(flag, known[i].flag) == 0) return known[i].text;
  }
  return NULL;
}

// A number with nothing behind it.
static bool read_seconds(const char* text, double* seconds) {
  char rest;
  return sscanf(text, "%lf%c", seconds, &rest) == 1 && *seconds >= 0 && *seconds < 1e6;
}

// A flag with its value; false where there is no such flag or it cannot have that value.
static bool take_value(Arguments* a, const char* flag, const char* value) {
  char rest;
  const char** text = text_of(a, flag);
  if (text) {
    *text = value;
    return true;
  }
  if (strcmp(flag, "--start") == 0) return read_seconds(value, &a->start);
  if (strcmp(flag, "--time") == 0) return read_seconds(value, &a->time);
  if (strcmp(flag, "--frames") == 0) {
    return sscanf(value, "%d%c", &a->frames, &rest) == 1 && a->frames > 0 && a->frames <= 10000;
  }
  return strcmp(flag, "--size") == 0 &&
         sscanf(value, "%dx%d%c", &a->width, &a->height, &rest) == 2 && a->width > 0 &&
         a->height > 0 && a->width <= 8192 && a->height <= 8192;
}

static bool parse(Arguments* a, int argc, char** argv) {
  for (int i = 0; i < argc;) {
    int taken = model_args_take(&a->model, "render", argc - i, argv + i);
    if (taken < 0) return false;
    i += taken;
    if (taken) continue;
    const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    bool* flag = strcmp(arg, "--forces") == 0   ? &a->forces
                 : strcmp(arg, "--follow") == 0 ? &a->follow
                 : strcmp(arg, "--trail") == 0  ? &a->trail
                                                : NULL;
    if (flag) {
      *flag = true;
      i++;
      continue;
    }
    if (!value || !take_value(a, arg, value)) {
      fprintf(stderr, "tribo render: cannot use '%s %s' (see --help)\n", arg, value ? value : "");
      return false;
    }
    i += 2;
  }
  if (!a->model.path || !a->out) {
    fprintf(stderr, "tribo render: %s is needed (see --help)\n",
            a->model.path ? "--out FILE.png" : "a model file");
    return false;
  }
  const char* end = strrchr(a->out, '.');
  if (end && strcmp(end, ".png") == 0) return true;
  fprintf(stderr, "tribo render: '%s': a picture ends in .png\n", a->out);
  return false;
}

// AZIMUTH,ELEVATION or AZIMUTH,ELEVATION,DISTANCE, with nothing behind them.
static bool read_camera(const char* text, Camera* camera, double* distance) {
  double *azimuth = &camera->azimuth, *elevation = &camera->elevation;
  char rest;
  return sscanf(text, "%lf,%lf%c", azimuth, elevation, &rest) == 2 ||
         sscanf(text, "%lf,%lf,%lf%c", azimuth, elevation, distance, &rest) == 3;
}

// What the arguments ask of the camera, on top of one that sees everything.
static bool place_camera(const Arguments* a, Camera* camera) {
  char rest;
  tbReal* at = camera->lookat;
  double distance = camera->distance;
  if (a->lookat && (sscanf(a->lookat, "%lf,%lf,%lf%c", &at[0], &at[1], &at[2], &rest) != 3 ||
                    !isfinite(at[0] + at[1] + at[2]))) {
    fprintf(stderr, "tribo render: --lookat expects X,Y,Z\n");
    return false;
  }
  if (a->camera &&
      (!read_camera(a->camera, camera, &distance) ||
       !isfinite(camera->azimuth + camera->elevation) || !(distance > 0) || !isfinite(distance))) {
    fprintf(stderr, "tribo render: --camera expects AZIMUTH,ELEVATION[,DISTANCE]\n");
    return false;
  }
  camera->distance = distance;
  return true;
}

// ---- the worlds --------------------------------------------------------------------------------

// The worlds of the picture: one, or one for each law that is compared.
typedef struct {
  tbModel* m;
  tbData* d[MOST_WORLDS];
  int law[MOST_WORLDS], count;
  tbReal* trail[MOST_WORLDS];  // 3 numbers a frame
  int trail_count;
  Replay replay;
} Worlds;

// The laws of "ncp,lcp"; false after a message.
static bool read_laws(Worlds* w, const char* text) {
  if (!text) {
    w->law[w->count++] = w->m->opt.law;
    return true;
  }
  while (*text) {
    char name[32];
    size_t n = strcspn(text, ",");
    int law = 0;
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    tbError error;
    if (w->count == MOST_WORLDS || tb_option_set(&w->m->opt, "law", name, &error) != TB_OK) {
      fprintf(stderr, "tribo render: --compare expects up to %d laws, not '%s'\n", MOST_WORLDS,
              name);
      return false;
    }
    law = w->m->opt.law;
    w->law[w->count++] = law;
    text += n + (text[n] == ',');
  }
  if (!w->count) fprintf(stderr, "tribo render: --compare expects laws\n");
  return w->count > 0;
}

static bool make_worlds(Worlds* w, const Arguments* a) {
  if (!read_laws(w, a->compare)) return false;
  for (int i = 0; i < w->count; i++) {
    w->d[i] = tb_data_new(w->m);
    if (a->trail) w->trail[i] = calloc(3 * (size_t)a->frames, sizeof *w->trail[i]);
    if (!w->d[i] || (a->trail && !w->trail[i])) {
      fprintf(stderr, "tribo render: out of memory\n");
      return false;
    }
    if (a->key && !model_args_reset(w->m, w->d[i], a->key, "render")) return false;
    if (tb_forward(w->m, w->d[i]) != TB_OK) {
      fprintf(stderr, "tribo render: %s\n", w->d[i]->message);
      return false;
    }
  }
  return !a->replay || replay_read(&w->replay, a->replay, w->m, "render");
}

static void free_worlds(Worlds* w) {
  for (int i = 0; i < w->count; i++) {
    tb_data_free(w->d[i]);
    free(w->trail[i]);
  }
  replay_free(&w->replay);
}

// The state of world `i` at `until`, by steps or from the file, with contacts and frames.
static bool advance(Worlds* w, int i, double until) {
  tbData* d = w->d[i];
  bool ok = true;
  w->m->opt.law = w->law[i];
  if (w->replay.rows) replay_pose(&w->replay, until, d);
  while (!w->replay.rows && ok && d->time + 0.5 * w->m->opt.timestep < until)
    ok = tb_step(w->m, d) == TB_OK;
  ok = ok && tb_forward(w->m, d) == TB_OK;
  if (!ok) fprintf(stderr, "tribo render: %s\n", d->message);
  return ok;
}

// ---- the frames --------------------------------------------------------------------------------

// All worlds at `until` as one picture.
static bool draw_frame(const Arguments* a, Worlds* w, double until, Camera* camera,
                       const tbReal offset[3], PngWriter* png) {
  const int leader = w->m->nbody > 1;
  World world[MOST_WORLDS];
  bool ok = true;
  for (int i = 0; i < w->count && ok; i++) {
    ok = advance(w, i, until);
    if (a->trail) {
      memcpy(w->trail[i] + 3 * w->trail_count, w->d[i]->xpos + 3 * leader, 3 * sizeof(tbReal));
    }
    world[i] = (World){w->d[i], w->trail[i], w->trail_count + 1};
  }
  w->trail_count++;
  for (int k = 0; k < 3 && a->follow; k++)
    camera->lookat[k] = w->d[0]->xpos[3 * leader + k] + offset[k];
  Image image = {a->width, a->height, NULL};
  ok = ok && render(w->m, world, w->count, camera, a->forces, &image) && png_frame(png, &image);
  image_free(&image);
  return ok;
}

static void print_json(const Arguments* a, double start, double time) {
  Json json = {stdout, false};
  json_open(&json, NULL);
  json_string(&json, "out", a->out);
  json_int(&json, "frames", a->frames);
  json_real(&json, "start", start);
  json_real(&json, "time", time);
  json_close(&json);
  putchar('\n');
}

// Draw `frames` pictures over the time asked for. The exit code: 1 where a step fails, 2 for a bad
// call, both after a message.
static int animate(const Arguments* a, Worlds* w) {
  const Replay* replay = &w->replay;
  double first = a->start + (replay->rows ? replay->time[0] : 0), time = a->time;
  if (replay->rows && time == 0) time = fmax(0, replay->time[replay->rows - 1] - first);
  if (replay->rows && !advance(w, 0, first)) return 1;
  Camera camera = camera_for(w->m, w->d[0]);
  if (!place_camera(a, &camera)) return 2;
  int delay = a->frames > 1 ? (int)lround(1000 * time / (a->frames - 1)) : 0;
  PngWriter* png = png_open(a->out, a->width, a->height, a->frames, delay);
  if (!png) {
    fprintf(stderr, "tribo render: cannot write %s: %s\n", a->out, strerror(errno));
    return 2;
  }
  bool ok = true;
  const int leader = w->m->nbody > 1;
  tbReal offset[3];
  for (int k = 0; k < 3; k++) offset[k] = camera.lookat[k] - w->d[0]->xpos[3 * leader + k];
  for (int f = 0; f < a->frames && ok; f++) {
    double until = first + (a->frames > 1 ? time * f / (a->frames - 1) : time);
    ok = draw_frame(a, w, until, &camera, offset, png);
  }
  ok = png_close(png) && ok;
  if (!ok) fprintf(stderr, "tribo render: %s was not written completely\n", a->out);
  if (ok && a->model.json) {
    print_json(a, first, time);
  } else if (ok) {
    printf("%s: %d picture%s of %d x %d\n", a->out, a->frames, a->frames > 1 ? "s" : "", a->width,
           a->height);
  }
  return ok ? 0 : 1;
}

int tribo_cmd_render(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    printf("%s", USAGE);
    return 0;
  }
  Arguments a = {.frames = 1, .width = 640, .height = 480};
  if (!parse(&a, argc, argv)) return 2;
  if (a.replay && a.compare) {
    fprintf(stderr, "tribo render: --replay and --compare do not go together\n");
    return 2;
  }
  Worlds w = {.m = model_args_load(&a.model, "render")};
  if (!w.m) return 2;
  int code = make_worlds(&w, &a) ? animate(&a, &w) : 2;
  free_worlds(&w);
  tb_model_free(w.m);
  return code;
}
#else
typedef int tbNothingToRender;  // C has no empty files
#endif
