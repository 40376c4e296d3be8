// Restitution that adds no kinetic energy. Newton's law of impact, v_n+ = -e v_n-, does not
// constrain friction, whose impulse may then do positive work: at a corner, where a normal impulse
// also changes the tangential velocity, or at a link that stands nearly upright (Kane and Levinson
// 1985). The work of an island's contacts in a step is, with u the velocities of their rows before
// it and u+ after it,
//
//     W = 1/2 sum lambda . (u + u+),                                                       (1)
//
// less the part of u_N+ that closes gaps and corrects overlaps. Without restitution W <= 0. Where W
// is positive, all e of the island are multiplied by a common factor s, the largest one with W <=
// 0. While no contact changes its mode, W is quadratic in s, so quadratic interpolation finds s.
//
// With restitution, a solution need not exist. Degenerate contacts, such as those of a ball in a
// narrow groove or a link of a folded chain, have impulses within the cones that move nothing, J^T
// lambda = 0, so that lambda . u+ = 0, while the law requires lambda . (u+ + e u) >= -sum mu
// lambda_N |u_T+|: a rebound is only possible with a sliding speed of e |u_N| / mu. Where no
// solution is found, restitution is set to zero; then a solution exists.
#include "laws/rigid/restitution.h"

#include <math.h>

// Work below this fraction of sum lambda_N |u_N|, the energy that normal impulses reverse, counts
// as solver error.
static const tbReal NOISE = 1e-6;

// The factor s is accepted if the contacts dissipate no more than this fraction of the energy that
// they dissipate without restitution.
static const tbReal ENOUGH = 1e-4;

// A relative residual above this means that no solution exists; merely difficult problems end below
// it.
static const tbReal NO_ANSWER = 1e-4;

// If normal impulses reverse more than this multiple of the kinetic energy, contacts are
// degenerate.
static const tbReal DEGENERATE = 1e4;

// Maximum number of solves after the first. The last one uses a factor that is known to add no
// energy.
enum { MOST_SOLVES = 12 };

typedef enum { FIRST = 0, WITHOUT, BETWEEN, DONE } State;
enum { LOW, HIGH, BESIDE };

static bool is_impacting(const tbModel* m, const tbData* d, const tbConstraint* c) {
  if (c->source != TB_SOURCE_CONTACT || !(d->contact[c->id].restitution > 0)) return false;
  return tb_restitution_term(m, d, c) < 0;
}

static tbReal row_velocity(const tbConstraint* c, int row, const tbReal* v) {
  tbReal sum = 0;
  const tbReal* J = c->J + (size_t)row * (size_t)c->nnz;
  for (int k = c->lead; k < c->nnz; k++) sum += J[k] * v[c->col[k]];
  return sum;
}

static bool has_impact(const tbRigidStep* step, const tbIsland* island) {
  for (int k = 0; k < island->nmember; k++) {
    if (is_impacting(step->m, step->d, &step->state->constraints.list[island->member[k]]))
      return true;
  }
  return false;
}

// W of (1), J, and the energy that normal impulses reverse. Compliant contacts are left out: as
// springs they return the energy that they stored.
static tbReal contact_work(const tbRigidStep* step, const tbIsland* island, tbReal* reversed) {
  const tbData* d = step->d;
  tbReal work = 0, sum = 0;
  for (int k = 0, row = 0; k < island->nmember; k++) {
    const tbConstraint* c = &step->state->constraints.list[island->member[k]];
    const tbReal *lambda = island->lambda + row, *g = island->g + row;
    row += c->dim;
    if (c->source != TB_SOURCE_CONTACT || d->contact[c->id].compliance > 0) continue;
    for (int r = 0; r < c->dim; r++) {
      work += lambda[r] * (row_velocity(c, r, d->qvel) + row_velocity(c, r, step->v_next)) / 2;
    }
    if (!(tb_restitution_term(step->m, d, c) < 0))
      work += lambda[0] * (g[0] - row_velocity(c, 0, step->v_free)) / 2;
    sum += lambda[0] * fabs(row_velocity(c, 0, d->qvel));
  }
  *reversed = sum;
  return work;
}

// Set the restitution of an island's impacting contacts to `share` times the given values.
static void set_share(const tbRigidStep* step, const tbIsland* island, const tbReal* restitution,
                      tbReal share) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &step->state->constraints.list[island->member[k]];
    if (c->source != TB_SOURCE_CONTACT) continue;
    tbReal* own = &step->d->contact[c->id].restitution;
    *own = restitution[c->id];
    if (is_impacting(step->m, step->d, c)) *own *= share;
  }
}

// Impulses of degenerate contacts move nothing, so a solve that starts from them could retain them.
static void forget_impulses(const tbRigidStep* step, const tbIsland* island) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &step->state->constraints.list[island->member[k]];
    tb_impulse_cache_forget(&step->state->warm, c->key);
  }
}

// Zero of the parabola through three points between the first two, or the midpoint of these.
static tbReal parabola_zero(const tbReal* x, const tbReal* y) {
  tbReal a = x[LOW], b = x[HIGH], middle = (a + b) / 2;
  tbReal slope = (y[HIGH] - y[LOW]) / (b - a);
  tbReal other = (y[BESIDE] - y[LOW]) / (x[BESIDE] - a);
  tbReal bend = (other - slope) / (x[BESIDE] - b);
  // y[LOW] + t (slope + bend (t - (b - a))), t counted from a.
  tbReal first = slope - bend * (b - a), root = first * first - 4 * bend * y[LOW];
  if (!(root >= 0)) return middle;
  // The root that remains if the parabola degenerates to a line.
  tbReal t = -2 * y[LOW] / (first + sqrt(root));
  return a + t > a && a + t < b ? a + t : middle;
}

// The next factor to try, from the work at the last one.
static tbReal next_share(tbRestitutionBound* b, tbReal work) {
  if (b->state == FIRST) {
    b->point[HIGH] = 1;
    b->work[HIGH] = work;
    b->state = WITHOUT;
    return 0;
  }
  if (b->state == WITHOUT) {
    b->point[LOW] = 0;
    b->work[LOW] = b->least = work;
    b->state = BETWEEN;
    // The factor with zero work if the work added by restitution is proportional to its square.
    return sqrt(-work / (b->work[HIGH] - work));
  }
  int end = work > 0 ? HIGH : LOW;
  b->point[BESIDE] = b->point[end];
  b->work[BESIDE] = b->work[end];
  b->point[end] = b->share;
  b->work[end] = work;
  return parabola_zero(b->point, b->work);
}

bool tb_bound_restitution(const tbRigidStep* step, const tbReal* restitution, tbReal energy,
                          tbRestitutionBound* bounce) {
  bool again = false;
  for (int i = 0; i < step->islands.count; i++) {
    const tbIsland* island = &step->islands.island[i];
    tbRestitutionBound* b = &bounce[i];
    if (b->state == FIRST && !has_impact(step, island)) b->state = DONE;
    if (b->state == DONE) continue;
    tbReal reversed, work = contact_work(step, island, &reversed);
    bool gains = work > NOISE * reversed;
    bool stuck = !(island->residual <= NO_ANSWER) || (!gains && reversed > DEGENERATE * energy);
    // If contacts do positive work even without restitution, because of other constraints of the
    // island, restitution is not changed.
    bool done = b->state == FIRST     ? !gains && !stuck
                : b->state == WITHOUT ? !(work < 0) || stuck
                                      : !gains && !stuck && work >= ENOUGH * b->least;
    if (done || b->solves == MOST_SOLVES) {
      b->state = DONE;
      continue;
    }
    if (stuck) forget_impulses(step, island);
    if (!stuck) b->share = next_share(b, work);
    b->solves = stuck ? MOST_SOLVES : b->solves + 1;
    if (b->solves == MOST_SOLVES) b->share = b->point[LOW];
    set_share(step, island, restitution, b->share);
    again = true;
  }
  return again;
}
