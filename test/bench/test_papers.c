// `tribo bench papers` with dummy programs: which parts are run again after an interruption, which
// exit status follows from the claims, and that the page needs no other file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../bench/papers/checklist.c"
#include "common/test.h"

static const char* const PARTS[] = {"cm",      "admm",        "fclib",   "expo",
                                    "comfree", "derivatives", "engines", "sim"};
enum { NPARTS = sizeof PARTS / sizeof *PARTS };

// A part: says that it ran, is interrupted once where asked to be, else makes its claims.
static const char SCRIPT[] =
    "#!/bin/sh\n"
    "here=$(dirname \"$0\"); name=${0##*tribo-bench-}\n"
    "echo \"$name\" >>\"$here/ran\"\n"
    "[ -f \"$here/stop-$name\" ] && { rm \"$here/stop-$name\"; kill -9 $PPID; exit 9; }\n"
    "[ -f \"$here/spin-$name\" ] && while :; do :; done\n"
    "cp \"$here/claims-$name\" \"$2/claims.csv\"\n";

static char folder[256];

static void write_file(const char* name, const char* text, mode_t mode) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  chmod(path, mode);
}

// The verdict of every item is `usual`, but for those of `figure`; items of `leave` have none.
static void write_claims(const char* figure, const char* verdict, const char* leave) {
  for (int p = 0; p < NPARTS; p++) {
    char name[64], text[16384] = "figure,verdict,claim,paper,ours,because,image\n";
    for (int i = 0; i < CHECKLIST_COUNT; i++) {
      const Item* item = &CHECKLIST[i];
      char line[256], about[64];
      if (!item->part || strcmp(item->part, PARTS[p]) != 0) continue;
      snprintf(about, sizeof about, "%s %s", item->paper, item->item);
      if (leave && strcmp(about, leave) == 0) continue;
      bool special = figure && strcmp(about, figure) == 0;
      snprintf(line, sizeof line, "%s,%s,A sentence.,1,2,,\n", about,
               special ? verdict : "reproduced");
      strcat(text, line);
    }
    snprintf(name, sizeof name, "claims-%s", PARTS[p]);
    write_file(name, text, 0666);
  }
}

static int shell(const char* command) {
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int setup(void** state) {
  (void)state;
  char command[1024], name[64];
  // A folder without the command line beside it: no pictures.
  snprintf(folder, sizeof folder, "%s/papers_test/bin", TB_BUILD_DIR);
  snprintf(command, sizeof command,
           "rm -rf '%s' && mkdir -p '%s' && cp '%s/bench/tribo-bench-papers' '%s/' 2>/dev/null",
           folder, folder, TB_BUILD_DIR, folder);
  if (shell(command) != 0) folder[0] = 0;
  for (int p = 0; p < NPARTS && folder[0]; p++) {
    snprintf(name, sizeof name, "tribo-bench-%s", PARTS[p]);
    write_file(name, SCRIPT, 0777);
  }
  return 0;
}

static int teardown(void** state) {
  (void)state;
  char command[1024];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (folder[0]) shell(command);
  return 0;
}

static int papers(const char* flag) {
  char command[1024];
  snprintf(command, sizeof command,
           "'%s/tribo-bench-papers' --short %s --out '%s/report' >/dev/null 2>&1", folder, flag,
           folder);
  return shell(command);
}

// How often a part ran.
static int count_runs(const char* part) {
  char path[1024], line[64];
  int count = 0;
  snprintf(path, sizeof path, "%s/ran", folder);
  FILE* f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    count += strcmp(line, part) == 0;
  }
  if (f) fclose(f);
  return count;
}

static void finished_parts_are_not_run_again(void** state) {
  (void)state;
  if (!folder[0]) skip();
  write_claims(NULL, NULL, NULL);
  write_file("stop-expo", "", 0666);
  assert_int_not_equal(papers(""), 0);
  assert_int_equal(count_runs("fclib"), 1);
  assert_int_equal(count_runs("comfree"), 0);
  // The same command resumes with the interrupted part.
  assert_int_equal(papers(""), 0);
  for (int p = 0; p < NPARTS; p++)
    assert_int_equal(count_runs(PARTS[p]), strcmp(PARTS[p], "expo") == 0 ? 2 : 1);
  assert_int_equal(papers(""), 0);
  for (int p = 0; p < NPARTS; p++)
    assert_int_equal(count_runs(PARTS[p]), strcmp(PARTS[p], "expo") == 0 ? 2 : 1);
}

static void claims_decide_the_exit_status(void** state) {
  (void)state;
  if (!folder[0]) skip();
  write_claims("CM fig. 9", "better", NULL);
  assert_int_equal(papers("--again"), 0);
  write_claims("CM fig. 9", "worse", NULL);
  assert_int_equal(papers("--again"), 1);
  for (int i = 0; i < ALLOWED_COUNT; i++) {
    write_claims(ALLOWED[i].figure, "worse", NULL);
    assert_int_equal(papers("--again"), 0);
  }
  write_claims(NULL, NULL, "EXP fig. 4");
  assert_int_equal(papers("--again"), 1);
}

// A part that never ends is cut off by its processor time; its claims are missing.
static void a_part_that_hangs_is_cut_off(void** state) {
  (void)state;
  if (!folder[0]) skip();
  write_claims(NULL, NULL, NULL);
  write_file("spin-engines", "", 0666);
  assert_int_equal(papers("--patience 0.01"), 1);
  assert_int_equal(count_runs("sim"), 1);
  // It counts as not run.
  char command[1024];
  snprintf(command, sizeof command, "rm '%s/spin-engines'", folder);
  assert_int_equal(shell(command), 0);
  assert_int_equal(papers(""), 0);
  assert_int_equal(count_runs("engines"), 2);
  assert_int_equal(count_runs("sim"), 1);
}

static void the_page_needs_no_other_file(void** state) {
  (void)state;
  if (!folder[0]) skip();
  write_claims(NULL, NULL, NULL);
  assert_int_equal(papers("--again"), 0);
  char path[1024];
  snprintf(path, sizeof path, "%s/report/index.html", folder);
  FILE* f = fopen(path, "r");
  char* text = calloc(1, 1 << 22);
  assert_non_null(f);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 22) - 1, f) > 1000);
  fclose(f);
  // Links lead to places of the page; images and style are inside.
  for (char* at = text; (at = strstr(at, "href=\"")); at++) assert_int_equal(at[6], '#');
  for (char* at = text; (at = strstr(at, "src=\"")); at++) assert_memory_equal(at + 5, "data:", 5);
  assert_null(strstr(text, "<script"));
  assert_null(strstr(text, "@import"));
  assert_null(strstr(text, "missing</span>"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(finished_parts_are_not_run_again, setup, teardown),
      cmocka_unit_test_setup_teardown(claims_decide_the_exit_status, setup, teardown),
      cmocka_unit_test_setup_teardown(a_part_that_hangs_is_cut_off, setup, teardown),
      cmocka_unit_test_setup_teardown(the_page_needs_no_other_file, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
