#include "linalg/frontal.h"

#include <math.h>

enum { PANEL = 16 };

// c[0..n) -= l[0..depth) * u, with u `depth` rows of the given stride; two rows of c at a time.
static void update_two_rows(int n, int depth, tbReal* restrict c0, tbReal* restrict c1,
                            const tbReal* l0, const tbReal* l1, const tbReal* restrict u,
                            int stride) {
  int k = 0;
  for (; k + 4 <= depth; k += 4) {
    const tbReal* restrict u0 = u + (size_t)k * (size_t)stride, * restrict u1 = u0 + stride;
    const tbReal* restrict u2 = u1 + stride, * restrict u3 = u2 + stride;
    tbReal a0 = l0[k], a1 = l0[k + 1], a2 = l0[k + 2], a3 = l0[k + 3];
    tbReal b0 = l1[k], b1 = l1[k + 1], b2 = l1[k + 2], b3 = l1[k + 3];
    for (int j = 0; j < n; j++) {
      tbReal x0 = u0[j], x1 = u1[j], x2 = u2[j], x3 = u3[j];
      c0[j] -= (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3);
      c1[j] -= (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3);
    }
  }
  for (; k < depth; k++) {
    const tbReal* restrict u0 = u + (size_t)k * (size_t)stride;
    tbReal a0 = l0[k], b0 = l1[k];
    for (int j = 0; j < n; j++) {
      c0[j] -= a0 * u0[j];
      c1[j] -= b0 * u0[j];
    }
  }
}

static void update_row(int n, int depth, tbReal* restrict c, const tbReal* l,
                       const tbReal* restrict u, int stride) {
  for (int k = 0; k < depth; k++) {
    const tbReal* restrict row = u + (size_t)k * (size_t)stride;
    tbReal a = l[k];
    for (int j = 0; j < n; j++) c[j] -= a * row[j];
  }
}

// Rows [from, size), columns [col, size) of a -= L U with L in columns [first, last).
static void update_trailing(int size, tbReal* a, int from, int col, int first, int last) {
  int n = size - col, depth = last - first, i = from;
  const tbReal* u = a + (size_t)first * (size_t)size + col;
  if (n <= 0 || depth <= 0) return;
  for (; i + 2 <= size; i += 2) {
    tbReal *r0 = a + (size_t)i * (size_t)size, *r1 = r0 + size;
    update_two_rows(n, depth, r0 + col, r1 + col, r0 + first, r1 + first, u, size);
  }
  if (i < size) {
    tbReal* r0 = a + (size_t)i * (size_t)size;
    update_row(n, depth, r0 + col, r0 + first, u, size);
  }
}

static void exchange_rows(int size, tbReal* a, int i, int j) {
  tbReal *p = a + (size_t)i * (size_t)size, *q = a + (size_t)j * (size_t)size;
  for (int k = 0; k < size; k++) {
    tbReal t = p[k];
    p[k] = q[k];
    q[k] = t;
  }
}

// Factor columns [first, last) of all rows below, one column at a time.
static int factor_panel(int size, int width, tbReal* a, int* pivot, int first, int last,
                        tbReal floor) {
  int replaced = 0;
  for (int k = first; k < last; k++) {
    // The largest entry of the column among the rows that may be exchanged.
    int best = k;
    tbReal largest = fabs(a[(size_t)k * (size_t)size + k]);
    for (int i = k + 1; i < width; i++) {
      tbReal v = fabs(a[(size_t)i * (size_t)size + k]);
      if (v > largest) {
        largest = v;
        best = i;
      }
    }
    pivot[k] = best;
    if (best != k) exchange_rows(size, a, k, best);
    tbReal* row = a + (size_t)k * (size_t)size;
    if (!(largest > floor)) {
      row[k] = row[k] < 0 ? -floor : floor;
      replaced++;
    }
    tbReal inverse = 1 / row[k];
    for (int i = k + 1; i < size; i++) {
      tbReal* other = a + (size_t)i * (size_t)size;
      tbReal factor = other[k] * inverse;
      other[k] = factor;
      for (int j = k + 1; j < last; j++) other[j] -= factor * row[j];
    }
  }
  return replaced;
}

int tb_frontal_factor(int size, int width, tbReal* a, int* pivot, tbReal floor) {
  int replaced = 0;
  for (int first = 0; first < width; first += PANEL) {
    int last = first + PANEL < width ? first + PANEL : width;
    replaced += factor_panel(size, width, a, pivot, first, last, floor);
    // The panel's rows to the right: forward substitution with its unit lower triangle.
    for (int i = first + 1; i < last; i++) {
      tbReal* row = a + (size_t)i * (size_t)size;
      update_row(size - last, i - first, row + last, row + first,
                 a + (size_t)first * (size_t)size + last, size);
    }
    update_trailing(size, a, last, last, first, last);
  }
  return replaced;
}
