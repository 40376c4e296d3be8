#include "callback.h"

#include <cmath>
#include <cstring>

#include "bind.h"
#include "contact.h"

// The Data that this thread steps, borrowed.
static thread_local PyObject* current;

CallbackScope::CallbackScope(const Model& model, nb::handle data)
    : memory_(*model.memory), active_(model.get()->callbacks != nullptr) {
  if (!active_) return;
  outer_ = current;
  current = data.ptr();
}

CallbackScope::~CallbackScope() {
  if (active_) current = outer_;
}

void CallbackScope::raise_pending() {
  if (!active_ || !memory_.pending) return;
  PyObject* error = memory_.pending;
  memory_.pending = nullptr;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
  throw nb::python_error();
}

// Keep the exception that is set; the first one wins.
static void keep_exception(ModelMemory& memory) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  if (memory.pending)
    Py_XDECREF(value);
  else
    memory.pending = value;
}

// The world of a callback as a Data: that of the call, or a copy of another one (a batch's, a
// difference's), which is written back when `write` is set.
class Seen {
 public:
  Seen(ModelMemory& memory, const tbData* world, bool write)
      : memory_(memory), world_(const_cast<tbData*>(world)), write_(write) {
    if (current && nb::inst_ptr<Data>(current)->get() == world) {
      object = nb::borrow(current);
      return;
    }
    shadow_ = tb_data_new(memory.model);
    if (!shadow_) {
      PyErr_NoMemory();
      return;
    }
    arrays_copy(memory.model, shadow_, world_);
    shadow_->time = world_->time;
    shadow_->ncon = world_->ncon;
    shadow_->contact = world_->contact;
    object = nb::cast(new Data(memory.slots.model, shadow_), nb::rv_policy::take_ownership);
  }
  ~Seen() {
    if (!shadow_ || !object.is_valid()) return;
    if (write_) arrays_copy(memory_.model, world_, shadow_);
    shadow_->contact = nullptr;
    shadow_->ncon = 0;
  }
  nb::object object;

 private:
  ModelMemory& memory_;
  tbData *world_, *shadow_ = nullptr;
  bool write_;
};

static bool call(ModelMemory& memory, PyObject* function, std::initializer_list<nb::handle> args,
                 nb::object* result = nullptr) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)args.size());
  if (!tuple) return keep_exception(memory), false;
  Py_ssize_t i = 0;
  for (nb::handle arg : args) PyTuple_SetItem(tuple, i++, nb::borrow(arg).release().ptr());
  PyObject* value = PyObject_CallObject(function, tuple);
  Py_DECREF(tuple);
  if (!value) return keep_exception(memory), false;
  nb::object kept = nb::steal(value);
  if (result) *result = kept;
  return true;
}

static ModelMemory& memory_of(const void* user) {
  return *static_cast<ModelMemory*>(const_cast<void*>(user));
}

// A callback that raised fails its step by a force that is not finite.
static void control(const tbModel* model, tbData* data, const void* user) {
  nb::gil_scoped_acquire acquire;
  ModelMemory& memory = memory_of(user);
  bool ok = false;
  if (!memory.pending) {
    Seen seen(memory, data, true);
    ok = seen.object.is_valid() &&
         call(memory, memory.slots.control, {memory.slots.model, seen.object});
    if (!seen.object.is_valid()) keep_exception(memory);
  }
  if (!ok && model->nv) data->qfrc_passive[0] = NAN;
}

static void passive(const tbModel* model, tbData* data, const void* user) {
  nb::gil_scoped_acquire acquire;
  ModelMemory& memory = memory_of(user);
  bool ok = false;
  if (!memory.pending) {
    Seen seen(memory, data, true);
    ok = seen.object.is_valid() &&
         call(memory, memory.slots.passive, {memory.slots.model, seen.object});
    if (!seen.object.is_valid()) keep_exception(memory);
  }
  if (!ok && model->nv) data->qfrc_passive[0] = NAN;
}

static int contact_filter(const tbModel*, const tbData* data, int geom1, int geom2,
                          const void* user) {
  nb::gil_scoped_acquire acquire;
  ModelMemory& memory = memory_of(user);
  if (memory.pending) return 0;
  Seen seen(memory, data, false);
  if (!seen.object.is_valid()) return keep_exception(memory), 0;
  nb::object result;
  if (!call(memory, memory.slots.contact_filter,
            {memory.slots.model, seen.object, nb::int_(geom1), nb::int_(geom2)}, &result))
    return 0;
  int truth = PyObject_IsTrue(result.ptr());
  if (truth < 0) keep_exception(memory);
  return truth > 0;
}

static void contact(const tbModel*, const tbData* data, tbContact* at, const void* user) {
  nb::gil_scoped_acquire acquire;
  ModelMemory& memory = memory_of(user);
  bool ok = false;
  if (!memory.pending) {
    Seen seen(memory, data, false);
    if (seen.object.is_valid()) {
      nb::object object = contact_for_callback(*at);
      ok = call(memory, memory.slots.contact, {memory.slots.model, seen.object, object});
      if (ok) *at = contact_after_callback(object);
    } else {
      keep_exception(memory);
    }
  }
  if (!ok) at->friction[0] = NAN;
}

static PyObject** slot(CallbackSlots& slots, int which) {
  PyObject** all[] = {&slots.control, &slots.passive, &slots.contact_filter, &slots.contact};
  return all[which];
}

static void set_callback(nb::handle self, int which, nb::handle function) {
  Model& model = *nb::inst_ptr<Model>(self);
  ModelMemory& memory = *model.memory;
  if (!function.is_none() && !PyCallable_Check(function.ptr()))
    throw nb::type_error("expected a function or None");
  model.callable[which] = function.is_none() ? nb::object() : nb::borrow(function);
  *slot(memory.slots, which) = function.is_none() ? nullptr : function.ptr();
  memory.slots.model = self.ptr();
  tbCallbacks& callbacks = memory.callbacks;
  callbacks.control = memory.slots.control ? control : nullptr;
  callbacks.passive = memory.slots.passive ? passive : nullptr;
  callbacks.contact_filter = memory.slots.contact_filter ? contact_filter : nullptr;
  callbacks.contact = memory.slots.contact ? contact : nullptr;
  callbacks.user = &memory;
  bool any =
      callbacks.control || callbacks.passive || callbacks.contact_filter || callbacks.contact;
  memory.model->callbacks = any ? &callbacks : nullptr;
}

void bind_callbacks(nb::module_& m) {
  // By number: control, passive, contact filter, contact (tribo/_world.py).
  m.def(
      "_set_callback",
      [](nb::handle_t<Model> of, int which, nb::handle function) {
        set_callback(of, which, function);
      },
      nb::arg("m"), nb::arg("which"), nb::arg("function").none());
  m.def("_get_callback", [](nb::handle_t<Model> of, int which) -> nb::object {
    nb::object& f = nb::inst_ptr<Model>(of)->callable.at(which);
    return f.is_valid() ? f : nb::none();
  });
}
