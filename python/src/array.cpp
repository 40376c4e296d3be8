#include "array.h"

#include <cstring>

#include <nanobind/stl/string.h>

namespace nb = nanobind;

static nb::dlpack::dtype dtype_of(const char* type) {
  if (strcmp(type, "real") == 0) return nb::dtype<tbReal>();
  if (strcmp(type, "int") == 0) return nb::dtype<int>();
  if (strcmp(type, "float") == 0) return nb::dtype<float>();
  if (strcmp(type, "uint16_t") == 0) return nb::dtype<uint16_t>();
  if (strcmp(type, "int64_t") == 0) return nb::dtype<int64_t>();
  return nb::dtype<uint8_t>();
}

nb::object array_view(void* memory, const char* type, const std::vector<size_t>& shape,
                      nb::handle owner, bool writable) {
  // An empty array needs some address.
  static tbReal nothing;
  void* start = memory ? memory : &nothing;
  nb::ndarray<nb::numpy> array(start, shape.size(), shape.data(), owner, nullptr, dtype_of(type));
  nb::object view = nb::cast(array, nb::rv_policy::reference);
  if (!writable) view.attr("flags").attr("writeable") = false;
  return view;
}

nb::object array_new(std::initializer_list<size_t> shape, tbReal** values) {
  size_t count = 1;
  for (size_t n : shape) count *= n;
  *values = new tbReal[count ? count : 1]();
  nb::capsule owner(*values, [](void* p) noexcept { delete[] static_cast<tbReal*>(p); });
  return array_view(*values, "real", shape, owner, true);
}

nb::object array_copy(const void* memory, const char* type, const std::vector<size_t>& shape) {
  size_t bytes = dtype_of(type).bits / 8;
  for (size_t n : shape) bytes *= n;
  char* copy = new char[bytes ? bytes : 1];
  if (bytes) memcpy(copy, memory, bytes);
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<char*>(p); });
  return array_view(copy, type, shape, owner, true);
}

bool array_fill(tbReal* memory, size_t size, nb::handle value) {
  nb::ndarray<const tbReal, nb::ndim<1>, nb::c_contig, nb::device::cpu> from;
  if (!nb::try_cast(value, from, false) || from.shape(0) != size) return false;
  memmove(memory, from.data(), sizeof(tbReal) * size);
  return true;
}

void array_assign(nb::handle view, nb::handle value) {
  if (view.is(value)) return;
  if (PyObject_SetItem(view.ptr(), Py_Ellipsis, value.ptr()) < 0) throw nb::python_error();
}

Reals::Reals(nb::handle value, long size, const char* name, bool optional) {
  if (value.is_none()) {
    if (optional) return;
    throw nb::type_error((std::string(name) + " must not be None").c_str());
  }
  if (!nb::try_cast(value, array_, false)) {
    nb::module_ numpy = nb::module_::import_("numpy");
    keep_ = numpy.attr("ascontiguousarray")(value, numpy.attr("float64"));
    array_ = nb::cast<decltype(array_)>(keep_);
  }
  data_ = array_.data();
  size_ = array_.size();
  for (size_t i = 0; i < array_.ndim(); i++) shape_.push_back(array_.shape(i));
  if (size >= 0 && size_ != (size_t)size) {
    std::string message = std::string(name) + ": " + std::to_string(size_) + " values, expected " +
                          std::to_string(size);
    throw nb::value_error(message.c_str());
  }
}

std::vector<int> integers(nb::handle value, const char* name) {
  std::vector<int> result;
  nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("asarray")(value);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (nb::len(array.attr("ravel")()) && kind != "i" && kind != "u")
    throw nb::type_error((std::string(name) + ": expected whole numbers").c_str());
  for (nb::handle item : array.attr("ravel")())
    result.push_back(nb::cast<int>(item.attr("item")()));
  return result;
}
