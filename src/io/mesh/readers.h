// One reader per mesh format, and what they share. Bytes are followed by a zero that is not
// counted.
#ifndef TRIBO_IO_MESH_READERS_H_
#define TRIBO_IO_MESH_READERS_H_

#include "io/mesh/mesh.h"

// Arrays that grow while a text file is read; counts are bounded by the file's length.
typedef struct {
  tbReal* vert;
  int* face;
  int nvert, nface;
  int vert_capacity, face_capacity;
  tbArena* arena;
} tbMeshBuilder;

// False when out of memory.
bool tb_mesh_add_vertex(tbMeshBuilder* builder, const tbReal v[3]);
bool tb_mesh_add_face(tbMeshBuilder* builder, int a, int b, int c);

// A polygon of n corners as n-2 triangles, with the polygon's orientation: a fan where it is
// convex or has four corners (as MuJoCo), else by cutting ears. False when out of memory.
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

// Join vertices with equal coordinates, in order of first appearance.
tbResult tb_mesh_weld(tbMeshData* mesh, tbArena* arena, const char* name, tbError* error);

// Little-endian fields of a binary file.
uint32_t tb_read_u32(const unsigned char* bytes);
float tb_read_f32(const unsigned char* bytes);

// strcmp that ignores case.
int tb_compare_nocase(const char* a, const char* b);

#endif
