// `tribo sim`: run a model and report what the contact law did.
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "json.h"
#include "tribo/tribo.h"

typedef struct {
  ModelArgs model;
  const char *key, *state, *save, *out;
  double time;
} Arguments;

static const char USAGE[] =
    "tribo sim MODEL [--law L] [--solver S] [--integrator I] [--dt X] [--time X] [--tol X]\n"
    "          [--max-iter N] [--threads N] [--option NAME=VALUE]\n"
    "          [--key NAME | --state FILE] [--save FILE] [--out FILE.csv|FILE.h5] [--json]\n\n"
    "Simulates for --time seconds (default 1) and reports what the contact law did.\n\n"
    "  --law         ncp (exact, default), ccp, lcp, raisim, soft (MuJoCo's), comfree,\n"
    "                viscoelastic\n"
    "  --solver      auto (default), pgs, admm, newton, staggered, direct (lemke), bisection,\n"
    "                corrected, prox, ipm: those that the law has; soft has newton and pgs\n"
    "  --integrator  euler, rk4, implicit, implicitfast; viscoelastic: expo, expo-midpoint,\n"
    "                euler-explicit, rk4, euler-implicit\n"
    "  --dt          time step, s (default: the file's)\n"
    "  --tol         relative residual at which a rigid solver stops (default 1e-6)\n"
    "  --max-iter    iterations of a rigid solver (default 1000)\n"
    "  --threads     threads over islands; results do not depend on it\n"
    "  --key         start at a keyframe\n"
    "  --state       start at a text file with qpos, qvel and optionally ctrl, or at a snapshot\n"
    "  --save        write a snapshot at the end, from which --state goes on bit for bit\n"
    "  --out         trajectory, a row per step: time, qpos, qvel, ctrl, energy, contacts, "
    "residual\n"
    "  --json        the report as one JSON object on standard output\n\n" MODEL_ARGS_USAGE
    "\nOptions by name (--option NAME=VALUE, vectors as a,b,c); in brackets the value where the "
    "file\n"
    "has none:\n\n";

// An option with its default as --option takes it, from C's "(0, 0, -9.81)". A default that is a
// word comes first in what the option says of itself.
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

static bool complain(const char* what, const char* about) {
  fprintf(stderr, "tribo sim: %s '%s' (see --help)\n", what, about);
  return false;
}

// Handles argv[0], with its value in argv[1]; how many were used, 0 on error.
static int parse_one(Arguments* a, int argc, char** argv) {
  const char *arg = argv[0], *value = argc > 1 ? argv[1] : NULL;
  int taken = model_args_take(&a->model, "sim", argc, argv);
  if (taken) return taken > 0 ? taken : 0;
  const struct {
    const char* flag;
    const char** target;
  } texts[] = {
      {"--key", &a->key}, {"--state", &a->state}, {"--save", &a->save}, {"--out", &a->out}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(arg, texts[i].flag) != 0) continue;
    if (!value) return complain("no value after", arg);
    *texts[i].target = value;
    return 2;
  }
  if (strcmp(arg, "--time") == 0) {
    if (!value) return complain("no value after", arg);
    char* end;
    a->time = strtod(value, &end);
    if (end == value || *end || !(a->time >= 0) || a->time > 1e9) {
      return complain("--time expects seconds, 0 to 1e9, not", value);
    }
    return 2;
  }
  return complain("no flag", arg);
}

// ---- start -------------------------------------------------------------------------------------

// A whole file, or NULL; the caller frees it.
static unsigned char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  unsigned char* bytes = NULL;
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)end + 1);
  *size = bytes ? fread(bytes, 1, (size_t)end, file) : 0;
  fclose(file);
  return bytes;
}

// 1: the file was a snapshot and is loaded; 0: it is something else; -1: it is a bad snapshot.
static int read_snapshot(const char* path, const tbModel* m, tbData* d) {
  size_t size = 0;
  unsigned char* bytes = read_file(path, &size);
  int loaded = 0;
  if (bytes && size >= 8 && memcmp(bytes, "tribosn", 8) == 0) {
    tbError error;
    loaded = tb_snapshot_load(m, d, bytes, size, &error) == TB_OK ? 1 : -1;
    if (loaded < 0) fprintf(stderr, "tribo sim: %s: %s\n", path, error.message);
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
  return ok || complain("cannot write", path);
}

// Numbers of a text file: qpos, qvel, and ctrl where there are enough.
static bool read_state(const char* path, const tbModel* m, tbData* d) {
  int need = m->nq + m->nv, most = need + m->nu;
  tbReal* numbers = malloc(((size_t)most + 1) * sizeof(tbReal));
  if (!numbers) return complain("out of memory for", path);
  int n = read_numbers(path, "sim", numbers, most);
  bool ok = n == need || n == most;
  if (ok) {
    memcpy(d->qpos, numbers, (size_t)m->nq * sizeof(tbReal));
    memcpy(d->qvel, numbers + m->nq, (size_t)m->nv * sizeof(tbReal));
    memcpy(d->ctrl, numbers + need, (size_t)(n - need) * sizeof(tbReal));
  } else if (n >= 0) {
    fprintf(stderr, "tribo sim: %s has %d numbers, expected %d (qpos, qvel)", path, n, need);
    if (m->nu) fprintf(stderr, " or %d (and ctrl)", most);
    fputc('\n', stderr);
  }
  free(numbers);
  return ok;
}

static bool set_start(const Arguments* a, const tbModel* m, tbData* d) {
  if (a->key) return model_args_reset(m, d, a->key, "sim");
  if (!a->state) return true;
  int snapshot = read_snapshot(a->state, m, d);
  return snapshot ? snapshot > 0 : read_state(a->state, m, d);
}

// ---- statistics --------------------------------------------------------------------------------

typedef struct {
  long steps, contacts, iterations, unconverged;
  double depth_sum, depth_squares, depth_max;
  tbResidual mean, max, exact_mean, exact_max;
  tbStepTimes seconds;
  double wall;
  tbResult result;  // of the last step
  char warning[320];
} Statistics;

static void add_residual(tbResidual* sum, tbResidual* max, const tbResidual* r) {
  sum->primal += r->primal;
  sum->dual += r->dual;
  sum->complementarity += r->complementarity;
  sum->relative += r->relative;
  max->primal = fmax(max->primal, r->primal);
  max->dual = fmax(max->dual, r->dual);
  max->complementarity = fmax(max->complementarity, r->complementarity);
  max->relative = fmax(max->relative, r->relative);
}

static void scale_residual(tbResidual* r, double s) {
  r->primal *= s;
  r->dual *= s;
  r->complementarity *= s;
  r->relative *= s;
}

static void add_step(Statistics* s, const tbData* d) {
  s->steps++;
  s->contacts += d->ncon;
  s->iterations += d->solve.iterations;
  if (d->solve.status != TB_SOLVE_CONVERGED) s->unconverged++;
  for (int i = 0; i < d->ncon; i++) {
    double depth = fmax(0, -d->contact[i].dist);
    s->depth_sum += depth;
    s->depth_squares += depth * depth;
    s->depth_max = fmax(s->depth_max, depth);
  }
  add_residual(&s->mean, &s->max, &d->solve.residual);
  add_residual(&s->exact_mean, &s->exact_max, &d->solve.residual_exact);
  s->seconds.collide += d->seconds.collide;
  s->seconds.assemble += d->seconds.assemble;
  s->seconds.solve += d->seconds.solve;
  s->seconds.dynamics += d->seconds.dynamics;
  s->seconds.total += d->seconds.total;
}

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

// ---- the run -----------------------------------------------------------------------------------

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

// The first interrupt ends the run after its step; a second one ends the program.
static void catch_interrupt(void) {
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
}

// Steps of the whole time, or -1 after a message.
static long count_steps(const Arguments* a, const tbModel* m) {
  double steps = a->time / m->opt.timestep;
  if (steps <= 1e15 && (a->time == 0 || steps >= 0.5)) return lround(steps);
  fprintf(stderr, "tribo sim: %g s are %g steps of %g s; change --time or --dt\n", a->time, steps,
          m->opt.timestep);
  return -1;
}

// Energies of the state that the last step led to: a step itself leaves those of its start.
static void measure_energy(const tbModel* m, tbData* d) {
  tb_compute_position(m, d);
  tb_compute_velocity(m, d);
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
}

static bool append_row(tbTrajectory* trajectory, const tbModel* m, tbData* d, tbError* error) {
  measure_energy(m, d);
  return tb_trajectory_append(trajectory, m, d, error) == TB_OK;
}

// Run the steps; false only where the trajectory cannot be written.
static bool simulate(const Arguments* a, const tbModel* m, tbData* d, Statistics* s) {
  tbError error;
  long steps = count_steps(a, m);
  if (steps < 0 || (a->save && !can_write(a->save, "sim"))) return false;
  tbTrajectory* trajectory = NULL;
  if (a->out && !(trajectory = tb_trajectory_open(a->out, m, &error))) {
    fprintf(stderr, "tribo sim: %s\n", error.message);
    return false;
  }
  catch_interrupt();
  double started = now(), shown = started, writing = 0;
  bool ok = true;
  for (long i = 0; i < steps && ok; i++) {
    if (interrupted) {
      snprintf(s->warning, sizeof s->warning, "interrupted after %ld of %ld steps", i, steps);
      break;
    }
    s->result = tb_step(m, d);
    if (s->result != TB_OK) {
      snprintf(s->warning, sizeof s->warning, "step %ld: %s", i, d->message);
      break;
    }
    add_step(s, d);
    double t = now();
    if (trajectory) ok = append_row(trajectory, m, d, &error);
    show_progress(i + 1, steps, started, &shown);
    writing += now() - t;
  }
  s->wall = now() - started - writing;
  if (shown > started) fprintf(stderr, "\r%60s\r", "");
  if (tb_trajectory_close(trajectory, &error) != TB_OK) ok = false;
  if (!ok) fprintf(stderr, "tribo sim: %s\n", error.message);
  double n = s->steps ? 1.0 / (double)s->steps : 0;
  scale_residual(&s->mean, n);
  scale_residual(&s->exact_mean, n);
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

static void print_json(const tbModel* m, const tbData* d, const Statistics* s) {
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
  json_real(&j, "steps_per_second", s->wall > 0 ? (double)s->steps / s->wall : 0);
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
  json_open(&j, "residual");
  json_residual(&j, "mean", &s->mean);
  json_residual(&j, "max", &s->max);
  json_close(&j);
  json_open(&j, "residual_exact");
  json_residual(&j, "mean", &s->exact_mean);
  json_residual(&j, "max", &s->exact_max);
  json_close(&j);
  json_int(&j, "unconverged_steps", s->unconverged);
  json_open_array(&j, "warnings");
  if (s->warning[0]) json_string(&j, NULL, s->warning);
  json_close_array(&j);
  json_close(&j);
  printf("\n");
}

static void print_text(const tbModel* m, const tbData* d, const Statistics* s) {
  if (s->steps == 0 && s->warning[0]) {
    fprintf(stderr, "tribo sim: %s\n", s->warning);
    return;
  }
  Depth depth = depth_of(s);
  double steps = s->steps ? (double)s->steps : 1, us = 1e6 / steps;
  printf("%ld steps of %g ms under %s: %.3g s simulated in %.3g s (%.0f steps/s)\n", s->steps,
         1e3 * m->opt.timestep, tb_step_law_name(m->opt.law), (double)s->steps * m->opt.timestep,
         s->wall, s->wall > 0 ? (double)s->steps / s->wall : 0);
  printf("  microseconds a step  collide %.1f, assemble %.1f, solve %.1f, dynamics %.1f\n",
         us * s->seconds.collide, us * s->seconds.assemble, us * s->seconds.solve,
         us * s->seconds.dynamics);
  printf("  contacts             %.1f a step; penetration mean %.2e m, max %.2e m\n",
         (double)s->contacts / steps, depth.mean, depth.max);
  printf("  iterations           %.1f a step; %ld steps not converged\n",
         (double)s->iterations / steps, s->unconverged);
  printf("  relative residual    mean %.1e, max %.1e; of the exact law mean %.1e, max %.1e\n",
         s->mean.relative, s->max.relative, s->exact_mean.relative, s->exact_max.relative);
  printf("  energy               kinetic %.6g J, potential %.6g J\n", d->energy[1], d->energy[0]);
  if (s->warning[0]) printf("  stopped at           %s\n", s->warning);
}

// 2 for a bad call, also one that the first step finds; 128 + SIGINT, as shells say it, for a run
// that was interrupted.
static int exit_code(const Statistics* s, bool written) {
  bool bad_call = s->result == TB_ERROR_ARGUMENT || s->result == TB_ERROR_UNSUPPORTED;
  if (!written || (s->steps == 0 && bad_call)) return 2;
  if (interrupted) return 128 + SIGINT;
  return s->warning[0] ? 1 : 0;
}

// Files made for MuJoCo often ask for rk4, which contacts as springs do not bear at their steps.
static void note_stiff_springs(const tbModel* m) {
  const tbReal least = 2e-4;
  if (m->opt.law != TB_LAW_VISCOELASTIC || m->opt.integrator != TB_INTEGRATOR_RK4) return;
  if (m->opt.timestep <= least) return;
  fprintf(stderr,
          "tribo sim: contacts are stiff springs, which rk4 at %g ms may not hold; --integrator "
          "expo does\n",
          1e3 * m->opt.timestep);
}

static int run(Arguments* a) {
  tbModel* m = model_args_load(&a->model, "sim");
  if (!m) return 2;
  note_stiff_springs(m);
  int code = 2;
  tbData* d = tb_data_new(m);
  if (!d) fprintf(stderr, "tribo sim: out of memory\n");
  if (d && set_start(a, m, d)) {
    Statistics s = {0};
    bool written = simulate(a, m, d, &s);
    bool saved = written && (!a->save || write_snapshot(a->save, m, d));
    code = exit_code(&s, written && saved);
    measure_energy(m, d);
    if (a->model.json && written) print_json(m, d, &s);
    if (!a->model.json && written) print_text(m, d, &s);
  }
  tb_data_free(d);
  tb_model_free(m);
  return code;
}

int tribo_cmd_sim(int argc, char** argv) {
  Arguments a = {.model = {.options = tbDefaultLoadOptions()}, .time = 1};
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      print_help();
      return 0;
    }
  }
  int used = 1;
  for (int i = 0; i < argc && used; i += used) {
    used = parse_one(&a, argc - i, argv + i);
  }
  if (used && a.key && a.state) {
    fprintf(stderr, "tribo sim: --key and --state both say where to start: give one\n");
    used = 0;
  }
  return used ? run(&a) : 2;
}
