#include "dynamics/pivot.h"

#include <math.h>
#include <string.h>

#include "spatial/vec3.h"

int tb_turns(const tbModel* m, int body) {
  for (int k = 0; k < m->body_jntnum[body]; k++) {
    if (m->jnt_type[m->body_jntadr[body] + k] != TB_JOINT_SLIDE) return 1;
  }
  return 0;
}

const tbReal* tb_pivot(const tbModel* m, const tbData* d, int body) {
  for (int k = 0; k < m->body_jntnum[body]; k++) {
    int j = m->body_jntadr[body] + k;
    if (m->jnt_type[j] == TB_JOINT_FREE) return d->xipos + 3 * body;
    if (m->jnt_type[j] != TB_JOINT_SLIDE) return d->xanchor + 3 * j;
  }
  return d->xpos + 3 * body;
}

// bound += load times the arms of `point` about the principal axes of the body that turns with it.
static void add_load(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                     tbReal load, tbReal* bound) {
  while (body > 0 && !tb_turns(m, body)) body = m->body_parentid[body];
  if (body == 0) return;
  tbReal arm[3];
  tb_sub3(arm, point, tb_pivot(m, d, body));
  tb_mul_mat3t_vec3(arm, d->ximat + 9 * body, arm);
  for (int k = 0; k < 3; k++) {
    tbReal one = arm[(k + 1) % 3], other = arm[(k + 2) % 3];
    bound[3 * body + k] += load * sqrt(one * one + other * other);
  }
}

// The bodies that a connect or weld ties together, and where.
static void tied_at(const tbModel* m, const tbData* d, int e, int body[2], tbReal point[3]) {
  int one = m->eq_obj1id[e], two = m->eq_obj2id[e] < 0 ? 0 : m->eq_obj2id[e];
  if (m->eq_objtype[e] == TB_OBJ_SITE) {
    body[0] = m->site_bodyid[one], body[1] = m->site_bodyid[two];
    tb_copy3(point, d->site_xpos + 3 * one);
  } else {
    int holder = m->eq_type[e] == TB_EQ_WELD ? two : one;
    body[0] = one, body[1] = two;
    tb_mul_mat3_vec3(point, d->xmat + 9 * holder, m->eq_data + TB_NEQDATA * e);
    tb_add3(point, point, d->xpos + 3 * holder);
  }
}

void tb_set_tautness(tbModel* m, const tbData* d) {
  tbReal *bound = d->scratch_body, *load = bound + 3 * m->nbody, point[3];
  memset(bound, 0, sizeof(tbReal) * 3 * (size_t)m->nbody);
  memcpy(load, m->body_subtreemass, sizeof(tbReal) * (size_t)m->nbody);
  for (int e = 0; e < m->neq; e++) {
    int body[2];
    if (m->eq_type[e] != TB_EQ_CONNECT && m->eq_type[e] != TB_EQ_WELD) continue;
    tied_at(m, d, e, body, point);
    if (m->body_treeid[body[0]] == m->body_treeid[body[1]]) continue;
    for (int k = 0; k < 2; k++) {
      add_load(m, d, body[k], point, m->total_mass, bound);
      for (int b = body[k]; b > 0; b = m->body_parentid[b]) load[b] = m->total_mass;
    }
  }
  for (int b = 1; b < m->nbody; b++) {
    add_load(m, d, b, d->xipos + 3 * b, m->body_mass[b], bound);
    if (!tb_turns(m, b)) continue;
    add_load(m, d, m->body_parentid[b], tb_pivot(m, d, b), load[b], bound);
  }
  m->tautness = 0;
  for (int i = 3; i < 3 * m->nbody; i++) {
    tbReal yields = 3 * m->body_invweight0[2 * (i / 3) + 1], inertia = m->body_inertia[i];
    if (inertia * yields > 1) yields = 1 / inertia;
    m->tautness = fmax(m->tautness, bound[i] * yields);
  }
}
