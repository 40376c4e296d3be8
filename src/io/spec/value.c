#include "io/spec/value.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

static const char SPACE[] = " \t\n\r";

static bool invalid(tbWhy* why, const char* format, ...) __attribute__((format(printf, 2, 3)));
static bool invalid(tbWhy* why, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why->text, sizeof why->text, format, args);
  va_end(args);
  return false;
}

// Infinity means "no bound" in ranges; in other attributes it is an error.
static bool may_be_infinite(const char* name) {
  return tb_ends_with(name, "range");
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

int tb_value_list(const char* name, const char* text, tbReal* values, int most, tbWhy* why) {
  const char* at = text;
  int n = 0, got;
  tbReal value;
  while ((got = next_number(&at, name, &value)) > 0) {
    if (values && n < most) values[n] = value;
    n++;
  }
  if (got == 0) return n;
  // The first invalid item, quoted up to the next space.
  int length = (int)strcspn(at, SPACE);
  invalid(why, "attribute '%s': '%.*s' is not a finite number", name, length < 40 ? length : 40,
          at);
  return -1;
}

bool tb_value_reals(const char* name, const char* text, int least, int most, tbReal* values,
                    int* count, tbWhy* why) {
  int n = tb_value_list(name, text, values, most, why);
  if (n < 0) return false;
  *count = n;
  if (n == 0 || (n >= least && n <= most)) return true;
  char expected[32];
  if (least == most) {
    snprintf(expected, sizeof expected, "%d", most);
  } else {
    snprintf(expected, sizeof expected, "%d to %d", least, most);
  }
  return invalid(why, "attribute '%s': expected %s number%s, got %d", name, expected,
                 most > 1 ? "s" : "", n);
}

bool tb_value_ints(const char* name, const char* text, int least, int most, int* values, int* count,
                   tbWhy* why) {
  tbReal numbers[TB_FLAT_MOST];
  if (!tb_value_reals(name, text, least, most, numbers, count, why)) return false;
  for (int i = 0; i < *count; i++) {
    tbReal value = numbers[i];
    if (value != floor(value) || value < -2147483648.0 || value > 4294967295.0) {
      return invalid(why, "attribute '%s': %g is not a whole number", name, value);
    }
    // Bit masks such as contype may use all 32 bits.
    values[i] = value > 2147483647.0 ? (int)(value - 4294967296.0) : (int)value;
  }
  return true;
}

void tb_nearest(const char* word, const char* candidate, const char** best, int* distance) {
  int d = tb_edit_distance(word, candidate);
  if (d < *distance) {
    *distance = d;
    *best = candidate;
  }
}

bool tb_value_word(const char* name, const char* text, const tbFlatWord* words, int* value,
                   tbWhy* why) {
  char known[160] = "";
  size_t used = 0;
  const char* best = NULL;
  int distance = INT_MAX;
  for (const tbFlatWord* word = words; word->word; word++) {
    if (strcmp(word->word, text) == 0) {
      *value = word->value;
      return true;
    }
    tb_nearest(text, word->word, &best, &distance);
    if (used < sizeof known) {
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", word == words ? "" : ", ",
                               word->word);
    }
  }
  return invalid(why, "attribute '%s': '%.40s' is none of: %s; did you mean '%s'?", name, text,
                 known, best);
}

bool tb_value_check(const tbFlatField* field, const char* text, tbWhy* why) {
  tbReal numbers[TB_FLAT_MOST];
  int whole[TB_FLAT_MOST], count;
  switch (field->kind) {
    case TB_FIELD_REAL:
      return tb_value_reals(field->name, text, field->least, field->most, numbers, &count, why);
    case TB_FIELD_INT:
      return tb_value_ints(field->name, text, field->least, field->most, whole, &count, why);
    case TB_FIELD_ENUM: return tb_value_word(field->name, text, field->words, whole, why);
    case TB_FIELD_LIST: return tb_value_list(field->name, text, NULL, 0, why) >= 0;
    case TB_FIELD_SKIP:
      return !field->words || tb_value_word(field->name, text, field->words, whole, why);
    case TB_FIELD_TEXT: return true;
  }
  return true;
}
