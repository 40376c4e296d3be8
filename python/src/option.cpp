// The options of a model as properties.
#include <cstring>

#include <nanobind/stl/string.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "field.h"
#include "memory.h"

// It shows the options of one model and keeps it.
struct Option {
  nb::object model;
  Model* of() const { return nb::inst_ptr<Model>(model); }
  char* at(const OptionField& f) const {
    return reinterpret_cast<char*>(&of()->get()->opt) + f.offset;
  }
};

static nb::object get(const Option& option, int field) {
  const OptionField& f = option_fields()[field];
  char* at = option.at(f);
  if (strcmp(f.type, "int") == 0) return nb::cast(*(int*)at);
  if (f.count == 1) return nb::cast(*(tbReal*)at);
  nb::object& kept = option.of()->option[field];
  if (!kept.is_valid()) kept = array_view(at, "real", {(size_t)f.count}, option.of()->owner, true);
  return kept;
}

static void set(const Option& option, int field, nb::handle value) {
  const OptionField& f = option_fields()[field];
  if (nb::isinstance<nb::str>(value)) {
    tbError error;
    tbResult result = tb_option_set(&option.of()->get()->opt, f.name,
                                    nb::cast<std::string>(value).c_str(), &error);
    return check(result, error);
  }
  if (f.count > 1) return array_assign(get(option, field), value);
  if (strcmp(f.type, "int") == 0) {
    *(int*)option.at(f) = nb::cast<int>(nb::int_(nb::borrow(value)));
  } else {
    *(tbReal*)option.at(f) = nb::cast<double>(value);
  }
}

static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Option>(self)->model.ptr());
  return 0;
}

static PyType_Slot slots[] = {{Py_tp_traverse, (void*)traverse}, {0, nullptr}};

void bind_option(nb::module_& m) {
  nb::class_<Option> c(m, "Option", nb::type_slots(slots),
                       "Options of a simulation. An enumeration takes its number or its word:\n"
                       "`m.opt.law = \"ccp\"`.");
  const std::vector<OptionField>& fields = option_fields();
  for (int i = 0; i < (int)fields.size(); i++) {
    const OptionField& f = fields[i];
    bool integer = strcmp(f.type, "int") == 0;
    std::string type = f.count > 1 ? TB_ARRAY : integer ? "int" : "float";
    std::string given = f.count > 1 ? "numpy.typing.ArrayLike | str"
                        : integer   ? "int | str"
                                    : "float | str";
    std::string getter = "def " + std::string(f.name) + "(self) -> " + type;
    std::string setter = "def " + std::string(f.name) + "(self, value: " + given + ", /) -> None";
    std::string doc = f.what + (f.unit[0] ? ", " + std::string(f.unit) : std::string()) + ".";
    doc[0] = (char)toupper(doc[0]);
    c.def_prop_rw(
        f.name, [i](const Option& option) { return get(option, i); },
        [i](Option& option, nb::handle value) { set(option, i, value); },
        nb::for_getter(nb::sig(getter.c_str())), nb::for_setter(nb::sig(setter.c_str())),
        doc.c_str());
  }
  c.def(
      "set",
      [](Option& option, const char* name, const std::string& value) {
        tbError error;
        check(tb_option_set(&option.of()->get()->opt, name, value.c_str(), &error), error);
      },
      nb::arg("name"), nb::arg("value"),
      "Set an option by name from text, as the command line's --option.");
  // The options come with the model.
  nb::borrow<nb::class_<Model>>(m.attr("Model"))
      .def_prop_ro(
          "opt", [](nb::handle_t<Model> of) { return Option{nb::borrow(of)}; },
          nb::sig("def opt(self) -> Option"), "The options, live: `m.opt.timestep = 0.001`.");
}
