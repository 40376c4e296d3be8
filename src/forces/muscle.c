#include "forces/muscle.h"

#include "base/minmax.h"

static const tbReal SMALLEST = 1e-15;

// Length in units of the optimal fibre length, and that length.
static tbReal scaled_length(tbReal length, const tbReal lengthrange[2], const tbReal prm[9],
                            tbReal* optimal) {
  *optimal = (lengthrange[1] - lengthrange[0]) / tb_max(SMALLEST, prm[1] - prm[0]);
  return prm[0] + (length - lengthrange[0]) / tb_max(SMALLEST, *optimal);
}

static tbReal peak_force(tbReal acc0, const tbReal prm[9]) {
  return prm[2] < 0 ? prm[3] / tb_max(SMALLEST, acc0) : prm[2];
}

// Active force over length: a bump of four parabolas between lmin and lmax with its top at 1.
static tbReal length_factor(tbReal L, tbReal lmin, tbReal lmax) {
  if (L < lmin || L > lmax) return 0;
  tbReal a = 0.5 * (lmin + 1), b = 0.5 * (1 + lmax);
  if (L <= a) {
    tbReal x = (L - lmin) / tb_max(SMALLEST, a - lmin);
    return 0.5 * x * x;
  }
  if (L <= 1) {
    tbReal x = (1 - L) / tb_max(SMALLEST, 1 - a);
    return 1 - 0.5 * x * x;
  }
  if (L <= b) {
    tbReal x = (L - 1) / tb_max(SMALLEST, b - 1);
    return 1 - 0.5 * x * x;
  }
  tbReal x = (lmax - L) / tb_max(SMALLEST, lmax - b);
  return 0.5 * x * x;
}

// Active force over velocity and its slope.
static tbReal velocity_factor(tbReal V, tbReal fvmax, tbReal* slope) {
  tbReal y = fvmax - 1;
  *slope = 0;
  if (V <= -1) return 0;
  if (V <= 0) {
    *slope = 2 * (V + 1);
    return (V + 1) * (V + 1);
  }
  if (V <= y) {
    *slope = 2 * (y - V) / tb_max(SMALLEST, y);
    return fvmax - (y - V) * (y - V) / tb_max(SMALLEST, y);
  }
  return fvmax;
}

tbReal tb_muscle_gain(tbReal length, tbReal velocity, const tbReal lengthrange[2], tbReal acc0,
                      const tbReal prm[9]) {
  tbReal optimal, slope, L = scaled_length(length, lengthrange, prm, &optimal);
  tbReal V = velocity / tb_max(SMALLEST, optimal * prm[6]);
  return -peak_force(acc0, prm) * length_factor(L, prm[4], prm[5]) *
         velocity_factor(V, prm[8], &slope);
}

tbReal tb_muscle_gain_velocity(tbReal length, tbReal velocity, const tbReal lengthrange[2],
                               tbReal acc0, const tbReal prm[9]) {
  tbReal optimal, slope, L = scaled_length(length, lengthrange, prm, &optimal);
  tbReal unit = tb_max(SMALLEST, optimal * prm[6]);
  velocity_factor(velocity / unit, prm[8], &slope);
  return -peak_force(acc0, prm) * length_factor(L, prm[4], prm[5]) * slope / unit;
}

tbReal tb_muscle_bias(tbReal length, const tbReal lengthrange[2], tbReal acc0,
                      const tbReal prm[9]) {
  tbReal optimal, L = scaled_length(length, lengthrange, prm, &optimal);
  tbReal b = 0.5 * (1 + prm[5]), force = peak_force(acc0, prm) * prm[7];
  if (L <= 1) return 0;
  if (L <= b) {
    tbReal x = (L - 1) / tb_max(SMALLEST, b - 1);
    return -force * 0.5 * x * x;
  }
  return -force * (0.5 + (L - b) / tb_max(SMALLEST, b - 1));
}

// Smooth step of order five from 0 to 1.
static tbReal sigmoid(tbReal x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return x * x * x * (10 + x * (6 * x - 15));
}

tbReal tb_muscle_dynamics(tbReal ctrl, tbReal act, const tbReal prm[3]) {
  tbReal input = tb_min(1, tb_max(0, ctrl)), level = tb_min(1, tb_max(0, act));
  tbReal rise = prm[0] * (0.5 + 1.5 * level), fall = prm[1] / (0.5 + 1.5 * level);
  tbReal difference = input - act, tau;
  if (prm[2] < SMALLEST) {
    tau = difference > 0 ? rise : fall;
  } else {
    tau = fall + (rise - fall) * sigmoid(difference / prm[2] + 0.5);
  }
  return difference / tb_max(SMALLEST, tau);
}
