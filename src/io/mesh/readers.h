// The readers of the mesh formats and their shared functions. The bytes passed to a reader are
// followed by a zero that is not counted in `size`.
#ifndef TRIBO_IO_MESH_READERS_H_
#define TRIBO_IO_MESH_READERS_H_

#include "io/mesh/mesh.h"

// Arrays that grow while a file is read; counts are bounded by the file's length.
typedef struct {
  tbReal* vert;
  int* face;
  int nvert, nface;
  int vert_capacity, face_capacity;
  tbArena* arena;
} tbMeshBuilder;

// False if out of memory.
bool tb_mesh_add_vertex(tbMeshBuilder* builder, const tbReal v[3]);
bool tb_mesh_add_face(tbMeshBuilder* builder, int a, int b, int c);

// Adds a polygon of n corners as n-2 triangles with the polygon's orientation: a fan if it is
// convex or has up to four corners (as in MuJoCo), else by ear clipping. False if out of memory.
bool tb_mesh_add_fan(tbMeshBuilder* builder, const int* corner, int n);
bool tb_mesh_add_polygon(tbMeshBuilder* builder, const int* corner, int n);

tbResult tb_mesh_read_stl(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error);
tbResult tb_mesh_read_obj(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error);
tbResult tb_mesh_read_msh(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error);
tbResult tb_mesh_read_dae(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error);

// Merges vertices with equal coordinates, in order of first appearance.
tbResult tb_mesh_weld(tbMeshData* mesh, tbArena* arena, const char* name, tbError* error);

// Little-endian fields of a binary file.
uint32_t tb_read_u32(const unsigned char* bytes);
float tb_read_f32(const unsigned char* bytes);

// strcmp that ignores case.
int tb_compare_nocase(const char* a, const char* b);

#endif
