// `tribo convert` and `tribo compile`: a model in another format.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "json.h"
#include "message.h"
#include "nearest.h"
#include "output.h"
#include "tribo/tribo.h"

static const char CONVERT_USAGE[] =
    "tribo convert IN OUT [--compiled] [--json]\n\n"
    "Writes a model (MJCF, URDF or compiled) as MJCF (OUT.xml), URDF (OUT.urdf, its meshes as "
    ".obj\n"
    "files beside it) or compiled (OUT.tbm). From MJCF to MJCF every element stays as given;\n"
    "--compiled writes the compiled model instead, with explicit inertias and inline meshes. What\n"
    "URDF has no words for is listed, or refused where the motion would be another one.\n\n"
    "Options, for instance --law or --option, become part of the written model; with them, the\n"
    "compiled model is written.\n\n" MODEL_ARGS_USAGE;

static const char COMPILE_USAGE[] =
    "tribo compile MODEL [OUT.tbm] [--json]\n\n"
    "Compiles a model, which reports the first mistake with file and line, and saves it as "
    "OUT.tbm\n"
    "if that is given. Loading a compiled model is a copy: no XML, no meshes, no "
    "hulls.\n\n" MODEL_ARGS_USAGE;

typedef enum { FORMAT_UNKNOWN, FORMAT_MJCF, FORMAT_URDF, FORMAT_TBM } Format;

// The format that a file's name stands for.
static Format format_of(const char* path) {
  static const struct {
    const char* ending;
    Format format;
  } ENDINGS[] = {
      {".xml", FORMAT_MJCF}, {".mjcf", FORMAT_MJCF}, {".urdf", FORMAT_URDF}, {".tbm", FORMAT_TBM}};
  size_t n = strlen(path);
  for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
    size_t k = strlen(ENDINGS[i].ending);
    if (n > k && strcmp(path + n - k, ENDINGS[i].ending) == 0) return ENDINGS[i].format;
  }
  return FORMAT_UNKNOWN;
}

static bool is_compiled(const char* path) {
  char start[4] = "";
  FILE* file = fopen(path, "rb");
  size_t n = file ? fread(start, 1, sizeof start, file) : 0;
  if (file) fclose(file);
  // XML starts with a blank, a mark of its encoding or '<'.
  return n == sizeof start && !strchr(" \t\r\n<\xef", start[0]);
}

// Each line of what was left out, as a warning.
static void warn_left_out(char* lines) {
  for (char* line = lines ? strtok(lines, "\n") : NULL; line; line = strtok(NULL, "\n")) {
    fprintf(stderr, "tribo convert: URDF has no words for %s: left out\n", line);
  }
}

// Writes the spec, which keeps everything as given, once it compiles.
static bool write_spec(const ModelArgs* args, const char* path, tbError* error) {
  tbLoadOptions options = model_args_options(args);
  tbSpec* spec = tb_spec_load(args->path, &options, error);
  tbModel* model = spec ? tb_spec_compile(spec, error) : NULL;
  bool good = model && tb_spec_save(spec, path, error) == TB_OK;
  tb_model_free(model);
  tb_spec_free(spec);
  return good;
}

static bool write_model(const tbModel* m, Format format, const char* path, tbError* error) {
  char* left_out = NULL;
  tbResult result = format == FORMAT_TBM    ? tb_model_save(m, path, error)
                    : format == FORMAT_MJCF ? tb_save_mjcf(m, path, error)
                                            : tb_save_urdf(m, path, &left_out, error);
  if (result == TB_OK) warn_left_out(left_out);
  tb_text_free(left_out);
  return result == TB_OK;
}

static void report(const ModelArgs* args, const char* target) {
  if (args->json) {
    Json json = {stdout, false};
    json_open(&json, NULL);
    json_string(&json, "model", args->path);
    json_string(&json, "written", target);
    json_close(&json);
    putchar('\n');
  } else {
    printf("%s written\n", target);
  }
}

int tribo_cmd_convert(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    fputs(CONVERT_USAGE, stdout);
    return 0;
  }
  ModelArgs args = {.path = NULL};
  const char* target = NULL;
  bool compiled = false;
  Grammar grammar = model_args_grammar(&args, "convert");
  grammar.second = &target;
  grammar_add(&grammar, (Flag){.name = "--compiled", .on = &compiled});
  if (!grammar_parse(&grammar, argc, argv)) return 2;
  if (!args.path || !target) {
    complain("convert", "two files are required, IN and OUT (see --help)");
    return 2;
  }
  Format format = format_of(target);
  if (format == FORMAT_UNKNOWN) {
    complain("convert", "'%s' has none of the endings .xml, .urdf, .tbm", target);
    return 2;
  }
  tbError error = {TB_OK, ""};
  bool as_spec =
      format == FORMAT_MJCF && !compiled && args.options.count == 0 && !is_compiled(args.path);
  tbModel* m = as_spec ? NULL : model_args_load(&args, "convert");
  if (!as_spec && !m) return 2;
  // A URDF's meshes are called as its file, so that it is written under its own name.
  bool aside = format != FORMAT_URDF;
  Output output;
  bool good = output_begin(&output, aside ? target : NULL, "convert");
  if (good) {
    const char* path = aside ? output.write : target;
    good = as_spec ? write_spec(&args, path, &error) : write_model(m, format, path, &error);
    if (!good) complain("convert", "%s", error.message);
    good = output_end(&output, good, "convert") && good;
  }
  tb_model_free(m);
  if (!good) return 2;
  report(&args, target);
  return 0;
}

int tribo_cmd_compile(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    fputs(COMPILE_USAGE, stdout);
    return 0;
  }
  ModelArgs args = {.path = NULL};
  const char* target = NULL;
  Grammar grammar = model_args_grammar(&args, "compile");
  grammar.second = &target;
  if (!grammar_parse(&grammar, argc, argv)) return 2;
  if (target && format_of(target) != FORMAT_TBM) {
    complain("compile", "'%s' does not end in .tbm; for other formats use tribo convert", target);
    return 2;
  }
  tbModel* m = model_args_load(&args, "compile");
  if (!m) return 2;
  Output output;
  tbError error = {TB_OK, ""};
  bool good = output_begin(&output, target, "compile");
  if (good && target && tb_model_save(m, output.write, &error) != TB_OK) {
    good = complain("compile", "%s", error.message);
  }
  good = output_end(&output, good, "compile") && good;
  if (good && target) {
    report(&args, target);
  } else if (good && !args.json) {
    char bodies[COUNTED_TEXT], joints[COUNTED_TEXT], geoms[COUNTED_TEXT];
    printf("%s: %s, %s, %s, %.6g kg: no mistakes\n", args.path,
           counted(bodies, m->nbody, "body", "bodies"), counted(joints, m->njnt, "joint", "joints"),
           counted(geoms, m->ngeom, "geom", "geoms"), m->total_mass);
  } else if (good) {
    report(&args, "");
  }
  tb_model_free(m);
  return good ? 0 : 2;
}
