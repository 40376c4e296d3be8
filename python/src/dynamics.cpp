// Rigid-body dynamics, Jacobians, forces on bodies, and questions about a pose.
#include <cstring>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "memory.h"

#define ARRAY_SIG(name, args) "def " name "(m: Model, d: Data" args ") -> " TB_ARRAY

// A part by its number or its name.
static int part_id(const tbModel* m, tbObjType type, nb::handle which, const char* kind,
                   int count) {
  if (nb::isinstance<nb::str>(which)) {
    std::string name = nb::cast<std::string>(which);
    int id = tb_name2id(m, type, name.c_str());
    if (id < 0) throw nb::key_error(("no " + std::string(kind) + " '" + name + "'").c_str());
    return id;
  }
  int id = nb::cast<int>(which);
  if (id < 0 || id >= count) {
    std::string text =
        std::string(kind) + " " + std::to_string(id) + ": there are " + std::to_string(count);
    throw nb::index_error(text.c_str());
  }
  return id;
}

// An object that has a frame: a body, geom or site.
static int frame_id(const tbModel* m, int type, int id) {
  int count = type == TB_OBJ_BODY || type == TB_OBJ_XBODY ? m->nbody
              : type == TB_OBJ_GEOM                       ? m->ngeom
              : type == TB_OBJ_SITE                       ? m->nsite
                                                          : -1;
  if (count < 0) throw nb::value_error("type: expected ObjType.BODY, XBODY, GEOM or SITE");
  if (id < 0 || id >= count) throw nb::index_error("id: out of range");
  return id;
}

static int body_id(const tbModel* m, nb::handle which) {
  return part_id(m, TB_OBJ_BODY, which, "body", m->nbody);
}

// ---- stages -------------------------------------------------------------------------------------

template <void (*FUNCTION)(const tbModel*, tbData*)>
static void stage(Model& model, Data& data) {
  tbModel* m = model_of(model, data);
  Busy busy(data);
  FUNCTION(m, data.get());
}

static void bind_stages(nb::module_& m) {
#define STAGE(name, doc) m.def(#name, &stage<tb_##name>, nb::arg("m"), nb::arg("d"), doc);
  STAGE(compute_position, "Everything that depends on qpos: frames, tendons, M and its factor.")
  STAGE(compute_velocity, "Everything that depends on qvel too; after compute_position.")
  STAGE(kinematics, "Frames of bodies, joints, geoms and sites.")
  STAGE(com_position, "subtree_com, cinert, cdof; after kinematics.")
  STAGE(com_velocity, "cvel, cdof_dot; after com_position.")
  STAGE(subtree_velocity, "subtree_linvel, subtree_angmom; after com_velocity.")
  STAGE(energy_position, "energy[0]: gravity and springs; after com_position.")
  STAGE(energy_velocity, "energy[1]: v' M v / 2; after crb.")
  STAGE(tendon, "ten_length, ten_J; after com_position.")
  STAGE(transmission, "actuator_length, actuator_moment; after tendon.")
  STAGE(crb, "crb, qM by the composite-rigid-body algorithm; after com_position.")
  STAGE(body_accelerations, "cacc from qacc; after com_velocity.")
  STAGE(body_forces, "cacc, and cfrc_int with cfrc_ext; after com_velocity.")
#undef STAGE
  m.def(
      "factor_m",
      [](Model& model, Data& data) {
        tbModel* raw = model_of(model, data);
        Busy busy(data);
        tbResult result = tb_factor_m(raw, data.get());
        if (result != TB_OK) raise(result, "M is not positive definite");
      },
      nb::arg("m"), nb::arg("d"), "qLD, qLDiagInv: M = L^T D L; after crb.");
  m.def(
      "rne_post_constraint",
      [](Model& model, Data& data) {
        tbModel* raw = model_of(model, data);
        Busy busy(data);
        tbError error;
        check(tb_rne_post_constraint(raw, data.get(), &error), error);
      },
      nb::arg("m"), nb::arg("d"),
      "Accelerations and forces of all bodies with contacts: cacc, cfrc_int, cfrc_ext.");
}

// ---- inertia and forces -------------------------------------------------------------------------

static nb::object full_m(Model& model, Data& data) {
  tbModel* m = model_of(model, data);
  tbReal* values;
  nb::object M = array_new({(size_t)m->nv, (size_t)m->nv}, &values);
  tb_full_m(m, data.get(), values);
  return M;
}

static nb::object mul_m(Model& model, Data& data, nb::handle v) {
  tbModel* m = model_of(model, data);
  Reals x(v, m->nv, "v");
  tbReal* r;
  nb::object result = array_new({(size_t)m->nv}, &r);
  tb_mul_m(m, data.get(), r, x.data());
  return result;
}

static nb::object solve_m(Model& model, Data& data, nb::handle y) {
  tbModel* m = model_of(model, data);
  Reals rows(y, -1, "y");
  bool one = rows.shape().size() == 1;
  if (rows.shape().empty() || rows.shape().size() > 2 || rows.shape().back() != (size_t)m->nv)
    throw nb::value_error("y: expected shape (nv,) or (n, nv)");
  size_t n = one ? 1 : rows.shape()[0];
  tbReal* x;
  nb::object result = one ? array_new({(size_t)m->nv}, &x) : array_new({n, (size_t)m->nv}, &x);
  Busy busy(data);
  tb_solve_m(m, data.get(), x, rows.data(), (int)n);
  return result;
}

static nb::object rne(Model& model, Data& data, nb::handle qacc, nb::handle xfrc) {
  tbModel* m = model_of(model, data);
  Reals a(qacc, m->nv, "qacc", true), f(xfrc, (long)m->nbody * 6, "xfrc", true);
  tbReal* tau;
  nb::object result = array_new({(size_t)m->nv}, &tau);
  Busy busy(data);
  tb_rne(m, data.get(), a.data(), f.data(), tau);
  return result;
}

static nb::object aba(Model& model, Data& data, nb::handle tau, nb::handle xfrc) {
  tbModel* m = model_of(model, data);
  Reals t(tau, m->nv, "tau"), f(xfrc, (long)m->nbody * 6, "xfrc", true);
  tbReal* qacc;
  nb::object result = array_new({(size_t)m->nv}, &qacc);
  Busy busy(data);
  tbResult code = tb_aba(m, data.get(), t.data(), f.data(), qacc);
  if (code != TB_OK)
    raise(code, code == TB_ERROR_UNSUPPORTED ? "aba: tendons with armature are not supported"
                                             : "aba: an articulated inertia is not positive");
  return result;
}

template <void (*FUNCTION)(const tbModel*, const tbData*, tbReal*)>
static nb::object dense(Model& model, Data& data, int rows) {
  tbModel* m = model_of(model, data);
  tbReal* values;
  nb::object result = array_new({(size_t)rows, (size_t)m->nv}, &values);
  FUNCTION(m, data.get(), values);
  return result;
}

static nb::object apply_wrench(Model& model, Data& data, nb::handle body, nb::handle point,
                               nb::handle force, nb::handle torque) {
  tbModel* m = model_of(model, data);
  Reals p(point, 3, "point"), f(force, 3, "force", true), t(torque, 3, "torque", true);
  tbReal* qfrc;
  nb::object result = array_new({(size_t)m->nv}, &qfrc);
  tb_apply_wrench(m, data.get(), body_id(m, body), p.data(), f.data(), t.data(), qfrc);
  return result;
}

static void bind_inertia(nb::module_& m) {
  m.def("full_m", &full_m, nb::arg("m"), nb::arg("d"), nb::sig(ARRAY_SIG("full_m", "")),
        "M as a dense matrix, shape (nv, nv); after crb or a step.");
  m.def("mul_m", &mul_m, nb::arg("m"), nb::arg("d"), nb::arg("v"),
        nb::sig(ARRAY_SIG("mul_m", ", v: numpy.typing.ArrayLike")), "M v, shape (nv,).");
  m.def("solve_m", &solve_m, nb::arg("m"), nb::arg("d"), nb::arg("y"),
        nb::sig(ARRAY_SIG("solve_m", ", y: numpy.typing.ArrayLike")),
        "M^-1 y for one or more rows, shape (nv,) or (n, nv); after factor_m or a step.");
  m.def("rne", &rne, nb::arg("m"), nb::arg("d"), nb::arg("qacc") = nb::none(),
        nb::arg("xfrc") = nb::none(),
        nb::sig(ARRAY_SIG("rne",
                          ", qacc: numpy.typing.ArrayLike | None = None, xfrc: "
                          "numpy.typing.ArrayLike | None = None")),
        "M qacc + b - J^T xfrc by recursive Newton-Euler, shape (nv,); after com_velocity.");
  m.def("aba", &aba, nb::arg("m"), nb::arg("d"), nb::arg("tau"), nb::arg("xfrc") = nb::none(),
        nb::sig(ARRAY_SIG("aba",
                          ", tau: numpy.typing.ArrayLike, xfrc: "
                          "numpy.typing.ArrayLike | None = None")),
        "qacc by the articulated-body algorithm, without M, shape (nv,); after com_velocity.");
  m.def(
      "full_moment",
      [](Model& model, Data& data) { return dense<tb_full_moment>(model, data, model.get()->nu); },
      nb::arg("m"), nb::arg("d"), nb::sig(ARRAY_SIG("full_moment", "")),
      "Actuator moments as a dense matrix, shape (nu, nv).");
  m.def(
      "full_ten_J",
      [](Model& model, Data& data) {
        return dense<tb_full_ten_J>(model, data, model.get()->ntendon);
      },
      nb::arg("m"), nb::arg("d"), nb::sig(ARRAY_SIG("full_ten_J", "")),
      "Jacobian of the tendons as a dense matrix, shape (ntendon, nv).");
  m.def("apply_wrench", &apply_wrench, nb::arg("m"), nb::arg("d"), nb::arg("body"),
        nb::arg("point"), nb::arg("force") = nb::none(), nb::arg("torque") = nb::none(),
        nb::sig(ARRAY_SIG("apply_wrench",
                          ", body: int | str, point: numpy.typing.ArrayLike, force: "
                          "numpy.typing.ArrayLike | None = None, torque: "
                          "numpy.typing.ArrayLike | None = None")),
        "J^T (force, torque) at a world point of a body, shape (nv,).");
}

// ---- Jacobians ----------------------------------------------------------------------------------

#define JACOBIAN_SIG(name, args) \
  "def " name "(m: Model, d: Data" args ") -> tuple[" TB_ARRAY ", " TB_ARRAY "]"

using Jacobian = void (*)(const tbModel*, const tbData*, int, tbReal*, tbReal*);

static nb::tuple jacobian(Model& model, Data& data, int id, Jacobian function) {
  tbModel* m = model_of(model, data);
  tbReal *linear, *angular;
  nb::object jacp = array_new({3, (size_t)m->nv}, &linear);
  nb::object jacr = array_new({3, (size_t)m->nv}, &angular);
  function(m, data.get(), id, linear, angular);
  return nb::make_tuple(jacp, jacr);
}

using PointJacobian = void (*)(const tbModel*, const tbData*, int, const tbReal[3], tbReal*,
                               tbReal*);

static nb::tuple point_jacobian(Model& model, Data& data, nb::handle body, nb::handle point,
                                PointJacobian function) {
  tbModel* m = model_of(model, data);
  Reals p(point, 3, "point");
  tbReal *linear, *angular;
  nb::object jacp = array_new({3, (size_t)m->nv}, &linear);
  nb::object jacr = array_new({3, (size_t)m->nv}, &angular);
  function(m, data.get(), body_id(m, body), p.data(), linear, angular);
  return nb::make_tuple(jacp, jacr);
}

static void bind_jacobians(nb::module_& m) {
  m.def(
      "jac",
      [](Model& model, Data& data, nb::handle body, nb::handle point) {
        return point_jacobian(model, data, body, point, tb_jac);
      },
      nb::arg("m"), nb::arg("d"), nb::arg("body"), nb::arg("point"),
      nb::sig(JACOBIAN_SIG("jac", ", body: int | str, point: numpy.typing.ArrayLike")),
      "Linear and angular Jacobian of a world point fixed to a body, each of shape (3, nv).");
  m.def(
      "jac_dot",
      [](Model& model, Data& data, nb::handle body, nb::handle point) {
        return point_jacobian(model, data, body, point, tb_jac_dot);
      },
      nb::arg("m"), nb::arg("d"), nb::arg("body"), nb::arg("point"),
      nb::sig(JACOBIAN_SIG("jac_dot", ", body: int | str, point: numpy.typing.ArrayLike")),
      "Time derivatives of jac, each of shape (3, nv).");
#define OF(function, kind, type, size, what)                                                     \
  m.def(                                                                                         \
      #function,                                                                                 \
      [](Model& model, Data& data, nb::handle which) {                                           \
        const tbModel* raw = model.get();                                                        \
        return jacobian(model, data, part_id(raw, type, which, kind, raw->size), tb_##function); \
      },                                                                                         \
      nb::arg("m"), nb::arg("d"), nb::arg(kind),                                                 \
      nb::sig(JACOBIAN_SIG(#function, ", " kind ": int | str")),                                 \
      "Linear and angular Jacobian of " what ", each of shape (3, nv).");
  OF(jac_body, "body", TB_OBJ_BODY, nbody, "a body's frame")
  OF(jac_body_com, "body", TB_OBJ_BODY, nbody, "a body's centre of mass")
  OF(jac_geom, "geom", TB_OBJ_GEOM, ngeom, "a geom")
  OF(jac_site, "site", TB_OBJ_SITE, nsite, "a site")
#undef OF
  m.def(
      "jac_subtree_com",
      [](Model& model, Data& data, nb::handle body) {
        tbModel* raw = model_of(model, data);
        tbReal* values;
        nb::object jacp = array_new({3, (size_t)raw->nv}, &values);
        tb_jac_subtree_com(raw, data.get(), body_id(raw, body), values);
        return jacp;
      },
      nb::arg("m"), nb::arg("d"), nb::arg("body"),
      nb::sig(ARRAY_SIG("jac_subtree_com", ", body: int | str")),
      "Jacobian of the centre of mass of a subtree, shape (3, nv).");
  m.def(
      "object_velocity",
      [](Model& model, Data& data, int type, int id, bool local) {
        tbModel* raw = model_of(model, data);
        tbReal* values;
        nb::object velocity = array_new({6}, &values);
        tb_object_velocity(raw, data.get(), (tbObjType)type, frame_id(raw, type, id), local,
                           values);
        return velocity;
      },
      nb::arg("m"), nb::arg("d"), nb::arg("type"), nb::arg("id"), nb::arg("local") = false,
      nb::sig(ARRAY_SIG("object_velocity", ", type: int, id: int, local: bool = False")),
      "Angular and linear velocity of a body, geom or site (ObjType), shape (6,).");
  m.def(
      "object_acceleration",
      [](Model& model, Data& data, int type, int id, bool local) {
        tbModel* raw = model_of(model, data);
        tbReal* values;
        nb::object acceleration = array_new({6}, &values);
        tb_object_acceleration(raw, data.get(), (tbObjType)type, frame_id(raw, type, id), local,
                               values);
        return acceleration;
      },
      nb::arg("m"), nb::arg("d"), nb::arg("type"), nb::arg("id"), nb::arg("local") = false,
      nb::sig(ARRAY_SIG("object_acceleration", ", type: int, id: int, local: bool = False")),
      "Angular and linear acceleration less gravity, shape (6,); after body_accelerations.");
}

// ---- the configuration manifold -----------------------------------------------------------------

static void bind_configuration(nb::module_& m) {
  m.def(
      "integrate_pos",
      [](Model& model, nb::handle qpos, nb::handle qvel, double dt) {
        tbModel* raw = model.get();
        Reals q(qpos, raw->nq, "qpos"), v(qvel, raw->nv, "qvel");
        tbReal* values;
        nb::object next = array_new({(size_t)raw->nq}, &values);
        memcpy(values, q.data(), sizeof(tbReal) * raw->nq);
        tb_integrate_pos(raw, values, v.data(), dt);
        return next;
      },
      nb::arg("m"), nb::arg("qpos"), nb::arg("qvel"), nb::arg("dt"),
      nb::sig("def integrate_pos(m: Model, qpos: numpy.typing.ArrayLike, qvel: "
              "numpy.typing.ArrayLike, dt: float) -> " TB_ARRAY),
      "qpos moved by dt qvel on the manifold, a new array of shape (nq,).");
  m.def(
      "differentiate_pos",
      [](Model& model, double dt, nb::handle qpos1, nb::handle qpos2) {
        tbModel* raw = model.get();
        Reals a(qpos1, raw->nq, "qpos1"), b(qpos2, raw->nq, "qpos2");
        tbReal* values;
        nb::object qvel = array_new({(size_t)raw->nv}, &values);
        tb_differentiate_pos(raw, values, dt, a.data(), b.data());
        return qvel;
      },
      nb::arg("m"), nb::arg("dt"), nb::arg("qpos1"), nb::arg("qpos2"),
      nb::sig("def differentiate_pos(m: Model, dt: float, qpos1: numpy.typing.ArrayLike, qpos2: "
              "numpy.typing.ArrayLike) -> " TB_ARRAY),
      "The qvel that moves qpos1 to qpos2 in time dt, shape (nv,).");
  m.def(
      "normalize_quat",
      [](Model& model, nb::handle qpos) {
        tbModel* raw = model.get();
        Reals q(qpos, raw->nq, "qpos");
        tbReal* values;
        nb::object result = array_new({(size_t)raw->nq}, &values);
        memcpy(values, q.data(), sizeof(tbReal) * raw->nq);
        tb_normalize_quat(raw, values);
        return result;
      },
      nb::arg("m"), nb::arg("qpos"),
      nb::sig("def normalize_quat(m: Model, qpos: numpy.typing.ArrayLike) -> " TB_ARRAY),
      "qpos with every quaternion of unit length, a new array of shape (nq,).");
}

void bind_dynamics(nb::module_& m) {
  bind_stages(m);
  bind_inertia(m);
  bind_jacobians(m);
  bind_configuration(m);
}

// ---- questions about a pose ---------------------------------------------------------------------

static nb::tuple ray(Model& model, Data& data, nb::handle pnt, nb::handle vec, nb::handle geomgroup,
                     bool flg_static, int bodyexclude) {
  tbModel* m = model_of(model, data);
  Reals p(pnt, 3, "pnt"), v(vec, 3, "vec");
  uint8_t group[TB_NGROUP];
  if (!geomgroup.is_none()) {
    std::vector<int> flags = integers(geomgroup, "geomgroup");
    if (flags.size() != TB_NGROUP) throw nb::value_error("geomgroup: expected 6 flags");
    for (int i = 0; i < TB_NGROUP; i++) group[i] = flags[i] != 0;
  }
  Busy busy(data);
  int geom;
  tbReal* n;
  nb::object normal = array_new({3}, &n);
  tbReal x = tb_ray(m, data.get(), p.data(), v.data(), geomgroup.is_none() ? nullptr : group,
                    flg_static, bodyexclude, &geom, n);
  if (x != x) raise(TB_ERROR_ARGUMENT, data.get()->message);
  return nb::make_tuple(x, geom, normal);
}

static nb::tuple geom_distance(Model& model, Data& data, nb::handle geom1, nb::handle geom2,
                               double distmax) {
  tbModel* m = model_of(model, data);
  int a = part_id(m, TB_OBJ_GEOM, geom1, "geom", m->ngeom);
  int b = part_id(m, TB_OBJ_GEOM, geom2, "geom", m->ngeom);
  Busy busy(data);
  tbReal* points;
  nb::object fromto = array_new({6}, &points);
  tbReal distance = tb_geom_distance(m, data.get(), a, b, distmax, points);
  if (distance != distance) raise(TB_ERROR_ARGUMENT, data.get()->message);
  return nb::make_tuple(distance, fromto);
}

static nb::object pairs(Model& model, Data& data, double margin) {
  tbModel* m = model_of(model, data);
  Busy busy(data);
  std::vector<int> found;
  auto visit = [](void* user, int geom1, int geom2) {
    auto* list = static_cast<std::vector<int>*>(user);
    list->push_back(geom1);
    list->push_back(geom2);
    return 0;
  };
  tbResult result = tb_visit_pairs(m, data.get(), margin, visit, &found);
  if (result != TB_OK) raise(result, data.get()->message);
  return array_copy(found.data(), "int", {found.size() / 2, 2});
}

using WrenchOf = tbResult (*)(const tbModel*, const tbData*, int, const tbReal[3], tbReal[6],
                              tbError*);

static nb::object wrench_of(Model& model, Data& data, int id, nb::handle about, WrenchOf function) {
  tbModel* m = model_of(model, data);
  Reals point(about, 3, "about", true);
  tbReal* values;
  nb::object wrench = array_new({6}, &values);
  tbError error;
  check(function(m, data.get(), id, point.data(), values, &error), error);
  return wrench;
}

#define ABOUT ", about: numpy.typing.ArrayLike | None = None"

void bind_query(nb::module_& m) {
  m.def(
      "ray", &ray, nb::arg("m"), nb::arg("d"), nb::arg("pnt"), nb::arg("vec"),
      nb::arg("geomgroup") = nb::none(), nb::arg("flg_static") = true, nb::arg("bodyexclude") = -1,
      nb::sig("def ray(m: Model, d: Data, pnt: numpy.typing.ArrayLike, vec: "
              "numpy.typing.ArrayLike, geomgroup: numpy.typing.ArrayLike | None = None, "
              "flg_static: bool = True, bodyexclude: int = -1) -> tuple[float, int, " TB_ARRAY "]"),
      "Smallest x >= 0 with pnt + x vec on a geom or -1, the geom or -1, and its normal.");
  m.def("geom_distance", &geom_distance, nb::arg("m"), nb::arg("d"), nb::arg("geom1"),
        nb::arg("geom2"), nb::arg("distmax") = 1e10,
        nb::sig("def geom_distance(m: Model, d: Data, geom1: int | str, geom2: int | str, "
                "distmax: float = 1e10) -> tuple[float, " TB_ARRAY "]"),
        "Signed distance of two geoms, m, at most distmax, and the nearest points, shape (6,).");
  m.def("pairs", &pairs, nb::arg("m"), nb::arg("d"), nb::arg("margin") = 0.0,
        nb::sig("def pairs(m: Model, d: Data, margin: float = 0.0) -> "
                "numpy.typing.NDArray[numpy.int32]"),
        "Pairs of geoms that may touch and whose boxes are within `margin`, shape (n, 2).");
  m.def(
      "find_contacts",
      [](Model& model, Data& data) {
        tbModel* raw = model_of(model, data);
        Busy busy(data);
        tbResult result = tb_find_contacts(raw, data.get());
        if (result != TB_OK) raise(result, data.get()->message);
      },
      nb::arg("m"), nb::arg("d"), "All contacts of the pose in d.contact, without forces.");
  m.def(
      "geom_contact_wrench",
      [](Model& model, Data& data, nb::handle geom, nb::handle about) {
        int id = part_id(model.get(), TB_OBJ_GEOM, geom, "geom", model.get()->ngeom);
        return wrench_of(model, data, id, about, tb_geom_contact_wrench);
      },
      nb::arg("m"), nb::arg("d"), nb::arg("geom"), nb::arg("about") = nb::none(),
      nb::sig(ARRAY_SIG("geom_contact_wrench", ", geom: int | str" ABOUT)),
      "Force and torque of all contacts on a geom about a world point (its position), shape (6,).");
  m.def(
      "body_contact_wrench",
      [](Model& model, Data& data, nb::handle body, nb::handle about) {
        return wrench_of(model, data, body_id(model.get(), body), about, tb_body_contact_wrench);
      },
      nb::arg("m"), nb::arg("d"), nb::arg("body"), nb::arg("about") = nb::none(),
      nb::sig(ARRAY_SIG("body_contact_wrench", ", body: int | str" ABOUT)),
      "Force and torque of all contacts on a body about a world point (its centre of mass).");
  m.def(
      "pair_contact_wrench",
      [](Model& model, Data& data, nb::handle on_body, nb::handle by_body, nb::handle about) {
        tbModel* raw = model_of(model, data);
        Reals point(about, 3, "about", true);
        tbReal* values;
        nb::object wrench = array_new({6}, &values);
        tbError error;
        check(tb_pair_contact_wrench(raw, data.get(), body_id(raw, on_body), body_id(raw, by_body),
                                     point.data(), values, &error),
              error);
        return wrench;
      },
      nb::arg("m"), nb::arg("d"), nb::arg("on_body"), nb::arg("by_body"),
      nb::arg("about") = nb::none(),
      nb::sig(ARRAY_SIG("pair_contact_wrench", ", on_body: int | str, by_body: int | str" ABOUT)),
      "Force and torque of the contacts between two bodies, on the first, shape (6,).");
}
