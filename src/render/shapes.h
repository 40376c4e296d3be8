// Every geom as triangles in its own frame.
#ifndef TRIBO_RENDER_SHAPES_H_
#define TRIBO_RENDER_SHAPES_H_

#include "tribo/model.h"

// Called for each triangle: corners and outward normals (unit), three each.
typedef void (*tbTriangleSink)(void* context, const tbReal corner[3][3], const tbReal normal[3][3]);

// Triangles of geom `g`. Planes of size 0 extend over `reach`.
void tb_shape_triangles(const tbModel* model, int g, tbReal reach, tbTriangleSink sink,
                        void* context);

// A ball about the origin.
void tb_ball_triangles(tbReal radius, tbTriangleSink sink, void* context);

// An arrow from the origin along z of that length.
void tb_arrow_triangles(tbReal length, tbReal radius, tbTriangleSink sink, void* context);

#endif
