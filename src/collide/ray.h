// Where a ray meets a shape.
#ifndef TRIBO_COLLIDE_RAY_H_
#define TRIBO_COLLIDE_RAY_H_

#include "tribo/collide.h"
#include "tribo/enums.h"
#include "tribo/types.h"

// Smallest t >= 0 with origin + t direction on the surface of the shape, or -1. Planes with
// positive sizes are rectangles. Meshes and height fields have functions of their own.
tbReal tb_ray_shape(int type, const tbReal size[3], const tbReal pos[3], const tbReal mat[9],
                    const tbReal origin[3], const tbReal direction[3]);

// The same for triangles given in the shape's frame.
tbReal tb_ray_triangles(const tbReal* vert, const int* face, int nface, const tbReal pos[3],
                        const tbReal mat[9], const tbReal origin[3], const tbReal direction[3]);

// The same for a height field: its surface, its sides and its base.
tbReal tb_ray_hfield(const tbHField* field, const tbReal pos[3], const tbReal mat[9],
                     const tbReal origin[3], const tbReal direction[3]);

#endif
