#include "io/spec/schema.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/spec/value.h"
#include "io/spec_elements.h"
#include "model/equality_kinds.h"
#include "model/sensor_kinds.h"
#include "model/transmission_kinds.h"

const tbTag tb_schema_root = {"",     "mujoco", "mujoco", tb_flat_table_none, tb_flat_table_none,
                              "model"};
const tbTag tb_schema_any = {"any", "", "any", tb_flat_table_none, tb_flat_table_none, "any"};

#define TAG(parent, tag, inside, list, others, names, what) \
  {parent, tag, inside, tb_flat_table_##list, tb_flat_table_##others, names},
#define EQUALITY(TYPE, word, ENDS, function) \
  {"equality", word, "", tb_flat_table_equality, tb_flat_table_none, TB_SPEC_ENDS_##ENDS},
#define SENSOR(TYPE, word, dim, TARGET, STAGE, CLAMP, NEEDS, REQUIRES, function) \
  {"sensor",                                                                     \
   word,                                                                         \
   "",                                                                           \
   tb_flat_table_sensor,                                                         \
   tb_flat_table_target,                                                         \
   TB_SPEC_SENSOR_NAMES TB_SPEC_TARGET_##TARGET},
static const tbTag TAGS[] = {TB_SPEC_ELEMENTS(TAG) TB_EQUALITIES(EQUALITY) TB_SENSORS(SENSOR)};
enum { NTAGS = sizeof TAGS / sizeof TAGS[0] };

const tbTag* tb_schema_tag(const tbTag* parent, const char* tag) {
  if (strcmp(parent->inside, "any") == 0) return &tb_schema_any;
  for (int i = 0; i < NTAGS; i++) {
    const tbTag* kind = &TAGS[i];
    if (strcmp(kind->parent, parent->inside) == 0 && strcmp(kind->tag, tag) == 0) return kind;
  }
  return NULL;
}

// Whether a word is in a list of words separated by spaces.
static bool has_word(const char* words, const char* word) {
  size_t n = strlen(word);
  for (const char* at = words; (at = strstr(at, word)) && n; at += n) {
    if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
  }
  return false;
}

static const tbFlatField* find_field(tbFlatTable table, const char* name) {
  for (int i = 0; i < table.nfield; i++) {
    if (strcmp(table.field[i].name, name) == 0) return table.field + i;
  }
  return NULL;
}

// Whether an attribute names an object of an extension's transmission, which is no field. Every
// actuator with a joint takes them.
static bool names_transmission(const tbTag* kind, const char* attribute) {
  if (kind->list().field != tb_flat_table_actuator().field) return false;
  for (int i = 0; i < TB_NTRNTYPES && has_word(kind->names, "joint"); i++) {
    const tbTransmissionKind* t = &tb_transmission_kinds[i];
    if (strcmp(t->word, attribute) == 0) return true;
    if (t->second_word && strcmp(t->second_word, attribute) == 0) return true;
  }
  return false;
}

const tbFlatField* tb_schema_field(const tbTag* kind, const char* attribute, bool* known) {
  bool named = has_word(kind->names, attribute);
  const tbFlatField* field = find_field(kind->list(), attribute);
  const tbFlatField* other = find_field(kind->others(), attribute);
  *known = true;
  if (field && (named || has_word(kind->names, "*"))) return field;
  if (other && (named || has_word(kind->names, "+"))) return other;
  *known = (named && !strpbrk(attribute, "*+")) || has_word(kind->names, "any") ||
           (!field && names_transmission(kind, attribute));
  return NULL;
}

static void offer_fields(const char* name, tbFlatTable table, const char** best, int* distance) {
  for (int i = 0; i < table.nfield; i++) tb_nearest(name, table.field[i].name, best, distance);
}

static tbResult unknown_attribute(const tbElement* e, const char* name, tbError* error) {
  if (strcmp(e->kind->parent, "default") == 0 && has_word("name class", name)) {
    return tb_element_fail(error, TB_ERROR_PARSE, e, "a default has no name and no class");
  }
  const char* best = NULL;
  int distance = INT_MAX;
  char word[64];
  for (const char* at = e->kind->names; *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    at += n;
    const tbFlatField* field = find_field(e->kind->list(), word);
    if (!field) field = find_field(e->kind->others(), word);
    if (strcmp(word, "*") == 0) {
      offer_fields(name, e->kind->list(), &best, &distance);
    } else if (strcmp(word, "+") == 0) {
      offer_fields(name, e->kind->others(), &best, &distance);
    } else if (field) {
      tb_nearest(name, field->name, &best, &distance);
    } else {
      static const char* const TEXTS[] = {"name", "class", "model", "childclass"};
      for (int i = 0; i < 4; i++) {
        if (strcmp(TEXTS[i], word) == 0) tb_nearest(name, TEXTS[i], &best, &distance);
      }
    }
  }
  if (!best) {
    return tb_element_fail(error, TB_ERROR_PARSE, e, "takes no attribute, got '%s'", name);
  }
  return tb_element_fail(error, TB_ERROR_PARSE, e, "unknown attribute '%s', did you mean '%s'?",
                         name, best);
}

// The message for an attribute of MuJoCo that Tribo does not have, or NULL.
static const char* unsupported(const char* tag, const char* name, const char* value) {
  static const struct {
    const char *tag, *attribute, *value, *message;
  } LIST[] = {
#define X(tag, attribute, value, message) {tag, attribute, value, message},
      TB_SPEC_UNSUPPORTED(X)
#undef X
  };
  for (size_t i = 0; i < sizeof LIST / sizeof LIST[0]; i++) {
    if (strcmp(LIST[i].tag, tag) != 0 || strcmp(LIST[i].attribute, name) != 0) continue;
    if (!LIST[i].value || strcmp(LIST[i].value, value) == 0) return LIST[i].message;
  }
  return NULL;
}

tbResult tb_schema_check_attribute(const tbElement* e, const char* name, const char* value,
                                   tbError* error) {
  if (strchr(name, ':')) return TB_OK;
  const char* message = unsupported(e->tag, name, value);
  if (message) return tb_element_fail(error, TB_ERROR_UNSUPPORTED, e, "%s", message);
  bool known;
  const tbFlatField* field = tb_schema_field(e->kind, name, &known);
  if (!known) return unknown_attribute(e, name, error);
  tbWhy why;
  if (!field || tb_value_check(field, value, &why)) return TB_OK;
  return tb_element_fail(error, TB_ERROR_PARSE, e, "%s", why.text);
}

static tbResult unknown_element(const tbElement* e, tbError* error) {
  const char* colon = strchr(e->tag, ':');
  if (colon) {
    return tb_element_fail(error, TB_ERROR_PARSE, e,
                           "elements with the prefix '%.*s:' are not known", (int)(colon - e->tag),
                           e->tag);
  }
  if (has_word(TB_SPEC_UNSUPPORTED_ELEMENTS, e->tag)) {
    return tb_element_fail(error, TB_ERROR_UNSUPPORTED, e, "is not supported");
  }
  const char* best = NULL;
  int distance = INT_MAX;
  const char* inside = e->parent->kind->inside;
  for (int i = 0; i < NTAGS; i++) {
    const tbTag* kind = &TAGS[i];
    if (strcmp(kind->parent, inside) == 0) tb_nearest(e->tag, kind->tag, &best, &distance);
  }
  const char* parent = e->parent->tag;
  if (!best) return tb_element_fail(error, TB_ERROR_PARSE, e, "not allowed in <%s>", parent);
  return tb_element_fail(error, TB_ERROR_PARSE, e, "not known in <%s>, did you mean <%s>?", parent,
                         best);
}

static tbResult check_one(tbElement* e, tbError* error) {
  if (!e->parent && !tb_element_is(e, "mujoco")) {
    return tb_element_fail(error, TB_ERROR_PARSE, e, "the root element of MJCF is <mujoco>");
  }
  e->kind = e->parent ? tb_schema_tag(e->parent->kind, e->tag) : &tb_schema_root;
  if (!e->kind) return unknown_element(e, error);
  for (const tbAttribute* a = e->attribute; a; a = a->next) {
    tbResult result = tb_schema_check_attribute(e, a->name, a->value, error);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}

tbResult tb_schema_check(tbElement* element, tbError* error) {
  tbResult result = TB_OK;
  for (tbElement* e = element; e && result == TB_OK; e = tb_element_step(element, e, NULL)) {
    result = check_one(e, error);
  }
  return result;
}
