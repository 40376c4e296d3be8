// A small software renderer: triangles, a depth buffer, one light with shadows. For stills and
// short animations where no display or graphics library is at hand.
#ifndef TRIBO_VIEWER_RENDER_H_
#define TRIBO_VIEWER_RENDER_H_

#include "tribo/tribo.h"

typedef struct {
  tbReal lookat[3];  // m
  tbReal distance;   // m
  tbReal azimuth;    // degrees: 0 looks along x, 90 along y
  tbReal elevation;  // degrees above the horizon
} Camera;

typedef struct {
  int width, height;
  unsigned char* rgb;  // rows from the top
} Image;

// A camera that sees everything that moves, at the data's current poses.
Camera camera_for(const tbModel* model, const tbData* data);

// Draw the data's current geom poses (after tb_forward or a step). `forces` true: contact forces as
// arrows. False when out of memory; image_free in any case.
bool render(const tbModel* model, const tbData* data, const Camera* camera, bool forces,
            Image* image);
void image_free(Image* image);

#endif
