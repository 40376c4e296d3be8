// Pictures of worlds: what is drawn, in which colour, and the passes of light and eye.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/workspace.h"
#include "render/camera.h"
#include "render/raster.h"
#include "render/shapes.h"
#include "render/text.h"
#include "spatial/vec3.h"
#include "tribo/render.h"

enum { SAMPLES = 2, SHADOW = 1024 };  // supersampling per axis; size of the shadow map

struct tbRenderer {
  int width, height;
  tbScene scene;
};

// ---- colours -----------------------------------------------------------------------------------

// Compared worlds: the colours of the figures' first lines.
static const tbReal TINT[TB_RENDER_COLOURS][3] = {
    {0.0, 0.36, 0.72}, {0.86, 0.32, 0.0},  {0.0, 0.60, 0.40}, {0.80, 0.40, 0.62},
    {0.92, 0.66, 0.0}, {0.28, 0.70, 0.95}, {0.36, 0.36, 0.40}};

static unsigned char display(double value) {
  return (unsigned char)lround(255 * pow(fmin(1, fmax(0, value)), 1 / 1.6));
}

void tb_render_colour(int index, unsigned char rgb[3]) {
  if (!rgb) return;
  const tbReal* tint = TINT[(index < 0 ? 0 : index) % TB_RENDER_COLOURS];
  for (int k = 0; k < 3; k++) rgb[k] = display(0.8 * tint[k]);
}

// The model's colour, or one by body where it has MuJoCo's default grey. Floors are not quite
// white, so that light and shadow can be told from it.
static void choose_colour(const tbModel* m, int g, tbReal rgb[3]) {
  static const tbReal PALETTE[8][3] = {{0.36, 0.55, 0.78}, {0.87, 0.56, 0.30}, {0.45, 0.68, 0.45},
                                       {0.78, 0.42, 0.42}, {0.60, 0.52, 0.76}, {0.66, 0.55, 0.45},
                                       {0.85, 0.65, 0.75}, {0.55, 0.72, 0.75}};
  const float* c = m->geom_rgba + 4 * g;
  int plain = c[0] == 0.5F && c[1] == 0.5F && c[2] == 0.5F, body = m->geom_bodyid[g];
  for (int k = 0; k < 3; k++) {
    rgb[k] = !plain ? (tbReal)c[k] : body == 0 ? 0.85 : PALETTE[body % 8][k];
    if (m->geom_type[g] == TB_GEOM_PLANE) rgb[k] = fmin(rgb[k], 0.85);
  }
}

// ---- what is drawn -----------------------------------------------------------------------------

// The geoms of world `index`; `tinted`: in that world's colour.
static void draw_geoms(tbScene* s, const tbModel* m, const tbData* d, int index, bool tinted,
                       tbReal reach) {
  for (int g = 0; g < m->ngeom; g++) {
    bool moves = tb_geom_moves(m, g), floor = m->geom_type[g] == TB_GEOM_PLANE;
    if (!tb_geom_is_seen(m, g) || (!moves && index > 0) || (s->shadow_pass && floor)) continue;
    s->position = d->geom_xpos + 3 * g;
    s->rotation = d->geom_xmat + 9 * g;
    s->checker = floor;
    choose_colour(m, g, s->rgb);
    if (tinted && moves) memcpy(s->rgb, TINT[index % TB_RENDER_COLOURS], sizeof s->rgb);
    tb_shape_triangles(m, g, reach, tb_draw_triangle, s);
  }
}

// Dots along the trail, in the world's colour.
static void draw_trail(tbScene* s, const tbRenderWorld* world, int index, tbReal size) {
  static const tbReal UPRIGHT[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  s->checker = 0;
  memcpy(s->rgb, TINT[index % TB_RENDER_COLOURS], sizeof s->rgb);
  s->rotation = UPRIGHT;
  for (int i = 0; world->trail && i < world->trail_count; i++) {
    s->position = world->trail + 3 * i;
    tb_ball_triangles(0.008 * size, tb_draw_triangle, s);
  }
}

// One pass over everything: the light's or the eye's.
static void draw_worlds(tbScene* s, const tbModel* m, const tbRenderWorld* worlds, int count,
                        tbReal distance) {
  for (int i = 0; i < count; i++) {
    draw_geoms(s, m, worlds[i].data, i, count > 1, 12 * distance);
    draw_trail(s, &worlds[i], i, distance);
  }
}

static void draw_forces(tbScene* s, const tbData* d, tbReal force_scale, tbReal distance) {
  static const tbReal RED[3] = {0.85, 0.1, 0.1};
  s->checker = 0;
  memcpy(s->rgb, RED, sizeof s->rgb);
  for (int c = 0; c < d->ncon; c++) {
    tbReal force[3], tip[3], side[3], other[3], frame[9];
    tb_contact_arrow(&d->contact[c], force_scale, force, tip);
    tbReal length = force_scale * tb_norm3(force);
    if (!(length > 0.005 * distance) || !isfinite(length)) continue;
    tb_normalize3(force);
    tb_frame_from_normal(force, side, other);
    for (int k = 0; k < 3; k++) {
      frame[3 * k] = side[k];
      frame[3 * k + 1] = other[k];
      frame[3 * k + 2] = force[k];
    }
    s->position = d->contact[c].pos;
    s->rotation = frame;
    tb_arrow_triangles(length, 0.006 * distance, tb_draw_triangle, s);
  }
}

// ---- over the picture --------------------------------------------------------------------------

static int text_scale(const tbCanvas* c) {
  int least = c->width < c->height ? c->width : c->height;
  return least < 200 ? 1 : (least + 140) / 240;
}

static void draw_labels(const tbCanvas* c, const tbRenderWorld* worlds, int count) {
  static const unsigned char DARK[3] = {40, 44, 52};
  int scale = text_scale(c), line = (TB_GLYPH_HEIGHT + 3) * scale, y = line / 2;
  for (int i = 0; i < count; i++) {
    unsigned char rgb[3];
    if (!worlds[i].label) continue;
    tb_render_colour(i, rgb);
    tb_draw_text(c, line / 2, y, scale, worlds[i].label, count > 1 ? rgb : DARK);
    y += line;
  }
}

// A bar for a round force, about a fifth of the width long where the camera looks.
static void draw_force_bar(const tbCanvas* c, tbReal force_scale, tbReal pixels_per_metre) {
  static const unsigned char RED[3] = {190, 40, 40};
  tbReal pixels_per_newton = force_scale * pixels_per_metre;
  tbReal most = 0.25 * c->width / pixels_per_newton;
  if (!(most > 0) || !isfinite(most)) return;
  tbReal decade = pow(10, floor(log10(most))), lead = most / decade;
  tbReal newton = decade * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
  int scale = text_scale(c), length = (int)lround(newton * pixels_per_newton);
  int x = 6 * scale, y = c->height - 8 * scale;
  char text[48];
  snprintf(text, sizeof text, "%g N", newton);
  tb_draw_bar(c, x, y, length, 2 * scale, RED);
  tb_draw_bar(c, x, y - 2 * scale, scale, 6 * scale, RED);
  tb_draw_bar(c, x + length - scale, y - 2 * scale, scale, 6 * scale, RED);
  tb_draw_text(c, x, y - (TB_GLYPH_HEIGHT + 4) * scale, scale, text, RED);
}

// ---- the picture -------------------------------------------------------------------------------

static void clear_depth(tbView* view) {
  for (long i = 0; i < (long)view->width * view->height; i++) view->depth[i] = INFINITY;
}

// Average the samples of a pixel and apply the display's curve.
static void resolve(const tbScene* s, const tbCanvas* c) {
  int wide = s->eye.width;
  for (int y = 0; y < c->height; y++) {
    for (int x = 0; x < c->width; x++) {
      for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int i = 0; i < SAMPLES * SAMPLES; i++) {
          int px = x * SAMPLES + i % SAMPLES, py = y * SAMPLES + i / SAMPLES;
          sum += fmin(1, (double)s->colour[3 * (py * wide + px) + k]);
        }
        c->rgb[3 * (y * c->width + x) + k] = display(sum / (SAMPLES * SAMPLES));
      }
    }
  }
}

static void paint_sky(tbScene* s) {
  for (int y = 0; y < s->eye.height; y++) {
    float t = (float)y / (float)s->eye.height;
    for (int x = 0; x < s->eye.width; x++) {
      float* pixel = s->colour + 3 * (y * s->eye.width + x);
      pixel[0] = 0.62F + 0.28F * t;
      pixel[1] = 0.72F + 0.20F * t;
      pixel[2] = 0.84F + 0.10F * t;
    }
  }
}

// The light shines from the front left and above onto what the camera looks at.
static void aim_light(tbScene* s, const tbReal lookat[3], tbReal distance) {
  tbReal extent = 1.2 * distance, down[3];
  tb_set3(s->to_light, 0.35, -0.45, 0.85);
  tb_normalize3(s->to_light);
  tb_scale3(down, s->to_light, -1);
  s->light.parallel = 1;
  s->light.scale = 0.5 * SHADOW / extent;
  tb_add_scaled3(s->light.origin, lookat, 4 * extent, s->to_light);
  tb_aim(&s->light, down);
}

static void draw(tbRenderer* r, const tbModel* m, const tbRenderWorld* worlds, int count,
                 const tbCamera* camera, tbReal force_scale, const tbCanvas* canvas) {
  tbScene* s = &r->scene;
  tbReal lookat[3], distance;
  tb_camera_view(camera, m, worlds[0].data, &s->eye, lookat, &distance);
  aim_light(s, lookat, distance);
  clear_depth(&s->eye);
  clear_depth(&s->light);
  paint_sky(s);

  // The light sees first, so that the second pass knows what lies in shadow.
  s->shadow_pass = 1;
  draw_worlds(s, m, worlds, count, distance);
  s->shadow_pass = 0;
  draw_worlds(s, m, worlds, count, distance);
  for (int i = 0; i < count && force_scale > 0; i++) {
    draw_forces(s, worlds[i].data, force_scale, distance);
  }
  resolve(s, canvas);
  draw_labels(canvas, worlds, count);
  if (force_scale > 0) draw_force_bar(canvas, force_scale, s->eye.scale / SAMPLES / distance);
}

tbRenderer* tb_renderer_new(int width, int height, tbError* error) {
  if (width < 1 || height < 1 || width > TB_RENDER_MOST_PIXELS || height > TB_RENDER_MOST_PIXELS) {
    tb_fail(error, TB_ERROR_ARGUMENT,
            "tb_renderer_new: expected a width and a height of 1 to %d, not %d x %d",
            TB_RENDER_MOST_PIXELS, width, height);
    return NULL;
  }
  tbRenderer* r = calloc(1, sizeof *r);
  size_t samples = (size_t)SAMPLES * SAMPLES * (size_t)width * (size_t)height;
  if (r) {
    r->width = width;
    r->height = height;
    r->scene.eye.width = width * SAMPLES;
    r->scene.eye.height = height * SAMPLES;
    r->scene.light.width = r->scene.light.height = SHADOW;
    r->scene.eye.depth = malloc(samples * sizeof(float));
    r->scene.light.depth = malloc((size_t)SHADOW * SHADOW * sizeof(float));
    r->scene.colour = malloc(3 * samples * sizeof(float));
  }
  if (r && r->scene.eye.depth && r->scene.light.depth && r->scene.colour) return r;
  tb_renderer_free(r);
  tb_fail(error, TB_ERROR_MEMORY, "out of memory for pictures of %d x %d", width, height);
  return NULL;
}

void tb_renderer_free(tbRenderer* r) {
  if (!r) return;
  free(r->scene.eye.depth);
  free(r->scene.light.depth);
  free(r->scene.colour);
  free(r);
}

static tbResult check_camera(const tbCamera* c, const tbModel* m, tbError* error) {
  if (c->id >= m->ncam) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_render: the camera %d was asked for, the model has %d (-1: a free camera)",
                   c->id, m->ncam);
  }
  if (c->id >= 0) return TB_OK;
  if (!isfinite(c->lookat[0] + c->lookat[1] + c->lookat[2] + c->azimuth + c->elevation)) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_render: lookat, azimuth and elevation of the camera must be finite");
  }
  if (!(c->distance > 0) || !isfinite(c->distance)) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_render: the camera's distance must be above 0 m, not %g", c->distance);
  }
  if (!(c->fovy > 0 && c->fovy < 180)) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_render: the camera's fovy must be between 0 and 180 degrees, not %g",
                   c->fovy);
  }
  return TB_OK;
}

tbResult tb_render(tbRenderer* r, const tbModel* m, const tbRenderWorld* worlds, int count,
                   const tbCamera* camera, const tbRenderOptions* options, unsigned char* rgb,
                   tbError* error) {
  tb_error_clear(error);
  const char* missing = !r ? "renderer" : !m ? "model" : !worlds ? "worlds" : !rgb ? "rgb" : NULL;
  if (missing) return tb_fail(error, TB_ERROR_ARGUMENT, "tb_render: %s is NULL", missing);
  if (count < 1) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_render: count is %d, expected 1 or more", count);
  }
  tbReal force_scale = options ? options->force_scale : 0;
  if (!(force_scale >= 0) || !isfinite(force_scale)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_render: force_scale must be 0 m/N or more, not %g",
                   force_scale);
  }
  tbCameraFit fit = tb_camera_fit_begin(NULL, r->width, r->height);
  for (int i = 0; i < count; i++) {
    if (!worlds[i].data || !tb_data_fits(m, worlds[i].data)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "tb_render: worlds[%d] is not a world of the model",
                     i);
    }
    if (worlds[i].trail && worlds[i].trail_count < 0) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "tb_render: worlds[%d].trail_count is %d", i,
                     worlds[i].trail_count);
    }
    tb_camera_fit_add(&fit, m, worlds[i].data, force_scale);
  }
  tbCamera all = tb_camera_fit_end(&fit);
  tbResult result = check_camera(camera ? camera : &all, m, error);
  if (result != TB_OK) return result;
  const tbCanvas canvas = {r->width, r->height, rgb};
  draw(r, m, worlds, count, camera ? camera : &all, force_scale, &canvas);
  return TB_OK;
}
