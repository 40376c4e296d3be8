// What Python objects hold: the library's objects with shared owners, so that arrays which show
// their memory keep it alive.
#ifndef TRIBO_PYTHON_MEMORY_H_
#define TRIBO_PYTHON_MEMORY_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "tribo/tribo.h"

namespace nb = nanobind;

// The functions that a user set on a model; the Python object Model owns them.
struct CallbackSlots {
  PyObject *contact_filter = nullptr, *contact = nullptr, *passive = nullptr, *control = nullptr;
  PyObject* model = nullptr;  // the Model, passed to each
};

struct ModelMemory {
  tbModel* model;
  tbCallbacks callbacks{};
  CallbackSlots slots;
  PyObject* pending = nullptr;  // the first exception of a callback, not raised yet
  explicit ModelMemory(tbModel* m) : model(m) {}
  ModelMemory(const ModelMemory&) = delete;
  ~ModelMemory() { tb_model_free(model); }
};

struct DataMemory {
  std::shared_ptr<ModelMemory> model;  // the library's contract: it outlives the world
  tbData* data;
  DataMemory(std::shared_ptr<ModelMemory> m, tbData* d) : model(std::move(m)), data(d) {}
  DataMemory(const DataMemory&) = delete;
  ~DataMemory() { tb_data_free(data); }
};

struct Model {
  std::shared_ptr<ModelMemory> memory;
  nb::object owner;                // capsule that arrays hold
  std::vector<nb::object> views;   // by index of the field, made at first use
  std::vector<nb::object> option;  // arrays of the options
  std::vector<nb::object> callable;
  explicit Model(tbModel* model);
  tbModel* get() const { return memory->model; }
};

struct Data {
  nb::object model;
  std::shared_ptr<DataMemory> memory;
  nb::object owner;
  std::vector<nb::object> views;
  nb::object energy;
  struct Vector {
    tbReal* start = nullptr;
    size_t size = 0;
  };
  std::vector<Vector> vectors;  // by index of the field: where setters copy to
  bool busy = false;            // a thread works on it
  bool warned = false;          // an unconverged step was reported
  Data(nb::handle m, tbData* data);
  tbData* get() const { return memory->data; }
  const tbModel* made_from() const { return memory->model->model; }
};

// Work on a world: one thread at a time. Made and ended with the GIL held.
class Busy {
 public:
  explicit Busy(Data& data) : data_(data) {
    if (data.busy) throw std::runtime_error("this Data is in use by another call");
    data.busy = true;
  }
  ~Busy() { data_.busy = false; }
  Busy(const Busy&) = delete;

 private:
  Data& data_;
};

// A capsule that keeps `pointer` alive, for arrays.
template <typename T>
nb::capsule keeper(const std::shared_ptr<T>& pointer) {
  return nb::capsule(new std::shared_ptr<T>(pointer),
                     [](void* p) noexcept { delete static_cast<std::shared_ptr<T>*>(p); });
}

// Every array of a world as one string of bytes, and back; a copy between worlds of one model.
std::string arrays_get(const tbModel* model, const tbData* data);
bool arrays_set(const tbModel* model, tbData* data, const char* bytes, size_t size);
void arrays_copy(const tbModel* model, tbData* to, const tbData* from);

// The model of a call, after a check that the world belongs to a model of these sizes.
tbModel* model_of(const Model& model, const Data& data);

#endif
