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

// One world of a picture. Several are drawn into each other, to compare them: then each has a
// colour of its own, and what does not move is drawn once.
typedef struct {
  const tbData* data;   // its current geom poses (after tb_forward or a step)
  const tbReal* trail;  // where its first body was: 3 numbers each, drawn as dots; or NULL
  int trail_count;
} World;

// A camera that sees everything that moves, at the data's current poses.
Camera camera_for(const tbModel* model, const tbData* data);

// Draw the worlds. `forces` true: contact forces as arrows. False when out of memory; image_free in
// any case.
bool render(const tbModel* model, const World* worlds, int count, const Camera* camera, bool forces,
            Image* image);
void image_free(Image* image);

#endif
