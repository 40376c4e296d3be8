// STL: binary (80 bytes of header, a count, 50 bytes per triangle) and ASCII.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "io/mesh/readers.h"

enum { HEADER = 84, RECORD = 50 };

static tbResult read_binary(tbMeshData* mesh, tbArena* arena, const char* name,
                            const unsigned char* bytes, size_t count, tbError* error) {
  if (count == 0) return tb_fail(error, TB_ERROR_PARSE, "%s: an STL file without triangles", name);
  mesh->nvert = (int)(3 * count);
  mesh->nface = (int)count;
  mesh->vert = TB_ARENA_NEW(arena, tbReal, 9 * count);
  mesh->face = TB_ARENA_NEW(arena, int, 3 * count);
  if (!mesh->vert || !mesh->face) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  for (size_t i = 0; i < count; i++) {
    // A record: normal (ignored), three corners of three floats, two bytes of attributes.
    const unsigned char* record = bytes + HEADER + RECORD * i;
    for (size_t j = 0; j < 9; j++) {
      tbReal value = (tbReal)tb_read_f32(record + 12 + 4 * j);
      if (!isfinite(value)) {
        return tb_fail(error, TB_ERROR_PARSE,
                       "%s: triangle %zu has a coordinate that is not finite", name, i);
      }
      mesh->vert[9 * i + j] = value;
    }
    for (size_t j = 0; j < 3; j++) mesh->face[3 * i + j] = (int)(3 * i + j);
  }
  return tb_mesh_weld(mesh, arena, name, error);
}

// The next word of the text; its length is 0 at the end.
static const char* next_word(const char** at, const char* end, size_t* length) {
  const char* word = tb_skip_space(*at, end);
  const char* stop = word;
  while (stop < end && tb_skip_space(stop, end) == stop) stop++;
  *length = (size_t)(stop - word);
  *at = stop;
  return word;
}

static bool is_word(const char* word, size_t length, const char* expected) {
  if (length != strlen(expected)) return false;
  for (size_t i = 0; i < length; i++) {
    int c = word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 32 : word[i];
    if (c != expected[i]) return false;
  }
  return true;
}

// Reads the three numbers of a vertex line and adds the vertex.
static tbResult read_vertex(tbMeshBuilder* builder, const char** at, const char* end,
                            const char* name, tbError* error) {
  tbReal v[3];
  for (int i = 0; i < 3; i++) {
    const char* next = tb_parse_real(tb_skip_space(*at, end), end, &v[i]);
    if (!next) {
      return tb_fail(error, TB_ERROR_PARSE, "%s: vertex %d: expected three finite numbers", name,
                     builder->nvert);
    }
    *at = next;
  }
  if (!tb_mesh_add_vertex(builder, v)) {
    return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  }
  return TB_OK;
}

static tbResult end_loop(tbMeshBuilder* builder, int first, const char* name, tbError* error) {
  if (builder->nvert - first != 3) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: facet %d has %d vertices, expected 3", name,
                   builder->nface, builder->nvert - first);
  }
  if (!tb_mesh_add_face(builder, first, first + 1, first + 2)) {
    return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  }
  return TB_OK;
}

// Facets are groups of three "vertex x y z" between "loop" and "endloop"; normals are ignored. A
// solid's name extends to the end of its line and may contain any characters.
static tbResult read_ascii(tbMeshData* mesh, tbArena* arena, const char* name, const char* text,
                           size_t size, tbError* error) {
  const char *at = text, *end = text + size;
  tbMeshBuilder builder = {.arena = arena};
  int first = 0;
  bool in_loop = false;
  for (;;) {
    size_t length;
    const char* word = next_word(&at, end, &length);
    tbResult result = TB_OK;
    if (length == 0) break;
    if (is_word(word, length, "solid") || is_word(word, length, "endsolid")) {
      while (at < end && *at != '\n' && *at != '\r') at++;
    } else if (is_word(word, length, "loop")) {
      first = builder.nvert;
      in_loop = true;
    } else if (is_word(word, length, "vertex") && in_loop) {
      result = read_vertex(&builder, &at, end, name, error);
    } else if (is_word(word, length, "endloop") && in_loop) {
      result = end_loop(&builder, first, name, error);
      in_loop = false;
    } else if (is_word(word, length, "normal")) {
      // Some exporters write nan as the normal of a degenerate facet.
      for (int i = 0; i < 3; i++) (void)next_word(&at, end, &length);
    } else if (!is_word(word, length, "facet") && !is_word(word, length, "outer") &&
               !is_word(word, length, "endfacet")) {
      result = tb_fail(error, TB_ERROR_PARSE, "%s: unexpected '%.*s' in an ASCII STL file", name,
                       (int)(length < 40 ? length : 40), word);
    }
    if (result != TB_OK) return result;
  }
  if (in_loop) return tb_fail(error, TB_ERROR_PARSE, "%s: the file ends inside a facet", name);
  if (!builder.nface) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: an STL file without triangles", name);
  }
  *mesh = (tbMeshData){builder.nvert, builder.nface, builder.vert, builder.face};
  return tb_mesh_weld(mesh, arena, name, error);
}

// Binary files may also start with "solid", so the length is tested first.
tbResult tb_mesh_read_stl(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error) {
  size_t count = size >= HEADER ? tb_read_u32(bytes + 80) : 0;
  size_t present = size >= HEADER ? (size - HEADER) / RECORD : 0;
  if (size >= HEADER && HEADER + RECORD * (uint64_t)count == size) {
    return read_binary(mesh, arena, name, bytes, count, error);
  }
  const char* text = (const char*)bytes;
  const char* start = tb_skip_space(text, text + size);
  size_t length;
  const char* word = next_word(&start, text + size, &length);
  if (is_word(word, length, "solid")) {
    return read_ascii(mesh, arena, name, text, size, error);
  }
  if (size < HEADER) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: %zu bytes are too few for an STL file", name, size);
  }
  if (present < count) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "%s: truncated: the header says %zu triangles, but there is room for %zu", name,
                   count, present);
  }
  // Some exporters write bytes after the last triangle.
  return read_binary(mesh, arena, name, bytes, count, error);
}
