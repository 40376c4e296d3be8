// Every part of the module binds its names in one function.
#ifndef TRIBO_PYTHON_BIND_H_
#define TRIBO_PYTHON_BIND_H_

#include <nanobind/nanobind.h>

void bind_model(nanobind::module_& m);
void bind_option(nanobind::module_& m);
void bind_callbacks(nanobind::module_& m);
void bind_data(nanobind::module_& m);
void bind_contact(nanobind::module_& m);
void bind_step(nanobind::module_& m);
void bind_dynamics(nanobind::module_& m);
void bind_query(nanobind::module_& m);
void bind_derivatives(nanobind::module_& m);
void bind_gradients(nanobind::module_& m);
void bind_batch(nanobind::module_& m);
void bind_spec(nanobind::module_& m);
void bind_problem(nanobind::module_& m);
void bind_render(nanobind::module_& m);
void bind_dropin(nanobind::module_& m);

#endif
