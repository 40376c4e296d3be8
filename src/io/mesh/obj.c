// Wavefront OBJ: v and f lines of all groups. Texture coordinates, normals and materials are
// skipped.
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "io/mesh/readers.h"

typedef struct {
  tbMeshBuilder mesh;
  const char* name;
  int line;
  int last_named;  // the largest vertex index of all faces, and its line
  int last_line;
  int* corner;
  int corner_capacity;
  tbError* error;
} Reader;

static tbResult out_of_memory(Reader* r) {
  return tb_fail(r->error, TB_ERROR_MEMORY, "%s: out of memory", r->name);
}

// Skips blanks within a line; a backslash at the end of a line continues it on the next.
static const char* skip_blank(Reader* r, const char* at, const char* end) {
  for (; at < end; at++) {
    if (*at == '\\' && at + 1 < end && at[1] == '\n') {
      at++;
      r->line++;
    } else if (*at == '\\' && at + 2 < end && at[1] == '\r' && at[2] == '\n') {
      at += 2;
      r->line++;
    } else if (*at != ' ' && *at != '\t' && *at != '\v' && *at != '\f') {
      break;
    }
  }
  return at;
}

static bool at_line_end(const char* at, const char* end) {
  return at >= end || *at == '\n' || *at == '\r' || *at == '#';
}

static const char* read_vertex(Reader* r, const char* at, const char* end) {
  tbReal v[3];
  for (int i = 0; i < 3; i++) {
    at = skip_blank(r, at, end);
    const char* next = at_line_end(at, end) ? NULL : tb_parse_real(at, end, &v[i]);
    if (!next) {
      tb_fail(r->error, TB_ERROR_PARSE, "%s:%d: a vertex needs three finite numbers", r->name,
              r->line);
      return NULL;
    }
    at = next;
  }
  if (!tb_mesh_add_vertex(&r->mesh, v)) {
    out_of_memory(r);
    return NULL;
  }
  return at;
}

// One corner "v", "v/vt", "v//vn" or "v/vt/vn": its vertex index, counted from 0.
static const char* read_corner(Reader* r, const char* at, const char* end, int* vertex) {
  int index;
  const char* next = tb_parse_int(at, end, &index);
  if (!next || index == 0) {
    tb_fail(r->error, TB_ERROR_PARSE, "%s:%d: a face needs vertex numbers (1, 2, ... or -1, ...)",
            r->name, r->line);
    return NULL;
  }
  // Negative numbers count back from the last vertex read.
  *vertex = index > 0 ? index - 1 : r->mesh.nvert + index;
  if (*vertex < 0) {
    tb_fail(r->error, TB_ERROR_PARSE, "%s:%d: a face names vertex %d, but there are %d before it",
            r->name, r->line, index, r->mesh.nvert);
    return NULL;
  }
  while (next < end && (*next == '/' || *next == '-' || (*next >= '0' && *next <= '9'))) next++;
  return next;
}

static bool push_corner(Reader* r, int n, int vertex) {
  if (n == r->corner_capacity) {
    int larger = n ? 2 * n : 64;
    int* corner = TB_ARENA_NEW(r->mesh.arena, int, larger);
    if (!corner) return false;
    if (n) memcpy(corner, r->corner, (size_t)n * sizeof *corner);
    r->corner = corner;
    r->corner_capacity = larger;
  }
  r->corner[n] = vertex;
  return true;
}

static const char* read_face(Reader* r, const char* at, const char* end) {
  int n = 0, last = 0;
  for (;;) {
    at = skip_blank(r, at, end);
    if (at_line_end(at, end)) break;
    int vertex;
    at = read_corner(r, at, end, &vertex);
    if (!at) return NULL;
    if (vertex > last) last = vertex;
    if (!push_corner(r, n++, vertex)) {
      out_of_memory(r);
      return NULL;
    }
  }
  if (n < 3) {
    tb_fail(r->error, TB_ERROR_PARSE, "%s:%d: a face needs at least three vertices, got %d",
            r->name, r->line, n);
    return NULL;
  }
  // A face may refer to vertices that follow it; the triangulation then cannot use their positions.
  bool known = last < r->mesh.nvert;
  if (last > r->last_named) {
    r->last_named = last;
    r->last_line = r->line;
  }
  if (!(known ? tb_mesh_add_polygon : tb_mesh_add_fan)(&r->mesh, r->corner, n)) {
    out_of_memory(r);
    return NULL;
  }
  return at;
}

// Free-form geometry is an error, since skipping it would change the shape.
static bool is_free_form(const char* word, size_t length) {
  static const char* const WORDS[] = {"surf", "curv", "curv2", "cstype"};
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    if (length == strlen(WORDS[i]) && strncmp(word, WORDS[i], length) == 0) return true;
  }
  return false;
}

// Reads one line; returns the position after the part read, or NULL on an error.
static const char* read_line(Reader* r, const char* at, const char* end) {
  at = skip_blank(r, at, end);
  const char* word = at;
  while (at<end&& * at> ' ') at++;
  size_t length = (size_t)(at - word);
  if (length == 1 && *word == 'v') {
    at = read_vertex(r, at, end);
  } else if (length == 1 && *word == 'f') {
    at = read_face(r, at, end);
  } else if (is_free_form(word, length)) {
    tb_fail(r->error, TB_ERROR_UNSUPPORTED, "%s:%d: free-form geometry ('%.*s') is not supported",
            r->name, r->line, (int)length, word);
    return NULL;
  }
  return at;
}

tbResult tb_mesh_read_obj(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error) {
  tbError local;
  Reader r = {.mesh = {.arena = arena}, .name = name, .line = 1, .error = error ? error : &local};
  const char *at = (const char*)bytes, *end = at + size;
  // A leading byte order mark is not part of the text.
  if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) at += 3;
  while (at < end) {
    at = read_line(&r, at, end);
    if (!at) return r.error->code;
    while (at < end && *at != '\n' && *at != '\r') at++;
    if (at < end && *at == '\r' && at + 1 < end && at[1] == '\n') at++;
    if (at < end) at++;
    r.line++;
  }
  if (r.mesh.nvert == 0) return tb_fail(error, TB_ERROR_PARSE, "%s: no vertices", name);
  if (r.mesh.nface && r.last_named >= r.mesh.nvert) {
    return tb_fail(error, TB_ERROR_PARSE, "%s:%d: a face names vertex %d, but there are %d", name,
                   r.last_line, r.last_named + 1, r.mesh.nvert);
  }
  *mesh = (tbMeshData){r.mesh.nvert, r.mesh.nface, r.mesh.vert, r.mesh.face};
  return TB_OK;
}
