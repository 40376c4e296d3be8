// Loading: determine the type of a file, parse, compile, and complete the model.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "io/compile/compile.h"
#include "io/format.h"
#include "io/urdf/urdf.h"
#include "load/load.h"
#include "model/model.h"
#include "tribo/dynamics.h"
#include "tribo/model.h"
#include "tribo/step.h"

tbLoadOptions tbDefaultLoadOptions(void) {
  return (tbLoadOptions){0};
}

// Feasible lengths of muscles, as requested by compiler/lengthrange.
static tbResult set_length_ranges(const tbFlat* spec, tbModel* model, tbError* error) {
  const tbFlatLengthRange* s = &spec->compiler->lengthrange;
  tbLengthRangeOptions options = {.mode = s->mode,
                                  .useexisting = s->useexisting,
                                  .uselimit = s->uselimit,
                                  .accel = s->accel,
                                  .maxforce = s->maxforce,
                                  .timeconst = s->timeconst,
                                  .timestep = s->timestep,
                                  .inttotal = s->inttotal,
                                  .interval = s->interval,
                                  .tolrange = s->tolrange};
  tbError inner = {0};
  int failed;
  tbResult result = tb_set_length_ranges(model, &options, &failed, &inner);
  if (result == TB_OK) return TB_OK;
  const tbFlatActuator* actuator = failed >= 0 ? &spec->actuator[failed] : NULL;
  return tb_flat_fail(error, result, actuator ? actuator->source : s->source,
                      actuator ? actuator->line : s->line, "%s", inner.message);
}

tbModel* tb_load_complete(const tbFlat* spec, const tbLoadOptions* options, tbError* error) {
  tbModel* model = tb_compile(spec, options, error);
  tbResult result = model ? tb_set_constants(model, error) : TB_ERROR_MODEL;
  if (result == TB_OK) tb_compile_finish(spec, model);
  if (result == TB_OK) result = set_length_ranges(spec, model, error);
  // Numbers close to the largest double may cause overflow in derived fields.
  if (result == TB_OK) result = tb_model_check(model, error);
  if (result == TB_OK) return model;
  tb_model_free(model);
  return NULL;
}

// Completes a parsed spec to a model; the spec is freed.
static tbModel* finish(tbFlat* spec, const tbLoadOptions* options, tbError* error) {
  if (!spec) return NULL;
  tbModel* model = tb_load_complete(spec, options, error);
  tb_flat_free(spec);
  return model;
}

tbResult tb_load_check_options(const tbLoadOptions* options, tbError* error) {
  if (!options || (options->nsearch_paths == 0) ||
      (options->nsearch_paths > 0 && options->search_paths)) {
    return TB_OK;
  }
  return tb_fail(error, TB_ERROR_ARGUMENT, "%d search paths, or their list is NULL",
                 options->nsearch_paths);
}

static tbModel* load_text(const char* text, size_t size, const char* path,
                          const tbLoadOptions* options, tbError* error) {
  tbLoadOptions defaults = tbDefaultLoadOptions();
  if (!options) options = &defaults;
  if (tb_load_check_options(options, error) != TB_OK) return NULL;
  switch (tb_format_detect(text, size)) {
    case TB_FORMAT_MJCF:
      return finish(tb_flat_parse_mjcf(text, size, path, options, error), options, error);
    case TB_FORMAT_URDF:
      return finish(tb_flat_parse_urdf(text, size, path, options, error), options, error);
    case TB_FORMAT_BINARY: return tb_model_load_binary(text, size, error);
    default: break;
  }
  tb_fail(error, TB_ERROR_PARSE,
          "%s: not a model; expected XML with the root element mujoco (MJCF) or robot (URDF), or a "
          "compiled model",
          path);
  return NULL;
}

tbModel* tb_load(const char* path, const tbLoadOptions* options, tbError* error) {
  tb_error_clear(error);
  if (!path) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_load: path is NULL");
    return NULL;
  }
  tbArena arena;
  tb_arena_init(&arena);
  const unsigned char* bytes;
  size_t size;
  tbModel* model = NULL;
  if (tb_read_file(path, &arena, &bytes, &size, error) == TB_OK) {
    model = load_text((const char*)bytes, size, path, options, error);
  }
  tb_arena_free(&arena);
  return model;
}

tbModel* tb_load_string(const char* xml, const char* directory, const tbLoadOptions* options,
                        tbError* error) {
  tb_error_clear(error);
  if (!xml) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_load_string: text is NULL");
    return NULL;
  }
  // Parsers resolve relative names against the folder of a file.
  const char* folder = directory && *directory ? directory : ".";
  size_t size = strlen(folder) + 16;
  char* path = malloc(size);
  if (!path) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  snprintf(path, size, "%s/string", folder);
  tbModel* model = load_text(xml, strlen(xml), path, options, error);
  free(path);
  return model;
}
