// Constants of tendons and actuators at the reference pose (docs/manual/constants.md, eq. 4, 5,
// 7-9).
#include "dynamics/constants/lengths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"

// --- solves with one sparse row -------------------------------------------------------------

// Dofs of a row and all their ancestors, descending, and y = L^-T row on them.
typedef struct {
  int* list;
  int count;
  char* marked;  // nv, zero between uses
  tbReal* y;     // nv, set on the list
} Chain;

static int descending(const void* a, const void* b) {
  return *(const int*)b - *(const int*)a;
}

// Build the list: an ancestor that is already in it has added its own ancestors.
static void collect(const tbModel* m, const int* columns, int n, Chain* chain) {
  int parts = 0;
  chain->count = 0;
  for (int s = n - 1; s >= 0; s--) {
    const int* row = m->M_colind + m->M_rowadr[columns[s]];
    int before = chain->count;
    for (int t = m->M_rownnz[columns[s]] - 1; t >= 0 && !chain->marked[row[t]]; t--) {
      chain->marked[row[t]] = 1;
      chain->list[chain->count++] = row[t];
    }
    parts += chain->count > before;
  }
  for (int k = 0; k < chain->count; k++) chain->marked[chain->list[k]] = 0;
  if (parts > 1) qsort(chain->list, (size_t)chain->count, sizeof(int), descending);
}

static void solve_row(const tbModel* m, const tbData* d, const int* columns, const tbReal* row,
                      int n, Chain* chain) {
  collect(m, columns, n, chain);
  for (int k = 0; k < chain->count; k++) chain->y[chain->list[k]] = 0;
  for (int s = 0; s < n; s++) chain->y[columns[s]] = row[s];
  for (int k = 0; k < chain->count; k++) {
    int i = chain->list[k], at = m->M_rowadr[i], last = m->M_rownnz[i] - 1;
    for (int t = 0; t < last; t++) {
      chain->y[m->M_colind[at + t]] -= d->qLD[at + t] * chain->y[i];
    }
  }
}

// --- |L^-1 z|^2 for all rows at once --------------------------------------------------------

// W = L^-T L^-1 in the pattern of M: with U = L^-1, whose row k is e_k minus L_kj times row j of
// its ancestors, W_ij is the sum of U_ki U_kj over the descendants k of the lower of i and j. Two
// dofs of different branches have no common descendant (eq. 9).
static void squared_inverse(const tbModel* m, const tbData* d, tbReal* U, tbReal* W) {
  memset(W, 0, (size_t)m->nM * sizeof(tbReal));
  for (int k = 0; k < m->nv; k++) {
    int at = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
    tbReal* row = U + at;
    memset(row, 0, (size_t)(last + 1) * sizeof(tbReal));
    row[last] = 1;
    for (int t = 0; t < last; t++) {
      // An ancestor's columns are the first ones of this row.
      const tbReal* above = U + m->M_rowadr[m->M_colind[at + t]];
      for (int i = 0; i <= t; i++) row[i] -= d->qLD[at + t] * above[i];
    }
    for (int t = 0; t <= last; t++) {
      tbReal* w = W + m->M_rowadr[m->M_colind[at + t]];
      for (int i = 0; i <= t; i++) w[i] += row[t] * row[i];
    }
  }
}

// y^T W y over the chain.
static tbReal weighted_square(const tbModel* m, const tbReal* W, const Chain* chain,
                              const tbReal* y) {
  tbReal sum = 0;
  for (int k = 0; k < chain->count; k++) {
    int i = chain->list[k], at = m->M_rowadr[i], last = m->M_rownnz[i] - 1;
    tbReal across = 0;
    for (int t = 0; t < last; t++) across += W[at + t] * y[m->M_colind[at + t]];
    sum += y[i] * (W[at + last] * y[i] + 2 * across);
  }
  return sum;
}

// --- tendons and actuators ------------------------------------------------------------------

static void set_tendons(tbModel* m, const tbData* d, Chain* chain) {
  for (int t = 0; t < m->ntendon; t++) {
    int at = m->tendon_Jadr[t];
    solve_row(m, d, m->Jten_colind + at, d->ten_J + at, m->tendon_Jnnz[t], chain);
    tbReal weight = 0;
    for (int k = 0; k < chain->count; k++) {
      int i = chain->list[k];
      weight += chain->y[i] * chain->y[i] * d->qLDiagInv[i];
    }
    m->tendon_invweight0[t] = weight;
    m->tendon_length0[t] = d->ten_length[t];
  }
}

// A positive biasprm[2] of a position-like actuator is a damping ratio, relative to critical
// damping of its stiffness and of the inertia that it moves.
static void set_damping(tbModel* m, const tbReal* moment, int u) {
  tbReal* bias = m->actuator_biasprm + TB_NBIAS * u;
  tbReal stiffness = m->actuator_gainprm[TB_NGAIN * u], mass = 0;
  if (m->actuator_biastype[u] != TB_BIAS_AFFINE || stiffness != -bias[1] || bias[2] <= 0) return;
  int at = m->actuator_Jadr[u];
  for (int s = 0; s < m->actuator_Jnnz[u]; s++) {
    tbReal squared = moment[s] * moment[s];
    if (squared > TB_TINY) mass += m->dof_M0[m->Jmom_colind[at + s]] / squared;
  }
  bias[2] = -2 * bias[2] * sqrt(stiffness * mass);
}

static void set_actuators(tbModel* m, const tbData* d, const tbReal* W, Chain* chain) {
  for (int u = 0; u < m->nu; u++) {
    int at = m->actuator_Jadr[u];
    const tbReal* moment = d->actuator_moment + at;
    solve_row(m, d, m->Jmom_colind + at, moment, m->actuator_Jnnz[u], chain);
    for (int k = 0; k < chain->count; k++) {
      chain->y[chain->list[k]] *= d->qLDiagInv[chain->list[k]];
    }
    m->actuator_acc0[u] = sqrt(tb_max(0, weighted_square(m, W, chain, chain->y)));
    m->actuator_length0[u] = d->actuator_length[u];
    set_damping(m, moment, u);
  }
}

tbResult tb_set_lengths(tbModel* m, const tbData* d) {
  if (m->ntendon == 0 && m->nu == 0) return TB_OK;
  size_t nv = (size_t)m->nv + 1, nM = (size_t)m->nM + 1;
  Chain chain = {malloc(nv * sizeof(int)), 0, calloc(nv, 1), malloc(nv * sizeof(tbReal))};
  tbReal* U = malloc(2 * nM * sizeof(tbReal));
  tbResult result = TB_ERROR_MEMORY;
  if (chain.list && chain.marked && chain.y && U) {
    if (m->nu > 0) squared_inverse(m, d, U, U + nM);
    set_tendons(m, d, &chain);
    set_actuators(m, d, U + nM, &chain);
    result = TB_OK;
  }
  free(chain.list);
  free(chain.marked);
  free(chain.y);
  free(U);
  return result;
}
