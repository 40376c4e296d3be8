// The closed form of the complementarity-free law for one facet and for one contact. No model, no
// memory: numbers in, impulses out.
#ifndef TRIBO_LAWS_COMFREE_CONE_H_
#define TRIBO_LAWS_COMFREE_CONE_H_

#include "tribo/types.h"

// Facets of a sliding or rolling cone. Torsion always has two.
enum { TB_LEAST_FACETS = 4, TB_MOST_FACETS = 32 };

// Impulse gains of one facet, CF eq. 8 times dt.
typedef struct {
  tbReal stiff;  // kg/s, K dt: impulse per metre of overlap
  tbReal slope;  // kg, (K dt + D) dt: impulse per m/s of predicted velocity
  tbReal most;   // kg: impulse per m/s that is missing to the fastest correction
  tbReal speed;  // m/s: that fastest correction
  tbReal dt;     // s
} tbFacetGain;

// Unit directions of n facets, evenly spread and symmetric: n even, TB_LEAST_FACETS ... MOST.
typedef struct {
  int n;
  tbReal cosine[TB_MOST_FACETS], sine[TB_MOST_FACETS];
} tbFacets;

// The directions; false where n is odd or out of range.
int tb_facets_init(tbFacets* facets, int n);

// The impulse of a facet whose predicted velocity is s, at a gap (CF eq. 8):
//   p = (-K (s dt + gap) - D s)+ dt = (-stiff gap - slope s)+
// Since slope >= stiff dt, it is zero where the prediction is feasible, s dt + gap >= 0. An open
// gap takes its share of the velocity first, so that damping does not act on a facet that stays
// open. What is already leaving at `speed` is not pushed any further.
static inline tbReal tb_facet_impulse(const tbFacetGain* gain, tbReal s, tbReal gap) {
  tbReal p = gap > 0 ? -gain->slope * (s + gap / gain->dt) : -(gain->stiff * gap + gain->slope * s);
  tbReal cap = gain->most * (gain->speed - s);
  p = p < cap ? p : cap;
  return p > 0 ? p : 0;
}

// How fast that impulse falls with s: 0 where the facet does not push.
static inline tbReal tb_facet_slope(const tbFacetGain* gain, tbReal s, tbReal gap) {
  tbReal p = gap > 0 ? -gain->slope * (s + gap / gain->dt) : -(gain->stiff * gap + gain->slope * s);
  tbReal cap = gain->most * (gain->speed - s);
  tbReal slope = p < cap ? gain->slope : gain->most;
  return (p < cap ? p : cap) > 0 ? slope : 0;
}

// Impulse of a contact in its frame (normal, two tangents, torsion, two rolling) from its predicted
// velocity c, one facet after the other (CF eq. 6-8). `mu` has a coefficient for each row but the
// first. Inside the friction cone by construction.
void tb_comfree_contact(const tbFacets* facets, const tbFacetGain* gain, int dim, const tbReal* mu,
                        tbReal gap, const tbReal* c, tbReal* impulse);

// How much that impulse falls when the velocity changes by w: sum of slope (e.w) e over facets e.
void tb_comfree_response(const tbFacets* facets, const tbFacetGain* gain, int dim, const tbReal* mu,
                         tbReal gap, const tbReal* c, const tbReal* w, tbReal* response);

#endif
