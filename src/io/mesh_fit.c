// A primitive in place of a mesh: from its inertia box, or around its vertices.
#include <math.h>

#include "base/error.h"
#include "io/mesh.h"
#include "spatial/quat.h"

static void fit_inertia(const tbReal box[3], int type, tbReal size[3]) {
  tb_zero3(size);
  switch (type) {
    case TB_GEOM_SPHERE: size[0] = (box[0] + box[1] + box[2]) / 3; break;
    case TB_GEOM_CAPSULE:
      size[0] = (box[0] + box[1]) / 2;
      size[1] = fmax(0, box[2] - size[0] / 2);
      break;
    case TB_GEOM_CYLINDER:
      size[0] = (box[0] + box[1]) / 2;
      size[1] = box[2];
      break;
    default: tb_copy3(size, box); break;
  }
}

// Smallest size about the centre of the bounding box that holds every vertex.
static void fit_vertices(const tbMesh* mesh, int type, const tbReal center[3], tbReal size[3]) {
  tb_zero3(size);
  if (type == TB_GEOM_BOX || type == TB_GEOM_ELLIPSOID) {
    for (int k = 0; k < 3; k++) size[k] = mesh->aabb[3 + k] - center[k];
    return;
  }
  for (size_t i = 0; i < (size_t)mesh->nvert; i++) {
    tbReal d[3];
    tb_sub3(d, mesh->vert + 3 * i, center);
    size[0] = fmax(size[0], type == TB_GEOM_SPHERE ? tb_norm3(d) : sqrt(d[0] * d[0] + d[1] * d[1]));
    if (type == TB_GEOM_CYLINDER) size[1] = fmax(size[1], fabs(d[2]));
  }
  if (type != TB_GEOM_CAPSULE) return;
  // A capsule's cap rises above the straight part by what is left of its radius.
  for (size_t i = 0; i < (size_t)mesh->nvert; i++) {
    tbReal d[3];
    tb_sub3(d, mesh->vert + 3 * i, center);
    tbReal cap = sqrt(fmax(0, size[0] * size[0] - d[0] * d[0] - d[1] * d[1]));
    size[1] = fmax(size[1], fabs(d[2]) - cap);
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
    tbReal middle[3], shift[3];
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (mesh->aabb[k] + mesh->aabb[3 + k]);
    fit_vertices(mesh, geom_type, middle, size);
    tb_quat_rotate(shift, mesh->quat, middle);
    tb_add3(center, center, shift);
  } else {
    fit_inertia(mesh->box, geom_type, size);
  }
  tb_scale3(size, size, fitscale);
  return TB_OK;
}
