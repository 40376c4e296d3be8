// J^T W J of many contacts along a chain, as the composite inertia of its bodies is found: the
// loads P^T W P of all that lies beyond a dof add up to K, and its entries with any dof i on the
// way to the root are
//
//     S_i . K S,    S . K S_i                                                               (1)
//
// so that a chain of n dofs costs n^2 for all of its contacts, not for each of them.
#include "solvers/velocity_chains.h"

#include <string.h>

#include "base/kernel.h"

enum { TWIST = 6, LOAD = TWIST * TWIST };

bool tb_chains_start(tbVelocity* s, tbArena* arena) {
  struct tbVelocityDense* w = s->dense;
  w->motion = tb_arena_alloc(arena, sizeof(tbReal) * TWIST * ((size_t)w->n + 1));
  w->load = tb_arena_alloc(arena, sizeof(tbReal) * LOAD * ((size_t)w->n + 1));
  if (arena->failed) return false;
  for (int k = 0; k < TWIST; k++) {
    for (int at = 0; at < w->n; at++) {
      w->motion[k * w->n + at] = s->chains->motion[TWIST * s->dof[at] + k];
    }
  }
  return true;
}

void tb_chains_clear(tbVelocity* s) {
  memset(s->dense->load, 0, sizeof(tbReal) * LOAD * (size_t)s->dense->n);
}

void tb_chains_add(tbVelocity* s, int block, const tbReal* W) {
  int dim = s->dense->rows[block].dim;
  const tbReal* P = s->chains->P[block];
  tbReal* load = s->dense->load + LOAD * s->place[s->chains->last[block]];
  for (int r = 0; r < dim; r++) {
    tbReal WP[TWIST] = {0};
    for (int c = 0; c < dim; c++) {
      for (int k = 0; k < TWIST; k++) WP[k] += W[r * dim + c] * P[c * TWIST + k];
    }
    for (int i = 0; i < TWIST; i++) {
      for (int k = 0; k < TWIST; k++) load[i * TWIST + k] += P[r * TWIST + i] * WP[k];
    }
  }
}

// out = S^T x over the places first ... last, S by rows.
static void along_chain(const struct tbVelocityDense* w, int first, int last, const tbReal* x,
                        tbReal* TB_RESTRICT out) {
  const tbReal *S0 = w->motion, *S1 = S0 + w->n, *S2 = S1 + w->n, *S3 = S2 + w->n;
  const tbReal *S4 = S3 + w->n, *S5 = S4 + w->n;
  for (int k = first; k <= last; k++) {
    out[k] =
        (x[0] * S0[k] + x[1] * S1[k] + x[2] * S2[k]) + (x[3] * S3[k] + x[4] * S4[k] + x[5] * S5[k]);
  }
}

// K S of the dof at a place, and K^T S.
static void load_of(const struct tbVelocityDense* w, int at, tbReal ahead[TWIST],
                    tbReal back[TWIST]) {
  const tbReal* K = w->load + LOAD * at;
  for (int k = 0; k < TWIST; k++) back[k] = 0;
  for (int i = 0; i < TWIST; i++) {
    tbReal own = w->motion[i * w->n + at], sum = 0;
    for (int k = 0; k < TWIST; k++) {
      sum += K[i * TWIST + k] * w->motion[k * w->n + at];
      back[k] += K[i * TWIST + k] * own;
    }
    ahead[i] = sum;
  }
}

void tb_chains_spread(tbVelocity* s) {
  const struct tbVelocityDense* w = s->dense;
  const tbForest* f = &s->forest;
  for (int at = w->n - 1; at >= 0; at--) {
    int dof = s->dof[at], count = f->rownnz[dof], stride = w->H.stride;
    const int* way = f->colind + f->rowadr[dof];
    tbReal ahead[TWIST], back[TWIST], lower[TB_SOFT_DENSE], upper[TB_SOFT_DENSE];
    load_of(w, at, ahead, back);
    along_chain(w, s->place[way[0]], at, back, lower);
    if (!s->symmetric) along_chain(w, s->place[way[0]], at, ahead, upper);
    w->H.H[at * (stride + 1)] += lower[at];
    for (int k = 0; k < count - 1; k++) {
      int place = s->place[way[k]];
      w->H.H[at * stride + place] += lower[place];
      if (!s->symmetric) w->H.H[place * stride + at] += upper[place];
    }
    if (count < 2) continue;
    tbReal* parent = w->load + LOAD * s->place[way[count - 2]];
    for (int k = 0; k < LOAD; k++) parent[k] += w->load[LOAD * at + k];
  }
}
