// Bounds of a geom that follow from its size.
#ifndef TRIBO_MODEL_EXTENT_H_
#define TRIBO_MODEL_EXTENT_H_

#include "tribo/model.h"

// Bounding radius about the origin of the geom's frame (0 for planes) and bounding box in the frame
// (centre, half sizes) of a shape that is neither a mesh nor a height field.
void tb_geom_extent(int type, const tbReal size[3], tbReal aabb[6], tbReal* rbound);

// The same for a height field of `size`: x half, y half, top, base below zero.
void tb_hfield_extent(const tbReal size[4], tbReal aabb[6], tbReal* rbound);

#endif
