#include "args.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "nearest.h"

// ---- flags -------------------------------------------------------------------------------------

void grammar_add(Grammar* grammar, Flag flag) {
  if (grammar->count < ARGS_MOST_FLAGS) grammar->flag[grammar->count++] = flag;
}

static const Flag* find_flag(const Grammar* g, const char* name, size_t length) {
  for (int i = 0; i < g->count; i++) {
    const Flag* f = &g->flag[i];
    if (strlen(f->name) == length && strncmp(f->name, name, length) == 0) return f;
  }
  return NULL;
}

static bool unknown_flag(const Grammar* g, const char* word) {
  size_t length = strcspn(word, "=");
  const Flag* f = word[length] ? find_flag(g, word, length) : NULL;
  if (f && !f->on) {
    return complain(g->command, "unknown flag '%s', did you mean '%s %s'?", word, f->name,
                    word + length + 1);
  }
  Nearest nearest = {.word = word};
  for (int i = 0; i < g->count; i++) nearest_offer(&nearest, g->flag[i].name);
  nearest_offer(&nearest, "--help");
  return complain(g->command, "unknown flag '%s'%s (see --help)", word, nearest_hint(&nearest));
}

static bool take_path(const Grammar* g, const char* word) {
  if (!g->path) return complain(g->command, "unexpected argument '%s' (see --help)", word);
  if (*g->path && g->second && !*g->second) {
    *g->second = word;
    return true;
  }
  if (*g->path && g->second) {
    return complain(g->command, "two files at most, not '%s' as well", word);
  }
  if (*g->path) {
    return complain(g->command, "one %s at a time, not '%s' as well", g->noun, word);
  }
  *g->path = word;
  return true;
}

// An option `name` with `value`, or NAME=VALUE in `value` if `name` is NULL.
static bool take_option(const Grammar* g, OptionList* list, const char* name, const char* value) {
  size_t length = name ? strlen(name) : strcspn(value, "=");
  if (!name && (value[length] != '=' || length == 0 || length >= ARGS_OPTION_NAME)) {
    return complain(g->command, "--option needs NAME=VALUE, not '%s'", value);
  }
  const char *start = name ? name : value, *text = name ? value : value + length + 1;
  for (int i = 0; i < list->count; i++) {
    const char* other = list->item[i].name;
    if (strlen(other) != length || strncmp(other, start, length) != 0) continue;
    return complain(g->command, "option '%s' is given twice, '%s' and '%s'", other,
                    list->item[i].value, text);
  }
  if (list->count == ARGS_MOST_OPTIONS) {
    return complain(g->command, "more than %d options", ARGS_MOST_OPTIONS);
  }
  memcpy(list->item[list->count].name, start, length);
  list->item[list->count++].value = text;
  return true;
}

// Handle a flag whose value, if it has one, is argv[1]. Returns the number of arguments used, 0
// after a complaint.
static int take_flag(const Grammar* g, const Flag* f, int argc, char** argv) {
  const char* value = argc > 1 ? argv[1] : NULL;
  if (f->on) {
    *f->on = true;
    return 1;
  }
  if (!value || strncmp(value, "--", 2) == 0) {
    complain(g->command, "no value after '%s': it needs a value (see --help)", f->name);
    return 0;
  }
  if (!*value) {
    complain(g->command, "the value after '%s' is empty", f->name);
    return 0;
  }
  if (f->options) return take_option(g, f->options, f->option, value) ? 2 : 0;
  if (f->text) *f->text = value;
  if (f->paths && f->paths->count == ARGS_MOST_PATHS) {
    complain(g->command, "more than %d times %s", ARGS_MOST_PATHS, f->name);
    return 0;
  }
  if (f->paths) f->paths->item[f->paths->count++] = value;
  return 2;
}

bool grammar_parse(const Grammar* g, int argc, char** argv) {
  bool seen[ARGS_MOST_FLAGS] = {false};
  for (int i = 0, used; i < argc; i += used) {
    const char* word = argv[i];
    used = 1;
    if (!*word) return complain(g->command, "an argument is empty");
    if (word[0] != '-') {
      if (!take_path(g, word)) return false;
      continue;
    }
    const Flag* f = find_flag(g, word, strlen(word));
    if (!f) return unknown_flag(g, word);
    bool repeats = f->paths || (f->options && !f->option);
    if (seen[f - g->flag] && !repeats) return complain(g->command, "%s is given twice", word);
    seen[f - g->flag] = true;
    used = take_flag(g, f, argc - i, argv + i);
    if (!used) return false;
  }
  return true;
}

// ---- models ------------------------------------------------------------------------------------

Grammar model_args_grammar(ModelArgs* a, const char* command) {
  Grammar g = {.command = command, .noun = "model", .path = &a->path};
  grammar_add(&g, (Flag){.name = "--json", .on = &a->json});
  grammar_add(&g, (Flag){.name = "--floating", .on = &a->floating_base});
  grammar_add(&g, (Flag){.name = "--keep-fixed", .on = &a->keep_fixed});
  grammar_add(&g, (Flag){.name = "--keep-visual", .on = &a->keep_visual});
  grammar_add(&g, (Flag){.name = "--srdf", .text = &a->srdf});
  grammar_add(&g, (Flag){.name = "--package-path", .paths = &a->search_paths});
  static const char* const SHORT[][2] = {
      {"--law", "law"},        {"--solver", "solver"},       {"--integrator", "integrator"},
      {"--dt", "timestep"},    {"--tol", "solve_tolerance"}, {"--max-iter", "solve_iterations"},
      {"--threads", "threads"}};
  for (size_t i = 0; i < sizeof SHORT / sizeof SHORT[0]; i++) {
    grammar_add(&g, (Flag){.name = SHORT[i][0], .options = &a->options, .option = SHORT[i][1]});
  }
  grammar_add(&g, (Flag){.name = "--option", .options = &a->options});
  return g;
}

bool complain_of_value(const char* command, const char* message, const char* value) {
  const char *list = strstr(message, "is one of "), *end = list ? strstr(list, ", not") : NULL;
  char words[512];
  Nearest nearest = {.word = value};
  if (end) {
    list += strlen("is one of ");
    snprintf(words, sizeof words, "%.*s", (int)(end - list), list);
    nearest_offer_list(&nearest, words);
  }
  // The message is a sentence that ends with ", not 'VALUE'".
  const char* hint = nearest_hint(&nearest);
  return complain(command, "%s%s%s", message, *hint ? ";" : "", *hint ? hint + 1 : "");
}

tbLoadOptions model_args_options(const ModelArgs* args) {
  tbLoadOptions options = tbDefaultLoadOptions();
  options.floating_base = args->floating_base;
  options.keep_fixed = args->keep_fixed;
  options.keep_visual = args->keep_visual;
  options.srdf = args->srdf;
  options.search_paths = args->search_paths.item;
  options.nsearch_paths = args->search_paths.count;
  return options;
}

bool model_args_is_urdf(const ModelArgs* args) {
  char start[4096];
  FILE* file = args->path ? fopen(args->path, "rb") : NULL;
  size_t n = file ? fread(start, 1, sizeof start - 1, file) : 0;
  if (file) fclose(file);
  start[n] = 0;
  // The first element: behind the declaration, comments and blanks.
  const char* at = strchr(start, '<');
  while (at && (at[1] == '?' || at[1] == '!')) {
    const char* end = strncmp(at, "<!--", 4) == 0 ? strstr(at, "-->") : strchr(at, '>');
    at = end ? strchr(end, '<') : NULL;
  }
  return at && strncmp(at, "<robot", 6) == 0;
}

tbModel* model_args_load(const ModelArgs* args, const char* command) {
  if (!args->path) {
    complain(command, "a model file is required (see --help)");
    return NULL;
  }
  tbError error = {TB_OK, ""};
  tbLoadOptions options = model_args_options(args);
  tbModel* model = tb_load(args->path, &options, &error);
  if (!model) complain(command, "%s", error.message);
  for (int i = 0; i < args->options.count && model; i++) {
    const char *name = args->options.item[i].name, *value = args->options.item[i].value;
    if (tb_option_set(&model->opt, name, value, &error) == TB_OK) continue;
    complain_of_value(command, error.message, value);
    tb_model_free(model);
    model = NULL;
  }
  return model;
}

// ---- states ------------------------------------------------------------------------------------

int read_numbers(const char* path, const char* command, tbReal* values, int most) {
  struct stat status;
  FILE* file = fopen(path, "r");
  bool folder = file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode);
  if (!file || folder) {
    complain(command, "%s: %s", path,
             folder ? "a folder; expected a text file of numbers" : strerror(errno));
    if (file) fclose(file);
    return -1;
  }
  int count = 0;
  char word[128];
  while (count >= 0 && fscanf(file, "%*[ ,;\t\r\n]") != EOF &&
         fscanf(file, "%127[^ ,;\t\r\n]", word) == 1) {
    char* end;
    double value = strtod(word, &end);
    if (end == word || *end || !isfinite(value) || strlen(word) == sizeof word - 1) {
      complain(command, "%s: '%s' is not a finite number", path, word);
      count = -1;
    } else {
      if (count < most) values[count] = value;
      count++;
    }
  }
  fclose(file);
  return count;
}

int joint_without_rotation(const tbModel* m, const tbReal* qpos) {
  for (int j = 0; j < m->njnt; j++) {
    int at = tb_joint_quatadr(m, j);
    if (at < 0) continue;
    const tbReal* q = qpos + at;
    // The quaternion is divided by the root of this square, which must neither vanish nor overflow.
    tbReal square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(square > 0) || !isfinite(square)) return j;
  }
  return -1;
}

bool quaternions_are_rotations(const tbModel* m, const tbReal* qpos, const char* path,
                               const char* command) {
  int j = joint_without_rotation(m, qpos);
  if (j < 0) return true;
  const tbReal* q = qpos + tb_joint_quatadr(m, j);
  const char* joint = tb_id2name(m, TB_OBJ_JOINT, j);
  const char* body = tb_id2name(m, TB_OBJ_BODY, m->jnt_bodyid[j]);
  return complain(command,
                  "%s: the %s joint %d%s%s%s of body %d%s%s%s has the quaternion (%g, %g, %g, "
                  "%g), which is not a rotation: expected length 1",
                  path, tb_joint_type_name(m->jnt_type[j]), j, *joint ? " '" : "", joint,
                  *joint ? "'" : "", m->jnt_bodyid[j], *body ? " '" : "", body, *body ? "'" : "",
                  q[0], q[1], q[2], q[3]);
}

bool model_args_reset(const tbModel* m, tbData* d, const char* key, const char* command) {
  char* end;
  long number = strtol(key, &end, 10);
  int id = tb_name2id(m, TB_OBJ_KEY, key);
  if (id < 0 && *key && !*end && number >= 0 && number < m->nkey) id = (int)number;
  if (id >= 0) return tb_reset_keyframe(m, d, id) == TB_OK;
  char list[1024] = "";
  size_t used = 0;
  Nearest nearest = {.word = key};
  for (int i = 0; i < m->nkey; i++) {
    const char* name = tb_id2name(m, TB_OBJ_KEY, i);
    if (name) nearest_offer(&nearest, name);
    if (i >= 10 || used >= sizeof list) continue;
    const char* comma = i ? ", " : "";
    used += (size_t)(name && *name
                         ? snprintf(list + used, sizeof list - used, "%s'%s'", comma, name)
                         : snprintf(list + used, sizeof list - used, "%snumber %d", comma, i));
  }
  return complain(command, "unknown keyframe '%s'%s; the model has %s%s", key,
                  nearest_hint(&nearest), m->nkey ? list : "none", m->nkey > 10 ? ", ..." : "");
}
