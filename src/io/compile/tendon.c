// Tendons and their paths.
#include <math.h>
#include <string.h>

#include "io/compile/internal.h"
#include "model/joint_kinds.h"

static tbResult check_fixed(tbCompile* c, const tbFlatTendon* t, const char* label) {
  for (int k = 0; k < t->wrapnum; k++) {
    const tbFlatWrap* w = &c->spec->wrap[t->wrapadr + k];
    int joint;
    if (w->type != TB_WRAP_JOINT) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w, "%s: a fixed tendon consists of joints",
                          label);
    }
    tbResult result =
        tb_compile_resolve(c, TB_FLAT_joint, w->target, w->source, w->line, label, &joint);
    if (!result) result = tb_compile_finite(c, w->source, w->line, label, &w->prm, 1);
    if (result) return result;
    if (!tb_joint_is_scalar(c->spec->joint[joint].type)) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w,
                          "%s: joint '%s' is free or ball, expected a slide or a hinge", label,
                          w->target);
    }
    for (int j = 0; j < k; j++) {
      if (strcmp(c->spec->wrap[t->wrapadr + j].target, w->target) != 0) continue;
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w,
                          "%s: joint '%s' is listed twice; use the sum of its coefficients", label,
                          w->target);
    }
  }
  return TB_OK;
}

// Checks a site, pulley or geom of a spatial path.
static tbResult check_element(tbCompile* c, const tbFlatTendon* t, int k, const char* label) {
  const tbFlatWrap* path = c->spec->wrap + t->wrapadr;
  const tbFlatWrap* w = &path[k];
  int before = k > 0 ? path[k - 1].type : TB_WRAP_NONE;
  int after = k + 1 < t->wrapnum ? path[k + 1].type : TB_WRAP_NONE;
  int id;
  switch (w->type) {
    case TB_WRAP_PULLEY:
      if (after == TB_WRAP_NONE || after == TB_WRAP_PULLEY) {
        return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w, "%s: no element follows the pulley",
                            label);
      }
      if (!(w->prm > 0) || !isfinite(w->prm)) {
        return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w,
                            "%s: the pulley's divisor is %g, expected a positive number", label,
                            w->prm);
      }
      return TB_OK;
    case TB_WRAP_SITE:
      if ((before == TB_WRAP_NONE || before == TB_WRAP_PULLEY) &&
          (after == TB_WRAP_NONE || after == TB_WRAP_PULLEY)) {
        return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w,
                            "%s: site '%s' has no neighbour in its part of the path", label,
                            w->target ? w->target : "");
      }
      if (before == TB_WRAP_SITE && w->target && path[k - 1].target &&
          strcmp(w->target, path[k - 1].target) == 0) {
        return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w, "%s: site '%s' follows itself", label,
                            w->target);
      }
      return tb_compile_resolve(c, TB_FLAT_site, w->target, w->source, w->line, label, &id);
    case TB_WRAP_SPHERE:
    case TB_WRAP_CYLINDER: {
      if (before != TB_WRAP_SITE || after != TB_WRAP_SITE) {
        return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w, "%s: geom '%s' must be between two sites",
                            label, w->target ? w->target : "");
      }
      tbResult result =
          tb_compile_resolve(c, TB_FLAT_geom, w->target, w->source, w->line, label, &id);
      if (result) return result;
      if (c->geom[id].type != TB_GEOM_SPHERE && c->geom[id].type != TB_GEOM_CYLINDER) {
        return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w,
                            "%s: geom '%s' must be a sphere or a cylinder", label, w->target);
      }
      if (!w->sidesite) return TB_OK;
      return tb_compile_resolve(c, TB_FLAT_site, w->sidesite, w->source, w->line, label, &id);
    }
    default:
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, w,
                          "%s: a spatial tendon consists of sites, geoms and pulleys", label);
  }
}

static tbResult check_tendon(tbCompile* c, int i) {
  const tbFlatTendon* t = &c->spec->tendon[i];
  tbCompileLabel label = tb_compile_label("tendon", t->name, i);
  int on;
  const tbReal scalars[] = {t->margin,       t->stiffness[0],    t->damping[0],     t->armature,
                            t->frictionloss, t->springlength[0], t->springlength[1]};
  tbResult result = tb_compile_finite(c, t->source, t->line, label.text, scalars,
                                      (int)(sizeof scalars / sizeof scalars[0]));
  if (!result) {
    result = tb_compile_limit(c, t->source, t->line, label.text, "range", "limited",
                              t->compiler->autolimits, t->limited, t->range, &on);
  }
  if (!result) {
    result = tb_compile_limit(c, t->source, t->line, label.text, "actuatorfrcrange",
                              "actuatorfrclimited", t->compiler->autolimits, t->actuatorfrclimited,
                              t->actuatorfrcrange, &on);
  }
  if (result) return result;
  if (t->springlength[0] > t->springlength[1]) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, t,
                        "%s: springlength is (%g, %g), expected the first not to be larger",
                        label.text, t->springlength[0], t->springlength[1]);
  }
  if (t->armature < 0) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, t, "%s: armature %g cannot be negative",
                        label.text, t->armature);
  }
  int least = t->type == TB_TENDON_FIXED ? 1 : 2;
  if (t->wrapnum < least) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, t, "%s: the path has %d elements, expected %d",
                        label.text, t->wrapnum, least);
  }
  if (t->type == TB_TENDON_FIXED) return check_fixed(c, t, label.text);
  for (int k = 0; k < t->wrapnum && !result; k++) result = check_element(c, t, k, label.text);
  return result;
}

tbResult tb_compile_tendons(tbCompile* c, tbModel* sizes) {
  sizes->ntendon = c->spec->ntendon;
  for (int i = 0; i < c->spec->ntendon; i++) {
    tbResult result = check_tendon(c, i);
    if (result) return result;
    sizes->nwrap += c->spec->tendon[i].wrapnum;
  }
  return TB_OK;
}

// ---- copy ---------------------------------------------------------------------------------------

static void copy_wrap(const tbCompile* c, tbModel* m, const tbFlatWrap* w, int id) {
  m->wrap_type[id] = w->type;
  m->wrap_prm[id] = w->prm;
  m->wrap_objid[id] = -1;
  if (w->type == TB_WRAP_JOINT) m->wrap_objid[id] = tb_compile_find(c, TB_FLAT_joint, w->target);
  if (w->type == TB_WRAP_SITE) {
    m->wrap_objid[id] = c->site_id[tb_compile_find(c, TB_FLAT_site, w->target)];
    m->wrap_prm[id] = 0;
  }
  if (w->type != TB_WRAP_SPHERE && w->type != TB_WRAP_CYLINDER) return;
  int geom = tb_compile_find(c, TB_FLAT_geom, w->target);
  m->wrap_type[id] = c->geom[geom].type == TB_GEOM_SPHERE ? TB_WRAP_SPHERE : TB_WRAP_CYLINDER;
  m->wrap_objid[id] = c->geom_id[geom];
  m->wrap_prm[id] = w->sidesite ? c->site_id[tb_compile_find(c, TB_FLAT_site, w->sidesite)] : -1;
}

void tb_compile_copy_tendons(const tbCompile* c, tbModel* m) {
  const size_t real = sizeof(tbReal);
  int wrap = 0;
  for (int i = 0; i < m->ntendon; i++) {
    const tbFlatTendon* t = &c->spec->tendon[i];
    m->tendon_adr[i] = wrap;
    m->tendon_num[i] = t->wrapnum;
    for (int k = 0; k < t->wrapnum; k++) copy_wrap(c, m, &c->spec->wrap[t->wrapadr + k], wrap++);
    m->tendon_group[i] = t->group;
    m->tendon_limited[i] = tb_flat_limited(t->limited, t->range);
    m->tendon_actfrclimited[i] = tb_flat_limited(t->actuatorfrclimited, t->actuatorfrcrange);
    memcpy(m->tendon_solref_lim + TB_NREF * i, t->solreflimit, TB_NREF * real);
    memcpy(m->tendon_solimp_lim + TB_NIMP * i, t->solimplimit, TB_NIMP * real);
    memcpy(m->tendon_solref_fri + TB_NREF * i, t->solreffriction, TB_NREF * real);
    memcpy(m->tendon_solimp_fri + TB_NIMP * i, t->solimpfriction, TB_NIMP * real);
    memcpy(m->tendon_range + 2 * i, t->range, 2 * real);
    memcpy(m->tendon_actfrcrange + 2 * i, t->actuatorfrcrange, 2 * real);
    m->tendon_margin[i] = t->margin;
    m->tendon_stiffness[i] = t->stiffness[0];
    m->tendon_damping[i] = t->damping[0];
    m->tendon_armature[i] = t->armature;
    m->tendon_frictionloss[i] = t->frictionloss;
    memcpy(m->tendon_lengthspring + 2 * i, t->springlength, 2 * real);
    for (int k = 0; k < 4; k++) m->tendon_rgba[4 * i + k] = (float)t->rgba[k];
    tb_compile_copy_user(m->tendon_user, i, m->nuser_tendon, &t->user);
  }
}
