// Results of the library as exceptions of the package (tribo/_errors.py).
#ifndef TRIBO_PYTHON_ERROR_H_
#define TRIBO_PYTHON_ERROR_H_

#include <nanobind/nanobind.h>

#include "tribo/types.h"

// Raise the exception of a result. The GIL is held.
[[noreturn]] void raise(tbResult result, const char* message);

inline void check(tbResult result, const tbError& error) {
  if (result != TB_OK) raise(result, error.message);
}

// Warn that a step did not converge (tribo.ConvergenceWarning); throws if warnings are errors.
void warn_unconverged(const char* message);

void bind_errors(nanobind::module_& m);

#endif
