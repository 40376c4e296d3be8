// Gauss-Seidel with exact local solutions on an island (CM Alg. 6, Jean's NSGS). It stops as soon
// as its measured convergence rate predicts too many further sweeps.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "solvers/islands/island.h"
#include "solvers/local/local.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// Velocity of block i without its own impulse.
static void velocity_of_others(const tbSolveIsland* island, int i, const tbReal* lambda,
                               tbReal* out) {
  const tbDelassus* G = &island->p.G;
  int d = island->dim[i], own = island->diagonal[i];
  const tbReal* g = island->p.g + island->row[i];
  if (d == 3) {
    tbReal s0 = g[0], s1 = g[1], s2 = g[2];
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      int j = G->block_column[k];
      if (k == own) continue;
      const tbReal *a = G->block_value + G->block_offset[k], *x = lambda + island->row[j];
      if (island->dim[j] == 3) {
        s0 += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
        s1 += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
        s2 += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
      } else {
        int cols = island->dim[j];
        for (int c = 0; c < cols; c++) {
          s0 += a[c] * x[c];
          s1 += a[cols + c] * x[c];
          s2 += a[2 * cols + c] * x[c];
        }
      }
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    return;
  }
  memcpy(out, g, (size_t)d * sizeof *out);
  for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
    int j = G->block_column[k], cols = island->dim[j];
    if (k == own) continue;
    const tbReal *a = G->block_value + G->block_offset[k], *x = lambda + island->row[j];
    for (int r = 0; r < d; r++) {
      for (int c = 0; c < cols; c++) out[r] += a[r * cols + c] * x[c];
    }
  }
}

// One sweep; returns the largest change of a block's velocity by its own impulse.
static tbReal sweep(const tbSolveIsland* island, tbReal* lambda, tbReal* slip) {
  tbReal change = 0;
  for (int i = 0; i < island->p.nblock; i++) {
    const tbBlock* block = &island->p.block[i];
    const tbReal* A = island->p.G.block_value + island->p.G.block_offset[island->diagonal[i]];
    tbReal b[MAX], old[MAX], *x = lambda + island->row[i];
    int d = island->dim[i];
    velocity_of_others(island, i, lambda, b);
    for (int r = 0; r < d; r++) old[r] = x[r];
    tb_local_solve(block, TB_LAW_NCP, A, b, x, &slip[i]);
    for (int r = 0; r < d; r++) change = tb_max(change, fabs(x[r] - old[r]) * A[r * d + r]);
  }
  return change;
}

bool tb_island_pgs(tbSolveIsland* island, tbReal* lambda, int max_sweeps, int patience) {
  tbReal* slip = TB_ARENA_NEW(island->arena, tbReal, island->p.nblock);
  tbReal* sigma = TB_ARENA_NEW(island->arena, tbReal, island->p.n);
  if (island->arena->failed) return false;
  tbReal earlier = INFINITY, target = island->tolerance * island->velocity;
  int earlier_sweep = 0, next = 1, sure = patience / 25 > 16 ? patience / 25 : 16;
  bool large = island->p.nblock > 64;  // small islands finish soon in any case
  for (int k = 1; k <= max_sweeps; k++) {
    tbReal change = sweep(island, lambda, slip);
    island->iterations++;
    if (!isfinite(change)) break;
    // An evaluation costs about a sweep: only if the change is small, and at increasing intervals.
    if (k < next && change > target && k < max_sweeps) continue;
    tb_island_velocity(island, lambda, sigma);
    if (island->check(island, lambda, sigma, island->iterations, 0) || change == 0) break;
    next = k + 1 + k / 4;
    // Sweeps left at the recent convergence rate. The first sweeps are not used for the rate:
    // contacts still open and close.
    tbReal measure = island->last_residual;
    if (k >= sure && isfinite(earlier)) {
      tbReal rate = tb_log(measure / earlier) / (k - earlier_sweep);
      tbReal left = rate < 0 ? tb_log(island->tolerance / measure) / rate : INFINITY;
      if (!((large ? k : 0) + left <= patience)) break;
    }
    if (k >= 4 && k >= 2 * earlier_sweep) {
      earlier = measure;
      earlier_sweep = k;
    }
  }
  return true;
}
