// `tribo render`: a picture or a short animation of a model, without a display.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "pictures/film.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "pictures/movie.h"
#include "output.h"
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo render MODEL --out FILE.png|FILE.mp4 [--key NAME] [--start X] [--time X] [--frames N]\n"
    "             [--size WxH] [--camera NAME|AZIMUTH,ELEVATION[,DISTANCE]] [--lookat X,Y,Z]\n"
    "             [--follow] [--forces] [--force-scale X] [--trail] [--ctrl FILE | --replay FILE]\n"
    "             [--compare LAW,LAW,... [--beside]] [--law L] [--option NAME=VALUE] [--json]\n\n"
    "Simulates for --start seconds without pictures, then for --time seconds (both default to 0: "
    "the\npose as it is), and draws the end, or with --frames N pictures during this time.\n\n"
    "  --out          .png: a still, or an animated PNG; .mp4 where ffmpeg is installed\n"
    "  --camera       a camera of the file by its name, or a free one: azimuth in degrees (0 "
    "looks\n"
    "                 along +x, 90 along +y: it grows counter-clockwise, seen from above),\n"
    "                 elevation in degrees (above 0: from above, looking down; the opposite sign "
    "of\n"
    "                 MuJoCo's), distance in metres; 125,18 without the flag\n"
    "  --lookat       the point in the middle of the picture, m. What is left out of distance and\n"
    "                 point is chosen so that everything that moves is seen in every picture (in\n"
    "                 runs of more than 20,000 steps: at the start)\n"
    "  --follow       the camera moves with the first body\n"
    "  --forces       contact forces as arrows, with a bar that shows their scale\n"
    "  --force-scale  length of their arrows, m per N (default: the weight of all bodies is half\n"
    "                 as long as what moves is large)\n"
    "  --trail        dots where the first body was in earlier pictures\n"
    "  --ctrl         controls from a file, as in `tribo sim`\n"
    "  --replay       draw the states of a file of `tribo sim --out` (.csv, .h5), or of a .npy "
    "with\n"
    "                 qpos in rows, instead of a simulation; with --forces the file needs qvel, "
    "and\n"
    "                 ctrl and act where the model has them (`tribo sim --record act`)\n"
    "  --compare      the model under each of up to seven laws, in one picture: each in its "
    "colour,\n"
    "                 with its name; --beside: beside each other\n\n" MODEL_ARGS_USAGE;

typedef struct {
  ModelArgs model;
  const char *out, *replay, *compare;
  const char *start_text, *time_text, *frames_text, *size_text, *scale_text;
  Film film;
} Arguments;

// A number without further characters.
static bool read_seconds(const char* text, double* seconds) {
  char rest;
  return sscanf(text, "%lf%c", seconds, &rest) == 1 && *seconds >= 0 && *seconds < 1e6;
}

// Parse the numbers of the flags; false after a complaint.
static bool read_numbers_of_flags(Arguments* a) {
  Film* f = &a->film;
  char rest;
  if (a->start_text && !read_seconds(a->start_text, &f->start)) {
    return complain("render", "--start expects seconds, 0 to 1e6, not '%s'", a->start_text);
  }
  if (a->time_text && !read_seconds(a->time_text, &f->time)) {
    return complain("render", "--time expects seconds, 0 to 1e6, not '%s'", a->time_text);
  }
  if (a->frames_text && (sscanf(a->frames_text, "%d%c", &f->frames, &rest) != 1 || f->frames < 1 ||
                         f->frames > 10000)) {
    return complain("render", "--frames expects a number, 1 to 10000, not '%s'", a->frames_text);
  }
  if (a->size_text &&
      (sscanf(a->size_text, "%dx%d%c", &f->width, &f->height, &rest) != 2 || f->width < 1 ||
       f->height < 1 || f->width > TB_RENDER_MOST_PIXELS || f->height > TB_RENDER_MOST_PIXELS)) {
    return complain("render", "--size expects WxH, each 1 to %d, not '%s'", TB_RENDER_MOST_PIXELS,
                    a->size_text);
  }
  if (a->scale_text && (sscanf(a->scale_text, "%lf%c", &f->force_scale, &rest) != 1 ||
                        !(f->force_scale > 0 && f->force_scale < 1e6))) {
    return complain("render", "--force-scale expects metres per newton, above 0, not '%s'",
                    a->scale_text);
  }
  return true;
}

static bool parse(Arguments* a, int argc, char** argv) {
  Film* f = &a->film;
  Grammar g = model_args_grammar(&a->model, "render");
  const Flag flags[] = {
      {.name = "--out", .text = &a->out},         {.name = "--key", .text = &f->key},
      {.name = "--camera", .text = &f->camera},   {.name = "--lookat", .text = &f->lookat},
      {.name = "--ctrl", .text = &f->ctrl},       {.name = "--replay", .text = &a->replay},
      {.name = "--compare", .text = &a->compare}, {.name = "--start", .text = &a->start_text},
      {.name = "--time", .text = &a->time_text},  {.name = "--frames", .text = &a->frames_text},
      {.name = "--size", .text = &a->size_text},  {.name = "--force-scale", .text = &a->scale_text},
      {.name = "--forces", .on = &f->forces},     {.name = "--beside", .on = &f->beside},
      {.name = "--follow", .on = &f->follow},     {.name = "--trail", .on = &f->trail}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) grammar_add(&g, flags[i]);
  if (!grammar_parse(&g, argc, argv) || !read_numbers_of_flags(a)) return false;
  if (!a->model.path || !a->out) {
    return complain("render", "%s is required (see --help)",
                    a->model.path ? "--out FILE.png or FILE.mp4" : "a model file");
  }
  if (a->replay && a->compare) {
    return complain("render", "--replay and --compare cannot be combined");
  }
  if (a->replay && f->ctrl) {
    return complain("render", "--replay draws states as they are: leave out --ctrl");
  }
  if (f->beside && !a->compare) {
    return complain("render", "--beside needs --compare LAW,LAW,...");
  }
  f->forces = f->forces || a->scale_text;
  if (a->compare && !law_list_read(&f->laws, a->compare, "--compare", "render")) return false;
  return movie_can_write(a->out, "render");
}

static bool ends_with(const char* path, const char* ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n >= k && strcmp(path + n - k, ending) == 0;
}

// Whether a file says which values are which: an array of numbers, or a table without a line of
// names, has one field only.
static bool names_its_fields(const char* path) {
  if (ends_with(path, ".npy")) return false;
  if (ends_with(path, ".h5") || ends_with(path, ".hdf5")) return true;
  char line[128] = "", *end;
  FILE* file = fopen(path, "r");
  if (file && !fgets(line, sizeof line, file)) line[0] = 0;
  if (file) fclose(file);
  strtod(line, &end);
  return end == line;
}

// Velocities, controls and activations of the poses, without which forces are not those of the run.
// A field that the file lacks stays empty; with --forces that is refused.
static bool read_velocities(const Arguments* a, const tbModel* m, Replay* replay) {
  const struct {
    const char* field;
    int width;
    tbSeries* series;
  } PARTS[] = {
      {"qvel", m->nv, &replay->qvel}, {"ctrl", m->nu, &replay->ctrl}, {"act", m->na, &replay->act}};
  bool named = names_its_fields(a->replay);
  char missing[32] = "";
  for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
    tbSeries* series = PARTS[i].series;
    if (PARTS[i].width == 0) continue;
    bool found = named && tb_series_read(a->replay, m, PARTS[i].field, series, NULL) == TB_OK;
    if (found && series->rows == replay->qpos.rows) continue;
    tb_series_free(series);
    size_t used = strlen(missing);
    snprintf(missing + used, sizeof missing - used, used ? "/%s" : "%s", PARTS[i].field);
  }
  if (!a->film.forces) return true;
  if (*missing) {
    return complain("render", "%s has no %s: forces cannot be drawn", a->replay, missing);
  }
  if (m->opt.law == TB_LAW_VISCOELASTIC) {
    return complain("render",
                    "the springs of law %s remember where they began, which %s does not say: "
                    "forces cannot be drawn; leave out --replay to draw a run",
                    tb_step_law_name(m->opt.law), a->replay);
  }
  return true;
}

// The states to draw; false after a complaint.
static bool read_replay(const Arguments* a, const tbModel* m, Replay* replay) {
  tbError error;
  const tbSeries* series = &replay->qpos;
  if (!a->replay) return true;
  if (tb_series_read(a->replay, m, "qpos", &replay->qpos, &error) != TB_OK) {
    return complain("render", "%s", error.message);
  }
  for (int i = 0; i < series->rows; i++) {
    const tbReal* qpos = series->value + (size_t)i * (size_t)series->width;
    char where[4096];
    snprintf(where, sizeof where, "%s: row %d", a->replay, i);
    if (!quaternions_are_rotations(m, qpos, where, "render")) return false;
  }
  return read_velocities(a, m, replay);
}

static void free_replay(Replay* replay) {
  tb_series_free(&replay->qpos);
  tb_series_free(&replay->qvel);
  tb_series_free(&replay->ctrl);
  tb_series_free(&replay->act);
}

static void print_json(const Arguments* a, const Filmed* filmed) {
  Json json = {stdout, false};
  json_open(&json, NULL);
  json_string(&json, "out", a->out);
  json_int(&json, "frames", filmed->frames);
  json_real(&json, "start", filmed->first);
  json_real(&json, "time", filmed->time);
  json_open_array(&json, "warnings");
  if (filmed->frames < a->film.frames) {
    char text[128];
    snprintf(text, sizeof text, "%s after %d of %d pictures",
             interrupt_signal() ? "interrupted" : "a step failed", filmed->frames, a->film.frames);
    json_string(&json, NULL, text);
  }
  json_close_array(&json);
  json_close(&json);
  putchar('\n');
}

// Draw into a file that gets its name only when it is complete.
static int draw_file(const Arguments* a) {
  Output out;
  Filmed filmed;
  interrupt_catch();
  if (!output_begin(&out, a->out, "render")) return 2;
  int code = film_draw(&a->film, out.write, a->out, &filmed);
  if (!output_end(&out, filmed.frames > 0, "render")) return 2;
  if (filmed.frames && a->model.json) {
    print_json(a, &filmed);
  } else if (filmed.frames) {
    printf("%s: %d picture%s of %d x %d\n", a->out, filmed.frames, filmed.frames > 1 ? "s" : "",
           a->film.width, a->film.height);
  }
  return code;
}

int tribo_cmd_render(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    fputs(USAGE, stdout);
    return 0;
  }
  Arguments a = {.film = {.frames = 1, .width = 640, .height = 480, .command = "render"}};
  Replay replay = {0};
  if (!parse(&a, argc, argv)) return 2;
  a.film.model = model_args_load(&a.model, "render");
  int code = a.film.model && read_replay(&a, a.film.model, &replay) ? 0 : 2;
  if (a.replay) a.film.replay = &replay;
  if (code == 0) code = draw_file(&a);
  free_replay(&replay);
  tb_model_free(a.film.model);
  return code;
}
