// The options of a model as properties.
#include <cstring>

#include <nanobind/stl/string.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "field.h"
#include "memory.h"

// Options whose numbers have names, and the enumerations of those.
static const struct {
  const char *option, *enumeration;
} NAMED[] = {{"integrator", "Integrator"},
             {"cone", "Cone"},
             {"jacobian", "Jacobian"},
             {"mjsolver", "MjSolver"},
             {"law", "Law"},
             {"solver", "SolverKind"},
             {"disableflags", "DisableBit"},
             {"enableflags", "EnableBit"}};

static const char* enumeration_of(const char* option) {
  for (const auto& row : NAMED)
    if (strcmp(row.option, option) == 0) return row.enumeration;
  return nullptr;
}

static bool is_flags(const char* option) {
  const char* name = enumeration_of(option);
  return name && strcmp(name + strlen(name) - 3, "Bit") == 0;
}

// Two tolerances are often taken for each other.
static const char* more_about(const char* option) {
  if (strcmp(option, "tolerance") == 0)
    return " It acts under the law `soft` only; that of the solvers of all other laws is "
           "`solve_tolerance`.";
  if (strcmp(option, "solve_tolerance") == 0)
    return " It acts under all laws but `soft`, whose own, by the name that MuJoCo gives it, is "
           "`tolerance`.";
  return "";
}

// A number as the member of an enumeration, or as it is where that has none.
static nb::object member_of(const char* enumeration, int value) {
  nb::object type = nb::module_::import_("tribo._enums").attr(enumeration);
  try {
    return type(value);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    return nb::int_(value);
  }
}

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
  if (strcmp(f.type, "int") == 0) {
    const char* enumeration = enumeration_of(f.name);
    return enumeration ? member_of(enumeration, *(int*)at) : nb::object(nb::int_(*(int*)at));
  }
  if (f.count == 1) return nb::cast(*(tbReal*)at);
  nb::object& kept = option.of()->option[field];
  if (!kept.is_valid()) kept = array_view(at, "real", {(size_t)f.count}, option.of()->owner, true);
  return kept;
}

// Words may be in capitals, with underscores, as the members of enumerations are.
static void set_text(const Option& option, const char* name, std::string text) {
  if (enumeration_of(name))
    for (char& c : text) c = c == '_' ? '-' : (char)tolower((unsigned char)c);
  tbError error;
  check(tb_option_set(&option.of()->get()->opt, name, text.c_str(), &error), error);
}

static void set(const Option& option, int field, nb::handle value) {
  const OptionField& f = option_fields()[field];
  if (nb::isinstance<nb::str>(value)) return set_text(option, f.name, nb::cast<std::string>(value));
  if (enumeration_of(f.name) && !is_flags(f.name))
    return set_text(option, f.name, std::to_string(nb::cast<int>(nb::int_(nb::borrow(value)))));
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

// A name that is no option: the error says which is the nearest.
static void name_nearest(PyObject* name) {
  if (!PyErr_ExceptionMatches(PyExc_AttributeError) || !PyUnicode_Check(name)) return;
  nb::str given = nb::borrow<nb::str>(name);
  if (given.c_str()[0] == '_') return;
  for (const OptionField& f : option_fields())
    if (strcmp(f.name, given.c_str()) == 0) return;
  PyErr_Clear();
  try {
    nb::list known;
    for (const OptionField& f : option_fields()) known.append(f.name);
    nb::object near = nb::module_::import_("difflib").attr("get_close_matches")(given, known, 1);
    std::string text = std::string("no option '") + given.c_str() + "'";
    if (nb::len(near)) text += std::string(", did you mean '") + nb::str(near[0]).c_str() + "'?";
    PyErr_SetString(PyExc_AttributeError, text.c_str());
  } catch (nb::python_error& error) {
    error.restore();
  }
}

static PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* value = PyObject_GenericGetAttr(self, name);
  if (!value) name_nearest(name);
  return value;
}

static int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  int failed = PyObject_GenericSetAttr(self, name, value);
  if (failed) name_nearest(name);
  return failed;
}

static PyType_Slot slots[] = {{Py_tp_traverse, (void*)traverse},
                              {Py_tp_getattro, (void*)get_attribute},
                              {Py_tp_setattro, (void*)set_attribute},
                              {0, nullptr}};

void bind_option(nb::module_& m) {
  nb::class_<Option> c(
      m, "Option", nb::type_slots(slots),
      "Options of a simulation. An enumeration takes its member, its number or its\n"
      "word (`m.opt.law = \"ccp\"`) and reads back as the member.");
  const std::vector<OptionField>& fields = option_fields();
  for (int i = 0; i < (int)fields.size(); i++) {
    const OptionField& f = fields[i];
    bool integer = strcmp(f.type, "int") == 0;
    const char* enumeration = enumeration_of(f.name);
    std::string type = f.count > 1   ? TB_ARRAY
                       : enumeration ? "tribo." + std::string(enumeration)
                       : integer     ? "int"
                                     : "float";
    std::string given = f.count > 1 ? "numpy.typing.ArrayLike | str"
                        : integer   ? "int | str"
                                    : "float | str";
    std::string getter = "def " + std::string(f.name) + "(self) -> " + type;
    std::string setter = "def " + std::string(f.name) + "(self, value: " + given + ", /) -> None";
    std::string doc = f.what + (f.unit[0] ? ", " + std::string(f.unit) : std::string()) + "." +
                      more_about(f.name);
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
        set_text(option, name, value);
      },
      nb::arg("name"), nb::arg("value"),
      "Set an option by name from text, as the command line's --option.");
  // MuJoCo takes any number, and its steps refuse it.
  c.def("_put", [](Option& option, const char* name, int value) {
    for (const OptionField& f : option_fields())
      if (strcmp(f.name, name) == 0 && strcmp(f.type, "int") == 0)
        return (void)(*(int*)option.at(f) = value);
    throw nb::attribute_error(name);
  });
  // The options come with the model.
  nb::borrow<nb::class_<Model>>(m.attr("Model"))
      .def_prop_ro(
          "opt", [](nb::handle_t<Model> of) { return Option{nb::borrow(of)}; },
          nb::sig("def opt(self) -> Option"), "The options, live: `m.opt.timestep = 0.001`.");
}
