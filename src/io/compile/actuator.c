// Actuators: transmission targets, ranges, activation states.
#include <string.h>

#include "io/compile/internal.h"

// The target of a transmission: kind of object and its name; `second` for a second site.
typedef struct {
  int trntype;
  tbSpecKind kind;
  const char* name;
  const char* second;
} Target;

static tbResult find_target(const tbCompile* c, const tbSpecActuator* a, const char* label,
                            Target* target) {
  const Target all[] = {
      {TB_TRN_JOINT, TB_SPEC_joint, a->joint, NULL},
      {TB_TRN_JOINTINPARENT, TB_SPEC_joint, a->jointinparent, NULL},
      {TB_TRN_SLIDERCRANK, TB_SPEC_site, a->cranksite, a->slidersite},
      {TB_TRN_TENDON, TB_SPEC_tendon, a->tendon, NULL},
      {TB_TRN_SITE, TB_SPEC_site, a->site, a->refsite},
      {TB_TRN_BODY, TB_SPEC_body, a->body, NULL},
  };
  int found = 0;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    if (!all[k].name) continue;
    *target = all[k];
    found++;
  }
  if (found == 1) return TB_OK;
  return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a,
                      "%s has %d transmissions, expected one of joint, jointinparent, tendon, "
                      "cranksite, site, body",
                      label, found);
}

static tbResult copy_target(const tbCompile* c, tbModel* m, const tbSpecActuator* a,
                            const char* label, int i) {
  Target t = {0};
  tbResult result = find_target(c, a, label, &t);
  if (result) return result;
  int id[2] = {-1, -1};
  result = tb_compile_resolve(c, t.kind, t.name, a->source, a->line, label, &id[0]);
  if (!result && (t.second || t.trntype == TB_TRN_SLIDERCRANK)) {
    result = tb_compile_resolve(c, t.kind, t.second, a->source, a->line, label, &id[1]);
  }
  if (result) return result;
  if (t.trntype == TB_TRN_SLIDERCRANK && !(a->cranklength > 0)) {
    return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: cranklength is %g, expected a positive number", label, a->cranklength);
  }
  for (int k = 0; k < 2; k++) {
    if (id[k] >= 0 && t.kind == TB_SPEC_site) id[k] = c->site_id[id[k]];
    if (id[k] >= 0 && t.kind == TB_SPEC_body) id[k] = c->body_id[id[k]];
    m->actuator_trnid[2 * i + k] = id[k];
  }
  m->actuator_trntype[i] = t.trntype;
  return TB_OK;
}

// Activation states of an actuator.
static int activation_count(const tbSpecActuator* a) {
  return a->actdim >= 0 ? a->actdim : a->dyntype != TB_DYN_NONE;
}

tbResult tb_compile_count_actuators(const tbCompile* c, tbModel* sizes) {
  sizes->nu = c->spec->nactuator;
  int64_t na = 0;
  for (int i = 0; i < c->spec->nactuator; i++) {
    const tbSpecActuator* a = &c->spec->actuator[i];
    tbCompileLabel label = tb_compile_label("actuator", a->name, i);
    int n = activation_count(a);
    if ((a->dyntype == TB_DYN_NONE) != (n == 0) || n > 1000) {
      return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a, "%s: actdim is %d and dyntype is %s",
                          label.text, n, a->dyntype == TB_DYN_NONE ? "none" : "not none");
    }
    na += n;
  }
  sizes->na = (int)na;
  return TB_OK;
}

// ctrlrange (actrange if the control is integrated) from the range of the transmission target.
static tbResult inherit_range(const tbCompile* c, tbModel* m, const tbSpecActuator* a,
                              const char* label, int i, tbReal ctrlrange[2], tbReal actrange[2]) {
  int type = m->actuator_trntype[i], id = m->actuator_trnid[2 * i];
  const tbReal* range = NULL;
  if (type == TB_TRN_JOINT || type == TB_TRN_JOINTINPARENT) range = m->jnt_range + 2 * id;
  if (type == TB_TRN_TENDON) range = m->tendon_range + 2 * id;
  bool like_position = a->gaintype == TB_GAIN_FIXED && a->biastype == TB_BIAS_AFFINE &&
                       a->gainprm[0] == -a->biasprm[1];
  if (!range || !like_position) {
    return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: inheritrange is for position servos of joints and tendons", label);
  }
  if (!(range[0] < range[1])) {
    return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: inheritrange is given, but the transmission target has no range",
                        label);
  }
  tbReal* target = a->dyntype == TB_DYN_INTEGRATOR ? actrange : ctrlrange;
  if (target[0] != 0 || target[1] != 0) {
    return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: give either inheritrange or a range, not both", label);
  }
  tbReal middle = 0.5 * (range[0] + range[1]);
  tbReal half = 0.5 * a->inheritrange * (range[1] - range[0]);
  target[0] = middle - half;
  target[1] = middle + half;
  return TB_OK;
}

static tbResult copy_ranges(const tbCompile* c, tbModel* m, const tbSpecActuator* a,
                            const char* label, int i) {
  tbReal* ctrl = m->actuator_ctrlrange + 2 * i;
  tbReal* force = m->actuator_forcerange + 2 * i;
  tbReal* act = m->actuator_actrange + 2 * i;
  memcpy(ctrl, a->ctrlrange, sizeof a->ctrlrange);
  memcpy(force, a->forcerange, sizeof a->forcerange);
  memcpy(act, a->actrange, sizeof a->actrange);
  bool autolimits = a->compiler->autolimits;
  tbResult result = TB_OK;
  if (a->inheritrange > 0) result = inherit_range(c, m, a, label, i, ctrl, act);
  if (!result) {
    result = tb_compile_limit(c, a->source, a->line, label, "ctrlrange", "ctrllimited", autolimits,
                              a->ctrllimited, ctrl, &m->actuator_ctrllimited[i]);
  }
  if (!result) {
    result = tb_compile_limit(c, a->source, a->line, label, "forcerange", "forcelimited",
                              autolimits, a->forcelimited, force, &m->actuator_forcelimited[i]);
  }
  if (!result) {
    result = tb_compile_limit(c, a->source, a->line, label, "actrange", "actlimited", autolimits,
                              a->actlimited, act, &m->actuator_actlimited[i]);
  }
  if (result) return result;
  if (m->actuator_actlimited[i] && a->dyntype == TB_DYN_NONE) {
    return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a, "%s: actrange is given, but dyntype is none",
                        label);
  }
  if (a->lengthrange[0] > a->lengthrange[1]) {
    return TB_SPEC_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: lengthrange is (%g, %g), expected the first not to be larger", label,
                        a->lengthrange[0], a->lengthrange[1]);
  }
  return TB_OK;
}

static tbResult copy_actuator(const tbCompile* c, tbModel* m, int i) {
  const tbSpecActuator* a = &c->spec->actuator[i];
  const size_t real = sizeof(tbReal);
  tbCompileLabel label = tb_compile_label("actuator", a->name, i);
  tbResult result = copy_target(c, m, a, label.text, i);
  if (!result) result = copy_ranges(c, m, a, label.text, i);
  if (!result) result = tb_compile_finite(c, a->source, a->line, label.text, a->gear, 6);
  if (!result) result = tb_compile_finite(c, a->source, a->line, label.text, a->gainprm, TB_NGAIN);
  if (!result) result = tb_compile_finite(c, a->source, a->line, label.text, a->biasprm, TB_NBIAS);
  if (!result) result = tb_compile_finite(c, a->source, a->line, label.text, a->dynprm, TB_NDYN);
  if (result) return result;
  m->actuator_dyntype[i] = a->dyntype;
  m->actuator_gaintype[i] = a->gaintype;
  m->actuator_biastype[i] = a->biastype;
  m->actuator_group[i] = a->group;
  m->actuator_actearly[i] = a->actearly;
  memcpy(m->actuator_dynprm + TB_NDYN * i, a->dynprm, TB_NDYN * real);
  memcpy(m->actuator_gainprm + TB_NGAIN * i, a->gainprm, TB_NGAIN * real);
  memcpy(m->actuator_biasprm + TB_NBIAS * i, a->biasprm, TB_NBIAS * real);
  memcpy(m->actuator_lengthrange + 2 * i, a->lengthrange, 2 * real);
  memcpy(m->actuator_gear + 6 * i, a->gear, 6 * real);
  m->actuator_cranklength[i] = a->cranklength;
  tb_compile_copy_user(m->actuator_user, i, m->nuser_actuator, &a->user);
  return TB_OK;
}

tbResult tb_compile_copy_actuators(const tbCompile* c, tbModel* m) {
  int act = 0;
  for (int i = 0; i < m->nu; i++) {
    tbResult result = copy_actuator(c, m, i);
    if (result) return result;
    int n = activation_count(&c->spec->actuator[i]);
    m->actuator_actadr[i] = n ? act : -1;
    m->actuator_actnum[i] = n;
    act += n;
  }
  return TB_OK;
}
