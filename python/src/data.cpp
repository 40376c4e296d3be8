#include <cstring>

#include <nanobind/stl/string.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "field.h"
#include "memory.h"

Data::Data(nb::handle m, tbData* data) : model(nb::borrow(m)) {
  memory = std::make_shared<DataMemory>(nb::inst_ptr<Model>(m)->memory, data);
  owner = keeper(memory);
  views.resize(data_fields().size());
}

tbModel* model_of(const Model& model, const Data& data) {
  const tbModel *m = model.get(), *own = data.made_from();
  bool same = m == own;
  if (!same) {
    same = true;
#define X(name, what) same = same && m->name == own->name;
    TB_MODEL_SIZES(X)
#undef X
  }
  if (!same) throw nb::value_error("this Data was made from another Model");
  return model.get();
}

// Address and size in bytes of an array.
struct Span {
  void* start;
  size_t size;
};

static Span array_of(const tbModel* model, const tbData* data, const Field& field) {
  const char* type;
  int rows, columns;
  const void* at = tb_data_field(model, data, field.name, &type, &rows, &columns);
  size_t element = strcmp(type, "int") == 0 ? sizeof(int) : sizeof(tbReal);
  return {const_cast<void*>(at), element * (size_t)rows * (size_t)columns};
}

std::string arrays_get(const tbModel* model, const tbData* data) {
  std::string bytes;
  for (const Field& field : data_fields()) {
    Span span = array_of(model, data, field);
    if (span.size) bytes.append(static_cast<const char*>(span.start), span.size);
  }
  return bytes;
}

bool arrays_set(const tbModel* model, tbData* data, const char* bytes, size_t size) {
  size_t total = 0;
  for (const Field& field : data_fields()) total += array_of(model, data, field).size;
  if (total != size) return false;
  for (const Field& field : data_fields()) {
    Span span = array_of(model, data, field);
    if (span.size) memcpy(span.start, bytes, span.size);
    bytes += span.size;
  }
  return true;
}

void arrays_copy(const tbModel* model, tbData* to, const tbData* from) {
  for (const Field& field : data_fields()) {
    Span target = array_of(model, to, field), source = array_of(model, from, field);
    if (target.size) memcpy(target.start, source.start, target.size);
  }
}

static nb::object view(Data& data, int field) {
  nb::object& kept = data.views[field];
  if (kept.is_valid()) return kept;
  const Field& f = data_fields()[field];
  const char* type;
  int rows, columns;
  const void* memory = tb_data_field(data.made_from(), data.get(), f.name, &type, &rows, &columns);
  kept =
      array_view(const_cast<void*>(memory), type, field_shape(f, rows, columns), data.owner, true);
  return kept;
}

static void assign(Data& data, int field, nb::handle value) {
  if (data.vectors.empty()) data.vectors.resize(data_fields().size());
  Data::Vector& vector = data.vectors[field];
  const Field& f = data_fields()[field];
  // Where a vector of numbers lies, found once.
  if (!vector.start && f.is_vector() && strcmp(f.type, "tbReal") == 0) {
    Span span = array_of(data.made_from(), data.get(), f);
    vector = {static_cast<tbReal*>(span.start), span.size / sizeof(tbReal)};
  }
  if (vector.start && vector.size && array_fill(vector.start, vector.size, value)) return;
  array_assign(view(data, field), value);
}

static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Data>(self)->model.ptr());
  return 0;
}

static PyType_Slot slots[] = {{Py_tp_traverse, (void*)traverse}, {0, nullptr}};

static nb::dict residual(const tbResidual& r) {
  nb::dict d;
  d["primal"] = r.primal;
  d["dual"] = r.dual;
  d["complementarity"] = r.complementarity;
  d["relative"] = r.relative;
  return d;
}

static nb::tuple info_of(const tbSolveInfo& i) {
  return nb::make_tuple(i.status, i.law ? i.law : "", i.solver ? i.solver : "", i.iterations,
                        i.factorizations, i.seconds, residual(i.residual),
                        residual(i.residual_exact));
}

static nb::bytes snapshot(Data& data) {
  Busy busy(data);
  const tbModel* m = data.made_from();
  std::string bytes(tb_snapshot_size(m, data.get()), 0);
  tbResult result = tb_snapshot_save(m, data.get(), &bytes[0], bytes.size());
  if (result != TB_OK) raise(result, "the snapshot cannot be taken");
  return nb::bytes(bytes.data(), bytes.size());
}

static void load_snapshot(Data& data, nb::bytes bytes) {
  Busy busy(data);
  tbError error;
  check(tb_snapshot_load(data.made_from(), data.get(), bytes.data(), bytes.size(), &error), error);
}

static void set_state(Data& data, nb::handle value) {
  Busy busy(data);
  Reals state(value, tb_state_size(data.made_from()), "state");
  tb_state_set(data.made_from(), data.get(), state.data());
}

static nb::object get_state(Data& data) {
  tbReal* values;
  nb::object state = array_new({(size_t)tb_state_size(data.made_from())}, &values);
  tb_state_get(data.made_from(), data.get(), values);
  return state;
}

static void bind_scalars(nb::class_<Data>& c) {
  c.def_prop_rw(
      "time", [](const Data& d) { return d.get()->time; },
      [](Data& d, double time) { d.get()->time = time; }, "Time, s.");
  c.def_prop_ro(
      "ncon", [](const Data& d) { return d.get()->ncon; }, "Contacts of the last step.");
  c.def_prop_ro(
      "energy",
      [](Data& d) {
        if (!d.energy.is_valid())
          d.energy = array_view(d.get()->energy, "real", {2}, d.owner, true);
        return d.energy;
      },
      nb::sig("def energy(self) -> " TB_ARRAY),
      "Potential and kinetic energy at the start of the last step, J; shape (2,). Zero unless\n"
      "`m.opt.enableflags` has EnableBit.ENERGY.");
  c.def_prop_ro(
      "status", [](const Data& d) { return (int)d.get()->status; },
      "Result of the last step: 0, or why it failed and the state was kept.");
  c.def_prop_ro(
      "message", [](const Data& d) { return d.get()->message; },
      "Which quantity of which body failed, when status is not 0.");
  c.def_prop_ro("_solve", [](const Data& d) { return info_of(d.get()->solve); });
  c.def_prop_ro("_offender", [](const Data& d) {
    const tbOffender& o = d.get()->offender;
    return nb::make_tuple(o.reason, o.geom[0], o.geom[1], o.body);
  });
  c.def_prop_ro(
      "seconds",
      [](const Data& d) {
        const tbStepTimes& t = d.get()->seconds;
        nb::dict times;
        times["collide"] = t.collide;
        times["assemble"] = t.assemble;
        times["solve"] = t.solve;
        times["dynamics"] = t.dynamics;
        times["total"] = t.total;
        return times;
      },
      nb::sig("def seconds(self) -> dict[str, float]"),
      "Wall-clock seconds of the last step by phase.");
  c.def_prop_ro(
      "allocations", [](const Data& d) { return tb_step_allocations(d.get()); },
      "Calls to malloc by steps of this world so far.");
  c.def_prop_ro(
      "memory_bytes", [](const Data& d) { return tb_step_memory(d.made_from(), d.get()); },
      "Bytes that this world holds.");
}

void bind_data(nb::module_& m) {
  nb::class_<Data> c(
      m, "Data", nb::type_slots(slots), nb::is_weak_referenceable(),
      "One world: its state, everything derived from it, and its memory.\n\n"
      "Arrays are live views, made once (`d.qpos is d.qpos`); assigning copies into\n"
      "them. They keep their memory alive after the Data is gone.");
  c.def(
      "__init__",
      [](Data* self, nb::handle_t<Model> model) {
        tbData* data = tb_data_new(nb::inst_ptr<Model>(model)->get());
        if (!data) raise(TB_ERROR_MEMORY, "no memory for a world");
        new (self) Data(model, data);
      },
      nb::arg("model"), "A world at the model's reference pose.");
  c.def_prop_ro(
      "model", [](const Data& d) { return d.model; }, nb::sig("def model(self) -> Model"),
      "The model that it was made from.");
  c.def("snapshot", &snapshot,
        "Everything that the further simulation depends on, as bytes: a world that loads them\n"
        "continues with the same bits.");
  c.def("load_snapshot", &load_snapshot, nb::arg("bytes"), "Continue from a snapshot.");
  c.def_prop_rw(
      "state", &get_state, &set_state, nb::for_getter(nb::sig("def state(self) -> " TB_ARRAY)),
      nb::for_setter(nb::sig("def state(self, value: numpy.typing.ArrayLike, /) -> None")),
      "Time and all state arrays as one new vector; assigning restores them.");
  c.def(
      "_copy",
      [](Data& d) {
        Busy busy(d);
        const tbModel* model = d.made_from();
        tbData* copy = tb_data_copy(model, d.get());
        if (!copy) raise(TB_ERROR_MEMORY, "no memory for a world");
        Data* result = new Data(d.model, copy);
        return result;
      },
      "A copy of all arrays.");
  c.def("_arrays", [](const Data& d) {
    std::string bytes = arrays_get(d.made_from(), d.get());
    return nb::bytes(bytes.data(), bytes.size());
  });
  c.def("_set_arrays", [](Data& d, nb::bytes bytes) {
    Busy busy(d);
    if (!arrays_set(d.made_from(), d.get(), bytes.c_str(), bytes.size()))
      throw nb::value_error("the bytes of a world of another model");
  });
  bind_scalars(c);
  const std::vector<Field>& fields = data_fields();
  for (int i = 0; i < (int)fields.size(); i++) {
    const Field& f = fields[i];
    c.def_prop_rw(
        f.name, [i](Data& data) { return view(data, i); },
        [i](Data& data, nb::handle value) { assign(data, i, value); },
        nb::for_getter(nb::sig(f.signature("get").c_str())),
        nb::for_setter(nb::sig(f.signature("set").c_str())), f.doc().c_str());
  }
}
