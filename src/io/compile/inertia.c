// Volumes and moments of the primitive shapes, and the combination of rigid parts.
#include <math.h>

#include "base/elementary.h"
#include "io/compile/internal.h"
#include "spatial/eig3.h"

static const tbReal PI = 3.14159265358979323846;

// Area of an ellipsoid by Thomsen's formula, within 1.1 % of the elliptic integral (as MuJoCo).
static tbReal ellipsoid_area(const tbReal r[3]) {
  const tbReal p = 1.6075;
  tbReal xy = tb_pow(r[0] * r[1], p), yz = tb_pow(r[1] * r[2], p), zx = tb_pow(r[2] * r[0], p);
  return 4 * PI * tb_pow((xy + yz + zx) / 3, 1 / p);
}

static tbReal shape_area(int type, const tbReal size[3]) {
  tbReal r = size[0], h = size[1];
  switch (type) {
    case TB_GEOM_SPHERE: return 4 * PI * r * r;
    case TB_GEOM_CAPSULE: return 4 * PI * r * r + 4 * PI * r * h;
    case TB_GEOM_CYLINDER: return 2 * PI * r * r + 4 * PI * r * h;
    case TB_GEOM_ELLIPSOID: return ellipsoid_area(size);
    case TB_GEOM_HFIELD:
    case TB_GEOM_BOX: return 8 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    default: return 0;
  }
}

// The inertia of a height field is that of the box of its size, as in MuJoCo.
tbReal tb_shape_volume(int type, const tbReal size[3], bool shell) {
  if (shell) return shape_area(type, size);
  tbReal r = size[0], h = size[1];
  switch (type) {
    case TB_GEOM_SPHERE: return 4 * PI / 3 * r * r * r;
    case TB_GEOM_CAPSULE: return PI * (2 * h + 4 * r / 3) * r * r;
    case TB_GEOM_CYLINDER: return 2 * PI * h * r * r;
    case TB_GEOM_ELLIPSOID: return 4 * PI / 3 * size[0] * size[1] * size[2];
    case TB_GEOM_HFIELD:
    case TB_GEOM_BOX: return 8 * size[0] * size[1] * size[2];
    default: return 0;
  }
}

// Two half balls (shell: half spheres) at the ends of a cylinder (shell: its lateral surface). The
// centre of mass of a half ball of radius r is 3/8 r (half sphere: r/2) from its flat side, so that
// with the flat side at height h the mean of z^2 is h^2 + 2 h (3/8 r) + <z^2 within the ball>.
static void capsule_inertia(tbReal r, tbReal h, bool shell, tbReal moments[3]) {
  tbReal caps, centre, ball;
  if (shell) {
    caps = r / (r + h);
    centre = r / 2;
    ball = 2 * r * r / 3;
  } else {
    caps = 2 * r / (2 * r + 3 * h);
    centre = 3 * r / 8;
    ball = 2 * r * r / 5;
  }
  tbReal rest = 1 - caps;
  tbReal along = shell ? r * r : r * r / 2;
  moments[0] = moments[1] = rest * (along / 2 + h * h / 3) + caps * (ball + h * h + 2 * h * centre);
  moments[2] = rest * along + caps * ball;
}

// Lateral surface and two discs, weighted by area.
static void cylinder_shell_inertia(tbReal r, tbReal h, tbReal moments[3]) {
  tbReal discs = r / (r + 2 * h), mantle = 1 - discs;
  moments[0] = moments[1] = mantle * (r * r / 2 + h * h / 3) + discs * (r * r / 4 + h * h);
  moments[2] = mantle * r * r + discs * r * r / 2;
}

// Three pairs of plates, weighted by area.
static void box_shell_inertia(const tbReal size[3], tbReal moments[3]) {
  tbReal square[3] = {0, 0, 0}, total = 0;
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    tbReal area = size[i] * size[j];
    square[k] += area * size[k] * size[k];
    square[i] += area * size[i] * size[i] / 3;
    square[j] += area * size[j] * size[j] / 3;
    total += area;
  }
  for (int k = 0; k < 3; k++) moments[k] = (square[(k + 1) % 3] + square[(k + 2) % 3]) / total;
}

// The layer between a solid ellipsoid and one whose radii are larger by a micrometre, as in MuJoCo:
// with V the product of the radii and S = a^2 + b^2, (V' S' - V S) / (V' - V) / 5.
static void ellipsoid_shell_inertia(const tbReal r[3], tbReal moments[3]) {
  const tbReal thick = 1e-6;
  tbReal grown = r[0] * r[1] + r[1] * r[2] + r[2] * r[0] + thick * (r[0] + r[1] + r[2] + thick);
  for (int k = 0; k < 3; k++) {
    tbReal a = r[(k + 1) % 3] + thick, b = r[(k + 2) % 3] + thick;
    moments[k] = (a * a + b * b + 2 * r[0] * r[1] * r[2] * (a + b - thick) / grown) / 5;
  }
}

void tb_shape_inertia(int type, const tbReal size[3], bool shell, tbReal moments[3]) {
  tbReal r = size[0], h = size[1];
  switch (type) {
    case TB_GEOM_SPHERE:
      moments[0] = moments[1] = moments[2] = (shell ? 2.0 / 3 : 2.0 / 5) * r * r;
      break;
    case TB_GEOM_CAPSULE: capsule_inertia(r, h, shell, moments); break;
    case TB_GEOM_CYLINDER:
      if (shell) {
        cylinder_shell_inertia(r, h, moments);
      } else {
        moments[0] = moments[1] = r * r / 4 + h * h / 3;
        moments[2] = r * r / 2;
      }
      break;
    case TB_GEOM_ELLIPSOID:
      if (shell) {
        ellipsoid_shell_inertia(size, moments);
      } else {
        for (int k = 0; k < 3; k++) {
          tbReal a = size[(k + 1) % 3], b = size[(k + 2) % 3];
          moments[k] = (a * a + b * b) / 5;
        }
      }
      break;
    case TB_GEOM_HFIELD:
    case TB_GEOM_BOX:
      if (shell) {
        box_shell_inertia(size, moments);
      } else {
        for (int k = 0; k < 3; k++) {
          tbReal a = size[(k + 1) % 3], b = size[(k + 2) % 3];
          moments[k] = (a * a + b * b) / 3;
        }
      }
      break;
    default: tb_zero3(moments); break;
  }
}

bool tb_inertia_diagonalize(const tbReal full[6], tbReal moments[3], tbReal quat[4]) {
  tbReal A[9] = {full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2]};
  tb_eig3(moments, quat, A);
  return moments[2] > 0;
}

// Add R diag(moments) R^T + mass (|d|^2 1 - d d^T) to `full`.
static void add_part(tbReal full[6], const tbInertiaPart* part, const tbReal d[3]) {
  tbReal R[9];
  tb_quat_to_mat(R, part->quat);
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int e = 0; e < 6; e++) {
    int i = row[e], j = column[e];
    tbReal turned = 0;
    for (int k = 0; k < 3; k++) turned += R[3 * i + k] * part->moments[k] * R[3 * j + k];
    full[e] += turned + part->mass * ((i == j ? tb_dot3(d, d) : 0) - d[i] * d[j]);
  }
}

tbInertiaPart tb_inertia_combine(const tbInertiaPart* parts, int n) {
  tbInertiaPart total = {.quat = {1, 0, 0, 0}};
  for (int i = 0; i < n; i++) {
    total.mass += parts[i].mass;
    tb_add_scaled3(total.pos, total.pos, parts[i].mass, parts[i].pos);
  }
  if (!(total.mass >= TB_COMPILE_TINY)) return (tbInertiaPart){.quat = {1, 0, 0, 0}};
  tb_scale3(total.pos, total.pos, 1 / total.mass);

  tbReal full[6] = {0};
  for (int i = 0; i < n; i++) {
    tbReal offset[3];
    tb_sub3(offset, parts[i].pos, total.pos);
    add_part(full, &parts[i], offset);
  }
  tb_inertia_diagonalize(full, total.moments, total.quat);
  return total;
}
