// Plane and box: the four lowest corners.
#include "collide/pairs.h"

// Sign of corner i along axis k: + if bit k of i is set.
static tbReal corner_sign(int corner, int k) {
  return corner & (1 << k) ? 1 : -1;
}

// Mask of the corners to report: those below the centre, at most four, then corners at the centre's
// height (an edge exactly down). If a size is zero, coincident corners are reported once; the box
// is then flat, and all of its distinct corners count.
static unsigned pick_corners(const tbReal size[3], const tbReal height[8]) {
  int skip = 0, distinct = 8;
  for (int k = 0; k < 3; k++) {
    if (size[k] > 0) continue;
    skip |= 1 << k;
    distinct /= 2;
  }
  unsigned picked = 0;
  int count = 0;
  for (int i = 0; i < 8; i++) {
    if ((i & skip) || (distinct == 8 && !(height[i] < 0))) continue;
    picked |= 1u << i;
    count++;
  }
  for (int i = 0; i < 8 && count < 4 && distinct == 8; i++) {
    if (height[i] == 0) {
      picked |= 1u << i;
      count++;
    }
  }
  return picked;
}

int tb_collide_plane_box(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                         tbCollideCache* warm) {
  (void)warm;
  tbReal n[3] = {a->mat[2], a->mat[5], a->mat[8]}, local[3], from_plane[3], height[8];
  tb_sub3(from_plane, b->pos, a->pos);
  tbReal center = tb_dot3(from_plane, n);
  tb_mul_mat3t_vec3(local, b->mat, n);
  for (int k = 0; k < 3; k++) local[k] *= b->size[k];
  tbReal reach = fabs(local[0]) + fabs(local[1]) + fabs(local[2]);
  if (!(center - reach <= margin)) return 0;

  // Heights of the corners relative to the centre; opposite corners are exact negatives.
  for (int i = 0; i < 4; i++) {
    height[i] = corner_sign(i, 0) * local[0] + corner_sign(i, 1) * local[1] - local[2];
    height[7 - i] = -height[i];
  }
  unsigned picked = pick_corners(b->size, height);
  int count = 0;
  for (int i = 0; i < 8; i++) {
    tbReal dist = center + height[i];
    if (!(picked & (1u << i)) || !(dist <= margin)) continue;
    tbReal corner[3], pos[3];
    for (int k = 0; k < 3; k++) corner[k] = corner_sign(i, k) * b->size[k];
    tb_mul_mat3_vec3(pos, b->mat, corner);
    tb_add3(pos, pos, b->pos);
    tb_add_scaled3(pos, pos, -0.5 * dist, n);
    tb_contact_set(&out[count++], pos, n, dist, (uint32_t)i);
  }
  return count;
}
