// Processing of a mesh: volume, centre of mass, principal axes and hull. docs/manual/meshes.md has
// the equations.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/error.h"
#include "collide/hull/hull.h"
#include "io/mesh/mesh.h"
#include "spatial/eig3.h"

// Areas and volumes below this count as zero (MuJoCo's mjMINVAL).
static const tbReal TINY = 1e-15;

tbMeshOptions tb_mesh_default_options(void) {
  return (tbMeshOptions){.scale = {1, 1, 1},
                         .refquat = {1, 0, 0, 0},
                         .inertia = TB_MESH_LEGACY,
                         .maxhullvert = -1,
                         .need_hull = true};
}

// Area of a triangle, with its unit normal and centroid.
static tbReal triangle(const tbReal* a, const tbReal* b, const tbReal* c, tbReal normal[3],
                       tbReal center[3]) {
  tbReal ab[3], ac[3];
  tb_sub3(ab, b, a);
  tb_sub3(ac, c, a);
  tb_cross(normal, ab, ac);
  for (int i = 0; i < 3; i++) center[i] = (a[i] + b[i] + c[i]) / 3;
  tbReal length = tb_norm3(normal);
  if (length < TINY) return 0;
  tb_scale3(normal, normal, 1 / length);
  return length / 2;
}

// The triangles that determine the volume: the mesh's own or its hull's.
typedef struct {
  const tbReal* vert;
  const int* face;
  int nface;
  int inertia;
} Surface;

// Total area and area-weighted centre.
static tbReal surface_center(const Surface* s, tbReal center[3]) {
  tbReal total = 0;
  tb_zero3(center);
  for (int i = 0; i < s->nface; i++) {
    const int* f = s->face + 3 * (size_t)i;
    tbReal n[3], c[3];
    tbReal area = triangle(s->vert + 3 * (size_t)f[0], s->vert + 3 * (size_t)f[1],
                           s->vert + 3 * (size_t)f[2], n, c);
    tb_add_scaled3(center, center, area, c);
    total += area;
  }
  if (total >= TINY) tb_scale3(center, center, 1 / total);
  return total;
}

// Volume and centre of mass as the sum of pyramids from `apex` to each triangle. (1)
static tbReal volume_center(const Surface* s, const tbReal apex[3], tbReal center[3]) {
  tbReal total = 0;
  tb_zero3(center);
  for (int i = 0; i < s->nface; i++) {
    const int* f = s->face + 3 * (size_t)i;
    tbReal n[3], c[3], arm[3];
    tbReal area = triangle(s->vert + 3 * (size_t)f[0], s->vert + 3 * (size_t)f[1],
                           s->vert + 3 * (size_t)f[2], n, c);
    tb_sub3(arm, c, apex);
    tbReal volume = tb_dot3(arm, n) * area / 3;
    if (s->inertia == TB_MESH_LEGACY) volume = fabs(volume);
    total += volume;
    for (int k = 0; k < 3; k++) center[k] += volume * (0.75 * c[k] + 0.25 * apex[k]);
  }
  if (total >= TINY) tb_scale3(center, center, 1 / total);
  return total;
}

// Inertia about `origin` for density 1, and the volume (area) relative to it. Second moments of a
// tetrahedron with the origin (2) or of a triangle (3).
static tbReal inertia_about(const Surface* s, const tbReal origin[3], tbReal I[9]) {
  tbReal total = 0, P[9] = {0};
  bool shell = s->inertia == TB_MESH_SHELL;
  for (int i = 0; i < s->nface; i++) {
    const int* f = s->face + 3 * (size_t)i;
    tbReal v[3][3], n[3], c[3], sum[3];
    for (int k = 0; k < 3; k++) tb_sub3(v[k], s->vert + 3 * (size_t)f[k], origin);
    tbReal area = triangle(v[0], v[1], v[2], n, c);
    tbReal volume = shell ? area : tb_dot3(c, n) * area / 3;
    if (s->inertia == TB_MESH_LEGACY) volume = fabs(volume);
    total += volume;
    for (int k = 0; k < 3; k++) sum[k] = v[0][k] + v[1][k] + v[2][k];
    tbReal weight = volume / (shell ? 12 : 20);
    for (int j = 0; j < 3; j++) {
      for (int k = j; k < 3; k++) {
        tbReal squares = v[0][j] * v[0][k] + v[1][j] * v[1][k] + v[2][j] * v[2][k];
        P[3 * j + k] += weight * (squares + sum[j] * sum[k]);
      }
    }
  }
  I[0] = P[4] + P[8];
  I[4] = P[0] + P[8];
  I[8] = P[0] + P[4];
  I[1] = I[3] = -P[1];
  I[2] = I[6] = -P[2];
  I[5] = I[7] = -P[5];
  return total;
}

static int compare_edges(const void* a, const void* b) {
  const int *p = a, *q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

// Each directed edge may occur once: a repeated one means two faces of opposite orientation.
static tbResult check_orientation(const Surface* s, tbArena* arena, const char* name,
                                  tbError* error) {
  tbArenaMark mark = tb_arena_mark(arena);
  int(*edge)[2] = tb_arena_alloc(arena, 3 * (size_t)s->nface * sizeof *edge);
  if (!edge) return tb_fail(error, TB_ERROR_MEMORY, "mesh '%s': out of memory", name);
  size_t n = 0;
  for (int i = 0; i < s->nface; i++) {
    const int* f = s->face + 3 * (size_t)i;
    tbReal normal[3], center[3];
    // Slivers have no well-defined orientation.
    if (triangle(s->vert + 3 * (size_t)f[0], s->vert + 3 * (size_t)f[1], s->vert + 3 * (size_t)f[2],
                 normal, center) <= sqrt(TINY)) {
      continue;
    }
    for (int k = 0; k < 3; k++, n++) {
      edge[n][0] = f[k];
      edge[n][1] = f[(k + 1) % 3];
    }
  }
  qsort(edge, n, sizeof *edge, compare_edges);
  tbResult result = TB_OK;
  for (size_t i = 1; i < n && result == TB_OK; i++) {
    if (compare_edges(edge[i - 1], edge[i]) == 0) {
      result = tb_fail(error, TB_ERROR_MODEL,
                       "mesh '%s': faces are inconsistently oriented: the edge from vertex %d to "
                       "%d belongs to two faces; fix the mesh or use inertia=\"convex\"",
                       name, edge[i][0], edge[i][1]);
    }
  }
  tb_arena_release(arena, mark);
  return result;
}

// Copies the vertices, with reference frame and scale applied, and the faces, with reversed
// orientation if the scale mirrors.
static tbResult transform(tbMesh* mesh, tbArena* arena, const char* name, const tbMeshData* data,
                          const tbMeshOptions* options, tbError* error) {
  mesh->vert = TB_ARENA_NEW(arena, tbReal, 3 * (size_t)data->nvert);
  mesh->face = TB_ARENA_NEW(arena, int, 3 * (size_t)data->nface);
  if (!mesh->vert || !mesh->face) {
    return tb_fail(error, TB_ERROR_MEMORY, "mesh '%s': out of memory", name);
  }
  mesh->nvert = data->nvert;
  mesh->nface = data->nface;
  tbReal q[4], inverse[4];
  memcpy(q, options->refquat, sizeof q);
  tb_quat_normalize(q);
  tb_quat_conjugate(inverse, q);
  bool turned = q[0] != 1 || q[1] != 0 || q[2] != 0 || q[3] != 0;
  for (size_t i = 0; i < (size_t)data->nvert; i++) {
    tbReal* v = mesh->vert + 3 * i;
    tb_sub3(v, data->vert + 3 * i, options->refpos);
    if (turned) tb_quat_rotate(v, inverse, v);
    for (int k = 0; k < 3; k++) v[k] *= options->scale[k];
    if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2])) {
      return tb_fail(error, TB_ERROR_MODEL, "mesh '%s': vertex %zu is not finite after scaling",
                     name, i);
    }
  }
  bool mirrored = options->scale[0] * options->scale[1] * options->scale[2] < 0;
  for (size_t i = 0; i < (size_t)data->nface; i++) {
    int* f = mesh->face + 3 * i;
    memcpy(f, data->face + 3 * i, 3 * sizeof *f);
    if (mirrored) {
      int keep = f[1];
      f[1] = f[2];
      f[2] = keep;
    }
  }
  return TB_OK;
}

// The hull's polygons as triangles over the mesh's vertices.
static int* hull_triangles(const tbHull* hull, const int* vert_index, tbArena* arena, int* nface) {
  int n = 0;
  for (int f = 0; f < hull->nface; f++) n += hull->face_start[f + 1] - hull->face_start[f] - 2;
  int* face = TB_ARENA_NEW(arena, int, 3 * (size_t)n);
  if (!face) return NULL;
  int* out = face;
  for (int f = 0; f < hull->nface; f++) {
    const int* corner = hull->face_vert + hull->face_start[f];
    int count = hull->face_start[f + 1] - hull->face_start[f];
    for (int k = 1; k + 1 < count; k++) {
      *out++ = vert_index[corner[0]];
      *out++ = vert_index[corner[k]];
      *out++ = vert_index[corner[k + 1]];
    }
  }
  *nface = n;
  return face;
}

static tbResult build_hull(tbHull* hull, const int** vert_index, tbArena* arena, const tbMesh* mesh,
                           const char* name, int maxhullvert, tbError* error) {
  tbError reason = {0};
  tbResult result = tb_hull_build(hull, arena, mesh->vert, mesh->nvert,
                                  maxhullvert > 0 ? maxhullvert : 0, vert_index, &reason);
  if (result != TB_OK) {
    return tb_fail(error, result, "mesh '%s': no convex hull: %s", name, reason.message);
  }
  return TB_OK;
}

// Computes volume (or area), centre of mass, principal moments and axes.
static tbResult mass_properties(tbMesh* mesh, const Surface* counted, const char* name,
                                tbError* error) {
  Surface own = {mesh->vert, mesh->face, mesh->nface, counted->inertia};
  tbReal middle[3], I[9];
  if (!(surface_center(&own, middle) >= TINY)) {
    return tb_fail(error, TB_ERROR_MODEL, "mesh '%s': the surface area is zero", name);
  }
  if (counted->inertia == TB_MESH_SHELL) {
    tb_copy3(mesh->pos, middle);
  } else {
    tbReal volume = volume_center(counted, middle, mesh->pos);
    if (!(volume >= TINY)) {
      return tb_fail(error, TB_ERROR_MODEL,
                     volume < 0
                         ? "mesh '%s': the volume is negative: its triangles face inwards"
                         : "mesh '%s': the volume is zero; for a surface use inertia=\"shell\"",
                     name);
    }
  }
  // For an open mesh the volume depends on the apex; the one from the centre of mass is stored.
  mesh->volume = inertia_about(counted, mesh->pos, I);
  bool finite = isfinite(mesh->volume) && isfinite(tb_norm3(mesh->pos));
  for (int k = 0; k < 9; k++) finite = finite && isfinite(I[k]);
  if (!finite || !(mesh->volume >= TINY)) {
    return tb_fail(error, TB_ERROR_MODEL,
                   finite ? "mesh '%s': the volume is not positive; the mesh may not be closed"
                          : "mesh '%s': its volume or inertia is not finite",
                   name);
  }
  tb_eig3(mesh->inertia, mesh->quat, I);

  // A + B >= C, up to rounding.
  const tbReal* J = mesh->inertia;
  if (!(J[2] > 0) || !isfinite(J[0]) || J[1] + J[2] < J[0] * (1 - 1e-6) - 1e-9) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "mesh '%s': its inertia (%g, %g, %g) is not physically valid; the faces may be "
                   "inconsistently oriented",
                   name, J[0], J[1], J[2]);
  }
  for (int k = 0; k < 3; k++) {
    tbReal second = J[(k + 1) % 3] + J[(k + 2) % 3] - J[k];
    mesh->box[k] = 0.5 * sqrt(tb_max(0, 6 * second / mesh->volume));
  }
  return TB_OK;
}

// Moves the vertices to the frame of the centre of mass and principal axes, unless they are there;
// computes their bounding box.
static void center_vertices(tbMesh* mesh, bool centred) {
  tbReal R[9];
  tb_quat_to_mat(R, mesh->quat);
  for (int k = 0; k < 3; k++) {
    mesh->aabb[k] = INFINITY;
    mesh->aabb[3 + k] = -INFINITY;
  }
  for (size_t i = 0; i < (size_t)mesh->nvert; i++) {
    tbReal* v = mesh->vert + 3 * i;
    if (!centred) {
      tb_sub3(v, v, mesh->pos);
      tb_mul_mat3t_vec3(v, R, v);
    }
    for (int k = 0; k < 3; k++) {
      mesh->aabb[k] = tb_min(mesh->aabb[k], v[k]);
      mesh->aabb[3 + k] = tb_max(mesh->aabb[3 + k], v[k]);
    }
  }
}

tbResult tb_mesh_process(tbMesh* mesh, tbArena* arena, const char* name, const tbMeshData* data,
                         const tbMeshOptions* options, tbError* error) {
  memset(mesh, 0, sizeof *mesh);
  if (data->nvert < 4) {
    return tb_fail(error, TB_ERROR_MODEL, "mesh '%s': %d vertices, at least 4 are needed", name,
                   data->nvert);
  }
  if (options->maxhullvert >= 0 && options->maxhullvert < 4) {
    return tb_fail(error, TB_ERROR_MODEL, "mesh '%s': maxhullvert is %d, expected -1 or at least 4",
                   name, options->maxhullvert);
  }
  tbResult result = transform(mesh, arena, name, data, options, error);
  if (result) return result;

  // The hull provides missing faces, and the volume for TB_MESH_CONVEX.
  const int* vert_index;
  Surface counted = {mesh->vert, mesh->face, mesh->nface, options->inertia};
  if (mesh->nface == 0 || options->inertia == TB_MESH_CONVEX) {
    tbHull hull;
    result = build_hull(&hull, &vert_index, arena, mesh, name, options->maxhullvert, error);
    if (result) return result;
    counted.face = hull_triangles(&hull, vert_index, arena, &counted.nface);
    if (!counted.face) return tb_fail(error, TB_ERROR_MEMORY, "mesh '%s': out of memory", name);
  }
  if (mesh->nface == 0) {
    mesh->nface = counted.nface;
    mesh->face = (int*)counted.face;
  }
  if (options->inertia == TB_MESH_EXACT) {
    result = check_orientation(&counted, arena, name, error);
    if (result) return result;
  }
  result = mass_properties(mesh, &counted, name, error);
  if (result) return result;
  center_vertices(mesh, options->centred);
  if (options->need_hull || data->nface == 0 || options->inertia == TB_MESH_CONVEX) {
    result = build_hull(&mesh->hull, &vert_index, arena, mesh, name, options->maxhullvert, error);
    mesh->has_hull = result == TB_OK;
  }
  return result;
}
