// Intersection of a ray with a shape.
#ifndef TRIBO_COLLIDE_RAY_RAY_H_
#define TRIBO_COLLIDE_RAY_RAY_H_

#include "collide/broadphase/bvh.h"
#include "tribo/collide.h"
#include "tribo/enums.h"
#include "tribo/types.h"

// Smallest t >= 0 with origin + t direction on the surface of the shape, or -1. Planes with
// positive sizes are rectangles. Meshes and height fields have their own functions below.
tbReal tb_ray_shape(int type, const tbReal size[3], const tbReal pos[3], const tbReal mat[9],
                    const tbReal origin[3], const tbReal direction[3]);

// The same for a triangle.
tbReal tb_ray_triangle(const tbReal a[3], const tbReal b[3], const tbReal c[3],
                       const tbReal origin[3], const tbReal direction[3]);

// Outward unit normal of the shape's surface at (or next to) a point, both in the world.
void tb_ray_shape_normal(int type, const tbReal size[3], const tbReal pos[3], const tbReal mat[9],
                         const tbReal point[3], tbReal normal[3]);
void tb_ray_hfield_normal(const tbHField* field, const tbReal pos[3], const tbReal mat[9],
                          const tbReal point[3], tbReal normal[3]);

// The smaller of two ray parameters, -1 for none.
static inline tbReal tb_ray_nearer(tbReal best, tbReal t) {
  return t >= 0 && (best < 0 || t < best) ? t : best;
}

// A tree over the triangles of a mesh. A zeroed struct is no tree: rays then test every triangle.
typedef struct {
  tbBvhNode* node;
  int* order;  // the triangle in each slot of the leaves
} tbRayTree;

// Returns the allocated bytes; 0, with a zeroed tree, if out of memory.
size_t tb_ray_tree_build(tbRayTree* tree, const tbReal* vert, const int* face, int nface);
void tb_ray_tree_free(tbRayTree* tree);

// The same for a mesh, whose triangles are given in the shape's frame; `hit` (may be NULL) gets the
// index of the triangle, or -1.
tbReal tb_ray_mesh(const tbRayTree* tree, const tbReal* vert, const int* face, int nface,
                   const tbReal pos[3], const tbReal mat[9], const tbReal origin[3],
                   const tbReal direction[3], int* hit);

// The same for a height field: its surface, its sides and its base.
tbReal tb_ray_hfield(const tbHField* field, const tbReal pos[3], const tbReal mat[9],
                     const tbReal origin[3], const tbReal direction[3]);

#endif
