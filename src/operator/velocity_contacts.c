// Products with the rows of many contacts at once, in SIMD registers of four if available: nearly
// all contacts of a heap have three rows on one or two free bodies, with six columns each.
#include "operator/body_rows.h"
#include "operator/velocity.h"

enum { ROWS = TB_CONTACT_ROWS };

TB_INLINE void mul_all(const tbVelocity* s, int count, const int* block, const tbReal* x,
                       tbReal* out) {
  for (int k = 0; k < count; k++, out += ROWS) {
    const tbNodeRows* rows = &s->rows[block[k]];
    const tbReal* from = x + s->ldu.first[rows->node[0]];
    if (rows->bodies == 2) {
      tb_contact_mul_pair(rows->J, from, x + s->ldu.first[rows->node[1]], out);
    } else if (rows->bodies == 1) {
      tb_contact_mul_single(rows->J, from, out);
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
    if (rows->bodies == 2) {
      tb_contact_push_pair(rows->J, f, to, x + s->ldu.first[rows->node[1]]);
    } else if (rows->bodies == 1) {
      tb_contact_push_single(rows->J, f, to);
    } else {
      tb_velocity_apply_transposed(s, block[k], f, x);
    }
  }
}

static void mul_generic(const tbVelocity* s, int count, const int* block, const tbReal* x,
                        tbReal* out) {
  mul_all(s, count, block, x, out);
}

TB_WIDE static void mul_avx2(const tbVelocity* s, int count, const int* block, const tbReal* x,
                             tbReal* out) {
  mul_all(s, count, block, x, out);
}

void tb_velocity_mul_contacts(const tbVelocity* s, int count, const int* block, const tbReal* x,
                              tbReal* out) {
  if (s->dense) {
    for (int k = 0; k < count; k++) tb_velocity_mul(s, block[k], x, out + ROWS * k);
  } else if (tb_wide()) {
    mul_avx2(s, count, block, x, out);
  } else {
    mul_generic(s, count, block, x, out);
  }
}

static void push_generic(const tbVelocity* s, int count, const int* block, const tbReal* f,
                         tbReal* x) {
  push_all(s, count, block, f, x);
}

TB_WIDE static void push_avx2(const tbVelocity* s, int count, const int* block, const tbReal* f,
                              tbReal* x) {
  push_all(s, count, block, f, x);
}

void tb_velocity_push_contacts(const tbVelocity* s, int count, const int* block, const tbReal* f,
                               tbReal* x) {
  if (s->dense) {
    for (int k = 0; k < count; k++) tb_velocity_apply_transposed(s, block[k], f + ROWS * k, x);
  } else if (tb_wide()) {
    push_avx2(s, count, block, f, x);
  } else {
    push_generic(s, count, block, f, x);
  }
}
