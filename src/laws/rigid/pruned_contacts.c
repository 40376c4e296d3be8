// With lambda = 0 a contact obeys the exact law if and only if sigma_N = gap/h + v_N >= 0, whatever
// its tangential velocity (Gamma adds mu |sigma_T|). So a contact that will not push can be left
// out of the problem, as long as the solution has sigma_N >= 0 there. Contacts are pruned by an
// estimate; a wrong estimate costs a second solve, started from the end of the first one
// (docs/notebook/contact-rows.md eq. 6).
#include "laws/rigid/pruned_contacts.h"

#include "base/minmax.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "tribo/step.h"

// Contacts are kept if they would close at this multiple of their approach speed, since forces and
// impacts can increase it.
static const tbReal APPROACH = 2;

// Pruning less than this fraction of the contacts is not worthwhile. Neither is pruning in a heap,
// where an impact probably reaches one of the pruned contacts, so that the whole problem is solved
// twice.
static const tbReal WORTH = 0.125;
enum { MOST_CONTACTS = 80 };

// The twists of the two bodies of a contact, about the centres of mass of their trees.
typedef struct {
  int body[2];
  tbReal twist[2][6];
} Pair;

// The normal velocity of a contact.
static tbReal normal_speed(const tbModel* m, const tbData* d, const tbContact* c,
                           const tbReal* twist1, const tbReal* twist2) {
  tbReal speed = 0;
  for (int k = 0; k < 2; k++) {
    int body = m->geom_bodyid[c->geom[k]];
    if (m->body_lastdof[body] < 0) continue;
    const tbReal* twist = k ? twist2 : twist1;
    tbReal arm[3], v[3];
    tb_sub3(arm, c->pos, d->subtree_com + 3 * m->body_rootid[body]);
    tb_cross(v, twist, arm);
    tb_add3(v, v, twist + 3);
    speed += (k ? 1 : -1) * tb_dot3(c->frame, v);
  }
  return speed;
}

// The twist of a body at velocities v of the dofs.
static void body_twist(const tbModel* m, const tbData* d, int body, const tbReal* v,
                       tbReal twist[6]) {
  const int* chain;
  int n = tb_body_chain(m, body, &chain);
  for (int r = 0; r < 6; r++) twist[r] = 0;
  for (int k = 0; k < n; k++) {
    const tbReal *axis = d->cdof + 6 * chain[k], speed = v[chain[k]];
    for (int r = 0; r < 6; r++) twist[r] += axis[r] * speed;
  }
}

// No pruning with sleep, which needs all couplings between islands; under Runge-Kutta, which tests
// for the existence of contacts; or under other laws, whose contacts without force may still
// violate the law.
static bool can_prune(const tbModel* m) {
  return m->opt.law == TB_LAW_NCP && m->opt.solver == TB_SOLVER_AUTO && !m->opt.sleep &&
         m->opt.integrator != TB_INTEGRATOR_RK4;
}

tbResult tb_prune_contacts(const tbStep* s) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tbStepState* state = s->state;
  // Resting contacts are kept: their gaps fluctuate within the tolerance.
  tbReal touching = m->opt.overlap_allowed;
  int count = 0;
  state->pruned = NULL;
  if (!can_prune(m) || d->ncon > MOST_CONTACTS) return TB_OK;
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    tbReal gap = tb_contact_gap(c);
    if (!(gap > touching) || c->exclude) continue;
    const tbReal *twist1 = d->cvel + 6 * m->geom_bodyid[c->geom[0]],
                 *twist2 = d->cvel + 6 * m->geom_bodyid[c->geom[1]];
    // Prune contacts that are open, stay open during the step, and did not push in the last one.
    tbReal speed = tb_min(normal_speed(m, d, c, twist1, twist2), 0);
    if (!(gap + APPROACH * m->opt.timestep * speed > touching)) continue;
    if (tb_impulse_cache_pushes(&state->warm, tb_contact_key(c))) continue;
    if (!state->pruned) state->pruned = TB_ARENA_NEW(&d->work->arena, char, d->ncon);
    if (!state->pruned) return TB_ERROR_MEMORY;
    state->pruned[i] = 1;
    count++;
  }
  if (count < WORTH * d->ncon) state->pruned = NULL;
  return TB_OK;
}

int tb_restore_violated_contacts(const tbModel* m, const tbData* d, tbStepState* state,
                                 const tbReal* v_next) {
  int missed = 0;
  // Contacts of the same bodies are consecutive.
  Pair pair = {.body = {-1, -1}};
  for (int i = 0; state->pruned && i < d->ncon; i++) {
    if (!state->pruned[i]) continue;
    const tbContact* c = &d->contact[i];
    for (int k = 0; k < 2; k++) {
      int body = m->geom_bodyid[c->geom[k]];
      if (body == pair.body[k]) continue;
      pair.body[k] = body;
      body_twist(m, d, body, v_next, pair.twist[k]);
    }
    tbReal speed = normal_speed(m, d, c, pair.twist[0], pair.twist[1]);
    if (tb_contact_gap(c) + m->opt.timestep * speed >= 0) continue;
    state->pruned[i] = 0;
    missed++;
  }
  return missed;
}
