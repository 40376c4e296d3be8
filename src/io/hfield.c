// Height fields from images, MuJoCo's binary files and inline numbers.
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/minmax.h"
#include "io/mesh/readers.h"

#ifdef TB_WITH_PNG
#include <png.h>
#endif

// Rows and columns are at most this, and their product at most 2^28.
enum { LARGEST_SIDE = 1 << 16, LARGEST_AREA = 1 << 28 };

static tbResult allocate(tbHFieldData* hfield, tbArena* arena, const char* name, uint64_t nrow,
                         uint64_t ncol, tbError* error) {
  if (nrow < 2 || ncol < 2 || nrow > LARGEST_SIDE || ncol > LARGEST_SIDE ||
      nrow * ncol > LARGEST_AREA) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "height field '%s': %llu rows and %llu columns, expected at least 2 of each and "
                   "at most %d samples",
                   name, (unsigned long long)nrow, (unsigned long long)ncol, LARGEST_AREA);
  }
  hfield->nrow = (int)nrow;
  hfield->ncol = (int)ncol;
  hfield->data = TB_ARENA_NEW(arena, tbReal, nrow * ncol);
  if (!hfield->data) {
    return tb_fail(error, TB_ERROR_MEMORY, "height field '%s': out of memory", name);
  }
  return TB_OK;
}

// Scales to [0, 1]; a flat field becomes zero.
static tbResult normalize(tbHFieldData* hfield, const char* name, tbError* error) {
  size_t n = (size_t)hfield->nrow * (size_t)hfield->ncol;
  tbReal low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(hfield->data[i])) {
      return tb_fail(error, TB_ERROR_MODEL, "height field '%s': sample %zu is not finite", name, i);
    }
    low = tb_min(low, hfield->data[i]);
    high = tb_max(high, hfield->data[i]);
  }
  tbReal range = high - low;
  if (!isfinite(range)) {
    return tb_fail(error, TB_ERROR_MODEL, "height field '%s': heights differ too much", name);
  }
  bool flat = !(range > 1e-15);
  for (size_t i = 0; i < n; i++) {
    hfield->data[i] = flat ? 0 : (hfield->data[i] - low) / range;
  }
  return TB_OK;
}

#ifdef TB_WITH_PNG
// A PNG in memory, and libpng's error message.
typedef struct {
  const unsigned char* at;
  const unsigned char* end;
  char message[128];
  tbHFieldData* hfield;
  tbArena* arena;
  const char* name;
  tbError* error;
  tbResult result;
} Image;

static void png_read_bytes(png_structp png, png_bytep out, size_t bytes) {
  Image* image = png_get_io_ptr(png);
  if (bytes > (size_t)(image->end - image->at)) png_error(png, "the file ends too early");
  memcpy(out, image->at, bytes);
  image->at += bytes;
}

static void png_fail(png_structp png, png_const_charp message) {
  Image* image = png_get_error_ptr(png);
  snprintf(image->message, sizeof image->message, "%s", message);
  png_longjmp(png, 1);
}

static void png_ignore(png_structp png, png_const_charp message) {
  (void)png, (void)message;
}

// The red channel of every pixel with eight bits as stored in the file: no gamma correction, no
// blending with the alpha channel, the upper byte of sixteen bits. The image's top row is at the
// largest y.
static void read_rows(png_structp png, png_infop info, Image* image) {
  if (setjmp(png_jmpbuf(png))) return;
  png_set_user_limits(png, LARGEST_SIDE, LARGEST_SIDE);
  png_set_read_fn(png, image, png_read_bytes);
  png_read_info(png, info);
  size_t ncol = png_get_image_width(png, info), nrow = png_get_image_height(png, info);
  image->result = allocate(image->hfield, image->arena, image->name, nrow, ncol, image->error);
  if (image->result) return;
  png_set_strip_16(png);
  png_set_expand(png);
  png_set_strip_alpha(png);
  (void)png_set_interlace_handling(png);
  png_read_update_info(png, info);
  size_t stride = png_get_rowbytes(png, info), channels = png_get_channels(png, info);
  unsigned char* pixel = tb_arena_alloc(image->arena, nrow * stride);
  png_bytepp row = tb_arena_alloc(image->arena, nrow * sizeof *row);
  if (!pixel || !row) png_error(png, "out of memory");
  for (size_t r = 0; r < nrow; r++) row[r] = pixel + r * stride;
  png_read_image(png, row);
  for (size_t r = 0; r < nrow; r++) {
    for (size_t c = 0; c < ncol; c++) {
      image->hfield->data[r * ncol + c] = row[nrow - 1 - r][c * channels];
    }
  }
}

static tbResult read_png(tbHFieldData* hfield, tbArena* arena, const char* name,
                         const unsigned char* bytes, size_t size, tbError* error) {
  Image image = {.at = bytes,
                 .end = bytes + size,
                 .hfield = hfield,
                 .arena = arena,
                 .name = name,
                 .error = error};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &image, png_fail, png_ignore);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  bool created = info != NULL;
  if (created) read_rows(png, info, &image);
  png_destroy_read_struct(&png, &info, NULL);
  if (!created) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  if (image.result) return image.result;
  if (image.message[0]) return tb_fail(error, TB_ERROR_PARSE, "%s: %s", name, image.message);
  return normalize(hfield, name, error);
}
#else
static tbResult read_png(tbHFieldData* hfield, tbArena* arena, const char* name,
                         const unsigned char* bytes, size_t size, tbError* error) {
  (void)hfield, (void)arena, (void)bytes, (void)size;
  return tb_fail(error, TB_ERROR_UNSUPPORTED, "%s: this build has no libpng", name);
}
#endif

static tbResult read_binary(tbHFieldData* hfield, tbArena* arena, const char* name,
                            const unsigned char* bytes, size_t size, tbError* error) {
  if (size < 8) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: %zu bytes are too few for a height field", name,
                   size);
  }
  uint64_t nrow = tb_read_u32(bytes), ncol = tb_read_u32(bytes + 4);
  if (nrow > LARGEST_SIDE || ncol > LARGEST_SIDE || 8 + 4 * nrow * ncol != size) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "%s: the header says %llu rows and %llu columns, which does not match the %zu "
                   "bytes of the file",
                   name, (unsigned long long)nrow, (unsigned long long)ncol, size);
  }
  tbResult result = allocate(hfield, arena, name, nrow, ncol, error);
  if (result) return result;
  for (size_t i = 0; i < nrow * ncol; i++) {
    hfield->data[i] = (tbReal)tb_read_f32(bytes + 8 + 4 * i);
  }
  return normalize(hfield, name, error);
}

tbResult tb_hfield_read_bytes(tbHFieldData* hfield, tbArena* arena, const char* name,
                              const void* bytes, size_t size, tbError* error) {
  static const unsigned char PNG[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  memset(hfield, 0, sizeof *hfield);
  const char* dot = strrchr(name, '.');
  bool png = size >= 8 && memcmp(bytes, PNG, 8) == 0;
  if (!png && dot && tb_compare_nocase(dot, ".png") == 0) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: not a PNG file", name);
  }
  return (png ? read_png : read_binary)(hfield, arena, name, bytes, size, error);
}

tbResult tb_hfield_read(tbHFieldData* hfield, tbArena* arena, const char* path, tbError* error) {
  memset(hfield, 0, sizeof *hfield);
  const unsigned char* bytes = NULL;
  size_t size = 0;
  tbResult result = tb_read_file(path, arena, &bytes, &size, error);
  return result ? result : tb_hfield_read_bytes(hfield, arena, path, bytes, size, error);
}

tbResult tb_hfield_from_elevation(tbHFieldData* hfield, tbArena* arena, const char* name, int nrow,
                                  int ncol, const tbReal* elevation, int nelevation,
                                  tbError* error) {
  memset(hfield, 0, sizeof *hfield);
  if (nrow < 0 || ncol < 0) {
    return tb_fail(error, TB_ERROR_MODEL, "height field '%s': negative size", name);
  }
  if (elevation && nelevation != (int64_t)nrow * ncol) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "height field '%s': %d elevations, expected %d rows times %d columns", name,
                   nelevation, nrow, ncol);
  }
  tbResult result = allocate(hfield, arena, name, (uint64_t)nrow, (uint64_t)ncol, error);
  if (result || !elevation) return result;
  for (int r = 0; r < nrow; r++) {
    memcpy(hfield->data + (size_t)r * (size_t)ncol,
           elevation + (size_t)(nrow - 1 - r) * (size_t)ncol, (size_t)ncol * sizeof(tbReal));
  }
  return normalize(hfield, name, error);
}
