// Many worlds of one model.
#include <cstring>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "callback.h"
#include "error.h"
#include "field.h"
#include "memory.h"

struct BatchMemory {
  std::shared_ptr<ModelMemory> model;
  tbBatch* batch;
  BatchMemory(std::shared_ptr<ModelMemory> m, tbBatch* b) : model(std::move(m)), batch(b) {}
  BatchMemory(const BatchMemory&) = delete;
  ~BatchMemory() { tb_batch_free(batch); }
};

struct Batch {
  nb::object model;
  std::shared_ptr<BatchMemory> memory;
  nb::object owner;
  nb::dict arrays;  // by name, made once
  bool busy = false;
  tbBatch* get() const { return memory->batch; }
  const tbModel* of() const { return memory->batch->model; }
};

// A call on a batch: one thread at a time, the GIL released, errors raised.
template <typename Function>
static void run(Batch& b, Function call) {
  if (b.busy) throw std::runtime_error("this Batch is in use by another call");
  b.busy = true;
  CallbackScope scope(*nb::inst_ptr<Model>(b.model), nb::handle());
  tbResult result;
  {
    nb::gil_scoped_release release;
    result = call(b.get());
  }
  b.busy = false;
  scope.raise_pending();
  if (result != TB_OK) raise(result, b.get()->message);
}

// Rows of a field for one world: those of the data's or model's field of that name.
static std::vector<size_t> row_shape(const Batch& b, const std::string& name, int columns) {
  const tbModel* m = b.of();
  const char* type;
  int rows, width;
  int field = field_find(model_fields(), name.c_str());
  if (field >= 0 && tb_model_field(m, name.c_str(), &type, &rows, &width))
    return field_shape(model_fields()[field], rows, width);
  field = field_find(data_fields(), name.c_str());
  if (field >= 0) {
    const Field& f = data_fields()[field];
    if (f.is_vector()) return {(size_t)columns};
    // A field without columns has no rows either.
    tbData* d = nullptr;
    (void)d;
    size_t wide = strtoul(f.columns, nullptr, 10);
    return {wide ? columns / wide : 0, wide};
  }
  if (name == "body_contact_wrench") return {(size_t)m->nbody, 6};
  if (columns > 1 || name == "opt.gravity" || name == "sensordata") return {(size_t)columns};
  return {};
}

static nb::object array_of(Batch& b, const std::string& name, void* memory) {
  if (b.arrays.contains(name.c_str())) return b.arrays[name.c_str()];
  const char* type;
  int columns;
  void* found = tb_batch_field(b.get(), name.c_str(), &type, &columns);
  if (!found && !memory) {
    std::string text = "'" + name +
                       "' is no field of this batch: expand() model fields and options, request() "
                       "fields of the data";
    throw nb::key_error(text.c_str());
  }
  std::vector<size_t> shape = row_shape(b, name, columns);
  shape.insert(shape.begin(), (size_t)b.get()->nworld);
  nb::object view = array_view(found ? found : memory, type, shape, b.owner, true);
  b.arrays[name.c_str()] = view;
  return view;
}

static nb::object expand(Batch& b, const std::string& name) {
  void* memory = tb_batch_expand(b.get(), name.c_str());
  if (!memory) raise(TB_ERROR_ARGUMENT, b.get()->message);
  return array_of(b, name, memory);
}

static nb::object request(Batch& b, const std::string& name) {
  void* memory = tb_batch_request(b.get(), name.c_str());
  if (!memory) raise(TB_ERROR_ARGUMENT, b.get()->message);
  return array_of(b, name, memory);
}

// Worlds that a call works on, from a mask, a list of indices, or None for all.
class Mask {
 public:
  Mask(const Batch& b, nb::handle ids, nb::handle mask) {
    int n = b.get()->nworld;
    if (!ids.is_none() && !mask.is_none())
      throw nb::type_error("give either ids or a mask, not both");
    if (ids.is_none() && mask.is_none()) return;
    given_ = true;
    bytes_.assign(n, 0);
    if (!mask.is_none()) {
      nb::module_ numpy = nb::module_::import_("numpy");
      nb::object array = numpy.attr("ascontiguousarray")(mask, numpy.attr("bool_"));
      auto flags = nb::cast<nb::ndarray<const bool, nb::c_contig, nb::device::cpu>>(array);
      if (flags.size() != (size_t)n) throw nb::value_error("mask: expected one value per world");
      for (int i = 0; i < n; i++) bytes_[i] = flags.data()[i];
      return;
    }
    for (int world : integers(ids, "ids")) {
      int i = world < 0 ? world + n : world;
      if (i < 0 || i >= n) {
        std::string text = "world " + std::to_string(world) + ": there are " + std::to_string(n);
        throw nb::index_error(text.c_str());
      }
      bytes_[i] = 1;
    }
  }
  const unsigned char* get() const { return given_ ? bytes_.data() : nullptr; }

 private:
  std::vector<unsigned char> bytes_;
  bool given_ = false;
};

static void step(Batch& b, int n, nb::handle ids, nb::handle mask) {
  Mask worlds(b, ids, mask);
  run(b, [&](tbBatch* batch) {
    if (!worlds.get()) return tb_batch_step(batch, n);
    tbRollout rollout{};
    rollout.nstep = n;
    rollout.mask = worlds.get();
    return tb_batch_rollout(batch, &rollout);
  });
}

static void forward(Batch& b, nb::handle ids, nb::handle mask, bool velocity_only) {
  Mask worlds(b, ids, mask);
  run(b, [&](tbBatch* batch) {
    return tb_batch_forward(batch, worlds.get(),
                            velocity_only ? TB_FORWARD_VELOCITY : TB_FORWARD_FORCE);
  });
}

static void reset(Batch& b, nb::handle ids, nb::handle mask, nb::handle key) {
  Mask worlds(b, ids, mask);
  if (nb::isinstance<nb::int_>(key) || key.is_none()) {
    int one = key.is_none() ? -1 : nb::cast<int>(key);
    return run(b, [&](tbBatch* batch) { return tb_batch_reset(batch, worlds.get(), one); });
  }
  // A keyframe for each of the worlds.
  std::vector<int> keys = integers(key, "key"), index;
  if (!ids.is_none()) {
    index = integers(ids, "ids");
  } else {
    for (int w = 0; w < b.get()->nworld; w++)
      if (!worlds.get() || worlds.get()[w]) index.push_back(w);
  }
  if (keys.size() != index.size())
    throw nb::value_error("key: expected one keyframe for each of the worlds");
  run(b, [&](tbBatch* batch) {
    return tb_batch_reset_worlds(batch, index.data(), (int)index.size(), keys.data());
  });
}

// Inputs of a rollout: NULL, or (nworld, nstep, width) values.
struct Inputs {
  std::vector<Reals> keep;
  const tbReal* take(nb::dict given, const char* name, size_t count) {
    if (!given.contains(name)) return nullptr;
    nb::object value = given[name];
    if (value.is_none()) return nullptr;
    keep.emplace_back(value, (long)count, name);
    return keep.back().data();
  }
};

static nb::dict rollout(Batch& b, int nstep, nb::dict given, const std::vector<std::string>& record,
                        int every, nb::handle ids, nb::handle mask, nb::handle out) {
  if (nstep < 0 || every < 0) throw nb::value_error("nstep and every: expected 0 or more");
  Mask worlds(b, ids, mask);
  const tbModel* m = b.of();
  size_t n = (size_t)b.get()->nworld, steps = n * (size_t)nstep;
  Inputs inputs;
  inputs.keep.reserve(8);
  tbRollout r{};
  r.nstep = nstep;
  r.every = every;
  r.mask = worlds.get();
  r.qpos = inputs.take(given, "qpos", n * m->nq);
  r.qvel = inputs.take(given, "qvel", n * m->nv);
  r.act = inputs.take(given, "act", n * m->na);
  r.ctrl = inputs.take(given, "ctrl", steps * m->nu);
  r.qfrc_applied = inputs.take(given, "qfrc_applied", steps * m->nv);
  r.xfrc_applied = inputs.take(given, "xfrc_applied", steps * m->nbody * 6);
  size_t kept = every > 0 ? (size_t)nstep / every : (size_t)nstep;
  nb::dict result;
  std::vector<tbRecord> records;
  for (const std::string& name : record) {
    const char* type;
    int columns;
    if (!tb_batch_field(b.get(), name.c_str(), &type, &columns)) {
      if (!tb_batch_request(b.get(), name.c_str())) raise(TB_ERROR_ARGUMENT, b.get()->message);
      tb_batch_field(b.get(), name.c_str(), &type, &columns);
    }
    std::vector<size_t> shape = row_shape(b, name, columns);
    shape.insert(shape.begin(), {n, kept});
    nb::object array;
    if (!out.is_none() && nb::borrow<nb::dict>(out).contains(name.c_str())) {
      array = nb::borrow<nb::dict>(out)[name.c_str()];
      nb::ndarray<nb::c_contig, nb::device::cpu> target;
      if (!nb::try_cast(array, target, false) ||
          target.nbytes() != n * kept * columns * (strcmp(type, "real") == 0 ? 8u : 4u))
        throw nb::value_error(
            ("out['" + name + "']: a contiguous array of another size or type").c_str());
      records.push_back({name.c_str(), const_cast<void*>((const void*)target.data())});
    } else {
      size_t bytes = strcmp(type, "real") == 0 ? 8 : 4;
      for (size_t s : shape) bytes *= s;
      char* memory = new char[bytes ? bytes : 1]();
      nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<char*>(p); });
      array = array_view(memory, type, shape, owner, true);
      records.push_back({name.c_str(), memory});
    }
    result[name.c_str()] = array;
  }
  r.record = records.data();
  r.nrecord = (int)records.size();
  run(b, [&](tbBatch* batch) { return tb_batch_rollout(batch, &r); });
  return result;
}

static nb::object state_get(Batch& b, nb::handle ids, nb::handle mask) {
  Mask worlds(b, ids, mask);
  size_t size = tb_batch_state_size(b.get()), n = (size_t)b.get()->nworld;
  std::string bytes(size * n, 0);
  run(b, [&](tbBatch* batch) { return tb_batch_state_get(batch, worlds.get(), &bytes[0], size); });
  return array_copy(bytes.data(), "uint8_t", {n, size});
}

static void state_set(Batch& b, nb::handle rows, nb::handle ids, nb::handle mask) {
  Mask worlds(b, ids, mask);
  auto array =
      nb::cast<nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(rows);
  if (array.shape(0) != (size_t)b.get()->nworld)
    throw nb::value_error("rows: expected one row per world");
  run(b, [&](tbBatch* batch) {
    return tb_batch_state_set(batch, worlds.get(), array.data(), array.shape(1));
  });
}

static void fits(const Batch& b, const Data& d) {
  const tbModel *a = b.of(), *c = d.made_from();
#define X(name, what) \
  if (a->name != c->name) throw nb::value_error("this Data was made from another Model");
  TB_MODEL_SIZES(X)
#undef X
}

static int world_index(const Batch& b, int world) {
  int n = b.get()->nworld, i = world < 0 ? world + n : world;
  if (i < 0 || i >= n) {
    std::string text = "world " + std::to_string(world) + ": there are " + std::to_string(n);
    throw nb::index_error(text.c_str());
  }
  return i;
}

static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Batch>(self)->model.ptr());
  return 0;
}

static PyType_Slot slots[] = {{Py_tp_traverse, (void*)traverse}, {0, nullptr}};

static void bind_worlds(nb::class_<Batch>& c) {
  c.def(
      "clone",
      [](Batch& b, int from, int to) {
        int f = world_index(b, from), t = world_index(b, to);
        run(b, [&](tbBatch* batch) { return tb_batch_clone(batch, f, t); });
      },
      nb::arg("source"), nb::arg("target"),
      "World `target` becomes a copy of world `source` in everything.");
  c.def(
      "gather",
      [](Batch& b, nb::handle index) {
        std::vector<int> from = integers(index, "index");
        if ((int)from.size() != b.get()->nworld)
          throw nb::value_error("index: expected one world for each world");
        for (int& world : from) world = world_index(b, world);
        run(b, [&](tbBatch* batch) { return tb_batch_gather(batch, from.data()); });
      },
      nb::arg("index"), "Every world w becomes a copy of the world that index[w] was.");
  c.def(
      "get_data",
      [](Batch& b, int world, Data& d) {
        fits(b, d);
        int w = world_index(b, world);
        Busy busy(d);
        run(b,
            [&](tbBatch* batch) { return tb_batch_get_world(batch, w, d.made_from(), d.get()); });
      },
      nb::arg("world"), nb::arg("d"), "Copy a world's state, inputs and memory to a Data.");
  c.def(
      "set_data",
      [](Batch& b, int world, Data& d) {
        fits(b, d);
        int w = world_index(b, world);
        Busy busy(d);
        run(b,
            [&](tbBatch* batch) { return tb_batch_set_world(batch, w, d.made_from(), d.get()); });
      },
      nb::arg("world"), nb::arg("d"), "Copy a Data's state, inputs and memory to a world.");
  c.def(
      "get_model",
      [](Batch& b, int world) {
        tbModel* copy = tb_model_copy(b.of());
        if (!copy) raise(TB_ERROR_MEMORY, "no memory for a model");
        copy->callbacks = nullptr;
        Model* model = new Model(copy);
        nb::object object = nb::cast(model, nb::rv_policy::take_ownership);
        int w = world_index(b, world);
        run(b, [&](tbBatch* batch) { return tb_batch_get_model(batch, w, copy); });
        return object;
      },
      nb::arg("world"), nb::sig("def get_model(self, world: int) -> Model"),
      "The model of a world as a new Model.");
  c.def(
      "set_model",
      [](Batch& b, int world, Model& model) {
        int w = world_index(b, world);
        run(b, [&](tbBatch* batch) { return tb_batch_set_model(batch, w, model.get()); });
      },
      nb::arg("world"), nb::arg("model"),
      "Give a world the values of a model, expanding arrays and options where it differs.");
  c.def(
      "set_constants",
      [](Batch& b, nb::handle ids, nb::handle mask) {
        Mask worlds(b, ids, mask);
        run(b, [&](tbBatch* batch) { return tb_batch_set_constants(batch, worlds.get()); });
      },
      nb::arg("ids") = nb::none(), nb::kw_only(), nb::arg("mask") = nb::none(),
      "Check the models of worlds and recompute their derived constants now.");
  c.def("state_get", &state_get, nb::arg("ids") = nb::none(), nb::kw_only(),
        nb::arg("mask") = nb::none(),
        nb::sig("def state_get(self, ids: numpy.typing.ArrayLike | None = None, *, mask: "
                "numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.uint8]"),
        "Everything that worlds remember, a row of bytes per world.");
  c.def("state_set", &state_set, nb::arg("rows"), nb::arg("ids") = nb::none(), nb::kw_only(),
        nb::arg("mask") = nb::none(), "Continue from the rows of state_get.");
}

void bind_batch(nb::module_& m) {
  nb::class_<Batch> c(m, "_Batch", nb::type_slots(slots), nb::is_weak_referenceable());
  c.def(
      "__init__",
      [](Batch* self, nb::handle_t<Model> model, int n, int threads, size_t memory_limit) {
        Model& of = *nb::inst_ptr<Model>(model);
        tbError error;
        tbBatch* batch;
        {
          nb::gil_scoped_release release;
          batch = tb_batch_new(of.get(), n, threads, memory_limit, &error);
        }
        if (!batch) raise(error.code, error.message);
        new (self) Batch{nb::borrow(model), std::make_shared<BatchMemory>(of.memory, batch),
                         nb::object(), nb::dict()};
        self->owner = keeper(self->memory);
      },
      nb::arg("model"), nb::arg("n"), nb::arg("threads") = 0, nb::arg("memory_limit") = 0);
  c.def_prop_ro(
      "model", [](const Batch& b) { return b.model; }, nb::sig("def model(self) -> Model"),
      "The model of all worlds.");
  c.def_prop_ro(
      "n", [](const Batch& b) { return b.get()->nworld; }, "Worlds.");
  c.def_prop_ro(
      "threads", [](const Batch& b) { return b.get()->nthread; }, "Threads.");
  c.def_prop_rw(
      "certify_every", [](const Batch& b) { return b.get()->certify_every; },
      [](Batch& b, int every) { b.get()->certify_every = every; },
      "The certificate is computed at every such step of a call, and at its last; 0: last only.");
  c.def_prop_ro(
      "memory_bytes", [](const Batch& b) { return tb_batch_memory(b.get()); },
      "Bytes that the batch holds now.");
  c.def(
      "error",
      [](const Batch& b, int world) {
        return std::string(tb_batch_error(b.get(), world_index(b, world)));
      },
      nb::arg("world"), "Error of the world's last call, \"\" if it had none.");
  c.def(
      "field", [](Batch& b, const std::string& name) { return array_of(b, name, nullptr); },
      nb::arg("name"), nb::sig("def field(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
      "The live array of that name: state, input, expanded or requested field.");
  c.def(
      "expand", &expand, nb::arg("name"),
      nb::sig("def expand(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
      "Give each world its own values of a field of the model (\"geom_friction\") or of an option\n"
      "(\"opt.gravity\"): a live array with a row per world.");
  c.def(
      "request", &request, nb::arg("name"),
      nb::sig("def request(self, name: str) -> numpy.typing.NDArray[typing.Any]"),
      "Have a field of the data (\"xpos\", \"qacc\", ...) copied at the end of every call: a live\n"
      "array with a row per world. Also \"energy\", \"residual\", \"body_contact_wrench\".");
  c.def("step", &step, nb::arg("n") = 1, nb::arg("ids") = nb::none(), nb::kw_only(),
        nb::arg("mask") = nb::none(), "Advance worlds by `n` steps with their inputs held.");
  c.def("forward", &forward, nb::arg("ids") = nb::none(), nb::kw_only(),
        nb::arg("mask") = nb::none(), nb::arg("velocity_only") = false,
        "Sensors and requested fields at the present states, without moving them.");
  c.def("reset", &reset, nb::arg("ids") = nb::none(), nb::kw_only(), nb::arg("mask") = nb::none(),
        nb::arg("key") = nb::none(),
        "Worlds return to the reference pose, or to a keyframe: one for all, or one for each.");
  c.def("_rollout", &rollout, nb::arg("nstep"), nb::arg("inputs"), nb::arg("record"),
        nb::arg("every"), nb::arg("ids").none(), nb::arg("mask").none(), nb::arg("out").none());
  c.def_prop_ro(
      "_report",
      [](Batch& b) {
        return array_view(b.get()->report, "uint8_t",
                          {(size_t)b.get()->nworld, sizeof(tbWorldReport)}, b.owner, true);
      },
      nb::sig("def _report(self) -> numpy.typing.NDArray[typing.Any]"));
  // Members of a report: name, type and offset, for a structured array.
  struct {
    const char *name, *type;
    size_t offset;
  } const MEMBERS[] = {
      {"steps", "i8", offsetof(tbWorldReport, steps)},
      {"unconverged_steps", "i8", offsetof(tbWorldReport, unconverged_steps)},
      {"uncertified_steps", "i8", offsetof(tbWorldReport, uncertified_steps)},
      {"first_unconverged", "i8", offsetof(tbWorldReport, first_unconverged)},
      {"first_uncertified", "i8", offsetof(tbWorldReport, first_uncertified)},
      {"residual", "f8", offsetof(tbWorldReport, residual)},
      {"residual_exact", "f8", offsetof(tbWorldReport, residual_exact)},
      {"worst_step", "i8", offsetof(tbWorldReport, worst_step)},
      {"penetration", "f8", offsetof(tbWorldReport, penetration)},
      {"status", "i4", offsetof(tbWorldReport, status)},
      {"offender", "4i4", offsetof(tbWorldReport, offender)},
  };
  nb::list members;
  for (auto& of : MEMBERS) members.append(nb::make_tuple(of.name, of.type, of.offset));
  m.attr("report_members") = nb::make_tuple(members, sizeof(tbWorldReport));
  bind_worlds(c);
}
