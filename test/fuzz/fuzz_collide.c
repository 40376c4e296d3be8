// Raw bytes as two shapes and a margin: no crash, no hang, nothing non-finite.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "spatial/quat.h"
#include "tribo/collide.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static const tbReal vertices[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, -1, -1, -1};
static const int adj_start[] = {0, 3, 6, 9, 12};
static const int adj[] = {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};
static const tbReal heights[9] = {0, 0.5, 1, 0.2, 0.8, 0.1, 1, 0, 0.3};

typedef struct {
  const uint8_t* data;
  size_t size;
} Stream;

static void take(Stream* s, void* out, size_t bytes) {
  size_t have = s->size < bytes ? s->size : bytes;
  memset(out, 0, bytes);
  memcpy(out, s->data, have);
  s->data += have;
  s->size -= have;
}

// Raw doubles reach the strange values, small integers the sane ones: the mode says which.
static void take_numbers(Stream* s, bool raw, tbReal* out, int count) {
  for (int i = 0; i < count; i++) {
    int16_t small;
    if (raw) {
      take(s, &out[i], sizeof(tbReal));
    } else {
      take(s, &small, sizeof(small));
      out[i] = small / 256.0;
    }
  }
}

static void take_shape(Stream* s, tbShape* shape, const tbHull* hull, const tbHField* field) {
  uint8_t type;
  tbReal q[4];
  take(s, &type, 1);
  bool raw = type & 128;
  take_numbers(s, raw, shape->size, 3);
  take_numbers(s, raw, shape->pos, 3);
  take_numbers(s, raw, q, 4);
  shape->type = (type & 127) % (TB_NGEOMTYPES + 1);

  // A quaternion too large or small to normalise is no rotation, and then nothing is promised.
  tb_quat_normalize(q);
  tbReal squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(fabs(squared - 1) < 1e-9)) tb_quat_identity(q);
  tb_quat_to_mat(shape->mat, q);
  shape->hull = hull;
  shape->hfield = field;
}

static void require(bool ok) {
  if (!ok) __builtin_trap();
}

static void check(const tbShape* a, const tbShape* b, tbReal margin) {
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  tbCollideCache warm;
  memset(&warm, 0, sizeof(warm));
  for (int round = 0; round < 2; round++) {
    int count = tb_collide(a, b, margin, c, round ? &warm : NULL);
    require(count >= 0 && count <= TB_MAX_PAIR_CONTACTS);
    for (int i = 0; i < count; i++) {
      require(isfinite(c[i].dist) && c[i].dist <= margin);
      for (int k = 0; k < 3; k++) require(isfinite(c[i].pos[k]));
      for (int k = 0; k < 9; k++) require(fabs(c[i].frame[k]) <= 1 + 1e-6);
    }
  }
  tbReal pa[3], pb[3], n[3];
  tb_distance(a, b, pa, pb, n, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tbHull hull = {.nvert = 4,
                              .nface = 0,
                              .vert = vertices,
                              .adj_start = adj_start,
                              .adj = adj,
                              .radius = 1.7320508075688773};
  static const tbHField field = {.nrow = 3, .ncol = 3, .size = {1, 1, 1, 0.1}, .data = heights};
  Stream stream = {data, size};
  tbShape a, b;
  tbReal margin;
  take_shape(&stream, &a, &hull, &field);
  take_shape(&stream, &b, &hull, &field);
  take_numbers(&stream, size & 1, &margin, 1);
  check(&a, &b, margin);
  check(&b, &a, margin);
  return 0;
}
