// Selection of the reader for a mesh file, and checks that hold for every format.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "io/mesh/readers.h"

uint32_t tb_read_u32(const unsigned char* bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

float tb_read_f32(const unsigned char* bytes) {
  uint32_t bits = tb_read_u32(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int lower(int c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

int tb_compare_nocase(const char* a, const char* b) {
  while (*a && lower(*a) == lower(*b)) a++, b++;
  return lower(*a) - lower(*b);
}

typedef tbResult (*Reader)(tbMeshData* mesh, tbArena* arena, const char* name,
                           const unsigned char* bytes, size_t size, tbError* error);

static const struct {
  const char* extension;
  Reader read;
} READERS[] = {
    {".stl", tb_mesh_read_stl}, {".stla", tb_mesh_read_stl}, {".stlb", tb_mesh_read_stl},
    {".obj", tb_mesh_read_obj}, {".msh", tb_mesh_read_msh},  {".dae", tb_mesh_read_dae},
};

// The reader for a file without a known extension, by its first bytes.
static Reader guess(const unsigned char* bytes, size_t size) {
  const char* text = (const char*)bytes;
  if (size >= 84 && 84 + 50 * (uint64_t)tb_read_u32(bytes + 80) == size) return tb_mesh_read_stl;
  if (size >= 5 && strncmp(text, "solid", 5) == 0) return tb_mesh_read_stl;
  if (strstr(text, "<COLLADA")) return tb_mesh_read_dae;
  if (strncmp(text, "v ", 2) == 0 || strstr(text, "\nv ")) return tb_mesh_read_obj;
  return NULL;
}

tbResult tb_mesh_read_bytes(tbMeshData* mesh, tbArena* arena, const char* name, const void* bytes,
                            size_t size, tbError* error) {
  memset(mesh, 0, sizeof *mesh);
  if (size == 0) return tb_fail(error, TB_ERROR_PARSE, "%s: the file is empty", name);
  if (size > TB_LARGEST_FILE) return tb_fail(error, TB_ERROR_FILE, "%s: larger than 1 GiB", name);
  const char* dot = strrchr(name, '.');
  Reader read = NULL;
  for (size_t i = 0; dot && i < sizeof READERS / sizeof READERS[0]; i++) {
    if (tb_compare_nocase(dot, READERS[i].extension) == 0) read = READERS[i].read;
  }
  // The readers rely on a zero after the last byte.
  unsigned char* copy = tb_arena_alloc(arena, size + 1);
  if (!copy) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  memcpy(copy, bytes, size);
  copy[size] = 0;
  if (!read) read = guess(copy, size);
  if (!read) {
    return tb_fail(error, TB_ERROR_UNSUPPORTED,
                   "%s: unknown mesh format, expected .stl, .obj, .msh or .dae", name);
  }
  tbResult result = read(mesh, arena, name, copy, size, error);
  if (result != TB_OK) memset(mesh, 0, sizeof *mesh);
  return result;
}

tbResult tb_mesh_read(tbMeshData* mesh, tbArena* arena, const char* path, tbError* error) {
  memset(mesh, 0, sizeof *mesh);
  const unsigned char* bytes = NULL;
  size_t size = 0;
  tbResult result = tb_read_file(path, arena, &bytes, &size, error);
  return result ? result : tb_mesh_read_bytes(mesh, arena, path, bytes, size, error);
}

tbResult tb_mesh_from_arrays(tbMeshData* mesh, tbArena* arena, const char* name, const tbReal* vert,
                             int nvert, const int* face, int nface, tbError* error) {
  memset(mesh, 0, sizeof *mesh);
  if (nvert < 0 || nface < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "mesh '%s': negative counts", name);
  }
  for (int64_t i = 0; i < 3 * (int64_t)nvert; i++) {
    if (!isfinite(vert[i])) {
      return tb_fail(error, TB_ERROR_MODEL, "mesh '%s': vertex %d is not finite", name,
                     (int)(i / 3));
    }
  }
  for (int64_t i = 0; i < 3 * (int64_t)nface; i++) {
    if (face[i] < 0 || face[i] >= nvert) {
      return tb_fail(error, TB_ERROR_MODEL,
                     "mesh '%s': face %d names vertex %d, but there are %d vertices", name,
                     (int)(i / 3), face[i], nvert);
    }
  }
  tbReal* v = TB_ARENA_NEW(arena, tbReal, 3 * (size_t)nvert);
  int* f = TB_ARENA_NEW(arena, int, 3 * (size_t)nface);
  if (!v || !f) return tb_fail(error, TB_ERROR_MEMORY, "mesh '%s': out of memory", name);
  if (nvert) memcpy(v, vert, 3 * (size_t)nvert * sizeof *v);
  if (nface) memcpy(f, face, 3 * (size_t)nface * sizeof *f);
  *mesh = (tbMeshData){nvert, nface, v, f};
  return TB_OK;
}
