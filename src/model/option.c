// Options by name, with the words that enumerations take.
#include "tribo/option.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "model/option.h"
#include "model/check.h"
#include "model/law_kinds.h"
#include "tribo/step.h"

// Initialiser of one field: a plain value, or a parenthesised list for several.
#define UNWRAP(...) \
  { __VA_ARGS__ }
#define INIT_1(value) value
#define INIT_2(value) UNWRAP value
#define INIT_3(value) UNWRAP value
#define INIT_5(value) UNWRAP value

tbOption tbDefaultOption(void) {
  tbOption option = {
#define X(type, name, count, value, allowed, unit, what) .name = INIT_##count(value),
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
#define X(type, name, count, value, allowed, unit, what) \
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
#define X(LAW, word, family, traits) {"law", word, TB_LAW_##LAW},
    TB_STEP_LAWS(X)
#undef X
        {"solver", "auto", TB_SOLVER_AUTO},
    {"solver", "pgs", TB_SOLVER_PGS},
    {"solver", "admm", TB_SOLVER_ADMM},
    {"solver", "newton", TB_SOLVER_NEWTON},
    {"solver", "staggered", TB_SOLVER_STAGGERED},
    {"solver", "lemke", TB_SOLVER_LEMKE},
    {"solver", "pgs-exact", TB_SOLVER_PGS_EXACT},
    {"solver", "prox-newton", TB_SOLVER_PROX_NEWTON},
    {"solver", "ipm", TB_SOLVER_IPM},
    {"cone", "pyramidal", TB_CONE_PYRAMIDAL},
    {"cone", "elliptic", TB_CONE_ELLIPTIC},
    {"jacobian", "dense", TB_JACOBIAN_DENSE},
    {"jacobian", "sparse", TB_JACOBIAN_SPARSE},
    {"jacobian", "auto", TB_JACOBIAN_AUTO},
    {"mjsolver", "pgs", TB_MJSOLVER_PGS},
    {"mjsolver", "cg", TB_MJSOLVER_CG},
    {"mjsolver", "newton", TB_MJSOLVER_NEWTON},
};

static tbResult unknown_name(const char* name, tbError* error) {
  tbNearest nearest = {.name = name};
  for (int i = 0; i < NFIELDS; i++) tb_nearest_offer(&nearest, FIELDS[i].name);
  char hint[96];
  return tb_fail(error, TB_ERROR_ARGUMENT, "unknown option '%s'%s", name,
                 nearest.best ? tb_nearest_hint(&nearest, hint) : " (tribo sim --help lists all)");
}

// Whether the option takes words; if so, they are written to `list`, separated by commas.
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

const char* tb_option_word(const char* name, int value) {
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    if (WORDS[i].value == value && strcmp(WORDS[i].option, name) == 0) return WORDS[i].word;
  }
  return "unknown";
}

// Numbers separated by spaces or commas, exactly as many as the field has.
static tbResult read_values(const Field* field, const char* text, tbReal* numbers, tbError* error) {
  const char *at = text, *end = text + strlen(text);
  int n = 0;
  for (at += strspn(at, " \t"); n < field->count; n++) {
    const char* next = tb_parse_real(at, end, &numbers[n]);
    if (!next) break;
    at = next + strspn(next, " ,\t");
  }
  if (n == field->count && !*at) return TB_OK;
  char words[256];
  if (list_words(field->name, words, sizeof words)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s' is one of %s, not '%s'", field->name,
                   words, text);
  }
  return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s': expected %d number%s, got '%s'",
                 field->name, field->count, field->count > 1 ? "s" : "", text);
}

// The error for a value that no algorithm supports.
static tbResult not_allowed(const char* name, double value, const char* allowed, tbError* error) {
  char words[256];
  if (!isfinite(value)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s' is not finite", name);
  }
  if (list_words(name, words, sizeof words)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s' is one of %s, not '%g'", name, words,
                   value);
  }
  return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s': %g is out of range, expected %s", name,
                 value, allowed);
}

tbResult tb_option_check(const tbOption* option, tbError* error) {
#define X(type, name, count, initial, allowed, unit, what)                                 \
  for (int i = 0; i < (count); i++) {                                                      \
    const type x = ((const type*)&option->name)[i];                                        \
    if (!isfinite((double)x) || !(allowed)) return not_allowed(#name, x, #allowed, error); \
  }
  TB_OPTION_FIELDS(X)
#undef X
  return TB_OK;
}

tbResult tb_option_set(tbOption* option, const char* name, const char* value, tbError* error) {
  if (!option || !name || !value)
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_option_set: option, name and value must not be NULL");
  const Field* field = NULL;
  for (int i = 0; i < NFIELDS; i++) {
    if (strcmp(FIELDS[i].name, name) == 0) field = &FIELDS[i];
  }
  if (!field) return unknown_name(name, error);
  char* target = (char*)option + field->offset;
  if (field->is_int && set_word((int*)target, name, value)) return TB_OK;

  tbReal numbers[5];
  tbResult result = read_values(field, value, numbers, error);
  if (result) return result;
  if (field->is_int && (!(fabs(numbers[0]) <= INT_MAX) || numbers[0] != (int)numbers[0])) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "option '%s': '%s' is not an integer", name, value);
  }
  // Only the new value is checked, whatever the other options are.
  const int number = field->is_int ? (int)numbers[0] : 0;
  const void* values = field->is_int ? (const void*)&number : numbers;
  const size_t size = field->is_int ? sizeof number : sizeof(tbReal) * (size_t)field->count;
  tbOption trial = tbDefaultOption();
  memcpy((char*)&trial + field->offset, values, size);
  result = tb_option_check(&trial, error);
  if (!result) memcpy(target, values, size);
  return result;
}

tbResult tb_check_option(const tbModel* model, tbError* error) {
  if (tb_option_check(&model->opt, error) == TB_OK) return TB_OK;
  if (error) error->code = TB_ERROR_MODEL;
  return TB_ERROR_MODEL;
}
