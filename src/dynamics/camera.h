// Poses of cameras.
#ifndef TRIBO_DYNAMICS_CAMERA_H_
#define TRIBO_DYNAMICS_CAMERA_H_

#include "tribo/data.h"

// cam_xpos and cam_xmat, from the kinematics and centres of mass in `d`.
void tb_camera(const tbModel* m, tbData* d);

// cam_pos0, cam_poscom0 and cam_mat0, with `d` at qpos0.
void tb_camera_constants(tbModel* m, tbData* d);

#endif
