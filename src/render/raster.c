// Filling of triangles: projection, clipping, depth buffer, shading, shadows.
#include "render/raster.h"

#include <math.h>
#include <string.h>

#include "spatial/vec3.h"

// Point the view along `forward`, upright.
void tb_aim(tbView* view, const tbReal forward[3]) {
  const tbReal z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
  memcpy(view->forward, forward, sizeof view->forward);
  tb_normalize3(view->forward);
  tb_cross(view->right, view->forward, fabs(view->forward[2]) < 0.999 ? z : x);
  tb_normalize3(view->right);
  tb_cross(view->up, view->right, view->forward);
}

// Pixel coordinates and depth of a world point.
void tb_project(const tbView* view, const tbReal world[3], tbReal out[3]) {
  tbReal d[3] = {world[0] - view->origin[0], world[1] - view->origin[1],
                 world[2] - view->origin[2]};
  tbReal z = tb_dot3(d, view->forward), s = view->parallel ? view->scale : view->scale / z;
  out[0] = 0.5 * view->width + s * tb_dot3(d, view->right);
  out[1] = 0.5 * view->height - s * tb_dot3(d, view->up);
  out[2] = z;
}

// ---- shading -----------------------------------------------------------------------------------

// How much of the light reaches a point: four samples of the shadow map.
static tbReal lit(const tbScene* s, const tbReal world[3], tbReal slope) {
  const tbView* light = &s->light;
  tbReal p[3], sum = 0, bias = (2 + 6 * (1 - slope)) / light->scale;
  tb_project(light, world, p);
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

static void shade(const tbScene* s, const tbReal world[3], const tbReal n[3], float* pixel) {
  tbReal view[3], half[3], normal[3] = {n[0], n[1], n[2]};
  for (int k = 0; k < 3; k++) view[k] = s->eye.origin[k] - world[k];
  tb_normalize3(view);
  tb_normalize3(normal);
  if (tb_dot3(normal, view) < 0) {
    for (int k = 0; k < 3; k++) normal[k] = -normal[k];
  }
  for (int k = 0; k < 3; k++) half[k] = view[k] + s->to_light[k];
  tb_normalize3(half);
  tbReal diffuse = fmax(0, tb_dot3(normal, s->to_light)), light = lit(s, world, diffuse);
  tbReal shine = s->checker ? 0 : 0.25 * pow(fmax(0, tb_dot3(normal, half)), 40);
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
static void fill(tbScene* s, tbView* view, const tbReal world[3][3], const tbReal normal[3][3]) {
  tbReal p[3][3];
  for (int c = 0; c < 3; c++) tb_project(view, world[c], p[c]);
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
static void clip_and_fill(tbScene* s, tbView* view, const tbReal world[3][3],
                          const tbReal normal[3][3]) {
  enum { NEAR = 3 };
  const tbReal near = view->parallel ? -1e9 : view->near;
  tbReal corner[4][3], direction[4][3], depth[NEAR];
  int count = 0;
  for (int c = 0; c < 3; c++) {
    tbReal d[3];
    for (int k = 0; k < 3; k++) d[k] = world[c][k] - view->origin[k];
    depth[c] = tb_dot3(d, view->forward) - near;
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
void tb_draw_triangle(void* context, const tbReal corner[3][3], const tbReal normal[3][3]) {
  tbScene* s = context;
  tbReal world[3][3], turned[3][3];
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) {
      world[c][k] = s->position[k] + tb_dot3(s->rotation + 3 * k, corner[c]);
      turned[c][k] = tb_dot3(s->rotation + 3 * k, normal[c]);
    }
  }
  clip_and_fill(s, s->shadow_pass ? &s->light : &s->eye, (const tbReal(*)[3])world,
                (const tbReal(*)[3])turned);
}
