// Every geom as triangles in its own frame.
#ifndef TRIBO_VIEWER_SHAPES_H_
#define TRIBO_VIEWER_SHAPES_H_

#include "tribo/tribo.h"

// Called for each triangle: corners and outward normals (unit), three each.
typedef void (*TriangleSink)(void* context, const tbReal corner[3][3], const tbReal normal[3][3]);

// Triangles of geom `g`. Planes of size 0 extend over `reach`.
void shape_triangles(const tbModel* model, int g, tbReal reach, TriangleSink sink, void* context);

// A ball about the origin.
void ball_triangles(tbReal radius, TriangleSink sink, void* context);

// An arrow from the origin along z of that length.
void arrow_triangles(tbReal length, tbReal radius, TriangleSink sink, void* context);

#endif
