// The compiled part of the package `tribo`.
#include "bind.h"
#include "error.h"
#include "field.h"
#include "enums.inc"

namespace nb = nanobind;

NB_MODULE(_core, m) {
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
  bind_batch(m);
  bind_dropin(m);
}
