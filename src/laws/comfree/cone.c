#include "laws/comfree/cone.h"

#include <math.h>

#include "base/elementary.h"

int tb_facets_init(tbFacets* facets, int n) {
  const tbReal pi = 3.14159265358979323846;
  if (n < TB_LEAST_FACETS || n > TB_MOST_FACETS || n % 2) return 0;
  facets->n = n;
  for (int j = 0; j < n / 2; j++) {
    // The axes are exact, and opposite directions are exactly opposite.
    int axis = 4 * j == n ? 2 : j == 0 ? 1 : 0;
    facets->cosine[j] = axis ? axis == 1 : tb_cos(2 * pi * j / n);
    facets->sine[j] = axis ? axis == 2 : tb_sin(2 * pi * j / n);
    facets->cosine[j + n / 2] = -facets->cosine[j];
    facets->sine[j + n / 2] = -facets->sine[j];
  }
  return 1;
}

// Velocities of the usual four facets, along the axes.
static inline void four_facets(tbReal normal, const tbReal mu[2], const tbReal c[2], tbReal s[4]) {
  tbReal x = mu[0] * c[0], y = mu[1] * c[1];
  s[0] = normal - x;
  s[1] = normal - y;
  s[2] = normal + x;
  s[3] = normal + y;
}

// Sum of four facet impulses in the contact's frame.
static inline void add_four(const tbReal p[4], const tbReal mu[2], tbReal* push, tbReal side[2]) {
  *push += (p[0] + p[2]) + (p[1] + p[3]);
  side[0] += mu[0] * (p[2] - p[0]);
  side[1] += mu[1] * (p[3] - p[1]);
}

// A cone over two rows of velocity c with coefficients mu: facets J_n - mu d.J_s (CF eq. 7).
static void planar_cone(const tbFacets* facets, const tbFacetGain* gain, const tbReal mu[2],
                        tbReal gap, tbReal normal, const tbReal c[2], tbReal* push,
                        tbReal side[2]) {
  const tbFacetGain g = *gain;
  if (facets->n == 4) {
    tbReal s[4], p[4];
    four_facets(normal, mu, c, s);
    for (int j = 0; j < 4; j++) p[j] = tb_facet_impulse(&g, s[j], gap);
    add_four(p, mu, push, side);
    return;
  }
  for (int j = 0; j < facets->n; j++) {
    tbReal x = mu[0] * facets->cosine[j], y = mu[1] * facets->sine[j];
    tbReal p = tb_facet_impulse(&g, normal - x * c[0] - y * c[1], gap);
    *push += p;
    side[0] -= x * p;
    side[1] -= y * p;
  }
}

void tb_comfree_contact(const tbFacets* facets, const tbFacetGain* gain, int dim, const tbReal* mu,
                        tbReal gap, const tbReal* c, tbReal* impulse) {
  for (int r = 0; r < dim; r++) impulse[r] = 0;
  if (dim == 1) {
    impulse[0] = tb_facet_impulse(gain, c[0], gap);
    return;
  }
  planar_cone(facets, gain, mu, gap, c[0], c + 1, &impulse[0], impulse + 1);
  if (dim > 3) {
    tbReal p = tb_facet_impulse(gain, c[0] - mu[2] * c[3], gap);
    tbReal q = tb_facet_impulse(gain, c[0] + mu[2] * c[3], gap);
    impulse[0] += p + q;
    impulse[3] = mu[2] * (q - p);
  }
  if (dim > 4) planar_cone(facets, gain, mu + 3, gap, c[0], c + 4, &impulse[0], impulse + 4);
}

static void planar_response(const tbFacets* facets, const tbFacetGain* gain, const tbReal mu[2],
                            tbReal gap, tbReal normal, const tbReal c[2], tbReal w_normal,
                            const tbReal w[2], tbReal* push, tbReal side[2]) {
  const tbFacetGain g = *gain;
  if (facets->n == 4) {
    tbReal s[4], change[4];
    four_facets(normal, mu, c, s);
    four_facets(w_normal, mu, w, change);
    for (int j = 0; j < 4; j++) change[j] *= tb_facet_slope(&g, s[j], gap);
    add_four(change, mu, push, side);
    return;
  }
  for (int j = 0; j < facets->n; j++) {
    tbReal x = mu[0] * facets->cosine[j], y = mu[1] * facets->sine[j];
    tbReal p = tb_facet_slope(&g, normal - x * c[0] - y * c[1], gap);
    p *= w_normal - x * w[0] - y * w[1];
    *push += p;
    side[0] -= x * p;
    side[1] -= y * p;
  }
}

void tb_comfree_response(const tbFacets* facets, const tbFacetGain* gain, int dim, const tbReal* mu,
                         tbReal gap, const tbReal* c, const tbReal* w, tbReal* response) {
  for (int r = 0; r < dim; r++) response[r] = 0;
  if (dim == 1) {
    response[0] = tb_facet_slope(gain, c[0], gap) * w[0];
    return;
  }
  planar_response(facets, gain, mu, gap, c[0], c + 1, w[0], w + 1, &response[0], response + 1);
  if (dim > 3) {
    tbReal p = tb_facet_slope(gain, c[0] - mu[2] * c[3], gap) * (w[0] - mu[2] * w[3]);
    tbReal q = tb_facet_slope(gain, c[0] + mu[2] * c[3], gap) * (w[0] + mu[2] * w[3]);
    response[0] += p + q;
    response[3] = mu[2] * (q - p);
  }
  if (dim > 4) {
    planar_response(facets, gain, mu + 3, gap, c[0], c + 4, w[0], w + 4, &response[0],
                    response + 4);
  }
}
