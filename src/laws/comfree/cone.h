// The closed form of the complementarity-free law for one facet and for one contact, without model
// and memory: numbers in, impulses out.
#ifndef TRIBO_LAWS_COMFREE_CONE_H_
#define TRIBO_LAWS_COMFREE_CONE_H_

#include "tribo/types.h"

// Number of facets of a sliding or rolling cone. Torsion always has two.
enum { TB_LEAST_FACETS = 4, TB_MOST_FACETS = 32 };

// Impulse gains of one facet, CF eq. 8 times dt.
typedef struct {
  tbReal stiff;  // kg/s, K dt: impulse per metre of overlap
  tbReal slope;  // kg, (K dt + D) dt: impulse per m/s of predicted velocity
  tbReal most;   // kg: impulse per m/s of difference to the fastest correction
  tbReal speed;  // m/s: the fastest correction
  tbReal dt;     // s
} tbFacetGain;

// Unit directions of n facets, evenly spaced and symmetric: n even, TB_LEAST_FACETS ... MOST.
typedef struct {
  int n;
  tbReal cosine[TB_MOST_FACETS], sine[TB_MOST_FACETS];
} tbFacets;

// Set the directions; false where n is odd or out of range.
int tb_facets_init(tbFacets* facets, int n);

// The impulse of a facet whose predicted velocity is s, at a gap (CF eq. 8):
//   p = (-K (s dt + gap) - D s)+ dt = (-stiff gap - slope s)+
// Since slope >= stiff dt, the impulse is zero where the prediction is feasible, s dt + gap >= 0.
// For an open gap, the velocity that merely closes the gap is subtracted first, so that damping
// does not act on a facet that stays open. A facet that already separates at `speed` is not pushed
// any further.
static inline tbReal tb_facet_impulse(const tbFacetGain* gain, tbReal s, tbReal gap) {
  tbReal p = gap > 0 ? -gain->slope * (s + gap / gain->dt) : -(gain->stiff * gap + gain->slope * s);
  tbReal cap = gain->most * (gain->speed - s);
  p = p < cap ? p : cap;
  return p > 0 ? p : 0;
}

// The derivative -dp/ds of this impulse: 0 where the facet does not push.
static inline tbReal tb_facet_slope(const tbFacetGain* gain, tbReal s, tbReal gap) {
  tbReal p = gap > 0 ? -gain->slope * (s + gap / gain->dt) : -(gain->stiff * gap + gain->slope * s);
  tbReal cap = gain->most * (gain->speed - s);
  tbReal slope = p < cap ? gain->slope : gain->most;
  return (p < cap ? p : cap) > 0 ? slope : 0;
}

// Impulse of a contact in its frame (normal, two tangents, torsion, two rolling) from its predicted
// velocity c, summed over its facets (CF eq. 6-8). `mu` has a coefficient for each row but the
// first. The impulse lies inside the friction cone by construction.
void tb_comfree_contact(const tbFacets* facets, const tbFacetGain* gain, int dim, const tbReal* mu,
                        tbReal gap, const tbReal* c, tbReal* impulse);

// The decrease of that impulse when the velocity changes by w: sum of slope (e.w) e over facets e.
void tb_comfree_response(const tbFacets* facets, const tbFacetGain* gain, int dim, const tbReal* mu,
                         tbReal gap, const tbReal* c, const tbReal* w, tbReal* response);

#endif
