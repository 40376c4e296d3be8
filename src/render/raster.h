// Triangles into a depth buffer, seen by the eye or by the light.
#ifndef TRIBO_RENDER_RASTER_H_
#define TRIBO_RENDER_RASTER_H_

#include "tribo/types.h"

// A pinhole or, for the light, a parallel projection onto a square.
typedef struct {
  tbReal origin[3], right[3], up[3], forward[3];
  tbReal scale;  // pixels per unit of tan (pinhole) or per metre (parallel)
  tbReal near;   // m: a pinhole sees nothing nearer
  int parallel;
  int width, height;
  float* depth;  // infinity where empty
} tbView;

typedef struct {
  tbView eye, light;
  float* colour;  // eye.width x eye.height x 3, linear
  tbReal to_light[3];
  // The shape that is being drawn.
  const tbReal *position, *rotation;
  tbReal rgb[3];
  int checker;      // floor pattern
  int shadow_pass;  // 1: into the light's depth buffer only
} tbScene;

// Point the view along `forward`, upright.
void tb_aim(tbView* view, const tbReal forward[3]);

// Pixel coordinates and depth of a world point.
void tb_project(const tbView* view, const tbReal world[3], tbReal out[3]);

// A tbTriangleSink (shapes.h) whose context is the scene: from the shape's frame to the view of the
// current pass.
void tb_draw_triangle(void* context, const tbReal corner[3][3], const tbReal normal[3][3]);

#endif
