// Fits a primitive to a mesh, by its inertia box or its bounding box.

#include "base/minmax.h"
#include "base/error.h"
#include "io/mesh/mesh.h"
#include "spatial/quat.h"

static void fit_inertia(const tbReal box[3], int type, tbReal size[3]) {
  tb_zero3(size);
  switch (type) {
    case TB_GEOM_SPHERE: size[0] = (box[0] + box[1] + box[2]) / 3; break;
    case TB_GEOM_CAPSULE:
      size[0] = (box[0] + box[1]) / 2;
      size[1] = tb_max(0, box[2] - size[0] / 2);
      break;
    case TB_GEOM_CYLINDER:
      size[0] = (box[0] + box[1]) / 2;
      size[1] = box[2];
      break;
    default: tb_copy3(size, box); break;
  }
}

// Sizes from the half sizes of the bounding box, as in MuJoCo: a radius is the larger of the sizes
// that share it. Vertices at the box's corners may lie outside.
static void fit_bounds(const tbReal half[3], int type, tbReal size[3]) {
  tbReal radius = tb_max(half[0], half[1]);
  tb_zero3(size);
  switch (type) {
    case TB_GEOM_SPHERE: size[0] = tb_max(radius, half[2]); break;
    case TB_GEOM_CAPSULE:
      size[0] = radius;
      size[1] = tb_max(0, half[2] - radius);
      break;
    case TB_GEOM_CYLINDER:
      size[0] = radius;
      size[1] = half[2];
      break;
    default: tb_copy3(size, half); break;
  }
}

tbResult tb_mesh_fit(const tbMesh* mesh, int geom_type, bool fit_aabb, tbReal fitscale,
                     tbReal size[3], tbReal center[3], tbError* error) {
  if (geom_type < TB_GEOM_SPHERE || geom_type > TB_GEOM_BOX) {
    return tb_fail(error, TB_ERROR_MODEL, "a %s cannot be fitted to a mesh",
                   tb_geom_type_name(geom_type));
  }
  tb_copy3(center, mesh->pos);
  if (fit_aabb) {
    tbReal middle[3], half[3], shift[3];
    for (int k = 0; k < 3; k++) {
      middle[k] = 0.5 * (mesh->aabb[k] + mesh->aabb[3 + k]);
      half[k] = mesh->aabb[3 + k] - middle[k];
    }
    fit_bounds(half, geom_type, size);
    tb_quat_rotate(shift, mesh->quat, middle);
    tb_add3(center, center, shift);
  } else {
    fit_inertia(mesh->box, geom_type, size);
  }
  tb_scale3(size, size, fitscale);
  return TB_OK;
}
