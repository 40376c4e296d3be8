#include "model/extent.h"

#include <math.h>

#include "base/minmax.h"
#include "spatial/vec3.h"

// Half size of a plane's bounding box, MuJoCo's mjMAXVAL.
static const tbReal VAST = 1e10;

void tb_geom_extent(int type, const tbReal size[3], tbReal aabb[6], tbReal* rbound) {
  tbReal half[3] = {size[0], size[1], size[2]}, center[3] = {0, 0, 0};
  switch (type) {
    case TB_GEOM_PLANE:
      tb_set3(half, VAST, VAST, VAST / 2);
      center[2] = -VAST / 2;
      *rbound = 0;
      break;
    case TB_GEOM_SPHERE:
      tb_set3(half, size[0], size[0], size[0]);
      *rbound = size[0];
      break;
    case TB_GEOM_CAPSULE:
      tb_set3(half, size[0], size[0], size[0] + size[1]);
      *rbound = size[0] + size[1];
      break;
    case TB_GEOM_CYLINDER:
      tb_set3(half, size[0], size[0], size[1]);
      *rbound = sqrt(size[0] * size[0] + size[1] * size[1]);
      break;
    case TB_GEOM_ELLIPSOID: *rbound = tb_max(size[0], tb_max(size[1], size[2])); break;
    default: *rbound = tb_norm3(size); break;
  }
  tb_copy3(aabb, center);
  tb_copy3(aabb + 3, half);
}

void tb_hfield_extent(const tbReal size[4], tbReal aabb[6], tbReal* rbound) {
  tb_set3(aabb, 0, 0, (size[2] - size[3]) / 2);
  tb_set3(aabb + 3, size[0], size[1], (size[2] + size[3]) / 2);
  *rbound =
      sqrt(size[0] * size[0] + size[1] * size[1] + tb_max(size[2] * size[2], size[3] * size[3]));
}
