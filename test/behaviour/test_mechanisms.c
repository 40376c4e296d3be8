// Mechanisms and machines of scenes/, driven for a while under every law: closed loops, gears,
// tendons, muscles, latches, belts, chains, hills. No step fails, nothing makes energy; under the
// rigid laws loops stay closed, and the exact law is solved and keeps bodies apart.
#include "common/worlds.h"
#include "world/state.h"

typedef struct {
  const char* file;
  double seconds;
  double deepest;  // m, of the second half under the exact law
  double open;     // m or rad: largest violation of an equality under the rigid laws
  bool slow;       // too slow for the viscoelastic law
} Machine;

static const Machine MACHINES[] = {
    {"gears.xml", 0.4, 1e-6, 1e-6, false},
    {"slider_crank.xml", 0.4, 1e-6, 1e-4, false},
    {"delta.xml", 0.4, 1e-4, 1e-3, false},
    {"rope_bridge.xml", 0.4, 1e-3, 5e-3, false},
    {"chain_drum.xml", 0.4, 5e-3, 0, false},
    {"conveyor.xml", 0.3, 1e-6, 0, false},
    {"cable_finger.xml", 0.5, 1e-4, 0, false},
    {"muscle_leg.xml", 0.6, 1e-4, 0, false},
    {"coupled_hand.xml", 0.4, 1e-3, 1e-3, false},
    {"door_latch.xml", 0.8, 1e-4, 0, false},
    // shoulders sit in the chest for good
    {"ragdoll_stairs.xml", 0.6, 0.2, 0, false},
    {"hills.xml", 0.6, 0.02, 0, false},
    {"rings_on_rod.xml", 0.3, 1e-3, 0, true},
    {"tendon_cradle.xml", 0.5, 1e-6, 0, false},
    {"weld_ring.xml", 0.4, 1e-6, 1e-4, false},
    {"paddle.xml", 0.4, 0.012, 0, true},
    {"locomotive.xml", 0.5, 1e-6, 1e-4, false},
    {"cam.xml", 0.6, 1e-4, 0, false},
};

// Waves over the range of every control, 3 where it has none; mocap bodies go along x at 0.4 m/s.
static void drive(tbWorld w) {
  for (int i = 0; i < w.m->nu; i++) {
    const tbReal* range = w.m->actuator_ctrlrange + 2 * i;
    bool limited = w.m->actuator_ctrllimited[i];
    tbReal low = limited ? range[0] : -3, high = limited ? range[1] : 3;
    tbReal wave = sin((3.1 + 0.8 * i) * w.d->time);
    w.d->ctrl[i] = 0.5 * (low + high) + 0.5 * (high - low) * wave;
  }
  for (int i = 0; i < w.m->nmocap; i++) w.d->mocap_pos[3 * i] += 0.4 * w.m->opt.timestep;
}

static double energy(tbWorld w) {
  tb_energy_position(w.m, w.d);
  tb_energy_velocity(w.m, w.d);
  return w.d->energy[0] + w.d->energy[1];
}

// The largest violation of an equality.
static double opening(tbWorld w) {
  const tbConstraints* cs = &tb_step_state(w.m, w.d)->constraints;
  double largest = 0;
  for (int i = 0; i < cs->count; i++) {
    if (cs->list[i].source != TB_SOURCE_EQUALITY) continue;
    for (int r = 0; r < cs->list[i].dim; r++) largest = fmax(largest, fabs(cs->list[i].pos[r]));
  }
  return largest;
}

static double deepest(tbWorld w) {
  double depth = 0;
  for (int k = 0; k < w.d->ncon; k++) depth = fmax(depth, -w.d->contact[k].dist);
  return depth;
}

static void run(const Machine* machine, int law) {
  tbWorld w = tb_world_scene(machine->file, NULL);
  w.m->opt.law = law;
  int steps = tb_world_steps(w, machine->seconds), unsolved = 0;
  double work = 0, start = 0, excess = 0, depth = 0, open = 0;
  for (int i = 0; i < steps; i++) {
    drive(w);
    assert_int_equal(tb_step1(w.m, w.d), TB_OK);
    double now = energy(w);
    if (i == 0) start = now;
    excess = fmax(excess, now - start - work);
    if (tb_step2(w.m, w.d) != TB_OK) fail_msg("%s: %s", machine->file, w.d->message);
    for (int k = 0; k < w.m->nv; k++) {
      work += w.m->opt.timestep * w.d->qfrc_actuator[k] * w.d->qvel[k];
    }
    unsolved += w.d->solve.status != TB_SOLVE_CONVERGED;
    open = fmax(open, opening(w));
    if (i > steps / 2) depth = fmax(depth, deepest(w));
  }
  print_message("%s %s: excess %.1e J, deepest %.1e m, open by %.1e, %d steps unsolved\n",
                machine->file, tb_step_law_name(law), excess, depth, open, unsolved);
  // The scale is the energy of a fall; springs of soft laws release overlapping starts, and a
  // paddle does additional work.
  double scale = w.m->total_mass * 9.81 * fmax(w.m->extent, 0.1);
  if (law < TB_LAW_COUNT) assert_true(excess < 0.02 * scale);
  assert_true(excess < 0.5 * scale);
  if (law < TB_LAW_COUNT) assert_true(open <= machine->open);
  if (law == TB_LAW_NCP || law == TB_LAW_CCP) assert_true(unsolved <= 2);
  if (law == TB_LAW_NCP) assert_true(depth < machine->deepest);
  tb_world_free(w);
}

static void machines_run_under_every_law(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof MACHINES / sizeof *MACHINES; k++) {
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      if (law == TB_LAW_VISCOELASTIC && MACHINES[k].slow) continue;
      run(&MACHINES[k], law);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines_run_under_every_law)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
