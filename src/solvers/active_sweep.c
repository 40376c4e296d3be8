// Gauss-Seidel with exact local solutions (CM Alg. 6): slow to converge, but what opens, sticks or
// slides shows after a few sweeps. Velocities are kept whitened, w = B^T lambda with
// B = J L^-1 D^-1/2, so that a block costs its support and no more.
//
// Contacts of three rows on free bodies, nearly all in a heap, have code of their own: what of the
// local problem does not change from sweep to sweep is computed once, and the multiplier of
// sliding goes on from the last sweep's by a few steps of Newton's method.
#include <math.h>
#include <string.h>

#include "contact/cone.h"
#include "solvers/active_parts.h"
#include "solvers/contact_rows.h"
#include "solvers/local.h"

enum { MAX = TB_MAX_BLOCK_DIM, D = TB_CONTACT_ROWS, LINE = 64 };

// Over-relaxation: a contact that is more than so many times above its target goes farther by this
// share of its change, where that follows the last one (the squared cosine between them) and is not
// larger. Everywhere, some contacts would swing for ever.
static const tbReal NEARLY = 10, FARTHER = 0.8, ALIGNED = 0.6;

// A contact of three rows on free bodies, all that its sweeps read: eight lines of cache, of which
// the first six tell whether it is good enough. After elimination of its normal row on the plane
// sigma_N = 0, in the unknowns x_i = lambda_Ti / mu_i (local.c): lambda_N = n0 - a . x with
// n0 = -b_N / A_NN, a_i = mu_i h_i, h_i = A_Ni / A_NN, and (S + s I) x = -c with
// c_i = mu_i (b_i - h_i b_N), s >= 0 the multiplier of sliding.
typedef struct {
  _Alignas(LINE) int bodies;  // that it moves, or 0: a block that goes the general way
  int body[2];                // their first dofs
  int row;
  tbReal g[D], R[D], mu[2];
  tbReal B[D * TB_PAIR_DOFS];
  tbReal A[6];     // B B^T + R by rows of its lower triangle
  tbReal inverse;  // 1 / A_NN
  tbReal S[3];
  tbReal rest[3];  // S^-1
  tbReal slip;
  tbReal last[D];  // change
} Contact;

// What any block needs: its rows of B on its support and, but for contacts on free bodies,
// B B^T + R.
typedef struct {
  int nnz;
  const int* col;  // dofs of B: those of J and their ancestors
  tbReal *B, *A;
  tbReal slip;
} Local;

// What tells whether a block is to be looked at, apart from the rest since it is asked in every
// sweep: the first dofs of the free bodies that a contact moves, or -1, and when it was last done.
typedef struct {
  int body[2];
  int seen;
} Visit;

// Before the first change of anything.
enum { NEVER = -1 };

struct tbActiveSweeps {
  Local* local;
  Contact* contact;
  Visit* visit;
  tbReal* w;   // by dof; only the dofs of the island are used
  int* moved;  // by dof: when a block last changed w there; for free bodies the first dof stands
  int clock;   // counts changes
};

// ---- what does not change ----------------------------------------------------------------------

// Whether a block of rows moves one free body or two, with all of their dofs.
static int count_bodies(const tbRows* rows, int* body) {
  if (rows->nnz != TB_BODY_DOFS && rows->nnz != TB_PAIR_DOFS) return 0;
  body[1] = 0;
  for (int k = 0; k < rows->nnz; k++) {
    int part = k / TB_BODY_DOFS;
    if (k % TB_BODY_DOFS == 0) body[part] = rows->col[k];
    if (rows->col[k] != body[part] + k % TB_BODY_DOFS) return 0;
  }
  return rows->nnz / TB_BODY_DOFS;
}

// False where an axis has no friction or no inertia, or where two depend on each other.
static bool reduce(const tbBlock* b, const tbReal* A, Contact* c) {
  const tbReal singular = 1e-14;
  if (!(A[0] > 0)) return false;
  c->inverse = 1 / A[0];
  tbReal m0 = c->mu[0] = b->mu[0], m1 = c->mu[1] = b->mu[1];
  tbReal h0 = A[3] * c->inverse, h1 = A[6] * c->inverse;
  c->S[0] = m0 * m0 * (A[4] - A[3] * h0);
  c->S[1] = m0 * m1 * (A[5] - A[3] * h1);
  c->S[2] = m1 * m1 * (A[8] - A[6] * h1);
  tbReal product = c->S[0] * c->S[2], det = product - c->S[1] * c->S[1];
  if (!(c->S[0] > 0) || !(c->S[2] > 0) || !(det > singular * product)) return false;
  c->rest[0] = c->S[2] / det;
  c->rest[1] = -c->S[1] / det;
  c->rest[2] = c->S[0] / det;
  for (int r = 0, k = 0; r < D; r++) {
    for (int j = 0; j <= r; j++) c->A[k++] = A[r * D + j];
  }
  return true;
}

// The dofs of B. A single row may come without the first of its ancestors, where J is zero and B is
// not.
static Local find_support(const tbForest* forest, const tbRows* rows) {
  Local l = {.nnz = rows->nnz, .col = rows->col};
  int last = rows->nnz > 0 ? rows->col[rows->nnz - 1] : -1;
  if (last >= 0 && rows->nnz < forest->rownnz[last]) {
    l.nnz = forest->rownnz[last];
    l.col = forest->colind + forest->rowadr[last];
  }
  return l;
}

// B, and B B^T + R, of a block.
static void whiten_rows(const tbActiveState* s, int i, const Local* l, tbReal* B, tbReal* A) {
  const tbActive* a = s->a;
  const tbRows* rows = &a->block[i];
  int d = rows->dim, n = l->nnz, missing = n - rows->nnz;
  for (int r = 0; r < d; r++) {
    for (int k = 0; k < missing; k++) B[r * n + k] = 0;
    for (int k = missing; k < n; k++) B[r * n + k] = rows->J[r * rows->nnz + k - missing];
  }
  tb_ltdl_half_solve_support(a->forest, a->LD, a->inverse, l->col, n, B, n, d);
  for (int r = 0; r < d; r++) {
    for (int c = 0; c <= r; c++) {
      tbReal sum = 0;
      for (int k = 0; k < n; k++) sum += B[r * n + k] * B[c * n + k];
      A[r * d + c] = A[c * d + r] = sum;
    }
    if (s->p->R) A[r * d + r] += s->p->R[s->p->block[i].row + r];
  }
}

// A block as a contact on free bodies. False: it is none.
static bool make_contact(const tbActiveState* s, int i, const Local* l, Contact* c) {
  const tbRows* rows = &s->a->block[i];
  const tbBlock* b = &s->p->block[i];
  bool exact = b->type == TB_BLOCK_CONE && b->dim == D && s->a->law == TB_LAW_NCP;
  tbReal A[D * D];
  c->bodies = 0;
  int bodies = exact ? count_bodies(rows, c->body) : 0;
  if (bodies == 0) return false;
  whiten_rows(s, i, l, c->B, A);
  if (!reduce(b, A, c)) return false;
  c->bodies = bodies;
  c->row = b->row;
  c->slip = 0;
  for (int r = 0; r < D; r++) {
    c->g[r] = s->p->g[b->row + r];
    c->R[r] = s->p->R ? s->p->R[b->row + r] : 0;
    c->last[r] = 0;
  }
  return true;
}

static bool whiten(const tbActiveState* s, tbArena* arena, tbActiveSweeps* sweeps) {
  for (int i = 0; i < s->p->nblock; i++) {
    int d = s->a->block[i].dim;
    Local* l = &sweeps->local[i];
    Contact* c = &sweeps->contact[i];
    Visit* v = &sweeps->visit[i];
    *l = find_support(&s->a->forest, &s->a->block[i]);
    if (make_contact(s, i, l, c)) {
      l->B = c->B;
      v->body[0] = c->body[0];
      v->body[1] = c->bodies > 1 ? c->body[1] : c->body[0];
      continue;
    }
    l->B = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(d * l->nnz + d * d + 1));
    if (!l->B) return false;
    l->A = l->B + d * l->nnz;
    whiten_rows(s, i, l, l->B, l->A);
    v->body[0] = v->body[1] = -1;
  }
  return true;
}

static tbActiveSweeps* start(const tbActiveState* s, tbArena* arena) {
  tbActiveSweeps* sweeps = TB_ARENA_NEW(arena, tbActiveSweeps, 1);
  if (!sweeps) return NULL;
  size_t nblock = (size_t)s->p->nblock + 1;
  sweeps->local = tb_arena_alloc(arena, sizeof(Local) * nblock);
  sweeps->contact = tb_arena_alloc(arena, sizeof(Contact) * nblock);
  sweeps->visit = tb_arena_alloc(arena, sizeof(Visit) * nblock);
  sweeps->moved = TB_ARENA_NEW(arena, int, s->a->forest.n + 1);
  sweeps->w = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->a->forest.n + 1));
  if (arena->failed || !whiten(s, arena, sweeps)) return NULL;
  return sweeps;
}

// ---- contacts on free bodies -------------------------------------------------------------------

// x(s) and lambda_N(s) of sliding, and the derivative of phi = lambda_N / |x| - 1.
TB_INLINE tbReal slide(const Contact* k, const tbReal* a, const tbReal* c, tbReal n0, tbReal s,
                       tbReal* x, tbReal* normal, tbReal* slope) {
  tbReal p = k->S[0] + s, q = k->S[1], t = k->S[2] + s, by = 1 / (p * t - q * q);
  x[0] = (q * c[1] - t * c[0]) * by;
  x[1] = (q * c[0] - p * c[1]) * by;
  tbReal d0 = (q * x[1] - t * x[0]) * by, d1 = (q * x[0] - p * x[1]) * by;
  tbReal square = x[0] * x[0] + x[1] * x[1], length = sqrt(square);
  tbReal n = n0 - (a[0] * x[0] + a[1] * x[1]), dn = -(a[0] * d0 + a[1] * d1);
  *normal = n;
  *slope = (dn - n * (x[0] * d0 + x[1] * d1) / square) / length;
  return n / length - 1;
}

// The multiplier s with |x(s)| = lambda_N(s), by Newton's method inside a bracket: phi is below
// zero at s = 0 and above for s -> infinity. Sweeps go on from it: some digits are enough.
TB_INLINE tbReal find_slip(const Contact* k, const tbReal* a, const tbReal* c, tbReal n0, tbReal s,
                           tbReal* x, tbReal* normal) {
  enum { MOST = 50 };
  const tbReal enough = 1e-9;
  tbReal low = 0, high = 0, slope = 0;
  if (!(s > 0)) s = sqrt(c[0] * c[0] + c[1] * c[1]) / n0;
  for (int i = 0; i < MOST; i++) {
    tbReal phi = slide(k, a, c, n0, s, x, normal, &slope);
    if (!(fabs(phi) > enough)) break;
    if (phi < 0) {
      low = s;
    } else {
      high = s;
    }
    tbReal next = slope > 0 ? s - phi / slope : -1;
    if (high == 0) {
      s = fmax(2 * s, fmin(next, 100 * s));
    } else {
      s = next > low && next < high ? next : low > 0 ? sqrt(low * high) : 0.01 * high;
    }
    if (!isfinite(s) || s == low || s == high) break;
  }
  return s;
}

// The exact law of one contact (CM eq. 13), b its velocity without its own impulse.
TB_INLINE void contact_solve(Contact* k, const tbReal* b, tbReal* lambda) {
  lambda[0] = lambda[1] = lambda[2] = 0;
  if (!(b[0] < 0)) return;
  tbReal n0 = -b[0] * k->inverse, h[2] = {k->A[1] * k->inverse, k->A[3] * k->inverse};
  tbReal a[2] = {k->mu[0] * k->A[1] * k->inverse, k->mu[1] * k->A[3] * k->inverse};
  tbReal c[2] = {k->mu[0] * (b[1] - h[0] * b[0]), k->mu[1] * (b[2] - h[1] * b[0])};
  tbReal x[2] = {-(k->rest[0] * c[0] + k->rest[1] * c[1]),
                 -(k->rest[1] * c[0] + k->rest[2] * c[1])};
  tbReal normal = n0 - (a[0] * x[0] + a[1] * x[1]);
  if (!(normal > 0) || x[0] * x[0] + x[1] * x[1] > normal * normal) {
    tbReal found = find_slip(k, a, c, n0, k->slip, x, &normal);
    tbReal length = sqrt(x[0] * x[0] + x[1] * x[1]);
    tbReal shrink = length > normal && length > 0 ? normal / length : 1;
    if (!(normal > 0) || !isfinite(shrink)) return;
    k->slip = found;
    x[0] *= shrink;
    x[1] *= shrink;
  }
  lambda[0] = normal;
  lambda[1] = k->mu[0] * x[0];
  lambda[2] = k->mu[1] * x[1];
}

// Go farther by a share of a contact's change, within the cone, where it follows the last one.
TB_INLINE bool go_farther(Contact* l, tbReal* change, tbReal* lambda) {
  tbReal along = 0, now = 0, before = 0;
  for (int r = 0; r < D; r++) {
    along += change[r] * l->last[r];
    now += change[r] * change[r];
    before += l->last[r] * l->last[r];
    l->last[r] = change[r];
  }
  if (!(along > 0) || along * along < ALIGNED * now * before || now > before || !(lambda[0] > 0)) {
    return false;
  }
  tbReal next[D];
  for (int r = 0; r < D; r++) next[r] = lambda[r] + FARTHER * change[r];
  if (!(next[0] > 0)) return false;
  tbReal x = next[1] / l->mu[0], y = next[2] / l->mu[1], tail = sqrt(x * x + y * y);
  tbReal shrink = tail > next[0] ? next[0] / tail : 1;
  next[1] *= shrink;
  next[2] *= shrink;
  for (int r = 0; r < D; r++) {
    change[r] += next[r] - lambda[r];
    lambda[r] = next[r];
  }
  return true;
}

// Solve a contact at its velocity sigma, and push the change. Whether it went farther.
TB_INLINE bool move_contact(Contact* c, const tbReal* sigma, bool farther, tbReal* w,
                            tbReal* lambda) {
  const tbReal *A = c->A, before[D] = {lambda[0], lambda[1], lambda[2]};
  tbReal change[D];
  tbReal b[D] = {sigma[0] - (A[0] * before[0] + A[1] * before[1] + A[3] * before[2]),
                 sigma[1] - (A[1] * before[0] + A[2] * before[1] + A[4] * before[2]),
                 sigma[2] - (A[3] * before[0] + A[4] * before[1] + A[5] * before[2])};
  contact_solve(c, b, lambda);
  for (int r = 0; r < D; r++) change[r] = lambda[r] - before[r];
  farther = farther && go_farther(c, change, lambda);
  if (c->bodies == 2) {
    tb_contact_push_pair(c->B, change, w + c->body[0], w + c->body[1]);
  } else {
    tb_contact_push_single(c->B, change, w + c->body[0]);
  }
  return farther;
}

// Its sigma at whitened velocity w.
TB_INLINE void contact_velocity(const Contact* c, const tbReal* w, const tbReal* lambda,
                                tbReal* sigma) {
  if (c->bodies == 2) {
    tb_contact_mul_pair(c->B, w + c->body[0], w + c->body[1], sigma);
  } else {
    tb_contact_mul_single(c->B, w + c->body[0], sigma);
  }
  for (int r = 0; r < D; r++) sigma[r] += c->g[r] + c->R[r] * lambda[r];
}

// ---- any block ---------------------------------------------------------------------------------

// sigma of a block at whitened velocity w.
static void block_velocity(const tbActiveState* s, const Local* l, int i, const tbReal* w,
                           tbReal* out) {
  int row = s->p->block[i].row;
  for (int r = 0; r < s->p->block[i].dim; r++) {
    tbReal sum = s->p->g[row + r] + (s->p->R ? s->p->R[row + r] * s->lambda[row + r] : 0);
    for (int k = 0; k < l->nnz; k++) sum += l->B[r * l->nnz + k] * w[l->col[k]];
    out[r] = sum;
  }
}

static void add_whitened(const tbActiveState* s, const Local* l, int i, const tbReal* f,
                         tbReal* w) {
  for (int r = 0; r < s->p->block[i].dim; r++) {
    if (f[r] == 0) continue;
    for (int k = 0; k < l->nnz; k++) w[l->col[k]] += l->B[r * l->nnz + k] * f[r];
  }
}

static void sweep_block(tbActiveState* s, int i) {
  const tbBlock* b = &s->p->block[i];
  Local* l = &s->sweeps->local[i];
  tbReal velocity[MAX], change[MAX], *lambda = s->lambda + b->row, *w = s->sweeps->w;
  block_velocity(s, l, i, w, velocity);
  for (int r = 0; r < b->dim; r++) {
    change[r] = lambda[r];
    for (int c = 0; c < b->dim; c++) velocity[r] -= l->A[r * b->dim + c] * lambda[c];
  }
  tb_local_solve(b, s->a->law, l->A, velocity, lambda, &l->slip);
  for (int r = 0; r < b->dim; r++) change[r] = lambda[r] - change[r];
  add_whitened(s, l, i, change, w);
}

TB_INLINE void sweep_all(tbActiveState* s, int count) {
  const tbProblem* p = s->p;
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < p->nblock; i++) {
      Contact* c = &s->sweeps->contact[i];
      if (c->bodies > 0) {
        tbReal sigma[D], *lambda = s->lambda + c->row, *w = s->sweeps->w;
        contact_velocity(c, w, lambda, sigma);
        move_contact(c, sigma, false, w, lambda);
      } else {
        sweep_block(s, i);
      }
    }
  }
}

// ---- unsettled blocks only ----------------------------------------------------------------------

// Whether w may have changed under a block since it was last looked at.
TB_INLINE bool is_stale(const tbActiveState* s, int i) {
  const Visit* v = &s->sweeps->visit[i];
  const int* moved = s->sweeps->moved;
  if (v->body[0] >= 0) return moved[v->body[0]] > v->seen || moved[v->body[1]] > v->seen;
  const Local* l = &s->sweeps->local[i];
  bool stale = false;
  for (int k = 0; k < l->nnz; k++) stale = stale || moved[l->col[k]] > v->seen;
  return stale;
}

// A change of w under a block.
TB_INLINE void mark_moved(tbActiveState* s, int i) {
  const Visit* v = &s->sweeps->visit[i];
  int* moved = s->sweeps->moved;
  int now = ++s->sweeps->clock;
  if (v->body[0] >= 0) {
    moved[v->body[0]] = moved[v->body[1]] = now;
    return;
  }
  const Local* l = &s->sweeps->local[i];
  for (int k = 0; k < l->nnz; k++) moved[l->col[k]] = now;
}

// sigma of a contact on free bodies, and how far it is off, in m/s (`unit`: one over the largest
// impulse): lambda is within its cone.
TB_INLINE tbReal contact_off(const tbActiveState* s, const Contact* c, tbReal unit, tbReal* sigma) {
  const tbReal *lambda = s->lambda + c->row, *mu = c->mu;
  contact_velocity(c, s->sweeps->w, lambda, sigma);
  tbReal t0 = mu[0] * sigma[1], t1 = mu[1] * sigma[2], deep = -sigma[0];
  tbReal product = lambda[0] * (sigma[0] + sqrt(t0 * t0 + t1 * t1)) + lambda[1] * sigma[1] +
                   lambda[2] * sigma[2];
  product = fabs(product) * unit;
  return deep > product ? deep : product;
}

// Whether any block holds.
static bool block_holds(const tbActiveState* s, int i, const tbPartScale* scale) {
  tbBlock b = s->p->block[i];
  const tbReal* lambda = s->lambda + b.row;
  tbReal sigma[MAX];
  block_velocity(s, &s->sweeps->local[i], i, s->sweeps->w, sigma);
  b.row = 0;
  tbProblem one = {.n = b.dim, .nblock = 1, .block = &b, .g = sigma};
  tbResidual r = tb_residual(&one, s->a->law, lambda, sigma);
  return tb_active_part_holds(&r, scale);
}

// Solve a block that is not good enough; one that went farther is to be looked at again, and so is
// one of the convex law, whose local solver descends towards its answer (local_ccp.c). False: it is
// good enough.
TB_INLINE bool settle_block(tbActiveState* s, int i, const tbPartScale* scale, bool* farther) {
  Contact* c = &s->sweeps->contact[i];
  tbReal sigma[D];
  if (c->bodies == 0) {
    if (block_holds(s, i, scale)) return false;
    sweep_block(s, i);
    *farther = s->a->law == TB_LAW_CCP;
    return true;
  }
  tbReal off = contact_off(s, c, 1 / scale->load, sigma), most = scale->target * scale->speed;
  if (off <= most) return false;
  *farther = move_contact(c, sigma, off > NEARLY * most, s->sweeps->w, s->lambda + c->row);
  return true;
}

bool tb_active_settled(const tbActiveState* s, int i, const tbPartScale* scale) {
  tbReal sigma[D];
  const Contact* c = &s->sweeps->contact[i];
  if (c->bodies == 0) return block_holds(s, i, scale);
  return contact_off(s, c, 1 / scale->load, sigma) <= scale->target * scale->speed;
}

// One sweep over what is unsettled: how many blocks were.
TB_INLINE int settle_all(tbActiveState* s, const tbPartScale* scale) {
  int count = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    Visit* v = &s->sweeps->visit[i];
    if (!is_stale(s, i)) continue;
    v->seen = s->sweeps->clock;
    bool farther = false;
    if (!settle_block(s, i, scale, &farther)) continue;
    count++;
    mark_moved(s, i);
    v->seen = s->sweeps->clock - farther;
  }
  return count;
}

static int settle_narrow(tbActiveState* s, const tbPartScale* scale) {
  return settle_all(s, scale);
}

TB_WIDE static int settle_wide(tbActiveState* s, const tbPartScale* scale) {
  return settle_all(s, scale);
}

int tb_active_settle(tbActiveState* s, const tbPartScale* scale) {
  return tb_wide() ? settle_wide(s, scale) : settle_narrow(s, scale);
}

// Every block is looked at again.
void tb_active_forget(tbActiveState* s) {
  for (int i = 0; i < s->p->nblock; i++) s->sweeps->visit[i].seen = NEVER;
}

// ---- all of them --------------------------------------------------------------------------------

static void sweep_narrow(tbActiveState* s, int count) {
  sweep_all(s, count);
}

TB_WIDE static void sweep_wide(tbActiveState* s, int count) {
  sweep_all(s, count);
}

bool tb_active_whiten(tbActiveState* s, tbArena* arena) {
  const tbProblem* p = s->p;
  if (!s->sweeps && !(s->sweeps = start(s, arena))) return false;
  const Local* local = s->sweeps->local;
  tbReal* w = s->sweeps->w;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = 0; k < local[i].nnz; k++) w[local[i].col[k]] = 0;
  }
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tb_block_project(b, s->a->law, s->lambda + b->row, s->lambda + b->row);
    add_whitened(s, &local[i], i, s->lambda + b->row, w);
  }
  tb_active_forget(s);
  return true;
}

void tb_active_whitened_velocity(const tbActiveState* s, int i, tbReal* out) {
  block_velocity(s, &s->sweeps->local[i], i, s->sweeps->w, out);
}

void tb_active_whitened_push(tbActiveState* s, int i, const tbReal* change) {
  add_whitened(s, &s->sweeps->local[i], i, change, s->sweeps->w);
  mark_moved(s, i);
}

bool tb_active_sweep(tbActiveState* s, tbArena* arena, int count) {
  if (!tb_active_whiten(s, arena)) return false;
  if (tb_wide()) {
    sweep_wide(s, count);
  } else {
    sweep_narrow(s, count);
  }
  tb_active_forget(s);
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_whitened_velocity(s, i, s->sigma + s->p->block[i].row);
  }
  return true;
}
