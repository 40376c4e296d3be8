// Rows of contacts: the velocity of body 2's point relative to body 1's in the contact's frame,
// then the relative angular velocity; and the same as functions of a single body's twist.
#include "base/minmax.h"
#include "assemble/rows.h"
#include "model/chain.h"
#include "model/equality_kinds.h"
#include "spatial/quat.h"
#include "model/law_kinds.h"

uint64_t tb_contact_key(const tbContact* contact) {
  return contact->key | UINT64_C(0x8000000000000000);
}

// The support of a contact; contacts of the same two bodies are consecutive and share it.
typedef struct {
  int body[2], nnz;
  int common;  // number of leading dofs that move both bodies; at the same point their motions
               // cancel
  const int* col;
} Support;

static bool find_support(const tbRowBuilder* b, int body1, int body2, Support* s) {
  if (s->body[0] == body1 && s->body[1] == body2) return true;
  const int *chain1 = NULL, *chain2 = NULL;
  int n1 = tb_body_chain(b->m, body1, &chain1), n2 = tb_body_chain(b->m, body2, &chain2),
      common = 0;
  while (common < n1 && common < n2 && chain1[common] == chain2[common]) common++;
  int nnz = tb_bodies_support(b, body1, body2, &s->col);
  if (nnz < 0) return false;
  s->body[0] = body1;
  s->body[1] = body2;
  s->nnz = nnz;
  s->common = common;
  return true;
}

static int eq_body(const tbModel* m, int eq, int id) {
  return m->body_weldid[m->eq_objtype[eq] == TB_OBJ_SITE ? m->site_bodyid[id] : id];
}

// Whether two bodies are welded together.
static bool are_welded(const tbModel* m, const tbData* d, int body1, int body2) {
  if (m->opt.disableflags & TB_DISABLE_EQUALITY) return false;
  int one = m->body_weldid[body1], two = m->body_weldid[body2];
  for (int eq = 0; eq < m->neq; eq++) {
    bool turns = m->eq_data[TB_NEQDATA * eq + TB_EQ_TORQUESCALE] == 0;
    if (tb_equality_ends(m, eq) != TB_ENDS_FRAMES || !d->eq_active[eq] || turns) continue;
    int a = eq_body(m, eq, m->eq_obj1id[eq]), b = eq_body(m, eq, m->eq_obj2id[eq]);
    if ((a == one && b == two) || (a == two && b == one)) return true;
  }
  return false;
}

// Whether two rigid bodies overlap and are welded together: the contact's correction and the weld
// would contradict each other, and the weld was requested by the file.
static bool is_held_by_weld(const tbRowBuilder* b, const tbContact* contact, int body1, int body2) {
  const tbOption* opt = &b->m->opt;
  return tb_law_has(opt, TB_TRAIT_RIGID) && tb_contact_gap(contact) < -opt->overlap_allowed &&
         contact->compliance == 0 && are_welded(b->m, b->d, body1, body2);
}

// The rows of one contact, or NULL when out of memory.
static tbConstraint* add_contact(tbRowBuilder* b, int i, const Support* s) {
  const tbContact* contact = &b->d->contact[i];
  uint64_t key = tb_contact_key(contact);
  tbConstraint* c = tb_add_constraint(b, TB_SOURCE_CONTACT, i, contact->dim, s->nnz, s->col, key);
  if (!c) return NULL;
  int linear = contact->dim < 3 ? contact->dim : 3;
  tbPointRows rows = {contact->pos, contact->frame, linear, contact->dim - linear};
  tb_add_point_rows(b, c, &rows, s->body[0], s->common, -1);
  tb_add_point_rows(b, c, &rows, s->body[1], s->common, 1);
  // A contact whose dofs all cancel keeps them, so that it belongs to the island of some tree.
  // Single rows keep them, too: with these zeros the active-set method with dense factors converges
  // faster (docs/notebook/lessons.md).
  c->lead = s->common < s->nnz && c->dim > 1 ? s->common : 0;
  c->pos[0] = tb_contact_gap(contact);
  c->margin = tb_max(contact->includemargin, 0);
  return c;
}

bool tb_add_contacts(tbRowBuilder* b, const char* pruned) {
  const tbModel* m = b->m;
  Support s = {.body = {-1, -1}};
  for (int i = 0; i < b->d->ncon; i++) {
    tbContact* contact = &b->d->contact[i];
    contact->row = -1;
    if (contact->exclude || (pruned && pruned[i])) continue;
    int body1 = m->geom_bodyid[contact->geom[0]], body2 = m->geom_bodyid[contact->geom[1]];
    if (is_held_by_weld(b, contact, body1, body2)) continue;
    if (!find_support(b, body1, body2, &s)) return false;
    tbConstraint* c = add_contact(b, i, &s);
    if (!c) return false;
    contact->row = c->row;
    // RaiSim's per-contact problem is that of a point: torsion and rolling rows are in J for the
    // certificate only.
    if (tb_law_has(&m->opt, TB_TRAIT_POINT) && c->dim > 3) {
      b->out->nrow -= c->dim - 3;
      c->dim = 3;
    }
  }
  return true;
}

// ---- as functions of a twist -------------------------------------------------------------------

int tb_contact_body(const tbModel* m, const tbContact* contact) {
  int body1 = m->geom_bodyid[contact->geom[0]], body2 = m->geom_bodyid[contact->geom[1]];
  bool moves1 = m->body_lastdof[body1] >= 0, moves2 = m->body_lastdof[body2] >= 0;
  return moves1 == moves2 ? -1 : moves1 ? body1 : body2;
}

// The row of a unit direction as a function of a body's twist: f.(w x arm + v) = (arm x f).w + f.v.
static void twist_row(const tbReal arm[3], const tbReal f[3], tbReal sign, tbReal row[6]) {
  tbReal direction[3] = {sign * f[0], sign * f[1], sign * f[2]};
  tb_cross(row, arm, direction);
  tb_copy3(row + 3, direction);
}

void tb_contact_rows_of_twist(const tbModel* m, const tbData* d, const tbContact* contact, int body,
                              int dim, tbReal* P) {
  tbReal arm[3], sign = m->geom_bodyid[contact->geom[1]] == body ? 1 : -1;
  tb_sub3(arm, contact->pos, d->subtree_com + 3 * m->body_rootid[body]);
  for (int r = 0; r < dim; r++, P += 6) {
    if (r < 3) {
      twist_row(arm, contact->frame + 3 * r, sign, P);
      continue;
    }
    tb_scale3(P, contact->frame + 3 * (r - 3), sign);
    tb_zero3(P + 3);
  }
}

int tb_body_twist(const tbModel* m, const tbData* d, int body, const int** col, tbReal* J) {
  int n = tb_body_chain(m, body, col);
  for (int k = 0; k < n; k++) {
    const tbReal* axis = d->cdof + 6 * (*col)[k];
    for (int r = 0; r < 6; r++) J[r * n + k] = axis[r];
  }
  return n;
}
