// Helpers of the compiler: checks and messages for many kinds of elements.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/compile/internal.h"

tbCompileLabel tb_compile_label(const char* kind, const char* name, int index) {
  tbCompileLabel label;
  if (name && *name) {
    snprintf(label.text, sizeof label.text, "%s '%.64s'", kind, name);
  } else {
    snprintf(label.text, sizeof label.text, "%s %d", kind, index);
  }
  return label;
}

tbResult tb_compile_finite(const tbCompile* c, const char* file, int line, const char* what,
                           const tbReal* values, int n) {
  for (int i = 0; i < n; i++) {
    if (isfinite(values[i])) continue;
    return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line, "%s: %g is not a finite number", what,
                        values[i]);
  }
  return TB_OK;
}

tbResult tb_compile_limit(const tbCompile* c, const char* file, int line, const char* what,
                          const char* attribute, const char* flag, bool autolimits, int limited,
                          const tbReal range[2], int* on) {
  bool given = range[0] != 0 || range[1] != 0;
  if (limited == TB_AUTO && !autolimits && given) {
    return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line,
                        "%s has %s but not %s, and the compiler's autolimits is off: give %s", what,
                        attribute, flag, flag);
  }
  // Infinite ends are accepted: such a limit is never active.
  if (isnan(range[0]) || isnan(range[1])) {
    return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line, "%s: %s is not a number", what,
                        attribute);
  }
  *on = tb_flat_limited(limited, range);
  if (*on && !(range[0] < range[1])) {
    return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line,
                        "%s: %s is (%g, %g), expected the first to be smaller", what, attribute,
                        range[0], range[1]);
  }
  return TB_OK;
}

void tb_compile_copy_user(tbReal* target, int row, int width, const tbFlatList* list) {
  if (list->n) {
    memcpy(target + (size_t)row * (size_t)width, list->v, (size_t)list->n * sizeof(tbReal));
  }
}
