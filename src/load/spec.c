// Specs as a whole: loading, compilation, writing.
#include "tribo/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "io/format.h"
#include "io/spec/from_flat.h"
#include "io/spec/from_model.h"
#include "io/spec/write.h"
#include "io/urdf/urdf.h"
#include "io/urdf/write.h"
#include "load/load.h"

static tbSpec* load_text(const char* text, size_t size, const char* path,
                         const tbLoadOptions* options, tbError* error) {
  if (tb_load_check_options(options, error) != TB_OK) return NULL;
  tbFormat format = tb_format_detect(text, size);
  if (format == TB_FORMAT_MJCF) return tb_spec_read(text, size, path, options, error);
  if (format == TB_FORMAT_URDF) {
    tbFlat* flat = tb_flat_parse_urdf(text, size, path, options, error);
    tbSpec* spec = flat ? tb_spec_from_flat(flat, path, options, error) : NULL;
    tb_flat_free(flat);
    return spec;
  }
  tb_fail(error, TB_ERROR_PARSE,
          format == TB_FORMAT_BINARY
              ? "%s: a compiled model; load it with tb_load, then tb_spec_from_model"
              : "%s: not a model; expected XML with the root element mujoco (MJCF) or robot (URDF)",
          path);
  return NULL;
}

tbSpec* tb_spec_load(const char* path, const tbLoadOptions* options, tbError* error) {
  tb_error_clear(error);
  if (!path) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_load: path is NULL");
    return NULL;
  }
  tbArena arena;
  tb_arena_init(&arena);
  const unsigned char* bytes;
  size_t size;
  tbSpec* spec = NULL;
  if (tb_read_file(path, &arena, &bytes, &size, error) == TB_OK) {
    spec = load_text((const char*)bytes, size, path, options, error);
  }
  tb_arena_free(&arena);
  return spec;
}

tbSpec* tb_spec_load_xml(const char* xml, const char* directory, const tbLoadOptions* options,
                         tbError* error) {
  tb_error_clear(error);
  if (!xml) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_load_xml: text is NULL");
    return NULL;
  }
  const char* folder = directory && *directory ? directory : ".";
  size_t size = strlen(folder) + 16;
  char* path = malloc(size);
  if (!path) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  snprintf(path, size, "%s/string", folder);
  tbSpec* spec = load_text(xml, strlen(xml), path, options, error);
  free(path);
  return spec;
}

tbSpec* tb_spec_from_model(const tbModel* model, tbError* error) {
  tb_error_clear(error);
  if (!model) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_from_model: model is NULL");
    return NULL;
  }
  if (tb_model_check(model, error) != TB_OK) return NULL;
  tbFlat* flat = tb_flat_from_model(model, error);
  tbSpec* spec = flat ? tb_spec_from_flat(flat, "", NULL, error) : NULL;
  tb_flat_free(flat);
  return spec;
}

tbModel* tb_spec_compile(const tbSpec* spec, tbError* error) {
  tb_error_clear(error);
  if (!spec) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_compile: spec is NULL");
    return NULL;
  }
  tbFlat* flat = tb_flat_from_spec(spec, error);
  tbModel* model = flat ? tb_load_complete(flat, &spec->options, error) : NULL;
  tb_flat_free(flat);
  return model;
}

// ---- writing ------------------------------------------------------------------------------------

// Whether a <model> of the spec is in memory, which a file cannot refer to.
static bool has_memory(const tbSpec* spec) {
  for (const tbElement* e = spec->root; e; e = tb_element_step(spec->root, e, NULL)) {
    if (e->model) return true;
  }
  return false;
}

// A copy of the spec that a file can express.
static tbSpec* plain(const tbSpec* spec, tbError* error) {
  if (!has_memory(spec)) return tb_spec_copy(spec, error);
  tbFlat* flat = tb_flat_from_spec(spec, error);
  tbSpec* copy = flat ? tb_spec_from_flat(flat, spec->path, &spec->options, error) : NULL;
  tb_flat_free(flat);
  return copy;
}

char* tb_spec_save_xml(const tbSpec* spec, tbError* error) {
  tb_error_clear(error);
  if (!spec) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_save_xml: spec is NULL");
    return NULL;
  }
  tbSpec* copy = plain(spec, error);
  if (!copy) return NULL;
  tbText text = {0};
  tb_write_element(&text, copy->root);
  tb_spec_free(copy);
  if (!text.failed) return text.s;
  free(text.s);
  tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  return NULL;
}

// The folder of a file as an absolute path, which the caller frees; NULL if out of memory.
static char* folder_of(const char* path) {
  const char* slash = strrchr(path, '/');
  if (!slash) return tb_absolute_path("");
  size_t n = slash == path ? 1 : (size_t)(slash - path);
  char* folder = malloc(n + 1);
  if (!folder) return NULL;
  memcpy(folder, path, n);
  folder[n] = 0;
  char* full = tb_absolute_path(folder);
  free(folder);
  return full;
}

// Makes the value of a folder or file attribute absolute.
static bool make_absolute(tbElement* e, const char* attribute, const char* folder) {
  const char* value = tb_element_get(e, attribute);
  if (!value || *value == '/') return true;
  const char* full = tb_spec_format(e->spec, *value ? "%s/%s" : "%s%s", folder, value);
  return full && tb_element_set(e, attribute, full);
}

// Makes a spec independent of the folder that it was read from.
static bool detach_folder(tbSpec* spec, const char* folder) {
  bool files = false, meshdir = false, texturedir = false, good = true;
  for (tbElement* e = spec->root; e && good; e = tb_element_step(spec->root, e, NULL)) {
    if (tb_element_is(e, "compiler")) {
      bool both = tb_element_get(e, "assetdir") != NULL;
      meshdir = meshdir || both || tb_element_get(e, "meshdir");
      texturedir = texturedir || both || tb_element_get(e, "texturedir");
      good = make_absolute(e, "meshdir", folder) && make_absolute(e, "texturedir", folder) &&
             make_absolute(e, "assetdir", folder);
    } else if (tb_element_is(e, "model")) {
      good = make_absolute(e, "file", folder);
    } else {
      files = files || (tb_element_get(e, "file") && !e->model);
    }
  }
  if (!good || !files || (meshdir && texturedir)) return good;
  tbElement* compiler = tb_spec_section(spec, "compiler", NULL);
  return compiler && (meshdir || tb_element_set(compiler, "meshdir", folder)) &&
         (texturedir || tb_element_set(compiler, "texturedir", folder));
}

tbResult tb_spec_save(const tbSpec* spec, const char* path, tbError* error) {
  tb_error_clear(error);
  if (!spec || !path || !*path) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_save: %s is NULL or empty",
                   spec ? "path" : "spec");
  }
  tbSpec* copy = plain(spec, error);
  if (!copy) return error ? error->code : TB_ERROR_MEMORY;
  char *from = folder_of(spec->path), *to = folder_of(path);
  bool good = from && to && (strcmp(from, to) == 0 || detach_folder(copy, from));
  free(from);
  free(to);
  tbText text = {0};
  if (good) tb_write_element(&text, copy->root);
  tb_spec_free(copy);
  return good ? tb_text_save(&text, path, error)
              : tb_fail(error, TB_ERROR_MEMORY, "out of memory while writing '%s'", path);
}

tbResult tb_save_mjcf(const tbModel* model, const char* path, tbError* error) {
  tbError local;
  if (!error) error = &local;
  tbSpec* spec = tb_spec_from_model(model, error);
  tbResult result = spec ? tb_spec_save(spec, path, error) : error->code;
  tb_spec_free(spec);
  return result;
}

tbResult tb_save_urdf(const tbModel* model, const char* path, char** left_out, tbError* error) {
  tb_error_clear(error);
  if (left_out) *left_out = NULL;
  if (!model || !path || !*path) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_save_urdf: %s is NULL or empty",
                   model ? "path" : "model");
  }
  tbResult result = tb_model_check(model, error);
  return result == TB_OK ? tb_urdf_write(model, path, left_out, error) : result;
}
