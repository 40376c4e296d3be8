#include "pictures/film.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "drive.h"
#include "interrupt.h"
#include "message.h"
#include "pictures/movie.h"
#include "nearest.h"

// Gap between pictures beside each other, in pixels; steps of all worlds that a search for the
// place of the camera may take.
enum { GAP = 4, SEARCH_STEPS = 20000 };

typedef struct {
  const Film* film;
  Drive drive;
  tbData* d[MOST_LAWS];
  int law[MOST_LAWS], count;
  tbReal* trail[MOST_LAWS];  // 3 numbers per frame
  int trail_count;
  double first;  // s: time of the first picture
  double time;   // s: from there to the last
  tbCamera camera;
  tbReal force_scale;
} Shoot;

// ---- the worlds --------------------------------------------------------------------------------

static void free_worlds(Shoot* s) {
  for (int i = 0; i < s->count; i++) {
    tb_data_free(s->d[i]);
    free(s->trail[i]);
    s->d[i] = NULL;
    s->trail[i] = NULL;
  }
  s->trail_count = 0;
}

// Worlds at the start; false after a complaint.
static bool make_worlds(Shoot* s) {
  const Film* f = s->film;
  for (int i = 0; i < s->count; i++) {
    s->d[i] = tb_data_new(f->model);
    if (f->trail) s->trail[i] = calloc(3 * (size_t)f->frames, sizeof *s->trail[i]);
    if (!s->d[i] || (f->trail && !s->trail[i])) return complain(f->command, "out of memory");
    if (f->key && !model_args_reset(f->model, s->d[i], f->key, f->command)) return false;
    f->model->opt.law = s->law[i];
    if (tb_forward(f->model, s->d[i]) != TB_OK) {
      return complain(f->command, "%s", s->d[i]->message);
    }
  }
  return true;
}

static void copy_row(const tbSeries* series, int row, tbReal* values) {
  size_t width = (size_t)series->width;
  if (series->rows) memcpy(values, series->value + (size_t)row * width, width * sizeof *values);
}

// The state of the file at time `until`, with the controls and activations that its forces need.
static void replay_state(const Shoot* s, double until, tbData* d) {
  const Replay* r = s->film->replay;
  double begin = r->qpos.time ? r->qpos.time[0] : 0;
  int row = tb_series_row(&r->qpos, until - begin, s->film->model->opt.timestep);
  copy_row(&r->qpos, row, d->qpos);
  copy_row(&r->qvel, row, d->qvel);
  copy_row(&r->ctrl, row, d->ctrl);
  copy_row(&r->act, row, d->act);
  d->time = until;
}

// Move world `i` to time `until`, by steps or from the file, with contacts and frames. False after
// a complaint or an interrupt.
static bool advance(Shoot* s, int i, double until) {
  const Film* f = s->film;
  tbData* d = s->d[i];
  bool ok = true;
  f->model->opt.law = s->law[i];
  if (f->replay) replay_state(s, until, d);
  while (!f->replay && ok && d->time + 0.5 * f->model->opt.timestep < until) {
    if (interrupt_signal()) return false;
    drive_set(&s->drive, d);
    ok = tb_step(f->model, d) == TB_OK;
  }
  ok = ok && tb_forward(f->model, d) == TB_OK;
  return ok || complain(f->command, "under %s: %s", tb_step_law_name(s->law[i]), d->message);
}

static double time_of_frame(const Shoot* s, int frame) {
  int frames = s->film->frames;
  return s->first + (frames > 1 ? s->time * frame / (frames - 1) : s->time);
}

// ---- the camera --------------------------------------------------------------------------------

// AZIMUTH,ELEVATION or AZIMUTH,ELEVATION,DISTANCE, without further characters.
static bool read_direction(const char* text, tbCamera* camera, bool* distance) {
  double *azimuth = &camera->azimuth, *elevation = &camera->elevation;
  char rest;
  *distance = false;
  if (sscanf(text, "%lf,%lf%c", azimuth, elevation, &rest) == 2) return true;
  *distance = true;
  return sscanf(text, "%lf,%lf,%lf%c", azimuth, elevation, &camera->distance, &rest) == 3;
}

static bool unknown_camera(const Film* f) {
  const tbModel* m = f->model;
  char names[512] = "";
  size_t used = 0;
  Nearest nearest = {.word = f->camera};
  for (int i = 0; i < m->ncam && used < sizeof names; i++) {
    const char* name = tb_id2name(m, TB_OBJ_CAMERA, i);
    nearest_offer(&nearest, name);
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
  }
  return complain(f->command,
                  "--camera expects AZIMUTH,ELEVATION[,DISTANCE] (degrees, degrees, metres above "
                  "0) or a camera of the file (it has %s), not '%s'%s",
                  m->ncam ? names : "none", f->camera, nearest_hint(&nearest));
}

// The camera of the arguments; *placed: it needs no search for a place. False after a complaint.
static bool read_camera(const Film* f, tbCamera* camera, bool* placed) {
  char rest;
  bool distance = false;
  tbReal* at = camera->lookat;
  *camera = tbDefaultCamera();
  if (f->camera) camera->id = tb_name2id(f->model, TB_OBJ_CAMERA, f->camera);
  if (camera->id >= 0 && (f->lookat || f->follow)) {
    return complain(f->command, "a camera of the file stands where the file says: leave out %s",
                    f->lookat ? "--lookat" : "--follow");
  }
  if (camera->id < 0 && f->camera &&
      (!read_direction(f->camera, camera, &distance) ||
       !isfinite(camera->azimuth + camera->elevation) || !(camera->distance > 0) ||
       !isfinite(camera->distance))) {
    return unknown_camera(f);
  }
  if (f->lookat && (sscanf(f->lookat, "%lf,%lf,%lf%c", &at[0], &at[1], &at[2], &rest) != 3 ||
                    !isfinite(at[0] + at[1] + at[2]))) {
    return complain(f->command, "--lookat expects X,Y,Z in metres, not '%s'", f->lookat);
  }
  *placed = camera->id >= 0 || (distance && f->lookat);
  return true;
}

static int tile_width(const Shoot* s) {
  int count = s->film->beside ? s->count : 1;
  return (s->film->width - (count - 1) * GAP) / count;
}

// Whether the scene can run once for the place of the camera, and again for the pictures.
static bool is_short(const Shoot* s) {
  const Film* f = s->film;
  double steps = f->replay ? f->frames : (s->first + s->time) / f->model->opt.timestep;
  return steps * s->count <= SEARCH_STEPS;
}

// Place a free camera so that it sees everything in every picture, or, for long runs and for one
// that follows, in the first one.
static bool place_camera(Shoot* s) {
  const Film* f = s->film;
  const tbCamera wanted = s->camera;
  double distance;
  char rest;
  bool fixed_distance = f->camera && sscanf(f->camera, "%*f,%*f,%lf%c", &distance, &rest) == 1;
  tbCameraFit fit = tb_camera_fit_begin(&wanted, tile_width(s), f->height);
  bool start = f->follow || !is_short(s);
  int frames = start ? 1 : f->frames;
  bool ok = true;
  for (int k = 0; k < frames && ok; k++) {
    for (int i = 0; i < s->count && ok; i++) {
      ok = start || advance(s, i, time_of_frame(s, k));
      if (ok) tb_camera_fit_add(&fit, f->model, s->d[i], s->force_scale);
    }
  }
  s->camera = tb_camera_fit_end(&fit);
  if (fixed_distance) s->camera.distance = wanted.distance;
  if (f->lookat) memcpy(s->camera.lookat, wanted.lookat, sizeof wanted.lookat);
  return ok;
}

// ---- the pictures ------------------------------------------------------------------------------

static bool draw_tiles(Shoot* s, tbRenderer* renderer, const tbRenderWorld* worlds,
                       unsigned char* tile, unsigned char* rgb) {
  const Film* f = s->film;
  const tbRenderOptions options = {.force_scale = s->force_scale};
  tbError error;
  int width = tile_width(s);
  if (!f->beside) {
    return tb_render(renderer, f->model, worlds, s->count, &s->camera, &options, rgb, &error) ==
               TB_OK ||
           complain(f->command, "%s", error.message);
  }
  memset(rgb, 255, 3 * (size_t)f->width * (size_t)f->height);
  for (int i = 0; i < s->count; i++) {
    if (tb_render(renderer, f->model, &worlds[i], 1, &s->camera, &options, tile, &error) != TB_OK) {
      return complain(f->command, "%s", error.message);
    }
    for (int y = 0; y < f->height; y++) {
      memcpy(rgb + 3 * ((size_t)y * (size_t)f->width + (size_t)(i * (width + GAP))),
             tile + 3 * (size_t)y * (size_t)width, 3 * (size_t)width);
    }
  }
  return true;
}

// A renderer, and the memory of one tile and of the whole picture.
typedef struct {
  tbRenderer* renderer;
  unsigned char *tile, *rgb;
} Studio;

// Draw all worlds at the time of a frame into one picture.
static bool draw_frame(Shoot* s, const Studio* studio, int frame, const tbReal offset[3],
                       Movie* movie) {
  const Film* f = s->film;
  const int leader = f->model->nbody > 1;
  tbRenderWorld world[MOST_LAWS];
  for (int i = 0; i < s->count; i++) {
    if (!advance(s, i, time_of_frame(s, frame))) return false;
    if (f->trail) {
      memcpy(s->trail[i] + 3 * s->trail_count, s->d[i]->xpos + 3 * leader, 3 * sizeof(tbReal));
    }
    world[i] = (tbRenderWorld){.data = s->d[i],
                               .label = f->laws.count ? tb_step_law_name(s->law[i]) : NULL,
                               .trail = s->trail[i],
                               .trail_count = s->trail_count + 1};
  }
  s->trail_count++;
  for (int k = 0; k < 3 && f->follow; k++) {
    s->camera.lookat[k] = s->d[0]->xpos[3 * leader + k] + offset[k];
  }
  return draw_tiles(s, studio->renderer, world, studio->tile, studio->rgb) &&
         movie_add(movie, studio->rgb);
}

// Draw frames until one fails or an interrupt.
static void draw_frames(Shoot* s, const Studio* studio, Movie* movie) {
  const Film* f = s->film;
  const int leader = f->model->nbody > 1;
  tbReal offset[3];
  for (int k = 0; k < 3; k++) offset[k] = s->camera.lookat[k] - s->d[0]->xpos[3 * leader + k];
  bool ok = true;
  for (int k = 0; k < f->frames && ok && !interrupt_signal(); k++) {
    ok = draw_frame(s, studio, k, offset, movie);
  }
}

static bool make_studio(const Shoot* s, Studio* studio) {
  tbError error = {TB_OK, ""};
  const Film* f = s->film;
  int width = tile_width(s);
  if (width < 1) return complain(f->command, "--size: %d pixels are too few", f->width);
  studio->renderer = tb_renderer_new(width, f->height, &error);
  studio->tile = malloc(3 * (size_t)width * (size_t)f->height);
  studio->rgb = malloc(3 * (size_t)f->width * (size_t)f->height);
  if (studio->renderer && studio->tile && studio->rgb) return true;
  return complain(f->command, "%s", studio->renderer ? "out of memory" : error.message);
}

static void free_studio(Studio* studio) {
  tb_renderer_free(studio->renderer);
  free(studio->tile);
  free(studio->rgb);
}

// The worlds, the camera and the scale of forces before the first picture. The exit code.
static int prepare(Shoot* s) {
  const Film* f = s->film;
  const tbSeries* r = f->replay ? &f->replay->qpos : NULL;
  bool placed = false;
  s->first = f->start + (r && r->time ? r->time[0] : 0);
  s->time = f->time;
  if (r && f->time == 0) {
    double end = r->time ? r->time[r->rows - 1] : (r->rows - 1) * f->model->opt.timestep;
    s->time = fmax(0, end - s->first);
  }
  if (!read_camera(f, &s->camera, &placed) || !make_worlds(s)) return 2;
  if (!drive_read(&s->drive, f->ctrl, f->model, s->d[0], f->command)) return 2;
  if (r && !advance(s, 0, s->first)) return 1;
  if (f->forces) {
    s->force_scale = f->force_scale > 0 ? f->force_scale : tb_force_scale(f->model, s->d[0]);
  }
  if (placed) return 0;
  if (!place_camera(s)) return 1;
  free_worlds(s);
  return make_worlds(s) && (!r || advance(s, 0, s->first)) ? 0 : 1;
}

static int shoot(Shoot* s, const char* path, const char* target, Filmed* filmed) {
  const Film* f = s->film;
  Studio studio = {NULL, NULL, NULL};
  if (!make_studio(s, &studio)) {
    free_studio(&studio);
    return 2;
  }
  Movie* movie = movie_open(path, target, f->width, f->height, f->frames, s->time, f->command);
  if (movie) {
    draw_frames(s, &studio, movie);
    filmed->frames = movie_close(movie);
  }
  free_studio(&studio);
  if (!movie) return 2;
  if (filmed->frames < f->frames) {
    complain(f->command, "%s: %d of %d pictures%s", target, filmed->frames, f->frames,
             interrupt_signal() ? ", interrupted"
             : filmed->frames   ? ""
                                : " could be drawn and written");
  }
  return filmed->frames == f->frames ? 0 : 1;
}

int film_draw(const Film* film, const char* path, const char* target, Filmed* filmed) {
  Shoot s = {.film = film, .count = film->laws.count};
  int law = film->model->opt.law;
  memcpy(s.law, film->laws.law, sizeof s.law);
  if (s.count == 0) s.law[s.count++] = law;
  *filmed = (Filmed){0};
  int code = prepare(&s);
  if (code == 0) code = shoot(&s, path, target, filmed);
  free_worlds(&s);
  drive_free(&s.drive);
  film->model->opt.law = law;
  filmed->first = s.first;
  filmed->time = filmed->frames > 1 ? s.time * (filmed->frames - 1) / (film->frames - 1) : s.time;
  return code == 2 ? 2 : interrupt_code(code);
}
