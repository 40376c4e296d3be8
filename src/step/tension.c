#include "step/tension.h"

#include <math.h>
#include <string.h>

#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "spatial/eig3.h"
#include "spatial/vec3.h"

// Of a body's least moment of inertia: stiffness below h^2 K of this share is left explicit.
static const tbReal SHARE = 0.25;

static bool flies_free(const tbModel* m, int body) {
  int tree = m->body_lastdof[body] < 0 ? -1 : m->dof_treeid[m->body_lastdof[body]];
  return tree >= 0 && m->tree_dofnum[tree] == 6 && m->body_jntnum[body] == 1 &&
         m->jnt_type[m->body_jntadr[body]] == TB_JOINT_FREE;
}

// S += (f . r) 1 - (f r^T + r f^T) / 2 in the body's axes, for a force f at arm r.
static void add_force(const tbData* d, int body, const tbReal force[3], const tbReal point[3],
                      tbReal S[9]) {
  tbReal arm[3], f[3], r[3];
  tb_sub3(arm, point, d->xipos + 3 * body);
  tb_mul_mat3t_vec3(f, d->xmat + 9 * body, force);
  tb_mul_mat3t_vec3(r, d->xmat + 9 * body, arm);
  tbReal along = tb_dot3(f, r);
  for (int i = 0; i < 3; i++) {
    S[4 * i] += along;
    for (int k = 0; k < 3; k++) S[3 * i + k] -= 0.5 * (f[i] * r[k] + r[i] * f[k]);
  }
}

// The part of S that pulls back. False where it is too weak to matter.
static bool keep_restoring(const tbModel* m, int body, tbReal S[9]) {
  const tbReal* I = m->body_inertia + 3 * body;
  tbReal values[3], quat[4], axes[9], h = m->opt.timestep;
  // descending
  tb_eig3(values, quat, S);
  if (!(h * h * values[0] > SHARE * fmin(I[0], fmin(I[1], I[2])))) return false;
  tb_quat_to_mat(axes, quat);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      S[3 * i + k] = 0;
      for (int e = 0; e < 3; e++) {
        S[3 * i + k] += fmax(0, values[e]) * axes[3 * i + e] * axes[3 * k + e];
      }
    }
  }
  return true;
}

static bool ties_points(const tbConstraint* c) {
  return c->source == TB_SOURCE_EQUALITY && c->dim >= 3;
}

// S of every body from the last step's equality forces; false where there are none.
static bool gather(const tbModel* m, const tbData* d, const tbConstraints* constraints, tbReal* S) {
  bool any = false;
  for (int i = 0; i < constraints->count; i++) {
    const tbConstraint* c = &constraints->list[i];
    if (!ties_points(c)) continue;
    tbReal point[2][3], quat[2][4];
    int body[2];
    tb_equality_points(m, d, c->id, body, point, quat);
    for (int k = 0; k < 2; k++) {
      const tbReal* force = d->eq_pull + 6 * c->id + 3 * k;
      if (tb_dot3(force, force) == 0) continue;
      add_force(d, body[k], force, point[k], S + 9 * body[k]);
      any = true;
    }
  }
  return any;
}

tbResult tb_tension_keep(const tbModel* m, tbData* d, const tbStepState* state) {
  if (m->neq == 0) return TB_OK;
  memset(d->eq_pull, 0, sizeof(tbReal) * 6 * (size_t)m->neq);
  // What lies on something turns with it, and its forces along.
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
    for (int k = 0; k < 2; k++) {
      if (lies[body[k]] || !flies_free(m, body[k])) continue;
      tb_scale3(d->eq_pull + 6 * c->id + 3 * k, state->row_force + c->row, k ? -1 : 1);
    }
  }
  return TB_OK;
}

tbResult tb_tension_stiffen(const tbModel* m, tbData* d, tbStepState* state,
                            tbInertiaFactor* factor) {
  state->stiffened = 0;
  if (m->neq == 0) return TB_OK;
  tbArena* arena = &d->work->arena;
  tbReal h = m->opt.timestep, *H = NULL, *S = TB_ARENA_NEW(arena, tbReal, 9 * (size_t)m->nbody);
  if (!S) return TB_ERROR_MEMORY;
  if (!gather(m, d, &state->constraints, S)) return TB_OK;
  for (int b = 1; b < m->nbody; b++) {
    tbReal* K = S + 9 * b;
    if (!flies_free(m, b) || !keep_restoring(m, b, K)) continue;
    if (!H) {
      H = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nM);
      if (!H) return TB_ERROR_MEMORY;
      memcpy(H, factor->H, sizeof(tbReal) * (size_t)m->nM);
    }
    // the rows of M below the diagonal, the three turns last
    int first = m->body_dofadr[b] + 3;
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k <= i; k++) H[m->M_rowadr[first + i] + 3 + k] += h * h * K[3 * i + k];
    }
  }
  if (!H) return TB_OK;
  tbReal* LD = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nM);
  tbReal* inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nv);
  if (!LD || !inverse) return TB_ERROR_MEMORY;
  memcpy(LD, H, sizeof(tbReal) * (size_t)m->nM);
  if (tb_ltdl_factor(tb_forest(m), LD, inverse, TB_LEAST_PIVOT) >= 0) return TB_ERROR_NUMERIC;
  *factor = (tbInertiaFactor){LD, inverse, H};
  state->stiffened = 1;
  return TB_OK;
}
