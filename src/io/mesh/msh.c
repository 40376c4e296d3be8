// MSH, MuJoCo's binary mesh: four counts, then vertices, normals, texture coordinates and faces.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "io/mesh/readers.h"

tbResult tb_mesh_read_msh(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error) {
  if (size >= 11 && memcmp(bytes, "$MeshFormat", 11) == 0) {
    return tb_fail(error, TB_ERROR_UNSUPPORTED,
                   "%s: a Gmsh file, expected MuJoCo's binary .msh format", name);
  }
  if (size < 16) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: %zu bytes are too few for an MSH file", name, size);
  }
  // Vertices, normals, texture coordinates, faces.
  uint64_t nvert = tb_read_u32(bytes), nnormal = tb_read_u32(bytes + 4);
  uint64_t ntexcoord = tb_read_u32(bytes + 8), nface = tb_read_u32(bytes + 12);
  uint64_t before_faces = 16 + 12 * nvert + 12 * nnormal + 8 * ntexcoord;
  uint64_t expected = before_faces + 12 * nface;
  // Files with separate normal and texture indices per face have these after the faces.
  uint64_t with_indices = expected + (nnormal ? 12 * nface : 0) + (ntexcoord ? 12 * nface : 0);
  if (size != expected && size != with_indices) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "%s: %llu vertices, %llu normals, %llu texture coordinates and %llu faces take "
                   "%llu bytes, but the file has %zu",
                   name, (unsigned long long)nvert, (unsigned long long)nnormal,
                   (unsigned long long)ntexcoord, (unsigned long long)nface,
                   (unsigned long long)expected, size);
  }
  mesh->nvert = (int)nvert;
  mesh->nface = (int)nface;
  mesh->vert = TB_ARENA_NEW(arena, tbReal, 3 * nvert);
  mesh->face = TB_ARENA_NEW(arena, int, 3 * nface);
  if (!mesh->vert || !mesh->face) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  for (size_t i = 0; i < 3 * nvert; i++) {
    mesh->vert[i] = (tbReal)tb_read_f32(bytes + 16 + 4 * i);
    if (!isfinite(mesh->vert[i])) {
      return tb_fail(error, TB_ERROR_PARSE, "%s: vertex %zu is not finite", name, i / 3);
    }
  }
  for (size_t i = 0; i < 3 * nface; i++) {
    uint32_t index = tb_read_u32(bytes + before_faces + 4 * i);
    if (index >= nvert) {
      return tb_fail(error, TB_ERROR_PARSE, "%s: face %zu names vertex %ld of %llu", name, i / 3,
                     (long)(int32_t)index, (unsigned long long)nvert);
    }
    mesh->face[i] = (int)index;
  }
  return TB_OK;
}
