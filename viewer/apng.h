// PNG files, still or animated (APNG).
#ifndef TRIBO_VIEWER_APNG_H_
#define TRIBO_VIEWER_APNG_H_

#include "render.h"

typedef struct PngWriter PngWriter;

// Start a file of `frames` frames shown for `delay` milliseconds each. NULL if it cannot be
// written.
PngWriter* png_open(const char* path, int width, int height, int frames, int delay);
bool png_frame(PngWriter* writer, const Image* image);
// False if anything could not be written.
bool png_close(PngWriter* writer);

#endif
