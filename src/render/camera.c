// Cameras: the view from one, and the place from which a free one sees everything that moves.
#include "render/camera.h"

#include <math.h>

#include "model/workspace.h"
#include "spatial/vec3.h"

static const tbReal PI = 3.14159265358979323846;

// Share of the picture that is left free at its sides.
static const tbReal FRAME_MARGIN = 0.08;

tbCamera tbDefaultCamera(void) {
  return (tbCamera){.id = -1, .distance = 3, .azimuth = 125, .elevation = 18, .fovy = 40};
}

// MuJoCo's habit: groups 0 to 2 are seen, 3 and up are collision shapes; those are drawn only for
// bodies that have nothing else.
bool tb_geom_is_seen(const tbModel* m, int g) {
  if (m->geom_rgba[4 * g + 3] <= 0.01F) return false;
  if (m->geom_group[g] < 3) return true;
  int body = m->geom_bodyid[g];
  for (int other = 0; other < m->ngeom; other++) {
    if (m->geom_bodyid[other] == body && m->geom_group[other] < 3) return false;
  }
  return true;
}

bool tb_geom_moves(const tbModel* m, int g) {
  int body = m->geom_bodyid[g];
  return m->body_weldid[body] != 0 || m->body_mocapid[body] >= 0;
}

void tb_camera_axes(const tbCamera* camera, tbReal right[3], tbReal up[3], tbReal forward[3]) {
  tbReal a = camera->azimuth * PI / 180, e = camera->elevation * PI / 180;
  tb_set3(forward, cos(a) * cos(e), sin(a) * cos(e), -sin(e));
  tb_set3(right, sin(a), -cos(a), 0);
  tb_cross(up, right, forward);
}

// ---- what has to be seen -----------------------------------------------------------------------

// Corner `i` of 8 of a geom's box, in the world.
static void box_corner(const tbModel* m, const tbData* d, int g, int i, tbReal corner[3]) {
  const tbReal *box = m->geom_aabb + 6 * g, *half = box + 3;
  const tbReal local[3] = {box[0] + (i & 1 ? half[0] : -half[0]),
                           box[1] + (i & 2 ? half[1] : -half[1]),
                           box[2] + (i & 4 ? half[2] : -half[2])};
  tb_mul_mat3_vec3(corner, d->geom_xmat + 9 * g, local);
  tb_add3(corner, corner, d->geom_xpos + 3 * g);
}

// Box around the geoms that move, or (`moving` false) around all bounded ones. False if there are
// none.
static bool scene_box(const tbModel* m, const tbData* d, bool moving, tbReal low[3],
                      tbReal high[3]) {
  bool any = false;
  tb_set3(low, INFINITY, INFINITY, INFINITY);
  tb_set3(high, -INFINITY, -INFINITY, -INFINITY);
  for (int g = 0; g < m->ngeom; g++) {
    int type = m->geom_type[g];
    if (type == TB_GEOM_PLANE || !tb_geom_is_seen(m, g) || (moving && !tb_geom_moves(m, g))) {
      continue;
    }
    for (int i = 0; i < 8; i++) {
      tbReal corner[3];
      box_corner(m, d, g, i, corner);
      for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], corner[k]);
        high[k] = fmax(high[k], corner[k]);
      }
    }
    any = true;
  }
  return any;
}

// The box of all moving geoms, or of all geoms if none moves; its diagonal, 0 if there is nothing.
static tbReal scene_size(const tbModel* m, const tbData* d, tbReal middle[3]) {
  tbReal low[3], high[3], diagonal[3];
  tb_zero3(middle);
  if (!scene_box(m, d, true, low, high) && !scene_box(m, d, false, low, high)) return 0;
  tb_sub3(diagonal, high, low);
  tb_add_scaled3(middle, low, 0.5, diagonal);
  return tb_norm3(diagonal);
}

tbReal tb_force_scale(const tbModel* m, const tbData* d) {
  tbReal middle[3], weight = 0;
  if (!m || !d || !tb_data_fits(m, d)) return 0;
  for (int b = 1; b < m->nbody; b++) weight += m->body_mass[b];
  weight *= tb_norm3(m->opt.gravity);
  return weight > 0 ? 0.5 * scene_size(m, d, middle) / weight : 0;
}

void tb_contact_arrow(const tbContact* contact, tbReal force_scale, tbReal force[3],
                      tbReal tip[3]) {
  tb_zero3(force);
  for (int r = 0; r < 3 && r < contact->dim; r++) {
    tb_add_scaled3(force, force, contact->force[r], contact->frame + 3 * r);
  }
  tb_add_scaled3(tip, contact->pos, force_scale, force);
}

// ---- the nearest place -------------------------------------------------------------------------

tbCameraFit tb_camera_fit_begin(const tbCamera* camera, int width, int height) {
  tbCameraFit fit = {.camera = camera ? *camera : tbDefaultCamera()};
  tb_camera_axes(&fit.camera, fit.right, fit.up, fit.forward);
  fit.tangent[1] = (1 - FRAME_MARGIN) * tan(0.5 * fit.camera.fovy * PI / 180);
  fit.tangent[0] = fit.tangent[1] * width / (tbReal)(height > 0 ? height : 1);
  for (int k = 0; k < 4; k++) fit.side[k] = -INFINITY;
  fit.depth[0] = INFINITY;
  fit.depth[1] = -INFINITY;
  return fit;
}

// A point with coordinates x to the right, y up and z along the view is in the picture of a camera
// at c if |x - cx| <= tx (z - cz) and |y - cy| <= ty (z - cz): four half-spaces for c, of which the
// extremes over all points are kept.
static void add_point(tbCameraFit* fit, const tbReal point[3]) {
  tbReal x = tb_dot3(point, fit->right), y = tb_dot3(point, fit->up);
  tbReal z = tb_dot3(point, fit->forward), tx = fit->tangent[0], ty = fit->tangent[1];
  if (!isfinite(x + y + z)) return;
  const tbReal side[4] = {x - tx * z, -x - tx * z, y - ty * z, -y - ty * z};
  for (int k = 0; k < 4; k++) fit->side[k] = fmax(fit->side[k], side[k]);
  fit->depth[0] = fmin(fit->depth[0], z);
  fit->depth[1] = fmax(fit->depth[1], z);
  fit->count++;
}

void tb_camera_fit_add(tbCameraFit* fit, const tbModel* m, const tbData* d, tbReal force_scale) {
  tbReal middle[3];
  if (!fit || !m || !d || !tb_data_fits(m, d)) return;
  tbReal size = scene_size(m, d, middle);
  for (int g = 0; g < m->ngeom; g++) {
    // Floors, walls and terrain are larger than the moving geoms, and visible in any case.
    bool large =
        m->geom_type[g] == TB_GEOM_PLANE || (!tb_geom_moves(m, g) && m->geom_rbound[g] > size);
    if (large || !tb_geom_is_seen(m, g)) continue;
    for (int i = 0; i < 8; i++) {
      tbReal corner[3];
      box_corner(m, d, g, i, corner);
      add_point(fit, corner);
    }
  }
  for (int c = 0; c < d->ncon && force_scale > 0; c++) {
    tbReal force[3], tip[3];
    tb_contact_arrow(&d->contact[c], force_scale, force, tip);
    add_point(fit, tip);
  }
}

// The foremost camera that satisfies all half-spaces; in the direction with room left, the middle.
tbCamera tb_camera_fit_end(const tbCameraFit* fit) {
  if (!fit) return tbDefaultCamera();
  tbCamera camera = fit->camera;
  if (fit->count == 0) return camera;
  const tbReal* s = fit->side;
  tbReal x = 0.5 * (s[0] - s[1]), y = 0.5 * (s[2] - s[3]);
  tbReal z = fmin(-0.5 * (s[0] + s[1]) / fit->tangent[0], -0.5 * (s[2] + s[3]) / fit->tangent[1]);
  tbReal middle = 0.5 * (fit->depth[0] + fit->depth[1]);
  // A single point gives no distance.
  camera.distance = fmax(middle - z, 0.05);
  for (int k = 0; k < 3; k++) {
    camera.lookat[k] = x * fit->right[k] + y * fit->up[k] + middle * fit->forward[k];
  }
  return camera;
}

// ---- the view ----------------------------------------------------------------------------------

// Cameras of files look along -z with y up. A sensor chip gives the field of view by its focal
// length.
static void file_camera(const tbCamera* camera, const tbModel* m, const tbData* d, tbView* view,
                        tbReal lookat[3], tbReal* distance) {
  int id = camera->id;
  const tbReal *mat = d->cam_xmat + 9 * id, *chip = m->cam_sensorsize + 2 * id;
  tbReal tangent = tan(0.5 * m->cam_fovy[id] * PI / 180), to_scene[3];
  if (chip[1] > 0 && m->cam_intrinsic[4 * id + 1] > 0) {
    tangent = 0.5 * chip[1] / m->cam_intrinsic[4 * id + 1];
  }
  tb_copy3(view->origin, d->cam_xpos + 3 * id);
  for (int k = 0; k < 3; k++) {
    view->right[k] = mat[3 * k];
    view->up[k] = mat[3 * k + 1];
    view->forward[k] = -mat[3 * k + 2];
  }
  view->scale = 0.5 * view->height / tangent;
  tbReal size = scene_size(m, d, lookat);
  tb_sub3(to_scene, lookat, view->origin);
  *distance = fmax(fmax(tb_dot3(to_scene, view->forward), size), 0.05);
}

void tb_camera_view(const tbCamera* camera, const tbModel* m, const tbData* d, tbView* view,
                    tbReal lookat[3], tbReal* distance) {
  if (camera->id >= 0) {
    file_camera(camera, m, d, view, lookat, distance);
  } else {
    tb_camera_axes(camera, view->right, view->up, view->forward);
    tb_copy3(lookat, camera->lookat);
    tb_add_scaled3(view->origin, camera->lookat, -camera->distance, view->forward);
    view->scale = 0.5 * view->height / tan(0.5 * camera->fovy * PI / 180);
    *distance = camera->distance;
  }
  view->near = fmin(0.02, 0.1 * *distance);
}
