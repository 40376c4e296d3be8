// Actuators: transmission targets, ranges, activation states.
#include <string.h>

#include "io/compile/internal.h"
#include "io/flat_tables.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"

// The type of transmission that an actuator names an object for, and the names.
static tbResult find_target(const tbCompile* c, const tbFlatActuator* a, const char* label,
                            int* type, const char* name[2]) {
  tbFlatActuator copy = *a;
  int found = 0;
  for (int t = 0; t < TB_NTRNTYPES; t++) {
    const char **first = tb_flat_transmission(&copy, t, 0),
               **second = tb_flat_transmission(&copy, t, 1);
    if (!first || !*first) continue;
    *type = t;
    name[0] = *first;
    name[1] = second ? *second : NULL;
    found++;
  }
  if (found == 1) return TB_OK;
  return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a, "%s has %d transmissions, expected one of:%s",
                      label, found, tb_transmission_words);
}

static tbResult copy_target(const tbCompile* c, tbModel* m, const tbFlatActuator* a,
                            const char* label, int i) {
  const char* name[2];
  int type = 0, *id = m->actuator_trnid + 2 * i;
  tbResult result = find_target(c, a, label, &type, name);
  if (result) return result;
  const tbTransmissionKind* kind = &tb_transmission_kinds[type];
  id[0] = id[1] = -1;
  for (int k = 0; k < 2 && !result; k++) {
    bool is_needed = k == 0 || name[1] || kind->second == TB_SECOND_REQUIRED;
    if (!is_needed) continue;
    result = tb_compile_object(c, kind->first, name[k], a->source, a->line, label, &id[k]);
  }
  if (result) return result;
  if (a->cranksite && !(a->cranklength > 0)) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: cranklength is %g, expected a positive number", label, a->cranklength);
  }
  if (kind->first == TB_OBJ_JOINT && kind->arm == TB_ARM_CONFIGURATION &&
      !tb_joint_is_scalar(m->jnt_type[id[0]])) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: joint '%s' is free or ball, expected a slide or a hinge", label,
                        name[0]);
  }
  m->actuator_trntype[i] = type;
  return TB_OK;
}

// Activation states of an actuator.
static int activation_count(const tbFlatActuator* a) {
  return a->actdim >= 0 ? a->actdim : a->dyntype != TB_DYN_NONE;
}

tbResult tb_compile_count_actuators(const tbCompile* c, tbModel* sizes) {
  sizes->nu = c->spec->nactuator;
  int64_t na = 0;
  for (int i = 0; i < c->spec->nactuator; i++) {
    const tbFlatActuator* a = &c->spec->actuator[i];
    tbCompileLabel label = tb_compile_label("actuator", a->name, i);
    int n = activation_count(a);
    if ((a->dyntype == TB_DYN_NONE) != (n == 0) || n > 1000) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a, "%s: actdim is %d and dyntype is %s",
                          label.text, n, a->dyntype == TB_DYN_NONE ? "none" : "not none");
    }
    na += n;
  }
  sizes->na = (int)na;
  return TB_OK;
}

// ctrlrange (actrange if the control is integrated) from the range of the transmission target.
static tbResult inherit_range(const tbCompile* c, tbModel* m, const tbFlatActuator* a,
                              const char* label, int i, tbReal ctrlrange[2], tbReal actrange[2]) {
  int joint = tb_geared_joint(m, i), tendon = tb_geared_tendon(m, i);
  const tbReal* range = NULL;
  if (joint >= 0) range = m->jnt_range + 2 * joint;
  if (tendon >= 0) range = m->tendon_range + 2 * tendon;
  bool like_position = a->gaintype == TB_GAIN_FIXED && a->biastype == TB_BIAS_AFFINE &&
                       a->gainprm[0] == -a->biasprm[1];
  if (!range || !like_position) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: inheritrange is for position servos of joints and tendons", label);
  }
  if (!(range[0] < range[1])) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: inheritrange is given, but the transmission target has no range",
                        label);
  }
  tbReal* target = a->dyntype == TB_DYN_INTEGRATOR ? actrange : ctrlrange;
  if (target[0] != 0 || target[1] != 0) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: give either inheritrange or a range, not both", label);
  }
  tbReal middle = 0.5 * (range[0] + range[1]);
  tbReal half = 0.5 * a->inheritrange * (range[1] - range[0]);
  target[0] = middle - half;
  target[1] = middle + half;
  return TB_OK;
}

static tbResult copy_ranges(const tbCompile* c, tbModel* m, const tbFlatActuator* a,
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
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a, "%s: actrange is given, but dyntype is none",
                        label);
  }
  if (a->lengthrange[0] > a->lengthrange[1]) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, a,
                        "%s: lengthrange is (%g, %g), expected the first not to be larger", label,
                        a->lengthrange[0], a->lengthrange[1]);
  }
  return TB_OK;
}

static tbResult copy_actuator(const tbCompile* c, tbModel* m, int i) {
  const tbFlatActuator* a = &c->spec->actuator[i];
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
