// Results of the library as exceptions of the package (tribo/_errors.py).
#ifndef TRIBO_PYTHON_ERROR_H_
#define TRIBO_PYTHON_ERROR_H_

#include <string>

#include <nanobind/nanobind.h>

#include "tribo/types.h"

// Raise the exception of a result. The GIL is held.
[[noreturn]] void raise(tbResult result, const char* message);

inline void check(tbResult result, const tbError& error) {
  if (result != TB_OK) raise(result, error.message);
}

// The library calls text that is no file "FOLDER/string"; messages call it by its name.
struct TextName {
  std::string place, name;
  // NULL: the present folder.
  TextName(const char* folder, const std::string& text_name);
  std::string message(const char* original) const;
  // The lines of notes in place, where both names are as long (as the usual one is); NULL: none.
  void rename(char* notes) const;

 private:
  bool begins(const char* line) const;
};

// Warn that a step did not converge (tribo.ConvergenceWarning); throws if warnings are errors.
void warn_unconverged(const char* message);

void bind_errors(nanobind::module_& m);

#endif
