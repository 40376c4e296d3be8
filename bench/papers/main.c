// `tribo bench papers`: every table and figure of the four papers, one benchmark after the other,
// then one page. What was finished before an interruption is not run again.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "common/bench.h"
#include "report.h"

static const Part PARTS[] = {
    {"cm", "Contact models in robotics (CM)",
     "What each contact law gets wrong, how solvers converge, and how long they take.", 240, 60},
    {"admm", "ADMM for rigid and compliant contact (ADMM)",
     "The exact law by proximal ADMM in simulation.", 120, 20},
    {"fclib", "Problems from the FCLIB collection (ADMM tables III, IV, figures 4, 7)",
     "Every solver on problems nobody here wrote, next to Siconos.", 1800, 60},
    {"expo", "Exponential integration of viscoelastic contact (EXP)",
     "Stiff springs at large time steps.", 600, 40},
    {"comfree", "Contact without complementarity (CF)",
     "Forces in closed form, many worlds at once.", 300, 40},
    {"derivatives", "Derivatives and inverse dynamics (ADMM figure 8)",
     "Through the contact, against finite differences.", 120, 20},
    {"engines", "The same robots in five engines (ADMM figure 6)",
     "Passive drops in Tribo, MuJoCo, Bullet, DART and ODE.", 240, 60},
    {"sim", "Whole steps against MuJoCo", "Steps per second, penetration and residuals in one run.",
     600, 60},
};
enum { NPARTS = sizeof PARTS / sizeof *PARTS, PATH = 4096 };

static bool program_path(const char* name, char* path) {
  ssize_t n = readlink("/proc/self/exe", path, PATH - 1);
  if (n <= 0) return false;
  path[n] = 0;
  char* slash = strrchr(path, '/');
  if (!slash) return false;
  snprintf(slash, (size_t)(PATH - (slash - path)), "/tribo-bench-%s", name);
  return access(path, X_OK) == 0;
}

// What a finished part leaves behind: which program with which options made it.
static void stamp_of(const char* program, bool short_run, char* stamp, size_t size) {
  struct stat info;
  if (stat(program, &info) != 0) memset(&info, 0, sizeof info);
  snprintf(stamp, size, "%lld %lld %s\n", (long long)info.st_size, (long long)info.st_mtime,
           short_run ? "short" : "full");
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

// Run one benchmark with its tables in `folder` and its text in "<folder>/log.txt"; its exit code.
static int run_part(const char* program, char* folder, bool short_run) {
  char log[PATH + 16], out[] = "--out", quick[] = "--short";
  snprintf(log, sizeof log, "%s/log.txt", folder);
  mkdir(folder, 0777);
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0) dup2(file, STDOUT_FILENO);
    if (file >= 0) dup2(file, STDERR_FILENO);
    char* arguments[] = {(char*)program, out, folder, short_run ? quick : NULL, NULL};
    execv(program, arguments);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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

// ---- gallery -----------------------------------------------------------------------------------

// Pictures of the experiments: scene, law, seconds, frames, a name that says what is seen.
static const struct {
  const char *scene, *options, *name;
} PICTURES[] = {
    {"cm_cube.xml", "--time 0.1 --forces", "The cube on its corner spheres"},
    {"sliding_cube.xml", "--key thrown --law ncp --time 1.2 --frames 24", "Thrown, exact law"},
    {"sliding_cube.xml", "--key thrown --law lcp --time 1.2 --frames 24", "Thrown, pyramid"},
    {"very_heavy_on_light.xml", "--time 0.2", "A million times heavier on top"},
    {"tower.xml", "--time 1", "Ten boxes"},
    {"card_house.xml", "--time 1", "House of cards"},
    {"arch.xml", "--time 1", "Arch of wedges"},
    {"wall.xml", "", "Wall of boxes of 1 to 10,000 kg"},
    {"drop.xml", "--law comfree --time 1 --frames 20", "125 primitives, complementarity-free"},
    {"dominoes.xml", "--time 1.2 --frames 30", "Dominoes"},
    {"grip.xml", "--time 0.5 --forces", "Two fingers"},
    {"humanoid.xml", "--key stand --time 1 --forces", "Humanoid"},
    {"quadruped.xml", "--time 0.5 --forces", "Quadruped"},
    {"biped.xml", "", "Biped"},
    {"hand.xml", "--time 0.5 --forces", "Hand with a cube"},
    {"arm.xml", "--key ready", "Arm"},
};

static void draw_gallery(const char* report) {
  char tribo[PATH], command[3 * PATH];
  if (!program_path("papers", tribo)) return;
  char* slash = strrchr(tribo, '/');
  snprintf(slash, (size_t)(PATH - (slash - tribo)), "/../tribo");
  if (access(tribo, X_OK) != 0) return;
  snprintf(command, sizeof command, "%s/gallery", report);
  mkdir(command, 0777);
  for (size_t i = 0; i < sizeof PICTURES / sizeof *PICTURES; i++) {
    char scene[PATH];
    snprintf(scene, sizeof scene, TB_SCENES_DIR "/%s", PICTURES[i].scene);
    if (access(scene, R_OK) != 0) continue;
    snprintf(
        command, sizeof command,
        "timeout 60 '%s' render '%s' %s --size 400x300 --out '%s/gallery/%s.png' >/dev/null 2>&1",
        tribo, scene, PICTURES[i].options, report, PICTURES[i].name);
    if (system(command) != 0) fprintf(stderr, "no picture of %s\n", PICTURES[i].scene);
  }
}

static void show(int done, const char* what, double left) {
  fprintf(stderr, "papers [%d/%d] %-14s about %.0f s left\n", done, NPARTS, what, left);
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("papers", argc, argv);
  if (!bench) return 2;
  const char* report = tb_bench_out(bench) ? tb_bench_out(bench) : "report";
  const char* only = tb_bench_option(bench, "only", NULL);
  bool again = tb_bench_flag(bench, "again"), short_run = tb_bench_short(bench);
  if (!tb_bench_check_arguments(bench)) return tb_bench_close(bench), 2;
  mkdir(report, 0777);
  tbTable* table = tb_bench_table(bench, "parts");
  double left = 0;
  for (int i = 0; i < NPARTS; i++) left += short_run ? PARTS[i].seconds_short : PARTS[i].seconds;

  for (int i = 0; i < NPARTS; i++) {
    char program[PATH], folder[PATH], stamp[256];
    double expected = short_run ? PARTS[i].seconds_short : PARTS[i].seconds;
    show(i, PARTS[i].name, left);
    left -= expected;
    if (only && strcmp(only, PARTS[i].name) != 0) continue;
    const char* state = "done before";
    double start = tb_seconds();
    int code = 0;
    if (!program_path(PARTS[i].name, program)) {
      state = "not built";
    } else {
      snprintf(folder, sizeof folder, "%s/%s", report, PARTS[i].name);
      stamp_of(program, short_run, stamp, sizeof stamp);
      if (again || !is_done(folder, stamp)) {
        code = run_part(program, folder, short_run);
        state = code == 0 ? "ran" : "ran; see log.txt";
        if (code <= 1) mark_done(folder, stamp);
      }
    }
    tb_table_row(table);
    tb_table_text(table, "part", PARTS[i].name);
    tb_table_text(table, "state", state);
    tb_table_real(table, "seconds", tb_seconds() - start);
    tb_table_int(table, "exit", code);
  }
  if (!only) draw_gallery(report);
  convert_figures(report);
  Verdicts v = write_report(report, PARTS, NPARTS, short_run);
  tb_bench_note(bench, "%d claims reproduced, %d better, %d differ, %d worse: %s/index.html",
                v.reproduced, v.better, v.differs, v.worse, report);
  int code = tb_bench_close(bench);
  return v.worse > 0 ? 1 : code;
}
