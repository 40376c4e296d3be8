// Attributes of MJCF elements, by the tables of fields.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/mjcf/mjcf.h"
#include "io/spec/value.h"

bool tb_mjcf_has(const tbElement* node, const char* name) {
  return tb_element_get(node, name) != NULL;
}

bool tb_mjcf_fail(tbMjcf* p, tbResult code, const tbElement* node, const char* format, ...) {
  va_list args;
  va_start(args, format);
  tb_element_vfail(p->error, code, node, format, args);
  va_end(args);
  return false;
}

bool tb_mjcf_no_memory(tbMjcf* p) {
  tb_fail(p->error, TB_ERROR_MEMORY, "out of memory while reading '%s'", p->path);
  return false;
}

bool tb_mjcf_required(tbMjcf* p, const tbElement* node, const char* name, const char** value) {
  *value = tb_element_get(node, name);
  if (*value && **value) return true;
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s' is missing", name);
}

static bool invalid(tbMjcf* p, const tbElement* node, const tbWhy* why) {
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s", why->text);
}

bool tb_mjcf_numbers(tbMjcf* p, const tbElement* node, const char* name, int least, int most,
                     tbReal* values, int* count) {
  tbWhy why;
  *count = 0;
  const char* text = tb_element_get(node, name);
  return !text || tb_value_reals(name, text, least, most, values, count, &why) ||
         invalid(p, node, &why);
}

bool tb_mjcf_integer(tbMjcf* p, const tbElement* node, const char* name, int* value, int* count) {
  tbWhy why;
  *count = 0;
  const char* text = tb_element_get(node, name);
  return !text || tb_value_ints(name, text, 1, 1, value, count, &why) || invalid(p, node, &why);
}

bool tb_mjcf_word(tbMjcf* p, const tbElement* node, const char* name, const tbFlatWord* words,
                  int* value, int* count) {
  tbWhy why;
  const char* text = tb_element_get(node, name);
  *count = text != NULL;
  return !text || tb_value_word(name, text, words, value, &why) || invalid(p, node, &why);
}

// A list of any number of values, allocated in the spec's arena.
static bool read_list(tbMjcf* p, const tbElement* node, const char* name, const char* text,
                      tbFlatList* list) {
  tbWhy why;
  list->n = tb_value_list(name, text, NULL, 0, &why);
  if (list->n < 0) return invalid(p, node, &why);
  list->v = TB_ARENA_NEW(&p->spec->arena, tbReal, list->n + 1);
  if (!list->v) return tb_mjcf_no_memory(p);
  tb_value_list(name, text, list->v, list->n, &why);
  return true;
}

static bool read_field(tbMjcf* p, const tbElement* node, const tbFlatField* field, const char* text,
                       void* element) {
  void* member = (char*)element + field->offset;
  const char* name = field->name;
  int count;
  tbWhy why;
  switch (field->kind) {
    case TB_FIELD_REAL:
      return tb_value_reals(name, text, field->least, field->most, member, &count, &why) ||
             invalid(p, node, &why);
    case TB_FIELD_INT:
      return tb_value_ints(name, text, field->least, field->most, member, &count, &why) ||
             invalid(p, node, &why);
    case TB_FIELD_ENUM:
      return tb_value_word(name, text, field->words, member, &why) || invalid(p, node, &why);
    case TB_FIELD_TEXT: memcpy(member, &text, sizeof text); return true;
    case TB_FIELD_LIST: return read_list(p, node, name, text, (tbFlatList*)member);
    case TB_FIELD_SKIP:
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "attribute '%s' of <%s> is not used", name, node->tag);
      return true;
  }
  return true;
}

bool tb_mjcf_fields(tbMjcf* p, const tbElement* node, tbFlatTable table, void* element,
                    uint64_t* own) {
  uint64_t seen = 0;
  for (const tbAttribute* a = node->attribute; a; a = a->next) {
    int i = 0;
    while (i < table.nfield && strcmp(table.field[i].name, a->name) != 0) i++;
    if (i == table.nfield) continue;
    if (!read_field(p, node, &table.field[i], a->value, element)) return false;
    seen |= (uint64_t)1 << i;
  }
  ((tbFlatElement*)element)->given |= seen;
  if (own) *own = seen;
  return true;
}

bool tb_mjcf_common(tbMjcf* p, const tbElement* node, tbFlatElement* element) {
  element->source = tb_mjcf_file(node);
  element->line = tb_mjcf_line(node);
  element->compiler = p->spec->compiler;
  element->name = tb_element_get(node, "name");
  return true;
}
