#include "render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"

enum { SAMPLES = 2, SHADOW = 1024 };  // supersampling per axis; size of the shadow map
static const tbReal PI = 3.14159265358979323846;

// A pinhole or, for the light, a parallel projection onto a square.
typedef struct {
  tbReal origin[3], right[3], up[3], forward[3];
  tbReal scale;  // pixels per unit of tan (pinhole) or per metre (parallel)
  int parallel;
  int width, height;
  float* depth;  // infinity where empty
} View;

typedef struct {
  View eye, light;
  float* colour;  // width x height x 3, linear
  tbReal to_light[3];
  // The geom that is being drawn.
  const tbReal *position, *rotation;
  tbReal rgb[3];
  int checker;  // floor pattern
  int shadow_pass;
} Scene;

static tbReal dot(const tbReal a[3], const tbReal b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const tbReal a[3], const tbReal b[3], tbReal c[3]) {
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    c[k] = a[i] * b[j] - a[j] * b[i];
  }
}

static void normalise(tbReal a[3]) {
  tbReal length = sqrt(dot(a, a));
  for (int k = 0; k < 3 && length > 0; k++) a[k] /= length;
}

// Point the view along `forward`, upright.
static void aim(View* view, const tbReal forward[3]) {
  const tbReal z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
  memcpy(view->forward, forward, sizeof view->forward);
  normalise(view->forward);
  cross(view->forward, fabs(view->forward[2]) < 0.999 ? z : x, view->right);
  normalise(view->right);
  cross(view->right, view->forward, view->up);
}

// Pixel coordinates and depth of a world point.
static void project(const View* view, const tbReal world[3], tbReal out[3]) {
  tbReal d[3] = {world[0] - view->origin[0], world[1] - view->origin[1],
                 world[2] - view->origin[2]};
  tbReal z = dot(d, view->forward), s = view->parallel ? view->scale : view->scale / z;
  out[0] = 0.5 * view->width + s * dot(d, view->right);
  out[1] = 0.5 * view->height - s * dot(d, view->up);
  out[2] = z;
}

// ---- shading -----------------------------------------------------------------------------------

// How much of the light reaches a point: four samples of the shadow map.
static tbReal lit(const Scene* s, const tbReal world[3], tbReal slope) {
  const View* light = &s->light;
  tbReal p[3], sum = 0, bias = (2 + 6 * (1 - slope)) / light->scale;
  project(light, world, p);
  for (int k = 0; k < 4; k++) {
    int x = (int)floor(p[0] + (k & 1) - 0.5), y = (int)floor(p[1] + (k >> 1) - 0.5);
    if (x < 0 || y < 0 || x >= light->width || y >= light->height) {
      sum += 1;
      continue;
    }
    sum += p[2] <= (tbReal)light->depth[y * light->width + x] + bias;
  }
  return sum / 4;
}

static void shade(const Scene* s, const tbReal world[3], const tbReal n[3], float* pixel) {
  tbReal view[3], half[3], normal[3] = {n[0], n[1], n[2]};
  for (int k = 0; k < 3; k++) view[k] = s->eye.origin[k] - world[k];
  normalise(view);
  normalise(normal);
  if (dot(normal, view) < 0) {
    for (int k = 0; k < 3; k++) normal[k] = -normal[k];
  }
  for (int k = 0; k < 3; k++) half[k] = view[k] + s->to_light[k];
  normalise(half);
  tbReal diffuse = fmax(0, dot(normal, s->to_light)), light = lit(s, world, diffuse);
  tbReal shine = s->checker ? 0 : 0.25 * pow(fmax(0, dot(normal, half)), 40);
  tbReal sky = 0.38 + 0.12 * normal[2], tile = 1;
  if (s->checker) {
    // Tiles of half a metre along the plane's own axes.
    int cell = 0;
    for (int axis = 0; axis < 2; axis++) {
      tbReal along = 0;
      for (int k = 0; k < 3; k++) along += s->rotation[3 * k + axis] * (world[k] - s->position[k]);
      cell += (int)floor(2 * along);
    }
    tile = cell & 1 ? 0.86 : 1;
  }
  for (int k = 0; k < 3; k++) {
    pixel[k] = (float)(s->rgb[k] * tile * (sky + 0.6 * diffuse * light) + shine * light);
  }
}

// ---- triangles ---------------------------------------------------------------------------------

static tbReal clamp(tbReal x, tbReal low, tbReal high) {
  return fmin(high, fmax(low, x));
}

// Fill one triangle that lies wholly in front of the view.
static void fill(Scene* s, View* view, const tbReal world[3][3], const tbReal normal[3][3]) {
  tbReal p[3][3];
  for (int c = 0; c < 3; c++) project(view, world[c], p[c]);
  tbReal area =
      (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
  if (!(fabs(area) > 1e-12)) return;
  tbReal low[2], high[2];
  for (int a = 0; a < 2; a++) {
    low[a] = fmin(p[0][a], fmin(p[1][a], p[2][a]));
    high[a] = fmax(p[0][a], fmax(p[1][a], p[2][a]));
  }
  // Corners may lie further away than an integer can say.
  int x0 = (int)clamp(floor(low[0]), 0, view->width);
  int x1 = (int)clamp(ceil(high[0]), -1, view->width - 1);
  int y0 = (int)clamp(floor(low[1]), 0, view->height);
  int y1 = (int)clamp(ceil(high[1]), -1, view->height - 1);
  for (int y = y0; y <= y1; y++) {
    for (int x = x0; x <= x1; x++) {
      // Weights of the corners at the middle of the pixel, corrected for perspective.
      tbReal w[3], sum = 0, at[3] = {0, 0, 0}, n[3] = {0, 0, 0};
      int inside = 1;
      for (int c = 0; c < 3 && inside; c++) {
        const tbReal *a = p[(c + 1) % 3], *b = p[(c + 2) % 3];
        w[c] = ((b[0] - a[0]) * (y + 0.5 - a[1]) - (b[1] - a[1]) * (x + 0.5 - a[0])) / area;
        inside = w[c] >= -1e-9;
      }
      if (!inside) continue;
      for (int c = 0; c < 3; c++) {
        if (!view->parallel) w[c] /= p[c][2];
        sum += w[c];
      }
      tbReal z = 0;
      for (int c = 0; c < 3; c++) z += w[c] / sum * p[c][2];
      float* depth = &view->depth[y * view->width + x];
      if (!((float)z < *depth)) continue;
      *depth = (float)z;
      if (s->shadow_pass) continue;
      for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
          at[k] += w[c] / sum * world[c][k];
          n[k] += w[c] / sum * normal[c][k];
        }
      }
      shade(s, at, n, s->colour + 3 * (y * view->width + x));
    }
  }
}

// Cut a triangle at the near plane, then fill what is left.
static void clip_and_fill(Scene* s, View* view, const tbReal world[3][3],
                          const tbReal normal[3][3]) {
  enum { NEAR = 3 };
  const tbReal near = view->parallel ? -1e9 : 0.02;
  tbReal corner[4][3], direction[4][3], depth[NEAR];
  int count = 0;
  for (int c = 0; c < 3; c++) {
    tbReal d[3];
    for (int k = 0; k < 3; k++) d[k] = world[c][k] - view->origin[k];
    depth[c] = dot(d, view->forward) - near;
  }
  for (int c = 0; c < 3; c++) {
    int e = (c + 1) % 3;
    if (depth[c] >= 0) {
      memcpy(corner[count], world[c], sizeof corner[0]);
      memcpy(direction[count++], normal[c], sizeof direction[0]);
    }
    if ((depth[c] >= 0) != (depth[e] >= 0)) {
      tbReal t = depth[c] / (depth[c] - depth[e]);
      for (int k = 0; k < 3; k++) {
        corner[count][k] = world[c][k] + t * (world[e][k] - world[c][k]);
        direction[count][k] = normal[c][k] + t * (normal[e][k] - normal[c][k]);
      }
      count++;
    }
  }
  for (int i = 1; i + 1 < count; i++) {
    tbReal tc[3][3], tn[3][3];
    const int pick[3] = {0, i, i + 1};
    for (int c = 0; c < 3; c++) {
      memcpy(tc[c], corner[pick[c]], sizeof tc[c]);
      memcpy(tn[c], direction[pick[c]], sizeof tn[c]);
    }
    fill(s, view, (const tbReal(*)[3])tc, (const tbReal(*)[3])tn);
  }
}

// From the geom's frame to the world, then to the view of the current pass.
static void draw_triangle(void* context, const tbReal corner[3][3], const tbReal normal[3][3]) {
  Scene* s = context;
  tbReal world[3][3], turned[3][3];
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) {
      world[c][k] = s->position[k] + dot(s->rotation + 3 * k, corner[c]);
      turned[c][k] = dot(s->rotation + 3 * k, normal[c]);
    }
  }
  clip_and_fill(s, s->shadow_pass ? &s->light : &s->eye, (const tbReal(*)[3])world,
                (const tbReal(*)[3])turned);
}

// ---- what is drawn -----------------------------------------------------------------------------

// MuJoCo's habit: groups 0 to 2 are seen, 3 and up are collision shapes; those are drawn only for
// bodies that have nothing else.
static int visible(const tbModel* m, int g) {
  if (m->geom_rgba[4 * g + 3] <= 0.01F) return 0;
  if (m->geom_group[g] < 3) return 1;
  int body = m->geom_bodyid[g];
  for (int other = 0; other < m->ngeom; other++) {
    if (m->geom_bodyid[other] == body && m->geom_group[other] < 3) return 0;
  }
  return 1;
}

// Colours of compared worlds: those of the figures' first lines.
enum { TINTS = 6 };
static const tbReal TINT[TINTS][3] = {{0.0, 0.36, 0.72},  {0.86, 0.32, 0.0}, {0.0, 0.60, 0.40},
                                      {0.80, 0.40, 0.62}, {0.92, 0.66, 0.0}, {0.28, 0.70, 0.95}};

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

// The geoms of world `index`; `tinted`: in that world's colour.
static void draw_geoms(Scene* s, const tbModel* m, const tbData* d, int index, bool tinted,
                       tbReal reach) {
  for (int g = 0; g < m->ngeom; g++) {
    bool fixed = m->geom_bodyid[g] == 0;
    if (!visible(m, g) || (fixed && index > 0)) continue;
    int floor_like = m->geom_type[g] == TB_GEOM_PLANE;
    if (s->shadow_pass && floor_like) continue;
    s->position = d->geom_xpos + 3 * g;
    s->rotation = d->geom_xmat + 9 * g;
    s->checker = floor_like;
    choose_colour(m, g, s->rgb);
    if (tinted && !fixed) memcpy(s->rgb, TINT[index % TINTS], sizeof s->rgb);
    shape_triangles(m, g, reach, draw_triangle, s);
  }
}

// Dots where the first body was, in the world's colour.
static void draw_trail(Scene* s, const World* world, int index, tbReal size) {
  static const tbReal UPRIGHT[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  s->checker = 0;
  memcpy(s->rgb, TINT[index % TINTS], sizeof s->rgb);
  s->rotation = UPRIGHT;
  for (int i = 0; world->trail && i < world->trail_count; i++) {
    s->position = world->trail + 3 * i;
    ball_triangles(0.008 * size, draw_triangle, s);
  }
}

// One pass over everything: the light's or the eye's.
static void draw_worlds(Scene* s, const tbModel* m, const World* worlds, int count,
                        const Camera* camera) {
  for (int i = 0; i < count; i++) {
    draw_geoms(s, m, worlds[i].data, i, count > 1, 12 * camera->distance);
    draw_trail(s, &worlds[i], i, camera->distance);
  }
}

// Contact forces as arrows, scaled by the weight of everything and the camera's distance.
static void draw_forces(Scene* s, const tbModel* m, const tbData* d, tbReal size) {
  tbReal weight = 0;
  for (int b = 1; b < m->nbody; b++) weight += 9.81 * m->body_mass[b];
  s->checker = 0;
  s->rgb[0] = 0.85;
  s->rgb[1] = 0.1;
  s->rgb[2] = 0.1;
  for (int c = 0; c < d->ncon && weight > 0; c++) {
    const tbContact* contact = &d->contact[c];
    tbReal force[3] = {0, 0, 0}, frame[9], side[3];
    for (int r = 0; r < 3 && r < contact->dim; r++) {
      for (int k = 0; k < 3; k++) force[k] += contact->frame[3 * r + k] * contact->force[r];
    }
    tbReal length = sqrt(dot(force, force)) * 1.5 * size / weight;
    if (!(length > 0.005 * size)) continue;
    normalise(force);
    const tbReal any[3] = {fabs(force[0]) < 0.9, fabs(force[0]) >= 0.9, 0};
    tbReal other[3];
    cross(any, force, side);
    normalise(side);
    cross(force, side, other);
    for (int k = 0; k < 3; k++) {
      frame[3 * k] = side[k];
      frame[3 * k + 1] = other[k];
      frame[3 * k + 2] = force[k];
    }
    s->position = contact->pos;
    s->rotation = frame;
    arrow_triangles(length, 0.006 * size, draw_triangle, s);
  }
}

static bool make_view(View* view, int width, int height) {
  view->width = width;
  view->height = height;
  view->depth = malloc(sizeof(float) * (size_t)width * (size_t)height);
  for (int i = 0; view->depth && i < width * height; i++) view->depth[i] = INFINITY;
  return view->depth != NULL;
}

// Average the samples of a pixel and apply the display's curve.
static void resolve(const Scene* s, Image* image) {
  int wide = s->eye.width;
  for (int y = 0; y < image->height; y++) {
    for (int x = 0; x < image->width; x++) {
      for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int i = 0; i < SAMPLES * SAMPLES; i++) {
          int px = x * SAMPLES + i % SAMPLES, py = y * SAMPLES + i / SAMPLES;
          sum += fmin(1, (double)s->colour[3 * (py * wide + px) + k]);
        }
        double value = pow(sum / (SAMPLES * SAMPLES), 1 / 1.6);
        image->rgb[3 * (y * image->width + x) + k] = (unsigned char)lround(255 * fmax(0, value));
      }
    }
  }
}

static void paint_sky(Scene* s) {
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

bool render(const tbModel* m, const World* worlds, int count, const Camera* camera, bool forces,
            Image* image) {
  Scene s = {.to_light = {0.35, -0.45, 0.85}};
  int wide = image->width * SAMPLES, high = image->height * SAMPLES;
  image->rgb = malloc(3 * (size_t)image->width * (size_t)image->height);
  s.colour = malloc(sizeof(float) * 3 * (size_t)wide * (size_t)high);
  bool ok = make_view(&s.eye, wide, high) && make_view(&s.light, SHADOW, SHADOW) && image->rgb &&
            s.colour;
  if (ok) {
    normalise(s.to_light);
    tbReal a = camera->azimuth * PI / 180, e = camera->elevation * PI / 180;
    const tbReal forward[3] = {cos(a) * cos(e), sin(a) * cos(e), -sin(e)};
    tbReal down[3], extent = 1.2 * camera->distance;
    aim(&s.eye, forward);
    s.eye.scale = 0.5 * high / tan(0.5 * 40 * PI / 180);
    s.light.parallel = 1;
    s.light.scale = 0.5 * SHADOW / extent;
    for (int k = 0; k < 3; k++) {
      s.eye.origin[k] = camera->lookat[k] - camera->distance * forward[k];
      s.light.origin[k] = camera->lookat[k] + 4 * extent * s.to_light[k];
      down[k] = -s.to_light[k];
    }
    aim(&s.light, down);
    paint_sky(&s);

    // The light sees first, so that the second pass knows what lies in shadow.
    s.shadow_pass = 1;
    draw_worlds(&s, m, worlds, count, camera);
    s.shadow_pass = 0;
    draw_worlds(&s, m, worlds, count, camera);
    for (int i = 0; i < count && forces; i++) {
      draw_forces(&s, m, worlds[i].data, camera->distance);
    }
    resolve(&s, image);
  }
  free(s.colour);
  free(s.eye.depth);
  free(s.light.depth);
  return ok;
}

void image_free(Image* image) {
  free(image->rgb);
  image->rgb = NULL;
}

Camera camera_for(const tbModel* m, const tbData* d) {
  Camera camera = {.azimuth = 125, .elevation = 18};
  tbReal low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int g = 0; g < m->ngeom; g++) {
    int type = m->geom_type[g];
    if (type == TB_GEOM_PLANE || type == TB_GEOM_HFIELD || !visible(m, g)) continue;
    tbReal r = m->geom_rbound[g];
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], d->geom_xpos[3 * g + k] - r);
      high[k] = fmax(high[k], d->geom_xpos[3 * g + k] + r);
    }
  }
  tbReal size = 0;
  for (int k = 0; k < 3; k++) {
    bool known = low[k] <= high[k];
    camera.lookat[k] = known ? 0.5 * (low[k] + high[k]) : 0;
    if (known) size = fmax(size, high[k] - low[k]);
  }
  camera.distance = size > 0 ? 1.7 * size : 3;
  return camera;
}
