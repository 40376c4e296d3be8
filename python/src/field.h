// The fields of models, worlds and options as tables, made from the lists of the public headers.
#ifndef TRIBO_PYTHON_FIELD_H_
#define TRIBO_PYTHON_FIELD_H_

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "tribo/tribo.h"

struct Field {
  const char *name, *type, *rows, *columns, *unit, *what;
  bool is_vector() const { return columns[0] == '1' && columns[1] == 0; }
  std::string shape() const;  // "(nbody, 3)"
  std::string doc() const;    // one line: meaning, shape and unit
  std::string signature(const char* method) const;
};

struct OptionField {
  const char *name, *type, *unit, *what;
  int count;
  size_t offset;
};

const std::vector<Field>& model_fields();
const std::vector<Field>& data_fields();
int data_state_count();  // how many of them are the state; inputs follow
int data_input_count();
const std::vector<OptionField>& option_fields();

// Index of a field, or -1.
int field_find(const std::vector<Field>& fields, const char* name);

// Shape of a field whose rows and columns tb_model_field gave.
std::vector<size_t> field_shape(const Field& field, int rows, int columns);

// Arrays of integers that only the user reads: changing them in place cannot lead a step astray.
bool field_writable(const Field& field);

void bind_fields(nanobind::module_& m);

#endif
