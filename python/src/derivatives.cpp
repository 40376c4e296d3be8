// Derivatives of a step.
#include <nanobind/stl/string.h>

#include "array.h"
#include "bind.h"
#include "callback.h"
#include "error.h"
#include "memory.h"

// A linearised step; it holds the model and the world that it was made from.
struct Derivatives {
  nb::object model, data;
  std::shared_ptr<tbDerivatives> of;
  tbDerivativeInfo info{};
  int nv = 0, nx = 0, nu = 0, ncon = 0;
  nb::object A, B;
};

static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<Derivatives>(self)->model.ptr());
  Py_VISIT(nb::inst_ptr<Derivatives>(self)->data.ptr());
  return 0;
}

static PyType_Slot slots[] = {{Py_tp_traverse, (void*)traverse}, {0, nullptr}};

static Derivatives linearize(nb::handle_t<Model> model, nb::handle_t<Data> data, double relaxation,
                             int samples, double spread, uint64_t seed, double proximal,
                             double mode_tolerance, bool hold_contacts) {
  Model& m = *nb::inst_ptr<Model>(model);
  Data& d = *nb::inst_ptr<Data>(data);
  tbModel* raw = model_of(m, d);
  tbDerivativeSettings settings = tbDefaultDerivativeSettings();
  settings.relaxation = relaxation;
  if (samples > 0) settings.samples = samples;
  if (spread >= 0) settings.spread = spread;
  settings.seed = seed;
  if (proximal >= 0) settings.proximal = proximal;
  if (mode_tolerance >= 0) settings.mode_tolerance = mode_tolerance;
  settings.hold_contacts = hold_contacts;
  Derivatives result;
  result.of = std::shared_ptr<tbDerivatives>(tb_derivatives_new(raw), tb_derivatives_free);
  if (!result.of) raise(TB_ERROR_MEMORY, "no memory for derivatives");
  result.model = nb::borrow(model);
  result.data = nb::borrow(data);
  Busy busy(d);
  CallbackScope scope(m, data);
  tbResult code;
  {
    nb::gil_scoped_release release;
    code = tb_step_linearize(raw, d.get(), &settings, result.of.get(), &result.info);
  }
  scope.raise_pending();
  if (code != TB_OK) raise(code, d.get()->message);
  result.nv = raw->nv;
  result.nx = 2 * raw->nv + raw->na;
  result.nu = raw->nu;
  result.ncon = d.get()->ncon;
  return result;
}

static void fill(Derivatives& r) {
  if (r.A.is_valid()) return;
  tbReal *A, *B;
  nb::object a = array_new({(size_t)r.nx, (size_t)r.nx}, &A);
  r.B = array_new({(size_t)r.nx, (size_t)r.nu}, &B);
  tb_derivatives_dense(r.of.get(), A, B);
  r.A = a;
}

static nb::object apply(Derivatives& r, nb::handle dx, nb::handle du) {
  Reals x(dx, r.nx, "dx", true), u(du, r.nu, "du", true);
  tbReal* next;
  nb::object result = array_new({(size_t)r.nx}, &next);
  tb_derivatives_apply(r.of.get(), x.data(), u.data(), next);
  return result;
}

static nb::dict apply_transposed(Derivatives& r, nb::handle y) {
  Reals rows(y, r.nx, "y");
  tbReal *dx, *du, *dforce, *dfriction;
  nb::dict result;
  result["dx"] = array_new({(size_t)r.nx}, &dx);
  result["du"] = array_new({(size_t)r.nu}, &du);
  result["dforce"] = array_new({(size_t)r.nv}, &dforce);
  result["dfriction"] = array_new({(size_t)r.ncon}, &dfriction);
  tb_derivatives_apply_transposed(r.of.get(), rows.data(), dx, du, dforce, dfriction);
  return result;
}

static nb::object force(Derivatives& r, nb::handle dforce) {
  Reals f(dforce, r.nv, "dforce");
  tbReal* next;
  nb::object result = array_new({(size_t)r.nx}, &next);
  tb_derivatives_force(r.of.get(), f.data(), next);
  return result;
}

static nb::tuple acceleration(Derivatives& r) {
  size_t nv = (size_t)r.nv;
  tbReal *q, *v, *t;
  nb::object dq = array_new({nv, nv}, &q), dv = array_new({nv, nv}, &v),
             dt = array_new({nv, nv}, &t);
  tbResult code = tb_derivatives_acceleration(r.of.get(), q, v, t);
  if (code != TB_OK) raise(code, "the partials of the acceleration cannot be computed");
  return nb::make_tuple(dq, dv, dt);
}

static nb::object friction(Derivatives& r, int contact) {
  if (contact < 0 || contact >= r.ncon) throw nb::index_error("contact: out of range");
  tbReal* next;
  nb::object result = array_new({(size_t)r.nx}, &next);
  tbResult code = tb_derivatives_friction(r.of.get(), contact, next);
  if (code != TB_OK) raise(code, "the derivative by friction cannot be computed");
  return result;
}

static nb::object inertial(Derivatives& r, int body) {
  Data& d = *nb::inst_ptr<Data>(r.data);
  Model& m = *nb::inst_ptr<Model>(r.model);
  if (body < 0 || body >= m.get()->nbody) throw nb::index_error("body: out of range");
  tbReal* values;
  nb::object result = array_new({(size_t)r.nx, TB_NINERTIAL}, &values);
  Busy busy(d);
  tbResult code = tb_derivatives_inertial(r.of.get(), m.get(), d.get(), body, values);
  if (code != TB_OK) raise(code, d.get()->message);
  return result;
}

static nb::tuple differences(nb::handle_t<Model> model, nb::handle_t<Data> data, double eps,
                             bool centred) {
  Model& m = *nb::inst_ptr<Model>(model);
  Data& d = *nb::inst_ptr<Data>(data);
  tbModel* raw = model_of(m, d);
  size_t nx = 2 * (size_t)raw->nv + raw->na;
  tbReal *A, *B;
  nb::object a = array_new({nx, nx}, &A), b = array_new({nx, (size_t)raw->nu}, &B);
  Busy busy(d);
  CallbackScope scope(m, data);
  tbResult code;
  {
    nb::gil_scoped_release release;
    code = tb_step_differences(raw, d.get(), eps, centred, A, B);
  }
  scope.raise_pending();
  if (code != TB_OK) raise(code, d.get()->message);
  return nb::make_tuple(a, b);
}

void bind_derivatives(nb::module_& m) {
  nb::class_<Derivatives> c(
      m, "Derivatives", nb::type_slots(slots),
      "A step linearised at a state: dx+ = A dx + B du with x = (q, v, act) on\n"
      "the manifold, nx = 2 nv + na.");
  c.def_prop_ro(
      "A", [](Derivatives& r) { return fill(r), r.A; }, nb::sig("def A(self) -> " TB_ARRAY),
      "Derivative by the state, shape (nx, nx).");
  c.def_prop_ro(
      "B", [](Derivatives& r) { return fill(r), r.B; }, nb::sig("def B(self) -> " TB_ARRAY),
      "Derivative by the controls, shape (nx, nu).");
  c.def_prop_ro("_info", [](const Derivatives& r) {
    return nb::make_tuple((bool)r.info.differentiable, r.info.reason,
                          (bool)r.info.finite_differences, r.info.separated, r.info.sticking,
                          r.info.sliding, r.info.rows);
  });
  c.def_prop_ro("_sizes", [](const Derivatives& r) { return nb::make_tuple(r.nx, r.nu); });
  c.def("apply", &apply, nb::arg("dx") = nb::none(), nb::arg("du") = nb::none(),
        nb::sig("def apply(self, dx: numpy.typing.ArrayLike | None = None, du: "
                "numpy.typing.ArrayLike | None = None) -> " TB_ARRAY),
        "A dx + B du without the matrices, shape (nx,).");
  c.def("apply_transposed", &apply_transposed, nb::arg("y"),
        nb::sig("def apply_transposed(self, y: numpy.typing.ArrayLike) -> dict[str, " TB_ARRAY "]"),
        "dx = A^T y, du = B^T y, and the adjoints dforce (nv,) and dfriction (ncon,).");
  c.def("force", &force, nb::arg("dforce"),
        nb::sig("def force(self, dforce: numpy.typing.ArrayLike) -> " TB_ARRAY),
        "Change of the next state by a generalised force, shape (nx,).");
  c.def("acceleration", &acceleration,
        nb::sig("def acceleration(self) -> tuple[" TB_ARRAY ", " TB_ARRAY ", " TB_ARRAY "]"),
        "Partials of qacc by q, v and the generalised force, each of shape (nv, nv).");
  c.def("friction", &friction, nb::arg("contact"),
        nb::sig("def friction(self, contact: int) -> " TB_ARRAY),
        "Change of the next state by the sliding coefficients of a contact, shape (nx,).");
  c.def("inertial", &inertial, nb::arg("body"),
        nb::sig("def inertial(self, body: int) -> " TB_ARRAY),
        "Derivative by the ten inertial parameters of a body, shape (nx, 10).");
  m.def("_linearize", &linearize, nb::arg("m"), nb::arg("d"), nb::arg("relaxation"),
        nb::arg("samples"), nb::arg("spread"), nb::arg("seed"), nb::arg("proximal"),
        nb::arg("mode_tolerance"), nb::arg("hold_contacts"));
  m.def(
      "step_differences", &differences, nb::arg("m"), nb::arg("d"), nb::arg("eps") = 1e-6,
      nb::arg("centred") = true,
      nb::sig("def step_differences(m: Model, d: Data, eps: float = 1e-6, centred: bool = True) -> "
              "tuple[" TB_ARRAY ", " TB_ARRAY "]"),
      "A and B by differences of whole steps: slow, for tests.");
}
