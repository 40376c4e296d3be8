#include "world/sleep.h"
#include "model/law_kinds.h"
#include "tribo/callbacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/joint_kinds.h"
#include "tribo/step.h"

// A tree is at rest once every dof has been slower than this (m/s or rad/s) for this long (s).
static const tbReal SLOW = 1e-3, LONG = 0.25;

// ---- memory ------------------------------------------------------------------------------------

// Number of values in the options.
#define X(type, name, count, ...) +count
enum { OPTIONS = 0 TB_OPTION_FIELDS(X) };
#undef X

static size_t seen_count(const tbModel* m) {
  return (size_t)m->nq + 2 * (size_t)m->nv + (size_t)m->nu + 6 * (size_t)m->nbody +
         7 * (size_t)m->nmocap + (size_t)m->neq + OPTIONS;
}

static size_t memory_size(const tbModel* m) {
  return sizeof(tbReal) * (seen_count(m) + (size_t)m->nv) +
         (4 * sizeof(int) + 1) * (size_t)m->ntree;
}

static bool allocate(const tbModel* m, tbSleep* s) {
  s->memory = calloc(1, memory_size(m) + 1);
  if (!s->memory) return false;
  s->seen = s->memory;
  s->force = s->seen + seen_count(m);
  s->still = (int*)(s->force + m->nv);
  s->group = s->still + m->ntree;
  s->parent = s->group + m->ntree;
  s->busy = s->parent + m->ntree;
  s->fixed = (uint8_t*)(s->busy + m->ntree);
  for (int t = 0; t < m->ntree; t++) s->group[t] = -1;
  return true;
}

void tb_sleep_free(tbSleep* s) {
  free(s->memory);
  memset(s, 0, sizeof *s);
}

// ---- waking ------------------------------------------------------------------------------------

static bool wake(const tbModel* m, tbSleep* s, int tree) {
  if (tree < 0 || s->group[tree] < 0) return false;
  int group = s->group[tree];
  for (int t = 0; t < m->ntree; t++) {
    if (s->group[t] != group) continue;
    s->group[t] = -1;
    s->fixed[t] = 0;
    s->still[t] = 0;
    s->count--;
  }
  return true;
}

static void wake_all(const tbModel* m, tbSleep* s) {
  for (int t = 0; t < m->ntree; t++) wake(m, s, t);
}

// Store `n` values; 1 if one differs from the stored one.
static int note(tbReal** at, const tbReal* values, int n) {
  int differs = n && memcmp(*at, values, sizeof(tbReal) * (size_t)n) != 0;
  if (differs) memcpy(*at, values, sizeof(tbReal) * (size_t)n);
  *at += n;
  return differs;
}

static void wake_by_actuators(const tbModel* m, const tbData* d, tbSleep* s, tbReal** at) {
  for (int u = 0; u < m->nu; u++) {
    if (!note(at, d->ctrl + u, 1)) continue;
    const int* col = m->Jmom_colind + m->actuator_Jadr[u];
    for (int k = 0; k < m->actuator_Jnnz[u]; k++) wake(m, s, m->dof_treeid[col[k]]);
  }
}

// Store the options, except those that do not affect bodies at rest.
static int store_options(tbReal** at, tbOption options) {
  int differs = 0;
  options.timestep = options.threads = 0;
#define X(type, name, count, ...)               \
  do {                                          \
    type field[count];                          \
    memcpy(field, &options.name, sizeof field); \
    for (int k = 0; k < (count); k++) {         \
      tbReal value = (tbReal)field[k];          \
      differs |= note(at, &value, 1);           \
    }                                           \
  } while (0);
  TB_OPTION_FIELDS(X)
#undef X
  return differs;
}

bool tb_sleep_begin(const tbModel* m, const tbData* d, tbSleep* s, size_t* allocations) {
  // The springs of the viscoelastic law store their anchors, so this law does not support sleep.
  // A user's forces may act on a tree that sleeps.
  bool pushed = m->callbacks && (m->callbacks->control || m->callbacks->passive);
  if (!m->opt.sleep || pushed || tb_law_has(&m->opt, TB_TRAIT_ANCHORS) || m->ntree == 0) {
    if (s->memory) tb_sleep_free(s);
    return true;
  }
  if (!s->memory) {
    ++*allocations;
    if (!allocate(m, s)) return false;
  }
  tbReal* at = s->seen;
  for (int j = 0; j < m->njnt; j++) {
    int tree = m->body_treeid[m->jnt_bodyid[j]];
    if (note(&at, d->qpos + m->jnt_qposadr[j], tb_joint_nq(m->jnt_type[j]))) wake(m, s, tree);
  }
  for (int i = 0; i < m->nv; i++) {
    if (note(&at, d->qvel + i, 1)) wake(m, s, m->dof_treeid[i]);
  }
  for (int i = 0; i < m->nv; i++) {
    if (note(&at, d->qfrc_applied + i, 1)) wake(m, s, m->dof_treeid[i]);
  }
  wake_by_actuators(m, d, s, &at);
  for (int b = 0; b < m->nbody; b++) {
    if (note(&at, d->xfrc_applied + 6 * b, 6)) wake(m, s, m->body_treeid[b]);
  }
  // Inputs that can affect any tree.
  int all = note(&at, d->mocap_pos, 3 * m->nmocap);
  all |= note(&at, d->mocap_quat, 4 * m->nmocap);
  all |= store_options(&at, m->opt);
  for (int i = 0; i < m->neq; i++) {
    tbReal active = d->eq_active[i];
    all |= note(&at, &active, 1);
  }
  if (all) wake_all(m, s);
  s->ready = 1;
  return true;
}

// The next tree that a constraint moves, from position *k on, or -1.
static int next_tree(const tbModel* m, const tbConstraint* c, int* k) {
  if (*k >= c->nnz) return -1;
  int tree = m->dof_treeid[c->col[*k]];
  while (*k < c->nnz && m->dof_treeid[c->col[*k]] == tree) ++*k;
  return tree;
}

bool tb_sleep_disturbed(const tbModel* m, tbData* d, tbSleep* s, tbConstraints* list) {
  if (!s->ready || s->count == 0) return false;
  bool woke = false;
  for (int i = 0; i < list->count; i++) {
    int awake = 0, asleep = 0;
    for (int k = 0, t; (t = next_tree(m, &list->list[i], &k)) >= 0;) {
      awake |= s->group[t] < 0;
      asleep |= s->group[t] >= 0;
    }
    if (!awake || !asleep) continue;
    for (int k = 0, t; (t = next_tree(m, &list->list[i], &k)) >= 0;) woke |= wake(m, s, t);
  }
  if (woke) return true;
  // Remove rows that move only sleeping trees.
  int count = 0, nrow = 0;
  for (int i = 0; i < list->count; i++) {
    tbConstraint* c = &list->list[i];
    int k = 0, t = next_tree(m, c, &k), asleep = t >= 0 && s->group[t] >= 0;
    if (c->source == TB_SOURCE_CONTACT) d->contact[c->id].row = asleep ? -1 : nrow;
    if (asleep) continue;
    c->row = nrow;
    nrow += c->dim;
    list->list[count++] = *c;
  }
  list->count = count;
  list->nrow = nrow;
  return false;
}

// ---- resting -----------------------------------------------------------------------------------

// Whether the force on a sleeping tree differs from its value when the tree fell asleep.
static bool force_changed(const tbModel* m, const tbData* d, tbSleep* s, int tree) {
  const int first = m->tree_dofadr[tree], n = m->tree_dofnum[tree];
  const size_t bytes = sizeof(tbReal) * (size_t)n;
  bool known = !isnan(s->force[first]);
  bool pulled = known && memcmp(s->force + first, d->qfrc_smooth + first, bytes) != 0;
  if (!known) memcpy(s->force + first, d->qfrc_smooth + first, bytes);
  return pulled;
}

void tb_sleep_still(const tbModel* m, const tbSleep* s, tbReal* v_next) {
  for (int t = 0; s->ready && s->count && t < m->ntree; t++) {
    if (s->group[t] < 0) continue;
    memset(v_next + m->tree_dofadr[t], 0, sizeof(tbReal) * (size_t)m->tree_dofnum[t]);
  }
}

void tb_sleep_hold(const tbModel* m, tbData* d, tbSleep* s, tbReal* v_next) {
  if (!s->ready || s->count == 0) return;
  tb_sleep_still(m, s, v_next);
  for (int t = 0; t < m->ntree; t++) {
    for (int k = 0; s->group[t] >= 0 && k < m->tree_dofnum[t]; k++) {
      int i = m->tree_dofadr[t] + k;
      d->qacc[i] = 0;
      d->qfrc_constraint[i] = -d->qfrc_smooth[i];
    }
  }
  // A sleeping tree does not move, so a change of its forces has an external cause.
  for (int t = 0; t < m->ntree; t++) {
    if (s->group[t] >= 0 && force_changed(m, d, s, t)) wake(m, s, t);
  }
}

static int find_root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// A tree with a changing activation is not at rest.
static int activation_moves(const tbModel* m, const tbData* d, int tree) {
  for (int u = 0; u < m->nu; u++) {
    int adr = m->actuator_actadr[u];
    if (adr < 0 || m->actuator_Jnnz[u] == 0) continue;
    if (m->dof_treeid[m->Jmom_colind[m->actuator_Jadr[u]]] != tree) continue;
    for (int k = 0; k < m->actuator_actnum[u]; k++) {
      if (fabs(d->act_dot[adr + k]) > SLOW) return 1;
    }
  }
  return 0;
}

static int is_still(const tbModel* m, const tbData* d, int tree) {
  for (int k = 0; k < m->tree_dofnum[tree]; k++) {
    if (!(fabs(d->qvel[m->tree_dofadr[tree] + k]) < SLOW)) return 0;
  }
  return !activation_moves(m, d, tree);
}

void tb_sleep_end(const tbModel* m, tbData* d, tbSleep* s, const tbConstraints* list) {
  if (!s->ready) return;
  int steps = (int)ceil(LONG / m->opt.timestep);
  for (int t = 0; t < m->ntree; t++) {
    s->still[t] = is_still(m, d, t) ? s->still[t] + 1 : 0;
    s->parent[t] = t;
    s->busy[t] = 0;
  }
  // Islands of awake trees; an island falls asleep only with the last of its trees.
  for (int i = 0; i < list->count; i++) {
    int k = 0, first = next_tree(m, &list->list[i], &k);
    for (int t; first >= 0 && (t = next_tree(m, &list->list[i], &k)) >= 0;) {
      int a = find_root(s->parent, first), b = find_root(s->parent, t);
      s->parent[a > b ? a : b] = a < b ? a : b;
    }
  }
  for (int t = 0; t < m->ntree; t++) s->busy[find_root(s->parent, t)] |= s->still[t] < steps;
  for (int t = 0; t < m->ntree; t++) {
    int root = find_root(s->parent, t);
    if (s->group[t] >= 0 || s->busy[root]) continue;
    s->group[t] = root;
    s->fixed[t] = 1;
    s->count++;
    for (int k = 0; k < m->tree_dofnum[t]; k++) d->qvel[m->tree_dofadr[t] + k] = 0;
    s->force[m->tree_dofadr[t]] = NAN;
  }
  // Changes made by the step itself wake no tree.
  memcpy(s->seen, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(s->seen + m->nq, d->qvel, sizeof(tbReal) * (size_t)m->nv);
}

// ---- snapshots ---------------------------------------------------------------------------------

size_t tb_sleep_size(const tbModel* m, const tbSleep* s) {
  return s->ready ? memory_size(m) : 0;
}

void tb_sleep_save(const tbModel* m, const tbSleep* s, unsigned char* bytes) {
  if (s->ready) memcpy(bytes, s->memory, memory_size(m));
}

tbResult tb_sleep_load(const tbModel* m, tbSleep* s, const unsigned char* bytes, size_t size) {
  if (size != 0 && size != memory_size(m)) return TB_ERROR_ARGUMENT;
  tb_sleep_free(s);
  if (size == 0) return TB_OK;
  if (!allocate(m, s)) return TB_ERROR_MEMORY;
  memcpy(s->memory, bytes, size);
  for (int t = 0; t < m->ntree; t++) {
    if (s->group[t] < -1 || s->group[t] >= m->ntree) s->group[t] = -1;
    s->fixed[t] = s->group[t] >= 0;
    s->count += s->fixed[t];
  }
  s->ready = 1;
  return TB_OK;
}
