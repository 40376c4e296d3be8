// Mistakes of a user on the command line: each is refused with its reason, under --json as JSON.
#include <sys/resource.h>

#include "cli/json_reader.h"
#define PROCESS_NAME "mistakes"
#include "cli/process.h"

#define STACK TB_SCENES_DIR "/stack.xml"
#define CUBE TB_SCENES_DIR "/sliding_cube.xml"
#define STATE_FILE TB_BUILD_DIR "/cli_state.txt"
#define REPLAY_FILE TB_BUILD_DIR "/cli_replay.csv"

// A call that must exit with 2, and words of its message.
typedef struct {
  const char *arguments, *says;
} Mistake;

static void assert_refused(const Mistake* mistakes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const Mistake* m = &mistakes[i];
    int code = finish(start(PROGRAM, "%s --json", m->arguments));
    if (code != 2) fail_msg("'%s' ends with %d", m->arguments, code);
    assert_file_says(STDERR_FILE, m->says);
    size_t size;
    char* text = read_all(STDOUT_FILE, &size);
    if (strncmp(text, "{\"error\": \"", 11) != 0) fail_msg("'%s': <%s>", m->arguments, text);
    assert_json(text);
    free(text);
  }
}

#define REFUSED(list) assert_refused(list, sizeof list / sizeof *list)

static void unknown_words_name_the_nearest(void** state) {
  (void)state;
  static const Mistake MISTAKES[] = {
      {"smi " STACK, "unknown command 'smi', did you mean 'sim'?"},
      {"help evla", "did you mean 'eval'?"},
      {"sim " STACK " --tiem 1", "unknown flag '--tiem', did you mean '--time'?"},
      {"sim " STACK " --time=1", "did you mean '--time 1'?"},
      {"info " STACK " --floatign", "did you mean '--floating'?"},
      {"eval " STACK " --wath M", "did you mean '--what'?"},
      {"demo " TB_SCENES_DIR " --jsno", "did you mean '--json'?"},
      {"solve x.h5 --slover pgs", "did you mean '--solver'?"},
      {"solve x.h5 --law nccp", "did you mean 'ncp'?"},
      {"solve x.h5 --option relaxatoin=1", "did you mean 'relaxation'?"},
      {"sim " STACK " --law NCP", "did you mean 'ncp'?"},
      {"eval " STACK " --what m", "did you mean 'M'?"},
      {"sim " STACK " --law sfot", "did you mean 'soft'?"},
      {"sim " STACK " --solver amdm", "did you mean 'admm'?"},
      {"sim " STACK " --integrator implicitfsat", "did you mean 'implicitfast'?"},
      {"sim " STACK " --option timestpe=1", "did you mean 'timestep'?"},
      {"sim " STACK " --option cone=eliptic", "did you mean 'elliptic'?"},
      {"sim " CUBE " --key thrwon", "did you mean 'thrown'?"},
      {"eval " STACK " --what xpso", "did you mean 'xpos'?"},
      {"eval " STACK " --what qpos,dabadv", "did you mean 'daba_dv'?"},
      {"eval " STACK " --what body_mas", "did you mean 'body_mass'?"},
      {"eval " STACK " --what jac:wrld", "did you mean 'world'?"},
      {"render " STACK " --out x.png --compare ncp,sotf", "did you mean 'soft'?"},
  };
  REFUSED(MISTAKES);
  // Words that are like no other get no guess.
  assert_int_equal(finish(start(PROGRAM, "sim %s --zzzzzzzz", STACK)), 2);
  size_t size;
  char* text = read_all(STDERR_FILE, &size);
  assert_null(strstr(text, "did you mean"));
  free(text);
}

static void malformed_calls_are_refused(void** state) {
  (void)state;
  static const Mistake MISTAKES[] = {
      {"sim " STACK " " CUBE, "one model at a time"},
      {"info " STACK " " CUBE, "one model at a time"},
      {"solve a.h5 b.h5", "one problem at a time"},
      {"demo a b", "one folder at a time"},
      {"sim " STACK " --dt 0.001 --dt 0.002", "--dt is given twice"},
      {"sim " STACK " --time 1 --time 2", "--time is given twice"},
      {"sim " STACK " --json", "--json is given twice"},
      {"sim " STACK " --dt 0.001 --option timestep=0.002", "'timestep' is given twice"},
      {"sim " STACK " --option law=ncp --option law=soft", "'law' is given twice"},
      {"sim " STACK " --out --time 1", "no value after '--out'"},
      {"sim " STACK " --option =3", "--option needs NAME=VALUE"},
      {"sim " STACK " --save ./cli_a.csv --out cli_a.csv", "both write cli_a.csv"},
      {"sim " STACK " --state " TB_BUILD_DIR, "a folder"},
      {"eval " CUBE " --qpos /dev/zero", "is not a finite number"},
      {"eval " STACK " --what djac:wrld", "did you mean 'world'?"},
      {"sim " STACK " --out cli_a.txt", "'cli_a.txt': a trajectory ends in .csv"},
      {"sim", "a model file is required"},
      {"eval nothing.xml", "nothing.xml"},
      {"solve nothing.h5", "nothing.h5"},
      {"demo /nowhere", "FOLDER is where"},
      {"render " STACK, "--out FILE.png or FILE.mp4 is required"},
      {"render " STACK " --out x.png --size 0x0", "--size expects"},
      {"render " STACK " --out x.jpg", "expected a file name that ends in .png or .mp4"},
      {"render " STACK " --out x.png --camera front", "a camera of the file (it has none)"},
      {"render " STACK " --out x.png --force-scale 0", "metres per newton, above 0"},
      {"render " STACK " --out x.png --beside", "--beside needs --compare"},
      {"sim " STACK " --record xpos", "--record needs a file"},
      {"sim " STACK " --record xpso --out x.csv", "did you mean 'xpos'"},
      {"sim " STACK " --ctrl x.npy", "the model has no actuators"},
      {"sim " STACK " --problems-of 2", "--problems-of needs --problems"},
      {"sim " STACK " --problems " TB_BUILD_DIR " --problems-of 0", "unconverged or N"},
      {"sim " STACK " --problems " TB_BUILD_DIR " --law soft", "--law ncp, ccp, lcp or raisim"},
      {"compare " STACK " --law ncp", "those of --laws"},
      {"compare " STACK " --laws ncp,ncp", "--laws has ncp twice"},
      {"compare " STACK " --laws ncp,sotf", "did you mean 'soft'?"},
      {"compare " STACK " --laws ncp --reference soft", "one of the laws that are compared"},
      {"compare " STACK " --finer 1", "--finer expects 0 or 2 to 100"},
      {"compare " STACK " --time 0", "above 0"},
  };
  REFUSED(MISTAKES);
  char* const empty[] = {(char*)PROGRAM, (char*)"sim", (char*)"", NULL};
  pid_t child = fork();
  if (child == 0) {
    execv(PROGRAM, empty);
    _exit(127);
  }
  assert_int_equal(finish(child), 2);
}

static void write_text(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

// Quaternions that are no rotation, in each place where a state is read.
static void zero_quaternions_are_refused(void** state) {
  (void)state;
  static const char* const STATES[] = {"0 0 1  0 0 0 0  0 0 0 0 0 0",
                                       "0 0 1  1e-200 0 0 0  0 0 0 0 0 0",
                                       "0 0 1  1e200 0 0 0  0 0 0 0 0 0"};
  static const Mistake SIM[] = {{"sim " CUBE " --time 0.01 --state " STATE_FILE,
                                 "cli_state.txt: the free joint 0 '' of body 'cube'"}};
  for (int i = 0; i < 3; i++) {
    write_text(STATE_FILE, STATES[i]);
    REFUSED(SIM);
  }
  write_text(STATE_FILE, "0 0 1  0 0 0 0");
  static const Mistake EVAL[] = {{"eval " CUBE " --qpos " STATE_FILE, "is not a rotation"}};
  REFUSED(EVAL);
  // Any other length is scaled.
  write_text(STATE_FILE, "0 0 1  2 0 0 0  0 0 0 0 0 0");
  assert_int_equal(finish(start(PROGRAM, "sim %s --time 0.01 --state %s", CUBE, STATE_FILE)), 0);
  write_text(REPLAY_FILE, "time,qpos0,qpos1,qpos2,qpos3,qpos4,qpos5,qpos6\n0,0,0,1,0,0,0,0\n");
  static const Mistake REPLAY[] = {{"render " CUBE " --out x.png --replay " REPLAY_FILE,
                                    "cli_replay.csv: row 0: the free joint"}};
  REFUSED(REPLAY);
  remove(REPLAY_FILE);
  remove(STATE_FILE);
}

// The exit code of a call that may have so many kilobytes of address space.
static int run_in(long kilobytes, const char* arguments) {
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  small = before;
  small.rlim_cur = (rlim_t)kilobytes << 10;
  assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
  int code = finish(start(PROGRAM, "%s", arguments));
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  return code;
}

// Memory that runs out is told as JSON too.
static void no_memory_is_told(void** state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip();
#endif
  // The least in which the program starts, and somewhat more.
  long least = 1 << 10, enough = 4096L << 10;
  while (enough - least > 64) {
    long middle = (least + enough) / 2;
    if (run_in(middle, "--version") == 0) enough = middle;
    if (enough != middle) least = middle;
  }
  int told = 0;
  for (long more = 0; more < 12 << 10; more += 128) {
    int code = run_in(enough + more, "sim " TB_SCENES_DIR "/wall.xml --time 0.01 --json");
    size_t size;
    char* text = read_all(STDOUT_FILE, &size);
    assert_json(text);
    told += code == 2 && strstr(text, "{\"error\": ") && strstr(text, "out of memory");
    free(text);
  }
  assert_true(told > 0);
}

// File names may be any bytes; JSON is UTF-8.
static void names_that_are_no_text_are_replaced(void** state) {
  (void)state;
  assert_int_equal(finish(start(PROGRAM, "info \xff\xc3\xa9\xe2\x82.xml --json")), 2);
  size_t size;
  char* text = read_all(STDOUT_FILE, &size);
  assert_json(text);
  assert_null(strchr(text, '\xff'));
  assert_null(strchr(text, '\x82'));
  assert_non_null(strstr(text, "\\ufffd\xc3\xa9\\ufffd"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unknown_words_name_the_nearest),
      cmocka_unit_test(malformed_calls_are_refused),
      cmocka_unit_test(zero_quaternions_are_refused),
      cmocka_unit_test(no_memory_is_told),
      cmocka_unit_test(names_that_are_no_text_are_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
