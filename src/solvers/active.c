// With sigma = g + J x + R lambda, x = M^-1 J^T lambda, a contact of the exact law is open
// (lambda = 0), sticks (sigma = 0) or slides (sigma_N = 0, lambda_T = mu lambda_N u). Which of them
// follows from the fixed point of Alart and Curnier (1991),
//
//     y = lambda - sigma / rho:   y_N <= 0 open,   |y_T| <= mu y_N sticks,   else slides along
//     u = y_T / |y_T|                                                                         (1)
//
// and so does the derivative of the direction: across u, lambda_T = -c sigma_T with
// c = kappa / (rho (1 - kappa)), kappa = mu y_N / |y_T|. Given the modes, every block is affine in
// its velocity,
//
//     lambda = c0 - W (g + J x)                                                               (2)
//
// where rows with sigma = 0 get the proximal term E (lambda - lambda_k) that makes W = 1/(E + R)
// finite. Together with M x = J^T lambda this is one linear system with M + J^T W J (3), which is
// symmetric unless something slides. Modes and system in turn are Newton's method; near the
// solution of the last step two rounds are typical. Elliptic cones become round in the coordinates
// lambda_j / mu_j, mu_j sigma_j. ccp differs in the sliding zone of (1) only: the projection on the
// cone, with W along the edge d = (1, mu u).
#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "solvers/active_state.h"

// The largest E over the diagonal of G.
static const tbReal MOST_CAUTIOUS = 1;
// E over the diagonal of G on small islands. A round leaves about E times what was there, so that
// at first it may be this share of the tolerance over the residual of the guess, between:
static const tbReal SOFT_SHARE = 0.1, SOFT_LEAST = 1e-4, SOFT_FIRST = 1e-3;
// Where it starts from when modes do not settle, what it loses from stage to stage, and below what
// modes that change still will not settle any more. Rounds of a stage.
static const tbReal SOFT_START = 1e-2, SOFT_DECAY = 0.1, SOFT_LITTLE = 2e-3;
enum { STAGE = 2, LAST_STAGE = 4 };
// Of an impulse: what swings to and fro by less comes to rest in the middle.
static const tbReal SWING = 1e-3;
// What is that many times the tolerance away from the answer is not tried; while modes hold, the
// next round costs less than a trial down to this.
static const tbReal NEAR = 100, CLOSE = 30;
// Of the largest velocity: what is farther away after a whole step needs smaller ones.
static const tbReal FAR = 0.1;
// What is this far below the tolerance is not polished, whatever modes do.
static const tbReal EARLY = 1e-2;
// How far below the tolerance residuals are brought while that is easy.
static const tbReal SETTLED = 1e-6, SETTLED_SMALL = 1e-5, TIE = 1e-3;
// The same on small islands where something slides: what moves is found anew in the next step. So
// it is where the guess was that many tolerances off, and in parts of an island, which others
// disturb.
static const tbReal SETTLED_SLIDING = 0.1, SETTLED_MOVING = 0.3, MOVING = 100, SETTLED_PART = 0.1;
enum { SETTLE = 8, SETTLE_SLIDING = 2 };
// Solutions for impulses of rest of loose bodies; of others, one.
enum { REST_LOOSE = 2 };
// Rounds at first, after sweeps, and on islands of more than LARGE rows. Those of more than MANY
// are solved from place to place first.
enum { FIRST = 10, FIRST_SMALL = 8, LATER = 6, FIRST_LARGE = 3, LARGE = 200, MANY = 400 };
enum { SWEEPS_LARGE = 80, POLISH_LARGE = 1, CONVEX_ROUNDS = 40 };
// A step shorter than this is a sign of trouble; one that is too short ends the rounds of a small
// island. Iterations without progress.
static const tbReal SHORT = 0.3, TOO_SHORT = 0.1, SHORTEST = 1e-2;
enum { PATIENCE = 4 };
// The share of contacts that no longer do what their impulses say, above which a large island is
// not tried with these; and how close to a border, of the largest impulse or of their own, they say
// nothing.
static const tbReal MOVED = 0.02, BORDER = 1e-4;

static bool allocate(tbActiveState* s, tbArena* arena) {
  size_t n = (size_t)s->p->n + 1;
  tbReal** const vectors[] = {&s->lambda, &s->sigma, &s->anchor, &s->next, &s->speed, &s->slow,
                              &s->old,    &s->trial, &s->check,  &s->best, &s->good,  &s->guess};
  enum { COUNT = sizeof vectors / sizeof *vectors };
  tbReal* block = tb_arena_alloc(arena, sizeof(tbReal) * COUNT * n);
  s->mode = tb_arena_alloc(arena, sizeof(int) * n);
  s->slide = tb_arena_alloc(arena, sizeof(tbSlide) * (size_t)(s->p->nblock + 1));
  if (!block || !s->mode || !s->slide) return false;
  for (int k = 0; k < COUNT; k++) *vectors[k] = block + (size_t)k * n;
  return s->form->start(s, arena);
}

// ---- rounds ------------------------------------------------------------------------------------

// Judge impulses within the cones and the velocity they lead to. True: they are good enough.
static bool judge_trial(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  info->residual = tb_residual(s->p, s->a->law, s->trial, s->check);
  if (info->residual.relative < s->best_measure) {
    s->best_measure = info->residual.relative;
    memcpy(s->best, s->trial, bytes);
  }
  if (!(info->residual.relative <= s->a->tolerance)) return false;
  memcpy(lambda, s->trial, bytes);
  info->residual_exact =
      s->a->law == TB_LAW_NCP ? info->residual : tb_residual(s->p, TB_LAW_NCP, s->trial, s->check);
  info->status = TB_SOLVE_CONVERGED;
  return true;
}

// What the modes lead to, within the cones, is a candidate.
static bool accept(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  const tbProblem* p = s->p;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], s->a->law, s->lambda + row, s->trial + row);
  }
  s->form->velocity(s, s->trial, s->check);
  return judge_trial(s, lambda, info);
}

bool tb_active_moving(const tbActiveState* s) {
  return s->guess_measure > MOVING * s->a->tolerance;
}

// How much of a row's velocity the residual feels, against that of sliding: torsion and rolling, in
// rad/s, count by their coefficients.
static tbReal felt_share(const tbBlock* b, int k) {
  enum { SLIDING = 3 };
  bool turns = b->type == TB_BLOCK_CONE && k >= SLIDING && b->mu[k - 1] < b->mu[0];
  return turns ? b->mu[k - 1] / b->mu[0] : 1;
}

// Whether a row of a block is held by its mode.
static bool is_held(const tbActiveState* s, const tbBlock* b, int row) {
  int mode = s->mode[b->type == TB_BLOCK_CONE ? b->row : row];
  bool normal = mode == TB_MODE_SLIDE && row == b->row;
  return mode == TB_MODE_ACTIVE || mode == TB_MODE_STICK || normal;
}

// How much of a row's velocity is the last step's doing. Where loose bodies yield to each other, an
// overlap that its impulse holds stays, which is nothing to undo: the guess missed that impulse.
static tbReal inherited(const tbActiveState* s, const tbReal* lambda, int row) {
  const tbActive* a = s->a;
  return a->inherited[row] + (a->loose ? s->p->R[row] * (lambda[row] - s->guess[row]) : 0);
}

// Whether what rows that hold have inherited is no more than what the last step left within its
// tolerance: what moves has more, and will have it again.
static bool rests(const tbActiveState* s, const tbReal* lambda) {
  const tbProblem* p = s->p;
  if (!s->a->rest) return false;
  tbReal most = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int row = b->row; row < b->row + b->dim; row++) {
      if (!is_held(s, b, row)) continue;
      most = fmax(most, felt_share(b, row - b->row) * fabs(inherited(s, lambda, row)));
    }
  }
  return most <= TB_INHERITED_MOST * s->a->left * s->fastest;
}

// Of the tolerance: what a residual is brought to where modes hold.
static tbReal settled_share(const tbActiveState* s) {
  if (s->a->part) return SETTLED_PART;
  if (tb_active_moving(s) && !(s->a->loose && rests(s, s->lambda))) return SETTLED_MOVING;
  if (!s->small) return SETTLED;
  return s->sliding ? SETTLED_SLIDING : SETTLED_SMALL;
}

// Solutions of the same modes, with the same factors if they can be, until the residual is far
// below the tolerance or no longer falls: what rests on these impulses then stays where it is, and
// they are good for the next steps too. True: one of them is good enough.
static bool settle(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  tbSolveInfo best = *info;
  tbReal last = INFINITY;
  bool held = true;
  for (int k = 0; k < SETTLE; k++) {
    tbSolveInfo now = *info;
    bool enough = accept(s, s->good, &now);
    tbReal measure = now.residual.relative;
    if (enough && (best.status != TB_SOLVE_CONVERGED || measure < best.residual.relative)) {
      best = now;
      memcpy(lambda, s->good, bytes);
    }
    if (!held || measure <= settled_share(s) * s->a->tolerance || !(measure < 0.5 * last)) break;
    last = measure;
    memcpy(s->lambda, s->trial, bytes);
    memcpy(s->sigma, s->check, bytes);
    memcpy(s->anchor, s->lambda, bytes);
    tb_active_modes(s);
    if (s->changed) break;
    // Directions of sliding change the matrix. Without them, more of a proximal term than is needed
    // costs more solutions than factors without it do.
    bool soft = s->small && !s->sliding && s->softness > TB_ACTIVE_SOFTNESS;
    if (soft) s->softness = TB_ACTIVE_SOFTNESS;
    if (s->sliding || soft) {
      best.factorizations++;
      if ((s->sliding && k >= SETTLE_SLIDING) || !s->form->factor(s)) break;
    }
    if (!s->form->refine(s)) break;
    memcpy(s->lambda, s->next, bytes);
    memcpy(s->sigma, s->speed, bytes);
    memcpy(s->anchor, s->lambda, bytes);
    tb_active_modes(s);
    held = !s->changed;
  }
  *info = best;
  return info->status == TB_SOLVE_CONVERGED;
}

// Whether most blocks are contacts of the exact law on free bodies, by their shape: those whose
// sweeps cost little next to factors.
static bool loose(const tbActiveState* s) {
  enum { ROWS = 3, BODY = 6 };
  int count = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    int nnz = s->a->block[i].nnz;
    bool free_bodies = nnz == BODY || nnz == 2 * BODY;
    count += s->p->block[i].type == TB_BLOCK_CONE && s->p->block[i].dim == ROWS && free_bodies;
  }
  return s->a->law == TB_LAW_NCP && 4 * count >= 3 * s->p->nblock;
}

// Whether sweeps and repairs come first, which mostly do without factors of the whole island.
static bool from_place_to_place(const tbActiveState* s) {
  return !s->small && !s->a->part && s->p->n > MANY && loose(s);
}

// Sweeps from the best point so far, on large islands only where they are needed and with repairs
// after them; what they end with is a candidate too. Sets *solved. False: out of memory.
static bool relax_best(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                       bool* solved) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  memcpy(s->lambda, s->best, bytes);
  // From the same point repairs would lead to the same place: plain sweeps, then.
  bool local = !s->small && !s->a->part && s->p->n > LARGE && s->best_measure < s->repaired;
  bool free_bodies = local && loose(s);
  s->repaired = s->best_measure;
  if (!(free_bodies ? tb_active_whiten(s, arena) : tb_active_sweep(s, arena, SWEEPS_LARGE))) {
    return false;
  }
  if (local && !tb_active_regions(s, arena, info)) return false;
  memcpy(s->trial, s->lambda, bytes);
  memcpy(s->check, s->sigma, bytes);
  *solved = judge_trial(s, lambda, info);
  return true;
}

// Modes of the first guess.
static void first_modes(tbActiveState* s, const tbSolveInfo* info) {
  s->first = info->iterations == 0;
  // What falls together is closed at first: loads need not travel up a stack contact by contact.
  s->tie = s->first ? TIE * s->fastest : 0;
  tb_active_modes(s);
  s->first = false;
  s->tie = 0;
}

// Whether a cone's impulses say something else than its mode. Interior points end next to the
// borders, not on them: what is that close to one may be on either side.
static bool differs(const tbBlock* b, const tbReal* lambda, int mode, tbReal little) {
  tbReal tangent = 0;
  for (int j = 1; j < b->dim; j++) {
    tbReal share = b->mu[j - 1] > 0 ? lambda[j] / b->mu[j - 1] : 0;
    tangent += share * share;
  }
  tangent = sqrt(tangent);
  if (mode == TB_MODE_OPEN) return lambda[0] > little;
  if (!(lambda[0] > 0)) return true;
  return mode == TB_MODE_STICK ? tangent >= (1 - TB_ACTIVE_SOFTNESS) * lambda[0]
                               : tangent < (1 - BORDER) * lambda[0];
}

// The share of contacts that, by the velocity that their impulses lead to, do something else than
// these say. Where it is more than a few in a hundred, rounds on the active set are in vain.
static tbReal moved_share(tbActiveState* s) {
  int differ = 0, cones = 0;
  tbReal largest = 0;
  for (int r = 0; r < s->p->n; r++) largest = fmax(largest, fabs(s->lambda[r]));
  first_modes(s, &(tbSolveInfo){0});
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    if (b->type != TB_BLOCK_CONE) continue;
    cones++;
    differ += differs(b, s->lambda + b->row, s->mode[b->row], BORDER * largest);
  }
  return cones > 0 ? (tbReal)differ / cones : 0;
}

// One round: to the solution of the modes, and the modes there. False: the matrix is singular.
static bool whole_step(tbActiveState* s, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  info->iterations++;
  info->factorizations++;
  if (!s->form->factor(s) || !s->form->solve(s)) return false;
  memcpy(s->lambda, s->next, bytes);
  memcpy(s->sigma, s->speed, bytes);
  return true;
}

// As much of a proximal term as the first round can have and still end well below the tolerance:
// what is close to its answer has no need to go far.
static tbReal first_softness(const tbActiveState* s) {
  if (!s->small) return TB_ACTIVE_SOFTNESS;
  return fmin(SOFT_FIRST, fmax(SOFT_LEAST, SOFT_SHARE * s->a->tolerance / s->best_measure));
}

// It will do, but modes that settle bring it to where it holds: one more round for these.
static void polish(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (info->iterations >= s->a->max_iter) return;
  s->softness = TB_ACTIVE_SOFTNESS;
  s->proximal = false;
  memcpy(s->anchor, s->lambda, sizeof(tbReal) * (size_t)s->p->n);
  if (!whole_step(s, info)) return;
  tb_active_modes(s);
  if (!s->changed) settle(s, lambda, info);
}

// What the modes lead to is tried even where others come next, if it is close: at a border between
// two modes both are right.
static bool try_early(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (!(s->miss <= NEAR * s->a->tolerance * s->fastest)) return false;
  tbSolveInfo now = *info;
  if (!accept(s, lambda, &now)) return false;
  *info = now;
  bool holds = !s->changed || tb_active_moving(s);
  tbReal share = holds ? fmax(EARLY, settled_share(s)) : EARLY;
  if (info->residual.relative > share * s->a->tolerance) polish(s, lambda, info);
  return true;
}

// Whether the rounds of eager() end at a step of length t.
static bool too_short(const tbActiveState* s, int round, tbReal t) {
  return s->small ? t < TOO_SHORT : t < SHORT && round == 0 && s->p->n > LARGE;
}

// Every round is a proximal step that is cut short where that brings it closer to (1). Where full
// steps do not help, the proximal term grows until they do; where hardly any length helps there are
// better ways, on large islands at once.
static bool eager(tbActiveState* s, int rounds, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  s->softness = first_softness(s);
  memcpy(s->anchor, s->lambda, bytes);
  first_modes(s, info);
  for (int k = 0; k < rounds && info->iterations < s->a->max_iter; k++) {
    memcpy(s->old, s->lambda, bytes);
    memcpy(s->slow, s->sigma, bytes);
    if (!whole_step(s, info)) return false;
    memcpy(s->anchor, s->lambda, bytes);
    tb_active_modes(s);
    // While modes hold, only directions of sliding are left to find, and on small islands the next
    // round costs less than a trial.
    bool close = !s->small || s->miss <= CLOSE * s->a->tolerance * s->fastest;
    if (!s->changed && close && settle(s, lambda, info)) return true;
    if (s->small && s->changed && try_early(s, lambda, info)) return true;
    bool held = s->small && !s->changed && s->miss <= FAR * s->fastest;
    tbReal t = held ? 1 : tb_active_length(s, s->small ? 0.5 * TOO_SHORT : SHORTEST);
    if (t == 1) {
      s->softness = fmax(TB_ACTIVE_SOFTNESS, 1e-2 * s->softness);
      continue;
    }
    bool ends = too_short(s, k, t);
    if (ends) t = 0;
    if (t < SHORT) s->softness = fmin(MOST_CAUTIOUS, fmax(1e-4, 30 * s->softness));
    for (int r = 0; r < s->p->n; r++) {
      s->lambda[r] = s->old[r] + t * (s->next[r] - s->old[r]);
      s->sigma[r] = s->slow[r] + t * (s->speed[r] - s->slow[r]);
    }
    if (ends) return false;
    memcpy(s->anchor, s->lambda, bytes);
    tb_active_modes(s);
  }
  return false;
}

// Redundant contacts share a load in many ways, and modes that are nearly right may ask for huge
// impulses that cancel. A large proximal term keeps them near the last ones: its problem is solved
// by a few rounds, and again from there with a smaller one, until there is next to none.
static bool anneal(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  bool solved = false, last = false, lost = false;
  s->proximal = true;
  for (tbReal softness = SOFT_START; !solved && !last && !lost; softness *= SOFT_DECAY) {
    last = softness < 2 * TB_ACTIVE_SOFTNESS;
    s->softness = last ? TB_ACTIVE_SOFTNESS : softness;
    memcpy(s->anchor, s->lambda, bytes);
    if (softness == SOFT_START) tb_active_modes(s);
    for (int k = 0; k < (last ? LAST_STAGE : STAGE) && !solved && !lost; k++) {
      lost = info->iterations >= s->a->max_iter || !whole_step(s, info);
      if (lost) break;
      tb_active_modes(s);
      solved = (s->changed || !last) && try_early(s, lambda, info);
      if (!s->changed) break;
    }
    // Far off with so small a term: less of it will not help.
    lost = lost || (s->changed && softness < SOFT_LITTLE && !(s->miss <= FAR * s->fastest));
  }
  s->proximal = false;
  if (solved || lost || s->changed) return solved;
  memcpy(s->anchor, s->lambda, bytes);
  return settle(s, lambda, info);
}

// One attempt of interior points from `trial` and its velocity `check`, and a round on the modes
// where they end, which brings the last digits. Sets *solved. False: out of memory.
static bool interior_attempt(tbActiveState* s, tbArena* arena, const tbInterior* settings,
                             tbReal* lambda, tbSolveInfo* info, bool* solved) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  if (!tb_active_interior(s->a, arena, settings, s->trial, s->check, info)) return false;
  memcpy(s->lambda, s->trial, bytes);
  memcpy(s->sigma, s->check, bytes);
  tbSolveInfo found = *info;
  *solved = judge_trial(s, lambda, &found);
  if (!*solved || (!tb_active_moving(s) && eager(s, POLISH_LARGE, lambda, info))) return true;
  found.iterations = info->iterations;
  found.factorizations = info->factorizations;
  *info = found;
  return true;
}

// Large islands, where modes rarely settle by themselves: interior points near the last step's
// impulses (or near none, where these are worse), and again from the best point so far, each time
// on the central path at first. One contact that does not let them pass keeps all others from
// their borders; sweeps leave it alone among those and turn directions of sliding. With sparse
// factors they come before every further attempt, on small islands before the last. Of many
// contacts between free bodies each has few others to wait for: sweeps and repairs come first, and
// mostly end it.
// Sets *solved. False: out of memory.
static bool interior(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                     bool* solved) {
  enum { ATTEMPTS = 4, SMALL_ATTEMPTS = 7, AFTER = 4, PART_ATTEMPTS = 2 };
  static const tbReal central[2][SMALL_ATTEMPTS] = {{3, 1e9, 0.1, 10, 0.1, 1, 0.1},
                                                    {0.1, 0.1, 1, 0.1}};
  bool small = s->small, many = from_place_to_place(s);
  int attempts = s->a->part ? PART_ATTEMPTS : small ? SMALL_ATTEMPTS : ATTEMPTS;
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  for (int k = 0; k < attempts && !*solved && info->iterations < s->a->max_iter; k++) {
    bool swept = many || k >= (small ? AFTER : 1);
    if (swept && !relax_best(s, arena, lambda, info, solved)) return false;
    if (*solved) return true;
    if (!tb_velocity_finish(s->a->system)) return false;
    // Small islands come here only where what is close to the last impulses has been tried: a
    // little farther away, then from the centre.
    tbReal center = fmin(1, central[!small][k] * fmin(s->best_measure, 1));
    // What a small one leaves shows: a box in a grip creeps.
    tbInterior settings = {40, PATIENCE, small ? 0.5 : 0.9, center, 0.005};
    if (!swept) {
      memcpy(s->trial, small && k == 1 ? s->guess : s->best, bytes);
      if (s->best_measure > 1) memset(s->trial, 0, bytes);
      s->form->velocity(s, s->trial, s->check);
    }
    if (!interior_attempt(s, arena, &settings, lambda, info, solved)) return false;
    if (!*solved && small) *solved = anneal(s, lambda, info);
  }
  return true;
}

// Convex problems, which get closer from anywhere, and modes from where they end. Sets *solved.
// False: out of memory.
static bool convex(tbActiveState* s, tbArena* arena, tbReal* lambda, tbSolveInfo* info,
                   bool* solved) {
  size_t bytes = sizeof(tbReal) * (size_t)s->p->n;
  if (info->iterations >= s->a->max_iter) return true;
  memcpy(s->trial, s->best, bytes);
  s->form->velocity(s, s->trial, s->check);
  if (!tb_active_convex(s->a, arena, CONVEX_ROUNDS, s->a->tolerance, s->trial, s->check, info)) {
    return false;
  }
  s->form->velocity(s, s->trial, s->check);
  memcpy(s->lambda, s->trial, bytes);
  memcpy(s->sigma, s->check, bytes);
  *solved = judge_trial(s, lambda, info) || eager(s, LATER, lambda, info);
  return true;
}

// Small islands, where a round costs little. What is not solved then needs interior points.
static bool small_island(tbActiveState* s, tbReal* lambda, tbSolveInfo* info) {
  if (eager(s, FIRST_SMALL, lambda, info)) return true;
  memcpy(s->lambda, s->guess, sizeof(tbReal) * (size_t)s->p->n);
  s->form->velocity(s, s->lambda, s->sigma);
  return anneal(s, lambda, info);
}

// ---- impulses at rest --------------------------------------------------------------------------

// The middle of two impulses of a block that differ by little.
static void swing_middle(const tbBlock* b, const tbReal* before, tbReal* lambda) {
  tbReal size = 0, change = 0;
  for (int row = b->row; row < b->row + b->dim; row++) {
    size = fmax(size, fabs(lambda[row]));
    change = fmax(change, fabs(lambda[row] - before[row]));
  }
  if (!(change <= SWING * size)) return;
  for (int row = b->row; row < b->row + b->dim; row++) {
    lambda[row] = 0.5 * (lambda[row] + before[row]);
  }
}

// What a step leaves within the tolerance the next one undoes. The impulse for that is none of the
// step after: taken as a guess there it would have to be undone again, and so on for ever. What the
// same modes need without it is the better guess, and costs a solve with factors that are there.
// Without modes: impulses that undo differ from those of rest as the last ones did, to the other
// side, where they differ by little.
static void rest_impulses(tbActiveState* s, const tbReal* lambda) {
  const tbActive* a = s->a;
  const tbProblem* p = s->p;
  size_t bytes = sizeof(tbReal) * (size_t)p->n;
  memcpy(a->rest, lambda, bytes);
  bool factored = !a->system || a->system->dense || a->system->rows;
  if (s->changed || !factored || s->softness > (s->small ? SOFT_START : TB_ACTIVE_SOFTNESS)) {
    for (int i = 0; i < p->nblock; i++) swing_middle(&p->block[i], s->guess, a->rest);
    return;
  }
  if (!rests(s, lambda)) return;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    for (int row = b->row; row < b->row + b->dim; row++) {
      if (is_held(s, b, row)) s->sigma[row] -= inherited(s, lambda, row);
    }
  }
  // Once more than it seems to need: heavy bodies on light ones turn what is left of an impulse
  // into a velocity that is not.
  for (int k = 0; k < (a->loose ? REST_LOOSE : 1); k++) {
    memcpy(s->anchor, s->lambda, bytes);
    if (!s->form->refine(s)) return;
    memcpy(s->lambda, s->next, bytes);
    memcpy(s->sigma, s->speed, bytes);
  }
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    tb_block_project(&p->block[i], a->law, s->lambda + row, a->rest + row);
  }
  if (a->relieved) *a->relieved = true;
}

bool tb_active_solve(const tbActive* a, tbArena* arena, const tbReal* sigma, tbReal* lambda,
                     tbSolveInfo* info) {
  tbActiveState s = {.a = a, .p = a->p};
  bool dense = a->system && a->system->dense;
  s.small = !a->system || dense || a->few;
  // A small part takes every step as a change, too.
  if (a->part && a->few) dense = true;
  s.form = !a->system ? &TB_ACTIVE_DUAL : dense ? &TB_ACTIVE_DENSE : &TB_ACTIVE_VELOCITY;
  size_t bytes = sizeof(tbReal) * (size_t)a->p->n;
  *info = (tbSolveInfo){.status = TB_SOLVE_MAX_ITERATIONS, .law = tb_law_name(a->law)};
  info->solver = "active";
  if (!allocate(&s, arena)) return false;
  memcpy(s.lambda, lambda, bytes);
  memcpy(s.sigma, sigma, bytes);
  memcpy(s.best, lambda, bytes);
  memcpy(s.guess, lambda, bytes);
  for (int r = 0; r < a->p->n; r++) {
    tbReal speed = fabs(a->p->g[r]);
    if (speed > s.fastest) s.fastest = speed;
  }
  s.best_measure = a->measure ? *a->measure : tb_residual(a->p, a->law, lambda, sigma).relative;
  s.repaired = INFINITY;
  for (int r = 0; r < a->p->n; r++) {
    s.mode[r] = -1;
    if (lambda[r] != 0) s.guess_measure = s.best_measure;
  }
  bool solved = false;
  tbReal share = !s.small && a->p->n > LARGE && !a->tried ? moved_share(&s) : 0;
  bool sweeps_first = from_place_to_place(&s) && (a->tried || share > MOVED);
  if (a->system && !sweeps_first && !tb_velocity_finish(a->system)) return false;
  if (s.small) {
    solved = small_island(&s, lambda, info);
  } else if (!a->tried) {
    solved = share <= MOVED && eager(&s, a->p->n > LARGE ? FIRST_LARGE : FIRST, lambda, info);
  }
  if (a->system && !solved && !interior(&s, arena, lambda, info, &solved)) return false;
  bool slow = a->system && a->p->n <= LARGE && !a->part;
  if (slow && !solved && !convex(&s, arena, lambda, info, &solved)) return false;
  if (solved && a->rest) rest_impulses(&s, lambda);
  if (solved) return true;

  // Not good enough, but the best there is.
  memcpy(lambda, s.best, bytes);
  if (a->system && !tb_velocity_finish(a->system)) return false;
  s.form->velocity(&s, s.best, s.check);
  info->residual = tb_residual(a->p, a->law, s.best, s.check);
  info->residual_exact = tb_residual(a->p, TB_LAW_NCP, s.best, s.check);
  return true;
}
