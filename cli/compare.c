// `tribo compare`: one scene under chosen laws, measured side by side.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "pages/compare_page.h"
#include "interrupt.h"
#include "json.h"
#include "laws.h"
#include "measured.h"
#include "message.h"

static const char USAGE[] =
    "tribo compare MODEL [--laws LAW,LAW,...] [--reference LAW] [--time X] [--key NAME]\n"
    "              [--ctrl FILE] [--finer N] [--out FOLDER] [--dt X] [--option NAME=VALUE] "
    "[--json]\n\n"
    "Runs the same scene under each law and shows what the law does to it.\n\n"
    "  --laws       laws, up to seven (default: all)\n"
    "  --reference  the law whose path and energy the others are compared with (default: the\n"
    "               first)\n"
    "  --time       seconds (default 1)\n"
    "  --ctrl       controls from a file, as in `tribo sim`\n"
    "  --finer      time steps of the run for self-consistency per time step, 2 to 100 (default "
    "4);\n"
    "               0: no such run\n"
    "  --out        a folder for index.html with the table, figures and a picture\n\n"
    "Measures:\n";

typedef struct {
  ModelArgs model;
  const char *laws, *reference, *out, *time_text, *finer_text;
  LawList list;
  int first;  // the reference: an index of the list
  Scenario scenario;
} Arguments;

static void print_help(void) {
  fputs(USAGE, stdout);
  for (int c = 0; c < MEASURED_COLUMNS; c++) {
    printf("  %-16s %s\n", MEASURED_COLUMN[c].head, MEASURED_COLUMN[c].what);
  }
  fputs("\n" MODEL_ARGS_USAGE, stdout);
}

// ---- arguments ---------------------------------------------------------------------------------

static bool read_laws(Arguments* a) {
  LawList reference;
  for (int i = 0; i < TB_STEP_LAW_COUNT && !a->laws; i++) a->list.law[a->list.count++] = i;
  if (a->laws && !law_list_read(&a->list, a->laws, "--laws", "compare")) return false;
  for (int i = 0; i < a->list.count; i++) {
    for (int k = 0; k < i; k++) {
      if (a->list.law[i] != a->list.law[k]) continue;
      return complain("compare", "--laws has %s twice", tb_step_law_name(a->list.law[i]));
    }
  }
  if (!a->reference) return true;
  if (!law_list_read(&reference, a->reference, "--reference", "compare")) return false;
  for (int i = 0; i < a->list.count; i++) {
    if (reference.count == 1 && reference.law[0] == a->list.law[i]) {
      a->first = i;
      return true;
    }
  }
  return complain("compare", "--reference expects one of the laws that are compared, not '%s'",
                  a->reference);
}

static bool parse(Arguments* a, int argc, char** argv) {
  Scenario* s = &a->scenario;
  char rest;
  Grammar g = model_args_grammar(&a->model, "compare");
  const Flag flags[] = {
      {.name = "--laws", .text = &a->laws},      {.name = "--reference", .text = &a->reference},
      {.name = "--key", .text = &s->key},        {.name = "--ctrl", .text = &s->ctrl},
      {.name = "--time", .text = &a->time_text}, {.name = "--finer", .text = &a->finer_text},
      {.name = "--out", .text = &a->out}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) grammar_add(&g, flags[i]);
  if (!grammar_parse(&g, argc, argv)) return false;
  for (int i = 0; i < a->model.options.count; i++) {
    if (strcmp(a->model.options.item[i].name, "law") != 0) continue;
    return complain("compare", "the laws are those of --laws LAW,LAW,..., not --law");
  }
  if (a->time_text &&
      (sscanf(a->time_text, "%lf%c", &s->time, &rest) != 1 || !(s->time > 0 && s->time <= 1e6))) {
    return complain("compare", "--time expects seconds, above 0 to 1e6, not '%s'", a->time_text);
  }
  if (a->finer_text && (sscanf(a->finer_text, "%d%c", &s->finer, &rest) != 1 || s->finer < 0 ||
                        s->finer == 1 || s->finer > 100)) {
    return complain("compare", "--finer expects 0 or 2 to 100, not '%s'", a->finer_text);
  }
  return read_laws(a);
}

// ---- report ------------------------------------------------------------------------------------

static void print_json(const Arguments* a, const Measured* all, int count) {
  Json j = {stdout, false};
  json_open(&j, NULL);
  json_string(&j, "reference", tb_step_law_name(a->list.law[a->first]));
  json_real(&j, "time", a->scenario.time);
  json_real(&j, "timestep", a->scenario.model->opt.timestep);
  json_open_array(&j, "laws");
  for (int i = 0; i < count; i++) {
    json_open(&j, NULL);
    json_string(&j, "law", tb_step_law_name(all[i].law));
    json_bool(&j, "ok", all[i].ok);
    if (!all[i].ok) json_string(&j, "message", all[i].message);
    for (int c = 0; c < MEASURED_COLUMNS && all[i].ok; c++) {
      json_real(&j, MEASURED_COLUMN[c].key, measured_value(&all[i], c));
    }
    json_close(&j);
  }
  json_close_array(&j);
  json_close(&j);
  putchar('\n');
}

// A column per law, which fits a terminal; a law whose step failed has its reason below.
static void print_table(const Measured* all, int count) {
  char text[32];
  printf("%-16s", "");
  for (int i = 0; i < count; i++) printf(" %12s", tb_step_law_name(all[i].law));
  putchar('\n');
  for (int c = 0; c < MEASURED_COLUMNS; c++) {
    printf("%-16s", MEASURED_COLUMN[c].head);
    for (int i = 0; i < count; i++) {
      printf(" %12s", all[i].ok ? measured_text(&all[i], c, text) : "failed");
    }
    putchar('\n');
  }
  for (int i = 0; i < count; i++) {
    if (!all[i].ok) printf("%s: %s\n", tb_step_law_name(all[i].law), all[i].message);
  }
}

static int compare(Arguments* a) {
  Scenario* s = &a->scenario;
  Measured all[MOST_LAWS];
  int count = 0, law = s->model->opt.law, code = 0;
  bool ok = true;
  interrupt_catch();
  if (s->time < 0.5 * s->model->opt.timestep) {
    complain("compare", "%g s are less than a step of %g s; change --time or --dt", s->time,
             s->model->opt.timestep);
    return 2;
  }
  for (int i = 0; i < a->list.count && ok && !interrupt_signal(); i++) {
    if (isatty(STDERR_FILENO)) {
      fprintf(stderr, "\r%-40s\r%d of %d: %s", "", i + 1, a->list.count,
              tb_step_law_name(a->list.law[i]));
    }
    ok = measure_law(s, a->list.law[i], &all[count++]);
    if (ok && !all[i].ok) code = 1;
  }
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%-40s\r", "");
  s->model->opt.law = law;
  // An interrupt before the reference was run leaves the first law.
  if (a->first >= count) a->first = 0;
  if (ok) {
    measure_distances(all, count, a->first);
    if (a->model.json) print_json(a, all, count);
    if (!a->model.json) print_table(all, count);
    if (a->out && !interrupt_signal()) {
      ok = compare_page(a->out, a->model.path, s, all, count, a->first);
      if (ok && !a->model.json) printf("\n%s/index.html\n", a->out);
    }
  }
  for (int i = 0; i < count; i++) measured_free(&all[i]);
  return ok ? interrupt_code(code) : 2;
}

int tribo_cmd_compare(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    print_help();
    return 0;
  }
  Arguments a = {.scenario = {.time = 1, .finer = 4, .command = "compare"}};
  if (!parse(&a, argc, argv)) return 2;
  a.scenario.model = model_args_load(&a.model, "compare");
  int code = a.scenario.model ? compare(&a) : 2;
  tb_model_free(a.scenario.model);
  return code;
}
