// Pictures of worlds without a display or a graphics library: a software renderer with one light
// and its shadows, and PNG files, still or animated.
//
// Errors: TB_ERROR_ARGUMENT, and `error` (may be NULL) says which argument is wrong and what was
// expected.
#ifndef TRIBO_RENDER_H_
#define TRIBO_RENDER_H_

#include "tribo/data.h"

typedef struct tbRenderer tbRenderer;

// A camera of the file, or a free one. The free camera stands `distance` away from `lookat` and is
// upright. Azimuth, degrees: it looks along +x at 0, along +y at 90; increasing values take it
// counter-clockwise around the scene, seen from above. Elevation, degrees: above 0 the camera is
// above `lookat` and looks down (the opposite sign of MuJoCo's). 90 looks straight down.
typedef struct {
  int id;            // >= 0: this camera of the file, at its current pose; the rest is ignored
  tbReal lookat[3];  // m
  tbReal distance;   // m
  tbReal azimuth;    // degrees
  tbReal elevation;  // degrees
  tbReal fovy;       // degrees: vertical field of view, 0 < fovy < 180
} tbCamera;

// One world of a picture. Several are drawn into each other, to compare them: each in a colour of
// its own (TB_RENDER_COLOURS of them, then from the first again), what does not move only once.
typedef struct {
  const tbData* data;   // after tb_forward or a step
  const char* label;    // written at the top, in the world's colour; NULL: none
  const tbReal* trail;  // points drawn as dots, 3 numbers each; NULL: none
  int trail_count;
} tbRenderWorld;

enum { TB_RENDER_COLOURS = 7, TB_RENDER_MOST_PIXELS = 8192 };

typedef struct {
  tbReal
      force_scale;  // m per N: contact forces as arrows, with a bar that shows the scale; 0: none
} tbRenderOptions;

// The states that a free camera has to see (tb_camera_fit_*); its fields are internal.
typedef struct {
  tbCamera camera;
  tbReal tangent[2];  // half the picture over the distance: horizontal, vertical
  tbReal right[3], up[3], forward[3];
  tbReal side[4], depth[2];  // extremes of what was added, along the sides and the view
  int count;
} tbCameraFit;

TB_EXTERN_C_BEGIN

// A free camera: azimuth 125, elevation 18, 3 m from the origin, 40 degrees.
TB_API tbCamera tbDefaultCamera(void);

// The camera nearest to the scene from which everything that moves, and fixed geoms of comparable
// size, are in the picture of that shape, for all states added. `camera` has the direction and the
// field of view. `force_scale` as in tbRenderOptions: arrows are in the picture, too. Where nothing
// can be seen, the result is `camera`.
TB_API tbCameraFit tb_camera_fit_begin(const tbCamera* camera, int width, int height);
TB_API void tb_camera_fit_add(tbCameraFit* fit, const tbModel* model, const tbData* data,
                              tbReal force_scale);
TB_API tbCamera tb_camera_fit_end(const tbCameraFit* fit);

// The force_scale at which the weight of all bodies is an arrow of half the size of the moving
// bodies in this state; 0 if nothing has weight.
TB_API tbReal tb_force_scale(const tbModel* model, const tbData* data);

// A renderer for pictures of 1 to TB_RENDER_MOST_PIXELS pixels a side, or NULL and `error`. It
// holds memory only; one per thread.
TB_API tbRenderer* tb_renderer_new(int width, int height, tbError* error);
TB_API void tb_renderer_free(tbRenderer* renderer);

// Draw `count` worlds of the model into `rgb`: width x height x 3 bytes, rows from the top.
// `camera` NULL: a camera that sees everything; `options` NULL: no arrows.
TB_API tbResult tb_render(tbRenderer* renderer, const tbModel* model, const tbRenderWorld* worlds,
                          int count, const tbCamera* camera, const tbRenderOptions* options,
                          unsigned char* rgb, tbError* error);

// The colour of world `index` of several, as three bytes.
TB_API void tb_render_colour(int index, unsigned char rgb[3]);

// A PNG file of `frames` pictures, each shown for `delay` milliseconds (one picture: a still).
// Without zlib TB_ERROR_UNSUPPORTED. NULL and `error` if the file cannot be created.
typedef struct tbPng tbPng;
TB_API tbPng* tb_png_open(const char* path, int width, int height, int frames, int delay,
                          tbError* error);
TB_API tbResult tb_png_frame(tbPng* png, const unsigned char* rgb, tbError* error);

// Finish the file with the frames that it has. Their number; 0 if it is not a complete picture:
// without frames, or the disk is full.
TB_API int tb_png_close(tbPng* png);

TB_EXTERN_C_END

#endif
