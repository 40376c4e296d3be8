#include "apng.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct PngWriter {
  FILE* file;
  int width, height, frames, delay;
  int written;
  uint32_t sequence;  // of APNG's control and data chunks
  bool failed;
};

static void put32(unsigned char* out, uint32_t value) {
  for (int i = 0; i < 4; i++) out[i] = (unsigned char)(value >> (24 - 8 * i));
}

// Length, type, data, checksum (PNG 5.3); `head` is written before `data` as part of it.
static void chunk(PngWriter* w, const char* type, const unsigned char* head, size_t head_size,
                  const unsigned char* data, size_t size) {
  unsigned char word[4];
  put32(word, (uint32_t)(head_size + size));
  bool ok = fwrite(word, 1, 4, w->file) == 4 && fwrite(type, 1, 4, w->file) == 4;
  ok = ok && fwrite(head, 1, head_size, w->file) == head_size;
  ok = ok && fwrite(data, 1, size, w->file) == size;
  uLong crc = crc32(crc32(0, NULL, 0), (const Bytef*)type, 4);
  if (head_size) crc = crc32(crc, head, (uInt)head_size);
  if (size) crc = crc32(crc, data, (uInt)size);
  put32(word, (uint32_t)crc);
  if (!ok || fwrite(word, 1, 4, w->file) != 4) w->failed = true;
}

PngWriter* png_open(const char* path, int width, int height, int frames, int delay) {
  PngWriter* w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (PngWriter){.width = width, .height = height, .frames = frames, .delay = delay};
  w->file = fopen(path, "wb");
  if (!w->file) {
    free(w);
    return NULL;
  }
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  unsigned char head[13] = {0}, animation[8];
  w->failed = fwrite(signature, 1, 8, w->file) != 8;
  put32(head, (uint32_t)width);
  put32(head + 4, (uint32_t)height);
  head[8] = 8;  // bits
  head[9] = 2;  // true colour
  chunk(w, "IHDR", head, sizeof head, head, 0);
  if (frames > 1) {
    put32(animation, (uint32_t)frames);
    put32(animation + 4, 0);  // for ever
    chunk(w, "acTL", animation, sizeof animation, animation, 0);
  }
  return w;
}

// fcTL: the frame covers the whole picture.
static void frame_control(PngWriter* w) {
  unsigned char control[26] = {0};
  put32(control, w->sequence++);
  put32(control + 4, (uint32_t)w->width);
  put32(control + 8, (uint32_t)w->height);
  control[20] = (unsigned char)(w->delay >> 8);
  control[21] = (unsigned char)w->delay;
  control[22] = 1000 >> 8;
  control[23] = 1000 & 255;
  chunk(w, "fcTL", control, sizeof control, control, 0);
}

bool png_frame(PngWriter* w, const Image* image) {
  // Rows with filter 2 (difference to the row above), then deflate.
  size_t row = 3 * (size_t)w->width, size = (row + 1) * (size_t)w->height;
  uLongf packed_size = compressBound((uLong)size);
  unsigned char *raw = malloc(size), *packed = malloc(packed_size), number[4];
  if (raw && packed) {
    for (int y = 0; y < w->height; y++) {
      unsigned char* out = raw + (row + 1) * (size_t)y;
      const unsigned char* in = image->rgb + row * (size_t)y;
      *out++ = 2;
      for (size_t k = 0; k < row; k++) {
        out[k] = (unsigned char)(in[k] - (y > 0 ? *(in + k - row) : 0));
      }
    }
    if (compress2(packed, &packed_size, raw, (uLong)size, 9) != Z_OK) w->failed = true;
    if (w->frames > 1) frame_control(w);
    if (w->written == 0) {
      chunk(w, "IDAT", number, 0, packed, packed_size);
    } else {
      put32(number, w->sequence++);
      chunk(w, "fdAT", number, 4, packed, packed_size);
    }
    w->written++;
  } else {
    w->failed = true;
  }
  free(raw);
  free(packed);
  return !w->failed;
}

bool png_close(PngWriter* w) {
  chunk(w, "IEND", (const unsigned char*)"", 0, (const unsigned char*)"", 0);
  bool ok = !w->failed && w->written == w->frames;
  ok = fclose(w->file) == 0 && ok;
  free(w);
  return ok;
}
