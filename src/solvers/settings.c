#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tribo/problem.h"

static const char* const law_names[TB_LAW_COUNT] = {"ncp", "ccp", "lcp", "raisim"};

const char* tb_law_name(tbLaw law) {
  return (int)law >= 0 && law < TB_LAW_COUNT ? law_names[law] : "unknown";
}

tbLaw tb_law_find(const char* name) {
  for (int i = 0; i < TB_LAW_COUNT; i++) {
    if (strcmp(law_names[i], name) == 0) return (tbLaw)i;
  }
  return TB_LAW_COUNT;
}

const char* tb_solve_status_name(tbSolveStatus status) {
  switch (status) {
    case TB_SOLVE_CONVERGED: return "converged";
    case TB_SOLVE_MAX_ITERATIONS: return "max_iterations";
    case TB_SOLVE_TIME_LIMIT: return "time_limit";
    case TB_SOLVE_STALLED: return "stalled";
    case TB_SOLVE_FAILED: return "failed";
    case TB_SOLVE_INFEASIBLE: return "infeasible";
  }
  return "unknown";
}

tbSolveSettings tbDefaultSolveSettings(void) {
  tbSolveSettings settings = {0};
  settings.law = TB_LAW_NCP;
  settings.solver = "auto";
#define TB_X(type, name, value, meaning) settings.name = value;
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  return settings;
}

static tbResult parse_real(const char* name, const char* text, tbReal* out, tbError* error) {
  char* end = NULL;
  tbReal value = strtod(text, &end);
  if (end == text || *end || isnan(value)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%s: \"%s\" is not a number", name, text);
  }
  *out = value;
  return TB_OK;
}

static tbResult parse_int(const char* name, const char* text, int* out, tbError* error) {
  char* end = NULL;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (end == text || *end || errno || value < INT_MIN || value > INT_MAX) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%s: \"%s\" is not an integer", name, text);
  }
  *out = (int)value;
  return TB_OK;
}

#define PARSE_tbReal parse_real
#define PARSE_int parse_int

tbResult tb_solve_settings_set(tbSolveSettings* settings, const char* name, const char* value,
                               tbError* error) {
  tb_error_clear(error);
  if (strcmp(name, "law") == 0) {
    tbLaw law = tb_law_find(value);
    if (law == TB_LAW_COUNT) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "no law \"%s\": ncp, ccp, lcp or raisim expected",
                     value);
    }
    settings->law = law;
    return TB_OK;
  }
  if (strcmp(name, "solver") == 0) {
    settings->solver = value;
    return TB_OK;
  }
#define TB_X(type, field, standard, meaning) \
  if (strcmp(name, #field) == 0) return PARSE_##type(name, value, &settings->field, error);
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  return tb_fail(error, TB_ERROR_ARGUMENT, "no solver setting \"%s\"", name);
}
