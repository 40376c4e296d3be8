// PNG files, still or animated (APNG).
#ifndef TRIBO_VIEWER_APNG_H_
#define TRIBO_VIEWER_APNG_H_

#include "render.h"

typedef struct PngWriter PngWriter;

// Start a file of `frames` frames shown for `delay` milliseconds each. NULL if it cannot be
// written.
PngWriter* png_open(const char* path, int width, int height, int frames, int delay);
bool png_frame(PngWriter* writer, const Image* image);

// Finish the file with the frames that it has. How many those are, 0 where it is no complete
// picture: without frames, or not all of it could be written.
int png_close(PngWriter* writer);

#endif
