// Steps and their parts; the GIL is released while the library works.
#include <nanobind/stl/string.h>

#include "array.h"
#include "bind.h"
#include "callback.h"
#include "convergence.h"
#include "error.h"
#include "memory.h"

using ModelHandle = nb::handle_t<Model>;
using DataHandle = nb::handle_t<Data>;

// What is common to calls that evaluate a step: one thread, callbacks, errors, the one warning.
template <typename Function>
static void evaluate(ModelHandle model, DataHandle data, Function call) {
  Model& m = *nb::inst_ptr<Model>(model);
  Data& d = *nb::inst_ptr<Data>(data);
  tbModel* raw = model_of(m, d);
  Busy busy(d);
  CallbackScope scope(m, data);
  tbResult result;
  FirstUnconverged first;
  {
    nb::gil_scoped_release release;
    result = call(raw, d.get(), &first);
  }
  scope.raise_pending();
  if (result != TB_OK) raise(result, d.get()->message);
  first.warn(d, "this warning is given once per Data");
}

static void step(ModelHandle model, DataHandle data, int n) {
  evaluate(model, data, [n](tbModel* m, tbData* d, FirstUnconverged* first) {
    tbResult result = TB_OK;
    for (int i = 0; i < n && result == TB_OK; i++) {
      result = tb_step(m, d);
      first->note(d);
    }
    return result;
  });
}

template <tbResult (*FUNCTION)(const tbModel*, tbData*)>
static void part(ModelHandle model, DataHandle data) {
  evaluate(model, data, [](tbModel* m, tbData* d, FirstUnconverged* first) {
    tbResult result = FUNCTION(m, d);
    first->note(d);
    return result;
  });
}

static nb::tuple inverse(ModelHandle model, DataHandle data, nb::handle qacc, nb::handle guess,
                         nb::handle actuated, int max_iter, double tolerance, bool keep_base) {
  Data& d = *nb::inst_ptr<Data>(data);
  const tbModel* made = d.made_from();
  Reals acceleration(qacc, made->nv, "qacc");
  // The first guess has a row per constraint, which the call counts.
  Reals start(guess, -1, "guess", true);
  std::vector<int> motor;
  if (!actuated.is_none()) motor = integers(actuated, "actuated");
  if (!actuated.is_none() && (int)motor.size() != made->nv)
    throw nb::value_error("actuated: expected nv values");
  tbInverseSettings settings = tbDefaultInverseSettings();
  settings.guess = nullptr;
  settings.actuated = actuated.is_none() ? nullptr : motor.data();
  if (max_iter > 0) settings.max_iter = max_iter;
  if (tolerance >= 0) settings.tolerance = tolerance;
  settings.keep_base = keep_base;
  tbReal* force;
  nb::object qfrc = array_new({(size_t)made->nv}, &force);
  tbInverseInfo info{};
  evaluate(model, data, [&](tbModel* m, tbData* world, FirstUnconverged*) {
    return tb_inverse(m, world, acceleration.data(), &settings, force, &info);
  });
  nb::dict about;
  about["feasible"] = (bool)info.feasible;
  about["reason"] = info.reason;
  about["velocity_residual"] = info.velocity_residual;
  about["base_residual"] = info.base_residual;
  about["worst_constraint"] = info.worst_constraint;
  about["worst_dof"] = info.worst_dof;
  about["iterations"] = info.iterations;
  about["residual"] = info.residual.relative;
  return nb::make_tuple(qfrc, about);
}

static void reset(ModelHandle model, DataHandle data) {
  Data& d = *nb::inst_ptr<Data>(data);
  tbModel* m = model_of(*nb::inst_ptr<Model>(model), d);
  Busy busy(d);
  tb_reset(m, d.get());
  d.warned = false;
}

static void reset_keyframe(ModelHandle model, DataHandle data, int key) {
  Data& d = *nb::inst_ptr<Data>(data);
  tbModel* m = model_of(*nb::inst_ptr<Model>(model), d);
  Busy busy(d);
  if (key < 0 || key >= m->nkey) {
    std::string message =
        "keyframe " + std::to_string(key) + ": the model has " + std::to_string(m->nkey);
    throw nb::index_error(message.c_str());
  }
  tbResult result = tb_reset_keyframe(m, d.get(), key);
  if (result != TB_OK) raise(result, "the keyframe cannot be set");
  d.warned = false;
}

void bind_step(nb::module_& m) {
  m.def("step", &step, nb::arg("m"), nb::arg("d"), nb::arg("n") = 1,
        "Advance by `n` time steps.\n\n"
        "A step that gives a non-finite number raises NumericError, and the state stays as it was\n"
        "before. A solver that did not converge warns once per Data (ConvergenceWarning).");
  m.def("step1", &part<tb_step1>, nb::arg("m"), nb::arg("d"),
        "First half of a step: everything that depends on qpos and qvel.");
  m.def("step2", &part<tb_step2>, nb::arg("m"), nb::arg("d"),
        "Second half of a step, after controls and forces were set.");
  m.def("forward", &part<tb_forward>, nb::arg("m"), nb::arg("d"),
        "Everything that a step computes, without moving the state.");
  m.def("_inverse", &inverse, nb::arg("m"), nb::arg("d"), nb::arg("qacc"), nb::arg("guess").none(),
        nb::arg("actuated").none(), nb::arg("max_iter"), nb::arg("tolerance"),
        nb::arg("keep_base"));
  m.def("reset", &reset, nb::arg("m"), nb::arg("d"), "Return to the reference pose.");
  m.def("_reset_keyframe", &reset_keyframe, nb::arg("m"), nb::arg("d"), nb::arg("key"));
  m.def(
      "tree_asleep",
      [](Model& model, Data& data, int tree) {
        return (bool)tb_tree_asleep(model_of(model, data), data.get(), tree);
      },
      nb::arg("m"), nb::arg("d"), nb::arg("tree"), "Whether a kinematic tree sleeps.");
}
