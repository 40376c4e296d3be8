#include "error.h"

#include <cstring>

namespace nb = nanobind;

// Classes by result, and the warning's; they live as long as the interpreter.
static PyObject* classes[TB_ERROR_NUMERIC + 1];
static PyObject* convergence_warning;

void raise(tbResult result, const char* message) {
  int code = result > TB_OK && result <= TB_ERROR_NUMERIC ? result : TB_OK;
  PyErr_SetString(classes[code], message && message[0] ? message : tb_result_name(result));
  throw nb::python_error();
}

TextName::TextName(const char* folder, const std::string& text_name)
    : place(std::string(folder ? folder : ".") + "/string"), name(text_name) {}

bool TextName::begins(const char* line) const {
  return strncmp(line, place.c_str(), place.size()) == 0 && line[place.size()] == ':';
}

std::string TextName::message(const char* original) const {
  return begins(original) ? name + (original + place.size()) : original;
}

void TextName::rename(char* notes) const {
  if (name.size() != place.size()) return;
  while (notes && *notes) {
    if (begins(notes)) memcpy(notes, name.data(), name.size());
    notes = strchr(notes, '\n');
    if (notes) notes++;
  }
}

void warn_unconverged(const char* message) {
  if (PyErr_WarnEx(convergence_warning, message, 1) < 0) throw nb::python_error();
}

void bind_errors(nb::module_&) {
  static const char* const NAMES[] = {
      "Error",      "ArgumentError", "OutOfMemoryError", "FileError",
      "ParseError", "ModelError",    "UnsupportedError", "NumericError"};
  nb::module_ errors = nb::module_::import_("tribo._errors");
  for (int i = 0; i <= TB_ERROR_NUMERIC; i++)
    classes[i] = nb::object(errors.attr(NAMES[i])).release().ptr();
  convergence_warning = nb::object(errors.attr("ConvergenceWarning")).release().ptr();
}
