// Triangle meshes and height fields: reading of files or inline data, and processing for a model.
//
// Reading returns the vertices and triangles of the file. Processing applies MuJoCo's sequence:
// subtract refpos, rotate by the inverse of refquat, scale, then move to the frame of the centre of
// mass and principal axes. All arrays are allocated in the caller's arena.
#ifndef TRIBO_IO_MESH_MESH_H_
#define TRIBO_IO_MESH_MESH_H_

#include <stdbool.h>

#include "base/arena.h"
#include "tribo/collide.h"
#include "tribo/types.h"

// How volume and inertia follow from the triangles; in MuJoCo's order.
typedef enum {
  TB_MESH_CONVEX,  // of the convex hull
  TB_MESH_EXACT,   // signed sum over the triangles: closed, consistently oriented meshes
  TB_MESH_LEGACY,  // sum of absolute volumes over the triangles: MuJoCo's default
  TB_MESH_SHELL,   // mass on the surface: `volume` is the area
} tbMeshInertia;

// Vertices and triangles as read. nface may be 0 (vertices only): the hull's triangles are used.
typedef struct {
  int nvert;
  int nface;
  tbReal* vert;  // nvert x 3
  int* face;     // nface x 3, each index within [0, nvert)
} tbMeshData;

// The attributes of a mesh element of a model file.
typedef struct {
  tbReal scale[3];
  tbReal refpos[3];
  tbReal refquat[4];
  int inertia;      // tbMeshInertia
  int maxhullvert;  // -1: all; else at least 4
  bool need_hull;   // some geom collides with this mesh
  bool centred;  // the vertices are those of a processed mesh: pos and quat are set by the caller
} tbMeshOptions;

// A processed mesh: a point v here is the point pos + rotate(quat, v) of the scaled mesh.
typedef struct {
  int nvert;
  int nface;
  tbReal* vert;       // nvert x 3, relative to the centre of mass, along the principal axes
  int* face;          // nface x 3, counter-clockwise from outside
  tbReal pos[3];      // centre of mass in the frame of the scaled vertices (mesh_pos)
  tbReal quat[4];     // principal axes in that frame (mesh_quat)
  tbReal volume;      // m3; for TB_MESH_SHELL the area, m2
  tbReal inertia[3];  // principal moments for density 1, descending
  tbReal box[3];      // half sizes of the box with this volume and inertia
  tbReal aabb[6];     // lowest and highest corner of the vertices
  bool has_hull;      // true for need_hull, TB_MESH_CONVEX, or a mesh without faces
  tbHull hull;        // of `vert`
} tbMesh;

tbMeshOptions tb_mesh_default_options(void);

// Reads a mesh file by its extension: .stl, .obj, .msh, .dae (any case). For an unknown extension
// the format is detected from the content. Counts are checked against the file's length before any
// allocation; error messages contain the file's name.
tbResult tb_mesh_read(tbMeshData* mesh, tbArena* arena, const char* path, tbError* error);

// The same from memory; `name` provides the extension and appears in error messages.
tbResult tb_mesh_read_bytes(tbMeshData* mesh, tbArena* arena, const char* name, const void* bytes,
                            size_t size, tbError* error);

// Inline data: copies them, and checks that numbers are finite and indices in range.
tbResult tb_mesh_from_arrays(tbMeshData* mesh, tbArena* arena, const char* name, const tbReal* vert,
                             int nvert, const int* face, int nface, tbError* error);

// Volume, inertia, centring and hull. `name` appears in error messages. TB_ERROR_MODEL for fewer
// than four vertices, no area, no volume or (exact) inconsistent orientation or negative volume.
tbResult tb_mesh_process(tbMesh* mesh, tbArena* arena, const char* name, const tbMeshData* data,
                         const tbMeshOptions* options, tbError* error);

// Sizes of a primitive fitted to the mesh, and its centre in the frame of the scaled vertices; its
// orientation there is mesh->quat. `fit_aabb` fits the bounding box instead of the inertia box
// (compiler/fitaabb). TB_ERROR_MODEL for planes, hfields and meshes.
tbResult tb_mesh_fit(const tbMesh* mesh, int geom_type, bool fit_aabb, tbReal fitscale,
                     tbReal size[3], tbReal center[3], tbError* error);

// Height samples scaled to [0, 1]; row 0 is at y = -size[1], as in the model.
typedef struct {
  int nrow;
  int ncol;
  tbReal* data;  // nrow x ncol
} tbHFieldData;

// From a PNG (its red channel, eight bits; the image's top row is the last row) or MuJoCo's binary
// format (rows, columns, floats).
tbResult tb_hfield_read(tbHFieldData* hfield, tbArena* arena, const char* path, tbError* error);
tbResult tb_hfield_read_bytes(tbHFieldData* hfield, tbArena* arena, const char* name,
                              const void* bytes, size_t size, tbError* error);

// From the elevation attribute, whose first row is the last row here; NULL elevation is flat.
tbResult tb_hfield_from_elevation(tbHFieldData* hfield, tbArena* arena, const char* name, int nrow,
                                  int ncol, const tbReal* elevation, int nelevation,
                                  tbError* error);

#endif
