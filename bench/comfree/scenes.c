#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "comfree_bench.h"
#include "page/text.h"

static char* read_text(const char* path) {
  FILE* f = fopen(path, "rb");
  if (!f) return NULL;
  char* text = calloc(1, 1 << 18);
  size_t size = text ? fread(text, 1, (1 << 18) - 1, f) : 0;
  fclose(f);
  if (size == 0) {
    free(text);
    return NULL;
  }
  return text;
}

// ---- piles -------------------------------------------------------------------------------------

static const char* const SHAPES[5] = {
    "type='box' size='.025 .025 .025'", "type='cylinder' size='.025 .025'",
    "type='ellipsoid' size='.03 .025 .02'", "type='capsule' size='.02 .015'",
    "type='sphere' size='.025'"};

// Layers of n x n bodies, one shape a layer, over a flat box; a little off the grid, so that they
// fall over.
static char* pile(int n, int layers, const int* shape) {
  PageText t = {0};
  tbRng rng = {1};
  page_text_add(&t,
                "<mujoco><option timestep='0.002'/><size njmax='8000' nconmax='2000'/><worldbody>");
  page_text_add(&t, "<geom type='box' size='1 1 .05' pos='0 0 -.05'/>");
  for (int l = 0; l < layers; l++) {
    for (int i = 0; i < n * n; i++) {
      double x = 0.06 * (i % n - 0.5 * (n - 1)) + tb_rng_uniform(&rng, -0.002, 0.002);
      double y = 0.06 * (i / n - 0.5 * (n - 1)) + tb_rng_uniform(&rng, -0.002, 0.002);
      page_text_add(&t, "<body pos='%.6f %.6f %.6f'><freejoint/><geom %s density='1000'/></body>",
                    x, y, 0.05 + 0.08 * l, SHAPES[shape[l]]);
    }
  }
  page_text_add(&t, "</worldbody></mujoco>");
  return t.text;
}

Scene scene_drop(void) {
  const int shape[5] = {0, 1, 2, 3, 4};
  return (Scene){"drop", pile(5, 5, shape)};
}

Scene scene_small(void) {
  const int shape[3] = {0, 3, 4};
  return (Scene){"12 primitives", pile(2, 3, shape)};
}

// ---- hands -------------------------------------------------------------------------------------

Scene scene_hand(void) {
  return (Scene){"hand", read_text(TB_SCENES_DIR "/hand.xml")};
}

// Replace `from` up to and including `to` by `by` in a text of its own.
static char* replace(char* text, const char* from, const char* to, const char* by) {
  char* start = text ? strstr(text, from) : NULL;
  char* end = start ? strstr(start, to) : NULL;
  if (!end) {
    free(text);
    return NULL;
  }
  char* copy = malloc(strlen(text) + strlen(by) + 1);
  if (copy) {
    size_t before = (size_t)(start - text);
    memcpy(copy, text, before);
    strcpy(copy + before, by);
    strcat(copy, end + strlen(to));
  }
  free(text);
  return copy;
}

// The hand alone, palm up, with a cube and a key of our own. Its meshes are for the eye only.
Scene scene_allegro(void) {
  Scene scene = {"allegro", NULL};
  char* text = read_text(TB_SHARED_DIR "/models/mujoco_menagerie/wonik_allegro/right_hand.xml");
  if (!text) return scene;
  text = replace(text, "meshdir=\"assets\"", "\"assets\"",
                 "meshdir=\"" TB_SHARED_DIR "/models/mujoco_menagerie/wonik_allegro/assets\"");
  // after the hand, so that its joints come first
  text = replace(text, "</worldbody>", "</worldbody>",
                 "<geom type='plane' size='1 1 .1' pos='0 0 -.2'/>"
                 "<body name='cube' pos='0.04 0 0.055'><freejoint/>"
                 "<geom type='box' size='.0325 .0325 .0325' mass='.11'/></body></worldbody>");
  text = replace(
      text, "</actuator>", "</actuator>",
      "</actuator><keyframe><key qpos='0 1 0.8 0.7 0 1 0.8 0.7 0 1 0.8 0.7 0.9 0.6 0.6 0.6 "
      "0.04 0 0.055 1 0 0 0' ctrl='0 1.1 0.9 0.8 0 1.1 0.9 0.8 0 1.1 0.9 0.8 1 0.7 0.7 0.7'/>"
      "</keyframe>");
  scene.text = text;
  return scene;
}

tbModel* scene_model(const Scene* scene, int law) {
  tbError error;
  tbModel* m = scene->text ? tb_load_string(scene->text, NULL, NULL, &error) : NULL;
  if (!m && scene->text) fprintf(stderr, "%s: %s\n", scene->name, error.message);
  if (!m) return NULL;
  m->opt.law = law;
  m->opt.timestep = 0.002;
  m->opt.integrator = TB_INTEGRATOR_EULER;
  return m;
}

bool is_held(const double* pos) {
  return pos[2] > -0.05 && hypot(pos[0], pos[1]) < 0.15;
}

void random_command(const tbModel* m, int world, int block, double* ctrl) {
  tbRng rng = {(uint64_t)world * 1000003u + (uint64_t)block};
  for (int i = 0; i < m->nu; i++) {
    double low = m->actuator_ctrlrange[2 * i], high = m->actuator_ctrlrange[2 * i + 1];
    double command = m->key_ctrl[i] + tb_rng_uniform(&rng, -0.5, 0.5);
    ctrl[i] = m->actuator_ctrllimited[i] ? fmax(low, fmin(high, command)) : command;
  }
}

// ---- measures ----------------------------------------------------------------------------------

void depths_add(Depths* d, double dist) {
  if (dist >= 0) return;
  d->sum -= dist;
  d->squares += dist * dist;
  d->worst = fmax(d->worst, -dist);
  d->count++;
}

double depths_mean(const Depths* d) {
  return d->count ? d->sum / (double)d->count : 0;
}

double depths_std(const Depths* d) {
  double mean = depths_mean(d);
  return d->count ? sqrt(fmax(0, d->squares / (double)d->count - mean * mean)) : 0;
}

double shared_seconds(tbClock start, int nthread) {
  tbClock now = tb_bench_clock();
  return fmin(now.wall - start.wall, (now.cpu - start.cpu) / nthread);
}
