// Velocity and acceleration of frames fixed to bodies (docs/manual/dynamics.md, eq. 34).
#include "spatial/motion.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"

typedef struct {
  int body;
  const tbReal* pos;
  const tbReal* mat;
} Frame;

// The frame of an object; body is -1 if the type has none or the id is out of range.
static Frame frame_of(const tbModel* m, const tbData* d, tbObjType type, int id) {
  Frame none = {-1, NULL, NULL};
  int count = type == TB_OBJ_GEOM     ? m->ngeom
              : type == TB_OBJ_SITE   ? m->nsite
              : type == TB_OBJ_CAMERA ? m->ncam
                                      : m->nbody;
  if (id < 0 || id >= count) return none;
  switch (type) {
    case TB_OBJ_BODY: {
      Frame f = {id, d->xipos + 3 * id, d->ximat + 9 * id};
      return f;
    }
    case TB_OBJ_XBODY: {
      Frame f = {id, d->xpos + 3 * id, d->xmat + 9 * id};
      return f;
    }
    case TB_OBJ_GEOM: {
      Frame f = {m->geom_bodyid[id], d->geom_xpos + 3 * id, d->geom_xmat + 9 * id};
      return f;
    }
    case TB_OBJ_SITE: {
      Frame f = {m->site_bodyid[id], d->site_xpos + 3 * id, d->site_xmat + 9 * id};
      return f;
    }
    case TB_OBJ_CAMERA: {
      Frame f = {m->cam_bodyid[id], d->cam_xpos + 3 * id, d->cam_xmat + 9 * id};
      return f;
    }
    default: return none;
  }
}

// Move a motion from the tree's centre to the frame's origin.
static void motion_at_frame(const tbModel* m, const tbData* d, Frame f, const tbReal motion[6],
                            tbReal r[6]) {
  tbReal offset[3];
  tb_sub3(offset, f.pos, d->subtree_com + 3 * m->body_rootid[f.body]);
  tb_copy3(r, motion);
  tb_motion_at(r + 3, motion, offset);
}

static void to_local(Frame f, tbReal r[6]) {
  tb_mul_mat3t_vec3(r, f.mat, r);
  tb_mul_mat3t_vec3(r + 3, f.mat, r + 3);
}

void tb_object_velocity(const tbModel* m, const tbData* d, tbObjType type, int id, int local,
                        tbReal velocity[6]) {
  if (!tb_is_data_of(m, d) || !velocity) return;
  Frame f = frame_of(m, d, type, id);
  tb_zero6(velocity);
  if (f.body < 0) return;
  motion_at_frame(m, d, f, d->cvel + 6 * f.body, velocity);
  if (local) to_local(f, velocity);
}

void tb_object_acceleration(const tbModel* m, const tbData* d, tbObjType type, int id, int local,
                            tbReal acceleration[6]) {
  if (!tb_is_data_of(m, d) || !acceleration) return;
  Frame f = frame_of(m, d, type, id);
  tb_zero6(acceleration);
  if (f.body < 0) return;
  // The spatial acceleration does not include w x v of a point fixed to the frame.
  tbReal velocity[6], centripetal[3];
  motion_at_frame(m, d, f, d->cvel + 6 * f.body, velocity);
  motion_at_frame(m, d, f, d->cacc + 6 * f.body, acceleration);
  tb_cross(centripetal, velocity, velocity + 3);
  tb_add3(acceleration + 3, acceleration + 3, centripetal);
  if (local) to_local(f, acceleration);
}
