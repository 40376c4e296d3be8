// `tribo demo`: the effect of each contact law on a thrown cube and on a heavy stack, in a few
// seconds.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "pages/demo_page.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "program_folder.h"
#include "statistics.h"
#include "tribo/tribo.h"

const DemoLaw DEMO_LAW[DEMO_LAWS] = {
    {TB_LAW_NCP, "nothing: the exact law"},
    {TB_LAW_LCP, "the round friction cone (a pyramid)"},
    {TB_LAW_CCP, "contact while sliding (bodies lift)"},
    {TB_LAW_RAISIM, "maximum dissipation"},
    {TB_LAW_SOFT, "rigidity (MuJoCo's springs)"},
    {TB_LAW_COMFREE, "complementarity (closed form)"},
    {TB_LAW_VISCOELASTIC, "rigidity (springs of 1e5 N/m)"},
};

// s: time limit of an experiment; the table shows where a law exceeds it.
static const double TIME_LIMIT = 5;

static tbModel* load(const char* folder, const char* name, bool cube) {
  char path[4096 + 64];
  tbError error;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  tbModel* model = tb_load(path, NULL, &error);
  if (!model) {
    complain("demo", "%s; FOLDER is where sliding_cube.xml and stack.xml are (scenes)",
             error.message);
  }
  // The experiments read positions of free bodies, and start at a keyframe.
  bool usable = !model || (model->nq == 7 * (model->nbody - 1) && model->nq > 0);
  if (usable && model && cube && model->nkey == 0) usable = false;
  if (usable) return model;
  complain("demo", "%s is not a scene of the demo: expected free bodies%s", path,
           cube ? " and a keyframe" : "");
  tb_model_free(model);
  return NULL;
}

// Step for `seconds`; sets the largest residual of the exact law, NaN if no step has one, and the
// time per step.
static void run(const tbModel* m, tbData* d, double seconds, DemoOutcome* out) {
  long steps = lround(seconds / m->opt.timestep);
  double highest = -INFINITY, start_height = d->qpos[2];
  double spent = 0;
  ResidualRange exact = {.count = {0}};
  out->ok = true;
  for (long i = 0; i < steps && out->ok; i++) {
    if (tb_step(m, d) != TB_OK) {
      out->ok = false;
      snprintf(out->message, sizeof out->message, "%s", d->message);
    }
    spent += d->seconds.total;
    if (out->ok && interrupt_signal()) {
      out->ok = false;
      snprintf(out->message, sizeof out->message, "interrupted after %ld of %ld steps", i + 1,
               steps);
    }
    if (out->ok && spent > TIME_LIMIT) {
      out->ok = false;
      snprintf(out->message, sizeof out->message, "stopped after %ld of %ld steps (%.0f ms a step)",
               i + 1, steps, 1e3 * spent / (double)(i + 1));
    }
    residual_add(&exact, &d->solve.residual_exact);
    out->microseconds += 1e6 * d->seconds.total / (double)steps;
    highest = fmax(highest, d->qpos[2]);
    for (int k = 0; k < d->ncon; k++) out->sink = fmax(out->sink, -d->contact[k].dist);
  }
  out->residual = residual_max(&exact).relative;
  out->lift = highest - start_height;
}

// A cube thrown along (2, 1): it should go straight and stop after v^2 / (2 mu g).
static DemoOutcome thrown_cube(tbModel* m, int law) {
  DemoOutcome out = {.message = "out of memory"};
  tbData* d = tb_data_new(m);
  if (!d) return out;
  m->opt.law = law;
  tb_reset_keyframe(m, d, 0);
  double vx = d->qvel[0], vy = d->qvel[1], v = sqrt(vx * vx + vy * vy);
  run(m, d, 1.5, &out);
  out.distance = (d->qpos[0] * vx + d->qpos[1] * vy) / v;
  out.sideways = fabs(d->qpos[0] * vy - d->qpos[1] * vx) / v;
  tb_data_free(d);
  return out;
}

static DemoOutcome heavy_stack(tbModel* m, int law) {
  DemoOutcome out = {.message = "out of memory"};
  tbData* d = tb_data_new(m);
  if (!d) return out;
  m->opt.law = law;
  run(m, d, 2, &out);
  for (int b = 1; b < m->nbody; b++) {
    const tbReal *q = d->qpos + 7 * (b - 1), *q0 = m->qpos0 + 7 * (b - 1);
    out.sideways = fmax(out.sideways, hypot(q[0] - q0[0], q[1] - q0[1]));
  }
  tb_data_free(d);
  return out;
}

static void print_row(const DemoLaw* law, const DemoOutcome* o, bool cube) {
  printf("  %-12s", tb_step_law_name(law->law));
  if (!o->ok) {
    printf(" %s\n", o->message);
    return;
  }
  // Millimetres with a resolution of a micrometre, which is enough for a robot.
  if (cube) printf(" %10.4f", o->distance);
  printf(" %12.3f", 1e3 * o->sideways);
  if (cube) printf(" %10.3f", 1e3 * fmax(0, o->lift));
  char exact[32];
  snprintf(exact, sizeof exact, "%.0e", o->residual);
  printf(" %11.3f %11s %9.1f   %s\n", 1e3 * o->sink, isnan(o->residual) ? "-" : exact,
         o->microseconds, law->what);
}

static void write_row(Json* json, const DemoLaw* law, const DemoOutcome* o, bool cube) {
  json_open(json, NULL);
  json_string(json, "law", tb_step_law_name(law->law));
  json_string(json, "relaxes", law->what);
  json_bool(json, "ok", o->ok);
  if (!o->ok) json_string(json, "message", o->message);
  if (cube) json_real(json, "distance", o->distance);
  json_real(json, "sideways", o->sideways);
  if (cube) json_real(json, "lift", fmax(0, o->lift));
  json_real(json, "overlap", o->sink);
  json_real(json, "residual_exact", o->residual);
  json_real(json, "microseconds_per_step", o->microseconds);
  json_close(json);
}

typedef struct {
  const char* scene;
  const char* key;    // in JSON
  const char* title;  // NULL: that of the cube, which contains a number
  const char* header;
  DemoOutcome (*experiment)(tbModel* m, int law);
  bool cube;
} Experiment;

static const Experiment EXPERIMENTS[DEMO_EXPERIMENTS] = {
    {"sliding_cube.xml", "thrown_cube", NULL,
     "  law          distance m  sideways mm    lift mm  overlap mm   exact law   us/step"
     "   what the law relaxes",
     thrown_cube, true},
    {"stack.xml", "heavy_stack", "Ten boxes, the top one 1000 times heavier (two seconds)",
     "  law           sideways mm  overlap mm   exact law   us/step   what the law relaxes",
     heavy_stack, false},
};

// One experiment under every law: the outcomes, as a table or (json not NULL) as an array of rows.
static void show(tbModel* m, const Experiment* e, Json* json, DemoOutcome outcome[DEMO_LAWS]) {
  double v2 = 2 * 2 + 1 * 1, mu = 0.4, g = 9.81;
  if (json) {
    json_open_array(json, e->key);
  } else if (e->title) {
    printf("\n%s\n\n%s\n", e->title, e->header);
  } else {
    printf(
        "\nA cube thrown along the floor (with steps of 1 ms it should stop after "
        "v^2/(2 mu g) - v h/2 = %.5f m)\n\n%s\n",
        v2 / (2 * mu * g) - 0.5e-3 * sqrt(v2), e->header);
  }
  for (int i = 0; i < DEMO_LAWS && !interrupt_signal(); i++) {
    outcome[i] = e->experiment(m, DEMO_LAW[i].law);
    if (json) write_row(json, &DEMO_LAW[i], &outcome[i], e->cube);
    if (!json) print_row(&DEMO_LAW[i], &outcome[i], e->cube);
    fflush(stdout);
  }
  if (json) json_close_array(json);
}

static const char INTRODUCTION[] =
    "The same scene, the same collisions, the same dynamics; only the contact law changes.\n"
    "The column 'exact law' is Tribo's certificate: the worst relative residual of the exact\n"
    "law of rigid contact with Coulomb friction over all steps.\n";

// The scenes of the folder at hand, those installed with the program, or those of the checkout in
// whose build folder it is.
static const char* default_folder(char* found, size_t size) {
  static const char* const FROM_PROGRAM[] = {TRIBO_SCENES_FROM_PROGRAM, "../scenes"};
  char file[4096];
  for (int i = 0; i < 2 && access("scenes/sliding_cube.xml", R_OK) != 0; i++) {
    if (!program_folder(FROM_PROGRAM[i], found, size)) continue;
    snprintf(file, sizeof file, "%.4000s/sliding_cube.xml", found);
    if (access(file, R_OK) == 0) return found;
  }
  return "scenes";
}

int tribo_cmd_demo(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    printf(
        "tribo demo [FOLDER] [--out FOLDER] [--json]\n\nThrows a cube and loads a stack under "
        "every contact law, "
        "and shows what each law relaxes.\nFOLDER holds sliding_cube.xml and stack.xml (default: "
        "scenes, or else those installed with tribo).\n--out writes a page with both scenes in "
        "motion: FOLDER/index.html.\n");
    return 0;
  }
  char installed[4096];
  const char *folder = NULL, *out = NULL;
  DemoOutcome outcome[DEMO_EXPERIMENTS][DEMO_LAWS] = {{{false, "", 0, 0, 0, 0, 0, 0}}};
  bool as_json = false;
  Grammar grammar = {.command = "demo", .noun = "folder", .path = &folder};
  grammar_add(&grammar, (Flag){.name = "--json", .on = &as_json});
  grammar_add(&grammar, (Flag){.name = "--out", .text = &out});
  if (!grammar_parse(&grammar, argc, argv)) return 2;

  if (!folder) folder = default_folder(installed, sizeof installed);

  // Load both scenes first: a demo that cannot run prints nothing.
  tbModel* models[DEMO_EXPERIMENTS] = {NULL};
  bool ok = true;
  for (int i = 0; i < DEMO_EXPERIMENTS && ok; i++) {
    models[i] = load(folder, EXPERIMENTS[i].scene, EXPERIMENTS[i].cube);
    ok = models[i] != NULL;
  }
  interrupt_catch();
  Json json = {stdout, false};
  if (ok && as_json) json_open(&json, NULL);
  if (ok && !as_json) fputs(INTRODUCTION, stdout);
  for (int i = 0; i < DEMO_EXPERIMENTS && ok && !interrupt_signal(); i++) {
    show(models[i], &EXPERIMENTS[i], as_json ? &json : NULL, outcome[i]);
  }
  if (ok && as_json) json_close(&json);
  if (ok && interrupt_signal()) fprintf(stderr, "tribo demo: interrupted\n");
  if (ok && (as_json || !interrupt_signal())) {
    fputs(as_json ? "\n"
                  : "\nNext: build/tribo sim scenes/stack.xml --law soft, build/tribo --help, "
                    "docs/\n",
          stdout);
  }
  if (ok && out && !interrupt_signal()) ok = demo_page(out, models, outcome);
  if (ok && out && !as_json && !interrupt_signal()) printf("In motion: %s/index.html\n", out);
  for (int i = 0; i < DEMO_EXPERIMENTS; i++) tb_model_free(models[i]);
  return ok ? interrupt_code(0) : 2;
}
