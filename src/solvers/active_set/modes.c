// Which block is open, sticks or slides: the fixed point (1) of active.c, and the distance from it.
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

// At rest the velocity of what is at a bound is rounding, and its sign says nothing: on the first
// look such rows stay where the last step left them, unless they leave by this share of the range.
static const tbReal LEAVES = 1e-2;

static tbReal first_look(const tbBlock* b, tbReal lambda, tbReal y) {
  tbReal range = LEAVES * (b->upper - b->lower);
  if (lambda >= b->upper && y > b->upper - range) return b->upper;
  if (lambda <= b->lower && y < b->lower + range) return b->lower;
  return y;
}

// So do contacts that slid, whose impulse is within EDGE of the edge of its cone: that says more
// about a contact that hardly moves than its velocity does. They stop where y of (1) is inside the
// cone by the share STOPS.
static const tbReal STOPS = 0.1, EDGE = 1e-9;

static void add_miss(tbActiveState* s, tbReal miss) {
  miss = fabs(miss);
  if (!(miss <= s->miss)) s->miss = miss;
}

// The velocity of a row, and that of the proximal term's spring.
static tbReal velocity_of(tbActiveState* s, int row) {
  if (!s->proximal) return s->sigma[row];
  tbReal spring = s->softness * s->a->rho[row] * (s->lambda[row] - s->anchor[row]);
  add_miss(s, spring);
  return s->sigma[row] + spring;
}

static void plain_modes(tbActiveState* s, const tbBlock* b) {
  for (int row = b->row; row < b->row + b->dim; row++) {
    int mode = TB_MODE_ACTIVE;
    tbReal rho = s->a->rho[row], y = s->lambda[row] - velocity_of(s, row) / rho, z = y;
    if (s->first && b->type == TB_BLOCK_BOX) y = first_look(b, s->lambda[row], y);
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
    add_miss(s, rho * (s->lambda[row] - z));
    set_mode(s, row, mode);
  }
}

// y of (1) in the coordinates in which the cone is round, with one rho for all tangents (and, for
// ccp, for the normal too). u: its tangents, r their length.
typedef struct {
  tbReal rho_N, rho_T, y, r, u[MAX];
} Round;

// Under raisim a contact that slides does so along -(a + u), not along -u. So y is moved to the
// point from which the exact law would make it slide along u: y_T - t a = (y_N + t) u with the
// smallest t >= 0. Where there is none it stays where it is.
TB_COLD void lean(const tbBlock* b, const tbReal* a, Round* p) {
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
  if (a->coupling) lean(b, a->coupling + b->row, p);
}

// Whether a contact that slides stays closed: under all laws but the convex one.
static bool obeys_signorini(const tbActive* a) {
  return a->law != TB_LAW_CCP;
}

// The length of the tangents of an impulse, in the same coordinates; under lcp the largest of them:
// lambda_N on the edge.
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

// How the slip along u counts across it: from the derivative of lean().
TB_COLD void set_lean(const tbBlock* b, const tbReal* a, tbSlide* slide) {
  const tbReal least = 1e-3;
  tbReal along = 0;
  for (int j = 1; j < b->dim; j++) along += a[j] * slide->u[j];
  for (int j = 1; j < b->dim; j++) {
    slide->lean[j] = (a[j] - along * slide->u[j]) / tb_max(1 + along, least);
  }
}

static void cone_mode(tbActiveState* s, const tbBlock* b, tbSlide* slide) {
  int row = b->row;
  bool exact = obeys_signorini(s->a);
  tbReal velocity[MAX];
  for (int j = 0; j < b->dim; j++) velocity[j] = velocity_of(s, row + j);
  Round p;
  round_point(s->a, b, s->lambda + row, velocity, &p);
  if (exact && s->tie > 0 && p.y <= 0 && p.y >= -s->tie / p.rho_N) p.y = tb_max(p.r, 1e-300);
  bool open = exact ? p.y <= 0 : p.r <= -p.y, stick = p.r <= p.y;
  if (exact && s->first && !open && stick && p.r > (1 - STOPS) * p.y) {
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
    if (s->a->coupling) set_lean(b, s->a->coupling + row, slide);
    s->sliding = s->skew = s->sliding || exact;
  }
  // How far the block is from where its mode has it.
  tbReal normal = open ? 0 : exact || p.r <= p.y ? p.y : 0.5 * (p.y + p.r);
  tbReal share = open ? 0 : p.r > normal ? normal / p.r : 1;
  add_miss(s, p.rho_N * (s->lambda[row] - normal));
  for (int j = 1; j < b->dim; j++) {
    tbReal mu = b->mu[j - 1];
    if (mu > 0) add_miss(s, s->a->rho[row + j] * (s->lambda[row + j] - mu * share * p.u[j]));
  }
}

// Whether a tangent is as large as its pyramid allows.
static bool on_face(const tbBlock* b, const tbReal* lambda, int j) {
  return lambda[0] > 0 && fabs(lambda[j]) >= (1 - EDGE) * b->mu[j - 1] * lambda[0];
}

// Under lcp every tangent sticks or slides by itself, between the bounds that the normal gives it.
static void pyramid_modes(tbActiveState* s, const tbBlock* b) {
  int row = b->row;
  tbReal rho = s->a->rho[row], normal = s->lambda[row] - velocity_of(s, row) / rho;
  if (s->tie > 0 && normal <= 0 && normal >= -s->tie / rho) normal = 1e-300;
  bool open = normal <= 0, slides = false;
  if (open) normal = 0;
  add_miss(s, rho * (s->lambda[row] - normal));
  for (int j = 1; j < b->dim; j++) {
    tbReal weight = s->a->rho[row + j], bound = b->mu[j - 1] * normal;
    tbReal y = s->lambda[row + j] - velocity_of(s, row + j) / weight, z = y;
    bool stays = s->first && on_face(b, s->lambda + row, j) && fabs(y) > (1 - STOPS) * bound;
    int mode = TB_MODE_STICK;
    if (fabs(y) > bound || stays) {
      mode = y < 0 ? TB_MODE_LOW : TB_MODE_HIGH;
      z = copysign(bound, y);
    }
    slides = slides || (!open && mode != TB_MODE_STICK);
    add_miss(s, weight * (s->lambda[row + j] - z));
    set_mode(s, row + j, open ? TB_MODE_OPEN : mode);
  }
  s->skew = s->skew || slides;
  set_mode(s, row, open ? TB_MODE_OPEN : slides ? TB_MODE_SLIDE : TB_MODE_STICK);
}

void tb_active_modes(tbActiveState* s) {
  s->changed = s->sliding = s->skew = false;
  s->miss = 0;
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

// A contact that opens more slowly than this share of the largest velocity counts as closed at
// first.
static const tbReal TIE = 1e-3;

void tb_active_first_modes(tbActiveState* s, bool guess) {
  s->first = guess;
  // What falls together is closed at first: loads need not travel up a stack contact by contact.
  s->tie = guess ? TIE * s->fastest : 0;
  tb_active_modes(s);
  s->first = false;
  s->tie = 0;
}

// ---- what has changed --------------------------------------------------------------------------

// An impulse this close to a border, as a share of the largest impulse or of its own normal, does
// not tell on which side it is.
static const tbReal BORDER = 1e-4;

// Whether a cone's impulses say something else than its mode. Interior points end next to the
// borders, not on them: what is that close to one may be on either side.
static bool differs(const tbActive* a, const tbBlock* b, const tbReal* lambda, int mode,
                    tbReal little) {
  if (mode == TB_MODE_OPEN) return lambda[0] > little;
  if (!(lambda[0] > 0)) return true;
  tbReal tangent = tangent_length(a, b, lambda);
  return mode == TB_MODE_STICK ? tangent >= (1 - TB_ACTIVE_SOFTNESS) * lambda[0]
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

// A row with sigma = 0: lambda = (E anchor - velocity) / (E + R).
static void free_row(const tbActiveState* s, int row, tbReal* c0, tbReal* w) {
  tbReal E = s->softness * s->a->rho[row], R = s->p->R ? s->p->R[row] : 0;
  c0[row] = E * s->anchor[row] / (E + R);
  *w = 1 / (E + R);
}

static void plain_weights(const tbActiveState* s, const tbBlock* b, tbReal* c0, tbReal* W) {
  for (int r = 0; r < b->dim; r++) {
    int row = b->row + r, mode = s->mode[row];
    c0[row] = mode == TB_MODE_LOW ? b->lower : mode == TB_MODE_HIGH ? b->upper : 0;
    if (mode == TB_MODE_ACTIVE) free_row(s, row, c0, &W[r * b->dim + r]);
  }
}

// Sliding by (1) and (2): along the edge of the cone, and across u against the stiffness of (1) and
// the proximal term.
static void slide_weights(const tbActiveState* s, const tbBlock* b, const tbSlide* slide,
                          tbReal* c0, tbReal* W) {
  int row = b->row, d = b->dim;
  bool exact = obeys_signorini(s->a);
  const tbReal* u = slide->u;
  tbReal E = s->softness * s->a->rho[row], R = s->p->R ? s->p->R[row] : 0, w = 1 / (E + R);
  tbReal hold = s->softness * slide->rho, across = 1 / (slide->stiffness + hold);
  tbReal edge[MAX] = {1}, anchor[MAX], from[MAX], along_u = 0;
  for (int j = 1; j < d; j++) {
    edge[j] = b->mu[j - 1] * u[j];
    anchor[j] = b->mu[j - 1] > 0 ? s->anchor[row + j] / b->mu[j - 1] : 0;
    along_u += anchor[j] * u[j];
    from[j] = s->a->coupling ? u[j] + slide->lean[j] : u[j];
  }
  tbReal constant = E * s->anchor[row] * w;
  for (int i = 0; i < d; i++) {
    c0[row + i] = edge[i] * constant;
    if (i > 0) c0[row + i] += across * hold * b->mu[i - 1] * (anchor[i] - along_u * u[i]);
    for (int j = 0; j < d; j++) {
      tbReal along = edge[i] * w * (exact ? (j == 0) : edge[j]);
      tbReal mu = i && j ? across * b->mu[i - 1] * b->mu[j - 1] : 0;
      W[i * d + j] = along + (mu != 0 ? mu * ((i == j) - from[i] * u[j]) : 0);
    }
  }
}

// Tangents that slide are at a share of the normal.
static void pyramid_weights(const tbActiveState* s, const tbBlock* b, tbReal* c0, tbReal* W) {
  int row = b->row, d = b->dim;
  free_row(s, row, c0, &W[0]);
  for (int j = 1; j < d; j++) {
    int mode = s->mode[row + j];
    tbReal share = mode == TB_MODE_LOW ? -b->mu[j - 1] : b->mu[j - 1];
    if (mode == TB_MODE_STICK) {
      free_row(s, row + j, c0, &W[j * d + j]);
    } else {
      c0[row + j] = share * c0[row];
      W[j * d] = share * W[0];
    }
  }
}

void tb_active_weights(const tbActiveState* s, int i, tbReal* c0, tbReal* W) {
  const tbBlock* b = &s->p->block[i];
  if (b->dim == 1) {
    // Dry friction and limits: most of a robot's blocks.
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
      if (stick && (r == 0 || b->mu[r - 1] > 0)) free_row(s, b->row + r, c0, &W[r * b->dim + r]);
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
  // Where y is projected to: along the normal, and the factor of the tangents.
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

// The same over all blocks, at a point on the line from (old, slow) to (next, speed).
static tbReal distance(const tbActiveState* s, tbReal t) {
  tbReal sum = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal lambda[MAX], sigma[MAX];
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      lambda[r] = s->old[row] + t * (s->next[row] - s->old[row]);
      sigma[r] = s->slow[row] + t * (s->speed[row] - s->slow[row]);
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

// Velocities are linear in impulses, so that a trial costs next to nothing.
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
