// What each kind of equality holds together, as equality_kinds.h names it. They compile for devices
// too.
//
// Of bodies: tb_equality_frames_<function>(model, data, id, frames) gives a point fixed to each
// body, and for six rows an orientation fixed to each; the residual is the difference of the points
// and, of the orientations, the vector part of q2^-1 q1. Rows, drift and derivatives follow from
// that. Of joints or tendons: tb_equality_coupling_<function>(data, y, f) gives f[0] = f(y) with
// its first and second derivative; the residual is y1 - f(y2), both measured from the reference
// pose.
#ifndef TRIBO_DYNAMICS_EQUALITY_RESIDUAL_H_
#define TRIBO_DYNAMICS_EQUALITY_RESIDUAL_H_

#include <string.h>

#include "dynamics/equality/equality.h"
#include "model/equality_kinds.h"
#include "model/law_kinds.h"
#include "spatial/quat.h"

// ---- bodies ------------------------------------------------------------------------------------

// World pose of the object of an equality, a body frame or a site frame; returns its body.
TB_ANY_INLINE int tb_equality_pose(const tbModel* m, const tbData* d, int type, int id,
                                   const tbReal** pos, const tbReal** mat) {
  if (type == TB_OBJ_SITE) {
    *pos = d->site_xpos + 3 * id;
    *mat = d->site_xmat + 9 * id;
    return m->site_bodyid[id];
  }
  *pos = d->xpos + 3 * id;
  *mat = d->xmat + 9 * id;
  return id;
}

// Two points: eq_data has one in each body; of sites, their origins.
TB_ANY_INLINE void tb_equality_frames_points(const tbModel* m, const tbData* d, int id,
                                             tbEqualityFrames* f) {
  const tbReal *data = m->eq_data + TB_NEQDATA * id, *pos, *mat;
  int type = m->eq_objtype[id];
  for (int i = 0; i < 2; i++) {
    f->body[i] = tb_equality_pose(m, d, type, (i ? m->eq_obj2id : m->eq_obj1id)[id], &pos, &mat);
    tb_zero3(f->point[i]);
    if (type != TB_OBJ_SITE) tb_mul_mat3_vec3(f->point[i], mat, data + 3 * i);
    tb_add3(f->point[i], f->point[i], pos);
  }
}

// Two frames: eq_data has the anchor in body 2 and its target pose in body 1.
TB_ANY_INLINE void tb_equality_frames_frames(const tbModel* m, const tbData* d, int id,
                                             tbEqualityFrames* f) {
  const tbReal *data = m->eq_data + TB_NEQDATA * id, *pos, *mat;
  int type = m->eq_objtype[id];
  for (int i = 0; i < 2; i++) {
    f->body[i] = tb_equality_pose(m, d, type, (i ? m->eq_obj2id : m->eq_obj1id)[id], &pos, &mat);
    tb_zero3(f->point[i]);
    if (type != TB_OBJ_SITE) tb_mul_mat3_vec3(f->point[i], mat, data + 3 * (1 - i));
    tb_add3(f->point[i], f->point[i], pos);
    tb_quat_from_mat(f->quat[i], mat);
  }
  if (type != TB_OBJ_SITE) tb_quat_mul(f->quat[0], f->quat[0], data + 6);
  // The anchor of a rigid weld can be any point. If the weld is compliant, as under MuJoCo's law
  // and with springs, or leaves rotations free (torquescale 0), the anchor of the file matters.
  bool is_compliant = tb_law_has(&m->opt, TB_TRAIT_COMPLIANT) || data[TB_EQ_TORQUESCALE] == 0;
  for (int i = 0; i < 2 && !is_compliant; i++) {
    tbReal arm[3];
    tb_quat_rotate(arm, f->quat[i], m->eq_hold + 3 * id);
    tb_add3(f->point[i], f->point[i], arm);
  }
}

// ---- joints and tendons ------------------------------------------------------------------------

// f(y) = a0 + a1 y + a2 y^2 + a3 y^3 + a4 y^4
TB_ANY_INLINE void tb_equality_coupling_quartic(const tbReal* a, tbReal y, tbReal f[3]) {
  f[0] = a[0] + y * (a[1] + y * (a[2] + y * (a[3] + y * a[4])));
  f[1] = a[1] + y * (2 * a[2] + y * (3 * a[3] + y * 4 * a[4]));
  f[2] = 2 * a[2] + y * (6 * a[3] + y * 12 * a[4]);
}

// ---- by type -----------------------------------------------------------------------------------

// Equalities of an extension: the prototype that the ends require.
#define TB_BODIES_PROTOTYPE(function)                                           \
  void tb_equality_frames_##function(const tbModel* m, const tbData* d, int id, \
                                     tbEqualityFrames* f);
#define TB_COUPLING_PROTOTYPE(function) \
  void tb_equality_coupling_##function(const tbReal* data, tbReal y, tbReal f[3]);
#define TB_PROTOTYPE_POINTS TB_BODIES_PROTOTYPE
#define TB_PROTOTYPE_FRAMES TB_BODIES_PROTOTYPE
#define TB_PROTOTYPE_JOINTS TB_COUPLING_PROTOTYPE
#define TB_PROTOTYPE_TENDONS TB_COUPLING_PROTOTYPE
#define X(TYPE, word, ENDS, function) TB_PROTOTYPE_##ENDS(function)
TB_EXTENSION_EQUALITIES(X)
#undef X

// The cases of one sort of ends, none for the other.
#define TB_BODIES_CASE(TYPE, function)          \
  case TB_EQ_##TYPE:                            \
    tb_equality_frames_##function(m, d, id, f); \
    return;
#define TB_COUPLING_CASE(TYPE, function)                                 \
  case TB_EQ_##TYPE:                                                     \
    tb_equality_coupling_##function(m->eq_data + TB_NEQDATA * id, y, f); \
    return;
#define TB_NO_CASE(TYPE, function)

TB_ANY_INLINE void tb_equality_frames(const tbModel* m, const tbData* d, int id,
                                      tbEqualityFrames* f) {
#define TB_CASE_POINTS TB_BODIES_CASE
#define TB_CASE_FRAMES TB_BODIES_CASE
#define TB_CASE_JOINTS TB_NO_CASE
#define TB_CASE_TENDONS TB_NO_CASE
#define X(TYPE, word, ENDS, function) TB_CASE_##ENDS(TYPE, function)
  memset(f, 0, sizeof *f);
  switch (m->eq_type[id]) {
    TB_EQUALITIES(X)
    default: return;
  }
#undef TB_CASE_POINTS
#undef TB_CASE_FRAMES
#undef TB_CASE_JOINTS
#undef TB_CASE_TENDONS
}

TB_ANY_INLINE void tb_equality_coupling(const tbModel* m, int id, tbReal y, tbReal f[3]) {
#define TB_CASE_POINTS TB_NO_CASE
#define TB_CASE_FRAMES TB_NO_CASE
#define TB_CASE_JOINTS TB_COUPLING_CASE
#define TB_CASE_TENDONS TB_COUPLING_CASE
  switch (m->eq_type[id]) {
    TB_EQUALITIES(X)
    default: f[0] = f[1] = f[2] = 0;
  }
#undef X
#undef TB_CASE_POINTS
#undef TB_CASE_FRAMES
#undef TB_CASE_JOINTS
#undef TB_CASE_TENDONS
}

#endif
