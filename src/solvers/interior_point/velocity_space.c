// The interior-point method in velocity space: the robust half of the fast path, for islands on
// which the Newton iterations of the active set fail. The equations are those of impulse_space.c
// (Nesterov-Todd scaling, Mehrotra's predictor and corrector, De Saxcé's shift inside Newton's
// matrix), but G = J M^-1 J^T is never formed. With lambda = S x, S making cones round, E = I -
// theta e t^T and C = E H + S R S, a step solves
//
//     (M + J^T S C^-1 S J) dv = J^T S C^-1 b,    dx = C^-1 (b - S J dv),    b = E c - r      (1)
//     E dz = r + S J dv + S R S dx,    which is E (c - H dx)
//
// on the sparse matrix of operator/velocity.h. See docs/notebook/interior-point.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/interior_point/state.h"

// Step lengths: one below SHORT_STEP indicates failure, one above LONG_STEP ends the failure; one
// below NO_STEP is the last.
static const tbReal SHORT_STEP = 0.2, LONG_STEP = 0.9, NO_STEP = 1e-10;
// Fixed centring: the share of the present complementarity that a step aims at if Mehrotra's step
// is short, and that a mild step aims at if the former is short too.
static const tbReal FIXED_TARGET = 0.25, MILD_TARGET = 0.7;
// A residual above this share of the best one is no progress.
static const tbReal PROGRESS = 0.8;
// Iterations before complementarity is kept above a multiple of the infeasibility.
enum { EARLY = 4 };
// Steps are limited to 1, and to these shares of the largest step: after the affine step, and
// without it. So the largest step need not be found beyond LONGEST.
static const tbReal INSIDE = 0.99, WELL_INSIDE = 0.9, LONGEST = 1.25;
// Velocities are recomputed exactly if the residual is below FAR tolerances; otherwise they are
// updated with the steps, and recomputed every EXACT iterations.
static const tbReal FAR = 100;
enum { EXACT = 4 };

static bool is_contact(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE && b->dim == TB_CONE_ROWS;
}

// ---- cones in SIMD groups ----------------------------------------------------------------------

// Load one contact of a group at its first point.
static void load_lane(const tbInteriorState* m, int i, tbConeSimd* g, int l) {
  int row = m->p->block[i].row;
  g->block[l] = i;
  g->row[l] = row;
  for (int r = 0; r < TB_CONE_ROWS; r++) {
    tbReal S = m->S[row + r];
    g->S[r][l] = S;
    g->R[r][l] = m->p->R ? S * S * m->p->R[row + r] : 0;
    g->tangent_compliance = g->tangent_compliance || (r > 0 && g->R[r][l] > 0);
    g->x[r][l] = m->x[row + r];
    g->z[r][l] = m->z[row + r];
  }
}

// Load all groups at their first point, and list all other blocks.
static void load_groups(tbInteriorState* m) {
  m->nfour = m->nother = m->ncontact = 0;
  int lanes = 0;
  for (int i = 0; i < m->p->nblock; i++) {
    if (!is_contact(&m->p->block[i])) {
      m->other[m->nother++] = i;
      continue;
    }
    if (lanes == 0) {
      memset(&m->four[m->nfour], 0, sizeof *m->four);
      m->nfour++;
    }
    tbConeSimd* g = &m->four[m->nfour - 1];
    m->contact[m->ncontact++] = i;
    load_lane(m, i, g, lanes);
    g->used = ++lanes;
    lanes %= TB_CONE_LANES;
  }
  // Copies fill the free lanes of the last group.
  for (int l = lanes; l > 0 && l < TB_CONE_LANES; l++) {
    load_lane(m, m->four[m->nfour - 1].block[0], &m->four[m->nfour - 1], l);
  }
}

// Load the velocities from sigma.
static void load_velocities(tbInteriorState* m) {
  for (int k = 0; k < m->nfour; k++) {
    tbConeSimd* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        g->v[r][l] = g->S[r][l] * m->sigma[g->row[l] + r] / m->unit;
      }
    }
  }
}

// Store the impulses to lambda.
static void store_impulses(tbInteriorState* m) {
  for (int k = 0; k < m->nfour; k++) {
    const tbConeSimd* g = &m->four[k];
    for (int l = 0; l < g->used; l++) {
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        m->lambda[g->row[l] + r] = g->S[r][l] * m->unit * g->x[r][l];
      }
    }
  }
}

// Add the compliance along the tangents of four contacts to K.
static void add_compliances(tbConeSimd* g) {
  enum { ENTRIES = TB_CONE_ROWS * TB_CONE_ROWS };
  for (int l = 0; l < TB_CONE_LANES; l++) {
    tbReal K[ENTRIES], R[TB_CONE_ROWS] = {0, g->R[1][l], g->R[2][l]};
    for (int e = 0; e < ENTRIES; e++) K[e] = g->K[e][l];
    tb_interior_comply(TB_CONE_ROWS, R, K);
    for (int e = 0; e < ENTRIES; e++) g->K[e][l] = K[e];
  }
}

// Add the group to the matrix.
static void add_group(const tbInteriorState* m, const tbConeSimd* g) {
  for (int l = 0; l < g->used; l++) {
    tbReal W[TB_CONE_ROWS * TB_CONE_ROWS];
    for (int r = 0, e = 0; r < TB_CONE_ROWS; r++) {
      for (int c = 0; c < TB_CONE_ROWS; c++, e++) W[e] = g->S[r][l] * g->K[e][l] * g->S[c][l];
    }
    tb_velocity_add(m->a->system, g->block[l], W);
  }
}

// Add the impulses f to dv.
static void apply_transposed_groups(const tbInteriorState* m) {
  tbReal* f = m->rows;
  for (int k = 0; k < m->nfour; k++) {
    const tbConeSimd* g = &m->four[k];
    for (int l = 0; l < g->used; l++, f += TB_CONE_ROWS) {
      for (int r = 0; r < TB_CONE_ROWS; r++) f[r] = g->f[r][l];
    }
  }
  tb_velocity_push_contacts(m->a->system, m->ncontact, m->contact, m->rows, m->dv);
}

// Compute J dv.
static void apply_groups(tbInteriorState* m) {
  const tbReal* velocity = m->rows;
  tb_velocity_mul_contacts(m->a->system, m->ncontact, m->contact, m->dv, m->rows);
  for (int k = 0; k < m->nfour; k++) {
    tbConeSimd* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      const tbReal* own = velocity + (l < g->used ? TB_CONE_ROWS * l : 0);
      for (int r = 0; r < TB_CONE_ROWS; r++) g->jv[r][l] = own[r];
    }
    velocity += TB_CONE_ROWS * TB_CONE_LANES;
  }
}

// Take a step of length a; also updates velocities.
static void step_groups(tbInteriorState* m, tbReal a) {
  const tbReal* R = m->p->R;
  tb_cone_simd_go(m->four, m->nfour, a);
  for (int k = 0; k < m->nfour; k++) {
    const tbConeSimd* g = &m->four[k];
    for (int l = 0; l < g->used; l++) {
      for (int r = 0; r < TB_CONE_ROWS; r++) {
        int row = g->row[l] + r;
        tbReal compliance = R ? R[row] * g->S[r][l] * g->dx[r][l] : 0;
        m->sigma[row] += a * m->unit * (g->jv[r][l] + compliance);
      }
    }
  }
}

// ---- one iteration -----------------------------------------------------------------------------

// Compute lambda and its velocity (unless `exact`, sigma was updated with the steps), the residual
// r of the shifted velocity, and the mean complementarity mu. Returns the relative residual under
// the law.
static tbReal evaluate(tbInteriorState* m, bool exact, tbReal* mu) {
  store_impulses(m);
  tb_interior_impulses(m);
  if (exact) tb_active_response(m->a, m->lambda, m->dv, m->sigma);
  load_velocities(m);
  m->infeasible = 0;
  tbReal sum = tb_cone_simd_residual(m->four, m->nfour, m->shifted, &m->infeasible);
  sum = tb_interior_residual(m, sum);
  *mu = m->pairs > 0 ? sum / m->pairs : 0;
  return tb_residual(m->p, m->a->law, m->lambda, m->sigma).relative;
}

// The matrix of (1) and its factors.
static bool factor(tbInteriorState* m, tbSolveInfo* info) {
  tb_velocity_start(m->a->system, !m->shifted);
  info->factorizations++;
  tb_cone_simd_scale(m->four, m->nfour);
  for (int k = 0; k < m->nfour; k++) {
    if (m->four[k].tangent_compliance) add_compliances(&m->four[k]);
    add_group(m, &m->four[k]);
  }
  tb_interior_add(m);
  return tb_velocity_factor(m->a->system);
}

// Solve (1) for complementarity `target`: dx and dz, or ax and az if `affine`.
static void find_step(tbInteriorState* m, tbReal target, bool correct, bool affine) {
  tb_cone_simd_target(m->four, m->nfour, target, correct);
  tb_interior_target(m, target, correct);
  memset(m->dv, 0, sizeof(tbReal) * (size_t)m->a->system->size);
  tb_cone_simd_right(m->four, m->nfour);
  apply_transposed_groups(m);
  tb_interior_push(m);
  tb_velocity_solve(m->a->system, m->dv);
  apply_groups(m);
  tb_cone_simd_solve(m->four, m->nfour, affine);
  tb_interior_solve(m, target, affine);
}

// The largest step that keeps x and z inside, up to LONGEST.
static tbReal step_length(const tbInteriorState* m, bool affine) {
  return tb_interior_length(m, affine, tb_cone_simd_length(m->four, m->nfour, affine, LONGEST));
}

// Mehrotra's choice of the centring, from the complementarity after the affine step alone.
static tbReal centering(const tbInteriorState* m, tbReal mu, tbReal step) {
  tbReal sum =
      tb_interior_complementarity(m, step, tb_cone_simd_complementarity(m->four, m->nfour, step));
  return tb_centering(m->pairs > 0 ? sum / m->pairs : 0, mu);
}

// A step to complementarity `target`, with Mehrotra's correction if `correct`; returns its length.
static tbReal aim(tbInteriorState* m, tbReal target, bool correct) {
  find_step(m, target, correct, false);
  return tb_min(1, (correct ? INSIDE : WELL_INSIDE) * step_length(m, false));
}

// The step for the current theta: Mehrotra's; if that is short, one with fixed centring; if that is
// short too, a mild one (which follows a curved path where stronger centring makes no progress);
// finally one towards the centre. Returns its length, or 0 if the factorisation failed.
static tbReal attempt(tbInteriorState* m, tbReal mu, tbReal floor, tbSolveInfo* info) {
  if (!factor(m, info)) return 0;
  find_step(m, 0, false, true);
  tbReal affine = tb_min(1, step_length(m, true));
  tbReal a = aim(m, tb_max(centering(m, mu, affine) * mu, floor), true);
  if (a < SHORT_STEP) a = aim(m, tb_max(FIXED_TARGET * mu, floor), false);
  if (a < SHORT_STEP && m->try_mild) a = aim(m, tb_max(MILD_TARGET * mu, floor), false);
  return a < SHORT_STEP ? aim(m, mu, false) : a;
}

// Whether a cone blocks every step of useful length.
static bool is_blocking(int d, const tbReal* x, const tbReal* dx, const tbReal* z,
                        const tbReal* dz) {
  return WELL_INSIDE * tb_min(tb_lorentz_step(d, x, dx), tb_lorentz_step(d, z, dz)) < SHORT_STEP;
}

static bool lane_is_blocking(const tbConeSimd* g, int l) {
  enum { D = TB_CONE_ROWS };
  tbReal x[D], dx[D], z[D], dz[D];
  for (int r = 0; r < D; r++) {
    x[r] = g->x[r][l];
    dx[r] = g->dx[r][l];
    z[r] = g->z[r][l];
    dz[r] = g->dz[r][l];
  }
  return is_blocking(D, x, dx, z, dz);
}

// Reduce theta of the blocking cones to `weight`. False: there are none.
static bool weaken(tbInteriorState* m, tbReal weight) {
  bool any = false;
  for (int k = 0; k < m->nfour; k++) {
    tbConeSimd* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      if (g->theta[l] <= weight || !lane_is_blocking(g, l)) continue;
      g->theta[l] = weight;
      any = true;
    }
  }
  for (int j = 0; j < m->nother; j++) {
    int i = m->other[j], row = m->p->block[i].row;
    if (m->p->block[i].type != TB_BLOCK_CONE || m->theta[i] <= weight) continue;
    if (!is_blocking(m->p->block[i].dim, m->x + row, m->dx + row, m->z + row, m->dz + row)) {
      continue;
    }
    m->theta[i] = weight;
    any = true;
  }
  return any;
}

static void set_shift(tbInteriorState* m, tbReal theta) {
  for (int i = 0; i < m->p->nblock; i++) m->theta[i] = theta;
  for (int k = 0; k < m->nfour; k++) {
    for (int l = 0; l < TB_CONE_LANES; l++) m->four[k].theta[l] = theta;
  }
}

// Reduce theta of blocking cones until a step of useful length is found.
static tbReal choose_step(tbInteriorState* m, tbReal mu, tbReal kappa, tbSolveInfo* info) {
  enum { WEIGHTS = 3 };
  static const tbReal weights[WEIGHTS] = {0.9, 0.5, 0};
  bool weakened = false;
  if (!m->weakened) set_shift(m, m->shifted);
  tbReal floor = tb_min(mu, kappa * m->infeasible), a = attempt(m, mu, floor, info);
  for (int k = 0; k < WEIGHTS && a < SHORT_STEP && weaken(m, weights[k]); k++) {
    a = attempt(m, mu, floor, info);
    weakened = true;
  }
  m->weakened = weakened || (m->weakened && a < LONG_STEP);
  return a;
}

// ---- turning points ----------------------------------------------------------------------------
//
// Under the exact law the path of the points with x o z = mu e may turn back: near a turning point
// there is none with smaller mu, and a method that decreases mu fails. But the path is one curve,
// from mu = infinity down to a solution. Where mu grows along the curve, beyond a turning point,
// the determinant of Newton's matrix is negative. So a step consists of a correction A at constant
// mu and a multiple of the tangent T (by d mu / mu), with
//
//     ds = (-A.T - sign(det) h sqrt(1 + T.T)) / (1 + T.T),    A + ds T,    mu <- (1 + ds) mu (2)
//
// so that the correction is perpendicular to the path, and h is the arc length along the path.

// After TINY_STEPS consecutive steps below TINY_STEP the path is abandoned and restarted with mu of
// the first point times FARTHER, up to the centre.
static const tbReal TINY_STEP = 0.05, FARTHER = 30;
enum { TINY_STEPS = 3 };
// Arc length of a step: the first, the largest; its factor after a step that was cut below CUT, and
// after an uncut step whose correction was smaller than NEAR_PATH. With a correction above OFF_PATH
// a step only corrects.
static const tbReal FIRST_LENGTH = 0.5, LARGEST_LENGTH = 2, LENGTH_DECREASE = 0.5,
                    LENGTH_INCREASE = 1.6;
static const tbReal CUT = 0.5, NEAR_PATH = 0.5, OFF_PATH = 1;
// Bounds of the relative change of mu in one step.
static const tbReal LEAST_CHANGE = -0.9, MOST_CHANGE = 2;

// State of the path-following.
typedef struct {
  tbReal mu, length;  // complementarity, and h of the next step
  int tiny;           // short steps in a row
} Path;

// One step of (2), by three solves with one factorisation. False: no progress.
static bool follow(tbInteriorState* m, Path* path, tbSolveInfo* info) {
  tbReal inner[3], unit = 1 / (path->mu * m->pairs);
  if (!factor(m, info)) return false;
  int down = -tb_ldu_sign(&m->a->system->ldu);
  find_step(m, path->mu, false, true);
  find_step(m, 2 * path->mu, false, false);
  tb_cone_simd_lengths(m->four, m->nfour, inner);
  tb_interior_lengths(m, inner);
  tbReal across = unit * inner[1], slope = 1 + unit * inner[2];
  tbReal off = sqrt(tb_max(0, unit * inner[0] - across * across / slope));
  tbReal length = off < OFF_PATH ? path->length : 0;
  tbReal change = (down * length * sqrt(slope) - across) / slope;
  change = tb_min(MOST_CHANGE, tb_max(LEAST_CHANGE, change));
  tbReal a = aim(m, (1 + change) * path->mu, false);
  if (!(a > NO_STEP) || !isfinite(a)) return false;
  if (a < CUT) path->length *= LENGTH_DECREASE;
  if (a > LONG_STEP && off < NEAR_PATH)
    path->length = tb_min(LARGEST_LENGTH, LENGTH_INCREASE * path->length);
  path->mu *= 1 + a * change;
  path->tiny = a < TINY_STEP ? path->tiny + 1 : 0;
  step_groups(m, a);
  tb_interior_go(m, a);
  return path->tiny < TINY_STEPS;
}

// Follow the path from complementarity `mu`. Sets *ends at a solution or after all iterations.
// False: out of memory.
static bool follow_from(const tbActive* a, tbArena* arena, const tbInterior* set, tbReal mu,
                        int until, tbReal* lambda, tbReal* sigma, tbSolveInfo* info, bool* ends) {
  tbInteriorState m = {.a = a, .p = a->p, .shifted = true};
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  tbArenaMark mark = tb_arena_mark(arena);
  if (!tb_interior_start(&m, arena, mu, lambda, sigma)) return false;
  load_groups(&m);
  set_shift(&m, 1);
  tbReal best = tb_residual(a->p, a->law, lambda, sigma).relative;
  Path path = {.length = FIRST_LENGTH};
  for (bool goes = true; goes && !*ends;) {
    tbReal mean, now = evaluate(&m, true, &mean);
    if (!isfinite(mean)) break;
    if (path.mu == 0) path.mu = mean;
    *ends = now <= set->target * a->tolerance ||
            (best <= a->acceptable && !(now < PROGRESS * best)) || info->iterations >= until;
    if (now < best) {
      best = now;
      memcpy(lambda, m.lambda, bytes);
      memcpy(sigma, m.sigma, bytes);
    }
    if (*ends) break;
    info->iterations++;
    goes = follow(&m, &path, info);
  }
  tb_arena_release(arena, mark);
  return true;
}

static bool follow_turning_points(const tbActive* a, tbArena* arena, const tbInterior* set,
                                  tbReal* lambda, tbReal* sigma, tbSolveInfo* info) {
  int until = tb_min(info->iterations + set->max_iter, a->max_iter);
  bool ends = false;
  for (tbReal mu = set->mu; !ends && mu > 0; mu = tb_min(1, FARTHER * mu)) {
    if (!follow_from(a, arena, set, mu, until, lambda, sigma, info, &ends)) return false;
    ends = ends || mu >= 1;
  }
  return true;
}

// ---- main loop ---------------------------------------------------------------------------------

bool tb_active_interior(const tbActive* a, tbArena* arena, const tbInterior* set, tbReal* lambda,
                        tbReal* sigma, tbSolveInfo* info) {
  if (set->turning_points) return follow_turning_points(a, arena, set, lambda, sigma, info);
  tbInteriorState m = {.a = a, .p = a->p, .shifted = a->law == TB_LAW_NCP};
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  tbArenaMark mark = tb_arena_mark(arena);
  if (!tb_interior_start(&m, arena, set->mu, lambda, sigma)) return false;
  load_groups(&m);
  tbReal best = tb_residual(a->p, a->law, lambda, sigma).relative, last = INFINITY;
  bool exact = true;
  for (int k = 0, idle = 0;
       k < set->max_iter && idle < set->patience && info->iterations < a->max_iter; k++) {
    tbReal mu, now = evaluate(&m, exact, &mu);
    if (!exact && !(now > FAR * a->tolerance)) now = evaluate(&m, true, &mu);
    exact = !(now > FAR * a->tolerance) || k % EXACT == EXACT - 1;
    if (!isfinite(mu)) break;
    if (now < best) {
      best = now;
      memcpy(lambda, m.lambda, bytes);
      memcpy(sigma, m.sigma, bytes);
    }
    if (now <= set->target * a->tolerance) break;
    idle = now < PROGRESS * last ? 0 : idle + 1;
    if (idle > 0 && best <= a->acceptable) break;
    last = tb_min(last, now);
    info->iterations++;
    m.try_mild = set->mild && idle > 0;
    tbReal step = choose_step(&m, mu, k < EARLY ? 0 : set->kappa, info);
    if (!(step > NO_STEP) || !isfinite(step)) break;
    step_groups(&m, step);
    tb_interior_go(&m, step);
  }
  tb_arena_release(arena, mark);
  return true;
}
