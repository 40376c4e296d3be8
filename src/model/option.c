// Options by name, with the words that enumerations take.
#include "tribo/option.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

// Initialiser of one field: a plain value, or a parenthesised list for several.
#define UNWRAP(...) \
  { __VA_ARGS__ }
#define INIT_1(value) value
#define INIT_2(value) UNWRAP value
#define INIT_3(value) UNWRAP value
#define INIT_5(value) UNWRAP value

tbOption tbDefaultOption(void) {
  tbOption option = {
#define X(type, name, count, value, unit, what) .name = INIT_##count(value),
      TB_OPTION_FIELDS(X)
#undef X
  };
  return option;
}

typedef struct {
  const char* name;
  size_t offset;
  int count;
  int is_int;
} Field;

static const Field FIELDS[] = {
#define X(type, name, count, value, unit, what) \
  {#name, offsetof(tbOption, name), count, sizeof #type == sizeof "int"},
    TB_OPTION_FIELDS(X)
#undef X
};
enum { NFIELDS = sizeof FIELDS / sizeof FIELDS[0] };

typedef struct {
  const char* option;
  const char* word;
  int value;
} Word;

static const Word WORDS[] = {
    {"integrator", "euler", TB_INTEGRATOR_EULER},
    {"integrator", "rk4", TB_INTEGRATOR_RK4},
    {"integrator", "implicit", TB_INTEGRATOR_IMPLICIT},
    {"integrator", "implicitfast", TB_INTEGRATOR_IMPLICITFAST},
    {"integrator", "expo", TB_INTEGRATOR_EXPO},
    {"integrator", "expo-midpoint", TB_INTEGRATOR_EXPO_MIDPOINT},
    {"integrator", "euler-explicit", TB_INTEGRATOR_EULER_EXPLICIT},
    {"integrator", "euler-implicit", TB_INTEGRATOR_EULER_IMPLICIT},
    {"law", "ncp", 0},
    {"law", "ccp", 1},
    {"law", "lcp", 2},
    {"law", "raisim", 3},
    {"law", "soft", 4},
    {"law", "comfree", 5},
    {"law", "viscoelastic", 6},
    {"solver", "auto", 0},
    {"solver", "pgs", 1},
    {"solver", "admm", 2},
    {"solver", "newton", 3},
    {"solver", "staggered", 4},
    {"solver", "direct", 5},
    {"solver", "bisection", 6},
    {"solver", "prox", 7},
    {"solver", "ipm", 8},
    {"solver", "corrected", 9},
    {"solver", "lemke", 5},
    {"cone", "pyramidal", TB_CONE_PYRAMIDAL},
    {"cone", "elliptic", TB_CONE_ELLIPTIC},
    {"mjsolver", "pgs", TB_MJSOLVER_PGS},
    {"mjsolver", "cg", TB_MJSOLVER_CG},
    {"mjsolver", "newton", TB_MJSOLVER_NEWTON},
};

static tbResult unknown_name(const char* name, tbError* error) {
  int best = 0, best_distance = 1 << 30;
  for (int i = 0; i < NFIELDS; i++) {
    int d = tb_edit_distance(name, FIELDS[i].name);
    if (d < best_distance) {
      best_distance = d;
      best = i;
    }
  }
  // A guess that shares less than half of the letters helps nobody.
  if (best_distance > (int)strlen(name) / 2) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "unknown option '%s' (tribo sim --help lists all)",
                   name);
  }
  return tb_fail(error, TB_ERROR_ARGUMENT, "unknown option '%s', did you mean '%s'?", name,
                 FIELDS[best].name);
}

// Whether the option takes words; those go into `list`, separated by commas.
static int list_words(const char* name, char* list, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0] && used < size; i++) {
    if (strcmp(WORDS[i].option, name) != 0) continue;
    used += (size_t)snprintf(list + used, size - used, used ? ", %s" : "%s", WORDS[i].word);
  }
  return used > 0;
}

// A word of an enumeration. Returns 1 if `text` is one.
static int set_word(int* target, const char* name, const char* text) {
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    if (strcmp(WORDS[i].option, name) == 0 && strcmp(WORDS[i].word, text) == 0) {
      *target = WORDS[i].value;
      return 1;
    }
  }
  return 0;
}

// Whether a word of the option stands for `value`.
static int is_word_value(const char* name, int value) {
  int found = 0;
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    found |= strcmp(WORDS[i].option, name) == 0 && WORDS[i].value == value;
  }
  return found;
}

tbResult tb_option_set(tbOption* option, const char* name, const char* value, tbError* error) {
  if (!option || !name || !value) return tb_fail(error, TB_ERROR_ARGUMENT, "NULL argument");
  const Field* field = NULL;
  for (int i = 0; i < NFIELDS; i++) {
    if (strcmp(FIELDS[i].name, name) == 0) field = &FIELDS[i];
  }
  if (!field) return unknown_name(name, error);
  char* target = (char*)option + field->offset;
  if (field->is_int && set_word((int*)target, name, value)) return TB_OK;

  // Numbers, exactly as many as the field has.
  tbReal numbers[5];
  const char* at = value;
  int n = 0;
  for (; n < field->count; n++) {
    char* end;
    numbers[n] = strtod(at, &end);
    if (end == at || !(numbers[n] - numbers[n] == 0)) break;
    at = end + strspn(end, " ,\t");
  }
  if (n < field->count || *at) {
    char words[256];
    if (list_words(name, words, sizeof words)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s' is one of %s, not '%s'", name, words,
                     value);
    }
    return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s': expected %d number%s, got '%s'", name,
                   field->count, field->count > 1 ? "s" : "", value);
  }
  if (field->is_int) {
    if (!(fabs(numbers[0]) <= INT_MAX) || numbers[0] != (int)numbers[0]) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s': '%s' is not an integer", name, value);
    }
    char words[256];
    if (list_words(name, words, sizeof words) && !is_word_value(name, (int)numbers[0])) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s' is one of %s, not '%s'", name, words,
                     value);
    }
    *(int*)target = (int)numbers[0];
  } else {
    memcpy(target, numbers, sizeof(tbReal) * (size_t)field->count);
  }
  return TB_OK;
}
