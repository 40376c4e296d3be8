// `tribo sim`: simulates a model and reports residuals, contacts and times.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "drive.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "output.h"
#include "statistics.h"
#include "tribo/tribo.h"

typedef struct {
  ModelArgs model;
  const char *key, *state, *save, *out, *time_text;
  const char *ctrl, *record, *problems, *problems_of;
  bool strict;
  double time;
} Arguments;

static const char USAGE[] =
    "tribo sim MODEL [--law L] [--solver S] [--integrator I] [--dt X] [--time X] [--tol X]\n"
    "          [--max-iter N] [--threads N] [--option NAME=VALUE]\n"
    "          [--key NAME | --state FILE] [--ctrl FILE] [--out FILE.csv|FILE.h5 [--record LIST]]\n"
    "          [--save FILE] [--problems FOLDER [--problems-of WHICH]] [--strict] [--json]\n\n"
    "Simulates for --time seconds (default 1) and reports residuals, contacts, energy and "
    "times.\n\n"
    "  --law         ncp (exact, default), ccp, lcp, raisim, soft (MuJoCo's), comfree,\n"
    "                viscoelastic\n"
    "  --solver      auto (default), pgs, admm, newton, staggered, prox-newton, ipm, lemke,\n"
    "                pgs-exact: those that the law supports; soft supports newton and pgs\n"
    "  --integrator  euler, rk4, implicit, implicitfast; viscoelastic: expo, expo-midpoint,\n"
    "                euler-explicit, rk4, euler-implicit\n"
    "  --dt          time step, s (default: the file's)\n"
    "  --tol         relative residual at which a rigid solver stops (default 1e-6)\n"
    "  --max-iter    iterations of a rigid solver (default 1000)\n"
    "  --threads     threads over islands; results do not depend on it\n"
    "  --key         start at a keyframe\n"
    "  --state       start at a text file with qpos, qvel and optionally ctrl, or at a snapshot\n"
    "  --save        write a snapshot at the end; a run with --state resumes from it exactly\n"
    "  --ctrl        controls from a file, .csv, .npy or .h5: a row per step, or (with a column "
    "or\n"
    "                dataset `time`) each row from its time on, counted from the first row; the\n"
    "                columns of .csv are named ctrl:ACTUATOR, ACTUATOR or ctrl0, or are in order\n"
    "  --out         trajectory, a row per step: time, qpos, qvel, ctrl, energy, contacts, "
    "residual;\n"
    "                columns are named after joints and actuators (qpos:NAME, qpos0 without a "
    "name)\n"
    "  --record      more for --out: sensordata, contacts, or any array of the data, as in\n"
    "                --record sensordata,xpos,contacts. Contacts have a row each: in CSV in a "
    "file\n"
    "                NAME.contacts.csv\n"
    "  --problems    write the contact problem of each step to FOLDER/step_N.hdf5 (FCLIB), which\n"
    "                `tribo solve` reads\n"
    "  --problems-of all (default), unconverged, or N: every N-th step\n"
    "  --strict      exit with 1 if there is a warning: steps not converged or without "
    "certificate,\n"
    "                overlaps in the first pose, a time step above 0.05 s, ...\n"
    "  --json        the report as one JSON object on standard output\n\n" MODEL_ARGS_USAGE
    "\nOptions by name (--option NAME=VALUE, vectors as a,b,c); in brackets the default if the "
    "file\n"
    "sets none:\n\n";

// Print an option with its default in the format of --option, converted from C's "(0, 0, -9.81)". A
// default that is a word is the first one in the option's description.
static void print_option(const char* name, const char* unit, const char* what, const char* value) {
  printf("  %-22s %-6s %s", name, unit, what);
  if (strncmp(value, "TB_", 3) != 0) {
    fputs(" [", stdout);
    for (; *value; value++) {
      if (!strchr("() ", *value)) putchar(*value);
    }
    putchar(']');
  }
  putchar('\n');
}

static void print_help(void) {
  fputs(USAGE, stdout);
#define X(type, name, count, value, allowed, unit, what) print_option(#name, unit, what, #value);
  TB_OPTION_FIELDS(X)
#undef X
}

// ---- arguments ---------------------------------------------------------------------------------

// False after a complaint.
static bool parse(Arguments* a, int argc, char** argv) {
  Grammar g = model_args_grammar(&a->model, "sim");
  grammar_add(&g, (Flag){.name = "--key", .text = &a->key});
  grammar_add(&g, (Flag){.name = "--state", .text = &a->state});
  grammar_add(&g, (Flag){.name = "--save", .text = &a->save});
  grammar_add(&g, (Flag){.name = "--out", .text = &a->out});
  grammar_add(&g, (Flag){.name = "--ctrl", .text = &a->ctrl});
  grammar_add(&g, (Flag){.name = "--record", .text = &a->record});
  grammar_add(&g, (Flag){.name = "--problems", .text = &a->problems});
  grammar_add(&g, (Flag){.name = "--problems-of", .text = &a->problems_of});
  grammar_add(&g, (Flag){.name = "--time", .text = &a->time_text});
  grammar_add(&g, (Flag){.name = "--strict", .on = &a->strict});
  if (!grammar_parse(&g, argc, argv)) return false;
  if (a->key && a->state) {
    return complain("sim", "--key and --state both set the start: give only one");
  }
  if (!a->time_text) return true;
  char* end;
  a->time = strtod(a->time_text, &end);
  if (!*end && a->time >= 0 && a->time <= 1e9) return true;
  return complain("sim", "--time expects seconds, 0 to 1e9, not '%s'", a->time_text);
}

// ---- start -------------------------------------------------------------------------------------

// A whole regular file, or NULL; the caller frees it.
static unsigned char* read_file(const char* path, size_t* size) {
  struct stat status;
  FILE* file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
  if (!file) return NULL;
  unsigned char* bytes = malloc((size_t)status.st_size + 1);
  *size = bytes ? fread(bytes, 1, (size_t)status.st_size, file) : 0;
  fclose(file);
  return bytes;
}

// 1: the file was a snapshot and is loaded; 0: it is another kind of file; -1: it is an invalid
// snapshot.
static int read_snapshot(const char* path, const tbModel* m, tbData* d) {
  size_t size = 0;
  unsigned char* bytes = read_file(path, &size);
  int loaded = 0;
  if (bytes && size >= 8 && memcmp(bytes, "tribosn", 8) == 0) {
    tbError error;
    loaded = tb_snapshot_load(m, d, bytes, size, &error) == TB_OK ? 1 : -1;
    if (loaded < 0) complain("sim", "%s: %s", path, error.message);
  }
  free(bytes);
  return loaded;
}

static bool write_snapshot(const char* path, const tbModel* m, const tbData* d) {
  size_t size = tb_snapshot_size(m, d);
  void* bytes = malloc(size);
  FILE* file = bytes && tb_snapshot_save(m, d, bytes, size) == TB_OK ? fopen(path, "wb") : NULL;
  bool ok = file && fwrite(bytes, 1, size, file) == size;
  if (file && fclose(file) != 0) ok = false;
  free(bytes);
  return ok || complain("sim", "%s could not be written: disk full?", path);
}

// Read the numbers of a text file: qpos, qvel, and ctrl if there are enough.
static bool read_state(const char* path, const tbModel* m, tbData* d) {
  int need = m->nq + m->nv, most = need + m->nu;
  tbReal* numbers = malloc(((size_t)most + 1) * sizeof(tbReal));
  if (!numbers) return complain("sim", "out of memory for %s", path);
  int n = read_numbers(path, "sim", numbers, most);
  bool ok = n == need || n == most;
  if (ok) {
    memcpy(d->qpos, numbers, (size_t)m->nq * sizeof(tbReal));
    memcpy(d->qvel, numbers + m->nq, (size_t)m->nv * sizeof(tbReal));
    memcpy(d->ctrl, numbers + need, (size_t)(n - need) * sizeof(tbReal));
  } else if (n >= 0) {
    char with_ctrl[64] = "";
    if (m->nu) snprintf(with_ctrl, sizeof with_ctrl, " or %d (and ctrl)", most);
    complain("sim", "%s has %d numbers, expected %d (qpos, qvel)%s", path, n, need, with_ctrl);
  }
  free(numbers);
  return ok;
}

static bool set_start(const Arguments* a, const tbModel* m, tbData* d) {
  if (a->key) return model_args_reset(m, d, a->key, "sim");
  if (!a->state) return true;
  int snapshot = read_snapshot(a->state, m, d);
  bool ok = snapshot ? snapshot > 0 : read_state(a->state, m, d);
  return ok && quaternions_are_rotations(m, d->qpos, a->state, "sim");
}

// ---- the run -----------------------------------------------------------------------------------

typedef struct {
  Statistics steps;
  Warnings warnings;
  Drive drive;
  Recording recording;
  Problems problems;
  double wall;
  tbResult result;  // of the last step
} Run;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show_progress(long step, long steps, double started, double* shown) {
  double t = now();
  if (t - *shown < 0.2 || !isatty(STDERR_FILENO)) return;
  *shown = t;
  int filled = (int)(30 * step / steps);
  double left = (t - started) / (double)step * (double)(steps - step);
  fprintf(stderr, "\r[%.*s%.*s] %3ld%%, %.0f s left ", filled, "##############################",
          30 - filled, "..............................", 100 * step / steps, left);
}

// Number of steps for the whole time, or -1 after a message.
static long count_steps(const Arguments* a, const tbModel* m) {
  double steps = a->time / m->opt.timestep;
  if (steps <= 1e15 && (a->time == 0 || steps >= 0.5)) return lround(steps);
  complain("sim", "%g s are %g steps of %g s; change --time or --dt", a->time, steps,
           m->opt.timestep);
  return -1;
}

// Energies of the state after the last step: a step itself computes those of its start.
static void measure_energy(const tbModel* m, tbData* d) {
  tb_compute_position(m, d);
  tb_compute_velocity(m, d);
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
}

// Whether the first step found that law, solver and options are incompatible.
static bool is_refused(const Run* r) {
  return r->steps.steps == 0 &&
         (r->result == TB_ERROR_ARGUMENT || r->result == TB_ERROR_UNSUPPORTED);
}

// Reason why a run ended early.
static void warn_of_end(Run* r, const tbData* d, long steps) {
  long done = r->steps.steps;
  if (r->result != TB_OK) {
    const char* hint = r->result == TB_ERROR_NUMERIC
                           ? "; the run ended before it, try a smaller --dt"
                           : "; the run ended before it";
    warn(&r->warnings, "step %ld: %s%s", done, d->message, hint);
  } else if (interrupt_signal()) {
    warn(&r->warnings, "interrupted after %ld of %ld steps", done, steps);
  }
}

// Make the steps; false after a complaint that a file cannot be written.
static bool step_all(Run* r, long steps, const tbModel* m, tbData* d) {
  double started = now(), shown = started, writing = 0;
  bool ok = true;
  while (r->steps.steps < steps && ok && !interrupt_signal()) {
    double before = now();
    drive_set(&r->drive, d);
    problems_before(&r->problems, m, d);
    double begin = now();
    r->result = tb_step(m, d);
    if (r->result != TB_OK) break;
    double end = now();
    statistics_add(&r->steps, d);
    ok = problems_after(&r->problems, m, d, r->steps.steps - 1);
    if (r->recording.record) {
      measure_energy(m, d);
      ok = ok && recording_append(&r->recording, m, d);
    }
    show_progress(r->steps.steps, steps, started, &shown);
    writing += begin - before + now() - end;
  }
  r->wall = now() - started - writing;
  if (shown > started) fprintf(stderr, "\r%60s\r", "");
  return ok;
}

// Run with output files; false after a complaint about one of them.
static bool simulate(const Arguments* a, const tbModel* m, tbData* d, long steps, Run* r) {
  Output snapshot = {NULL, NULL};
  bool ok = drive_read(&r->drive, a->ctrl, m, d, "sim") &&
            problems_open(&r->problems, a->problems, a->problems_of, m) &&
            recording_open(&r->recording, a->out, a->record, m) &&
            output_begin(&snapshot, a->save, "sim");
  if (ok && outputs_collide(&r->recording.rows, &snapshot)) {
    ok = complain("sim", "--save and --out both write %s", a->out);
  }
  ok = ok && step_all(r, steps, m, d);
  if (ok && a->save) ok = write_snapshot(snapshot.write, m, d);
  // A run that the first step rejects writes no files.
  bool keep = ok && !is_refused(r);
  ok = recording_close(&r->recording, keep) && ok;
  ok = output_end(&snapshot, keep && ok, "sim") && ok;
  drive_warn(&r->drive, d, &r->warnings);
  problems_warn(&r->problems, &r->warnings);
  drive_free(&r->drive);
  problems_free(&r->problems);
  return ok;
}

// ---- report ------------------------------------------------------------------------------------

typedef struct {
  double mean, std, max;
} Depth;

static Depth depth_of(const Statistics* s) {
  double n = s->contacts ? (double)s->contacts : 1, mean = s->depth_sum / n;
  return (Depth){mean, sqrt(fmax(0, s->depth_squares / n - mean * mean)), s->depth_max};
}

static void json_range(Json* j, const char* key, const ResidualRange* range) {
  tbResidual mean = residual_mean(range), max = residual_max(range);
  json_open(j, key);
  json_residual(j, "mean", &mean);
  json_residual(j, "max", &max);
  json_close(j);
}

static void print_json(const tbModel* m, const tbData* d, const Run* r) {
  const Statistics* s = &r->steps;
  Json j = {stdout, false};
  Depth depth = depth_of(s);
  double steps = s->steps ? (double)s->steps : 1;
  json_open(&j, NULL);
  json_string(&j, "law", tb_step_law_name(m->opt.law));
  json_int(&j, "steps", s->steps);
  json_real(&j, "time", d->time);
  json_reals(&j, "qpos", d->qpos, m->nq);
  json_reals(&j, "qvel", d->qvel, m->nv);
  json_open(&j, "energy");
  json_real(&j, "kinetic", d->energy[1]);
  json_real(&j, "potential", d->energy[0]);
  json_close(&j);
  json_real(&j, "steps_per_second", r->wall > 0 ? (double)s->steps / r->wall : 0);
  json_open(&j, "seconds");
  json_real(&j, "collide", s->seconds.collide);
  json_real(&j, "assemble", s->seconds.assemble);
  json_real(&j, "solve", s->seconds.solve);
  json_real(&j, "dynamics", s->seconds.dynamics);
  json_real(&j, "total", s->seconds.total);
  json_close(&j);
  json_real(&j, "contacts_mean", (double)s->contacts / steps);
  json_open(&j, "penetration");
  json_real(&j, "mean", depth.mean);
  json_real(&j, "std", depth.std);
  json_real(&j, "max", depth.max);
  json_close(&j);
  json_real(&j, "iterations_mean", (double)s->iterations / steps);
  json_range(&j, "residual", &s->residual);
  json_range(&j, "residual_exact", &s->residual_exact);
  json_int(&j, "unconverged_steps", s->unconverged.count);
  json_int(&j, "uncertified_steps", s->uncertified.count);
  json_open_array(&j, "warnings");
  for (int i = 0; i < r->warnings.count; i++) json_string(&j, NULL, r->warnings.text[i]);
  json_close_array(&j);
  json_close(&j);
  printf("\n");
}

// A residual, or a dash if no step has one.
static const char* shown(tbReal residual, char text[32]) {
  snprintf(text, 32, "%.1e", residual);
  return isnan(residual) ? "-" : text;
}

static void print_residuals(const Statistics* s) {
  char mean[32], max[32], exact_mean[32], exact_max[32];
  printf("  relative residual    mean %s, max %s; of the exact law mean %s, max %s\n",
         shown(residual_mean(&s->residual).relative, mean),
         shown(residual_max(&s->residual).relative, max),
         shown(residual_mean(&s->residual_exact).relative, exact_mean),
         shown(residual_max(&s->residual_exact).relative, exact_max));
}

static void print_text(const tbModel* m, const tbData* d, const Run* r) {
  const Statistics* s = &r->steps;
  Depth depth = depth_of(s);
  double steps = s->steps ? (double)s->steps : 1, us = 1e6 / steps;
  printf("%ld steps of %g ms under %s: %.3g s simulated in %.3g s (%.0f steps/s)\n", s->steps,
         1e3 * m->opt.timestep, tb_step_law_name(m->opt.law), (double)s->steps * m->opt.timestep,
         r->wall, r->wall > 0 ? (double)s->steps / r->wall : 0);
  printf("  microseconds a step  collide %.1f, assemble %.1f, solve %.1f, dynamics %.1f\n",
         us * s->seconds.collide, us * s->seconds.assemble, us * s->seconds.solve,
         us * s->seconds.dynamics);
  printf("  contacts             %.1f a step; penetration mean %.2e m, max %.2e m\n",
         (double)s->contacts / steps, depth.mean, depth.max);
  printf("  iterations           %.1f a step; %ld steps not converged, %ld without certificate\n",
         (double)s->iterations / steps, s->unconverged.count, s->uncertified.count);
  print_residuals(s);
  printf("  energy               kinetic %.6g J, potential %.6g J\n", d->energy[1], d->energy[0]);
}

static void print_warnings(const Run* r) {
  for (int i = 0; i < r->warnings.count; i++) {
    fprintf(stderr, "tribo sim: warning: %s\n", r->warnings.text[i]);
  }
}

// Exit code of a completed run.
static int exit_code(const Run* r, bool strict) {
  bool failed = r->result != TB_OK || (strict && r->warnings.count);
  return interrupt_code(failed ? 1 : 0);
}

// Simulate from the given start, and report.
static int report(const Arguments* a, const tbModel* m, tbData* d) {
  Run r = {.result = TB_OK};
  long steps = count_steps(a, m);
  if (steps < 0) return 2;
  interrupt_catch();
  warn_of_options(&r.warnings, m);
  if (!simulate(a, m, d, steps, &r)) return 2;
  if (is_refused(&r)) {
    complain("sim", "%s", d->message);
    return 2;
  }
  warn_of_steps(&r.warnings, &r.steps, m);
  warn_of_end(&r, d, steps);
  measure_energy(m, d);
  if (!isfinite(d->energy[0]) || !isfinite(d->energy[1])) {
    warn(&r.warnings, "the final energy is not finite; try a smaller --dt");
  }
  print_warnings(&r);
  if (a->model.json) print_json(m, d, &r);
  if (!a->model.json && (r.steps.steps > 0 || r.result == TB_OK)) print_text(m, d, &r);
  return exit_code(&r, a->strict);
}

static int run(const Arguments* a) {
  tbModel* m = model_args_load(&a->model, "sim");
  if (!m) return 2;
  tbData* d = tb_data_new(m);
  if (!d) complain("sim", "out of memory");
  int code = d && set_start(a, m, d) ? report(a, m, d) : 2;
  tb_data_free(d);
  tb_model_free(m);
  return code;
}

int tribo_cmd_sim(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    print_help();
    return 0;
  }
  Arguments a = {.time = 1};
  return parse(&a, argc, argv) ? run(&a) : 2;
}
