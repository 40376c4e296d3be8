#include "laws/impedance.h"

#include <math.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "base/kernel.h"

static const tbReal LEAST = 1e-4, MOST = 0.9999;

void tb_impedance_check(tbReal imp[TB_NIMP]) {
  for (int i = 0; i < 2; i++) imp[i] = tb_min(MOST, tb_max(LEAST, imp[i]));
  imp[2] = tb_max(0, imp[2]);
  imp[3] = tb_min(MOST, tb_max(LEAST, imp[3]));
  imp[4] = tb_max(1, imp[4]);
}

tbReal tb_impedance(const tbReal imp[TB_NIMP], tbReal violation) {
  if (imp[0] == imp[1] || imp[2] <= TB_TINY) return 0.5 * (imp[0] + imp[1]);
  tbReal x = fabs(violation) / imp[2], y;
  if (x >= 1) return imp[1];
  if (x == 0) return imp[0];
  if (imp[4] == 1) {
    y = x;
  } else if (imp[4] == 2) {
    // The default power, 2, without the pow of the C library.
    y = x <= imp[3] ? x * x / imp[3] : 1 - (1 - x) * (1 - x) / (1 - imp[3]);
  } else if (x <= imp[3]) {
    y = tb_pow(x, imp[4]) / tb_pow(imp[3], imp[4] - 1);
  } else {
    y = 1 - tb_pow(1 - x, imp[4]) / tb_pow(1 - imp[3], imp[4] - 1);
  }
  return imp[0] + y * (imp[1] - imp[0]);
}

tbReal tb_impedance_slope(const tbReal imp[TB_NIMP], tbReal violation) {
  if (imp[0] == imp[1] || imp[2] <= TB_TINY) return 0;
  tbReal x = fabs(violation) / imp[2], y = 1;
  if (x >= 1 || x == 0) return 0;
  if (imp[4] == 2) {
    y = x <= imp[3] ? 2 * x / imp[3] : 2 * (1 - x) / (1 - imp[3]);
  } else if (imp[4] != 1 && x <= imp[3]) {
    y = imp[4] * tb_pow(x, imp[4] - 1) / tb_pow(imp[3], imp[4] - 1);
  } else if (imp[4] != 1) {
    y = imp[4] * tb_pow(1 - x, imp[4] - 1) / tb_pow(1 - imp[3], imp[4] - 1);
  }
  return copysign(y * (imp[1] - imp[0]) / imp[2], violation);
}
