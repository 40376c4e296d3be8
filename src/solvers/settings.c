// Names of laws and statuses; settings of a solve, their defaults and allowed values.
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "solvers/solver.h"
#include "tribo/problem.h"

static const char* const law_names[TB_LAW_COUNT] = {"ncp", "ccp", "lcp", "raisim"};

const char* tb_law_name(tbLaw law) {
  return (int)law >= 0 && law < TB_LAW_COUNT ? law_names[law] : "unknown";
}

tbLaw tb_law_find(const char* name) {
  for (int i = 0; i < TB_LAW_COUNT; i++) {
    if (name && strcmp(law_names[i], name) == 0) return (tbLaw)i;
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
#define TB_X(type, name, value, allowed, meaning) settings.name = value;
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  return settings;
}

static tbResult not_allowed(const char* name, tbReal value, const char* allowed,
                            const char* meaning, tbError* error) {
  return tb_fail(error, TB_ERROR_ARGUMENT, "%s is %g, expected %s (%s)", name, value, allowed,
                 meaning);
}

tbResult tb_solve_settings_check(const tbSolveSettings* settings, tbError* error) {
#define TB_X(type, name, value, allowed, meaning)                                   \
  {                                                                                 \
    const type x = settings->name;                                                  \
    if (!(allowed)) return not_allowed(#name, (tbReal)x, #allowed, meaning, error); \
  }
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  return TB_OK;
}

static tbResult parse_real(const char* name, const char* text, tbReal* out, tbError* error) {
  const char* end = text + strlen(text);
  if (tb_parse_real(text, end, out) == end) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "%s: \"%s\" is not a number", name, text);
}

static tbResult parse_int(const char* name, const char* text, int* out, tbError* error) {
  const char* end = text + strlen(text);
  if (tb_parse_int(text, end, out) == end) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "%s: \"%s\" is not an integer", name, text);
}

#define PARSE_tbReal parse_real
#define PARSE_int parse_int

tbResult tb_solve_settings_set(tbSolveSettings* settings, const char* name, const char* value,
                               tbError* error) {
  tb_error_clear(error);
  if (!settings || !name || !value) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_solve_settings_set: an argument is NULL");
  }
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
#define TB_X(type, field, standard, allowed, meaning)                              \
  if (strcmp(name, #field) == 0) {                                                 \
    type x;                                                                        \
    tbResult result = PARSE_##type(name, value, &x, error);                        \
    if (result) return result;                                                     \
    if (!(allowed)) return not_allowed(name, (tbReal)x, #allowed, meaning, error); \
    settings->field = x;                                                           \
    return TB_OK;                                                                  \
  }
  TB_SOLVE_SETTINGS(TB_X)
#undef TB_X
  return tb_fail(error, TB_ERROR_ARGUMENT, "no solver setting \"%s\"", name);
}
