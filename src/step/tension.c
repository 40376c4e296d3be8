#include "step/tension.h"

#include <math.h>
#include <string.h>

#include "dynamics/mass.h"
#include "dynamics/pivot.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "spatial/eig3.h"
#include "spatial/vec3.h"
#include "step/sensor.h"

// Of loads as large as g makes them, from which share of what a step resolves on they are looked
// at.
static const tbReal LOOKED_AT = 0.1;
// Joints can close a loop twice over, and rigid links then press on each other with any force at
// all: what a joint bears is no more than so many times all that there is.
static const tbReal MOST_WEIGHTS = 4;

typedef struct {
  const tbModel* m;
  const tbData* d;
  const tbReal* pull;  // nbody x 3: on its parent
  tbReal* force;       // nbody x 3: of ties and of what hangs from a body
  tbReal* S;           // nbody x 9, world axes
} Loads;

static bool flies_alone(const tbModel* m, int body) {
  return m->body_jntnum[body] == 1 && m->jnt_type[m->body_jntadr[body]] == TB_JOINT_FREE &&
         m->tree_dofnum[m->body_treeid[body]] == 6;
}

// S += (f . r) 1 - (f r^T + r f^T) / 2 for a force f at arm r.
static void add_force(Loads* x, int body, const tbReal f[3], const tbReal point[3]) {
  tbReal r[3], *S = x->S + 9 * body;
  tb_sub3(r, point, tb_pivot(x->m, x->d, body));
  tbReal along = tb_dot3(f, r);
  for (int i = 0; i < 3; i++) {
    S[4 * i] += along;
    for (int k = 0; k < 3; k++) S[3 * i + k] -= 0.5 * (f[i] * r[k] + r[i] * f[k]);
    x->force[3 * body + i] += f[i];
  }
}

// Inertia against turns of a body about a unit vector, by its own alone or as the tree has it at
// the reference pose: whichever is known to be more.
static tbReal inertia_about(const tbModel* m, const tbData* d, int body, const tbReal axis[3]) {
  tbReal own[3], yields = 0;
  tb_mul_mat3t_vec3(own, d->ximat + 9 * body, axis);
  for (int k = 0; k < 3; k++) yields += own[k] * own[k] / m->body_inertia[3 * body + k];
  return 1 / fmin(yields, 3 * m->body_invweight0[2 * body + 1]);
}

// S becomes h^2 S of what pulls back, less the inertia that resolves it. False: nothing is left.
static bool keep_unresolved(Loads* x, int body) {
  tbReal values[3], quat[4], axes[9], h = x->m->opt.timestep, *S = x->S + 9 * body;
  bool any = false;
  tb_eig3(values, quat, S);
  tb_quat_to_mat(axes, quat);
  memset(S, 0, 9 * sizeof(tbReal));
  for (int e = 0; e < 3; e++) {
    tbReal axis[3] = {axes[e], axes[3 + e], axes[6 + e]};
    tbReal lacks = h * h * values[e] - inertia_about(x->m, x->d, body, axis);
    if (!(lacks > 0)) continue;
    for (int i = 0; i < 9; i++) S[i] += lacks * axis[i / 3] * axis[i % 3];
    any = true;
  }
  return any;
}

// ---- what bodies bear --------------------------------------------------------------------------

static bool ties_points(const tbConstraint* c) {
  return c->source == TB_SOURCE_EQUALITY && c->dim >= 3;
}

// The last step's forces of equalities.
static void add_ties(Loads* x, const tbConstraints* constraints) {
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    if (!ties_points(c)) continue;
    tbReal point[2][3], quat[2][4];
    int body[2];
    tb_equality_points(x->m, x->d, c->id, body, point, quat);
    for (int k = 0; k < 2; k++) {
      add_force(x, body[k], x->d->eq_pull + 6 * c->id + 3 * k, point[k]);
    }
  }
}

// From the leaves on: S of every body becomes what a step lacks of inertia. False: nothing.
static bool find_unresolved(Loads* x) {
  const tbModel* m = x->m;
  bool any = false;
  for (int b = m->nbody - 1; b > 0; b--) {
    int parent = m->body_parentid[b];
    tbReal *S = x->S + 9 * b, *above = x->S + 9 * parent, rest[3];
    const tbReal* pull = x->pull + 3 * b;
    // weight, and what the body's own motion takes
    tb_sub3(rest, pull, x->force + 3 * b);
    add_force(x, b, rest, x->d->xipos + 3 * b);
    add_force(x, parent, pull, tb_pivot(m, x->d, b));
    if (tb_turns(m, b)) {
      any |= keep_unresolved(x, b);
    } else {
      // as one with its parent
      for (int i = 0; i < 9; i++) above[i] += S[i];
      memset(S, 0, 9 * sizeof(tbReal));
    }
  }
  return any;
}

// H += sum over bodies of J^T S J, J their angular Jacobians.
static void add_stiffness(const Loads* x, tbReal* H) {
  const tbModel* m = x->m;
  for (int b = m->nbody - 1; b > 0; b--) {
    const tbReal* S = x->S + 9 * b;
    int parent = m->body_parentid[b], first = m->body_dofadr[b];
    for (int k = 0; parent > 0 && k < 9; k++) x->S[9 * parent + k] += S[k];
    for (int j = first; j < first + m->body_dofnum[b]; j++) {
      tbReal torque[3];
      tb_mul_mat3_vec3(torque, S, x->d->cdof + 6 * j);
      for (int k = m->M_rowadr[j]; k < m->M_rowadr[j] + m->M_rownnz[j]; k++) {
        H[k] += tb_dot3(x->d->cdof + 6 * m->M_colind[k], torque);
      }
    }
  }
}

// ---- steps -------------------------------------------------------------------------------------

static tbReal usual_acceleration(const tbModel* m) {
  return fmax(10, tb_norm3(m->opt.gravity));
}

// Next to nothing for the many models that bear no more than a step resolves.
static bool may_lack(const tbModel* m, const tbData* d, const tbStepState* state) {
  if (state->bears_much) return true;
  for (int i = 0; i < 6 * m->neq; i++) {
    if (d->eq_pull[i] != 0) return true;
  }
  return false;
}

static tbReal most_borne(const tbModel* m) {
  return MOST_WEIGHTS * m->total_mass * usual_acceleration(m);
}

static void keep(tbReal pull[3], const tbReal force[3], tbReal sign, tbReal most) {
  tb_scale3(pull, force, sign * fmin(1, most / fmax(TB_TINY, tb_norm3(force))));
}

// What joints bear, by the accelerations of the last solve.
static void find_pulls(const tbModel* m, tbData* d, const tbStepState* state, tbReal* pull) {
  tb_reactions(m, d, &state->constraints, state->row_force);
  for (int b = 1; b < m->nbody; b++) {
    keep(pull + 3 * b, d->cfrc_int + 6 * b + 3, -1, most_borne(m));
  }
}

// What equalities between trees bore. What lies on something turns with it, and its forces along.
static tbResult keep_ties(const tbModel* m, tbData* d, const tbStepState* state) {
  memset(d->eq_pull, 0, sizeof(tbReal) * 6 * (size_t)m->neq);
  char* lies = TB_ARENA_NEW(&d->work->arena, char, m->nbody);
  if (!lies) return TB_ERROR_MEMORY;
  for (int i = 0; i < d->ncon; i++) {
    if (d->contact[i].force[0] == 0) continue;
    for (int k = 0; k < 2; k++) lies[m->geom_bodyid[d->contact[i].geom[k]]] = 1;
  }
  for (int i = 0; i < state->constraints.count; i++) {
    const tbConstraint* c = &state->constraints.list[i];
    if (!ties_points(c)) continue;
    tbReal point[2][3], quat[2][4];
    int body[2];
    tb_equality_points(m, d, c->id, body, point, quat);
    if (m->body_treeid[body[0]] == m->body_treeid[body[1]]) continue;
    for (int k = 0; k < 2; k++) {
      bool alone = flies_alone(m, body[k]);
      if (lies[body[k]] || m->body_treeid[body[k]] < 0 || !(alone || state->bears_much)) continue;
      keep(d->eq_pull + 6 * c->id + 3 * k, state->row_force + c->row, k ? -1 : 1,
           alone ? INFINITY : most_borne(m));
    }
  }
  return TB_OK;
}

tbResult tb_tension_keep(const tbModel* m, tbData* d, const tbStepState* state) {
  if (state->bears_much) {
    find_pulls(m, d, state, d->body_pull);
  } else {
    memset(d->body_pull, 0, sizeof(tbReal) * 3 * (size_t)m->nbody);
  }
  return m->neq > 0 ? keep_ties(m, d, state) : TB_OK;
}

tbResult tb_tension_found(const tbModel* m, tbData* d, tbStepState* state, bool* found) {
  *found = state->bears_much && !state->pull;
  for (int i = 0; i < 3 * m->nbody && *found; i++) *found = d->body_pull[i] == 0;
  if (!*found) return TB_OK;
  tbReal* pull = TB_ARENA_NEW(&d->work->arena, tbReal, 3 * (size_t)m->nbody);
  if (!pull) return TB_ERROR_MEMORY;
  find_pulls(m, d, state, pull);
  state->pull = pull;
  return TB_OK;
}

tbResult tb_tension_stiffen(const tbModel* m, tbData* d, tbStepState* state,
                            tbInertiaFactor* factor) {
  tbReal h = m->opt.timestep;
  state->stiffened = 0;
  state->bears_much = h * h * usual_acceleration(m) * m->tautness > LOOKED_AT;
  if (!may_lack(m, d, state)) return TB_OK;
  tbArena* arena = &d->work->arena;
  Loads x = {.m = m, .d = d, .pull = state->pull ? state->pull : d->body_pull};
  x.force = TB_ARENA_NEW(arena, tbReal, 12 * (size_t)m->nbody);
  if (!x.force) return TB_ERROR_MEMORY;
  x.S = x.force + 3 * m->nbody;
  add_ties(&x, &state->constraints);
  if (!find_unresolved(&x)) return TB_OK;

  tbReal* H = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nM);
  tbReal* LD = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nM);
  tbReal* inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nv);
  if (!H || !LD || !inverse) return TB_ERROR_MEMORY;
  memcpy(H, factor->H, sizeof(tbReal) * (size_t)m->nM);
  add_stiffness(&x, H);
  memcpy(LD, H, sizeof(tbReal) * (size_t)m->nM);
  if (tb_ltdl_factor(tb_forest(m), LD, inverse, TB_LEAST_PIVOT) >= 0) return TB_ERROR_NUMERIC;
  *factor = (tbInertiaFactor){LD, inverse, H};
  state->stiffened = 1;
  return TB_OK;
}
