// The compiler, option, size and statistic sections.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/spec_elements.h"

static bool compiler_children(tbMjcf* p, const tbElement* section, tbFlatCompiler* compiler) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    if (!tb_mjcf_fields(p, node, tb_flat_table_lengthrange(), &compiler->lengthrange, NULL)) {
      return false;
    }
  }
  return true;
}

static bool read_compiler(tbMjcf* p, const tbElement* section) {
  tbFlatCompiler* compiler = p->spec->compiler;
  uint64_t own;
  if (!tb_mjcf_fields(p, section, tb_flat_table_compiler(), compiler, &own)) return false;
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

// Flags of the file and their bits in the options.
typedef struct {
  const char* name;
  int disable;  // bits set when the flag is disabled
  int enable;   // bits set when it is enabled; TB_FLAG_REJECTED: enabling is an error
  bool unused;  // the bits have no effect in Tribo
} Flag;

static const Flag FLAGS[] = {
#define X(name, disable, enable, unused) {#name, disable, enable, unused},
    TB_SPEC_FLAGS(X)
#undef X
};
enum { NFLAGS = sizeof FLAGS / sizeof FLAGS[0] };

static bool read_flag(tbMjcf* p, const tbElement* node) {
  tbOption* option = &p->spec->option;
  for (int i = 0; i < NFLAGS; i++) {
    int value = 0, count;
    if (!tb_mjcf_word(p, node, FLAGS[i].name, tb_flat_words_enable, &value, &count)) return false;
    if (!count) continue;
    if (FLAGS[i].enable == TB_FLAG_REJECTED) {
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

// Reads an option by MuJoCo's name, or one of Tribo's own, which the table has as texts.
static bool read_option_field(tbMjcf* p, const tbElement* node, const tbFlatField* field) {
  char* member = (char*)&p->spec->option + field->offset;
  int count;
  tbError error;
  const char* text = tb_element_get(node, field->name);
  if (!text) return true;
  switch (field->kind) {
    case TB_FIELD_REAL:
      return tb_mjcf_numbers(p, node, field->name, field->least, field->most,
                             (tbReal*)(void*)member, &count);
    case TB_FIELD_INT: return tb_mjcf_integer(p, node, field->name, (int*)(void*)member, &count);
    case TB_FIELD_ENUM:
      if (field->words == tb_flat_words_collision) return true;
      return tb_mjcf_word(p, node, field->name, field->words, (int*)(void*)member, &count);
    case TB_FIELD_SKIP:
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "attribute '%s' of <option> is not used", field->name);
      return true;
    case TB_FIELD_TEXT:
      if (!*text) break;
      // MuJoCo's option "solver" is another one.
      if (tb_option_set(&p->spec->option,
                        strcmp(field->name, "law_solver") == 0 ? "solver" : field->name, text,
                        &error) == TB_OK) {
        return true;
      }
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s", error.message);
    default: return true;
  }
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s' is missing", field->name);
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

static bool read_option(tbMjcf* p, const tbElement* section) {
  tbFlatTable table = tb_flat_table_option();
  for (int i = 0; i < table.nfield; i++) {
    const tbFlatField* field = &table.field[i];
    // MuJoCo's names come first; an own option of the same name is the same option.
    int first = 0;
    while (strcmp(table.field[first].name, field->name) != 0) first++;
    if (first < i) continue;
    note_unused_option(p, section, field->name);
    if (!read_option_field(p, section, field)) return false;
  }
  // In older files: the kinds of collision pairs that are used.
  int collision = 0, count;
  if (!tb_mjcf_word(p, section, "collision", tb_flat_words_collision, &collision, &count))
    return false;
  if (count) p->only_pairs = collision == 1, p->no_pairs = collision == 2;
  if (!disable_groups(p, section)) return false;
  const tbOption* option = &p->spec->option;
  if (!(option->timestep > 0)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, section, "timestep must be positive");
  }
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    if (!read_flag(p, node)) return false;
  }
  return true;
}

static bool read_size(tbMjcf* p, const tbElement* section) {
  tbFlatSize* size = &p->spec->size;
  if (!tb_mjcf_fields(p, section, tb_flat_table_size(), size, NULL)) return false;
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
  if (!tb_mjcf_fields(p, section, tb_flat_table_statistic(), statistic, NULL)) return false;
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
