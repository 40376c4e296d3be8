// Bodies: frames, mass and inertia.
#include <string.h>

#include "base/minmax.h"
#include "base/error.h"
#include "io/compile/internal.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

static tbResult check_body(tbCompile* c, int i) {
  const tbFlatBody* s = &c->spec->body[i];
  const tbCompileBody* b = &c->body[i];
  tbCompileLabel label = tb_compile_label("body", s->name, i);
  tbResult result = tb_compile_finite(c, s->source, s->line, label.text, s->pos, 3);
  if (!result) result = tb_compile_finite(c, s->source, s->line, label.text, s->quat, 4);
  if (!result) result = tb_compile_finite(c, s->source, s->line, label.text, &s->gravcomp, 1);
  if (result) return result;
  if (i == 0 && b->njnt) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "the world cannot have joints");
  }
  if (b->ndof > 6) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s has %d degrees of freedom, expected at most 6", label.text, b->ndof);
  }
  if (s->mocap && (b->njnt || b->parent != 0)) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: a mocap body must be a child of the world without joints", label.text);
  }
  return TB_OK;
}

tbResult tb_compile_bodies(tbCompile* c) {
  const tbFlat* spec = c->spec;
  c->body = TB_ARENA_NEW(&c->arena, tbCompileBody, spec->nbody);
  if (!c->body) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < spec->nbody; i++) {
    tbCompileBody* b = &c->body[i];
    b->parent = spec->body[i].parent;
    tb_copy3(b->pos, spec->body[i].pos);
    memcpy(b->quat, spec->body[i].quat, sizeof b->quat);
    tb_quat_identity(b->iquat);
  }
  for (int i = 0; i < spec->njoint; i++) {
    tbCompileBody* b = &c->body[spec->joint[i].body];
    b->njnt++;
    // More than 6 dofs are an error below; stop counting.
    if (b->ndof <= 6) b->ndof += tb_joint_nv(spec->joint[i].type);
  }
  for (int i = 0; i < spec->nbody; i++) {
    tbCompileBody* b = &c->body[i];
    b->is_static = b->njnt == 0 && (i == 0 || c->body[b->parent].is_static);
    tbResult result = check_body(c, i);
    if (result) return result;
  }
  return TB_OK;
}

// ---- inertia ------------------------------------------------------------------------------------

// Mass and inertia from the inertial element.
static tbResult explicit_inertia(tbCompile* c, int i) {
  const tbFlatBody* s = &c->spec->body[i];
  const tbFlatInertial* in = &s->inertial;
  tbCompileBody* b = &c->body[i];
  tbCompileLabel label = tb_compile_label("body", s->name, i);
  tbReal all[20] = {in->mass};
  memcpy(all + 1, in->pos, sizeof in->pos);
  memcpy(all + 4, in->quat, sizeof in->quat);
  memcpy(all + 8, in->diaginertia, sizeof in->diaginertia);
  memcpy(all + 11, in->fullinertia, sizeof in->fullinertia);
  tbResult result = tb_compile_finite(c, in->source, in->line, label.text, all, 17);
  if (result) return result;
  b->mass = in->mass;
  tb_copy3(b->ipos, in->pos);
  memcpy(b->iquat, in->quat, sizeof b->iquat);
  tb_copy3(b->inertia, in->diaginertia);
  if (TB_GIVEN(inertial, in, fullinertia) &&
      !tb_inertia_diagonalize(in->fullinertia, b->inertia, b->iquat)) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, in,
                        "%s: fullinertia has the principal moments (%g, %g, %g), expected positive "
                        "numbers",
                        label.text, b->inertia[0], b->inertia[1], b->inertia[2]);
  }
  if (b->mass < 0 || b->inertia[0] < 0 || b->inertia[1] < 0 || b->inertia[2] < 0) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, in,
                        "%s: mass %g and inertia (%g, %g, %g) must not be negative", label.text,
                        b->mass, b->inertia[0], b->inertia[1], b->inertia[2]);
  }
  return TB_OK;
}

// Mass and inertia from the geoms that have mass and belong to the groups that count. False if
// there are none.
static bool infer_inertia(tbCompile* c, int i, const int* geoms, int ngeom, tbInertiaPart* parts) {
  const tbFlatCompiler* compiler = c->spec->body[i].compiler;
  tbCompileBody* b = &c->body[i];
  int n = 0;
  for (int k = 0; k < ngeom; k++) {
    const tbCompileGeom* g = &c->geom[geoms[k]];
    int group = c->spec->geom[geoms[k]].group;
    if (g->mass < TB_COMPILE_TINY) continue;
    if (group < compiler->inertiagrouprange[0] || group > compiler->inertiagrouprange[1]) continue;
    tbInertiaPart* part = &parts[n++];
    part->mass = g->mass;
    tb_copy3(part->pos, g->frame.pos);
    memcpy(part->quat, g->frame.quat, sizeof part->quat);
    tb_copy3(part->moments, g->inertia);
  }
  if (!n) return false;
  // A single geom keeps its own axes; several get the principal axes of their sum.
  tbInertiaPart total = n == 1 ? parts[0] : tb_inertia_combine(parts, n);
  b->mass = total.mass;
  tb_copy3(b->ipos, total.pos);
  memcpy(b->iquat, total.quat, sizeof b->iquat);
  tb_copy3(b->inertia, total.moments);
  return true;
}

// Applies the compiler's lower bounds, and checks the triangle inequality of the moments.
static tbResult bound_inertia(tbCompile* c, int i) {
  const tbFlatBody* s = &c->spec->body[i];
  const tbFlatCompiler* compiler = s->compiler;
  tbCompileBody* b = &c->body[i];
  b->mass = tb_max(b->mass, compiler->boundmass);
  for (int k = 0; k < 3; k++) b->inertia[k] = tb_max(b->inertia[k], compiler->boundinertia);
  const tbReal* I = b->inertia;
  tbReal sum = I[0] + I[1] + I[2];
  tbReal largest = tb_max(I[0], tb_max(I[1], I[2]));
  // Tolerance for the rounding of flat bodies, for which A + B = C.
  if (sum - largest >= largest * (1 - 1e-12)) return TB_OK;
  if (compiler->balanceinertia) {
    tb_set3(b->inertia, sum / 3, sum / 3, sum / 3);
    return TB_OK;
  }
  if (compiler->keepmoments && tb_min(I[0], tb_min(I[1], I[2])) >= 0) return TB_OK;
  tbCompileLabel label = tb_compile_label("body", s->name, i);
  return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                      "%s: the principal moments (%g, %g, %g) must satisfy A + B >= C; the "
                      "compiler's balanceinertia repairs it",
                      label.text, I[0], I[1], I[2]);
}

tbResult tb_compile_inertias(tbCompile* c) {
  const tbFlat* spec = c->spec;
  int* geoms = TB_ARENA_NEW(&c->arena, int, (size_t)spec->ngeom + 1);
  tbInertiaPart* parts = TB_ARENA_NEW(&c->arena, tbInertiaPart, (size_t)spec->ngeom + 1);
  if (!geoms || !parts) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < spec->ngeom; i++) geoms[i] = i;

  // Geoms are sorted by body.
  int at = 0;
  for (int i = 0; i < spec->nbody; i++) {
    int first = at;
    while (at < spec->ngeom && spec->geom[at].body == i) at++;
    if (i == 0) continue;
    const tbFlatBody* s = &spec->body[i];
    tbResult result = s->has_inertial ? explicit_inertia(c, i) : TB_OK;
    if (result) return result;
    int from_geom = s->compiler->inertiafromgeom;
    bool known = s->has_inertial;
    if (from_geom == 1 || (from_geom == TB_AUTO && !s->has_inertial)) {
      known |= infer_inertia(c, i, geoms + first, at - first, parts);
    }
    // As in MuJoCo, the inertial frame of a body without mass is the body's own pose.
    if (!known) {
      tb_copy3(c->body[i].ipos, s->own_pos);
      memcpy(c->body[i].iquat, s->own_quat, sizeof c->body[i].iquat);
    }
    result = bound_inertia(c, i);
    if (result) return result;
  }
  return TB_OK;
}

// ---- mass of moving bodies ----------------------------------------------------------------------

static bool has_inertia(const tbCompileBody* b) {
  return b->mass >= TB_COMPILE_TINY && b->inertia[0] >= TB_COMPILE_TINY &&
         b->inertia[1] >= TB_COMPILE_TINY && b->inertia[2] >= TB_COMPILE_TINY;
}

// Advice for a body that lacks mass or inertia.
static const char* mass_advice(const tbFlatBody* s, const tbCompileBody* b) {
  const tbReal* I = b->inertia;
  if (!(b->mass > 0)) return "give it a geom with mass or an inertial element";
  if (s->has_inertial && (I[0] == 0 || I[1] == 0 || I[2] == 0)) {
    return "give its inertial a diaginertia or fullinertia, or the compiler a boundinertia";
  }
  return "for smaller bodies use smaller units (mm, g)";
}

tbResult tb_compile_check_mass(tbCompile* c) {
  const tbFlat* spec = c->spec;
  // The mass of a body without joints counts for the body it is fixed to; children come after
  // parents.
  bool* has_mass = TB_ARENA_NEW(&c->arena, bool, spec->nbody);
  if (!has_mass) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  for (int i = spec->nbody - 1; i > 0; i--) {
    const tbCompileBody* b = &c->body[i];
    if (b->fused) continue;
    if (has_inertia(b)) has_mass[i] = true;
    if (has_mass[i] && b->njnt == 0) has_mass[b->parent] = true;
  }
  for (int i = 1; i < spec->nbody; i++) {
    const tbCompileBody* b = &c->body[i];
    if (b->fused || b->njnt == 0 || has_mass[i]) continue;
    const tbFlatBody* s = &spec->body[i];
    tbCompileLabel label = tb_compile_label("body", s->name, i);
    return TB_FLAT_FAIL(
        c->error, TB_ERROR_MODEL, s,
        "%s can move but has mass %g and inertia (%g, %g, %g): all must be at least %g; %s",
        label.text, b->mass, b->inertia[0], b->inertia[1], b->inertia[2], TB_COMPILE_TINY,
        mass_advice(s, b));
  }
  return TB_OK;
}

// ---- copy ---------------------------------------------------------------------------------------

// Scales all masses so that they sum to compiler/settotalmass.
static void set_total_mass(const tbCompile* c, tbModel* m) {
  tbReal target = c->spec->compiler->settotalmass;
  for (int i = 0; i < m->nbody; i++) m->total_mass += m->body_mass[i];
  if (!(target > 0) || !(m->total_mass > TB_COMPILE_TINY)) return;
  tbReal scale = target / m->total_mass;
  for (int i = 0; i < m->nbody; i++) {
    m->body_mass[i] *= scale;
    tb_scale3(m->body_inertia + 3 * i, m->body_inertia + 3 * i, scale);
  }
  m->total_mass = target;
}

void tb_compile_copy_bodies(const tbCompile* c, tbModel* m) {
  const size_t real = sizeof(tbReal);
  int mocap = 0;
  for (int i = 0; i < c->spec->nbody; i++) {
    int id = c->body_id[i];
    if (c->body[i].fused) continue;
    const tbFlatBody* s = &c->spec->body[i];
    const tbCompileBody* b = &c->body[i];
    int parent = i ? c->body_id[b->parent] : 0;
    m->body_parentid[id] = parent;
    m->body_rootid[id] = parent == 0 ? id : m->body_rootid[parent];
    m->body_weldid[id] = b->njnt || i == 0 || s->mocap ? id : m->body_weldid[parent];
    m->body_mocapid[id] = s->mocap ? mocap++ : -1;
    memcpy(m->body_pos + 3 * id, b->pos, 3 * real);
    memcpy(m->body_quat + 4 * id, b->quat, 4 * real);
    memcpy(m->body_ipos + 3 * id, b->ipos, 3 * real);
    memcpy(m->body_iquat + 4 * id, b->iquat, 4 * real);
    m->body_mass[id] = b->mass;
    memcpy(m->body_inertia + 3 * id, b->inertia, 3 * real);
    m->body_gravcomp[id] = s->gravcomp;
    m->body_geomadr[id] = -1;
    tb_compile_copy_user(m->body_user, id, m->nuser_body, &s->user);
  }
  // Geoms of each body; a subtree follows its root.
  for (int i = 0; i < m->ngeom; i++) {
    int id = m->geom_bodyid[i];
    if (m->body_geomnum[id]++ == 0) m->body_geomadr[id] = i;
    m->body_margin[id] = tb_max(m->body_margin[id], m->geom_margin[i] + m->geom_gap[i]);
  }
  for (int i = m->nbody - 1; i >= 0; i--) {
    m->body_subtreenum[i]++;
    if (i) m->body_subtreenum[m->body_parentid[i]] += m->body_subtreenum[i];
  }
  set_total_mass(c, m);
}
