// PNG files, still or animated (APNG).
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tribo/render.h"

#ifdef TB_WITH_ZLIB
#include <zlib.h>

struct tbPng {
  FILE* file;
  int width, height, frames, delay;
  unsigned char* before;  // the last frame of an animation
  int written;
  uint32_t sequence;  // of APNG's control and data chunks
  bool failed;
};

static void put32(unsigned char* out, uint32_t value) {
  for (int i = 0; i < 4; i++) out[i] = (unsigned char)(value >> (24 - 8 * i));
}

// Length, type, data, checksum (PNG 5.3); `head` is written before `data` as part of it.
static void chunk(tbPng* w, const char* type, const unsigned char* head, size_t head_size,
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

// acTL: the number of frames, played for ever. It follows the signature (8 bytes) and IHDR (25).
enum { ANIMATION_CONTROL_AT = 33 };

static void animation_control(tbPng* w, int frames) {
  unsigned char animation[8] = {0};
  put32(animation, (uint32_t)frames);
  chunk(w, "acTL", animation, sizeof animation, animation, 0);
}

tbPng* tb_png_open(const char* path, int width, int height, int frames, int delay, tbError* error) {
  if (!path) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_png_open: path is NULL");
    return NULL;
  }
  const struct {
    const char* name;
    int value, least, most;
  } arguments[] = {{"width", width, 1, TB_RENDER_MOST_PIXELS},
                   {"height", height, 1, TB_RENDER_MOST_PIXELS},
                   {"frames", frames, 1, INT_MAX},
                   {"delay", delay, 0, INT_MAX}};
  for (int i = 0; i < 4; i++) {
    if (arguments[i].value >= arguments[i].least && arguments[i].value <= arguments[i].most) {
      continue;
    }
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_png_open: %s is %d, expected %d to %d", arguments[i].name,
            arguments[i].value, arguments[i].least, arguments[i].most);
    return NULL;
  }
  tbPng* w = calloc(1, sizeof *w);
  if (!w) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory for '%s'", path);
    return NULL;
  }
  *w = (tbPng){.width = width, .height = height, .frames = frames};
  w->delay = delay < 0xffff ? delay : 0xffff;
  w->file = fopen(path, "wb");
  if (!w->file) {
    tb_fail(error, TB_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
    free(w);
    return NULL;
  }
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  unsigned char head[13] = {0};
  w->failed = fwrite(signature, 1, 8, w->file) != 8;
  put32(head, (uint32_t)width);
  put32(head + 4, (uint32_t)height);
  head[8] = 8;  // bits
  head[9] = 2;  // true colour
  chunk(w, "IHDR", head, sizeof head, head, 0);
  if (frames > 1) animation_control(w, frames);
  return w;
}

// The part of the picture that a frame replaces.
typedef struct {
  int x, y, width, height;
} Part;

// The rectangle that differs from the frame before (at least one pixel: no frame may be empty).
static Part changed_part(const tbPng* w, const unsigned char* rgb) {
  if (!w->before) return (Part){0, 0, w->width, w->height};
  int left = w->width, right = -1, top = w->height, bottom = -1;
  for (int y = 0; y < w->height; y++) {
    for (int x = 0; x < w->width; x++) {
      size_t at = 3 * ((size_t)y * (size_t)w->width + (size_t)x);
      if (memcmp(w->before + at, rgb + at, 3) == 0) continue;
      left = x < left ? x : left;
      right = x > right ? x : right;
      top = y < top ? y : top;
      bottom = y;
    }
  }
  if (right < 0) return (Part){0, 0, 1, 1};
  return (Part){left, top, right - left + 1, bottom - top + 1};
}

// fcTL: where the frame goes and how long it is seen; the last one long enough to be looked at.
static void frame_control(tbPng* w, Part part) {
  enum { LAST = 1200 };
  unsigned char control[26] = {0};
  int delay = w->written + 1 == w->frames && w->delay < LAST ? LAST : w->delay;
  put32(control, w->sequence++);
  put32(control + 4, (uint32_t)part.width);
  put32(control + 8, (uint32_t)part.height);
  put32(control + 12, (uint32_t)part.x);
  put32(control + 16, (uint32_t)part.y);
  control[20] = (unsigned char)(delay >> 8);
  control[21] = (unsigned char)delay;
  control[22] = 1000 >> 8;
  control[23] = 1000 & 255;
  chunk(w, "fcTL", control, sizeof control, control, 0);
}

// Rows with filter 2 (difference to the row above).
static void filter_rows(const tbPng* w, const unsigned char* rgb, Part part, unsigned char* out) {
  size_t stride = 3 * (size_t)w->width, row = 3 * (size_t)part.width;
  for (int y = 0; y < part.height; y++) {
    const unsigned char* in = rgb + stride * (size_t)(part.y + y) + 3 * (size_t)part.x;
    *out++ = 2;
    for (size_t k = 0; k < row; k++) {
      *out++ = (unsigned char)(in[k] - (y > 0 ? *(in + k - stride) : 0));
    }
  }
}

// Remember the frame, for the differences of the next.
static void keep(tbPng* w, const unsigned char* rgb) {
  size_t size = 3 * (size_t)w->width * (size_t)w->height;
  if (w->frames < 2) return;
  if (!w->before) w->before = malloc(size);
  if (w->before) memcpy(w->before, rgb, size);
}

static void write_frame(tbPng* w, const unsigned char* rgb) {
  Part part = changed_part(w, rgb);
  size_t size = (3 * (size_t)part.width + 1) * (size_t)part.height;
  uLongf packed_size = compressBound((uLong)size);
  unsigned char *raw = malloc(size), *packed = malloc(packed_size), number[4];
  if (raw && packed) {
    filter_rows(w, rgb, part, raw);
    if (compress2(packed, &packed_size, raw, (uLong)size, 9) != Z_OK) w->failed = true;
    if (w->frames > 1) frame_control(w, part);
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
  keep(w, rgb);
  free(raw);
  free(packed);
}

tbResult tb_png_frame(tbPng* w, const unsigned char* rgb, tbError* error) {
  if (!w || !rgb) return tb_fail(error, TB_ERROR_ARGUMENT, "tb_png_frame: NULL argument");
  if (w->written == w->frames) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_png_frame: the file was opened for %d frames",
                   w->frames);
  }
  write_frame(w, rgb);
  if (!w->failed) return TB_OK;
  return tb_fail(error, TB_ERROR_FILE, "the picture could not be written: disk full?");
}

int tb_png_close(tbPng* w) {
  if (!w) return 0;
  chunk(w, "IEND", (const unsigned char*)"", 0, (const unsigned char*)"", 0);
  int frames = w->written;
  // An animation that ended early says so.
  if (frames > 0 && frames < w->frames) {
    if (fseek(w->file, ANIMATION_CONTROL_AT, SEEK_SET) != 0) w->failed = true;
    animation_control(w, frames);
  }
  bool ok = !w->failed;
  ok = fclose(w->file) == 0 && ok;
  free(w->before);
  free(w);
  return ok ? frames : 0;
}

#else

tbPng* tb_png_open(const char* path, int width, int height, int frames, int delay, tbError* error) {
  (void)width, (void)height, (void)frames, (void)delay;
  tb_fail(error, TB_ERROR_UNSUPPORTED, "'%s': built without zlib, which PNG files need",
          path ? path : "");
  return NULL;
}

tbResult tb_png_frame(tbPng* png, const unsigned char* rgb, tbError* error) {
  (void)png, (void)rgb;
  return tb_fail(error, TB_ERROR_UNSUPPORTED, "built without zlib, which PNG files need");
}

int tb_png_close(tbPng* png) {
  (void)png;
  return 0;
}

#endif
