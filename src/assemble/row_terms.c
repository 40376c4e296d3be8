// Parameters of a contact from those of its geoms or of an explicit pair, by MuJoCo's rules.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "assemble/assemble.h"
#include "dynamics/equality/residual.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/chain.h"
#include "model/floating.h"
#include "model/law_kinds.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

// The larger number; NAN if one is not finite, which tb_max would hide.
static tbReal larger(tbReal x, tbReal y) {
  return (x > y ? x : y) + 0 * (x + y);
}

static tbReal smaller(tbReal x, tbReal y) {
  return (x < y ? x : y) + 0 * (x + y);
}

// Weight of the first geom in the mix of soft parameters.
static tbReal mix_weight(tbReal mix1, tbReal mix2) {
  const tbReal smallest = 1e-15;
  if (mix1 >= smallest && mix2 >= smallest) return mix1 / (mix1 + mix2);
  if (mix1 < smallest && mix2 < smallest) return 0.5;
  return (mix1 < smallest ? 0 : 1) + 0 * (mix1 + mix2);
}

static void mix_soft(const tbModel* m, int g1, int g2, tbContact* c) {
  tbReal w = mix_weight(m->geom_solmix[g1], m->geom_solmix[g2]);
  const tbReal *ref1 = m->geom_solref + TB_NREF * g1, *ref2 = m->geom_solref + TB_NREF * g2;
  const tbReal *imp1 = m->geom_solimp + TB_NIMP * g1, *imp2 = m->geom_solimp + TB_NIMP * g2;
  for (int i = 0; i < TB_NREF; i++) {
    // Standard references are mixed; of direct ones (negative stiffness) the smaller is used.
    c->solref[i] =
        ref1[0] > 0 && ref2[0] > 0 ? w * ref1[i] + (1 - w) * ref2[i] : smaller(ref1[i], ref2[i]);
  }
  for (int i = 0; i < TB_NIMP; i++) c->solimp[i] = w * imp1[i] + (1 - w) * imp2[i];
}

static void spread_friction(tbContact* c, const tbReal friction[3]) {
  c->friction[0] = c->friction[1] = friction[0];
  c->friction[2] = friction[1];
  c->friction[3] = c->friction[4] = friction[2];
}

// Physical parameters of the rigid laws: compliances of the two surfaces are in series, so are
// their dampers; the larger restitution is used.
static void mix_physical(const tbModel* m, int g1, int g2, tbContact* c) {
  c->restitution = larger(m->geom_restitution[g1], m->geom_restitution[g2]);
  c->compliance = m->geom_compliance[g1] + m->geom_compliance[g2];
  c->tangentcompliance = m->geom_tangentcompliance[g1] + m->geom_tangentcompliance[g2];
  tbReal d1 = m->geom_contactdamping[g1], d2 = m->geom_contactdamping[g2];
  c->damping = d1 > 0 && d2 > 0 ? d1 * d2 / (d1 + d2) : d1 + d2;
}

static void geom_parameters(const tbModel* m, int g1, int g2, tbContact* c) {
  c->includemargin = m->geom_margin[g1] + m->geom_margin[g2];
  mix_physical(m, g1, g2, c);
  int p1 = m->geom_priority[g1], p2 = m->geom_priority[g2];
  if (p1 != p2) {
    int g = p1 > p2 ? g1 : g2;
    c->dim = m->geom_condim[g];
    memcpy(c->solref, m->geom_solref + TB_NREF * g, sizeof c->solref);
    memcpy(c->solimp, m->geom_solimp + TB_NIMP * g, sizeof c->solimp);
    spread_friction(c, m->geom_friction + 3 * g);
    return;
  }
  c->dim = m->geom_condim[g1] > m->geom_condim[g2] ? m->geom_condim[g1] : m->geom_condim[g2];
  mix_soft(m, g1, g2, c);
  tbReal friction[3];
  for (int i = 0; i < 3; i++) {
    friction[i] = larger(m->geom_friction[3 * g1 + i], m->geom_friction[3 * g2 + i]);
  }
  spread_friction(c, friction);
}

static void pair_parameters(const tbModel* m, int p, tbContact* c) {
  c->includemargin = m->pair_margin[p];
  c->dim = m->pair_dim[p];
  memcpy(c->solref, m->pair_solref + TB_NREF * p, sizeof c->solref);
  memcpy(c->solreffriction, m->pair_solreffriction + TB_NREF * p, sizeof c->solreffriction);
  memcpy(c->solimp, m->pair_solimp + TB_NIMP * p, sizeof c->solimp);
  memcpy(c->friction, m->pair_friction + 5 * p, sizeof c->friction);
  mix_physical(m, m->pair_geom1[p], m->pair_geom2[p], c);
  if (!(m->pair_restitution[p] < 0)) c->restitution = m->pair_restitution[p];
  if (!(m->pair_compliance[p] < 0)) c->compliance = m->pair_compliance[p];
  if (!(m->pair_tangentcompliance[p] < 0)) c->tangentcompliance = m->pair_tangentcompliance[p];
  if (!(m->pair_contactdamping[p] < 0)) c->damping = m->pair_contactdamping[p];
  memcpy(c->comfree, m->pair_comfree + 2 * p, sizeof c->comfree);
}

// A coefficient below the smallest one counts as frictionless, but keeps an interior of the cone
// (as MuJoCo's mjMINMU). Above the largest one only degenerate contacts would not slip, and the
// cone's dual is so thin that a fall through the floor is nearly feasible (docs/manual/problem.md).
// The soft law has no upper bound, as MuJoCo.
static tbReal within_friction(const tbModel* m, tbReal mu) {
  const tbReal least = 1e-5, most = 1e3;
  if (mu > most && isfinite(mu) && !tb_law_has(&m->opt, TB_TRAIT_UNBOUNDED)) return most;
  return larger(mu, least);
}

void tb_contact_bound_friction(const tbModel* m, tbReal scale, tbContact* c) {
  for (int i = 0; i < 5; i++) c->friction[i] = within_friction(m, scale * c->friction[i]);
}

void tb_contact_parameters(const tbModel* m, int geom1, int geom2, int pair, tbContact* c) {
  memset(c, 0, sizeof *c);
  c->comfree[0] = c->comfree[1] = -1;
  if (pair >= 0) {
    pair_parameters(m, pair, c);
  } else {
    geom_parameters(m, geom1, geom2, c);
  }
  if (m->opt.enableflags & TB_ENABLE_OVERRIDE) {
    c->includemargin = m->opt.o_margin;
    memcpy(c->solref, m->opt.o_solref, sizeof c->solref);
    memcpy(c->solimp, m->opt.o_solimp, sizeof c->solimp);
    memcpy(c->friction, m->opt.o_friction, sizeof c->friction);
  }
  tb_contact_bound_friction(m, m->opt.friction_scale, c);
  c->geom[0] = geom1;
  c->geom[1] = geom2;
  c->row = -1;
}

static bool is_dim(int dim) {
  return dim == 1 || dim == 3 || dim == 4 || dim == 6;
}

static bool is_finite(const tbReal* x, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  return true;
}

// Whether all numbers are finite: 0 times a finite number is 0, else NaN. Three independent sums
// shorten the dependency chain.
static bool is_plain(const tbContact* c) {
  tbReal slides = c->friction[0] + c->friction[1] + c->friction[2];
  tbReal turns = c->friction[3] + c->friction[4] + c->includemargin;
  tbReal gives = c->restitution + c->compliance + c->tangentcompliance + c->damping;
  bool presses = c->compliance >= 0 && c->tangentcompliance >= 0 && c->damping >= 0;
  return is_dim(c->dim) && presses && 0 * (slides + turns + gives) == 0;
}

const char* tb_contact_invalid_parameter(const tbContact* c, bool rigid) {
  if (rigid && is_plain(c)) return NULL;
  if (!is_dim(c->dim)) return "condim is not 1, 3, 4 or 6";
  if (!is_finite(c->friction, 5)) return "friction is not finite";
  if (!isfinite(c->restitution)) return "restitution is not finite";
  if (!isfinite(c->compliance)) return "compliance is not finite";
  if (!isfinite(c->tangentcompliance)) return "tangentcompliance is not finite";
  if (!isfinite(c->damping)) return "damping is not finite";
  if (c->compliance < 0) return "compliance is negative";
  if (c->tangentcompliance < 0) return "tangentcompliance is negative";
  if (c->damping < 0) return "damping is negative";
  if (!isfinite(c->includemargin)) return "margin is not finite";
  if (rigid) return NULL;
  if (!is_finite(c->comfree, 2)) return "comfree is not finite";
  bool soft = is_finite(c->solref, TB_NREF) && is_finite(c->solreffriction, TB_NREF) &&
              is_finite(c->solimp, TB_NIMP);
  return soft ? NULL : "solref, solimp or solmix is not finite";
}

// ---- corrections -------------------------------------------------------------------------------

static int eq_body(const tbModel* m, int eq, int id) {
  return m->eq_objtype[eq] == TB_OBJ_SITE ? m->site_bodyid[id] : id;
}

// Whether a mocap body, or a body fixed to one, is part of the constraint.
static bool involves_mocap(const tbModel* m, const tbData* d, const tbConstraint* c) {
  if (m->nmocap == 0) return false;
  int body[2] = {0, 0};
  if (c->source == TB_SOURCE_CONTACT) {
    for (int k = 0; k < 2; k++) body[k] = m->geom_bodyid[d->contact[c->id].geom[k]];
  } else if (c->source == TB_SOURCE_EQUALITY && c->dim >= 3) {
    body[0] = eq_body(m, c->id, m->eq_obj1id[c->id]);
    body[1] = eq_body(m, c->id, m->eq_obj2id[c->id]);
  }
  return m->body_mocapid[m->body_rootid[body[0]]] >= 0 ||
         m->body_mocapid[m->body_rootid[body[1]]] >= 0;
}

tbReal tb_correction_cap(const tbModel* m, const tbData* d, const tbConstraint* c,
                         tbReal violation) {
  // s: the time constant of MuJoCo's default solref.
  const tbReal follows = 0.02;
  tbReal cap = m->opt.correction_speed;
  return involves_mocap(m, d, c) ? tb_max(cap, violation / follows) : cap;
}

tbReal tb_correction(const tbModel* m, const tbData* d, const tbConstraint* c, tbReal violation,
                     tbReal* slope) {
  tbReal rate = m->opt.baumgarte / m->opt.timestep, speed = rate * violation;
  tbReal cap = tb_correction_cap(m, d, c, violation);
  *slope = speed < cap ? rate : cap > m->opt.correction_speed ? cap / violation : 0;
  return tb_min(speed, cap);
}

// Whether a body is free-floating without movable children, or fixed.
static bool is_free_floating(const tbModel* m, int body) {
  int tree = m->body_treeid[body];
  return tree < 0 || tb_tree_is_free_body(m, tree);
}

// A contact is at rest if a step moves it by less than this fraction of gap_allowed.
static const tbReal STILL = 0.02;

// Whether this is a contact of free-floating bodies that hardly move at the contact point. The
// motion of a mocap body is not contained in velocities.
static bool is_resting(const tbModel* m, const tbData* d, const tbConstraint* c) {
  if (c->source != TB_SOURCE_CONTACT || involves_mocap(m, d, c)) return false;
  const int* geom = d->contact[c->id].geom;
  if (!is_free_floating(m, m->geom_bodyid[geom[0]]) ||
      !is_free_floating(m, m->geom_bodyid[geom[1]]))
    return false;
  tbReal most = STILL * m->opt.gap_allowed / m->opt.timestep;
  for (int r = 0; r < c->dim; r++) {
    const tbReal* J = c->J + r * c->nnz;
    tbReal speed = 0;
    for (int k = 0; k < c->nnz; k++) speed += J[k] * d->qvel[c->col[k]];
    if (!(fabs(speed) <= most)) return false;
  }
  return true;
}

bool tb_push_is_held(const tbModel* m, const tbData* d, const tbConstraint* c, tbReal* speed) {
  const tbReal rises = 1e-3;  // s
  if (m->opt.timestep >= rises) return false;
  if (c->source != TB_SOURCE_LIMIT_JOINT && c->source != TB_SOURCE_LIMIT_TENDON) return false;
  tbReal now = 0;
  for (int k = 0; k < c->nnz; k++) now += c->J[k] * d->qvel[c->col[k]];
  tbReal most = tb_max(0, now) + m->opt.correction_speed * m->opt.timestep / rises;
  if (*speed <= most) return false;
  *speed = most;
  return true;
}

tbReal tb_gap_term(const tbModel* m, const tbData* d, const tbConstraint* c, tbReal gap,
                   tbReal* slope) {
  tbReal overlap = -gap - m->opt.overlap_allowed;
  if (overlap > 0) {
    tbReal speed = tb_correction(m, d, c, overlap, slope);
    if (tb_push_is_held(m, d, c, &speed)) *slope = 0;
    return -speed;
  }
  bool closed = gap <= 0 || (gap <= m->opt.gap_allowed && is_resting(m, d, c));
  *slope = closed ? 0 : 1 / m->opt.timestep;
  return *slope * gap;
}

// ---- weights of rows ---------------------------------------------------------------------------

static tbReal pair_weight(const tbModel* m, int body1, int body2, int angular) {
  return m->body_invweight0[2 * body1 + angular] + m->body_invweight0[2 * body2 + angular];
}

// Inverse weight of a spatial tendon along its length where the one of the reference pose may be
// wrong: no joint changes the length of a string that is straight there. At least the largest
// inverse weight of the bodies on its path.
static tbReal tendon_weight(const tbModel* m, int tendon) {
  tbReal weight = m->tendon_invweight0[tendon];
  for (int k = m->tendon_adr[tendon]; k < m->tendon_adr[tendon] + m->tendon_num[tendon]; k++) {
    if (m->wrap_type[k] != TB_WRAP_SITE) continue;
    weight = tb_max(weight, m->body_invweight0[2 * m->site_bodyid[m->wrap_objid[k]]]);
  }
  return weight;
}

static tbReal equality_weight(const tbModel* m, int id, int r) {
  int a = m->eq_obj1id[id], b = m->eq_obj2id[id];
  switch (tb_equality_ends(m, id)) {
    case TB_ENDS_JOINTS:
      return m->dof_invweight0[m->jnt_dofadr[a]] +
             (b >= 0 ? m->dof_invweight0[m->jnt_dofadr[b]] : 0);
    case TB_ENDS_TENDONS: return m->tendon_invweight0[a] + (b >= 0 ? m->tendon_invweight0[b] : 0);
    default: return pair_weight(m, eq_body(m, id, a), eq_body(m, id, b), r >= 3);
  }
}

tbReal tb_row_weight(const tbModel* m, const tbData* d, const tbConstraint* c, int r) {
  int id = c->id;
  switch (c->source) {
    case TB_SOURCE_CONTACT: {
      const int* geom = d->contact[id].geom;
      return pair_weight(m, m->geom_bodyid[geom[0]], m->geom_bodyid[geom[1]], r >= 3);
    }
    case TB_SOURCE_FRICTION_DOF: return m->dof_invweight0[id];
    case TB_SOURCE_LIMIT_JOINT: return m->dof_invweight0[m->jnt_dofadr[id]];
    case TB_SOURCE_FRICTION_TENDON:
    case TB_SOURCE_LIMIT_TENDON: return m->tendon_invweight0[id];
    default: return equality_weight(m, id, r);
  }
}

// Inverse inertia of a point of a body, the mean of three directions, in this pose.
static int point_weight(const tbModel* m, const tbData* d, tbInertiaFactor factor, tbArena* arena,
                        int body, const tbReal pos[3], tbReal* weight) {
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  if (n == 0) return 1;
  tbArenaMark mark = tb_arena_mark(arena);
  tbReal* half = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(3 * n));
  if (!half) return 0;
  tbForest forest = tb_forest(m);
  tb_jac_sparse(m, d, body, pos, half, NULL, n);
  tb_ltdl_half_solve_support(forest, factor.LD, factor.inverse, dofs, n, half, n, 3);
  for (int k = 0; k < 3 * n; k++) *weight += half[k] * half[k] / 3;
  tb_arena_release(arena, mark);
  return 1;
}

int tb_push_weight(const tbModel* m, const tbData* d, tbInertiaFactor factor, tbArena* arena,
                   const tbConstraint* c, tbReal* weight) {
  // An estimate below this fraction of the inverse weights of the free bodies counts as zero.
  const tbReal little = 1e-3;
  *weight =
      c->source == TB_SOURCE_LIMIT_TENDON ? tendon_weight(m, c->id) : tb_row_weight(m, d, c, 0);
  if (c->source != TB_SOURCE_CONTACT) return 1;
  const tbContact* contact = &d->contact[c->id];
  tbReal alone = 0, here = 0;
  int body[2];
  for (int k = 0; k < 2; k++) {
    body[k] = m->geom_bodyid[contact->geom[k]];
    tbReal mass = m->body_mass[body[k]];
    if (m->body_lastdof[body[k]] >= 0 && mass > 0) alone += 1 / mass;
  }
  if (*weight > little * alone) return 1;
  for (int k = 0; k < 2; k++) {
    if (!point_weight(m, d, factor, arena, body[k], contact->pos, &here)) return 0;
  }
  *weight = tb_max(*weight, here);
  return 1;
}

// Inverse weight of an equality row at the reference pose. A screw turns a thousand times as easily
// as its nut slides, but hardly moves the nut: for a coupling, a = f(b), the weight of b is
// multiplied by f'(0)^2.
static tbReal coupled_weight(const tbModel* m, int id, int r) {
  int a = m->eq_obj1id[id], b = m->eq_obj2id[id];
  tbReal f[3] = {0}, ratio;
  tb_equality_coupling(m, id, 0, f);
  ratio = f[1];
  switch (tb_equality_ends(m, id)) {
    case TB_ENDS_JOINTS:
      return m->dof_invweight0[m->jnt_dofadr[a]] +
             (b >= 0 ? ratio * ratio * m->dof_invweight0[m->jnt_dofadr[b]] : 0);
    case TB_ENDS_TENDONS:
      return tendon_weight(m, a) + (b >= 0 ? ratio * ratio * tendon_weight(m, b) : 0);
    default: return equality_weight(m, id, r);
  }
}

// y + most w (few w / (few w + y))^2, docs/notebook/contact-rows.md eq. 7.
tbReal tb_equality_scale(const tbModel* m, const tbConstraint* c, int r, tbReal y, tbReal* slope) {
  const tbReal most = 0.1, few = 1e-3;
  tbReal weight = coupled_weight(m, c->id, r);
  *slope = 1;
  // Rows without movable dofs are unchanged.
  if (!(y > 0) || !(weight > 0)) return y;
  tbReal share = few * weight / (few * weight + y), added = most * weight * share * share;
  *slope -= 2 * added / (few * weight + y);
  return y + added;
}
