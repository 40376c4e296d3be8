// NumPy arrays: views of the library's memory, new results, and arguments.
#ifndef TRIBO_PYTHON_ARRAY_H_
#define TRIBO_PYTHON_ARRAY_H_

#include <initializer_list>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "tribo/types.h"

// A type that differs from `nb::object` in stubs only.
#define TB_ARRAY "numpy.typing.NDArray[numpy.float64]"

// A view of memory that `owner` keeps alive. `type` is that of tb_model_field ("real", "int",
// "float", "uint16_t", "char") or "uint8_t", "int64_t".
nanobind::object array_view(void* memory, const char* type, const std::vector<size_t>& shape,
                            nanobind::handle owner, bool writable);

// A new array of doubles, zero; `values` points to them.
nanobind::object array_new(std::initializer_list<size_t> shape, tbReal** values);

// A new array that holds a copy.
nanobind::object array_copy(const void* memory, const char* type, const std::vector<size_t>& shape);

// Copy a vector of the same size into memory; false where the value is anything else.
bool array_fill(tbReal* memory, size_t size, nanobind::handle value);

// Copy a value (array, list, number) into a view, as view[...] = value.
void array_assign(nanobind::handle view, nanobind::handle value);

// An argument that NumPy can make an array of doubles from; no copy where it is one already.
class Reals {
 public:
  // Checks the size unless it is -1; None gives NULL where that is allowed.
  Reals(nanobind::handle value, long size, const char* name, bool optional = false);
  const tbReal* data() const { return data_; }
  size_t size() const { return size_; }
  const std::vector<size_t>& shape() const { return shape_; }

 private:
  nanobind::object keep_;
  nanobind::ndarray<const tbReal, nanobind::c_contig, nanobind::device::cpu> array_;
  const tbReal* data_ = nullptr;
  size_t size_ = 0;
  std::vector<size_t> shape_;
};

// The same for whole numbers.
std::vector<int> integers(nanobind::handle value, const char* name);

#endif
