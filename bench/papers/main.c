// `tribo bench papers`: every table and figure of the four papers, one benchmark after the other,
// then one page. Parts that were finished before an interruption are not run again.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"
#include "common/bench.h"
#include "gallery.h"
#include "report.h"

// Processor seconds of the whole and of the short form, as measured on x86-64.
static const Part PARTS[] = {
    {.name = "cm",
     .title = "Contact models in robotics (CM)",
     .intro = "What each contact law gets wrong, how solvers converge, and how long they take.",
     .seconds = 300,
     .seconds_short = 60},
    {.name = "admm",
     .title = "ADMM for rigid and compliant contact (ADMM)",
     .intro = "The exact law by proximal ADMM in simulation.",
     .seconds = 300,
     .seconds_short = 23},
    {.name = "fclib",
     .title = "Problems from the FCLIB collection (ADMM tables III, IV, figures 4, 7)",
     .intro = "Every solver on problems nobody here wrote, next to Siconos.",
     .seconds = 620,
     .seconds_short = 19,
     .arguments = {"--limit", "2", "--repeats", "3"}},
    {.name = "expo",
     .title = "Exponential integration of viscoelastic contact (EXP)",
     .intro = "Stiff springs at large time steps.",
     .seconds = 310,
     .seconds_short = 30},
    {.name = "comfree",
     .title = "Contact without complementarity (CF)",
     .intro = "Forces in closed form, many worlds at once.",
     .seconds = 300,
     .seconds_short = 42},
    {.name = "derivatives",
     .title = "Derivatives and inverse dynamics (ADMM figure 8)",
     .intro = "Through the contact, against finite differences.",
     .seconds = 40,
     .seconds_short = 25},
    {.name = "engines",
     .title = "The same robots in five engines (ADMM figure 6)",
     .intro = "Passive drops in Tribo, MuJoCo, Bullet, DART and ODE.",
     .seconds = 90,
     .seconds_short = 10},
    {.name = "sim",
     .title = "Whole steps against MuJoCo",
     .intro = "Steps per second, penetration and residuals in one run.",
     .seconds = 900,
     .seconds_short = 22},
};
enum { NPARTS = sizeof PARTS / sizeof *PARTS, PATH = 4096, CUT_OFF = 124, MOST_ARGUMENTS = 12 };

// Arguments of the command.
typedef struct {
  const char *report, *only;
  bool brief;  // --short
  bool again;
  double patience;  // how much longer than usual a part may take
} Run;

static bool program_path(const char* name, char* path) {
  ssize_t n = readlink("/proc/self/exe", path, PATH - 1);
  if (n <= 0) return false;
  path[n] = 0;
  char* slash = strrchr(path, '/');
  if (!slash) return false;
  snprintf(slash, (size_t)(PATH - (slash - path)), "/tribo-bench-%s", name);
  return access(path, X_OK) == 0;
}

// Record that a finished part leaves: which program with which options made its files.
static void stamp_of(const char* program, const Run* run, char* stamp, size_t size) {
  struct stat info;
  if (stat(program, &info) != 0) memset(&info, 0, sizeof info);
  snprintf(stamp, size, "%lld %lld %s\n", (long long)info.st_size, (long long)info.st_mtime,
           run->brief ? "short" : "full");
}

static bool is_done(const char* folder, const char* stamp) {
  char path[PATH + 16], line[256] = "";
  snprintf(path, sizeof path, "%s/done", folder);
  FILE* f = fopen(path, "r");
  bool same = f && fgets(line, sizeof line, f) && strcmp(line, stamp) == 0;
  if (f) fclose(f);
  return same;
}

static void mark_done(const char* folder, const char* stamp) {
  char path[PATH + 16];
  snprintf(path, sizeof path, "%s/done", folder);
  FILE* f = fopen(path, "w");
  if (!f) return;
  fputs(stamp, f);
  fclose(f);
}

// ---- progress ----------------------------------------------------------------------------------

// The remaining time is estimated from the ratio of measured to expected times of the finished
// parts.
typedef struct {
  double expected_all, expected_done;  // seconds as listed
  double taken;                        // of the parts that ran
  double ran;                          // as listed, of the parts that ran
} Progress;

static double seconds_left(const Progress* p, double expected_now, double spent_now) {
  double pace = p->ran > 0 ? p->taken / p->ran : 1;
  double now = fmax(0, pace * expected_now - spent_now);
  return now + pace * (p->expected_all - p->expected_done - expected_now);
}

static void show(const Progress* p, int part, const char* name, double expected, double spent,
                 bool terminal) {
  enum { WIDTH = 30 };
  char bar[WIDTH + 1];
  double share = (p->expected_done + fmin(spent, expected)) / fmax(p->expected_all, 1);
  for (int i = 0; i < WIDTH; i++) bar[i] = i < share * WIDTH ? '#' : '.';
  bar[WIDTH] = 0;
  double left = seconds_left(p, expected, spent);
  fprintf(stderr, "%s[%s] part %d of %d: %-12s about %.0f min %02.0f s left%s",
          terminal ? "\r" : "", bar, part + 1, NPARTS, name, floor(left / 60), fmod(left, 60),
          terminal ? "   " : "\n");
}

// Limits of a part: several times its expected processor time, and much more wall time, since other
// programs may run too.
static double most_processor(const Run* run, double expected) {
  return run->patience * (run->brief ? 8 : 3) * expected;
}

// In the child: become the benchmark, its text in "<folder>/log.txt".
static void become(const char* program, char* folder, const Run* run, int part) {
  static char out[] = "--out", quick[] = "--short";
  char log[PATH + 16];
  snprintf(log, sizeof log, "%s/log.txt", folder);
  int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), count = 0;
  if (file >= 0) dup2(file, STDOUT_FILENO);
  if (file >= 0) dup2(file, STDERR_FILENO);
  char* arguments[MOST_ARGUMENTS] = {(char*)program, out, folder};
  count = 3;
  if (run->brief) arguments[count++] = quick;
  for (int i = 0; !run->brief && PARTS[part].arguments[i]; i++) {
    arguments[count++] = (char*)PARTS[part].arguments[i];
  }
  execv(program, arguments);
  _exit(127);
}

// Processor seconds that a child has used so far. (A limit set by the system itself, RLIMIT_CPU,
// would make the clocks that the benchmark reads as coarse as the scheduler's.)
static double processor_seconds(pid_t child) {
  clockid_t clock;
  struct timespec now;
  if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Run one benchmark with its tables in `folder`; its exit code.
static int run_part(const char* program, char* folder, const Run* run, const Progress* progress,
                    int part, double expected) {
  mkdir(folder, 0777);
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) become(program, folder, run, part);
  // On a terminal the bar moves every second; a part that takes far too long is cut off, so that
  // the whole is bounded.
  bool terminal = isatty(STDERR_FILENO);
  double start = tb_seconds(), most = most_processor(run, expected);
  int status, shown = 0;
  pid_t ended;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
    double spent = tb_seconds() - start;
    if (spent > 10 * most || processor_seconds(child) > most) kill(child, SIGKILL);
    if (terminal && spent > shown) show(progress, part, PARTS[part].name, expected, ++shown, true);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  if (ended != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : CUT_OFF;
}

// PNG beside every SVG, where the converter is installed.
static void convert_figures(const char* folder) {
  char command[2 * PATH];
  snprintf(command, sizeof command,
           "command -v rsvg-convert >/dev/null && for f in '%s'/*/*.svg; do [ -f \"$f\" ] && "
           "rsvg-convert -z 2 -o \"${f%%.svg}.png\" \"$f\"; done",
           folder);
  if (system(command) != 0) fprintf(stderr, "no PNG figures: install librsvg2-bin\n");
}

// Processor time of all parts so far.
static double children_seconds(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_CHILDREN, &usage) != 0) return NAN;
  return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
         (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static double expected_seconds(const Run* run, int index) {
  return run->brief ? PARTS[index].seconds_short : PARTS[index].seconds;
}

// Run part `index` unless it is done; a row of the table says how it went.
static void do_part(int index, const Run* run, Progress* progress, tbTable* table) {
  char program[PATH], folder[PATH], stamp[256];
  const char *name = PARTS[index].name, *state = "done before";
  double expected = expected_seconds(run, index);
  double start = tb_seconds(), cpu = children_seconds();
  int code = 0;
  if (!program_path(name, program)) {
    state = "not built";
  } else {
    snprintf(folder, sizeof folder, "%s/%s", run->report, name);
    stamp_of(program, run, stamp, sizeof stamp);
    if (run->again || !is_done(folder, stamp)) {
      show(progress, index, name, expected, 0, isatty(STDERR_FILENO));
      code = run_part(program, folder, run, progress, index, expected);
      state = code == 0 ? "ran" : code == CUT_OFF ? "cut off" : "ran; see log.txt";
      if (code <= 1) mark_done(folder, stamp);
      progress->taken += tb_seconds() - start;
      progress->ran += expected;
    }
  }
  progress->expected_done += expected;
  tb_table_row(table);
  tb_table_text(table, "part", name);
  tb_table_text(table, "state", state);
  tb_table_real(table, "seconds", tb_seconds() - start);
  tb_table_real(table, "processor", children_seconds() - cpu);
  tb_table_real(table, "expected", expected);
  tb_table_int(table, "exit", code);
}

// The command line beside the benchmarks.
static bool tribo_path(char* path) {
  if (!program_path("papers", path)) return false;
  char* slash = strrchr(path, '/');
  snprintf(slash, (size_t)(PATH - (slash - path)), "/../tribo");
  return access(path, X_OK) == 0;
}

static bool wanted(const Run* run, int index) {
  return !run->only || strcmp(run->only, PARTS[index].name) == 0;
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("papers", argc, argv);
  if (!bench) return 2;
  Run run = {.report = tb_bench_out(bench) ? tb_bench_out(bench) : "report",
             .only = tb_bench_option(bench, "only", NULL),
             .again = tb_bench_flag(bench, "again"),
             .patience = strtod(tb_bench_option(bench, "patience", "1"), NULL)};
  bool page = tb_bench_flag(bench, "page");
  if (!tb_bench_check_arguments(bench) || !(run.patience > 0)) {
    fprintf(stderr,
            "tribo bench papers [--out DIR] [--short] [--only PART] [--again] [--page]\n"
            "                   [--patience X]   parts may take X times as long as usual\n");
    return tb_bench_close(bench), 2;
  }
  run.brief = tb_bench_short(bench);
  mkdir(run.report, 0777);
  tbTable* table = tb_bench_table(bench, "parts");
  Progress progress = {0};
  for (int i = 0; i < NPARTS; i++) {
    if (wanted(&run, i)) progress.expected_all += expected_seconds(&run, i);
  }
  for (int i = 0; i < NPARTS && !page; i++) {
    if (wanted(&run, i)) do_part(i, &run, &progress, table);
  }
  if (isatty(STDERR_FILENO)) fputc('\n', stderr);

  // Pictures, PNG copies, the page.
  char tribo[PATH];
  if (!run.only && tribo_path(tribo)) {
    draw_gallery(tribo, run.report, run.again);
  }
  convert_figures(run.report);
  Wanted page_wanted = {run.report, run.brief, run.only != NULL};
  Verdicts v = write_report(&page_wanted, PARTS, NPARTS);
  tb_bench_note(bench,
                "%d claims reproduced, %d better, %d differ with a reason, %d worse (and %d that "
                "may be), %d figures or tables without a claim: %s/index.html",
                v.reproduced, v.better, v.differs, v.worse, v.allowed, v.missing, run.report);
  int code = tb_bench_close(bench);
  return v.worse > 0 || v.missing > 0 ? 1 : code;
}
