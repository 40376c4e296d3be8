// Interior points in velocity space: the sure half of the fast path for islands where modes do not
// settle. The equations are those of island_ipm.c (Nesterov-Todd scaling, Mehrotra's predictor and
// corrector, De Saxcé's shift inside Newton's matrix), but G = J M^-1 J^T is never formed. With
// lambda = S x, S making cones round, E = I - theta e t^T and C = E H + S R S, a step solves
//
//     (M + J^T S C^-1 S J) dv = J^T S C^-1 b,    dx = C^-1 (b - S J dv),    b = E c - r      (1)
//     E dz = r + S J dv + S R S dx,    which is E (c - H dx)
//
// on the sparse matrix of solvers/velocity. See docs/solver-interior.md.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/interior_point/state.h"

// A step below SHORT_STEP is a sign of trouble, one above LONG_STEP the end of it; one below
// NO_STEP is the last.
static const tbReal SHORT_STEP = 0.2, LONG_STEP = 0.9, NO_STEP = 1e-10;
// The share of the present products that a plain step aims at where Mehrotra's is short, and a
// gentle one where that is short too.
static const tbReal PLAIN_TARGET = 0.25, GENTLE_TARGET = 0.7;
// A residual above this share of the best one is no progress.
static const tbReal PROGRESS = 0.8;
// Iterations before products are held above the infeasibility.
enum { EARLY = 4 };
// Steps are cut at 1, and at these shares of the largest: after the affine step, and without it. So
// none beyond LONGEST need be found.
static const tbReal INSIDE = 0.99, WELL_INSIDE = 0.9, LONGEST = 1.25;
// Velocities are computed anew where the residual is below FAR tolerances; above, where they have
// come along with the steps, every EXACT iterations.
static const tbReal FAR = 100;
enum { EXACT = 4 };

static bool is_contact(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE && b->dim == TB_CONE_ROWS;
}

// ---- cones by fours ----------------------------------------------------------------------------

// One contact of four at its first point.
static void load_lane(const tbInteriorState* m, int i, tbConeSimd* g, int l) {
  int row = m->p->block[i].row;
  g->block[l] = i;
  g->row[l] = row;
  for (int r = 0; r < TB_CONE_ROWS; r++) {
    tbReal S = m->S[row + r];
    g->S[r][l] = S;
    g->R[r][l] = m->p->R ? S * S * m->p->R[row + r] : 0;
    g->yields = g->yields || (r > 0 && g->R[r][l] > 0);
    g->x[r][l] = m->x[row + r];
    g->z[r][l] = m->z[row + r];
  }
}

// Contacts by fours at their first point, and the list of all other blocks.
static void load_fours(tbInteriorState* m) {
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
  // What is left of the last four are copies.
  for (int l = lanes; l > 0 && l < TB_CONE_LANES; l++) {
    load_lane(m, m->four[m->nfour - 1].block[0], &m->four[m->nfour - 1], l);
  }
}

// Velocities out of sigma.
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

// Impulses into lambda.
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

// Compliance along the tangents of four contacts.
static void add_compliances(tbConeSimd* g) {
  enum { ENTRIES = TB_CONE_ROWS * TB_CONE_ROWS };
  for (int l = 0; l < TB_CONE_LANES; l++) {
    tbReal K[ENTRIES], R[TB_CONE_ROWS] = {0, g->R[1][l], g->R[2][l]};
    for (int e = 0; e < ENTRIES; e++) K[e] = g->K[e][l];
    tb_interior_comply(TB_CONE_ROWS, R, K);
    for (int e = 0; e < ENTRIES; e++) g->K[e][l] = K[e];
  }
}

// Parts of the matrix.
static void add_four(const tbInteriorState* m, const tbConeSimd* g) {
  for (int l = 0; l < g->used; l++) {
    tbReal W[TB_CONE_ROWS * TB_CONE_ROWS];
    for (int r = 0, e = 0; r < TB_CONE_ROWS; r++) {
      for (int c = 0; c < TB_CONE_ROWS; c++, e++) W[e] = g->S[r][l] * g->K[e][l] * g->S[c][l];
    }
    tb_velocity_add(m->a->system, g->block[l], W);
  }
}

// Impulses f onto dv.
static void push_fours(const tbInteriorState* m) {
  tbReal* f = m->rows;
  for (int k = 0; k < m->nfour; k++) {
    const tbConeSimd* g = &m->four[k];
    for (int l = 0; l < g->used; l++, f += TB_CONE_ROWS) {
      for (int r = 0; r < TB_CONE_ROWS; r++) f[r] = g->f[r][l];
    }
  }
  tb_velocity_push_contacts(m->a->system, m->ncontact, m->contact, m->rows, m->dv);
}

// J dv out of dv.
static void move_fours(tbInteriorState* m) {
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

// Go a step of length a; velocities come along.
static void go_fours(tbInteriorState* m, tbReal a) {
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

// lambda and its velocity (which far from the answer has come along with the steps), the residual r
// of the shifted velocity, the mean product mu. The relative residual under the law.
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
    if (m->four[k].yields) add_compliances(&m->four[k]);
    add_four(m, &m->four[k]);
  }
  tb_interior_add(m);
  return tb_velocity_factor(m->a->system);
}

// Solve (1) towards products `target`, for dx and dz or for ax and az.
static void find_step(tbInteriorState* m, tbReal target, bool correct, bool affine) {
  tb_cone_simd_target(m->four, m->nfour, target, correct);
  tb_interior_target(m, target, correct);
  memset(m->dv, 0, sizeof(tbReal) * (size_t)m->a->system->size);
  tb_cone_simd_right(m->four, m->nfour);
  push_fours(m);
  tb_interior_push(m);
  tb_velocity_solve(m->a->system, m->dv);
  move_fours(m);
  tb_cone_simd_solve(m->four, m->nfour, affine);
  tb_interior_solve(m, target, affine);
}

// The largest step that keeps x and z inside, up to LONGEST.
static tbReal step_length(const tbInteriorState* m, bool affine) {
  return tb_interior_length(m, affine, tb_cone_simd_length(m->four, m->nfour, affine, LONGEST));
}

// Mehrotra's choice: how far the affine step alone would bring the products down.
static tbReal centering(const tbInteriorState* m, tbReal mu, tbReal step) {
  tbReal sum =
      tb_interior_complementarity(m, step, tb_cone_simd_complementarity(m->four, m->nfour, step));
  return tb_centering(m->pairs > 0 ? sum / m->pairs : 0, mu);
}

// A step towards products `target`, after the affine step or by itself; its length.
static tbReal aim(tbInteriorState* m, tbReal target, bool correct) {
  find_step(m, target, correct, false);
  return tb_min(1, (correct ? INSIDE : WELL_INSIDE) * step_length(m, false));
}

// The step for the current theta: Mehrotra's, a plain one where that is short, a gentle one where
// that is short too (a way that bends is followed where centring alone would stand still), towards
// the centre at last. Its length, or 0 where the matrix broke down.
static tbReal attempt(tbInteriorState* m, tbReal mu, tbReal floor, tbSolveInfo* info) {
  if (!factor(m, info)) return 0;
  find_step(m, 0, false, true);
  tbReal affine = tb_min(1, step_length(m, true));
  tbReal a = aim(m, tb_max(centering(m, mu, affine) * mu, floor), true);
  if (a < SHORT_STEP) a = aim(m, tb_max(PLAIN_TARGET * mu, floor), false);
  if (a < SHORT_STEP && m->stands) a = aim(m, tb_max(GENTLE_TARGET * mu, floor), false);
  return a < SHORT_STEP ? aim(m, mu, false) : a;
}

// Whether a cone blocks every step of useful length.
static bool stands_in_way(int d, const tbReal* x, const tbReal* dx, const tbReal* z,
                          const tbReal* dz) {
  return WELL_INSIDE * tb_min(tb_lorentz_step(d, x, dx), tb_lorentz_step(d, z, dz)) < SHORT_STEP;
}

static bool lane_stands_in_way(const tbConeSimd* g, int l) {
  enum { D = TB_CONE_ROWS };
  tbReal x[D], dx[D], z[D], dz[D];
  for (int r = 0; r < D; r++) {
    x[r] = g->x[r][l];
    dx[r] = g->dx[r][l];
    z[r] = g->z[r][l];
    dz[r] = g->dz[r][l];
  }
  return stands_in_way(D, x, dx, z, dz);
}

// Weakens the shift of the cones that block every step of useful length. False: there are none.
static bool weaken(tbInteriorState* m, tbReal weight) {
  bool any = false;
  for (int k = 0; k < m->nfour; k++) {
    tbConeSimd* g = &m->four[k];
    for (int l = 0; l < TB_CONE_LANES; l++) {
      if (g->theta[l] <= weight || !lane_stands_in_way(g, l)) continue;
      g->theta[l] = weight;
      any = true;
    }
  }
  for (int j = 0; j < m->nother; j++) {
    int i = m->other[j], row = m->p->block[i].row;
    if (m->p->block[i].type != TB_BLOCK_CONE || m->theta[i] <= weight) continue;
    if (!stands_in_way(m->p->block[i].dim, m->x + row, m->dx + row, m->z + row, m->dz + row)) {
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

// Weaken the shift where it stands in the way until a step of some length is found.
static tbReal choose_step(tbInteriorState* m, tbReal mu, tbReal kappa, tbSolveInfo* info) {
  enum { WEIGHTS = 3 };
  static const tbReal weights[WEIGHTS] = {0.9, 0.5, 0};
  bool eased = false;
  if (!m->eased) set_shift(m, m->shifted);
  tbReal floor = tb_min(mu, kappa * m->infeasible), a = attempt(m, mu, floor, info);
  for (int k = 0; k < WEIGHTS && a < SHORT_STEP && weaken(m, weights[k]); k++) {
    a = attempt(m, mu, floor, info);
    eased = true;
  }
  m->eased = eased || (m->eased && a < LONG_STEP);
  return a;
}

// ---- around folds ------------------------------------------------------------------------------
//
// Under the exact law the path of the points with x o z = mu e may turn back: there is none with
// smaller products nearby, and whatever aims at these ends. But it is one curve, from mu = infinity
// down to an answer. Where mu grows along it, beyond a fold, the determinant of Newton's matrix is
// negative. So a step is made of a correction A to the products mu, and of a piece of the tangent T
// (by d mu / mu), with
//
//     ds = (-A.T - sign(det) h sqrt(1 + T.T)) / (1 + T.T),    A + ds T,    mu <- (1 + ds) mu (2)
//
// so that the correction is across the path, and the way along it is h.

// A step as short as this is one of three on a way to nowhere: again from products so many times
// those of the first point, up to the centre.
static const tbReal TINY_STEP = 0.05, FARTHER = 30;
enum { TINY_STEPS = 3 };
// Lengths along the path: the first, the longest; how it changes after a step that is cut below a
// half, and after one that is not and started near the path, by the correction it has to make. From
// beyond the second distance steps only correct.
static const tbReal FIRST_WAY = 0.5, LONGEST_WAY = 2, SHORTER_WAY = 0.5, LONGER_WAY = 1.6;
static const tbReal CUT = 0.5, NEAR_PATH = 0.5, OFF_PATH = 1;
// What a step may do to the products.
static const tbReal LEAST_CHANGE = -0.9, MOST_CHANGE = 2;

// Where a way along the path is.
typedef struct {
  tbReal mu, way;  // products, and h of the next step
  int tiny;        // short steps in a row
} Path;

// One step of (2), by three solves with one factor. False: it leads nowhere.
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
  tbReal way = off < OFF_PATH ? path->way : 0;
  tbReal change = (down * way * sqrt(slope) - across) / slope;
  change = tb_min(MOST_CHANGE, tb_max(LEAST_CHANGE, change));
  tbReal a = aim(m, (1 + change) * path->mu, false);
  if (!(a > NO_STEP) || !isfinite(a)) return false;
  if (a < CUT) path->way *= SHORTER_WAY;
  if (a > LONG_STEP && off < NEAR_PATH) path->way = tb_min(LONGEST_WAY, LONGER_WAY * path->way);
  path->mu *= 1 + a * change;
  path->tiny = a < TINY_STEP ? path->tiny + 1 : 0;
  go_fours(m, a);
  tb_interior_go(m, a);
  return path->tiny < TINY_STEPS;
}

// From products `mu` on; `ends`: at an answer, or after all iterations. False: out of memory.
static bool follow_from(const tbActive* a, tbArena* arena, const tbInterior* set, tbReal mu,
                        int until, tbReal* lambda, tbReal* sigma, tbSolveInfo* info, bool* ends) {
  tbInteriorState m = {.a = a, .p = a->p, .shifted = true};
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  tbArenaMark mark = tb_arena_mark(arena);
  if (!tb_interior_start(&m, arena, mu, lambda, sigma)) return false;
  load_fours(&m);
  set_shift(&m, 1);
  tbReal best = tb_residual(a->p, a->law, lambda, sigma).relative;
  Path path = {.way = FIRST_WAY};
  for (bool goes = true; goes && !*ends;) {
    tbReal mean, now = evaluate(&m, true, &mean);
    if (!isfinite(mean)) break;
    if (path.mu == 0) path.mu = mean;
    *ends = now <= set->target * a->tolerance || (best <= a->enough && !(now < PROGRESS * best)) ||
            info->iterations >= until;
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

static bool go_around(const tbActive* a, tbArena* arena, const tbInterior* set, tbReal* lambda,
                      tbReal* sigma, tbSolveInfo* info) {
  int until = tb_min(info->iterations + set->max_iter, a->max_iter);
  bool ends = false;
  for (tbReal mu = set->mu; !ends && mu > 0; mu = tb_min(1, FARTHER * mu)) {
    if (!follow_from(a, arena, set, mu, until, lambda, sigma, info, &ends)) return false;
    ends = ends || mu >= 1;
  }
  return true;
}

// ---- all of it ---------------------------------------------------------------------------------

bool tb_active_interior(const tbActive* a, tbArena* arena, const tbInterior* set, tbReal* lambda,
                        tbReal* sigma, tbSolveInfo* info) {
  if (set->turning_points) return go_around(a, arena, set, lambda, sigma, info);
  tbInteriorState m = {.a = a, .p = a->p, .shifted = a->law == TB_LAW_NCP};
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  tbArenaMark mark = tb_arena_mark(arena);
  if (!tb_interior_start(&m, arena, set->mu, lambda, sigma)) return false;
  load_fours(&m);
  tbReal best = tb_residual(a->p, a->law, lambda, sigma).relative, last = INFINITY;
  bool exact = true;
  for (int k = 0, since = 0;
       k < set->max_iter && since < set->patience && info->iterations < a->max_iter; k++) {
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
    since = now < PROGRESS * last ? 0 : since + 1;
    if (since > 0 && best <= a->enough) break;
    last = tb_min(last, now);
    info->iterations++;
    m.stands = set->mild && since > 0;
    tbReal step = choose_step(&m, mu, k < EARLY ? 0 : set->kappa, info);
    if (!(step > NO_STEP) || !isfinite(step)) break;
    go_fours(&m, step);
    tb_interior_go(&m, step);
  }
  tb_arena_release(arena, mark);
  return true;
}
