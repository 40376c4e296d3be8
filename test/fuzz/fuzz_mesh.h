// Reading and processing one mesh file.
#ifndef TRIBO_TEST_FUZZ_MESH_H_
#define TRIBO_TEST_FUZZ_MESH_H_

#include <math.h>

#include "fuzz/fuzz.h"
#include "io/mesh/mesh.h"

static inline void fuzz_read_mesh(const char* name, const uint8_t* bytes, size_t size) {
  tbArena arena;
  tbMeshData data;
  tbMesh mesh;
  tbError error = {0};
  tb_arena_init(&arena);
  if (tb_mesh_read_bytes(&data, &arena, name, bytes, size, &error) == TB_OK) {
    for (int i = 0; i < 3 * data.nface; i++) {
      FUZZ_CHECK(data.face[i] >= 0 && data.face[i] < data.nvert, "an index out of range");
    }
    // Every mode of inertia, the hull with the first.
    for (int mode = 0; mode < 4 && data.nvert < 2000; mode++) {
      tbMeshOptions options = tb_mesh_default_options();
      options.inertia = mode;
      options.need_hull = mode == 0;
      if (size % 2) options.scale[0] = -2;
      if (tb_mesh_process(&mesh, &arena, name, &data, &options, &error) != TB_OK) {
        FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
        continue;
      }
      FUZZ_CHECK(mesh.volume > 0 && isfinite(mesh.volume), "volume");
      FUZZ_CHECK(mesh.inertia[2] > 0 && isfinite(mesh.inertia[0]), "inertia");
    }
  } else {
    FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
  }
  tb_arena_free(&arena);
}

static inline void fuzz_read_hfield(const uint8_t* bytes, size_t size) {
  tbArena arena;
  tbHFieldData hfield;
  tbError error = {0};
  tb_arena_init(&arena);
  if (tb_hfield_read_bytes(&hfield, &arena, "fuzz.bin", bytes, size, &error) == TB_OK) {
    for (int64_t i = 0; i < (int64_t)hfield.nrow * hfield.ncol; i++) {
      FUZZ_CHECK(hfield.data[i] >= 0 && hfield.data[i] <= 1, "a sample out of range");
    }
  }
  tb_arena_free(&arena);
}

#endif
