#include "field.h"

#include <cstring>

#include <nanobind/stl/string.h>

namespace nb = nanobind;

#define TEXT_OF(x) #x
#define EXPANDED(x) TEXT_OF(x)
#define X(type, name, rows, columns, unit, what) \
  {#name, #type, #rows, EXPANDED(columns), unit, what},

const std::vector<Field>& model_fields() {
  static const std::vector<Field> fields = {TB_MODEL_ARRAYS(X)};
  return fields;
}

const std::vector<Field>& data_fields() {
  static const std::vector<Field> fields = {TB_DATA_ARRAYS(X)};
  return fields;
}
#undef X

#define X(...) +1
int data_state_count() {
  return 0 TB_DATA_STATE(X);
}
int data_input_count() {
  return 0 TB_DATA_INPUT(X);
}
#undef X

const std::vector<OptionField>& option_fields() {
#define X(type, name, count, value, allowed, unit, what) \
  {#name, #type, unit, what, count, offsetof(tbOption, name)},
  static const std::vector<OptionField> fields = {TB_OPTION_FIELDS(X)};
#undef X
  return fields;
}

std::string Field::shape() const {
  return is_vector() ? "(" + std::string(rows) + ",)"
                     : "(" + std::string(rows) + ", " + columns + ")";
}

std::string Field::doc() const {
  std::string text = what[0] ? what : name;
  text[0] = (char)toupper(text[0]);
  text += "; shape " + shape();
  if (unit[0]) text += ", " + std::string(unit);
  return text + ".";
}

std::string Field::signature(const char* method) const {
  const char* element = strcmp(type, "tbReal") == 0     ? "numpy.float64"
                        : strcmp(type, "int") == 0      ? "numpy.int32"
                        : strcmp(type, "float") == 0    ? "numpy.float32"
                        : strcmp(type, "uint16_t") == 0 ? "numpy.uint16"
                                                        : "numpy.uint8";
  std::string array = "numpy.typing.NDArray[" + std::string(element) + "]";
  if (strcmp(method, "set") == 0)
    return "def " + std::string(name) + "(self, value: numpy.typing.ArrayLike, /) -> None";
  return "def " + std::string(name) + "(self) -> " + array;
}

int field_find(const std::vector<Field>& fields, const char* name) {
  for (size_t i = 0; i < fields.size(); i++)
    if (strcmp(fields[i].name, name) == 0) return (int)i;
  return -1;
}

std::vector<size_t> field_shape(const Field& field, int rows, int columns) {
  if (field.is_vector()) return {(size_t)rows};
  return {(size_t)rows, (size_t)columns};
}

bool field_writable(const Field& field) {
  static const char* const SAFE[] = {"_contype", "_conaffinity", "_group",   "_priority",
                                     "limited",  "_actgravcomp", "_active0", "_actearly"};
  if (strcmp(field.type, "tbReal") == 0 || strcmp(field.type, "float") == 0) return true;
  for (const char* end : SAFE) {
    size_t length = strlen(field.name), tail = strlen(end);
    if (length >= tail && strcmp(field.name + length - tail, end) == 0) return true;
  }
  return false;
}

static nb::list table(const std::vector<Field>& fields) {
  nb::list rows;
  for (const Field& f : fields)
    rows.append(nb::make_tuple(f.name, f.type, f.rows, f.columns, f.unit, f.what));
  return rows;
}

void bind_fields(nb::module_& m) {
  m.attr("model_fields") = table(model_fields());
  m.attr("data_fields") = table(data_fields());
  nb::list sizes, options;
#define X(name, what) sizes.append(nb::make_tuple(#name, what));
  TB_MODEL_SIZES(X)
#undef X
  m.attr("model_sizes") = sizes;
  for (const OptionField& f : option_fields())
    options.append(nb::make_tuple(f.name, f.type, f.count, f.unit, f.what));
  m.attr("option_fields") = options;
  m.attr("data_state_count") = data_state_count();
  m.attr("data_input_count") = data_input_count();
}
