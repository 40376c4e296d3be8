// Actuators. The shortcuts (motor, position, ...) set parameters of a general actuator; all of them
// share one record in a default class.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/flat_tables.h"
#include "model/transmission_kinds.h"

static const tbReal PI = 3.14159265358979323846;

static const char* const KINDS[] = {"general", "motor",    "position", "velocity", "intvelocity",
                                    "damper",  "cylinder", "muscle",   "adhesion", NULL};

// The word of an actuator's element, or NULL.
static const char* kind_of(const tbElement* node) {
  for (int i = 0; KINDS[i]; i++) {
    if (tb_mjcf_is(node, KINDS[i])) return KINDS[i];
  }
  return NULL;
}

bool tb_mjcf_is_actuator(const tbElement* node) {
  return kind_of(node) != NULL;
}

// Reads one number of an attribute; the value is unchanged if the attribute is absent.
static bool number(tbMjcf* p, const tbElement* node, const char* name, tbReal* value, bool* given) {
  int count;
  if (!tb_mjcf_numbers(p, node, name, 1, 1, value, &count)) return false;
  if (given) *given = count > 0;
  return true;
}

static bool not_negative(tbMjcf* p, const tbElement* node, const char* name, tbReal value) {
  return value >= 0 || tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s cannot be negative", name);
}

static void set_types(tbFlatActuator* a, int dyntype, int gaintype, int biastype) {
  a->dyntype = dyntype;
  a->gaintype = gaintype;
  a->biastype = biastype;
}

// force = kp (ctrl - length) - kv velocity; a damping ratio is stored in biasprm[2] with a plus
// sign.
static bool set_position(tbMjcf* p, const tbElement* node, tbFlatActuator* a, bool integrated) {
  tbReal kp = a->gainprm[0], kv = 0, dampratio = 0, timeconst = 0;
  bool has_kv, has_ratio, has_time = false;
  if (!number(p, node, "kp", &kp, NULL) || !number(p, node, "kv", &kv, &has_kv) ||
      !number(p, node, "dampratio", &dampratio, &has_ratio) ||
      (!integrated && !number(p, node, "timeconst", &timeconst, &has_time))) {
    return false;
  }
  if (has_kv && has_ratio) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "give kv or dampratio, not both");
  }
  if (!not_negative(p, node, "kv", kv) || !not_negative(p, node, "dampratio", dampratio) ||
      !not_negative(p, node, "timeconst", timeconst)) {
    return false;
  }
  a->gainprm[0] = kp;
  a->biasprm[1] = -kp;
  if (has_kv) a->biasprm[2] = -kv;
  if (has_ratio) a->biasprm[2] = dampratio;
  if (has_time) {
    a->dynprm[0] = timeconst;
    a->dyntype = timeconst == 0 ? TB_DYN_NONE : TB_DYN_FILTEREXACT;
  }
  const tbReal* range = integrated ? a->actrange : a->ctrlrange;
  if (a->inheritrange > 0 && (range[0] != 0 || range[1] != 0)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "give %s or inheritrange, not both",
                        integrated ? "actrange" : "ctrlrange");
  }
  a->gaintype = TB_GAIN_FIXED;
  a->biastype = TB_BIAS_AFFINE;
  if (integrated) {
    a->dyntype = TB_DYN_INTEGRATOR;
    if (a->actlimited == TB_AUTO && (a->inheritrange > 0 || range[0] != 0 || range[1] != 0)) {
      a->actlimited = 1;
    }
  }
  return true;
}

static bool set_velocity(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  tbReal kv = a->gainprm[0];
  if (!number(p, node, "kv", &kv, NULL)) return false;
  memset(a->biasprm, 0, sizeof a->biasprm);
  a->gainprm[0] = kv;
  a->biasprm[2] = -kv;
  set_types(a, TB_DYN_NONE, TB_GAIN_FIXED, TB_BIAS_AFFINE);
  return true;
}

// force = -kv ctrl velocity
static bool set_damper(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  tbReal kv = a->gaintype == TB_GAIN_AFFINE ? -a->gainprm[2] : 0;
  if (!number(p, node, "kv", &kv, NULL) || !not_negative(p, node, "kv", kv)) return false;
  if (a->ctrlrange[0] < 0 || a->ctrlrange[1] < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "ctrlrange cannot be negative");
  }
  memset(a->gainprm, 0, sizeof a->gainprm);
  a->gainprm[2] = -kv;
  a->ctrllimited = 1;
  set_types(a, TB_DYN_NONE, TB_GAIN_AFFINE, TB_BIAS_NONE);
  return true;
}

static bool set_cylinder(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  tbReal diameter = -1;
  int count;
  if (!number(p, node, "timeconst", &a->dynprm[0], NULL) ||
      !tb_mjcf_numbers(p, node, "bias", 3, 3, a->biasprm, &count) ||
      !number(p, node, "area", &a->gainprm[0], NULL) ||
      !number(p, node, "diameter", &diameter, NULL)) {
    return false;
  }
  if (diameter >= 0) a->gainprm[0] = PI / 4 * diameter * diameter;
  set_types(a, TB_DYN_FILTER, TB_GAIN_FIXED, TB_BIAS_AFFINE);
  return true;
}

// gainprm: range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax; dynprm: two time constants and
// the smoothing width. Values given neither by the element nor by its class are MuJoCo's defaults.
static bool set_muscle(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  static const char* const NAMES[] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  static const tbReal USUAL[] = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
  if (a->dynprm[0] == 1) a->dynprm[0] = 0.01;
  if (a->dynprm[1] == 0) a->dynprm[1] = 0.04;
  if (a->gainprm[0] == 1) a->gainprm[0] = USUAL[0];
  for (int i = 1; i < 9; i++) {
    if (a->gainprm[i] == 0) a->gainprm[i] = USUAL[i];
  }
  // Negative values mean "not given": the previous value stays.
  tbReal pair[2] = {-1, -1};
  int count;
  if (!tb_mjcf_numbers(p, node, "timeconst", 2, 2, pair, &count)) return false;
  for (int i = 0; i < 2; i++) {
    if (pair[i] >= 0) a->dynprm[i] = pair[i];
    pair[i] = -1;
  }
  if (!number(p, node, "tausmooth", &a->dynprm[2], NULL) ||
      !not_negative(p, node, "tausmooth", a->dynprm[2]) ||
      !tb_mjcf_numbers(p, node, "range", 2, 2, pair, &count)) {
    return false;
  }
  for (int i = 0; i < 2; i++) {
    if (pair[i] >= 0) a->gainprm[i] = pair[i];
  }
  for (int i = 0; i < 7; i++) {
    tbReal value = -1;
    if (!number(p, node, NAMES[i], &value, NULL)) return false;
    if (value >= 0) a->gainprm[2 + i] = value;
  }
  memcpy(a->biasprm, a->gainprm, 9 * sizeof(tbReal));
  set_types(a, TB_DYN_MUSCLE, TB_GAIN_MUSCLE, TB_BIAS_MUSCLE);
  return true;
}

static bool set_adhesion(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  if (!number(p, node, "gain", &a->gainprm[0], NULL) ||
      !not_negative(p, node, "gain", a->gainprm[0])) {
    return false;
  }
  if (a->ctrlrange[0] < 0 || a->ctrlrange[1] < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "ctrlrange cannot be negative");
  }
  a->ctrllimited = 1;
  a->gaintype = TB_GAIN_FIXED;
  a->biastype = TB_BIAS_NONE;
  return true;
}

static bool apply_shortcut(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  if (tb_mjcf_is(node, "motor")) {
    a->gainprm[0] = 1;
    set_types(a, TB_DYN_NONE, TB_GAIN_FIXED, TB_BIAS_NONE);
    return true;
  }
  if (tb_mjcf_is(node, "position")) return set_position(p, node, a, false);
  if (tb_mjcf_is(node, "intvelocity")) return set_position(p, node, a, true);
  if (tb_mjcf_is(node, "velocity")) return set_velocity(p, node, a);
  if (tb_mjcf_is(node, "damper")) return set_damper(p, node, a);
  if (tb_mjcf_is(node, "cylinder")) return set_cylinder(p, node, a);
  if (tb_mjcf_is(node, "muscle")) return set_muscle(p, node, a);
  if (tb_mjcf_is(node, "adhesion")) return set_adhesion(p, node, a);
  return true;
}

// Exactly one target must be given; a slider-crank needs both of its sites.
static bool check_target(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  int n = 0;
  for (int type = 0; type < TB_NTRNTYPES; type++) {
    const char** first = tb_flat_transmission(a, type, 0);
    n += first && *first;
  }
  if (n != 1) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs exactly one of:%s; got %d",
                        tb_transmission_words, n);
  }
  if (a->cranksite && (!a->slidersite || !(a->cranklength > 0))) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "a slider-crank needs slidersite and a positive cranklength");
  }
  for (int type = 0; type < TB_NTRNTYPES; type++) {
    const tbTransmissionKind* kind = &tb_transmission_kinds[type];
    const char **first = tb_flat_transmission(a, type, 0),
               **second = tb_flat_transmission(a, type, 1);
    bool has_first = first && *first, has_second = second && *second;
    if (has_second && !has_first) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s needs a %s", kind->second_word, kind->word);
    }
    if (has_first && !has_second && kind->second == TB_SECOND_REQUIRED) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s needs a %s", kind->word, kind->second_word);
    }
  }
  return true;
}

// The objects of an extension's transmissions, which have no fields of their own.
static bool read_extension(tbMjcf* p, const tbElement* node, tbFlatActuator* a) {
  static const struct {
    int type;
    const char* word[2];
  } KINDS_OF_EXTENSION[] = {
#define X(TYPE, word, FIRST, SECOND, second, ARM, function) {TB_TRN_##TYPE, {word, second}},
      TB_EXTENSION_TRANSMISSIONS(X)
#undef X
          {TB_NTRNTYPES, {NULL, NULL}},
  };
  for (int i = 0; KINDS_OF_EXTENSION[i].type < TB_NTRNTYPES; i++) {
    int type = KINDS_OF_EXTENSION[i].type;
    for (int k = 0; k < 2; k++) {
      const char* word = KINDS_OF_EXTENSION[i].word[k];
      if (!word || !tb_mjcf_has(node, word)) continue;
      if (a->trntype != type && (a->target[0] || a->target[1])) {
        return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs exactly one of:%s; got 2",
                            tb_transmission_words);
      }
      a->trntype = type;
      a->target[k] = tb_element_get(node, word);
    }
  }
  return true;
}

static bool check_unsupported(tbMjcf* p, const tbElement* node, const tbFlatActuator* a) {
  const char* what = NULL;
  if (a->nsample != 0) what = "nsample";
  if (a->delay != 0) what = "delay";
  if (a->damping[0] != 0 || a->damping[1] != 0 || a->damping[2] != 0) what = "damping";
  if (a->armature != 0) what = "armature";
  return !what || tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "%s is not supported", what);
}

bool tb_mjcf_one_actuator(tbMjcf* p, const tbElement* node, tbFlatActuator* actuator,
                          bool is_class) {
  if (!read_extension(p, node, actuator) ||
      !tb_mjcf_fields(p, node, tb_flat_table_actuator(), actuator, NULL) ||
      !apply_shortcut(p, node, actuator) || !check_unsupported(p, node, actuator)) {
    return false;
  }
  actuator->element = kind_of(node);
  return is_class || check_target(p, node, actuator);
}

// Checks the parameters of a muscle: range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax.
static bool check_muscle(tbMjcf* p, const tbElement* node, const tbReal prm[10]) {
  const char* wrong = NULL;
  if (prm[0] >= prm[1]) wrong = "range needs its lower end below its upper end";
  if (prm[4] >= 1 || prm[5] <= 1) wrong = "lmin must be below 1 and lmax above";
  if (prm[3] <= 0 || prm[6] <= 0 || prm[7] <= 0 || prm[8] <= 0) {
    wrong = "scale, vmax, fpmax and fvmax must be positive";
  }
  return !wrong || tb_mjcf_fail(p, TB_ERROR_PARSE, node, "muscle: %s", wrong);
}

static bool check_muscles(tbMjcf* p, const tbElement* node, const tbFlatActuator* a) {
  return (a->gaintype != TB_GAIN_MUSCLE || check_muscle(p, node, a->gainprm)) &&
         (a->biastype != TB_BIAS_MUSCLE || check_muscle(p, node, a->biasprm));
}

// With autolimits off, a range needs an explicit flag that tells whether it is a limit.
static bool check_ranges(tbMjcf* p, const tbElement* node, const tbFlatActuator* a) {
  return tb_mjcf_check_limit(p, node, "forcerange", a->forcelimited, a->forcerange) &&
         (a->inheritrange > 0 ||
          (tb_mjcf_check_limit(p, node, "ctrlrange", a->ctrllimited, a->ctrlrange) &&
           tb_mjcf_check_limit(p, node, "actrange", a->actlimited, a->actrange)));
}

// Types that call user code in MuJoCo; here they have no effect.
static void note_user_types(tbMjcf* p, const tbElement* node, const tbFlatActuator* a) {
  const struct {
    const char* name;
    bool user;
    const char* callback;
  } TYPES[] = {
      {"dyntype", a->dyntype == TB_DYN_USER,
       "act_dyn of the user; without it the activation stays as it is"},
      {"gaintype", a->gaintype == TB_GAIN_USER, "act_gain of the user; without it the gain is one"},
      {"biastype", a->biastype == TB_BIAS_USER,
       "act_bias of the user; without it the bias is zero"}};
  for (int i = 0; i < 3; i++) {
    if (!TYPES[i].user) continue;
    tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "%s 'user' of an actuator is the callback %s", TYPES[i].name, TYPES[i].callback);
  }
}

bool tb_mjcf_actuator(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    int id;
    if (!tb_mjcf_class(p, node, "class", 0, &id)) return false;
    tbFlatActuator* actuator = tb_flat_add_actuator(p->spec);
    if (!actuator) return tb_mjcf_no_memory(p);
    *actuator = p->classes[id]->actuator;
    if (!tb_mjcf_common(p, node, (tbFlatElement*)actuator) ||
        !tb_mjcf_one_actuator(p, node, actuator, false) || !check_ranges(p, node, actuator) ||
        !check_muscles(p, node, actuator)) {
      return false;
    }
    note_user_types(p, node, actuator);
  }
  return true;
}
