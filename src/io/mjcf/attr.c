// Attributes of MJCF elements: numbers, words and text, and the messages for invalid ones.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "io/mjcf/mjcf.h"

enum { MAX_EXTRA = 64 };

bool tb_mjcf_has(const tbElement* node, const char* name) {
  return tb_element_get(node, name) != NULL;
}

const char* tb_mjcf_text(tbMjcf* p, const tbElement* node, const char* name) {
  (void)p;
  return tb_element_get(node, name);
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
  *value = tb_mjcf_text(p, node, name);
  if (*value && **value) return true;
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s' is missing", name);
}

static const char SPACE[] = " \t\n\r";

// Infinity means "no bound" in ranges; in other attributes it is an error.
static bool may_be_infinite(const char* name) {
  size_t n = strlen(name);
  return n >= 5 && strcmp(name + n - 5, "range") == 0;
}

// Infinity in the spellings found in files: "inf", "-inf", "+infinity", in any case.
static bool read_infinity(const char* at, const char* end, tbReal* value) {
  static const char WORD[] = "infinity";
  *value = *at == '-' ? -INFINITY : INFINITY;
  if (*at == '-' || *at == '+') at++;
  size_t n = (size_t)(end - at);
  for (size_t i = 0; i < n && i < sizeof WORD - 1; i++) {
    if ((at[i] | 0x20) != WORD[i]) return false;
  }
  return n == 3 || n == sizeof WORD - 1;
}

// The next number of a list separated by spaces. 1: found, 0: end, -1: not a number.
static int next_number(const char** at, const char* name, tbReal* value) {
  const char* s = *at += strspn(*at, SPACE);
  if (!*s) return 0;
  const char* end = s + strcspn(s, SPACE);
  bool ok = tb_parse_real(s, end, value) == end ||
            (may_be_infinite(name) && read_infinity(s, end, value));
  if (!ok) return -1;
  *at = end;
  return 1;
}

// Reports the first invalid item of a list of numbers, quoted up to the next space.
static bool not_a_number(tbMjcf* p, const tbElement* node, const char* name, const char* at) {
  int length = (int)strcspn(at, SPACE);
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s': '%.*s' is not a finite number",
                      name, length < 40 ? length : 40, at);
}

static bool parse_numbers(tbMjcf* p, const tbElement* node, const char* name, const char* text,
                          int least, int most, tbReal* values, int* count) {
  const char* at = text;
  int n = 0, got;
  tbReal value;
  while ((got = next_number(&at, name, &value)) > 0) {
    if (n < most) values[n] = value;
    n++;
  }
  if (got < 0) return not_a_number(p, node, name, at);
  // As in MuJoCo, an empty attribute counts as absent.
  if (n > 0 && (n < least || n > most)) {
    char expected[32];
    if (least == most) {
      snprintf(expected, sizeof expected, "%d", most);
    } else {
      snprintf(expected, sizeof expected, "%d to %d", least, most);
    }
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s': expected %s number%s, got %d",
                        name, expected, most > 1 ? "s" : "", n);
  }
  *count = n;
  return true;
}

bool tb_mjcf_numbers(tbMjcf* p, const tbElement* node, const char* name, int least, int most,
                     tbReal* values, int* count) {
  *count = 0;
  const char* text = tb_element_get(node, name);
  if (!text) return true;
  return parse_numbers(p, node, name, text, least, most, values, count);
}

// Converts to an integer that an int can hold.
static bool to_int(tbMjcf* p, const tbElement* node, const char* name, tbReal value, int* result) {
  if (value != floor(value) || value < -2147483648.0 || value > 4294967295.0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s': %g is not a whole number", name,
                        value);
  }
  // Bit masks such as contype may use all 32 bits.
  *result = value > 2147483647.0 ? (int)(value - 4294967296.0) : (int)value;
  return true;
}

bool tb_mjcf_integer(tbMjcf* p, const tbElement* node, const char* name, int* value, int* count) {
  tbReal number;
  if (!tb_mjcf_numbers(p, node, name, 1, 1, &number, count)) return false;
  return *count == 0 || to_int(p, node, name, number, value);
}

static void nearest(const char* name, const char* candidate, const char** best, int* distance) {
  int d = tb_edit_distance(name, candidate);
  if (d < *distance) {
    *distance = d;
    *best = candidate;
  }
}

static bool parse_word(tbMjcf* p, const tbElement* node, const char* name, const char* text,
                       const tbFlatWord* words, int* value) {
  char known[160] = "";
  size_t used = 0;
  const char* best = NULL;
  int distance = INT_MAX;
  for (const tbFlatWord* word = words; word->word; word++) {
    if (strcmp(word->word, text) == 0) {
      *value = word->value;
      return true;
    }
    nearest(text, word->word, &best, &distance);
    if (used < sizeof known) {
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", word == words ? "" : ", ",
                               word->word);
    }
  }
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                      "attribute '%s': '%.40s' is none of: %s; did you mean '%s'?", name, text,
                      known, best);
}

bool tb_mjcf_word(tbMjcf* p, const tbElement* node, const char* name, const tbFlatWord* words,
                  int* value, int* count) {
  *count = 0;
  const char* text = tb_element_get(node, name);
  if (!text) return true;
  *count = 1;
  return parse_word(p, node, name, text, words, value);
}

// A list of any number of values, allocated in the spec's arena.
static bool parse_list(tbMjcf* p, const tbElement* node, const char* name, const char* text,
                       tbFlatList* list) {
  int n = 0, got;
  tbReal value;
  const char* at = text;
  while ((got = next_number(&at, name, &value)) > 0) n++;
  if (got < 0) return not_a_number(p, node, name, at);
  list->n = n;
  list->v = TB_ARENA_NEW(&p->spec->arena, tbReal, n + 1);
  if (!list->v) return tb_mjcf_no_memory(p);
  at = text;
  for (int i = 0; i < n; i++) next_number(&at, name, &list->v[i]);
  return true;
}

static bool read_field(tbMjcf* p, const tbElement* node, const tbFlatField* field, const char* text,
                       void* element) {
  void* member = (char*)element + field->offset;
  tbReal numbers[10];
  int count;
  switch (field->kind) {
    case TB_FIELD_REAL:
      if (!parse_numbers(p, node, field->name, text, field->least, field->most, numbers, &count)) {
        return false;
      }
      memcpy(member, numbers, sizeof(tbReal) * (size_t)count);
      return true;
    case TB_FIELD_INT:
      if (!parse_numbers(p, node, field->name, text, field->least, field->most, numbers, &count)) {
        return false;
      }
      for (int i = 0; i < count; i++) {
        if (!to_int(p, node, field->name, numbers[i], (int*)member + i)) return false;
      }
      return true;
    case TB_FIELD_ENUM: return parse_word(p, node, field->name, text, field->words, (int*)member);
    case TB_FIELD_TEXT: {
      const char* copy = tb_flat_text(p->spec, text);
      memcpy(member, &copy, sizeof copy);
      return copy || tb_mjcf_no_memory(p);
    }
    case TB_FIELD_LIST: return parse_list(p, node, field->name, text, (tbFlatList*)member);
    case TB_FIELD_SKIP:
      if (field->words && !parse_word(p, node, field->name, text, field->words, &count)) {
        return false;
      }
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "attribute '%s' of <%s> is not used", field->name, node->tag);
      return true;
  }
  return true;
}

static bool listed(const char* const* names, const char* name) {
  for (; names && *names; names++) {
    if (strcmp(*names, name) == 0) return true;
  }
  return false;
}

static bool unknown_attribute(tbMjcf* p, const tbElement* node, const char* name, tbFlatTable table,
                              const char* const* extra) {
  const char* best = NULL;
  int distance = INT_MAX;
  for (int i = 0; i < table.nfield; i++) nearest(name, table.field[i].name, &best, &distance);
  for (; extra && *extra; extra++) nearest(name, *extra, &best, &distance);
  if (!best) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "takes no attribute, got '%s'", name);
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "unknown attribute '%s', did you mean '%s'?", name,
                      best);
}

// Attributes with a namespace (xsi:..., xml:...) are not part of MJCF.
static bool is_foreign(tbMjcf* p, const tbElement* node, const tbAttribute* attr) {
  if (!strchr(attr->name, ':')) return false;
  tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node), "attribute '%s' is not used",
               attr->name);
  return true;
}

bool tb_mjcf_fields(tbMjcf* p, const tbElement* node, tbFlatTable table, void* element,
                    const char* const* extra, uint64_t* own) {
  uint64_t seen = 0;
  for (const tbAttribute* attr = node->attribute; attr; attr = attr->next) {
    const char* name = attr->name;
    if (is_foreign(p, node, attr) || listed(extra, name)) continue;
    int i = 0;
    while (i < table.nfield && strcmp(table.field[i].name, name) != 0) i++;
    if (i == table.nfield) return unknown_attribute(p, node, name, table, extra);
    if (!read_field(p, node, &table.field[i], attr->value, element)) return false;
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
  element->name = tb_mjcf_text(p, node, "name");
  return true;
}

bool tb_mjcf_only(tbMjcf* p, const tbElement* node, const char* const* known) {
  tbFlatTable none = {NULL, 0};
  for (const tbAttribute* attr = node->attribute; attr; attr = attr->next) {
    if (is_foreign(p, node, attr)) continue;
    if (!listed(known, attr->name)) {
      return unknown_attribute(p, node, attr->name, none, known);
    }
  }
  return true;
}

// Reports elements that Tribo does not support as an error. True if `node` is none of these.
static bool is_supported(tbMjcf* p, const tbElement* node) {
  static const char* const MISSING[] = {
      "composite", "flexcomp",   "flex", "plugin",  "extension",  "skin",        "bone",
      "flexvert",  "flexstrain", "pid",  "dcmotor", "deformable", "orientation", NULL};
  const char* colon = strchr(node->tag, ':');
  if (colon) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "elements with the prefix '%.*s:' are not known",
                        (int)(colon - node->tag), node->tag);
  }
  if (!listed(MISSING, node->tag)) return true;
  return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "is not supported");
}

bool tb_mjcf_unknown_element(tbMjcf* p, const tbElement* node, const char* const* known) {
  if (!is_supported(p, node)) return false;
  const char* name = node->tag;
  const char* best = NULL;
  int distance = INT_MAX;
  for (; known && *known; known++) nearest(name, *known, &best, &distance);
  const char* parent = node->parent ? node->parent->tag : "?";
  if (!best) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "not allowed in <%s>", parent);
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "not known in <%s>, did you mean <%s>?", parent,
                      best);
}
