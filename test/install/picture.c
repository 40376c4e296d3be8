// Statistics of a picture of `tribo render`: its number of frames, the most pixels by which a frame
// differs from the first, and the pixels of the first that differ from their left neighbour (edges:
// none in an empty picture). picture FILE.png
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST = 1 << 24 };
static unsigned char file[MOST], packed[MOST], rows[MOST], canvas[MOST], first[MOST];

static uint32_t word(const unsigned char* p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void fail(const char* what) {
  fprintf(stderr, "picture: %s\n", what);
  exit(2);
}

typedef struct {
  uint32_t width, height, x, y;
} Part;

// Put the rows of a frame into the canvas: filters 0 (none) and 2 (difference to the row above).
static void put(uint32_t width, Part part, size_t size) {
  size_t row = 3 * (size_t)part.width;
  uLongf unpacked = MOST;
  if (uncompress(rows, &unpacked, packed, size) != Z_OK || unpacked != (row + 1) * part.height) {
    fail("a frame cannot be unpacked");
  }
  for (uint32_t y = 0; y < part.height; y++) {
    const unsigned char* in = rows + (row + 1) * y;
    unsigned char* out = canvas + 3 * ((size_t)(part.y + y) * width + part.x);
    if (in[0] != 0 && in[0] != 2) fail("a filter that Tribo does not use");
    for (size_t k = 0; k < row; k++) {
      int above = in[0] == 2 && y > 0 ? out[k - 3 * (long)width] : 0;
      out[k] = (unsigned char)(in[k + 1] + above);
    }
  }
}

static size_t count_changed(const unsigned char* a, const unsigned char* b, size_t pixels) {
  size_t count = 0;
  for (size_t i = 0; i < pixels; i++) count += memcmp(a + 3 * i, b + 3 * i, 3) != 0;
  return count;
}

int main(int argc, char** argv) {
  FILE* f = argc > 1 ? fopen(argv[1], "rb") : NULL;
  size_t size = f ? fread(file, 1, MOST, f) : 0, at = 8, held = 0, pixels = 0, most = 0;
  if (f) fclose(f);
  Part part = {0, 0, 0, 0};
  uint32_t width = 0;
  int frames = 0;
  while (at + 12 <= size) {
    const unsigned char *type = file + at + 4, *data = type + 4;
    size_t length = word(file + at);
    if (length > size - at - 12) fail("a chunk is cut off");
    at += length + 12;
    if (memcmp(type, "IHDR", 4) == 0) {
      width = word(data);
      part = (Part){width, word(data + 4), 0, 0};
      pixels = (size_t)width * part.height;
      if (3 * pixels > MOST || data[8] != 8 || data[9] != 2) fail("not 8 bits of RGB");
    }
    // A frame ends where the next starts.
    int starts = memcmp(type, "fcTL", 4) == 0, ends = memcmp(type, "IEND", 4) == 0;
    if ((starts || ends) && held) {
      put(width, part, held);
      if (frames++ == 0) memcpy(first, canvas, 3 * pixels);
      size_t changed = count_changed(first, canvas, pixels);
      most = changed > most ? changed : most;
      held = 0;
    }
    if (starts) part = (Part){word(data + 4), word(data + 8), word(data + 12), word(data + 16)};
    size_t skip = memcmp(type, "fdAT", 4) == 0 ? 4 : memcmp(type, "IDAT", 4) == 0 ? 0 : length;
    memcpy(packed + held, data + skip, length - skip);
    held += length - skip;
  }
  if (frames == 0) fail("no picture");
  printf("%d %zu %zu\n", frames, most, count_changed(first, first + 3, pixels - 1));
  return 0;
}
