// Models that can be changed.
#include <cstring>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "memory.h"
#include "path.h"

struct Spec {
  std::shared_ptr<tbSpec> of;
  std::optional<TextName> text;  // where it was made from text
  explicit Spec(tbSpec* spec) : of(spec, tb_spec_free) {}
  [[noreturn]] void fail(tbResult code, const char* message) const {
    raise(code, text ? text->message(message).c_str() : message);
  }
};

// An element keeps its spec.
struct Element {
  std::shared_ptr<tbSpec> spec;
  tbElement* of;
};

static Spec* made(tbSpec* spec, const tbError& error) {
  if (!spec) raise(error.code, error.message);
  return new Spec(spec);
}

static Element element(const std::shared_ptr<tbSpec>& spec, tbElement* of, const tbError& error) {
  if (!of) raise(error.code, error.message);
  return {spec, of};
}

static nb::object maybe(const Element& near, tbElement* of) {
  if (!of) return nb::none();
  return nb::cast(Element{near.spec, of});
}

static void set(Element& e, const char* attribute, nb::handle value) {
  tbError error;
  if (value.is_none()) return check(tb_spec_set(e.of, attribute, nullptr, &error), error);
  if (nb::isinstance<nb::str>(value)) {
    std::string text = nb::cast<std::string>(value);
    return check(tb_spec_set(e.of, attribute, text.c_str(), &error), error);
  }
  if (nb::isinstance<nb::bool_>(value))
    return check(tb_spec_set(e.of, attribute, nb::cast<bool>(value) ? "true" : "false", &error),
                 error);
  Reals numbers(value, -1, attribute);
  check(tb_spec_set_reals(e.of, attribute, numbers.data(), (int)numbers.size(), &error), error);
}

static nb::object get(const Element& e, const char* attribute) {
  const char* text = tb_spec_get(e.of, attribute);
  return text ? nb::object(nb::str(text)) : nb::none();
}

static nb::object reals(const Element& e, const char* attribute) {
  int count = tb_spec_get_reals(e.of, attribute, nullptr, 0);
  if (count < 0) return nb::none();
  tbReal* values;
  nb::object array = array_new({(size_t)count}, &values);
  tb_spec_get_reals(e.of, attribute, values, count);
  return array;
}

static Element add(Element& parent, const char* tag, const std::optional<std::string>& name,
                   nb::kwargs attributes) {
  tbError error;
  Element e = element(parent.spec,
                      tb_spec_add(parent.of, tag, name ? name->c_str() : nullptr, &error), error);
  try {
    for (auto [key, value] : attributes) set(e, nb::cast<std::string>(key).c_str(), value);
  } catch (...) {
    tb_spec_delete(e.of, nullptr);
    throw;
  }
  return e;
}

static nb::list children(const Element& e) {
  nb::list list;
  for (tbElement* child = tb_spec_first(e.of); child; child = tb_spec_next(child))
    list.append(nb::cast(Element{e.spec, child}));
  return list;
}

static Element attach(Element& place, nb::handle child, const std::optional<std::string>& prefix,
                      const std::optional<std::string>& suffix) {
  tbError error;
  Element from = nb::isinstance<Spec>(child)
                     ? Element{nb::inst_ptr<Spec>(child)->of,
                               tb_spec_root(nb::inst_ptr<Spec>(child)->of.get())}
                     : nb::cast<Element>(child);
  tbElement* made_of = tb_spec_attach(place.of, from.of, prefix ? prefix->c_str() : nullptr,
                                      suffix ? suffix->c_str() : nullptr, &error);
  return element(place.spec, made_of, error);
}

// New objects: arrays of the old ones stay valid.
static nb::tuple recompile(Spec& spec, Model& model, Data& data) {
  model_of(model, data);
  tbModel* m = tb_model_copy(data.made_from());
  if (!m) raise(TB_ERROR_MEMORY, "no memory for a model");
  m->callbacks = nullptr;
  tbData* d = tb_data_copy(m, data.get());
  tbError error;
  if (!d) {
    tb_model_free(m);
    raise(TB_ERROR_MEMORY, "no memory for a world");
  }
  tbResult result = tb_spec_recompile(spec.of.get(), &m, &d, &error);
  if (result != TB_OK) {
    tb_data_free(d);
    tb_model_free(m);
    spec.fail(result, error.message);
  }
  nb::object new_model = nb::cast(new Model(m), nb::rv_policy::take_ownership);
  nb::object new_data = nb::cast(new Data(new_model, d), nb::rv_policy::take_ownership);
  return nb::make_tuple(new_model, new_data);
}

static void bind_element(nb::module_& m) {
  nb::class_<Element> c(
      m, "Element",
      "An element of a spec, with the tag and the attributes of MJCF.\n\n"
      "`e[\"pos\"]` is the attribute's text as given, or None; assigning takes text,\n"
      "numbers or None, which removes it.");
  c.def_prop_ro(
      "tag", [](const Element& e) { return tb_spec_tag(e.of); }, "\"body\", \"geom\", ...");
  c.def_prop_ro(
      "name",
      [](const Element& e) {
        const char* name = tb_spec_name(e.of);
        return name ? name : "";
      },
      "Its name, \"\" without one.");
  c.def_prop_ro(
      "parent", [](const Element& e) { return maybe(e, tb_spec_parent(e.of)); },
      nb::sig("def parent(self) -> Element | None"), "The element around it.");
  c.def_prop_ro("children", &children, nb::sig("def children(self) -> list[Element]"),
                "The elements in it.");
  c.def("__getitem__", &get, nb::arg("attribute"),
        nb::sig("def __getitem__(self, attribute: str) -> str | None"), "The attribute's text.");
  c.def("__setitem__", &set, nb::arg("attribute"), nb::arg("value").none(),
        nb::sig("def __setitem__(self, attribute: str, value: numpy.typing.ArrayLike | str | None) "
                "-> None"),
        "Set an attribute.");
  c.def("reals", &reals, nb::arg("attribute"),
        nb::sig("def reals(self, attribute: str) -> " TB_ARRAY " | None"),
        "The attribute's numbers; None if it is not given or not a list of numbers.");
  c.def(
      "set",
      [](Element& e, nb::kwargs attributes) {
        for (auto [key, value] : attributes) set(e, nb::cast<std::string>(key).c_str(), value);
      },
      nb::arg("attributes"), "Set attributes: `e.set(size=[0.1], rgba=\"1 0 0 1\")`.");
  c.def("add", &add, nb::arg("tag"), nb::arg("name") = nb::none(), nb::arg("attributes"),
        "Append an element: `world.add(\"body\", \"arm\", pos=[0, 0, 1])`.");
  c.def(
      "add_xml",
      [](Element& e, const char* xml) {
        tbError error;
        return element(e.spec, tb_spec_add_xml(e.of, xml, &error), error);
      },
      nb::arg("xml"), "Append one element written in XML, with its contents.");
  c.def("attach", &attach, nb::arg("child"), nb::arg("prefix") = nb::none(),
        nb::arg("suffix") = nb::none(),
        nb::sig("def attach(self, child: Spec | Element, prefix: str | None = None, suffix: str | "
                "None = None) -> Element"),
        "Attach a copy of a spec, or of one of its bodies, to this body, frame or site.");
  c.def(
      "delete",
      [](Element& e) {
        tbError error;
        check(tb_spec_delete(e.of, &error), error);
      },
      "Remove the element with its contents.");
  c.def(
      "__eq__",
      [](const Element& a, nb::handle b) {
        return nb::isinstance<Element>(b) && nb::inst_ptr<Element>(b)->of == a.of;
      },
      nb::arg("other"), nb::sig("def __eq__(self, other: object, /) -> bool"));
  c.def("__hash__", [](const Element& e) { return (Py_ssize_t)((uintptr_t)e.of >> 4); });
  c.def("__repr__", [](const Element& e) {
    const char *tag = tb_spec_tag(e.of), *name = tb_spec_name(e.of);
    return "<tribo.Element " + std::string(tag ? tag : "?") +
           (name ? " '" + std::string(name) + "'" : "") + ">";
  });
}

void bind_spec(nb::module_& m) {
  bind_element(m);
  nb::class_<Spec> c(
      m, "Spec", nb::is_weak_referenceable(),
      "A model that can be changed: load or build it, edit it, compile it, write it.");
  c.def(
      "__init__",
      [](Spec* self) {
        tbSpec* spec = tb_spec_create();
        if (!spec) raise(TB_ERROR_MEMORY, "no memory for a spec");
        new (self) Spec(spec);
      },
      "An empty spec.");
  c.def_static(
      "from_file",
      [](const Path& path) {
        tbError error;
        return made(tb_spec_load(path.c_str(), nullptr, &error), error);
      },
      nb::arg("path"), "Load MJCF or URDF without compiling it.");
  c.def_static(
      "from_string",
      [](const std::string& xml, const std::optional<Path>& directory, const std::string& name) {
        const char* folder = directory ? directory->c_str() : nullptr;
        TextName text(folder, name);
        tbError error;
        tbSpec* spec = tb_spec_load_xml(xml.c_str(), folder, nullptr, &error);
        if (!spec) raise(error.code, text.message(error.message).c_str());
        Spec* result = new Spec(spec);
        result->text = text;
        return result;
      },
      nb::arg("xml"), nb::arg("directory") = nb::none(), nb::kw_only(),
      nb::arg("name") = "<string>",
      "Load MJCF or URDF text; relative file names are against `directory`, errors call the\n"
      "text by `name`.");
  c.def_static(
      "from_model",
      [](Model& model) {
        tbError error;
        return made(tb_spec_from_model(model.get(), &error), error);
      },
      nb::arg("model"), "The contents of a compiled model.");
  c.def(
      "copy",
      [](const Spec& spec) {
        tbError error;
        Spec* copy = made(tb_spec_copy(spec.of.get(), &error), error);
        copy->text = spec.text;
        return copy;
      },
      "A deep copy.");
  c.def(
      "compile",
      [](const Spec& spec) {
        tbError error;
        tbModel* model;
        {
          nb::gil_scoped_release release;
          model = tb_spec_compile(spec.of.get(), &error);
        }
        if (!model) spec.fail(error.code, error.message);
        if (spec.text) spec.text->rename(model->nnotes ? model->notes : nullptr);
        return new Model(model);
      },
      "A new Model; the spec can be changed and compiled again.");
  c.def("recompile", &recompile, nb::arg("m"), nb::arg("d"),
        nb::sig("def recompile(self, m: Model, d: Data) -> tuple[Model, Data]"),
        "A new Model and a Data with the state of `d`: parts are recognised by name.");
  c.def(
      "to_xml",
      [](const Spec& spec) {
        tbError error;
        char* text = tb_spec_save_xml(spec.of.get(), &error);
        if (!text) raise(error.code, error.message);
        std::string xml = text;
        tb_text_free(text);
        return xml;
      },
      "The spec as MJCF text.");
  c.def(
      "save",
      [](const Spec& spec, const Path& path) {
        tbError error;
        check(tb_spec_save(spec.of.get(), path.c_str(), &error), error);
      },
      nb::arg("path"), "Write MJCF.");
  c.def_prop_ro(
      "root",
      [](const Spec& spec) {
        return Element{spec.of, tb_spec_root(spec.of.get())};
      },
      "The element <mujoco>.");
  c.def_prop_ro(
      "world",
      [](const Spec& spec) {
        return Element{spec.of, tb_spec_world(spec.of.get())};
      },
      "The world body.");
  c.def(
      "section",
      [](Spec& spec, const char* name) {
        tbError error;
        return element(spec.of, tb_spec_section(spec.of.get(), name, &error), error);
      },
      nb::arg("name"), "A section (\"asset\", \"actuator\", ...), added where there is none.");
  c.def(
      "find",
      [](const Spec& spec, const char* kind, const char* name) {
        tbError error;
        tbElement* of = tb_spec_find(spec.of.get(), kind, name, &error);
        if (!of) throw nb::key_error(error.message);
        return Element{spec.of, of};
      },
      nb::arg("kind"), nb::arg("name"),
      "The element of a kind (\"body\", \"joint\", ...) and name; KeyError with the nearest name.");
  c.def(
      "__eq__",
      [](const Spec& a, nb::handle b) {
        return nb::isinstance<Spec>(b) &&
               tb_spec_equal(a.of.get(), nb::inst_ptr<Spec>(b)->of.get()) != 0;
      },
      nb::arg("other"), nb::sig("def __eq__(self, other: object, /) -> bool"));
}
