// Frames fixed to a body: its inertial frame, geoms and sites.
#ifndef TRIBO_DYNAMICS_FRAMES_H_
#define TRIBO_DYNAMICS_FRAMES_H_

#include "spatial/wide.h"

// Special relations of a frame to its body (body_sameframe, geom_sameframe, site_sameframe). Zero
// is always correct; tb_set_constants sets the others.
enum {
  TB_FRAME_GENERAL,  // translated and rotated
  TB_FRAME_BODY,     // the body's own frame
  TB_FRAME_INERTIA,  // the body's inertial frame (geoms and sites only)
  TB_FRAME_MOVED,    // translated only
};

// World position and axes of a frame at (offset, turn) in a body's frame (pos, mat).
TB_INLINE void tb_attach_frame(int wide, tbReal xpos[3], tbReal xmat[9], const tbReal pos[3],
                               const tbReal mat[9], const tbReal offset[3], const tbReal turn[9],
                               int special) {
  if (special == TB_FRAME_GENERAL) {
    tb_wide_attach(wide, xpos, xmat, pos, mat, offset, turn);
    return;
  }
  tb_copy3(xpos, pos);
  if (special != TB_FRAME_BODY) {
    tbReal arm[3];
    tb_mul_mat3_vec3(arm, mat, offset);
    tb_add3(xpos, xpos, arm);
  }
  tb_wide_copy9(xmat, mat);
}

#endif
