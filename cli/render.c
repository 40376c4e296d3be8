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
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "nearest.h"
#include "output.h"
#include "replay.h"
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo render MODEL --out FILE.png [--key NAME] [--start X] [--time X] [--frames N]\n"
    "             [--size WxH] [--camera AZIMUTH,ELEVATION[,DISTANCE]] [--lookat X,Y,Z]\n"
    "             [--follow] [--forces] [--trail] [--replay FILE.csv] [--compare LAW,LAW,...]\n"
    "             [--law L] [--option NAME=VALUE] [--json]\n\n"
    "Simulates for --start seconds without pictures, then for --time seconds (both default to 0: "
    "the pose "
    "as\n"
    "it is), and draws the end, or with --frames N pictures during this time as an animated PNG.\n"
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
  const char *start_text, *time_text, *frames_text, *size_text;
  double start, time;
  int frames, width, height;
  bool forces, follow, trail;
} Arguments;

// A number without further characters.
static bool read_seconds(const char* text, double* seconds) {
  char rest;
  return sscanf(text, "%lf%c", seconds, &rest) == 1 && *seconds >= 0 && *seconds < 1e6;
}

// Parse the numbers of the flags; false after a complaint.
static bool read_numbers_of_flags(Arguments* a) {
  char rest;
  if (a->start_text && !read_seconds(a->start_text, &a->start)) {
    return complain("render", "--start expects seconds, not '%s'", a->start_text);
  }
  if (a->time_text && !read_seconds(a->time_text, &a->time)) {
    return complain("render", "--time expects seconds, not '%s'", a->time_text);
  }
  if (a->frames_text && (sscanf(a->frames_text, "%d%c", &a->frames, &rest) != 1 || a->frames < 1 ||
                         a->frames > 10000)) {
    return complain("render", "--frames expects a number, 1 to 10000, not '%s'", a->frames_text);
  }
  if (a->size_text && (sscanf(a->size_text, "%dx%d%c", &a->width, &a->height, &rest) != 2 ||
                       a->width < 1 || a->height < 1 || a->width > 8192 || a->height > 8192)) {
    return complain("render", "--size expects WxH, each 1 to 8192, not '%s'", a->size_text);
  }
  return true;
}

static bool parse(Arguments* a, int argc, char** argv) {
  Grammar g = model_args_grammar(&a->model, "render");
  const Flag flags[] = {{.name = "--out", .text = &a->out},
                        {.name = "--key", .text = &a->key},
                        {.name = "--camera", .text = &a->camera},
                        {.name = "--lookat", .text = &a->lookat},
                        {.name = "--replay", .text = &a->replay},
                        {.name = "--compare", .text = &a->compare},
                        {.name = "--start", .text = &a->start_text},
                        {.name = "--time", .text = &a->time_text},
                        {.name = "--frames", .text = &a->frames_text},
                        {.name = "--size", .text = &a->size_text},
                        {.name = "--forces", .on = &a->forces},
                        {.name = "--follow", .on = &a->follow},
                        {.name = "--trail", .on = &a->trail}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) grammar_add(&g, flags[i]);
  if (!grammar_parse(&g, argc, argv) || !read_numbers_of_flags(a)) return false;
  if (!a->model.path || !a->out) {
    return complain("render", "%s is required (see --help)",
                    a->model.path ? "--out FILE.png" : "a model file");
  }
  if (a->replay && a->compare) {
    return complain("render", "--replay and --compare cannot be combined");
  }
  const char* end = strrchr(a->out, '.');
  if (end && strcmp(end, ".png") == 0) return true;
  return complain("render", "'%s': the file name must end in .png", a->out);
}

// AZIMUTH,ELEVATION or AZIMUTH,ELEVATION,DISTANCE, without further characters.
static bool read_camera(const char* text, Camera* camera, double* distance) {
  double *azimuth = &camera->azimuth, *elevation = &camera->elevation;
  char rest;
  return sscanf(text, "%lf,%lf%c", azimuth, elevation, &rest) == 2 ||
         sscanf(text, "%lf,%lf,%lf%c", azimuth, elevation, distance, &rest) == 3;
}

// Apply the camera arguments to a camera that shows the whole scene.
static bool place_camera(const Arguments* a, Camera* camera) {
  char rest;
  tbReal* at = camera->lookat;
  double distance = camera->distance;
  if (a->lookat && (sscanf(a->lookat, "%lf,%lf,%lf%c", &at[0], &at[1], &at[2], &rest) != 3 ||
                    !isfinite(at[0] + at[1] + at[2]))) {
    return complain("render", "--lookat expects X,Y,Z, not '%s'", a->lookat);
  }
  if (a->camera &&
      (!read_camera(a->camera, camera, &distance) ||
       !isfinite(camera->azimuth + camera->elevation) || !(distance > 0) || !isfinite(distance))) {
    return complain("render", "--camera expects AZIMUTH,ELEVATION[,DISTANCE], not '%s'", a->camera);
  }
  camera->distance = distance;
  return true;
}

// ---- the worlds --------------------------------------------------------------------------------

// The simulated worlds: one, or one for each law that is compared.
typedef struct {
  tbModel* m;
  tbData* d[MOST_WORLDS];
  int law[MOST_WORLDS], count;
  tbReal* trail[MOST_WORLDS];  // 3 numbers per frame
  int trail_count;
  Replay replay;
} Worlds;

// Parse the laws of "ncp,lcp"; false after a message.
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
      Nearest nearest = {.word = name};
      for (int i = 0; i < TB_STEP_LAW_COUNT; i++) nearest_offer(&nearest, tb_step_law_name(i));
      if (w->count == MOST_WORLDS) nearest.best[0] = 0;
      return complain("render", "--compare expects up to %d laws, not '%s'%s", MOST_WORLDS, name,
                      nearest_hint(&nearest));
    }
    law = w->m->opt.law;
    w->law[w->count++] = law;
    text += n + (text[n] == ',');
  }
  return w->count > 0 || complain("render", "--compare expects laws");
}

static bool make_worlds(Worlds* w, const Arguments* a) {
  if (!read_laws(w, a->compare)) return false;
  for (int i = 0; i < w->count; i++) {
    w->d[i] = tb_data_new(w->m);
    if (a->trail) w->trail[i] = calloc(3 * (size_t)a->frames, sizeof *w->trail[i]);
    if (!w->d[i] || (a->trail && !w->trail[i])) {
      return complain("render", "out of memory");
    }
    if (a->key && !model_args_reset(w->m, w->d[i], a->key, "render")) return false;
    if (tb_forward(w->m, w->d[i]) != TB_OK) {
      return complain("render", "%s", w->d[i]->message);
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

// Move world `i` to time `until`, by steps or from the file, with contacts and frames. False after
// a complaint or an interrupt.
static bool advance(Worlds* w, int i, double until) {
  tbData* d = w->d[i];
  bool ok = true;
  w->m->opt.law = w->law[i];
  if (w->replay.rows) replay_pose(&w->replay, until, d);
  while (!w->replay.rows && ok && d->time + 0.5 * w->m->opt.timestep < until) {
    if (interrupt_signal()) return false;
    ok = tb_step(w->m, d) == TB_OK;
  }
  ok = ok && tb_forward(w->m, d) == TB_OK;
  return ok || complain("render", "%s", d->message);
}

// ---- the frames --------------------------------------------------------------------------------

// Draw all worlds at `until` into one picture.
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

static void print_json(const Arguments* a, double start, double time, int frames) {
  Json json = {stdout, false};
  json_open(&json, NULL);
  json_string(&json, "out", a->out);
  json_int(&json, "frames", frames);
  json_real(&json, "start", start);
  json_real(&json, "time", frames > 1 ? time * (frames - 1) / (a->frames - 1) : time);
  json_open_array(&json, "warnings");
  if (frames < a->frames) {
    char text[128];
    snprintf(text, sizeof text, "%s after %d of %d pictures",
             interrupt_signal() ? "interrupted" : "a step failed", frames, a->frames);
    json_string(&json, NULL, text);
  }
  json_close_array(&json);
  json_close(&json);
  putchar('\n');
}

// Draw frames until one fails or an interrupt; `first` is the time of the first one.
static void draw_frames(const Arguments* a, Worlds* w, double first, double time, Camera* camera,
                        PngWriter* png) {
  const int leader = w->m->nbody > 1;
  bool ok = true;
  tbReal offset[3];
  for (int k = 0; k < 3; k++) offset[k] = camera->lookat[k] - w->d[0]->xpos[3 * leader + k];
  for (int f = 0; f < a->frames && ok && !interrupt_signal(); f++) {
    double until = first + (a->frames > 1 ? time * f / (a->frames - 1) : time);
    ok = draw_frame(a, w, until, camera, offset, png);
  }
}

// Draw `frames` pictures over the requested time into the file `path`; *drawn is their number.
// Returns the exit code: 1 if a step fails, 2 for invalid arguments, both after a complaint.
static int animate(const Arguments* a, Worlds* w, const char* path, int* drawn) {
  const Replay* replay = &w->replay;
  double first = a->start + (replay->rows ? replay->time[0] : 0), time = a->time;
  if (replay->rows && time == 0) time = fmax(0, replay->time[replay->rows - 1] - first);
  if (replay->rows && !advance(w, 0, first)) return interrupt_code(1);
  Camera camera = camera_for(w->m, w->d[0]);
  if (!place_camera(a, &camera)) return 2;
  int delay = a->frames > 1 ? (int)lround(1000 * time / (a->frames - 1)) : 0;
  PngWriter* png = png_open(path, a->width, a->height, a->frames, delay);
  if (!png) {
    complain("render", "cannot write %s: %s", a->out, strerror(errno));
    return 2;
  }
  draw_frames(a, w, first, time, &camera, png);
  *drawn = png_close(png);
  if (*drawn < a->frames) {
    complain("render", "%s: %d of %d pictures%s", a->out, *drawn, a->frames,
             interrupt_signal() ? ", interrupted"
             : *drawn           ? ""
                                : " could be drawn and written");
  }
  if (*drawn && a->model.json) {
    print_json(a, first, time, *drawn);
  } else if (*drawn) {
    printf("%s: %d picture%s of %d x %d\n", a->out, *drawn, *drawn > 1 ? "s" : "", a->width,
           a->height);
  }
  return interrupt_code(*drawn == a->frames ? 0 : 1);
}

// Draw into a file that gets its name only when it is complete.
static int draw_file(const Arguments* a, Worlds* w) {
  Output out;
  interrupt_catch();
  if (!output_begin(&out, a->out, "render")) return 2;
  int drawn = 0, code = animate(a, w, out.write, &drawn);
  return output_end(&out, drawn > 0, "render") ? code : 2;
}

int tribo_cmd_render(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    printf("%s", USAGE);
    return 0;
  }
  Arguments a = {.frames = 1, .width = 640, .height = 480};
  if (!parse(&a, argc, argv)) return 2;
  Worlds w = {.m = model_args_load(&a.model, "render")};
  if (!w.m) return 2;
  int code = make_worlds(&w, &a) ? draw_file(&a, &w) : 2;
  free_worlds(&w);
  tb_model_free(w.m);
  return code;
}
#else
typedef int tbNothingToRender;  // C has no empty files
#endif
