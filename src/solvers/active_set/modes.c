// The mode of each block (open, sticking, sliding) by the fixed point (1) of active_set.c, and the
// distance from that fixed point.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "solvers/active_set/state.h"

enum { MAX = TB_MAX_BLOCK_DIM };

static void set_mode(tbActiveState* s, int row, int mode) {
  s->changed = s->changed || s->mode[row] != mode;
  s->mode[row] = mode;
}

// At rest the velocity of a row at a bound is rounding error, so its sign carries no information:
// on a warm start such rows keep the bound of the last step, unless they leave it by this share of
// the range.
static const tbReal LEAVES = 1e-2;

static tbReal keep_bound(const tbBlock* b, tbReal lambda, tbReal y) {
  tbReal range = LEAVES * (b->upper - b->lower);
  if (lambda >= b->upper && y > b->upper - range) return b->upper;
  if (lambda <= b->lower && y < b->lower + range) return b->lower;
  return y;
}

// A warm start keeps sliding contacts as well if their impulse is within EDGE of the edge of the
// cone: for a contact that hardly moves, this is more reliable than its velocity. They change to
// sticking if y of (1) is inside the cone by the share STOPS.
static const tbReal STOPS = 0.1, EDGE = 1e-9;

static void add_residual(tbActiveState* s, tbReal residual) {
  residual = fabs(residual);
  if (!(residual <= s->fixed_point_residual)) s->fixed_point_residual = residual;
}

// The velocity of a row plus that of the proximal term.
static tbReal velocity_of(tbActiveState* s, int row) {
  if (!s->proximal) return s->sigma[row];
  tbReal spring = s->proximal_weight * s->a->rho[row] * (s->lambda[row] - s->center[row]);
  add_residual(s, spring);
  return s->sigma[row] + spring;
}

static void plain_modes(tbActiveState* s, const tbBlock* b) {
  for (int row = b->row; row < b->row + b->dim; row++) {
    int mode = TB_MODE_ACTIVE;
    tbReal rho = s->a->rho[row], y = s->lambda[row] - velocity_of(s, row) / rho, z = y;
    if (s->warm && b->type == TB_BLOCK_BOX) y = keep_bound(b, s->lambda[row], y);
    if (b->type == TB_BLOCK_ONE_SIDED && y <= 0) {
      mode = TB_MODE_OPEN;
      z = 0;
    } else if (b->type == TB_BLOCK_BOX && y <= b->lower) {
      mode = TB_MODE_LOW;
      z = b->lower;
    } else if (b->type == TB_BLOCK_BOX && y >= b->upper) {
      mode = TB_MODE_HIGH;
      z = b->upper;
    }
    add_residual(s, rho * (s->lambda[row] - z));
    set_mode(s, row, mode);
  }
}

// y of (1) in the coordinates in which the cone is round, with one rho for all tangents (for ccp
// also for the normal). u: its tangents, r their length.
typedef struct {
  tbReal rho_N, rho_T, y, r, u[MAX];
} Round;

// RaiSim slip correction: under raisim a sliding contact slips along -(a + u), not along -u. So y
// is moved to the point from which the exact law would make it slide along u: y_T - t a = (y_N + t)
// u with the smallest t >= 0. If there is none, y stays.
TB_COLD void slip_correction(const tbBlock* b, const tbReal* a, Round* p) {
  if (!(p->y > 0) || p->r <= p->y) return;
  tbReal aa = 0, along = p->y;
  for (int j = 1; j < b->dim; j++) {
    aa += a[j] * a[j];
    along += a[j] * p->u[j];
  }
  tbReal q = (p->r - p->y) * (p->r + p->y), root = along * along + (1 - aa) * q;
  tbReal divisor = along + sqrt(tb_max(root, 0));
  if (root < 0 || !(divisor > 0)) return;
  tbReal t = q / divisor;
  for (int j = 1; j < b->dim; j++) p->u[j] -= t * a[j];
  p->r = p->y + t;
}

TB_INLINE void round_point(const tbActive* a, const tbBlock* b, const tbReal* lambda,
                           const tbReal* sigma, Round* p) {
  const tbReal* rho = a->rho + b->row;
  tbReal rho_N = rho[0], rho_T = 0, rr = 0;
  for (int j = 1; j < b->dim; j++) {
    tbReal scaled = b->mu[j - 1] * b->mu[j - 1] * rho[j];
    if (scaled > rho_T) rho_T = scaled;
  }
  if (a->law == TB_LAW_CCP && rho_T > 0) rho_N = rho_T;
  for (int j = 1; j < b->dim; j++) {
    tbReal mu = b->mu[j - 1], u = mu > 0 ? lambda[j] / mu - mu * sigma[j] / rho_T : 0;
    rr += u * u;
    p->u[j] = u;
  }
  p->rho_N = rho_N;
  p->rho_T = rho_T;
  p->y = lambda[0] - sigma[0] / rho_N;
  p->r = sqrt(rr);
  if (a->coupling) slip_correction(b, a->coupling + b->row, p);
}

// Whether a sliding contact stays closed: under all laws but the convex one.
static bool obeys_signorini(const tbActive* a) {
  return a->law != TB_LAW_CCP;
}

// The length of an impulse's tangents in the same coordinates; under lcp the largest of them. On
// the edge of the cone it equals lambda_N.
static tbReal tangent_length(const tbActive* a, const tbBlock* b, const tbReal* lambda) {
  tbReal sum = 0, most = 0;
  for (int j = 1; j < b->dim; j++) {
    tbReal share = b->mu[j - 1] > 0 ? lambda[j] / b->mu[j - 1] : 0;
    sum += share * share;
    most = tb_max(most, fabs(share));
  }
  return a->law == TB_LAW_LCP ? most : sqrt(sum);
}

static bool on_edge(const tbActive* a, const tbBlock* b, const tbReal* lambda) {
  return lambda[0] > 0 && tangent_length(a, b, lambda) >= (1 - EDGE) * lambda[0];
}

// How slip along u adds to the slip across u: the derivative of slip_correction().
TB_COLD void set_cross_slip(const tbBlock* b, const tbReal* a, tbSlide* slide) {
  const tbReal least = 1e-3;
  tbReal along = 0;
  for (int j = 1; j < b->dim; j++) along += a[j] * slide->u[j];
  for (int j = 1; j < b->dim; j++) {
    slide->cross_slip[j] = (a[j] - along * slide->u[j]) / tb_max(1 + along, least);
  }
}

static void cone_mode(tbActiveState* s, const tbBlock* b, tbSlide* slide) {
  int row = b->row;
  bool exact = obeys_signorini(s->a);
  tbReal velocity[MAX];
  for (int j = 0; j < b->dim; j++) velocity[j] = velocity_of(s, row + j);
  Round p;
  round_point(s->a, b, s->lambda + row, velocity, &p);
  if (exact && s->closed_speed > 0 && p.y <= 0 && p.y >= -s->closed_speed / p.rho_N)
    p.y = tb_max(p.r, 1e-300);
  bool open = exact ? p.y <= 0 : p.r <= -p.y, stick = p.r <= p.y;
  if (exact && s->warm && !open && stick && p.r > (1 - STOPS) * p.y) {
    stick = !on_edge(s->a, b, s->lambda + row);
  }
  if (open) {
    set_mode(s, row, TB_MODE_OPEN);
  } else if (stick) {
    set_mode(s, row, TB_MODE_STICK);
  } else {
    set_mode(s, row, TB_MODE_SLIDE);
    for (int j = 1; j < b->dim; j++) slide->u[j] = p.u[j] / p.r;
    tbReal kappa = exact ? tb_min(p.y / p.r, 1) : 0.5 * (p.y + p.r) / p.r;
    slide->stiffness = p.rho_T * (1 - kappa) / kappa;
    slide->rho = p.rho_T;
    if (s->a->coupling) set_cross_slip(b, s->a->coupling + row, slide);
    s->sliding = s->skew = s->sliding || exact;
  }
  // The distance of the block from the fixed point.
  tbReal normal = open ? 0 : exact || p.r <= p.y ? p.y : 0.5 * (p.y + p.r);
  tbReal share = open ? 0 : p.r > normal ? normal / p.r : 1;
  add_residual(s, p.rho_N * (s->lambda[row] - normal));
  for (int j = 1; j < b->dim; j++) {
    tbReal mu = b->mu[j - 1];
    if (mu > 0) add_residual(s, s->a->rho[row + j] * (s->lambda[row + j] - mu * share * p.u[j]));
  }
}

// Whether a tangent is at the bound of its pyramid.
static bool on_face(const tbBlock* b, const tbReal* lambda, int j) {
  return lambda[0] > 0 && fabs(lambda[j]) >= (1 - EDGE) * b->mu[j - 1] * lambda[0];
}

// Under lcp every tangent sticks or slides by itself, within bounds given by the normal impulse.
static void pyramid_modes(tbActiveState* s, const tbBlock* b) {
  int row = b->row;
  tbReal rho = s->a->rho[row], normal = s->lambda[row] - velocity_of(s, row) / rho;
  if (s->closed_speed > 0 && normal <= 0 && normal >= -s->closed_speed / rho) normal = 1e-300;
  bool open = normal <= 0, slides = false;
  if (open) normal = 0;
  add_residual(s, rho * (s->lambda[row] - normal));
  for (int j = 1; j < b->dim; j++) {
    tbReal weight = s->a->rho[row + j], bound = b->mu[j - 1] * normal;
    tbReal y = s->lambda[row + j] - velocity_of(s, row + j) / weight, z = y;
    bool stays = s->warm && on_face(b, s->lambda + row, j) && fabs(y) > (1 - STOPS) * bound;
    int mode = TB_MODE_STICK;
    if (fabs(y) > bound || stays) {
      mode = y < 0 ? TB_MODE_LOW : TB_MODE_HIGH;
      z = copysign(bound, y);
    }
    slides = slides || (!open && mode != TB_MODE_STICK);
    add_residual(s, weight * (s->lambda[row + j] - z));
    set_mode(s, row + j, open ? TB_MODE_OPEN : mode);
  }
  s->skew = s->skew || slides;
  set_mode(s, row, open ? TB_MODE_OPEN : slides ? TB_MODE_SLIDE : TB_MODE_STICK);
}

void tb_active_modes(tbActiveState* s) {
  s->changed = s->sliding = s->skew = false;
  s->fixed_point_residual = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    if (b->type == TB_BLOCK_CONE && s->a->law == TB_LAW_LCP) {
      pyramid_modes(s, b);
    } else if (b->type == TB_BLOCK_CONE) {
      cone_mode(s, b, &s->slide[i]);
    } else {
      plain_modes(s, b);
    }
  }
}

// On a warm start, a contact that opens more slowly than this share of the largest velocity counts
// as closed.
static const tbReal TIE = 1e-3;

void tb_active_first_modes(tbActiveState* s, bool guess) {
  s->warm = guess;
  // Bodies that fall together count as in contact: loads need not propagate up a stack contact by
  // contact.
  s->closed_speed = guess ? TIE * s->max_speed : 0;
  tb_active_modes(s);
  s->warm = false;
  s->closed_speed = 0;
}

// ---- changed contacts --------------------------------------------------------------------------

// An impulse this close to a boundary between modes, as a share of the largest impulse or of its
// own normal, may belong to either mode.
static const tbReal BORDER = 1e-4;

// Whether the impulses of a cone contradict its mode. Interior points end next to the boundaries
// between modes, not on them, so that an impulse close to a boundary contradicts neither side.
static bool differs(const tbActive* a, const tbBlock* b, const tbReal* lambda, int mode,
                    tbReal little) {
  if (mode == TB_MODE_OPEN) return lambda[0] > little;
  if (!(lambda[0] > 0)) return true;
  tbReal tangent = tangent_length(a, b, lambda);
  return mode == TB_MODE_STICK ? tangent >= (1 - TB_ACTIVE_LEAST_WEIGHT) * lambda[0]
                               : tangent < (1 - BORDER) * lambda[0];
}

tbReal tb_active_moved_share(tbActiveState* s) {
  int differ = 0, cones = 0;
  tbReal largest = 0;
  for (int r = 0; r < s->p->n; r++) largest = tb_max(largest, fabs(s->lambda[r]));
  tb_active_first_modes(s, true);
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    if (b->type != TB_BLOCK_CONE) continue;
    cones++;
    differ += differs(s->a, b, s->lambda + b->row, s->mode[b->row], BORDER * largest);
  }
  return cones > 0 ? (tbReal)differ / cones : 0;
}

// ---- modes as weights --------------------------------------------------------------------------

// A row with sigma = 0: lambda = (E center - velocity) / (E + R).
static void zero_velocity_row(const tbActiveState* s, int row, tbReal* c0, tbReal* w) {
  tbReal E = s->proximal_weight * s->a->rho[row], R = s->p->R ? s->p->R[row] : 0;
  c0[row] = E * s->center[row] / (E + R);
  *w = 1 / (E + R);
}

static void plain_weights(const tbActiveState* s, const tbBlock* b, tbReal* c0, tbReal* W) {
  for (int r = 0; r < b->dim; r++) {
    int row = b->row + r, mode = s->mode[row];
    c0[row] = mode == TB_MODE_LOW ? b->lower : mode == TB_MODE_HIGH ? b->upper : 0;
    if (mode == TB_MODE_ACTIVE) zero_velocity_row(s, row, c0, &W[r * b->dim + r]);
  }
}

// Sliding by (1) and (2): along the edge of the cone, and across u with the stiffness of (1) and
// the proximal term.
static void slide_weights(const tbActiveState* s, const tbBlock* b, const tbSlide* slide,
                          tbReal* c0, tbReal* W) {
  int row = b->row, d = b->dim;
  bool exact = obeys_signorini(s->a);
  const tbReal* u = slide->u;
  tbReal E = s->proximal_weight * s->a->rho[row], R = s->p->R ? s->p->R[row] : 0, w = 1 / (E + R);
  tbReal hold = s->proximal_weight * slide->rho, across = 1 / (slide->stiffness + hold);
  tbReal edge[MAX] = {1}, center[MAX], from[MAX], along_u = 0;
  for (int j = 1; j < d; j++) {
    edge[j] = b->mu[j - 1] * u[j];
    center[j] = b->mu[j - 1] > 0 ? s->center[row + j] / b->mu[j - 1] : 0;
    along_u += center[j] * u[j];
    from[j] = s->a->coupling ? u[j] + slide->cross_slip[j] : u[j];
  }
  tbReal constant = E * s->center[row] * w;
  for (int i = 0; i < d; i++) {
    c0[row + i] = edge[i] * constant;
    if (i > 0) c0[row + i] += across * hold * b->mu[i - 1] * (center[i] - along_u * u[i]);
    for (int j = 0; j < d; j++) {
      tbReal along = edge[i] * w * (exact ? (j == 0) : edge[j]);
      tbReal mu = i && j ? across * b->mu[i - 1] * b->mu[j - 1] : 0;
      W[i * d + j] = along + (mu != 0 ? mu * ((i == j) - from[i] * u[j]) : 0);
    }
  }
}

// Sliding tangents are a fixed multiple of the normal impulse.
static void pyramid_weights(const tbActiveState* s, const tbBlock* b, tbReal* c0, tbReal* W) {
  int row = b->row, d = b->dim;
  zero_velocity_row(s, row, c0, &W[0]);
  for (int j = 1; j < d; j++) {
    int mode = s->mode[row + j];
    tbReal share = mode == TB_MODE_LOW ? -b->mu[j - 1] : b->mu[j - 1];
    if (mode == TB_MODE_STICK) {
      zero_velocity_row(s, row + j, c0, &W[j * d + j]);
    } else {
      c0[row + j] = share * c0[row];
      W[j * d] = share * W[0];
    }
  }
}

void tb_active_weights(const tbActiveState* s, int i, tbReal* c0, tbReal* W) {
  const tbBlock* b = &s->p->block[i];
  if (b->dim == 1) {
    // Dry friction and limits, the majority of a robot's blocks.
    W[0] = 0;
    plain_weights(s, b, c0, W);
    return;
  }
  memset(W, 0, sizeof(tbReal) * (size_t)(b->dim * b->dim));
  if (b->type != TB_BLOCK_CONE) {
    plain_weights(s, b, c0, W);
  } else if (s->mode[b->row] == TB_MODE_SLIDE && s->a->law == TB_LAW_LCP) {
    pyramid_weights(s, b, c0, W);
  } else if (s->mode[b->row] == TB_MODE_SLIDE) {
    slide_weights(s, b, &s->slide[i], c0, W);
  } else {
    bool stick = s->mode[b->row] == TB_MODE_STICK;
    for (int r = 0; r < b->dim; r++) {
      c0[b->row + r] = 0;
      if (stick && (r == 0 || b->mu[r - 1] > 0))
        zero_velocity_row(s, b->row + r, c0, &W[r * b->dim + r]);
    }
  }
}

// ---- step length -------------------------------------------------------------------------------

// Squared distance of a cone block from its fixed point (1), weighted with rho: an energy.
static tbReal cone_distance(const tbActiveState* s, const tbBlock* b, const tbReal* lambda,
                            const tbReal* sigma) {
  bool exact = obeys_signorini(s->a);
  Round p;
  round_point(s->a, b, lambda, sigma, &p);
  // The projection of y: its normal, and the factor of its tangents.
  tbReal normal = p.y > 0 ? p.y : 0, factor = 1;
  if (!exact && p.r > fabs(p.y)) normal = 0.5 * (p.y + p.r);
  if (!exact && p.r <= -p.y) normal = 0;
  if (p.r > normal) factor = normal / p.r;
  tbReal sum = p.rho_N * (lambda[0] - normal) * (lambda[0] - normal);
  for (int j = 1; j < b->dim; j++) {
    tbReal mu = b->mu[j - 1], d = mu > 0 ? lambda[j] / mu - factor * p.u[j] : 0;
    sum += p.rho_T * d * d;
  }
  return sum;
}

static tbReal pyramid_distance(const tbActiveState* s, const tbBlock* b, const tbReal* lambda,
                               const tbReal* sigma) {
  const tbReal* rho = s->a->rho + b->row;
  tbReal normal = tb_max(0, lambda[0] - sigma[0] / rho[0]);
  tbReal sum = rho[0] * (lambda[0] - normal) * (lambda[0] - normal);
  for (int j = 1; j < b->dim; j++) {
    tbReal bound = b->mu[j - 1] * normal, y = lambda[j] - sigma[j] / rho[j];
    tbReal d = lambda[j] - tb_min(bound, tb_max(-bound, y));
    sum += rho[j] * d * d;
  }
  return sum;
}

// The sum over all blocks, at a point on the line from (old, old_sigma) to (next, next_sigma).
static tbReal distance(const tbActiveState* s, tbReal t) {
  tbReal sum = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal lambda[MAX], sigma[MAX];
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      lambda[r] = s->old[row] + t * (s->next[row] - s->old[row]);
      sigma[r] = s->old_sigma[row] + t * (s->next_sigma[row] - s->old_sigma[row]);
    }
    if (b->type == TB_BLOCK_CONE) {
      sum += s->a->law == TB_LAW_LCP ? pyramid_distance(s, b, lambda, sigma)
                                     : cone_distance(s, b, lambda, sigma);
      continue;
    }
    for (int r = 0; r < b->dim; r++) {
      tbReal rho = s->a->rho[b->row + r], y = lambda[r] - sigma[r] / rho;
      if (b->type == TB_BLOCK_ONE_SIDED && y < 0) y = 0;
      if (b->type == TB_BLOCK_BOX) y = tb_min(b->upper, tb_max(b->lower, y));
      sum += rho * (lambda[r] - y) * (lambda[r] - y);
    }
  }
  return sum;
}

// Velocities are linear in impulses, so evaluating a trial length is cheap.
tbReal tb_active_length(const tbActiveState* s, tbReal shortest) {
  tbReal before = distance(s, 0), best = distance(s, 1), length = 1;
  if (best <= 0.5 * before) return 1;
  for (tbReal t = 0.5; t > shortest; t *= 0.5) {
    tbReal d = distance(s, t);
    if (d < best) {
      best = d;
      length = t;
    } else if (best < before) {
      break;
    }
  }
  return best < before ? length : 0;
}
