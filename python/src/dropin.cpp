// What tribo.mujoco needs besides the rest of the module: MuJoCo's state vectors, its stepping
// with warnings and resets, runs of many worlds, and the functions of dynamics.h and query.h with
// MuJoCo's arguments.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "callback.h"
#include "error.h"
#include "memory.h"

using ModelHandle = nb::handle_t<Model>;
using DataHandle = nb::handle_t<Data>;
using Doubles = nb::ndarray<tbReal, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<int, nb::c_contig, nb::device::cpu>;

// ---- state vectors ------------------------------------------------------------------------------

// Bits of mjtState, in the order of the vector. Those without an entry here are empty.
enum { TIME = 0, QPOS, QVEL, ACT, HISTORY, WARMSTART, CTRL, QFRC, XFRC, EQ_ACTIVE, MOCAP_POS,
       MOCAP_QUAT, USERDATA, PLUGIN, PLASTIC, NSTATE };

struct Part {
  tbReal* reals;
  int* ints;
  int size;
};

static Part part_of(const tbModel* m, const tbData* d, int bit) {
  switch (bit) {
    case TIME: return {const_cast<tbReal*>(d ? &d->time : nullptr), nullptr, 1};
    case QPOS: return {d ? d->qpos : nullptr, nullptr, m->nq};
    case QVEL: return {d ? d->qvel : nullptr, nullptr, m->nv};
    case ACT: return {d ? d->act : nullptr, nullptr, m->na};
    case WARMSTART: return {d ? d->qacc_warmstart : nullptr, nullptr, m->nv};
    case CTRL: return {d ? d->ctrl : nullptr, nullptr, m->nu};
    case QFRC: return {d ? d->qfrc_applied : nullptr, nullptr, m->nv};
    case XFRC: return {d ? d->xfrc_applied : nullptr, nullptr, 6 * m->nbody};
    case EQ_ACTIVE: return {nullptr, d ? d->eq_active : nullptr, m->neq};
    case MOCAP_POS: return {d ? d->mocap_pos : nullptr, nullptr, 3 * m->nmocap};
    case MOCAP_QUAT: return {d ? d->mocap_quat : nullptr, nullptr, 4 * m->nmocap};
    case USERDATA: return {d ? d->userdata : nullptr, nullptr, m->nuserdata};
    default: return {nullptr, nullptr, 0};
  }
}

static int state_size(const tbModel* m, int signature) {
  int size = 0;
  for (int bit = 0; bit < NSTATE; bit++)
    if (signature >> bit & 1) size += part_of(m, nullptr, bit).size;
  return size;
}

static void state_get(const tbModel* m, const tbData* d, int signature, tbReal* x) {
  for (int bit = 0; bit < NSTATE; bit++) {
    if (!(signature >> bit & 1)) continue;
    Part p = part_of(m, d, bit);
    for (int i = 0; i < p.size; i++) x[i] = p.reals ? p.reals[i] : p.ints[i];
    x += p.size;
  }
}

static void state_set(const tbModel* m, tbData* d, int signature, const tbReal* x) {
  for (int bit = 0; bit < NSTATE; bit++) {
    if (!(signature >> bit & 1)) continue;
    Part p = part_of(m, d, bit);
    for (int i = 0; i < p.size; i++) {
      if (p.reals)
        p.reals[i] = x[i];
      else
        p.ints[i] = x[i] != 0;
    }
    x += p.size;
  }
}

// ---- steps with MuJoCo's warnings ---------------------------------------------------------------

// A number that MuJoCo takes for a divergence.
static int bad_index(const tbReal* x, int n) {
  for (int i = 0; i < n; i++)
    if (!(std::fabs(x[i]) <= 1e10)) return i;
  return -1;
}

enum { BADQPOS = 3, BADQVEL = 4, BADQACC = 5, BADCTRL = 6, NWARNING = 7 };

// A warning has two numbers: information of the last one, and their count.
static void warn(int* warning, int which, int information) {
  warning[2 * which] = information;
  warning[2 * which + 1]++;
}

static bool check_state(const tbModel* m, tbData* d, int* warning, int which) {
  const tbReal* x = which == BADQPOS ? d->qpos : d->qvel;
  int bad = bad_index(x, which == BADQPOS ? m->nq : m->nv);
  if (bad < 0) return true;
  bool reset = !(m->opt.disableflags & TB_DISABLE_AUTORESET);
  warn(warning, which, bad);
  if (reset) tb_reset(m, d);
  return false;
}

// A step as mj_step: a state that is not finite warns and starts from the reference; so does a
// step that fails on a number. Other errors are returned.
static tbResult step_with_warnings(const tbModel* m, tbData* d, int* warning) {
  for (int i = 0; i < m->nu; i++) {
    if (std::isfinite(d->ctrl[i])) continue;
    warn(warning, BADCTRL, i);
    memset(d->ctrl, 0, sizeof(tbReal) * (size_t)m->nu);
  }
  check_state(m, d, warning, BADQPOS);
  check_state(m, d, warning, BADQVEL);
  tbResult result = tb_step(m, d);
  if (result != TB_ERROR_NUMERIC) return result;
  warn(warning, BADQACC, 0);
  if (m->opt.disableflags & TB_DISABLE_AUTORESET) return result;
  tb_reset(m, d);
  return tb_step(m, d);
}

static bool unconverged(const tbData* d) { return d->offender.reason == TB_OFFENCE_UNCONVERGED; }

static void warn_once(Data& d) {
  if (d.warned) return;
  d.warned = true;
  const tbSolveInfo& s = d.get()->solve;
  char text[200];
  snprintf(text, sizeof text,
           "the step to t = %g s did not converge: %s of %s/%s after %d iterations, relative "
           "residual %.1e (given once per MjData)",
           d.get()->time, tb_solve_status_name((tbSolveStatus)s.status), s.law ? s.law : "?",
           s.solver ? s.solver : "?", s.iterations, s.residual.relative);
  warn_unconverged(text);
}

template <typename Function>
static void evaluate(ModelHandle model, DataHandle data, Function call) {
  Model& m = *nb::inst_ptr<Model>(model);
  Data& d = *nb::inst_ptr<Data>(data);
  tbModel* raw = model_of(m, d);
  Busy busy(d);
  CallbackScope scope(m, data);
  tbResult result;
  bool slow = false;
  {
    nb::gil_scoped_release release;
    result = call(raw, d.get(), &slow);
  }
  scope.raise_pending();
  if (result != TB_OK) raise(result, d.get()->message);
  if (slow) warn_once(d);
}

static void step(ModelHandle model, DataHandle data, int n, Ints warning) {
  int* counts = warning.data();
  evaluate(model, data, [=](tbModel* m, tbData* d, bool* slow) {
    tbResult result = TB_OK;
    for (int i = 0; i < n && result == TB_OK; i++) {
      result = step_with_warnings(m, d, counts);
      *slow = *slow || unconverged(d);
    }
    return result;
  });
}

// ---- runs of many worlds ------------------------------------------------------------------------

// Call work(item, thread) for all items, on `threads` threads where that is more than one.
static void spread(int items, int threads, const std::function<void(int, int)>& work) {
  if (threads <= 1 || items <= 1) {
    for (int i = 0; i < items; i++) work(i, 0);
    return;
  }
  std::atomic<int> next{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < std::min(threads, items); t++)
    pool.emplace_back([&, t] {
      for (int i = next++; i < items; i = next++) work(i, t);
    });
  for (std::thread& thread : pool) thread.join();
}

static const tbReal* row(const Reals& values, size_t width, int i) {
  return values.data() ? values.data() + width * (size_t)i : nullptr;
}

static int warnings_of(const int* warning) {
  int count = 0;
  for (int i = 0; i < NWARNING; i++) count += warning[2 * i + 1];
  return count;
}

// Models and worlds of Python lists; a world is used by one call at a time.
struct Worlds {
  std::vector<std::shared_ptr<ModelMemory>> models;
  std::vector<std::shared_ptr<DataMemory>> datas;
  std::vector<std::unique_ptr<Busy>> busy;
  Worlds(nb::list model_list, nb::list data_list) {
    for (nb::handle m : model_list) models.push_back(nb::cast<Model&>(m).memory);
    for (nb::handle d : data_list) {
      Data& data = nb::cast<Data&>(d);
      datas.push_back(data.memory);
      busy.emplace_back(new Busy(data));
    }
  }
  const tbModel* model(int i) const { return models.size() == 1 ? models[0]->model : models[i]->model; }
};

static constexpr int FULLPHYSICS = 24607;

// What mujoco.rollout does: each of `count` trajectories from an initial state, one world a thread.
// Returns the messages of errors, empty where there was none.
static std::vector<std::string> rollout(nb::list models, nb::list datas, int count, int nstep,
                                        int control_signature, nb::handle initial,
                                        nb::handle warmstart, nb::handle control, nb::handle state,
                                        nb::handle sensordata) {
  Worlds worlds(models, datas);
  if (worlds.models.empty()) throw nb::value_error("The list of model instances is empty");
  const tbModel* first = worlds.model(0);
  size_t nstate = state_size(first, FULLPHYSICS), nv = first->nv, ns = first->nsensordata,
         ncontrol = state_size(first, control_signature);
  Reals x0(initial, (long)(count * nstate), "initial_state");
  Reals a0(warmstart, (long)(count * nv), "initial_warmstart", true);
  Reals u(control, (long)((size_t)count * nstep * ncontrol), "control", true);
  tbReal* states = state.is_none() ? nullptr : nb::cast<Doubles>(state).data();
  tbReal* sensors = sensordata.is_none() ? nullptr : nb::cast<Doubles>(sensordata).data();
  std::vector<std::string> errors(count);
  auto work = [&](int i, int thread) {
    const tbModel* m = worlds.model(i);
    tbData* d = worlds.datas[thread]->data;
    int warning[2 * NWARNING] = {0};
    tb_reset(m, d);
    state_set(m, d, FULLPHYSICS, row(x0, nstate, i));
    if (a0.data()) memcpy(d->qacc_warmstart, row(a0, nv, i), nv * sizeof(tbReal));
    bool stopped = false;
    for (int k = 0; k < nstep; k++) {
      size_t at = (size_t)i * nstep + k;
      if (!stopped) {
        if (u.data()) state_set(m, d, control_signature, u.data() + at * ncontrol);
        tbResult result = step_with_warnings(m, d, warning);
        if (result != TB_OK && result != TB_ERROR_NUMERIC) errors[i] = d->message;
        stopped = result != TB_OK || warnings_of(warning) > 0;
      }
      if (states) state_get(m, d, FULLPHYSICS, states + at * nstate);
      if (sensors && ns) memcpy(sensors + at * ns, d->sensordata, ns * sizeof(tbReal));
    }
  };
  {
    nb::gil_scoped_release release;
    spread(count, (int)worlds.datas.size(), work);
  }
  return errors;
}

// Where a recorded field of a world is copied to: rows of `width` bytes, `steps` per world.
struct Record {
  std::string name;
  int signature;
  char* to;
  size_t stride, width;
};

static void copy_field(const tbModel* m, const tbData* d, const Record& r, char* to) {
  if (r.name.empty()) return state_get(m, d, r.signature, reinterpret_cast<tbReal*>(to));
  if (r.name == "energy") {
    memcpy(to, d->energy, sizeof d->energy);
  } else if (r.name == "ncon") {
    memcpy(to, &d->ncon, sizeof d->ncon);
  } else if (r.name == "time") {
    memcpy(to, &d->time, sizeof d->time);
  } else if (r.name == "solver_niter") {
    memset(to, 0, r.width);
    memcpy(to, &d->solve.iterations, sizeof(int));
  } else if (r.name == "eq_active") {
    for (int i = 0; i < m->neq; i++) to[i] = d->eq_active[i] != 0;
  } else {
    const char* type;
    int rows, columns;
    const void* from = tb_data_field(m, d, r.name.c_str(), &type, &rows, &columns);
    if (from && r.width) memcpy(to, from, r.width);
  }
}

// Stages of mjtStage at the world's state.
static tbResult stages(const tbModel* m, tbData* d, int stage) {
  if (stage == 1) {
    tb_compute_position(m, d);
    return TB_OK;
  }
  if (stage == 2) return tb_step1(m, d);
  return stage >= 3 ? tb_forward(m, d) : TB_OK;
}

// Move worlds ids[k] from their rows of `rows` (signature `full`), `nstep` steps with `stage` after,
// and copy the row and the fields back. With `control`, records of every step instead.
// `reset`: a key per world first (-1: reference), or None. Returns how many failed.
static int batch_run(nb::list models, nb::list datas, Ints ids, int nstep, int stage, Doubles rows,
                     int full, nb::handle control, int control_signature, nb::list records,
                     bool every_step, nb::handle reset, Ints status, Ints warning,
                     nb::list messages, int threads) {
  Worlds worlds(models, datas);
  size_t nstate = state_size(worlds.model(0), full);
  size_t ncontrol = state_size(worlds.model(0), control_signature);
  Reals u(control, -1, "control", true);
  std::vector<int> keys;
  if (!reset.is_none()) keys = integers(reset, "keyframe");
  std::vector<Record> out;
  for (nb::handle item : records) {
    nb::tuple t = nb::cast<nb::tuple>(item);
    nb::ndarray<nb::c_contig, nb::device::cpu> array =
        nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(t[2]);
    size_t rest = 1;
    for (size_t i = every_step ? 2 : 1; i < array.ndim(); i++) rest *= array.shape(i);
    size_t width = rest * array.itemsize();
    out.push_back({t[0].is_none() ? std::string() : nb::cast<std::string>(t[0]),
                   nb::cast<int>(t[1]), static_cast<char*>(array.data()),
                   every_step ? width * (size_t)nstep : width, width});
  }
  int count = (int)ids.size();
  std::vector<std::string> errors(count);
  auto work = [&](int k, int) {
    int i = ids.data()[k];
    const tbModel* m = worlds.model(i);
    tbData* d = worlds.datas[i]->data;
    int* counts = warning.data() + 2 * NWARNING * (size_t)i;
    tbReal* x = rows.data() + nstate * (size_t)i;
    int before = warnings_of(counts);
    tbResult result = TB_OK;
    if (!keys.empty()) {
      if (keys[k] < 0)
        tb_reset(m, d);
      else
        result = tb_reset_keyframe(m, d, keys[k]);
    } else {
      state_set(m, d, full, x);
    }
    bool stopped = false;
    for (int s = 0; s < nstep && result == TB_OK; s++) {
      if (!stopped) {
        if (u.data())
          state_set(m, d, control_signature, u.data() + ((size_t)k * nstep + s) * ncontrol);
        result = step_with_warnings(m, d, counts);
        stopped = every_step && warnings_of(counts) > before;
      }
      if (!every_step) continue;
      for (const Record& r : out)
        copy_field(m, d, r, r.to + r.stride * (size_t)k + r.width * (size_t)s);
    }
    if (result == TB_OK) result = stages(m, d, stage);
    status.data()[i] = result;
    if (result != TB_OK) {
      errors[k] = d->message[0] ? d->message : tb_result_name(result);
      state_set(m, d, full, x);
      return;
    }
    state_get(m, d, full, x);
    if (every_step) return;
    for (const Record& r : out) copy_field(m, d, r, r.to + r.stride * (size_t)i);
  };
  {
    nb::gil_scoped_release release;
    spread(count, threads, work);
  }
  int failed = 0;
  for (int k = 0; k < count; k++) {
    messages[ids.data()[k]] = errors[k];
    failed += status.data()[ids.data()[k]] != 0;
  }
  return failed;
}

// ---- functions of dynamics.h, query.h and contact.h ---------------------------------------------

static tbReal* out_or_null(nb::handle value, size_t size, const char* name) {
  if (value.is_none()) return nullptr;
  Doubles array;
  if (!nb::try_cast(value, array, false) || array.size() != size) {
    std::string text = std::string(name) + ": expected a writable float64 array of " +
                       std::to_string(size) + " values, or None";
    throw nb::type_error(text.c_str());
  }
  return array.data();
}

static tbReal* out(nb::handle value, size_t size, const char* name) {
  tbReal* data = out_or_null(value, size, name);
  if (!data) throw nb::type_error((std::string(name) + " must not be None").c_str());
  return data;
}

struct World {
  tbModel* m;
  tbData* d;
  World(ModelHandle model, DataHandle data)
      : m(model_of(*nb::inst_ptr<Model>(model), *nb::inst_ptr<Data>(data))),
        d(nb::inst_ptr<Data>(data)->get()) {
    if (nb::inst_ptr<Data>(data)->busy)
      throw std::runtime_error("this Data is in use by another call");
  }
};

template <void (*FUNCTION)(const tbModel*, tbData*)>
static void stage_of(ModelHandle model, DataHandle data) {
  World w(model, data);
  FUNCTION(w.m, w.d);
}

template <void (*FUNCTION)(const tbModel*, const tbData*, int, tbReal*, tbReal*)>
static void jacobian(ModelHandle model, DataHandle data, nb::handle jacp, nb::handle jacr, int id) {
  World w(model, data);
  FUNCTION(w.m, w.d, id, out_or_null(jacp, 3 * (size_t)w.m->nv, "jacp"),
           out_or_null(jacr, 3 * (size_t)w.m->nv, "jacr"));
}

static void bind_stages(nb::module_& m) {
#define STAGE(name) m.def(#name, &stage_of<tb_##name>);
  STAGE(compute_position)
  STAGE(compute_velocity)
  STAGE(kinematics)
  STAGE(com_position)
  STAGE(com_velocity)
  STAGE(subtree_velocity)
  STAGE(energy_position)
  STAGE(energy_velocity)
  STAGE(tendon)
  STAGE(transmission)
  STAGE(crb)
  STAGE(body_accelerations)
#undef STAGE
  m.def("factor_m", [](ModelHandle model, DataHandle data) {
    World w(model, data);
    tbResult result = tb_factor_m(w.m, w.d);
    if (result != TB_OK) raise(result, "the inertia matrix is not positive definite");
  });
  m.def("find_contacts", [](ModelHandle model, DataHandle data) {
    World w(model, data);
    tbResult result = tb_find_contacts(w.m, w.d);
    if (result != TB_OK) raise(result, w.d->message);
  });
  m.def("rne_post_constraint", [](ModelHandle model, DataHandle data) {
    World w(model, data);
    tbError error;
    check(tb_rne_post_constraint(w.m, w.d, &error), error);
  });
}

static void bind_jacobians(nb::module_& m) {
#define JACOBIAN(name) m.def(#name, &jacobian<tb_##name>, nb::arg("m"), nb::arg("d"), \
                             nb::arg("jacp").none(), nb::arg("jacr").none(), nb::arg("id"));
  JACOBIAN(jac_body)
  JACOBIAN(jac_body_com)
  JACOBIAN(jac_geom)
  JACOBIAN(jac_site)
#undef JACOBIAN
  m.def("jac", [](ModelHandle model, DataHandle data, nb::handle jacp, nb::handle jacr,
                  nb::handle point, int body, bool dot) {
    World w(model, data);
    Reals p(point, 3, "point");
    size_t size = 3 * (size_t)w.m->nv;
    (dot ? tb_jac_dot : tb_jac)(w.m, w.d, body, p.data(), out_or_null(jacp, size, "jacp"),
                                out_or_null(jacr, size, "jacr"));
  }, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg());
  m.def("jac_subtree_com", [](ModelHandle model, DataHandle data, nb::handle jacp, int body) {
    World w(model, data);
    tb_jac_subtree_com(w.m, w.d, body, out(jacp, 3 * (size_t)w.m->nv, "jacp"));
  });
}

static void bind_inertia(nb::module_& m) {
  m.def("full_m", [](ModelHandle model, DataHandle data, nb::handle dst) {
    World w(model, data);
    tb_full_m(w.m, w.d, out(dst, (size_t)w.m->nv * w.m->nv, "dst"));
  });
  m.def("mul_m", [](ModelHandle model, DataHandle data, nb::handle res, nb::handle vec) {
    World w(model, data);
    Reals v(vec, w.m->nv, "vec");
    tb_mul_m(w.m, w.d, out(res, w.m->nv, "res"), v.data());
  });
  m.def("solve_m", [](ModelHandle model, DataHandle data, nb::handle x, nb::handle y, int n) {
    World w(model, data);
    Reals right(y, (long)n * w.m->nv, "y");
    tb_solve_m(w.m, w.d, out(x, (size_t)n * w.m->nv, "x"), right.data(), n);
  });
  m.def("rne", [](ModelHandle model, DataHandle data, bool acceleration, nb::handle result) {
    World w(model, data);
    tb_rne(w.m, w.d, acceleration ? w.d->qacc : nullptr, nullptr, out(result, w.m->nv, "result"));
  });
  m.def("apply_wrench", [](ModelHandle model, DataHandle data, nb::handle force, nb::handle torque,
                           nb::handle point, int body, nb::handle qfrc) {
    World w(model, data);
    Reals f(force, 3, "force"), t(torque, 3, "torque"), p(point, 3, "point");
    tb_apply_wrench(w.m, w.d, body, p.data(), f.data(), t.data(),
                    out(qfrc, w.m->nv, "qfrc_target"));
  });
  m.def("full_moment", [](ModelHandle model, DataHandle data, nb::handle moment) {
    World w(model, data);
    tb_full_moment(w.m, w.d, out(moment, (size_t)w.m->nu * w.m->nv, "moment"));
  });
  m.def("object_velocity", [](ModelHandle model, DataHandle data, int type, int id, nb::handle res,
                              bool local, bool acceleration) {
    World w(model, data);
    if (acceleration)
      tb_object_acceleration(w.m, w.d, (tbObjType)type, id, local, out(res, 6, "res"));
    else
      tb_object_velocity(w.m, w.d, (tbObjType)type, id, local, out(res, 6, "res"));
  });
}

static void bind_configuration(nb::module_& m) {
  m.def("integrate_pos", [](Model& model, nb::handle qpos, nb::handle qvel, double dt) {
    Reals v(qvel, model.get()->nv, "qvel");
    tb_integrate_pos(model.get(), out(qpos, model.get()->nq, "qpos"), v.data(), dt);
  });
  m.def("differentiate_pos", [](Model& model, nb::handle qvel, double dt, nb::handle qpos1,
                                nb::handle qpos2) {
    Reals a(qpos1, model.get()->nq, "qpos1"), b(qpos2, model.get()->nq, "qpos2");
    tb_differentiate_pos(model.get(), out(qvel, model.get()->nv, "qvel"), dt, a.data(), b.data());
  });
  m.def("normalize_quat", [](Model& model, nb::handle qpos) {
    tb_normalize_quat(model.get(), out(qpos, model.get()->nq, "qpos"));
  });
}

static void bind_queries(nb::module_& m) {
  m.def("ray", [](ModelHandle model, DataHandle data, nb::handle pnt, nb::handle vec,
                  nb::handle group, int flg_static, int bodyexclude, nb::handle normal) {
    World w(model, data);
    Reals p(pnt, 3, "pnt"), v(vec, 3, "vec");
    std::vector<uint8_t> groups;
    if (!group.is_none())
      for (int flag : integers(group, "geomgroup")) groups.push_back(flag != 0);
    if (!group.is_none() && groups.size() != TB_NGROUP)
      throw nb::type_error("geomgroup: expected 6 values");
    int geom = -1;
    tbReal distance = tb_ray(w.m, w.d, p.data(), v.data(), groups.empty() ? nullptr : groups.data(),
                             flg_static, bodyexclude, &geom, out_or_null(normal, 3, "normal"));
    return std::make_pair(distance, geom);
  }, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg().none());
  m.def("geom_distance", [](ModelHandle model, DataHandle data, int geom1, int geom2,
                            double distmax, nb::handle fromto) {
    World w(model, data);
    return tb_geom_distance(w.m, w.d, geom1, geom2, distmax, out_or_null(fromto, 6, "fromto"));
  }, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("contact_bytes", [](Data& data) {
    const tbData* d = data.get();
    return nb::bytes(reinterpret_cast<const char*>(d->contact), sizeof(tbContact) * (size_t)d->ncon);
  });
  nb::list members;
#define MEMBER(name, type, count) \
  members.append(nb::make_tuple(#name, type, count, offsetof(tbContact, name)));
  MEMBER(dist, "f8", 1)
  MEMBER(pos, "f8", 3)
  MEMBER(frame, "f8", 9)
  MEMBER(includemargin, "f8", 1)
  MEMBER(friction, "f8", 5)
  MEMBER(solref, "f8", 2)
  MEMBER(solreffriction, "f8", 2)
  MEMBER(solimp, "f8", 5)
  MEMBER(force, "f8", 6)
  MEMBER(dim, "i4", 1)
  MEMBER(geom, "i4", 2)
  MEMBER(exclude, "i4", 1)
  MEMBER(row, "i4", 1)
#undef MEMBER
  m.attr("contact_members") = members;
  m.attr("contact_size") = sizeof(tbContact);
}

void bind_dropin(nb::module_& parent) {
  // A second Model over the memory of one, so that a class of Python can be derived from it.
  nb::object type = parent.attr("Model");
  nb::cpp_function_def([](Model* self, ModelHandle other) {
    new (self) Model(*nb::inst_ptr<Model>(other));
    for (nb::object& view : self->views) view.reset();
    for (nb::object& view : self->option) view.reset();
    for (nb::object& function : self->callable) function.reset();
  }, nb::scope(type), nb::name("__init__"), nb::is_method(), nb::arg("other"),
     "The model of another object: both show the same memory.");
  nb::module_ m = parent.def_submodule("_dropin", "What tribo.mujoco needs.");
  m.def("model_address", [](Model& model) { return (uintptr_t)model.get(); });
  m.def("data_address", [](Data& data) { return (uintptr_t)data.get(); });
  m.def("state_size", [](Model& model, int signature) { return state_size(model.get(), signature); });
  m.def("state_get", [](ModelHandle model, DataHandle data, nb::handle x, int signature) {
    World w(model, data);
    state_get(w.m, w.d, signature, out(x, state_size(w.m, signature), "state"));
  });
  m.def("state_set", [](ModelHandle model, DataHandle data, nb::handle x, int signature) {
    World w(model, data);
    Reals values(x, state_size(w.m, signature), "state");
    state_set(w.m, w.d, signature, values.data());
  });
  m.def("step", &step);
  m.def("check_state", [](ModelHandle model, DataHandle data, Ints warning, int which) {
    World w(model, data);
    return check_state(w.m, w.d, warning.data(), which);
  });
  m.def("rollout", &rollout, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("batch_run", &batch_run, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg());
  bind_stages(m);
  bind_jacobians(m);
  bind_inertia(m);
  bind_configuration(m);
  bind_queries(m);
}
