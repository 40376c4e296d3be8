// The closed form itself: contact by contact as the step does, against arrays over contacts that
// the compiler vectorises (worlds and contacts are the same to it).
#include <stdlib.h>
#include <string.h>

#include "base/kernel.h"
#include "base/rng.h"
#include "comfree_bench.h"
#include "laws/comfree/cone.h"

enum { CONTACTS = 4096 };

typedef struct {
  tbFacets facets;
  tbFacetGain* gain;
  double *mu, *gap, *c, *impulse;  // by contact: 1, 1, 3, 3
  // by component: stiff, slope, most, mu, gap, c0, c1, c2, out 0, 1, 2
  double* soa[11];
} Work;

static void contact_by_contact(void* context) {
  Work* w = context;
  for (int i = 0; i < CONTACTS; i++) {
    double mu[2] = {w->mu[i], w->mu[i]};
    tb_comfree_contact(&w->facets, &w->gain[i], 3, mu, w->gap[i], w->c + 3 * i, w->impulse + 3 * i);
  }
}

// One facet as selections instead of branches.
static inline double facet(double base, double slope, double most, double s) {
  double p = base - slope * s, cap = most * (1 - s);
  p = p < cap ? p : cap;
  return p > 0 ? p : 0;
}

// Four facets along the axes, all contacts in one loop.
static void over_contacts(void* context) {
  const Work* w = context;
  const double* TB_RESTRICT stiff = w->soa[0];
  const double* TB_RESTRICT slope = w->soa[1];
  const double* TB_RESTRICT most = w->soa[2];
  const double* TB_RESTRICT mu = w->soa[3];
  const double* TB_RESTRICT gap = w->soa[4];
  const double* TB_RESTRICT c0 = w->soa[5];
  const double* TB_RESTRICT c1 = w->soa[6];
  const double* TB_RESTRICT c2 = w->soa[7];
  double* TB_RESTRICT out0 = w->soa[8];
  double* TB_RESTRICT out1 = w->soa[9];
  double* TB_RESTRICT out2 = w->soa[10];
  for (int i = 0; i < CONTACTS; i++) {
    double base = -stiff[i] * gap[i], m = mu[i];
    double a = facet(base, slope[i], most[i], c0[i] - m * c1[i]);
    double b = facet(base, slope[i], most[i], c0[i] - m * c2[i]);
    double c = facet(base, slope[i], most[i], c0[i] + m * c1[i]);
    double d = facet(base, slope[i], most[i], c0[i] + m * c2[i]);
    out0[i] = a + b + c + d;
    out1[i] = m * (c - a);
    out2[i] = m * (d - b);
  }
}

void bench_kernel(tbBench* bench) {
  Work w;
  double* memory = calloc((size_t)CONTACTS * 20, sizeof(double));
  w.gain = calloc(CONTACTS, sizeof *w.gain);
  if (!memory || !w.gain || !tb_facets_init(&w.facets, 4)) return;
  w.mu = memory;
  w.gap = memory + CONTACTS;
  w.c = memory + 2 * CONTACTS;
  w.impulse = memory + 5 * CONTACTS;
  for (int k = 0; k < 11; k++) w.soa[k] = memory + (8 + k) * CONTACTS;
  tbRng rng = {3};
  for (int i = 0; i < CONTACTS; i++) {
    double M = tb_rng_uniform(&rng, 0.1, 10);
    w.gain[i] = (tbFacetGain){0.2 * M, 0.0014 * M, M, 1, 0.002};
    w.mu[i] = tb_rng_uniform(&rng, 0.2, 1);
    w.gap[i] = -tb_rng_uniform(&rng, 0, 0.002);
    for (int k = 0; k < 3; k++) w.c[3 * i + k] = tb_rng_uniform(&rng, -0.1, 0.1);
    const double column[8] = {w.gain[i].stiff, w.gain[i].slope, M, w.mu[i], w.gap[i], w.c[3 * i],
                              w.c[3 * i + 1],  w.c[3 * i + 2]};
    for (int k = 0; k < 8; k++) w.soa[k][i] = column[k];
  }
  double seconds[2] = {tb_bench_seconds(contact_by_contact, NULL, &w, 9, 0.02),
                       tb_bench_seconds(over_contacts, NULL, &w, 9, 0.02)};
  double worst = 0;
  for (int i = 0; i < CONTACTS; i++) {
    for (int k = 0; k < 3; k++) {
      double difference = w.impulse[3 * i + k] - w.soa[8 + k][i];
      worst = difference * difference > worst * worst ? difference : worst;
    }
  }
  tbTable* table = tb_bench_table(bench, "kernel");
  const char* const names[2] = {"contact by contact", "arrays over contacts"};
  for (int i = 0; i < 2; i++) {
    tb_table_row(table);
    tb_table_text(table, "layout", names[i]);
    tb_table_real(table, "ns_per_contact", 1e9 * seconds[i] / CONTACTS);
    tb_table_real(table, "largest_difference", worst);
  }
  free(memory);
  free(w.gain);
}
