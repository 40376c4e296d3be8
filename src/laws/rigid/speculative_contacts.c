#include "laws/rigid/speculative_contacts.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/minmax.h"
#include "model/workspace.h"
#include "spatial/vec3.h"

// Limit of the unpredicted displacement of a geom, over contact_margin, within which contacts are
// detected without a second search.
static const tbReal LATE = 10;

// Unpredicted displacement that is left to the next step's position correction. The correction must
// push a geom back to the side where it came from, so the displacement is at most half of the
// geom's half thickness.
static tbReal allowed_displacement(tbReal margin, tbReal half_thickness) {
  return tb_min(LATE * margin, tb_max(margin, half_thickness / 2));
}

static bool is_mover(const tbModel* m, int g) {
  return m->body_lastdof[m->geom_bodyid[g]] >= 0 && (m->geom_contype[g] || m->geom_conaffinity[g]);
}

static tbReal half_thickness(const tbModel* m, int g) {
  const tbReal* half = m->geom_aabb + 6 * g + 3;
  return tb_min(half[0], tb_min(half[1], half[2]));
}

tbReal tb_smallest_half_thickness(const tbModel* m) {
  tbReal smallest_half_thickness = INFINITY;
  for (int g = 0; g < m->ngeom; g++) {
    if (is_mover(m, g))
      smallest_half_thickness = tb_min(smallest_half_thickness, half_thickness(m, g));
  }
  return smallest_half_thickness;
}

tbReal tb_most_margin(const tbModel* m) {
  const tbReal share = 0.05, large = 0.02;
  tbReal widest = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (is_mover(m, g)) widest = tb_max(widest, m->geom_rbound[g]);
  }
  return widest > 0 && widest < large ? share * widest : INFINITY;
}

// Bound of every geom's displacement relative to its motion at the velocities of the start: the
// change of every dof times an arm of the size of the scene. In most steps this bound suffices.
static tbReal displacement_bound(const tbModel* m, const tbData* d, const tbReal* v) {
  tbReal sum = 0;
  for (int i = 0; i < m->nv; i++) sum += fabs(v[i] - d->qvel[i]);
  return m->opt.timestep * tb_max(m->extent, 1) * sum;
}

// Twists of all bodies at velocities v of the dofs, as in cvel.
static void twists_at(const tbModel* m, const tbData* d, const tbReal* v, tbReal* cvel) {
  memset(cvel, 0, 6 * sizeof(tbReal));
  for (int b = 1; b < m->nbody; b++) {
    tbReal* own = cvel + 6 * b;
    memcpy(own, cvel + 6 * m->body_parentid[b], 6 * sizeof(tbReal));
    for (int i = m->body_dofadr[b]; i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      for (int r = 0; r < 6; r++) own[r] += d->cdof[6 * i + r] * v[i];
    }
  }
}

// Whether the displacement of some geom at these twists differs by more than allowed from its
// displacement at the twists of the start.
static bool exceeds_prediction(const tbModel* m, const tbData* d, tbReal margin,
                               const tbReal* cvel) {
  for (int g = 0; g < m->ngeom; g++) {
    if (!is_mover(m, g)) continue;
    int b = m->geom_bodyid[g];
    tbReal turn[3], move[3], arm[3], swing[3];
    tb_sub3(turn, cvel + 6 * b, d->cvel + 6 * b);
    tb_sub3(move, cvel + 6 * b + 3, d->cvel + 6 * b + 3);
    tb_sub3(arm, d->geom_xpos + 3 * g, d->subtree_com + 3 * m->body_rootid[b]);
    tb_cross(swing, turn, arm);
    tb_add3(move, move, swing);
    tbReal way = m->opt.timestep * (tb_norm3(move) + tb_norm3(turn) * m->geom_rbound[g]);
    if (way > allowed_displacement(margin, half_thickness(m, g))) return true;
  }
  return false;
}

// The speed at which a contact closes at these twists, m/s.
static tbReal closing_speed(const tbModel* m, const tbData* d, const tbReal* cvel,
                            const tbContact* c) {
  tbReal speed = 0;
  for (int k = 0; k < 2; k++) {
    int b = m->geom_bodyid[c->geom[k]];
    tbReal arm[3], v[3];
    tb_sub3(arm, c->pos, d->subtree_com + 3 * m->body_rootid[b]);
    tb_cross(v, cvel + 6 * b, arm);
    tb_add3(v, v, cvel + 6 * b + 3);
    speed += (k ? -1 : 1) * tb_dot3(c->frame, v);
  }
  return speed;
}

// Whether a contact is in a list, searched from `at`: both searches list pairs in the same order.
static bool is_among(const tbContact* contact, int n, uint64_t key, int* at) {
  for (int k = 0; k < n; k++) {
    int i = *at + k < n ? *at + k : *at + k - n;
    if (contact[i].key != key) continue;
    *at = i;
    return true;
  }
  return false;
}

// Joins the contacts `before` with those contacts of the data that are new and closed at the end of
// a step at these twists.
static tbResult add_new(const tbModel* m, tbData* d, tbStepState* state, const tbReal* cvel,
                        const tbContact* before, int n) {
  const tbContact* seen = d->contact;
  int nseen = d->ncon, most = n + nseen, at = 0;
  tbContact* all = tb_arena_alloc(&d->work->arena, sizeof(tbContact) * (size_t)(most + 1));
  char* pruned = TB_ARENA_NEW(&d->work->arena, char, most + 1);
  if (!all || !pruned) return TB_ERROR_MEMORY;
  if (n) memcpy(all, before, sizeof(tbContact) * (size_t)n);
  d->contact = all;
  d->ncon = n;
  for (int i = 0; i < nseen; i++) {
    tbReal way = m->opt.timestep * closing_speed(m, d, cvel, &seen[i]);
    if (tb_contact_gap(&seen[i]) >= way) continue;
    if (!is_among(before, n, seen[i].key, &at)) all[d->ncon++] = seen[i];
  }
  if (state->pruned && n) memcpy(pruned, state->pruned, (size_t)n);
  if (state->pruned) state->pruned = pruned;
  return TB_OK;
}

tbResult tb_find_speculative_contacts(const tbModel* m, tbData* d, tbStepState* state, tbReal reach,
                                      const tbReal* v_next, int* found) {
  *found = 0;
  tbReal margin = tb_margin(m, state);
  if (displacement_bound(m, d, v_next) <=
      allowed_displacement(margin, tb_rigid_state(m, state)->smallest_half_thickness))
    return TB_OK;
  size_t bytes = sizeof(tbReal) * 6 * (size_t)m->nbody;
  tbReal* cvel = tb_arena_alloc(&d->work->arena, bytes);
  if (!cvel) return TB_ERROR_MEMORY;
  twists_at(m, d, v_next, cvel);
  if (!exceeds_prediction(m, d, margin, cvel)) return TB_OK;

  // The contact search uses the twists of the data.
  const tbContact* before = d->contact;
  tbReal* start = d->cvel;
  int n = d->ncon;
  d->cvel = cvel;
  tbResult result = tb_detect_contacts(state->detector, m, d, reach);
  d->cvel = start;
  if (result == TB_OK) result = add_new(m, d, state, cvel, before, n);
  *found = d->ncon - n;
  return result;
}
