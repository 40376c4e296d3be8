// The attributes of an element as a struct.
#include <string.h>

#include "base/error.h"
#include "io/flat_tables.h"
#include "io/spec/schema.h"
#include "io/spec/value.h"
#include "io/spec/write_field.h"

// A struct of the flat spec has the same members after its common part.
enum { COMMON = sizeof(tbFlatElement) };
_Static_assert(offsetof(tbFlatGeom, user) == offsetof(tbSpecGeom, user) + COMMON, "layout");
_Static_assert(offsetof(tbFlatActuator, user) == offsetof(tbSpecActuator, user) + COMMON, "layout");
_Static_assert(offsetof(tbFlatKey, ctrl) == offsetof(tbSpecKey, ctrl) + COMMON, "layout");

static char* member_of(const tbFlatField* field, void* values) {
  return (char*)values + (field->offset - COMMON);
}

static tbResult check_kind(const tbElement* e, const void* values, tbFlatTable table,
                           tbError* error) {
  tb_error_clear(error);
  if (!e || !e->spec) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "element is %s", e ? "a deleted element" : "NULL");
  }
  if (!values) return tb_element_fail(error, TB_ERROR_ARGUMENT, e, "values is NULL");
  if (e->kind->list().field == table.field) return TB_OK;
  return tb_element_fail(error, TB_ERROR_ARGUMENT, e, "values is the struct of another element");
}

// Reads one attribute into its member.
static bool read_member(const tbElement* e, const tbFlatField* field, const char* text,
                        void* values, tbWhy* why) {
  void* member = member_of(field, values);
  int count;
  tbSpecList list;
  switch (field->kind) {
    case TB_FIELD_REAL:
      return tb_value_reals(field->name, text, field->least, field->most, member, &count, why);
    case TB_FIELD_INT:
      return tb_value_ints(field->name, text, field->least, field->most, member, &count, why);
    case TB_FIELD_ENUM: return tb_value_word(field->name, text, field->words, member, why);
    case TB_FIELD_TEXT: memcpy(member, &text, sizeof text); return true;
    case TB_FIELD_LIST:
      list.n = tb_value_list(field->name, text, NULL, 0, why);
      if (list.n < 0) return false;
      list.v = TB_ARENA_NEW(&e->spec->arena, tbReal, list.n + 1);
      if (list.v) tb_value_list(field->name, text, list.v, list.n, why);
      memcpy(member, &list, sizeof list);
      return list.v != NULL;
    case TB_FIELD_SKIP: return true;
  }
  return true;
}

static tbResult get(const tbElement* e, tbFlatTable table, void* values, tbError* error) {
  tbWhy why = {"out of memory"};
  for (int i = 0; i < table.nfield; i++) {
    const tbFlatField* field = &table.field[i];
    const char* text = tb_element_get(e, field->name);
    if (!text || read_member(e, field, text, values, &why)) continue;
    return tb_element_fail(error, TB_ERROR_PARSE, e, "%s", why.text);
  }
  return TB_OK;
}

static bool same_text(const char* a, const char* b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

// Whether a member has the same value in both structs.
static bool same(const tbFlatField* field, const void* a, const void* b) {
  const char *s, *t;
  tbSpecList p, q;
  switch (field->kind) {
    case TB_FIELD_TEXT:
      memcpy(&s, a, sizeof s);
      memcpy(&t, b, sizeof t);
      return same_text(s, t);
    case TB_FIELD_LIST:
      memcpy(&p, a, sizeof p);
      memcpy(&q, b, sizeof q);
      return p.n == q.n && (!p.n || memcmp(p.v, q.v, sizeof *p.v * (size_t)p.n) == 0);
    default: return memcmp(a, b, tb_field_size(field)) == 0;
  }
}

// Sets the attributes that differ from `now`: first checks all of them, so that a mistake changes
// nothing.
static tbResult set(tbElement* e, tbFlatTable table, const void* now, const void* values,
                    tbError* error) {
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < table.nfield; i++) {
      const tbFlatField* field = &table.field[i];
      if (field->kind == TB_FIELD_SKIP) continue;
      const void *before = member_of(field, (void*)(uintptr_t)now),
                 *after = member_of(field, (void*)(uintptr_t)values);
      if (same(field, before, after)) continue;
      tbText text = {0};
      bool given = tb_field_text(field, after, &text) && !text.failed;
      tbResult result = text.failed ? tb_fail(error, TB_ERROR_MEMORY, "out of memory")
                        : pass == 0 && given
                            ? tb_schema_check_attribute(e, field->name, text.s, error)
                        : pass == 1 ? tb_spec_set(e, field->name, given ? text.s : NULL, error)
                                    : TB_OK;
      tb_text_free(text.s);
      if (result != TB_OK) return result;
    }
  }
  return TB_OK;
}

#define X(name, list, type) typedef type FLAT_##name;
TB_FLAT_TABLES(X)
#undef X

#define X(id, type)                                                                      \
  type tb_spec_default_##id(void) {                                                      \
    FLAT_##id flat = tb_flat_initial_##id();                                             \
    type values;                                                                         \
    memcpy(&values, (const char*)&flat + COMMON, sizeof values);                         \
    return values;                                                                       \
  }                                                                                      \
  tbResult tb_spec_get_##id(const tbElement* e, type* values, tbError* error) {          \
    tbResult result = check_kind(e, values, tb_flat_table_##id(), error);                \
    if (result != TB_OK) return result;                                                  \
    *values = tb_spec_default_##id();                                                    \
    return get(e, tb_flat_table_##id(), values, error);                                  \
  }                                                                                      \
  tbResult tb_spec_set_##id(tbElement* e, const type* values, tbError* error) {          \
    type now;                                                                            \
    tbResult result = check_kind(e, values, tb_flat_table_##id(), error);                \
    if (result == TB_OK) result = tb_spec_get_##id(e, &now, error);                      \
    return result == TB_OK ? set(e, tb_flat_table_##id(), &now, values, error) : result; \
  }
TB_SPEC_STRUCTS(X)
#undef X
