// Impulses that create energy (laws/rigid/energy_bound.h): scaled down to the available energy
// where a solver has failed or the impulses are out of proportion.
#include "laws/rigid/energy_bound.h"

#include "common/worlds.h"
#include "model/workspace.h"
#include "forces/implicit_inertia.h"
#include "world/state.h"

// A ball of 2 kg that meets the floor at 3 m/s, without friction: stopping it takes 6 N s.
typedef struct {
  tbWorld w;
  tbConstraints* constraints;
  tbInertiaFactor factor;
  tbIslands islands;
  tbReal v_free[6];
} Fall;

static Fall fall(void) {
  Fall f = {.w = tb_world_text(
                "<mujoco><option gravity='0 0 0'/><default><geom condim='1'/></default><worldbody>"
                "<geom type='plane' size='1 1 .1'/><body pos='0 0 .1'><freejoint/><geom size='.1' "
                "mass='2'/></body></worldbody></mujoco>")};
  tbWorld w = f.w;
  w.d->qvel[2] = -3;
  memcpy(f.v_free, w.d->qvel, sizeof f.v_free);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbStepState* state = w.d->work->step;
  f.constraints = &state->constraints;
  assert_int_equal(tb_implicit_factor(w.m, w.d, TB_IMPLICIT_ALL, &f.factor), TB_OK);
  assert_int_equal(tb_assemble_groups(w.m, w.d, f.constraints, &f.islands), TB_OK);
  assert_int_equal(tb_assemble_terms(w.m, w.d, f.constraints, f.factor, f.v_free, &f.islands),
                   TB_OK);
  assert_int_equal(f.islands.count, 1);
  assert_int_equal(f.islands.island[0].problem.n, 1);
  return f;
}

// The remaining share of an impulse.
static tbReal guarded(tbReal impulse, int status) {
  Fall f = fall();
  f.islands.island[0].lambda[0] = impulse;
  f.w.d->solve.status = status;
  assert_int_equal(
      tb_bound_impulse_energy(f.w.m, f.w.d, f.constraints, f.factor, f.v_free, &f.islands), TB_OK);
  tbReal left = f.islands.island[0].lambda[0];
  assert_int_equal(f.w.d->solve.status, left == impulse ? status : TB_SOLVE_STALLED);
  tb_world_free(f.w);
  return left;
}

// The energy at hand is three times m v^2: of the free velocity, of the approach that all mass has,
// and of the row by its own inertia. Ten times that is too much.
static void impulses_are_scaled_to_the_energy_at_hand(void** state) {
  (void)state;
  const tbReal stops = 6, most = 6 * sqrt(3);
  assert_near(guarded(stops, TB_SOLVE_STALLED), stops, 0);
  assert_near(guarded(5 * stops, TB_SOLVE_STALLED), 5 * stops, 0);
  assert_near(guarded(6 * stops, TB_SOLVE_STALLED), most, 1e-6);
  assert_near(guarded(1e9 * stops, TB_SOLVE_STALLED), most, 1e-6);
  assert_near(guarded(1e200, TB_SOLVE_STALLED), 0, 0);
}

// Converged by a residual that is relative to the impulses: looked at from 1e4 of what stops a
// single body on.
static void large_impulses_are_never_trusted(void** state) {
  (void)state;
  const tbReal stops = 6;
  assert_near(guarded(5e3 * stops, TB_SOLVE_CONVERGED), 5e3 * stops, 0);
  assert_near(guarded(2e4 * stops, TB_SOLVE_CONVERGED), stops * sqrt(3), 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_are_scaled_to_the_energy_at_hand),
      cmocka_unit_test(large_impulses_are_never_trusted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
