// Restitution that makes no energy. Newton's law of impact, v_n+ = -e v_n-, says nothing of
// friction, whose impulse may then do work: at a corner, where what acts along the normal also
// moves along the tangent, or at a link that stands nearly upright (Kane and Levinson 1985). What
// the contacts of an island do to its kinetic energy in a step is, with u the velocities of their
// rows before it and u+ after it,
//
//     W = 1/2 sum lambda . (u + u+),                                                       (1)
//
// less what gaps that close and overlaps that part add to u_N+. Without restitution W <= 0. Where
// it is positive all e of the island are cut back by one share s, the largest with W <= 0. While no
// contact changes its mode W is a parabola in s, so a parabola through three shares finds it.
//
// Nor need there be an answer. What jams, a ball in a narrow groove or a link of a folded chain,
// has impulses within the cones that move nothing, J^T lambda = 0, so that lambda . u+ = 0, while
// the law wants lambda . (u+ + e u) >= -sum mu lambda_N |u_T+|: it bounces only if it slides on at
// e |u_N| / mu. Where no answer is found contacts do not bounce; without e there is one.
#include "laws/rigid/restitution.h"

#include <math.h>

// Work below this share of what normal impulses turn round, sum lambda_N |u_N|, is the solver's
// error.
static const tbReal NOISE = 1e-6;

// A share of restitution is good enough where contacts take out no more than this share of what
// they take without any.
static const tbReal ENOUGH = 1e-4;

// Above this relative residual there is no answer; what is merely hard ends below.
static const tbReal NO_ANSWER = 1e-4;

// Normal impulses turn round more than this many times the kinetic energy only where they jam.
static const tbReal JAMMED = 1e4;

// Solves after the first. The last one is at a share that is known to make no energy.
enum { MOST_SOLVES = 12 };

typedef enum { FIRST = 0, WITHOUT, BETWEEN, DONE } State;
enum { LOW, HIGH, BESIDE };

static bool bounces(const tbModel* m, const tbData* d, const tbConstraint* c) {
  if (c->source != TB_SOURCE_CONTACT || !(d->contact[c->id].restitution > 0)) return false;
  return tb_restitution_term(m, d, c) < 0;
}

static tbReal row_velocity(const tbConstraint* c, int row, const tbReal* v) {
  tbReal sum = 0;
  const tbReal* J = c->J + (size_t)row * (size_t)c->nnz;
  for (int k = c->lead; k < c->nnz; k++) sum += J[k] * v[c->col[k]];
  return sum;
}

static bool island_bounces(const tbRigidStep* step, const tbIsland* island) {
  for (int k = 0; k < island->nmember; k++) {
    if (bounces(step->m, step->d, &step->state->constraints.list[island->member[k]])) return true;
  }
  return false;
}

// W of (1), J, and what normal impulses turn round. Compliant contacts are springs, which give back
// what they took.
static tbReal contact_work(const tbRigidStep* step, const tbIsland* island, tbReal* turned) {
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
  *turned = sum;
  return work;
}

// The restitution of an island's contacts that bounce, from now on.
static void set_share(const tbRigidStep* step, const tbIsland* island, const tbReal* restitution,
                      tbReal share) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &step->state->constraints.list[island->member[k]];
    if (c->source != TB_SOURCE_CONTACT) continue;
    tbReal* own = &step->d->contact[c->id].restitution;
    *own = restitution[c->id];
    if (bounces(step->m, step->d, c)) *own *= share;
  }
}

// Impulses that jam move nothing, so a solve that starts from them may keep them.
static void forget_impulses(const tbRigidStep* step, const tbIsland* island) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &step->state->constraints.list[island->member[k]];
    tb_impulse_cache_forget(&step->state->warm, c->key);
  }
}

// Where the parabola through three points is zero between the first two, or their middle.
static tbReal parabola_zero(const tbReal* x, const tbReal* y) {
  tbReal a = x[LOW], b = x[HIGH], middle = (a + b) / 2;
  tbReal slope = (y[HIGH] - y[LOW]) / (b - a);
  tbReal other = (y[BESIDE] - y[LOW]) / (x[BESIDE] - a);
  tbReal bend = (other - slope) / (x[BESIDE] - b);
  // y[LOW] + t (slope + bend (t - (b - a))) with t from a on.
  tbReal first = slope - bend * (b - a), root = first * first - 4 * bend * y[LOW];
  if (!(root >= 0)) return middle;
  // The root that is there for a straight line, too.
  tbReal t = -2 * y[LOW] / (first + sqrt(root));
  return a + t > a && a + t < b ? a + t : middle;
}

// The next share to try, from what the last one did.
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
    // The share at which the work is zero if what restitution adds goes with its square.
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
    if (b->state == FIRST && !island_bounces(step, island)) b->state = DONE;
    if (b->state == DONE) continue;
    tbReal turned, work = contact_work(step, island, &turned);
    bool makes = work > NOISE * turned;
    bool jams = !(island->residual <= NO_ANSWER) || (!makes && turned > JAMMED * energy);
    // Without restitution contacts may do as much, because of what else there is to their island:
    // then there is nothing to choose.
    bool settled = b->state == FIRST     ? !makes && !jams
                   : b->state == WITHOUT ? !(work < 0) || jams
                                         : !makes && !jams && work >= ENOUGH * b->least;
    if (settled || b->tried == MOST_SOLVES) {
      b->state = DONE;
      continue;
    }
    if (jams) forget_impulses(step, island);
    if (!jams) b->share = next_share(b, work);
    b->tried = jams ? MOST_SOLVES : b->tried + 1;
    if (b->tried == MOST_SOLVES) b->share = b->point[LOW];
    set_share(step, island, restitution, b->share);
    again = true;
  }
  return again;
}
