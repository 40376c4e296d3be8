// What tribo.mujoco needs besides the rest of the module: MuJoCo's state vectors, its stepping
// with warnings and resets, and runs of many worlds.
#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "convergence.h"
#include "error.h"
#include "memory.h"

using ModelHandle = nb::handle_t<Model>;
using DataHandle = nb::handle_t<Data>;
using Doubles = nb::ndarray<tbReal, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<int, nb::c_contig, nb::device::cpu>;

// ---- state vectors ------------------------------------------------------------------------------

// Bits of mjtState, in the order of the vector. Those without an entry here are empty.
enum {
  TIME = 0,
  QPOS,
  QVEL,
  ACT,
  HISTORY,
  WARMSTART,
  CTRL,
  QFRC,
  XFRC,
  EQ_ACTIVE,
  MOCAP_POS,
  MOCAP_QUAT,
  USERDATA,
  PLUGIN,
  PLASTIC,
  NSTATE
};

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

static int warnings_of(const int* warning) {
  int count = 0;
  for (int i = 0; i < NWARNING; i++) count += warning[2 * i + 1];
  return count;
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
  first.warn(d, "given once per MjData");
}

// Steps; adds their seconds and number to the first two values of `timer`. Whether they warned.
static bool step(ModelHandle model, DataHandle data, int n, Ints warning, Doubles timer) {
  int* counts = warning.data();
  int before = warnings_of(counts);
  auto start = std::chrono::steady_clock::now();
  evaluate(model, data, [=](tbModel* m, tbData* d, FirstUnconverged* first) {
    tbResult result = TB_OK;
    for (int i = 0; i < n && result == TB_OK; i++) {
      result = step_with_warnings(m, d, counts);
      first->note(d);
    }
    return result;
  });
  timer.data()[0] +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timer.data()[1] += n;
  return warnings_of(counts) != before;
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
  const tbModel* model(int i) const {
    return models.size() == 1 ? models[0]->model : models[i]->model;
  }
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

// Move worlds ids[k] from their rows of `rows` (signature `full`), `nstep` steps with `stage`
// after, and copy the row and the fields back. With `control`, records of every step instead.
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

// The contacts of a world as bytes, and where their members lie in them.
static void bind_contacts(nb::module_& m) {
  m.def("contact_bytes", [](Data& data) {
    const tbData* d = data.get();
    return nb::bytes(reinterpret_cast<const char*>(d->contact),
                     sizeof(tbContact) * (size_t)d->ncon);
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
  nb::cpp_function_def(
      [](Model* self, ModelHandle other) {
        new (self) Model(*nb::inst_ptr<Model>(other));
        for (nb::object& view : self->views) view.reset();
        for (nb::object& view : self->option) view.reset();
        for (nb::object& function : self->callable) function.reset();
      },
      nb::scope(type), nb::name("__init__"), nb::is_method(), nb::arg("other"),
      "The model of another object: both show the same memory.");
  nb::module_ m = parent.def_submodule("_dropin", "What tribo.mujoco needs.");
  m.def("model_address", [](Model& model) { return (uintptr_t)model.get(); });
  m.def("data_address", [](Data& data) { return (uintptr_t)data.get(); });
  m.def("state_size",
        [](Model& model, int signature) { return state_size(model.get(), signature); });
  m.def("state_get", [](Model& model, Data& data, Doubles x, int signature) {
    const tbModel* raw = model_of(model, data);
    Busy busy(data);
    if ((int)x.size() != state_size(raw, signature)) throw nb::value_error("state: wrong size");
    state_get(raw, data.get(), signature, x.data());
  });
  m.def("state_set", [](Model& model, Data& data, nb::handle x, int signature) {
    const tbModel* raw = model_of(model, data);
    Busy busy(data);
    Reals values(x, state_size(raw, signature), "state");
    state_set(raw, data.get(), signature, values.data());
  });
  m.def("step", &step);
  m.def("check_state", [](Model& model, Data& data, Ints warning, int which) {
    const tbModel* raw = model_of(model, data);
    Busy busy(data);
    return check_state(raw, data.get(), warning.data(), which);
  });
  m.def("rollout", &rollout, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none());
  m.def("batch_run", &batch_run, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg());
  bind_contacts(m);
}
