// Orientations in all forms of MJCF, and poses in frames.
#include <math.h>

#include "base/elementary.h"
#include "io/mjcf/mjcf.h"
#include "spatial/quat.h"

static const tbReal PI = 3.14159265358979323846;

tbMjcfAngles tb_mjcf_angles(const tbFlatCompiler* compiler) {
  tbMjcfAngles angles = {compiler->eulerseq ? compiler->eulerseq : "xyz", compiler->angle == 1};
  return angles;
}

// Lower-case letters are rotations about the moving axes, upper-case letters about the fixed ones.
void tb_mjcf_euler(tbReal quat[4], const tbReal euler[3], tbMjcfAngles angles) {
  tb_quat_identity(quat);
  for (int i = 0; i < 3; i++) {
    tbReal half = 0.5 * (angles.degree ? euler[i] * PI / 180 : euler[i]);
    char letter = angles.eulerseq[i];
    bool fixed = letter >= 'X' && letter <= 'Z';
    tbReal turn[4] = {tb_cos(half), 0, 0, 0};
    turn[1 + (letter - (fixed ? 'X' : 'x'))] = tb_sin(half);
    if (fixed) {
      tb_quat_mul(quat, turn, quat);
    } else {
      tb_quat_mul(quat, quat, turn);
    }
  }
  tb_quat_normalize(quat);
}

void tb_mjcf_z_to(tbReal quat[4], const tbReal axis[3]) {
  tbReal to[3] = {axis[0], axis[1], axis[2]};
  tb_normalize3(to);
  tbReal about[3] = {-to[1], to[0], 0};
  tbReal sine = tb_norm3(about);
  if (sine < 1e-10) {
    tb_set3(about, 1, 0, 0);
  } else {
    tb_scale3(about, about, 1 / sine);
  }
  tb_quat_from_axis_angle(quat, about, tb_atan2(sine, to[2]));
}

static bool from_axes(tbReal quat[4], const tbReal xyaxes[6]) {
  tbReal x[3] = {xyaxes[0], xyaxes[1], xyaxes[2]}, y[3] = {xyaxes[3], xyaxes[4], xyaxes[5]}, z[3];
  if (tb_norm3(x) < 1e-14) return false;
  tb_normalize3(x);
  tb_add_scaled3(y, y, -tb_dot3(x, y), x);
  if (tb_norm3(y) < 1e-14) return false;
  tb_normalize3(y);
  tb_cross(z, x, y);
  tbReal R[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
  tb_quat_from_mat(quat, R);
  return true;
}

bool tb_mjcf_orient(tbMjcf* p, const tbElement* node, tbMjcfOrientation o) {
  // At most one form per element. As in MuJoCo the element's own form takes precedence over that of
  // its class, and any other form, even the class's, over quat.
  if (o.own & (o.own - 1)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "more than one of quat, axisangle, xyaxes, zaxis, euler");
  }
  unsigned form = o.own & 30 ? o.own : o.given;
  tbMjcfAngles angles = tb_mjcf_angles(p->spec->compiler);
  tbReal axis[3];
  if (form & 2) {
    tb_copy3(axis, o.axisangle);
    if (tb_norm3(axis) < 1e-14) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "axisangle: the axis has no length");
    }
    tb_normalize3(axis);
    tb_quat_from_axis_angle(o.quat, axis, o.axisangle[3] * (angles.degree ? PI / 180 : 1));
  } else if (form & 4) {
    if (!from_axes(o.quat, o.xyaxes)) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "xyaxes: the axes are parallel or of no length");
    }
  } else if (form & 8) {
    if (tb_norm3(o.zaxis) < 1e-14) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "zaxis: the axis has no length");
    }
    tb_mjcf_z_to(o.quat, o.zaxis);
  } else if (form & 16) {
    tb_mjcf_euler(o.quat, o.euler, angles);
  }
  if (tb_quat_normalize(o.quat) < 1e-14) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "quat: the quaternion has no length");
  }
  return true;
}

void tb_mjcf_in_frame(const tbReal frame_pos[3], const tbReal frame_quat[4], tbReal pos[3],
                      tbReal quat[4]) {
  tbReal turned[3];
  tb_quat_rotate(turned, frame_quat, pos);
  tb_add3(pos, frame_pos, turned);
  if (quat) tb_quat_mul(quat, frame_quat, quat);
}

void tb_mjcf_out_of_frame(const tbReal frame_pos[3], const tbReal frame_quat[4], tbReal pos[3],
                          tbReal quat[4]) {
  tbReal back[4];
  tb_quat_conjugate(back, frame_quat);
  tb_sub3(pos, pos, frame_pos);
  tb_quat_rotate(pos, back, pos);
  if (quat) tb_quat_mul(quat, back, quat);
}
