#include <cstring>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "field.h"
#include "memory.h"
#include "path.h"

Model::Model(tbModel* model) : memory(std::make_shared<ModelMemory>(model)) {
  owner = keeper(memory);
  views.resize(model_fields().size());
  option.resize(option_fields().size());
  callable.resize(4);
}

static nb::object view(Model& model, int field) {
  nb::object& kept = model.views[field];
  if (kept.is_valid()) return kept;
  const Field& f = model_fields()[field];
  const char* type;
  int rows, columns;
  const void* memory = tb_model_field(model.get(), f.name, &type, &rows, &columns);
  kept = array_view(const_cast<void*>(memory), type, field_shape(f, rows, columns), model.owner,
                    field_writable(f));
  return kept;
}

// Integers that steps follow are checked as a whole: a model that fails stays as it was.
static void assign(Model& model, int field, nb::handle value) {
  nb::object target = view(model, field);
  const Field& f = model_fields()[field];
  if (field_writable(f)) return array_assign(target, value);
  const char* type;
  int rows, columns;
  void* memory = const_cast<void*>(tb_model_field(model.get(), f.name, &type, &rows, &columns));
  if (strcmp(type, "int") != 0)
    throw nb::attribute_error((std::string(f.name) + " is read-only").c_str());
  size_t bytes = sizeof(int) * rows * columns;
  std::vector<int> before((int*)memory, (int*)memory + (size_t)rows * columns);
  nb::object writable = array_view(memory, type, field_shape(f, rows, columns), model.owner, true);
  array_assign(writable, value);
  tbError error;
  tbResult result = tb_model_check(model.get(), &error);
  if (result == TB_OK) return;
  if (bytes) memcpy(memory, before.data(), bytes);
  raise(result, error.message);
}

struct LoadOptions {
  std::vector<Path> paths;
  std::vector<const char*> pointers;
  Path srdf;
  tbLoadOptions options = tbDefaultLoadOptions();
  LoadOptions(const std::vector<Path>& search_paths, bool floating_base, bool keep_fixed,
              bool keep_visual, const std::optional<Path>& srdf_file)
      : paths(search_paths), srdf(srdf_file.value_or(Path())) {
    for (const Path& path : paths) pointers.push_back(path.c_str());
    options.search_paths = pointers.data();
    options.nsearch_paths = (int)pointers.size();
    options.floating_base = floating_base;
    options.keep_fixed = keep_fixed;
    options.keep_visual = keep_visual;
    options.srdf = srdf_file ? srdf.c_str() : nullptr;
  }
};

static Model* made(tbModel* model, const tbError& error) {
  if (!model) raise(error.code, error.message);
  return new Model(model);
}

static Model* from_path(const Path& path, const LoadOptions& o) {
  tbError error;
  tbModel* model;
  {
    nb::gil_scoped_release release;
    model = tb_load(path.c_str(), &o.options, &error);
  }
  return made(model, error);
}

static Model* from_string(const std::string& xml, const std::optional<Path>& directory,
                          const std::string& name, const LoadOptions& o) {
  const char* folder = directory ? directory->c_str() : nullptr;
  TextName text(folder, name);
  tbError error;
  tbModel* model;
  {
    nb::gil_scoped_release release;
    model = tb_load_string(xml.c_str(), folder, &o.options, &error);
  }
  if (!model) raise(error.code, text.message(error.message).c_str());
  text.rename(model->nnotes ? model->notes : nullptr);
  return new Model(model);
}

// Functions of the user are the only references of a model that can lead back to it.
static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (nb::object& f : nb::inst_ptr<Model>(self)->callable) Py_VISIT(f.ptr());
  return 0;
}

static int clear(PyObject* self) {
  Model* model = nb::inst_ptr<Model>(self);
  model->memory->callbacks = tbCallbacks{};
  model->memory->slots = CallbackSlots{};
  model->get()->callbacks = nullptr;
  for (nb::object& f : model->callable) f.reset();
  return 0;
}

static PyType_Slot slots[] = {
    {Py_tp_traverse, (void*)traverse}, {Py_tp_clear, (void*)clear}, {0, nullptr}};

static void bind_loading(nb::class_<Model>& c) {
  c.def_static(
      "from_xml_path",
      [](const Path& path, const std::vector<Path>& search_paths) {
        return from_path(path, LoadOptions(search_paths, false, false, false, {}));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("search_paths") = nb::list(),
      "Load MJCF, URDF or a compiled model (.tbm) from a file.");
  c.def_static(
      "from_xml_string",
      [](const std::string& xml, const std::optional<Path>& directory,
         const std::vector<Path>& search_paths, const std::string& name) {
        return from_string(xml, directory, name,
                           LoadOptions(search_paths, false, false, false, {}));
      },
      nb::arg("xml"), nb::arg("directory") = nb::none(), nb::kw_only(),
      nb::arg("search_paths") = nb::list(), nb::arg("name") = "<string>",
      "Load MJCF or URDF text; relative file names are against `directory`, errors call the\n"
      "text by `name`.");
  c.def_static(
      "from_urdf",
      [](const Path& path, bool floating_base, bool keep_fixed, bool keep_visual,
         const std::optional<Path>& srdf, const std::vector<Path>& search_paths) {
        return from_path(path,
                         LoadOptions(search_paths, floating_base, keep_fixed, keep_visual, srdf));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("floating_base") = false,
      nb::arg("keep_fixed") = false, nb::arg("keep_visual") = false, nb::arg("srdf") = nb::none(),
      nb::arg("search_paths") = nb::list(),
      "Load a URDF.\n\n"
      "`floating_base` gives the root link a free joint; `keep_fixed` keeps fixed joints as "
      "bodies;\n"
      "`keep_visual` keeps visual geometry; group states of the file `srdf` become keyframes.");
  c.def_static(
      "from_binary",
      [](nb::bytes bytes) {
        tbError error;
        return made(tb_model_load_binary(bytes.data(), bytes.size(), &error), error);
      },
      nb::arg("bytes"), "A model from the bytes of a compiled model (.tbm).");
}

static void bind_names(nb::class_<Model>& c) {
  c.def(
      "name2id",
      [](Model& m, int type, const char* name) {
        return tb_name2id(m.get(), (tbObjType)type, name);
      },
      nb::arg("type"), nb::arg("name"), "Id of a named object of a tribo.ObjType, or -1.");
  c.def(
      "id2name",
      [](Model& m, int type, int id) { return tb_id2name(m.get(), (tbObjType)type, id); },
      nb::arg("type"), nb::arg("id"), "Name of an object, \"\" where it has none.");
  c.def_prop_ro(
      "names", [](Model& m) { return nb::bytes(m.get()->names, m.get()->nnames); },
      "All names, each ended by a zero; the model's own is first.");
  c.def_prop_ro(
      "name", [](Model& m) { return m.get()->nnames ? m.get()->names : ""; },
      "The model's own name.");
  c.def_prop_ro(
      "notes",
      [](Model& m) {
        return std::string(m.get()->notes ? m.get()->notes : "",
                           m.get()->nnotes ? strnlen(m.get()->notes, m.get()->nnotes) : 0);
      },
      "What loading skipped, a line each: \"file:line: what\".");
}

void bind_model(nb::module_& m) {
  nb::class_<Model> c(
      m, "Model", nb::type_slots(slots), nb::is_weak_referenceable(),
      "The constant description of a robot and its world.\n\n"
      "Arrays are live views, made once. Integers that steps follow (addresses, ids,\n"
      "types) are read-only in place; assigning a whole array checks the model.");
  bind_loading(c);
  bind_names(c);
  c.def(
      "save",
      [](Model& model, const Path& path) {
        tbError error;
        check(tb_model_save(model.get(), path.c_str(), &error), error);
      },
      nb::arg("path"), "Write the compiled model as one binary file (.tbm).");
  c.def(
      "save_urdf",
      [](Model& model, const Path& path) {
        tbError error;
        char* left_out = nullptr;
        check(tb_save_urdf(model.get(), path.c_str(), &left_out, &error), error);
        std::string text = left_out ? left_out : "";
        tb_text_free(left_out);
        return text;
      },
      nb::arg("path"), "Write a URDF; returns what it has no words for, a line each.");
  c.def(
      "check",
      [](Model& model) {
        tbError error;
        check(tb_model_check(model.get(), &error), error);
      },
      "Check every index, size and number; raises ModelError.");
  c.def(
      "set_constants",
      [](Model& model) {
        tbError error;
        check(tb_set_constants(model.get(), &error), error);
      },
      "Recompute what follows from masses, inertias and frames (mj_setConst).");
  c.def(
      "_copy",
      [](Model& model) {
        tbModel* copy = tb_model_copy(model.get());
        if (!copy) raise(TB_ERROR_MEMORY, "the model cannot be copied");
        copy->callbacks = nullptr;
        return new Model(copy);
      },
      "A deep copy without callbacks.");
#define X(name, what) \
  c.def_prop_ro(      \
      #name, [](const Model& model) { return model.get()->name; }, what);
  TB_MODEL_SIZES(X)
#undef X
#define SCALAR(name, what)                                         \
  c.def_prop_rw(                                                   \
      #name, [](const Model& model) { return model.get()->name; }, \
      [](Model& model, double value) { model.get()->name = value; }, what);
  SCALAR(total_mass, "Mass of all bodies, kg.")
  SCALAR(extent, "Size of the scene at qpos0, m.")
  SCALAR(mean_inertia, "Mean diagonal of M at qpos0.")
#undef SCALAR
  const std::vector<Field>& fields = model_fields();
  for (int i = 0; i < (int)fields.size(); i++) {
    const Field& f = fields[i];
    if (strcmp(f.type, "char") == 0) continue;
    c.def_prop_rw(
        f.name, [i](Model& model) { return view(model, i); },
        [i](Model& model, nb::handle value) { assign(model, i, value); },
        nb::for_getter(nb::sig(f.signature("get").c_str())),
        nb::for_setter(nb::sig(f.signature("set").c_str())), f.doc().c_str());
  }
}
