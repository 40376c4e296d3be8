// Every robot survives a passive drop and random controls under every law: no failed step, no
// created energy. Without arguments a short run.
//
//   test_soak_robots [--seconds S] [--model PART] [--law NAME] [--dt MS] [--mode passive|controls]
//                    [--integrator NAME] [--anchor-normal 0|1] [--compiled FOLDER]
//                    [--compile FOLDER]
//
// runs the robots whose file contains PART, one line for each model, law, step and mode: shards for
// many machines. --compile writes all robots as compiled models, --compiled reads them from there.
#include "common/robots.h"
#include "common/worlds.h"

typedef struct {
  double seconds, dt;  // dt in ms, 0: 1 and 2
  const char *model, *law, *mode, *compiled, *compile, *integrator;
  double anchor_normal;  // the option contact_anchor_normal
  bool lines;            // one for each run
} Choice;

static Choice choice = {0.03, 0, "", "", "", NULL, NULL, NULL, 0, false};

// Failures are counted, so that one run names all of them.
static int failures;

static void report(const char* what, const char* why, int step) {
  print_message("FAILED: %s: step %d: %s\n", what, step, why);
  failures++;
}

typedef struct {
  double start, excess;  // J: energy at the start; largest energy beyond start + work, over scale
  double speed, depth;   // largest velocity entry, deepest overlap (m)
  double residual;       // of the exact law, largest of all steps
  int steps, unconverged, streak;  // steps without convergence, and most of them in a row
} Record;

// New random controls every 50 ms, over the whole range where there is one.
static void random_controls(const tbModel* m, tbData* d, tbRng* rng) {
  for (int i = 0; i < m->nu; i++) {
    const tbReal* range = m->actuator_ctrlrange + 2 * i;
    int limited = m->actuator_ctrllimited[i];
    d->ctrl[i] = tb_rng_uniform(rng, limited ? range[0] : -1, limited ? range[1] : 1);
  }
}

// Energy now, all springs included.
static double energy(const tbModel* m, tbData* d) {
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
  return d->energy[0] + d->energy[1];
}

static Record run(const tbModel* m, tbData* d, int controlled, tbRng* rng, const char* what) {
  int steps = (int)(choice.seconds / m->opt.timestep + 0.5);
  int period = (int)(0.05 / m->opt.timestep + 0.5), row = 0;
  Record r = {0};
  // The largest possible energy of a fall in the scene sets the scale of energies.
  double scale = m->total_mass * 9.81 * fmax(m->extent, 0.1), work = 0, effort = 0;
  for (int i = 0; i < steps; i++) {
    if (controlled && i % period == 0) random_controls(m, d, rng);
    if (tb_step1(m, d) != TB_OK) return report(what, d->message, i), r;
    if (i == 0) r.start = energy(m, d);
    double gain = energy(m, d) - r.start - work;
    r.excess = fmax(r.excess, gain / (scale + effort));
    if (tb_step2(m, d) != TB_OK) return report(what, d->message, i), r;
    for (int k = 0; k < m->nv; k++) {
      double power = d->qfrc_actuator[k] * d->qvel[k];
      work += m->opt.timestep * power;
      effort += m->opt.timestep * fabs(power);
      r.speed = fmax(r.speed, fabs(d->qvel[k]));
    }
    for (int k = 0; k < d->ncon; k++) r.depth = fmax(r.depth, -d->contact[k].dist);
    bool converged = d->solve.status == TB_SOLVE_CONVERGED;
    r.unconverged += !converged;
    row = converged ? 0 : row + 1;
    r.streak = row > r.streak ? row : r.streak;
    r.residual = fmax(r.residual, d->solve.residual_exact.relative);
    r.steps++;
  }
  return r;
}

static void one(tbModel* m, int robot, int law, double dt, int controlled) {
  char what[256];
  snprintf(what, sizeof what, "%s %s %g ms %s", tb_test_robot_name(robot), tb_step_law_name(law),
           1e3 * dt, controlled ? "controls" : "passive");
  m->opt.law = law;
  m->opt.timestep = dt;
  m->opt.contact_anchor_normal = choice.anchor_normal > 0;
  tbError error;
  if (choice.integrator) {
    assert_int_equal(tb_option_set(&m->opt, "integrator", choice.integrator, &error), TB_OK);
  }
  tbData* d = tb_data_new(m);
  assert_non_null(d);
  // The passive drop starts where the file's pose is, overlaps included.
  if (controlled && m->nkey) tb_reset_keyframe(m, d, 0);
  tbRng rng = {(uint64_t)(11 + robot)};
  int before = failures;
  Record r = run(m, d, controlled, &rng, what);
  // Springs release the energy that an overlapping start has stored: it is bounded for springs of
  // the soft law and for contacts of the viscoelastic law, but not for its joint limits: Go2 starts
  // 0.8 rad beyond one.
  double most = law == TB_LAW_VISCOELASTIC ? INFINITY : law == TB_LAW_SOFT ? 2 : 0.2;
  if (!(r.excess <= most)) report(what, "energy from nowhere", 0);
  if (choice.lines) {
    print_message(
        "%-6s %-76s steps %6d energy %8.1e speed %8.1e depth %7.1e unconverged %5d "
        "in a row %4d exact %8.1e\n",
        failures > before ? "FAILED" : "ok", what, r.steps, r.excess, r.speed, r.depth,
        r.unconverged, r.streak, r.residual);
  }
  tb_data_free(d);
}

// The robot from its file, or as it was compiled.
static tbModel* robot_of(int index) {
  if (!choice.compiled) return tb_test_robot(index);
  char path[1024];
  tbError error;
  tb_test_robot_compiled(index, choice.compiled, path, sizeof path);
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) print_message("skipped: %s: %s\n", path, error.message);
  return m;
}

static bool is_chosen(int index) {
  const char* name = tb_test_robot_name(index);
  // A puzzle of meshes, not a robot: its minutes are better spent elsewhere unless asked for.
  if (strstr(name, "cube_3x3x3") && !strstr(choice.model, "cube")) return false;
  return strstr(name, choice.model) != NULL;
}

static void robot_survives(tbModel* m, int index) {
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (choice.law[0] && strcmp(choice.law, tb_step_law_name(law)) != 0) continue;
    // Contacts of 1e8 N/m without damping, made for steps of 0.1 ms: unstable in MuJoCo too.
    if (law == TB_LAW_SOFT && strstr(tb_test_robot_name(index), "newton_cradle")) continue;
    for (int k = 0; k < 4; k++) {
      // a step asked for is the only one
      double dt = choice.dt > 0 ? 1e-3 * choice.dt : k % 2 ? 0.002 : 0.001;
      const char* mode = k / 2 ? "controls" : "passive";
      if (choice.dt > 0 && k % 2) continue;
      if (choice.mode[0] && strcmp(choice.mode, mode) != 0) continue;
      one(m, index, law, dt, k / 2);
    }
  }
}

static void robots_survive(void** state) {
  (void)state;
  int found = 0;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    tbModel* m = is_chosen(i) ? robot_of(i) : NULL;
    if (!m) continue;
    found++;
    robot_survives(m, i);
    tb_model_free(m);
  }
  assert_int_equal(failures, 0);
  // without its models a run proves nothing
  if (choice.lines) assert_true(found > 0);
}

static int compile_all(const char* folder) {
  int failed = 0;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    char path[1024];
    tbError error = {0};
    tbModel* m = tb_test_robot(i);
    tb_test_robot_compiled(i, folder, path, sizeof path);
    bool ok = m && tb_model_save(m, path, &error) == TB_OK;
    print_message("%s %s %s\n", ok ? "wrote" : "FAILED", path, error.message);
    failed += !ok;
    tb_model_free(m);
  }
  return failed > 0;
}

static bool parse(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    struct {
      const char *name, **text;
      double* number;
    } known[] = {{"--seconds", NULL, &choice.seconds},
                 {"--dt", NULL, &choice.dt},
                 {"--model", &choice.model, NULL},
                 {"--law", &choice.law, NULL},
                 {"--mode", &choice.mode, NULL},
                 {"--compiled", &choice.compiled, NULL},
                 {"--compile", &choice.compile, NULL},
                 {"--integrator", &choice.integrator, NULL},
                 {"--anchor-normal", NULL, &choice.anchor_normal}};
    size_t k = 0, count = sizeof known / sizeof *known;
    while (k < count && strcmp(name, known[k].name) != 0) k++;
    if (k == count || !value) {
      fprintf(stderr, "%s: %s\n", name, value ? "unknown" : "a value is missing");
      return false;
    }
    if (known[k].text) *known[k].text = value;
    if (known[k].number) *known[k].number = atof(value);
    choice.lines = true;
  }
  return choice.seconds > 0;
}

int main(int argc, char** argv) {
  if (!parse(argc, argv)) return 2;
  if (choice.compile) return compile_all(choice.compile);
  const struct CMUnitTest tests[] = {cmocka_unit_test(robots_survive)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
