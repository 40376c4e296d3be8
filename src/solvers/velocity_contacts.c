// Products with the rows of many contacts at once, in registers of four where the machine has them:
// nearly all contacts of a heap have three rows on one or two free bodies, with six columns each.
#include "base/kernel.h"
#include "linalg/six.h"
#include "solvers/velocity.h"

enum { ROWS = TB_CONTACT_ROWS, BODY = 6, PAIR = 2 * BODY };

// Rows on two free bodies, or on one.
TB_INLINE bool is_pair(const tbNodeRows* rows) {
  return rows->nnode == 2 && rows->width == PAIR && rows->part[1] == BODY;
}

TB_INLINE bool is_single(const tbNodeRows* rows) {
  return rows->nnode == 1 && rows->width == BODY;
}

#if TB_HAS_FOUR

// A row's sum: of four and two products, in this order.
TB_INLINE tbReal sum_six(tbFour p, tbTwo q) {
  return ((p[0] + p[2]) + (p[1] + p[3])) + (q[0] + q[1]);
}

TB_INLINE void mul_single(const tbReal* J, const tbReal* x, tbReal* out) {
  tbFour x4 = *(const tbFour*)x;
  tbTwo x2 = *(const tbTwo*)(x + 4);
  for (int r = 0; r < ROWS; r++, J += BODY) {
    out[r] = sum_six(*(const tbFour*)J * x4, *(const tbTwo*)(J + 4) * x2);
  }
}

TB_INLINE void mul_pair(const tbReal* J, const tbReal* x, const tbReal* y, tbReal* out) {
  tbFour x4 = *(const tbFour*)x, y4 = *(const tbFour*)y;
  tbTwo x2 = *(const tbTwo*)(x + 4), y2 = *(const tbTwo*)(y + 4);
  for (int r = 0; r < ROWS; r++, J += PAIR) {
    tbFour p = *(const tbFour*)J * x4 + *(const tbFour*)(J + BODY) * y4;
    tbTwo q = *(const tbTwo*)(J + 4) * x2 + *(const tbTwo*)(J + BODY + 4) * y2;
    out[r] = sum_six(p, q);
  }
}

#else

TB_INLINE void mul_single(const tbReal* J, const tbReal* x, tbReal* out) {
  for (int r = 0; r < ROWS; r++, J += BODY) {
    tbReal p[BODY];
    for (int k = 0; k < BODY; k++) p[k] = J[k] * x[k];
    out[r] = ((p[0] + p[2]) + (p[1] + p[3])) + (p[4] + p[5]);
  }
}

TB_INLINE void mul_pair(const tbReal* J, const tbReal* x, const tbReal* y, tbReal* out) {
  for (int r = 0; r < ROWS; r++, J += PAIR) {
    tbReal p[BODY];
    for (int k = 0; k < BODY; k++) p[k] = J[k] * x[k] + J[BODY + k] * y[k];
    out[r] = ((p[0] + p[2]) + (p[1] + p[3])) + (p[4] + p[5]);
  }
}

#endif

TB_INLINE void mul_all(const tbVelocity* s, int count, const int* block, const tbReal* x,
                       tbReal* out) {
  for (int k = 0; k < count; k++, out += ROWS) {
    const tbNodeRows* rows = &s->rows[block[k]];
    const tbReal* from = x + s->ldu.first[rows->node[0]];
    if (is_pair(rows)) {
      mul_pair(rows->J, from, x + s->ldu.first[rows->node[1]], out);
    } else if (is_single(rows)) {
      mul_single(rows->J, from, out);
    } else {
      tb_velocity_mul(s, block[k], x, out);
    }
  }
}

TB_INLINE void push_all(const tbVelocity* s, int count, const int* block, const tbReal* f,
                        tbReal* x) {
  for (int k = 0; k < count; k++, f += ROWS) {
    const tbNodeRows* rows = &s->rows[block[k]];
    tbReal* to = x + s->ldu.first[rows->node[0]];
    if (is_pair(rows)) {
      tb_six_add(1, f, 1, rows->J, PAIR, to, 0);
      tb_six_add(1, f, 1, rows->J + BODY, PAIR, x + s->ldu.first[rows->node[1]], 0);
    } else if (is_single(rows)) {
      tb_six_add(1, f, 1, rows->J, BODY, to, 0);
    } else {
      tb_velocity_add_impulse(s, block[k], f, x);
    }
  }
}

static void mul_narrow(const tbVelocity* s, int count, const int* block, const tbReal* x,
                       tbReal* out) {
  mul_all(s, count, block, x, out);
}

TB_WIDE static void mul_wide(const tbVelocity* s, int count, const int* block, const tbReal* x,
                             tbReal* out) {
  mul_all(s, count, block, x, out);
}

void tb_velocity_mul_contacts(const tbVelocity* s, int count, const int* block, const tbReal* x,
                              tbReal* out) {
  if (s->dense) {
    for (int k = 0; k < count; k++) tb_velocity_mul(s, block[k], x, out + ROWS * k);
  } else if (tb_wide()) {
    mul_wide(s, count, block, x, out);
  } else {
    mul_narrow(s, count, block, x, out);
  }
}

static void push_narrow(const tbVelocity* s, int count, const int* block, const tbReal* f,
                        tbReal* x) {
  push_all(s, count, block, f, x);
}

TB_WIDE static void push_wide(const tbVelocity* s, int count, const int* block, const tbReal* f,
                              tbReal* x) {
  push_all(s, count, block, f, x);
}

void tb_velocity_push_contacts(const tbVelocity* s, int count, const int* block, const tbReal* f,
                               tbReal* x) {
  if (s->dense) {
    for (int k = 0; k < count; k++) tb_velocity_add_impulse(s, block[k], f + ROWS * k, x);
  } else if (tb_wide()) {
    push_wide(s, count, block, f, x);
  } else {
    push_narrow(s, count, block, f, x);
  }
}
