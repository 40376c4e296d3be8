// The compiler, option, size and statistic sections.
#include <string.h>

#include "io/mjcf/mjcf.h"

static bool compiler_children(tbMjcf* p, const tbElement* section, tbFlatCompiler* compiler) {
  static const char* const KNOWN[] = {"lengthrange", NULL};
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    if (!tb_mjcf_is(node, "lengthrange")) return tb_mjcf_unknown_element(p, node, KNOWN);
    if (!tb_mjcf_fields(p, node, tb_flat_table_lengthrange(), &compiler->lengthrange, NULL, NULL)) {
      return false;
    }
  }
  return true;
}

static bool read_compiler(tbMjcf* p, const tbElement* section) {
  tbFlatCompiler* compiler = p->spec->compiler;
  uint64_t own;
  if (!tb_mjcf_fields(p, section, tb_flat_table_compiler(), compiler, NULL, &own)) return false;
  if (compiler->eulerseq &&
      (strlen(compiler->eulerseq) != 3 || strspn(compiler->eulerseq, "xyzXYZ") != 3)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, section, "eulerseq needs three letters of xyzXYZ");
  }
  // assetdir sets the other two, unless this element gives them, too.
  if ((own >> TB_BIT_compiler_assetdir) & 1) {
    if (!((own >> TB_BIT_compiler_meshdir) & 1)) compiler->meshdir = compiler->assetdir;
    if (!((own >> TB_BIT_compiler_texturedir) & 1)) compiler->texturedir = compiler->assetdir;
  }
  return compiler_children(p, section, compiler);
}

static const tbFlatWord ENABLE[] = {{"disable", 0}, {"enable", 1}, {NULL, 0}};

// Flags of the file and their bits in the options.
typedef struct {
  const char* name;
  int disable;  // bits set when the flag is disabled
  int enable;   // bits set when it is enabled; REJECTED: enabling is an error
  bool unused;  // the bits have no effect in Tribo
} Flag;

enum { REJECTED = -1 };

static const Flag FLAGS[] = {
    {"constraint", TB_DISABLE_CONSTRAINT, 0, false},
    {"equality", TB_DISABLE_EQUALITY, 0, false},
    {"frictionloss", TB_DISABLE_FRICTIONLOSS, 0, false},
    {"limit", TB_DISABLE_LIMIT, 0, false},
    {"contact", TB_DISABLE_CONTACT, 0, false},
    {"spring", TB_DISABLE_SPRING, 0, false},
    {"damper", TB_DISABLE_DAMPER, 0, false},
    {"passive", TB_DISABLE_SPRING | TB_DISABLE_DAMPER, 0, false},  // older files
    {"gravity", TB_DISABLE_GRAVITY, 0, false},
    {"clampctrl", TB_DISABLE_CLAMPCTRL, 0, false},
    {"warmstart", TB_DISABLE_WARMSTART, 0, false},
    {"filterparent", TB_DISABLE_FILTERPARENT, 0, false},
    {"actuation", TB_DISABLE_ACTUATION, 0, false},
    {"refsafe", TB_DISABLE_REFSAFE, 0, false},
    {"sensor", TB_DISABLE_SENSOR, 0, false},
    {"midphase", TB_DISABLE_MIDPHASE, 0, true},
    {"eulerdamp", TB_DISABLE_EULERDAMP, 0, false},
    {"autoreset", TB_DISABLE_AUTORESET, 0, true},
    {"nativeccd", TB_DISABLE_NATIVECCD, 0, true},
    {"island", TB_DISABLE_ISLAND, 0, true},
    {"override", 0, TB_ENABLE_OVERRIDE, false},
    {"energy", 0, TB_ENABLE_ENERGY, false},
    {"fwdinv", 0, TB_ENABLE_FWDINV, true},
    {"invdiscrete", 0, TB_ENABLE_INVDISCRETE, true},
    {"multiccd", 0, TB_ENABLE_MULTICCD, true},
    {"sleep", 0, TB_ENABLE_SLEEP, true},
    {"diagexact", 0, REJECTED, false},
    {"ipc", 0, REJECTED, false},
    {"sensornoise", 0, 0, true},  // older files
};
enum { NFLAGS = sizeof FLAGS / sizeof FLAGS[0] };

static bool read_flag(tbMjcf* p, const tbElement* node) {
  const char* known[NFLAGS + 1] = {NULL};
  for (int i = 0; i < NFLAGS; i++) known[i] = FLAGS[i].name;
  if (!tb_mjcf_only(p, node, known)) return false;
  tbOption* option = &p->spec->option;
  for (int i = 0; i < NFLAGS; i++) {
    int value = 0, count;
    if (!tb_mjcf_word(p, node, FLAGS[i].name, ENABLE, &value, &count)) return false;
    if (!count) continue;
    if (FLAGS[i].enable == REJECTED) {
      if (!value) continue;
      return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "the flag '%s' is not supported",
                          FLAGS[i].name);
    }
    option->disableflags &= ~FLAGS[i].disable;
    option->enableflags &= ~FLAGS[i].enable;
    if (value) {
      option->enableflags |= FLAGS[i].enable;
    } else {
      option->disableflags |= FLAGS[i].disable;
    }
    bool asked = FLAGS[i].enable ? value : !FLAGS[i].disable || !value;
    if (FLAGS[i].unused && asked) {
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node), "the flag '%s' is not used",
                   FLAGS[i].name);
    }
  }
  return true;
}

// MuJoCo's words, and Tribo's own integrators, as `law` chooses Tribo's own laws.
static const tbFlatWord INTEGRATOR[] = {{"Euler", TB_INTEGRATOR_EULER},
                                        {"RK4", TB_INTEGRATOR_RK4},
                                        {"implicit", TB_INTEGRATOR_IMPLICIT},
                                        {"implicitfast", TB_INTEGRATOR_IMPLICITFAST},
                                        {"expo", TB_INTEGRATOR_EXPO},
                                        {"expo-midpoint", TB_INTEGRATOR_EXPO_MIDPOINT},
                                        {"euler-explicit", TB_INTEGRATOR_EULER_EXPLICIT},
                                        {"euler-implicit", TB_INTEGRATOR_EULER_IMPLICIT},
                                        {NULL, 0}};
static const tbFlatWord CONE[] = {
    {"pyramidal", TB_CONE_PYRAMIDAL}, {"elliptic", TB_CONE_ELLIPTIC}, {NULL, 0}};
static const tbFlatWord JACOBIAN[] = {{"dense", TB_JACOBIAN_DENSE},
                                      {"sparse", TB_JACOBIAN_SPARSE},
                                      {"auto", TB_JACOBIAN_AUTO},
                                      {NULL, 0}};
static const tbFlatWord SOLVER[] = {
    {"PGS", TB_MJSOLVER_PGS}, {"CG", TB_MJSOLVER_CG}, {"Newton", TB_MJSOLVER_NEWTON}, {NULL, 0}};
static const tbFlatWord COLLISION[] = {{"all", 0}, {"predefined", 1}, {"dynamic", 2}, {NULL, 0}};

// An attribute of the option element. `words` makes it an enumeration; `note` marks an attribute
// that is accepted but not used.
typedef struct {
  const char* name;
  size_t offset;
  int least, most;
  bool is_int, note;
  const tbFlatWord* words;
} OptionField;

#define REALS(name, member, least, most) \
  { name, offsetof(tbOption, member), least, most, false, false, NULL }
#define INTEGER(name, member) \
  { name, offsetof(tbOption, member), 1, 1, true, false, NULL }
#define WORD(name, member, words) \
  { name, offsetof(tbOption, member), 1, 1, true, false, words }
static const OptionField OPTIONS[] = {
    REALS("timestep", timestep, 1, 1),
    REALS("impratio", impratio, 1, 1),
    REALS("tolerance", tolerance, 1, 1),
    REALS("ls_tolerance", ls_tolerance, 1, 1),
    REALS("noslip_tolerance", noslip_tolerance, 1, 1),
    REALS("ccd_tolerance", ccd_tolerance, 1, 1),
    REALS("mpr_tolerance", ccd_tolerance, 1, 1),  // older name
    REALS("gravity", gravity, 3, 3),
    REALS("wind", wind, 3, 3),
    REALS("magnetic", magnetic, 3, 3),
    REALS("density", density, 1, 1),
    REALS("viscosity", viscosity, 1, 1),
    REALS("o_margin", o_margin, 1, 1),
    REALS("o_solref", o_solref, 1, 2),
    REALS("o_solimp", o_solimp, 1, 5),
    REALS("o_friction", o_friction, 1, 5),
    WORD("integrator", integrator, INTEGRATOR),
    WORD("cone", cone, CONE),
    WORD("jacobian", jacobian, JACOBIAN),
    WORD("solver", mjsolver, SOLVER),
    INTEGER("iterations", iterations),
    INTEGER("ls_iterations", ls_iterations),
    INTEGER("noslip_iterations", noslip_iterations),
    INTEGER("ccd_iterations", ccd_iterations),
    INTEGER("mpr_iterations", ccd_iterations),  // older name
    INTEGER("sdf_iterations", sdf_iterations),
    INTEGER("sdf_initpoints", sdf_initpoints),
    {"sleep_tolerance", 0, 0, 0, false, true, NULL},
    {"apirate", 0, 0, 0, false, true, NULL},
    {"collision", 0, 0, 0, false, false, NULL},
    {"actuatorgroupdisable", 0, 0, 0, false, false, NULL},
};
enum { NOPTIONS = sizeof OPTIONS / sizeof OPTIONS[0] };

// Notes options that are stored but have no effect in Tribo.
static void note_unused_option(tbMjcf* p, const tbElement* node, const char* name) {
  static const char* const UNUSED[] = {"ls_tolerance",   "ccd_tolerance",  "mpr_tolerance",
                                       "jacobian",       "ls_iterations",  "ccd_iterations",
                                       "mpr_iterations", "sdf_iterations", "sdf_initpoints"};
  for (size_t i = 0; i < sizeof UNUSED / sizeof *UNUSED; i++) {
    if (strcmp(UNUSED[i], name) != 0 || !tb_mjcf_has(node, name)) continue;
    tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "attribute '%s' of <option> is not used", name);
  }
}

static bool read_option_field(tbMjcf* p, const tbElement* node, const OptionField* field) {
  char* member = (char*)&p->spec->option + field->offset;
  int count;
  if (field->note) {
    if (tb_mjcf_has(node, field->name)) {
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "attribute '%s' of <option> is not used", field->name);
    }
    return true;
  }
  if (!field->most) return true;
  if (field->words)
    return tb_mjcf_word(p, node, field->name, field->words, (int*)(void*)member, &count);
  if (field->is_int) return tb_mjcf_integer(p, node, field->name, (int*)(void*)member, &count);
  return tb_mjcf_numbers(p, node, field->name, field->least, field->most, (tbReal*)(void*)member,
                         &count);
}

static bool disable_groups(tbMjcf* p, const tbElement* node) {
  tbReal group[31];
  int count;
  if (!tb_mjcf_numbers(p, node, "actuatorgroupdisable", 1, 31, group, &count)) return false;
  for (int i = 0; i < count; i++) {
    if (group[i] < 0 || group[i] > 30 || group[i] != (int)group[i]) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                          "actuatorgroupdisable needs whole numbers from 0 to 30");
    }
    p->spec->option.disableactuator |= 1 << (int)group[i];
  }
  return true;
}

// Tribo's own options by their names in tbOption, unless MuJoCo has an option of that name.
static const char* const OWN[] = {
#define X(type, name, count, value, allowed, unit, what) #name,
    TB_OPTION_FIELDS(X)
#undef X
};
enum { NOWN = sizeof OWN / sizeof OWN[0] };

static bool read_own_option(tbMjcf* p, const tbElement* section, const char* name) {
  for (int i = 0; i < NOPTIONS; i++) {
    if (strcmp(OPTIONS[i].name, name) == 0) return true;
  }
  if (!tb_mjcf_has(section, name)) return true;
  const char* value;
  tbError error;
  if (!tb_mjcf_required(p, section, name, &value)) return false;
  if (tb_option_set(&p->spec->option, name, value, &error) == TB_OK) return true;
  return tb_mjcf_fail(p, TB_ERROR_PARSE, section, "%s", error.message);
}

static bool read_option(tbMjcf* p, const tbElement* section) {
  static const char* const KNOWN[] = {"flag", NULL};
  const char* known[NOPTIONS + NOWN + 1] = {NULL};
  for (int i = 0; i < NOPTIONS; i++) known[i] = OPTIONS[i].name;
  for (int i = 0; i < NOWN; i++) known[NOPTIONS + i] = OWN[i];
  if (!tb_mjcf_only(p, section, known)) return false;
  for (int i = 0; i < NOWN; i++) {
    if (!read_own_option(p, section, OWN[i])) return false;
  }
  const char* integrator = tb_mjcf_text(p, section, "integrator");
  if (integrator && strcmp(integrator, "discrete") == 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, section,
                        "the integrator 'discrete' is not supported");
  }
  for (int i = 0; i < NOPTIONS; i++) {
    note_unused_option(p, section, OPTIONS[i].name);
    if (!read_option_field(p, section, &OPTIONS[i])) return false;
  }
  // In older files: the kinds of collision pairs that are used.
  int collision = 0, count;
  if (!tb_mjcf_word(p, section, "collision", COLLISION, &collision, &count)) return false;
  if (count) p->only_pairs = collision == 1, p->no_pairs = collision == 2;
  if (!disable_groups(p, section)) return false;
  const tbOption* option = &p->spec->option;
  if (!(option->timestep > 0)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, section, "timestep must be positive");
  }
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    if (!tb_mjcf_is(node, "flag")) return tb_mjcf_unknown_element(p, node, KNOWN);
    if (!read_flag(p, node)) return false;
  }
  return true;
}

static bool read_size(tbMjcf* p, const tbElement* section) {
  tbFlatSize* size = &p->spec->size;
  if (!tb_mjcf_fields(p, section, tb_flat_table_size(), size, NULL, NULL)) return false;
  const int values[] = {size->nuserdata,    size->nkey,           size->nuser_body,
                        size->nuser_jnt,    size->nuser_geom,     size->nuser_site,
                        size->nuser_tendon, size->nuser_actuator, size->nuser_sensor};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    if (values[i] < -1 || values[i] > 1 << 24) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, section, "a size is below -1 or beyond %d", 1 << 24);
    }
  }
  if (size->nuserdata < 0) size->nuserdata = 0;
  return true;
}

static bool read_statistic(tbMjcf* p, const tbElement* section) {
  tbFlatStatistic* statistic = &p->spec->statistic;
  if (!tb_mjcf_fields(p, section, tb_flat_table_statistic(), statistic, NULL, NULL)) return false;
  if (TB_GIVEN(statistic, statistic, extent) && !(statistic->extent > 0)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, section, "extent must be positive");
  }
  return true;
}

bool tb_mjcf_settings(tbMjcf* p, const tbElement* root) {
  for (const tbElement* node = tb_mjcf_first(root); node; node = tb_mjcf_next(node)) {
    bool good = true;
    if (tb_mjcf_is(node, "compiler")) good = read_compiler(p, node);
    if (tb_mjcf_is(node, "option")) good = read_option(p, node);
    if (tb_mjcf_is(node, "size")) good = read_size(p, node);
    if (tb_mjcf_is(node, "statistic")) good = read_statistic(p, node);
    if (!good) return false;
  }
  return true;
}
