// Products with A and B and their transposes, and responses to other inputs, without forming
// matrices (docs/notebook/derivatives.md, sec. 4).
#include <math.h>
#include <string.h>

#include "dynamics/regressor.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "partials/derivatives.h"
#include "forces/forces.h"
#include "forces/gyroscopic_midpoint.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

void tb_next_position(const tbDerivatives* x, const tbReal* dv, const tbReal* dq, tbReal* out,
                      int width) {
  const tbModel* m = x->m;
  size_t w = (size_t)width;
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], type = m->jnt_type[j];
    int turning = tb_joint_has_quaternion(type), scalar = tb_joint_numbers(type);
    for (int i = first; i < first + scalar; i++) {
      for (size_t k = 0; k < w; k++) {
        tbReal own = dq ? dq[(size_t)i * w + k] : k == (size_t)i;
        out[(size_t)i * w + k] = own + x->h * dv[(size_t)i * w + k];
      }
    }
    const tbReal *Q = x->turn_q + 9 * j, *V = x->turn_v + 9 * j;
    for (int r = 0; turning && r < 3; r++) {
      tbReal* row = out + (size_t)(first + scalar + r) * w;
      for (size_t k = 0; k < w; k++) {
        tbReal sum = 0;
        for (int c = 0; c < 3; c++) {
          size_t i = (size_t)(first + scalar + c);
          tbReal own = dq ? dq[i * w + k] : k == i;
          sum += Q[3 * r + c] * own + x->h * V[3 * r + c] * dv[i * w + k];
        }
        row[k] = sum;
      }
    }
  }
}

// From y, the adjoint of q+, to the adjoints of q and of the velocity that moves it.
static void next_position_transposed(const tbDerivatives* x, const tbReal* y, tbReal* dq,
                                     tbReal* move) {
  const tbModel* m = x->m;
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], type = m->jnt_type[j];
    int scalar = tb_joint_numbers(type);
    for (int i = first; i < first + scalar; i++) {
      move[i] = x->h * y[i];
      dq[i] = y[i];
    }
    if (!tb_joint_has_quaternion(type)) continue;
    int at = first + scalar;
    tbReal by_v[3];
    tb_mul_mat3t_vec3(dq + at, x->turn_q + 9 * j, y + at);
    tb_mul_mat3t_vec3(by_v, x->turn_v + 9 * j, y + at);
    for (int r = 0; r < 3; r++) move[at + r] = x->h * by_v[r];
  }
}

// ---- one direction ------------------------------------------------------------------------------

static tbReal dot(const tbReal* a, const tbReal* b, int n) {
  tbReal sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// One right-hand side, in x->scratch: partial forces, S and E, and those of the position's own
// acceleration if it has one.
typedef struct {
  tbReal *force, *final, *sigma, *law;
  tbReal *move, *move_law;
  tbReal *zero, *in, *gathered;
} Input;

static Input input_of(const tbDerivatives* x) {
  Input i;
  size_t nv = (size_t)x->nv, n = (size_t)x->n;
  i.force = x->scratch;
  i.final = x->final.force ? i.force + nv : i.force;
  i.move = i.force + 2 * nv;
  i.zero = i.force + 3 * nv;
  i.sigma = i.force + 4 * nv;
  i.law = i.sigma + n;
  i.move_law = i.law + n;
  i.in = i.move_law + n;
  i.gathered = i.in + x->ncol;
  memset(x->scratch, 0, sizeof(tbReal) * (4 * nv + 3 * n + (size_t)x->ncol));
  return i;
}

// Write the change of the next state to out; dx may be NULL for zero.
static void respond(tbDerivatives* x, const Input* i, const tbReal* dx, tbReal* out) {
  int nv = x->nv;
  tb_deriv_solve(x, i->force, i->final, i->sigma, i->gathered, i->law, 1);
  tbReal* dv = out + nv;
  for (int k = 0; k < nv; k++) dv[k] = (dx ? dx[nv + k] : 0) + x->h * i->final[k];
  // The velocity that moves the configuration.
  if (x->move.acc) {
    memset(i->sigma, 0, sizeof(tbReal) * (size_t)x->n);
    tb_deriv_solve(x, i->move, i->move, i->sigma, i->gathered, i->move_law, 1);
    for (int k = 0; k < nv; k++) {
      i->move[k] = (dx ? dx[nv + k] : 0) + x->move_share * x->h * i->move[k];
    }
  } else {
    for (int k = 0; k < nv; k++) {
      i->move[k] = x->move_share * dv[k] + (dx ? (1 - x->move_share) * dx[nv + k] : 0);
    }
  }
  tb_next_position(x, i->move, dx ? dx : i->zero, out, 1);
}

// Without a linearised step the result is NaN: zeros or old numbers could be mistaken for
// derivatives.
static void no_answer(tbReal* out, int n) {
  for (int i = 0; out && i < n; i++) out[i] = NAN;
}

static void multiply(const tbReal* M, int rows, int columns, const tbReal* v, tbReal* out) {
  for (int i = 0; i < rows; i++) out[i] += v ? dot(M + (size_t)i * (size_t)columns, v, columns) : 0;
}

void tb_derivatives_apply(tbDerivatives* x, const tbReal* dx, const tbReal* du, tbReal* dx_next) {
  if (!x || !dx_next) return;
  memset(dx_next, 0, sizeof(tbReal) * (size_t)x->nx);
  if (x->ready == 0) no_answer(dx_next, x->nx);
  if (x->ready == 2) {
    multiply(x->dense_A, x->nx, x->nx, dx, dx_next);
    multiply(x->dense_B, x->nx, x->nu, du, dx_next);
  }
  if (x->ready != 1) return;
  int nv = x->nv;
  Input i = input_of(x);
  if (dx) memcpy(i.in, dx, sizeof(tbReal) * (size_t)x->nx);
  if (du) memcpy(i.in + x->nx, du, sizeof(tbReal) * (size_t)x->nu);
  multiply(x->law.force, nv, x->ncol, i.in, i.force);
  if (i.final != i.force) multiply(x->final.force, nv, x->ncol, i.in, i.final);
  multiply(x->S, x->n, x->ncol, i.in, i.sigma);
  if (x->E) multiply(x->E, x->n, x->ncol, i.in, i.law);
  if (x->move.acc) {
    multiply(x->move.force, nv, x->ncol, i.in, i.move);
    multiply(x->move.E, x->n, x->ncol, i.in, i.move_law);
  }
  respond(x, &i, i.in, dx_next);
  for (int s = 0; s < x->na; s++) {
    dx_next[2 * nv + s] =
        x->act_by_act[s] * i.in[2 * nv + s] + x->act_by_ctrl[s] * i.in[x->nx + x->act_ctrl[s]];
  }
}

void tb_expo_loads(const tbDerivatives* x, const tbReal* load, int stride, int second,
                   tbReal* law) {
  for (int e = 0; e < x->nexpo; e++) {
    const tbExpoResponse* island = &x->expo[e];
    for (int i = 0; i < island->n; i++) {
      const tbReal* by = island->by_load[second] + (size_t)i * (size_t)island->n;
      tbReal sum = 0;
      for (int k = 0; k < island->n; k++) {
        sum += by[k] * load[(size_t)island->row[k] * (size_t)stride];
      }
      law[(size_t)island->row[i] * (size_t)stride] = sum;
    }
  }
}

void tb_derivatives_force(tbDerivatives* x, const tbReal* dforce, tbReal* dx_next) {
  if (!x || !dforce || !dx_next) return;
  memset(dx_next, 0, sizeof(tbReal) * (size_t)x->nx);
  if (x->ready == 0) no_answer(dx_next, x->nx);
  if (x->ready == 2) multiply(x->dense_F, x->nx, x->nv, dforce, dx_next);
  if (x->ready != 1) return;
  Input i = input_of(x);
  size_t bytes = sizeof(tbReal) * (size_t)x->nv;
  memcpy(i.force, dforce, bytes);
  memcpy(i.final, dforce, bytes);
  if (x->nexpo) {
    // Loads J H^-1 dforce on the oscillators' rows, for both means.
    multiply(x->law.Y, x->n, x->nv, dforce, i.sigma);
    tb_expo_loads(x, i.sigma, 1, 0, i.law);
    tb_expo_loads(x, i.sigma, 1, 1, i.move_law);
    memset(i.sigma, 0, sizeof(tbReal) * (size_t)x->n);
  }
  memcpy(i.move, dforce, bytes);
  respond(x, &i, NULL, dx_next);
}

tbResult tb_derivatives_friction(tbDerivatives* x, int contact, tbReal* dx_next) {
  if (!x || !dx_next) return TB_ERROR_ARGUMENT;
  memset(dx_next, 0, sizeof(tbReal) * (size_t)x->nx);
  if (contact < 0 || contact >= x->ncon) return TB_ERROR_ARGUMENT;
  if (x->ready == 0) return TB_ERROR_ARGUMENT;
  if (x->ready == 2) {
    tbResult result = x->dense_mu ? TB_OK : tb_deriv_friction_differences(x);
    for (int r = 0; result == TB_OK && r < x->nx; r++) {
      dx_next[r] = x->dense_mu[(size_t)r * (size_t)x->ncon + (size_t)contact];
    }
    return result;
  }
  Input i = input_of(x);
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (a->source != TB_SOURCE_CONTACT || a->id != contact) continue;
    for (int r = 0; r < a->dim; r++) i.law[a->row + r] = a->by_friction[r];
  }
  for (int e = 0; e < x->nexpo; e++) {
    const tbExpoResponse* island = &x->expo[e];
    for (int k = 0; k < island->nmember; k++) {
      for (int r = 0; island->contact[k] == contact && r < island->n; r++) {
        size_t at = (size_t)r * (size_t)island->nmember + (size_t)k;
        i.law[island->row[r]] += island->by_friction[0][at];
        i.move_law[island->row[r]] += island->by_friction[1][at];
      }
    }
  }
  respond(x, &i, NULL, dx_next);
  return TB_OK;
}

// 1 if forces depend on inertia in ways without analytic derivatives: the oscillators of expo, the
// slopes of the bias of `implicit`, the blocks of G in raisim's sliding and in exact gains, and the
// equivalent boxes of bodies in a fluid medium.
static int needs_differences(const tbDerivatives* x) {
  return x->ready != 1 || x->move.acc || x->final.LU || tb_has_fluid(x->m) || x->by_responses;
}

// Changes of S and E through the diagonal J H^-1 J^T = J u, whose partials are -u^T dM u.
static void add_diagonals(const tbDerivatives* x, const tbData* d, int body, tbReal* S, tbReal* E) {
  for (int b = 0; b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    for (int r = 0; r < a->dim; r++) {
      if (a->by_diagonal[0][r] == 0 && a->by_diagonal[1][r] == 0) continue;
      const tbReal* u = x->law.Y + (size_t)(a->row + r) * (size_t)x->nv;
      tbReal products[TB_NINERTIAL];
      tb_inertia_products(x->m, d, body, u, u, products);
      for (int p = 0; p < TB_NINERTIAL; p++) {
        size_t at = (size_t)p * (size_t)x->n + (size_t)(a->row + r);
        S[at] -= a->by_diagonal[0][r] * products[p];
        E[at] -= a->by_diagonal[1][r] * products[p];
      }
    }
  }
}

// Difference between the Coriolis and gyroscopic forces of the middle of the step and the bias
// force, which is not linear in inertia: derivatives by the parameters of a body (nv x
// TB_NINERTIAL).
static tbResult turning(tbDerivatives* x, tbData* d, int body, tbReal* slope) {
  const tbModel* m = x->m;
  tbGyroscopicMidpoint turn;
  int tree = m->body_treeid[body];
  if (tree < 0 || !tb_gyroscopic_midpoint(m, d, tree, &turn)) {
    return tb_deriv_middle_by_inertia(x, d, body, slope);
  }
  memset(slope, 0, sizeof(tbReal) * (size_t)m->nv * TB_NINERTIAL);
  return tb_gyroscopic_midpoint_by_inertia(m, d, body, &turn,
                                           slope + (size_t)turn.dof * TB_NINERTIAL);
}

// Gravity compensation carries a share of a body's weight, which is linear in the mass (a force at
// the body's origin) and in the first moment (a couple). The derivatives of its forces by these are
// added to `slope` (nv x TB_NINERTIAL). `column`: nv.
static void add_compensation(const tbModel* m, const tbData* d, int body, tbReal* column,
                             tbReal* slope) {
  if (m->body_gravcomp[body] == 0 || !tb_deriv_compensates(m)) return;
  const tbReal *R = d->xmat + 9 * body, *origin = d->xpos + 3 * body;
  tbReal lift[3], couple[3];
  tb_scale3(lift, m->opt.gravity, -m->body_gravcomp[body]);
  for (int p = 0; p < 4; p++) {
    if (p > 0) tb_cross(couple, (tbReal[3]){R[p - 1], R[2 + p], R[5 + p]}, lift);
    memset(column, 0, sizeof(tbReal) * (size_t)m->nv);
    tb_apply_wrench(m, d, body, origin, p ? NULL : lift, p ? couple : NULL, column);
    for (int i = 0; i < m->nv; i++) {
      if (tb_deriv_is_compensated(m, d, i)) slope[i * TB_NINERTIAL + p] += column[i];
    }
  }
}

tbResult tb_derivatives_inertial(tbDerivatives* x, const tbModel* m, tbData* d, int body,
                                 tbReal* dx_dparameters) {
  if (!x || !dx_dparameters || !tb_is_world_of(m, d)) return TB_ERROR_ARGUMENT;
  if (x->ready == 0 || m->block != x->m->block) return TB_ERROR_ARGUMENT;
  if (body < 0 || body >= m->nbody) return TB_ERROR_ARGUMENT;
  if (x->sampled.samples > 1) return tb_deriv_inertial_samples(x, m, d, body, dx_dparameters);
  if (needs_differences(x)) return tb_deriv_inertial_differences(m, d, body, dx_dparameters);
  size_t width = (size_t)TB_NINERTIAL * (size_t)m->nbody, nv = (size_t)m->nv;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  size_t room = 2 * nv * width + (size_t)x->nx + nv * TB_NINERTIAL;
  tbReal* Y = tb_arena_alloc(&x->arena, sizeof(tbReal) * (room + 1));
  tbReal* S = TB_ARENA_NEW(&x->arena, tbReal, 2 * TB_NINERTIAL * (size_t)x->n + 1);
  if (!Y || !S) return TB_ERROR_MEMORY;
  tbReal* E = S + TB_NINERTIAL * (size_t)x->n;
  add_diagonals(x, d, body, S, E);
  tbReal *second = Y + nv * width, *next = second + nv * width, *own = next + x->nx;
  tb_rne_regressor(m, d, x->law_acc ? x->law_acc : d->qacc, Y);
  if (x->final_acc) tb_rne_regressor(m, d, x->final_acc, second);
  tbResult result = turning(x, d, body, own);
  if (result != TB_OK) return result;
  add_compensation(m, d, body, next, own);
  for (size_t p = 0; p < TB_NINERTIAL; p++) {
    Input in = input_of(x);
    size_t column = (size_t)TB_NINERTIAL * (size_t)body + p;
    memset(next, 0, sizeof(tbReal) * (size_t)x->nx);
    for (size_t i = 0; i < nv; i++) {
      tbReal turns = own[i * TB_NINERTIAL + p];
      in.force[i] = turns - Y[i * width + column];
      if (x->final_acc) in.final[i] = turns - second[i * width + column];
    }
    memcpy(in.sigma, S + p * (size_t)x->n, sizeof(tbReal) * (size_t)x->n);
    memcpy(in.law, E + p * (size_t)x->n, sizeof(tbReal) * (size_t)x->n);
    respond(x, &in, NULL, next);
    for (size_t i = 0; i < (size_t)x->nx; i++) dx_dparameters[i * TB_NINERTIAL + p] = next[i];
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

// ---- transposed ---------------------------------------------------------------------------------

static void multiply_transposed(const tbReal* M, int rows, int columns, const tbReal* y,
                                tbReal* out) {
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < columns; k++) out[k] += y[i] * M[(size_t)i * (size_t)columns + (size_t)k];
  }
}

static void dense_transposed(tbDerivatives* x, const tbReal* y, tbReal* dx, tbReal* du,
                             tbReal* dforce, tbReal* dfriction) {
  if (dfriction && !x->dense_mu && tb_deriv_friction_differences(x) != TB_OK) {
    for (int i = 0; i < x->ncon; i++) dfriction[i] = NAN;
    dfriction = NULL;
  }
  const tbReal* const matrix[] = {x->dense_A, x->dense_B, x->dense_F, x->dense_mu};
  tbReal* const out[] = {dx, du, dforce, dfriction};
  const int columns[] = {x->nx, x->nu, x->nv, x->ncon};
  for (int i = 0; i < 4; i++) {
    if (!out[i]) continue;
    memset(out[i], 0, sizeof(tbReal) * (size_t)columns[i]);
    multiply_transposed(matrix[i], x->nx, columns[i], y, out[i]);
  }
}

// From the adjoint of the law's forces (rows) to those of loads and friction; `second`: for the
// position.
static void expo_transposed(const tbDerivatives* x, const tbReal* law, int second, tbReal* load,
                            tbReal* dfriction) {
  for (int e = 0; e < x->nexpo; e++) {
    const tbExpoResponse* island = &x->expo[e];
    for (int i = 0; i < island->n; i++) {
      tbReal weight = law[island->row[i]];
      const tbReal* by = island->by_load[second] + (size_t)i * (size_t)island->n;
      for (int k = 0; k < island->n; k++) load[island->row[k]] += weight * by[k];
      for (int k = 0; dfriction && k < island->nmember; k++) {
        if (island->contact[k] < 0) continue;
        dfriction[island->contact[k]] +=
            weight * island->by_friction[second][(size_t)i * (size_t)island->nmember + (size_t)k];
      }
    }
  }
}

// Adjoint z of one acceleration back through its forces: into `in`, dforce and dfriction.
static void acceleration_transposed(tbDerivatives* x, const Input* i, const tbReal* z, int second,
                                    tbReal* dforce, tbReal* dfriction) {
  int nv = x->nv, n = x->n;
  const tbReal *partials = second ? x->move.force : x->law.force, *E = second ? x->move.E : x->E;
  tb_deriv_solve_transposed(x, z, i->force, i->final, i->sigma, i->law);
  multiply_transposed(partials, nv, x->ncol, i->force, i->in);
  if (i->final != i->force) multiply_transposed(x->final.force, nv, x->ncol, i->final, i->in);
  for (int k = 0; dforce && k < nv; k++) {
    dforce[k] += i->force[k] + (i->final != i->force ? i->final[k] : 0);
  }
  if (!second) multiply_transposed(x->S, n, x->ncol, i->sigma, i->in);
  if (E) multiply_transposed(E, n, x->ncol, i->law, i->in);
  if (x->nexpo) {
    memset(i->sigma, 0, sizeof(tbReal) * (size_t)n);
    expo_transposed(x, i->law, second, i->sigma, dfriction);
    if (dforce) multiply_transposed(x->law.Y, n, nv, i->sigma, dforce);
    return;
  }
  for (int b = 0; dfriction && b < x->nactive; b++) {
    const tbActiveRows* a = &x->active[b];
    if (a->source != TB_SOURCE_CONTACT) continue;
    for (int r = 0; r < a->dim; r++) dfriction[a->id] += a->by_friction[r] * i->law[a->row + r];
  }
}

void tb_derivatives_apply_transposed(tbDerivatives* x, const tbReal* y, tbReal* dx, tbReal* du,
                                     tbReal* dforce, tbReal* dfriction) {
  if (!x || !y) return;
  int nv = x->nv;
  if (x->ready == 0) {
    no_answer(dx, x->nx);
    no_answer(du, x->nu);
    no_answer(dforce, nv);
    return;
  }
  if (dforce) memset(dforce, 0, sizeof(tbReal) * (size_t)nv);
  if (dfriction) memset(dfriction, 0, sizeof(tbReal) * (size_t)x->ncon);
  if (x->ready == 2) dense_transposed(x, y, dx, du, dforce, dfriction);
  if (x->ready != 1) return;
  Input i = input_of(x);
  tbReal *move = i.move, *z = i.zero;
  next_position_transposed(x, y, i.in, move);
  // Adjoints of the velocity at the start, and of the acceleration of the new one.
  tbReal share = x->move.acc ? 0 : x->move_share;
  for (int k = 0; k < nv; k++) {
    tbReal next = y[nv + k] + share * move[k];
    i.in[nv + k] += next + (1 - share) * move[k];
    z[k] = x->h * next;
  }
  acceleration_transposed(x, &i, z, 0, dforce, dfriction);
  if (x->move.acc) {
    for (int k = 0; k < nv; k++) z[k] = x->move_share * x->h * move[k];
    acceleration_transposed(x, &i, z, 1, dforce, dfriction);
  }
  for (int s = 0; s < x->na; s++) {
    i.in[2 * nv + s] += x->act_by_act[s] * y[2 * nv + s];
    i.in[x->nx + x->act_ctrl[s]] += x->act_by_ctrl[s] * y[2 * nv + s];
  }
  if (dx) memcpy(dx, i.in, sizeof(tbReal) * (size_t)x->nx);
  if (du) memcpy(du, i.in + x->nx, sizeof(tbReal) * (size_t)x->nu);
}
