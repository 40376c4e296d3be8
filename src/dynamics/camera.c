// Poses of cameras (docs/manual/dynamics.md). Cameras look along -z, and their x axis is level.
#include "dynamics/camera.h"

#include "spatial/quat.h"

static void fixed_pose(const tbModel* m, tbData* d, int i) {
  int body = m->cam_bodyid[i];
  tbReal inverse[4], turned[9], *pos = d->cam_xpos + 3 * i;
  tb_quat_conjugate(inverse, m->cam_quat + 4 * i);
  tb_quat_to_mat(turned, inverse);
  tb_mul_mat3_mat3t(d->cam_xmat + 9 * i, d->xmat + 9 * body, turned);
  tb_mul_mat3_vec3(pos, d->xmat + 9 * body, m->cam_pos + 3 * i);
  tb_add3(pos, pos, d->xpos + 3 * body);
}

// Axes of a camera that looks at a point: z away from it, x level.
static void look_at(tbReal mat[9], const tbReal pos[3], const tbReal target[3]) {
  const tbReal up[3] = {0, 0, 1};
  tbReal x[3], y[3], z[3];
  tb_sub3(z, pos, target);
  tb_normalize3(z);
  tb_cross(x, up, z);
  tb_normalize3(x);
  tb_cross(y, z, x);
  tb_normalize3(y);
  for (int k = 0; k < 3; k++) {
    mat[3 * k] = x[k];
    mat[3 * k + 1] = y[k];
    mat[3 * k + 2] = z[k];
  }
}

void tb_camera(const tbModel* m, tbData* d) {
  for (int i = 0; i < m->ncam; i++) {
    int body = m->cam_bodyid[i], mode = m->cam_mode[i], target = m->cam_targetbodyid[i];
    tbReal *pos = d->cam_xpos + 3 * i, *mat = d->cam_xmat + 9 * i;
    fixed_pose(m, d, i);
    if (mode == TB_CAM_TRACK || mode == TB_CAM_TRACKCOM) {
      const tbReal* start = (mode == TB_CAM_TRACK ? d->xpos : d->subtree_com) + 3 * body;
      const tbReal* offset = (mode == TB_CAM_TRACK ? m->cam_pos0 : m->cam_poscom0) + 3 * i;
      tb_add3(pos, start, offset);
      for (int k = 0; k < 9; k++) mat[k] = m->cam_mat0[9 * i + k];
    } else if (mode != TB_CAM_FIXED && target >= 0) {
      look_at(mat, pos, (mode == TB_CAM_TARGETBODY ? d->xpos : d->subtree_com) + 3 * target);
    }
  }
}

void tb_camera_constants(tbModel* m, tbData* d) {
  for (int i = 0; i < m->ncam; i++) {
    int body = m->cam_bodyid[i];
    fixed_pose(m, d, i);
    tb_sub3(m->cam_pos0 + 3 * i, d->cam_xpos + 3 * i, d->xpos + 3 * body);
    int whose = m->cam_targetbodyid[i] >= 0 ? m->cam_targetbodyid[i] : body;
    tb_sub3(m->cam_poscom0 + 3 * i, d->cam_xpos + 3 * i, d->subtree_com + 3 * whose);
    for (int k = 0; k < 9; k++) m->cam_mat0[9 * i + k] = d->cam_xmat[9 * i + k];
  }
}
