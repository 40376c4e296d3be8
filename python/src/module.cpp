// The compiled part of the package `tribo`.
#include "bind.h"
#include "error.h"
#include "field.h"
#include "enums.inc"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  // Python 3.11 does not ask modules whether they can be loaded twice.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("tribo does not support subinterpreters");
  m.doc() = "The engine, as the package's other modules use it.";
  m.attr("version") = TRIBO_VERSION;
  bind_errors(m);
  bind_fields(m);
  m.attr("enums") = enum_tables();
  bind_model(m);
  bind_option(m);
  bind_callbacks(m);
  bind_data(m);
  bind_contact(m);
  bind_step(m);
  bind_dynamics(m);
  bind_query(m);
  bind_derivatives(m);
  bind_gradients(m);
  bind_batch(m);
  bind_spec(m);
  bind_problem(m);
  bind_render(m);
  // The public classes and functions, which the package passes on as they are.
  nb::list functions;
  for (auto [name, value] : nb::dict(m.attr("__dict__"))) {
    const char* text = nb::cast<nb::str>(name).c_str();
    if (text[0] != '_' && PyCallable_Check(value.ptr())) functions.append(name);
  }
  m.attr("__all__") = functions;
  bind_dropin(m);
}
