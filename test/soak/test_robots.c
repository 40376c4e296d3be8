// Every robot survives a passive drop and random controls under every law: no failed step, no
// energy from nowhere. Without arguments a short run; `test_soak_robots SECONDS [ROBOT [LAW]]`
// takes longer and may be narrowed to robots whose file contains ROBOT and to one law.
#include "common/robots.h"
#include "common/worlds.h"

typedef struct {
  double seconds;
  const char *robot, *law;
} Choice;

static Choice choice = {0.03, "", ""};

// Failures are counted, so that one run names all of them.
static int failures;

static void report(const char* what, const char* why, int step) {
  print_message("FAILED: %s: step %d: %s\n", what, step, why);
  failures++;
}

typedef struct {
  double start, excess;  // J: energy at the start; largest energy beyond start + work, over scale
  double speed, depth;   // largest velocity entry, deepest overlap (m)
  int unconverged;
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
  int period = (int)(0.05 / m->opt.timestep + 0.5);
  Record r = {0};
  // What the scene could fall by sets the scale of energies.
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
    r.unconverged += d->solve.status != TB_SOLVE_CONVERGED;
  }
  return r;
}

static void one(tbModel* m, int robot, int law, double dt, int controlled) {
  char what[256];
  snprintf(what, sizeof what, "%s %s %g ms %s", tb_test_robot_name(robot), tb_step_law_name(law),
           1e3 * dt, controlled ? "controls" : "passive");
  m->opt.law = law;
  m->opt.timestep = dt;
  tbData* d = tb_data_new(m);
  assert_non_null(d);
  // The passive drop starts where the file's pose is, overlaps included.
  if (controlled && m->nkey) tb_reset_keyframe(m, d, 0);
  tbRng rng = {(uint64_t)(11 + robot)};
  Record r = run(m, d, controlled, &rng, what);
  if (choice.seconds >= 1) {
    print_message("%-78s excess %8.1e speed %8.1e depth %7.1e unconverged %d\n", what, r.excess,
                  r.speed, r.depth, r.unconverged);
  }
  // Springs release what an overlapping start has stored: those of the soft law are bounded, those
  // of the viscoelastic law hold whatever the stiffness asked for makes of the depth.
  double most = law == TB_LAW_VISCOELASTIC ? INFINITY : law == TB_LAW_SOFT ? 2 : 0.2;
  if (!(r.excess <= most)) report(what, "energy from nowhere", 0);
  tb_data_free(d);
}

static void robots_survive(void** state) {
  (void)state;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    if (!strstr(tb_test_robot_name(i), choice.robot)) continue;
    // A puzzle of meshes, not a robot: its minutes are better spent elsewhere unless asked for.
    if (strstr(tb_test_robot_name(i), "cube_3x3x3") && !strstr(choice.robot, "cube")) continue;
    tbModel* m = tb_test_robot(i);
    if (!m) continue;
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      if (choice.law[0] && strcmp(choice.law, tb_step_law_name(law)) != 0) continue;
      // Contacts of 1e8 N/m without damping, made for steps of 0.1 ms: unstable in MuJoCo too.
      if (law == TB_LAW_SOFT && strstr(tb_test_robot_name(i), "newton_cradle")) continue;
      for (int k = 0; k < 4; k++) one(m, i, law, k % 2 ? 0.002 : 0.001, k / 2);
    }
    tb_model_free(m);
  }
  assert_int_equal(failures, 0);
}

int main(int argc, char** argv) {
  if (argc > 1) choice.seconds = atof(argv[1]);
  if (argc > 2) choice.robot = argv[2];
  if (argc > 3) choice.law = argv[3];
  const struct CMUnitTest tests[] = {cmocka_unit_test(robots_survive)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
