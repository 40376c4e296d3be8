#include "common/hard_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"

int tb_hard_add_body(tbHardScene* s, tbReal mass, const tbReal size[3], const tbReal position[3]) {
  if (s->body_count == s->body_room) {
    s->body_room = 2 * s->body_room + 16;
    tbHardBody* grown = realloc(s->body, (size_t)s->body_room * sizeof *grown);
    s->failed = s->failed || !grown;
    if (!grown) return -1;
    s->body = grown;
  }
  tbHardBody* b = &s->body[s->body_count];
  memset(b, 0, sizeof *b);
  b->mass = mass;
  for (int k = 0; k < 3; k++) {
    tbReal u = size[(k + 1) % 3], v = size[(k + 2) % 3];
    b->inertia[k] = mass * (u * u + v * v) / 12;
    b->position[k] = position[k];
  }
  return s->body_count++;
}

void tb_hard_add_contact(tbHardScene* s, int a, int b, const tbReal point[3],
                         const tbReal normal[3], tbReal mu) {
  if (s->contact_count == s->contact_room) {
    s->contact_room = 2 * s->contact_room + 64;
    tbHardContact* grown = realloc(s->contact, (size_t)s->contact_room * sizeof *grown);
    s->failed = s->failed || !grown;
    if (!grown) return;
    s->contact = grown;
  }
  tbHardContact* c = &s->contact[s->contact_count++];
  memset(c, 0, sizeof *c);
  c->a = a;
  c->b = b;
  c->type = TB_BLOCK_CONE;
  c->dim = 3;
  memcpy(c->point, point, sizeof c->point);
  memcpy(c->normal, normal, sizeof c->normal);
  for (int k = 0; k < TB_MAX_BLOCK_DIM - 1; k++) c->mu[k] = k < 2 ? mu : 0.05 * mu;
}

// ---- from scene to problem ---------------------------------------------------------------------

static void cross(const tbReal* a, const tbReal* b, tbReal* out) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

// Normal, two tangents turned by a random angle.
static void frame(tbRng* rng, const tbReal* normal, tbReal axis[3][3]) {
  tbReal side[3] = {0, 0, 0}, u[3], v[3], angle = tb_rng_uniform(rng, 0, 6.283185307179586);
  side[fabs(normal[0]) < 0.5 ? 0 : 1] = 1;
  cross(normal, side, u);
  tbReal length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int k = 0; k < 3; k++) u[k] /= length;
  cross(normal, u, v);
  for (int k = 0; k < 3; k++) {
    axis[0][k] = normal[k];
    axis[1][k] = tb_cos(angle) * u[k] + tb_sin(angle) * v[k];
    axis[2][k] = tb_cos(angle) * v[k] - tb_sin(angle) * u[k];
  }
}

typedef struct {
  int n, nv, entries;
  tbBlock* block;
  int *start, *column, *M_start, *M_column;
  tbReal *value, *mass, *gamma, *v;
} Matrices;

static void free_matrices(Matrices* m) {
  void* all[] = {m->block, m->start, m->column, m->M_start, m->M_column,
                 m->value, m->mass,  m->gamma,  m->v};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
}

// One row of J: `axis` . velocity of the point (linear rows) or of the body (angular rows).
static void add_row(const tbHardScene* s, Matrices* m, const tbHardContact* c, const tbReal* axis,
                    bool angular) {
  m->start[m->n] = m->entries;
  int order[2] = {c->a < c->b ? c->a : c->b, c->a < c->b ? c->b : c->a};
  for (int side = 0; side < 2; side++) {
    int body = order[side];
    if (body < 0) continue;
    tbReal sign = body == c->b ? 1 : -1, arm[3], turn[3];
    for (int k = 0; k < 3; k++) arm[k] = c->point[k] - s->body[body].position[k];
    cross(arm, axis, turn);
    for (int k = 0; k < 6; k++) {
      m->column[m->entries] = 6 * body + k;
      m->value[m->entries++] =
          sign * (angular ? (k < 3 ? 0 : axis[k - 3]) : (k < 3 ? axis[k] : turn[k - 3]));
    }
  }
  m->n++;
}

static bool build(tbHardScene* s, Matrices* m) {
  size_t rows = 0, contacts = (size_t)s->contact_count;
  for (size_t i = 0; i < contacts; i++) rows += (size_t)s->contact[i].dim;
  m->nv = 6 * s->body_count;
  size_t nv = (size_t)m->nv;
  m->block = calloc(contacts + 1, sizeof *m->block);
  m->start = calloc(rows + 1, sizeof(int));
  m->column = calloc(12 * rows + 1, sizeof(int));
  m->value = calloc(12 * rows + 1, sizeof(tbReal));
  m->gamma = calloc(rows + 1, sizeof(tbReal));
  m->M_start = calloc(nv + 1, sizeof(int));
  m->M_column = calloc(nv + 1, sizeof(int));
  m->mass = calloc(nv + 1, sizeof(tbReal));
  m->v = calloc(nv + 1, sizeof(tbReal));
  if (!m->block || !m->start || !m->column || !m->value || !m->gamma || !m->M_start ||
      !m->M_column || !m->mass || !m->v) {
    return false;
  }
  for (int i = 0; i < s->contact_count; i++) {
    const tbHardContact* c = &s->contact[i];
    tbReal axis[3][3];
    frame(s->rng, c->normal, axis);
    m->block[i] = (tbBlock){.type = c->type, .row = m->n, .dim = c->dim};
    memcpy(m->block[i].mu, c->mu, sizeof c->mu);
    m->gamma[m->n] = c->gap_speed;
    for (int r = 0; r < c->dim; r++) add_row(s, m, c, axis[r % 3], r >= 3);
  }
  m->start[m->n] = m->entries;
  for (int b = 0; b < s->body_count; b++) {
    for (int k = 0; k < 6; k++) {
      int i = 6 * b + k;
      m->M_start[i] = m->M_column[i] = i;
      m->mass[i] = k < 3 ? s->body[b].mass : s->body[b].inertia[k - 3];
      m->v[i] = s->body[b].velocity[k] + (k == 2 ? -s->gravity * s->dt : 0);
    }
  }
  m->M_start[nv] = m->nv;
  return true;
}

static tbProblem* make_problem(const tbHardScene* s, const Matrices* m) {
  return tb_problem_create_mass(s->contact_count, m->block, m->nv, m->M_start, m->M_column, m->mass,
                                m->start, m->column, m->value, NULL, m->v, m->gamma, NULL);
}

// Some steps in time with a rough solver and contacts that stay where they are: velocities as they
// occur in motion, not all at rest.
static void warm_up(const tbHardScene* s, Matrices* m, int steps) {
  tbReal* lambda = calloc((size_t)m->n + 1, sizeof *lambda);
  tbSolveSettings set = tbDefaultSolveSettings();
  set.solver = "pgs";
  set.max_iter = 20;
  for (int k = 0; k < steps && lambda; k++) {
    tbProblem* p = make_problem(s, m);
    if (!p || tb_solve(p, &set, lambda, NULL, NULL, NULL) != TB_OK) break;
    tb_problem_free(p);
    for (int r = 0; r < m->n; r++) {
      for (int e = m->start[r]; e < m->start[r + 1]; e++) {
        m->v[m->column[e]] += m->value[e] * lambda[r] / m->mass[m->column[e]];
      }
    }
    for (int i = 2; i < m->nv; i += 6) m->v[i] -= s->gravity * s->dt;
    set.warm_start = 1;
  }
  free(lambda);
}

// Corrections of overlap that can be met: the bodies could move with velocities u such that J u +
// gamma lies in the dual cones.
static void add_corrections(const tbHardScene* s, Matrices* m) {
  tbReal speed = s->gravity * s->dt * tb_pow(10, tb_rng_uniform(s->rng, -1, 1));
  tbReal* u = calloc((size_t)m->nv + 1, sizeof *u);
  for (int i = 0; i < m->nv && u; i++) u[i] = speed * tb_rng_normal(s->rng);
  for (int i = 0; i < s->contact_count && u; i++) {
    const tbBlock* b = &m->block[i];
    tbReal c[TB_MAX_BLOCK_DIM] = {0}, slip = 0;
    if (b->type == TB_BLOCK_EQUALITY) continue;
    for (int r = 0; r < b->dim; r++) {
      for (int e = m->start[b->row + r]; e < m->start[b->row + r + 1]; e++) {
        c[r] += m->value[e] * u[m->column[e]];
      }
      if (r > 0) slip = tb_hypot(slip, b->mu[r - 1] * c[r]);
    }
    m->gamma[b->row] += slip - c[0];
  }
  free(u);
}

// The same problem with G as a matrix: dense, or in compressed rows.
static tbProblem* explicit_form(tbProblem* p, bool dense) {
  int n = p->n, entries = 0;
  size_t size = (size_t)n * (size_t)n;
  tbReal *G = calloc(size + 1, sizeof *G), *unit = calloc((size_t)n + 1, sizeof *unit),
         *column = calloc((size_t)n + 1, sizeof *column), *value = calloc(size + 1, sizeof *value);
  int *start = calloc((size_t)n + 1, sizeof *start), *index = calloc(size + 1, sizeof *index);
  tbProblem* out = NULL;
  if (G && unit && column && value && start && index) {
    for (int j = 0; j < n; j++) {
      unit[j] = 1;
      tb_problem_velocity(p, unit, column, NULL);
      unit[j] = 0;
      for (int i = 0; i <= j; i++) G[i * n + j] = G[j * n + i] = column[i] - p->g[i];
    }
    for (int i = 0; i < n; i++) {
      start[i] = entries;
      for (int j = 0; j < n; j++) {
        if (G[i * n + j] == 0) continue;
        index[entries] = j;
        value[entries++] = G[i * n + j];
      }
    }
    start[n] = entries;
    out = dense ? tb_problem_create_dense(p->nblock, p->block, G, NULL, p->g, NULL)
                : tb_problem_create_csr(p->nblock, p->block, start, index, value, NULL, p->g, NULL);
  }
  free(G);
  free(unit);
  free(column);
  free(value);
  free(start);
  free(index);
  return out;
}

int tb_hard_family_count(void) {
  return tb_hard_families_count;
}

const char* tb_hard_family_name(int family) {
  return tb_hard_families[family].name;
}

tbProblem* tb_hard_problem(int family, int size, uint64_t seed) {
  tbRng rng = {seed * 1000003 + (uint64_t)(family * 16 + size)};
  for (int k = 0; k < 4; k++) tb_rng_next(&rng);
  tbHardScene s = {.rng = &rng, .gravity = 9.81, .dt = tb_rng_int(&rng, 2) ? 1e-3 : 5e-3};
  Matrices m;
  memset(&m, 0, sizeof m);
  tb_hard_families[family].fill(&s, size);
  // Bodies at rest, or moving at up to ten times what gravity gives in a step.
  tbReal speed =
      tb_rng_int(&rng, 3) ? s.gravity * s.dt * tb_pow(10, tb_rng_uniform(&rng, -2, 1)) : 0;
  for (int b = 0; b < s.body_count; b++) {
    for (int k = 0; k < 6; k++) s.body[b].velocity[k] += speed * tb_rng_normal(&rng);
  }
  tbProblem* p = NULL;
  if (!s.failed && build(&s, &m)) {
    warm_up(&s, &m, tb_rng_int(&rng, 2) ? tb_rng_int(&rng, 6) : 0);
    if (tb_rng_int(&rng, 4) == 0) add_corrections(&s, &m);
    p = make_problem(&s, &m);
    int form = tb_rng_int(&rng, 3);
    if (p && form && p->n <= 600) {
      tbProblem* other = explicit_form(p, form == 1);
      tb_problem_free(p);
      p = other;
    }
  }
  free_matrices(&m);
  free(s.body);
  free(s.contact);
  return p;
}
