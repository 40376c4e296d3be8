// Contacts of parallel edges: if an edge of a and an edge of b are nearly parallel and separated,
// the closest points are one pair of many along the common stretch, which ends at corners of either
// edge. Each of these corners makes a contact with the nearest point of the other edge, with a
// normal of its own.
#include "base/minmax.h"
#include "collide/convex/feature_facing.h"

// Two edges count as parallel if the sine of their angle is at most PARALLEL. An edge counts as
// perpendicular to the direction between the closest points if the cosine of its angle to it is
// less than LEVEL.
#define PARALLEL 0.1
#define LEVEL 0.1
// Smallest cosine between the normal of such a contact and the closest direction.
#define MIN_COSINE 0.7
// Maximum number of contacts: more would only add constraint rows.
#define MOST 4

typedef struct {
  const tbReal* x[2];    // end points
  tbReal e[3], length2;  // from the first end to the other
  int id[2];
} Edge;

typedef struct {
  const tbReal* n;
  tbReal apart, margin;
  tbContactPoint* contacts;
  int count;
} Stretch;

static bool edge_of(const tbFacingFeature* facing, int i, const tbReal n[3], Edge* edge) {
  int j = i + 1 < facing->count ? i + 1 : 0;
  edge->x[0] = facing->point[i];
  edge->x[1] = facing->point[j];
  edge->id[0] = facing->id[i];
  edge->id[1] = facing->id[j];
  tb_sub3(edge->e, facing->point[j], facing->point[i]);
  edge->length2 = tb_dot3(edge->e, edge->e);
  tbReal along = tb_dot3(edge->e, n);
  return edge->length2 > 0 && along * along < LEVEL * LEVEL * edge->length2;
}

static bool is_duplicate(const Stretch* s, const tbReal pos[3], uint32_t feature) {
  for (int i = 0; i < s->count; i++) {
    tbReal diff[3];
    tb_sub3(diff, s->contacts[i].pos, pos);
    if (s->contacts[i].feature == feature || tb_dot3(diff, diff) < s->apart * s->apart) return true;
  }
  return false;
}

// Adds the ends of edge f along edge g. `sign` is 1 if f belongs to a.
static void add_ends(Stretch* s, const Edge* f, const Edge* g, int sign) {
  for (int k = 0; k < 2 && s->count < MOST; k++) {
    tbReal arm[3], foot[3], way[3], pos[3];
    tb_sub3(arm, f->x[k], g->x[0]);
    tbReal t = tb_min(tb_max(tb_dot3(arm, g->e) / g->length2, 0), 1);
    tb_add_scaled3(foot, g->x[0], t, g->e);
    tb_sub3(way, foot, f->x[k]);
    tbReal dist = tb_norm3(way);
    if (!(dist > 0) || !(dist <= s->margin)) continue;
    tb_scale3(way, way, sign / dist);
    tb_add3(pos, foot, f->x[k]);
    tb_scale3(pos, pos, 0.5);
    uint32_t feature = TB_FEATURE(sign > 0 ? 1 : 2, f->id[k], 0);
    if (!(tb_dot3(way, s->n) > MIN_COSINE) || is_duplicate(s, pos, feature)) continue;
    tb_contact_set(&s->contacts[s->count++], pos, way, dist, feature);
  }
}

int tb_parallel_edges(const tbFacingFeature* a, const tbFacingFeature* b, const tbReal n[3],
                      tbReal apart, tbReal margin, tbContactPoint* contacts, int count) {
  Stretch s = {.n = n, .apart = apart, .margin = margin, .contacts = contacts, .count = count};
  for (int i = 0; i < a->count; i++) {
    Edge f, g;
    if (!edge_of(a, i, n, &f)) continue;
    for (int j = 0; j < b->count && s.count < MOST; j++) {
      if (!edge_of(b, j, n, &g)) continue;
      tbReal cross[3];
      tb_cross(cross, f.e, g.e);
      if (tb_dot3(cross, cross) > PARALLEL * PARALLEL * f.length2 * g.length2) continue;
      add_ends(&s, &f, &g, 1);
      add_ends(&s, &g, &f, -1);
    }
  }
  return s.count;
}
