// The certificate of a step is that of the impulses it applied, under every law and integrator:
// computed here once more from public data, contacts with their forces and the two velocities. A
// step without a certificate reports NaN, never zero.
#include <stdbool.h>

#include "common/worlds.h"

static const char SCENE[] =
    "<mujoco><option timestep='.001'><flag warmstart='enable'/></option><worldbody>"
    "<geom type='plane' size='5 5 .1' friction='.6'/>"
    "<body pos='0 0 .0999'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>"
    "<body pos='.5 0 .0999'><freejoint/><geom type='box' size='.1 .08 .1' mass='2'/></body>"
    "<body pos='.52 0 .31'><freejoint/><geom type='sphere' size='.1' mass='.5'/></body>"
    "</worldbody></mujoco>";

enum { BODIES = 3, MOST_CONTACTS = 64 };
static const tbReal MASS[BODIES] = {1, 2, 0.5};

static tbWorld start(int law, int integrator, double timestep) {
  tbWorld w = tb_world_text(SCENE);
  tbOption* opt = &w.m->opt;
  opt->law = law;
  opt->integrator = integrator;
  opt->timestep = timestep;
  // The gap term of a contact is then gap / h where it is open, and nothing where it is not.
  opt->correction_speed = opt->gap_allowed = opt->overlap_allowed = 0;
  w.d->qvel[0] = 1;
  w.d->qvel[6] = -0.5;
  w.d->qvel[7] = 0.3;
  w.d->qvel[11] = 2;
  w.d->qvel[14] = -1;
  return w;
}

static int integrators_of(int law, int from) {
  int last = law == TB_LAW_VISCOELASTIC ? TB_INTEGRATOR_EULER_IMPLICIT : TB_INTEGRATOR_IMPLICITFAST;
  return from <= last;
}

// Velocity of the point of a geom's body at `pos`, at pose q of all bodies and velocity v.
static void point_velocity(tbWorld w, const tbReal* q, const tbReal* v, int geom,
                           const tbReal pos[3], tbReal out[3]) {
  int body = w.m->geom_bodyid[geom] - 1;
  out[0] = out[1] = out[2] = 0;
  if (body < 0) return;
  const tbReal *x = q + 7 * body, *u = v + 6 * body, *s = u + 3;
  tbReal a = x[3], b = x[4], c = x[5], e = x[6];
  tbReal R[9] = {
      a * a + b * b - c * c - e * e, 2 * (b * c - a * e),           2 * (b * e + a * c),
      2 * (b * c + a * e),           a * a - b * b + c * c - e * e, 2 * (c * e - a * b),
      2 * (b * e - a * c),           2 * (c * e + a * b),           a * a - b * b - c * c + e * e};
  tbReal turn[3], arm[3];
  for (int k = 0; k < 3; k++) {
    turn[k] = R[3 * k] * s[0] + R[3 * k + 1] * s[1] + R[3 * k + 2] * s[2];
    arm[k] = pos[k] - x[k];
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = u[k] + turn[i] * arm[j] - turn[j] * arm[i];
  }
}

// The residual of the exact law of the contacts' forces over a step from pose q to velocity v.
static tbResidual judge(tbWorld w, const tbReal* q, const tbReal* v) {
  tbReal lambda[3 * MOST_CONTACTS], sigma[3 * MOST_CONTACTS], mu[MOST_CONTACTS];
  tbReal g[3 * MOST_CONTACTS] = {0}, h = w.m->opt.timestep;
  tbBlock block[MOST_CONTACTS];
  int n = 0;
  assert_true(w.d->ncon <= MOST_CONTACTS);
  for (int i = 0; i < w.d->ncon; i++) {
    const tbContact* c = &w.d->contact[i];
    if (c->row < 0) continue;
    assert_int_equal(c->dim, 3);
    tbReal at[2][3];
    for (int k = 0; k < 2; k++) point_velocity(w, q, v, c->geom[k], c->pos, at[k]);
    for (int r = 0; r < 3; r++) {
      sigma[3 * n + r] = 0;
      for (int k = 0; k < 3; k++) sigma[3 * n + r] += c->frame[3 * r + k] * (at[1][k] - at[0][k]);
      lambda[3 * n + r] = h * c->force[r];
    }
    if (c->dist > 0) sigma[3 * n] += c->dist / h;
    mu[n++] = c->friction[0];
  }
  tb_blocks_contacts(n, mu, block);
  tbProblem p = {.n = 3 * n, .nblock = n, .block = block, .g = g};
  return tb_residual(&p, TB_LAW_NCP, lambda, sigma);
}

// Bodies moved by contacts and gravity only: their change of momentum is the impulse of the
// contacts.
static void assert_momentum(tbWorld w, const tbReal* v0, const tbReal* v, const char* what) {
  tbReal h = w.m->opt.timestep, gained[3 * BODIES] = {0};
  for (int i = 0; i < w.d->ncon; i++) {
    const tbContact* c = &w.d->contact[i];
    for (int k = 0; k < 3; k++) {
      tbReal push = 0;
      for (int r = 0; r < 3; r++) push += h * c->force[r] * c->frame[3 * r + k];
      int one = w.m->geom_bodyid[c->geom[0]] - 1, two = w.m->geom_bodyid[c->geom[1]] - 1;
      if (one >= 0) gained[3 * one + k] -= push;
      if (two >= 0) gained[3 * two + k] += push;
    }
  }
  for (int b = 0; b < BODIES; b++) {
    for (int k = 0; k < 3; k++) {
      tbReal change = MASS[b] * (v[6 * b + k] - v0[6 * b + k] - (k == 2 ? -9.81 * h : 0));
      // Newton's method for the implicit velocity ends within its tolerance.
      bool solved = w.m->opt.integrator != TB_INTEGRATOR_EULER_IMPLICIT;
      if (fabs(change - gained[3 * b + k]) > (solved ? 1e-9 : 1e-5) * (1 + fabs(change))) {
        fail_msg("%s: body %d gained %.9g along %d, contacts gave %.9g", what, b, change, k,
                 gained[3 * b + k]);
      }
    }
  }
}

static void assert_close(tbReal got, tbReal expected, const char* part, const char* what) {
  if (!(fabs(got - expected) <= 1e-8 + 1e-6 * fabs(expected))) {
    fail_msg("%s: %s residual is %.9g, of the impulses applied %.9g", what, part, got, expected);
  }
}

static void assert_judged(tbWorld w, const tbReal* q, const tbReal* v0, const tbReal* v,
                          const char* what) {
  const tbResidual *got = &w.d->solve.residual_exact, expected = judge(w, q, v);
  if (isnan(got->relative)) fail_msg("%s: nobody judged it", what);
  assert_momentum(w, v0, v, what);
  // Bodies that turn together have a term more (docs/manual/step.md), which is not computed here.
  for (int i = 0; i < w.d->ncon; i++) {
    if (w.m->geom_bodyid[w.d->contact[i].geom[0]] > 0) return;
  }
  assert_close(got->primal, expected.primal, "primal", what);
  assert_close(got->dual, expected.dual, "dual", what);
  assert_close(got->complementarity, expected.complementarity, "complementarity", what);
}

// Every law with every integrator it has: tb_forward, then tb_step, of a throw that slides, spins
// and meets.
static void residuals_are_of_the_impulses_applied(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (int integrator = 0; integrators_of(law, integrator); integrator++) {
      tbWorld w = start(law, integrator, law == TB_LAW_VISCOELASTIC ? 2e-4 : 1e-3);
      tbReal q[7 * BODIES], v0[6 * BODIES], v[6 * BODIES], worst = 0;
      char what[96];
      for (int i = 0; i < 400; i++) {
        memcpy(q, w.d->qpos, sizeof q);
        memcpy(v0, w.d->qvel, sizeof v0);
        // MuJoCo's qacc is that of its forces, which its implicit integrators then damp.
        bool leads = law != TB_LAW_SOFT || integrator <= TB_INTEGRATOR_RK4;
        if (i % 20 == 0 && leads) {
          snprintf(what, sizeof what, "law %d integrator %d, forward %d", law, integrator, i);
          assert_int_equal(tb_forward(w.m, w.d), TB_OK);
          for (int k = 0; k < w.m->nv; k++) v[k] = v0[k] + w.m->opt.timestep * w.d->qacc[k];
          assert_judged(w, q, v0, v, what);
        }
        snprintf(what, sizeof what, "law %d integrator %d, step %d", law, integrator, i);
        assert_int_equal(tb_step(w.m, w.d), TB_OK);
        assert_judged(w, q, v0, w.d->qvel, what);
        worst = fmax(worst, w.d->solve.residual_exact.relative);
      }
      // Tolerance of the exact law, and the residuals of the other laws.
      assert_true(law == TB_LAW_NCP ? worst <= w.m->opt.solve_tolerance : worst > 1e-3);
      tb_world_free(w);
    }
  }
}

// Springs that a Runge-Kutta step does not resolve throw the stack about, and the certificate of
// the steps that do it says so.
static void a_blow_up_has_a_residual(void** state) {
  (void)state;
  tbWorld w = tb_world_springs(tb_world_scene("stack.xml", NULL), TB_INTEGRATOR_RK4, 0.002);
  int zero = 0;
  tbReal worst = 0;
  for (int i = 0; i < 500; i++) {
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    tbReal push = 0;
    for (int k = 0; k < w.d->ncon; k++) {
      push = fmax(push, w.d->contact[k].force[0]);
      // Contacts that a later stage found stand for those that the start had seen open.
      for (int j = 0; j < k; j++) assert_true(w.d->contact[j].key != w.d->contact[k].key);
    }
    worst = fmax(worst, w.d->solve.residual_exact.relative);
    zero += push > 0 && !(w.d->solve.residual_exact.relative > 0);
  }
  assert_int_equal(zero, 0);
  assert_true(worst > 0.5);
  tb_world_free(w);
}

// A limit that is first met in the middle of a step has no row at its start.
static void limits_of_later_stages_count(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    static const int INTEGRATOR[] = {TB_INTEGRATOR_RK4, TB_INTEGRATOR_EULER_IMPLICIT,
                                     TB_INTEGRATOR_EXPO_MIDPOINT};
    tbWorld w = tb_world_text(
        "<mujoco><option timestep='.001'/><worldbody><body><joint type='slide' axis='1 0 0' "
        "range='-1 1' limited='true'/><geom size='.1' mass='1'/></body></worldbody></mujoco>");
    w.m->opt.law = TB_LAW_VISCOELASTIC;
    w.m->opt.integrator = INTEGRATOR[k];
    w.d->qpos[0] = 1 - 2e-4;
    w.d->qvel[0] = 1;
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
    // The spring has pushed, and the velocity still leads out: the exact law would have stopped it.
    assert_true(w.d->qvel[0] < 1);
    assert_near(w.d->solve.residual_exact.dual, w.d->qvel[0] - 0.2, 1e-9);
    tb_world_free(w);
  }
}

// Before a law is solved there is no residual, nor where a step fails.
static void failed_steps_claim_nothing(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = start(law, TB_INTEGRATOR_EULER, 1e-3);
    tb_world_run(w, 3);
    w.d->qfrc_applied[8] = NAN;
    assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
    assert_true(isnan(w.d->solve.residual.relative) && isnan(w.d->solve.residual_exact.relative));
    assert_int_not_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
    assert_int_equal(w.d->offender.reason, TB_OFFENCE_FAILED);
    assert_int_equal(w.d->offender.body, 2);
    tb_world_free(w);
  }
}

// Residuals of a law that no function has computed are no numbers.
static void closed_forms_have_no_residual_of_their_own(void** state) {
  (void)state;
  for (int law = TB_LAW_SOFT; law < TB_STEP_LAW_COUNT; law++) {
    tbWorld w = start(law, TB_INTEGRATOR_EULER, 1e-3);
    tb_world_run(w, 3);
    assert_true(isnan(w.d->solve.residual.primal) && isnan(w.d->solve.residual.dual));
    assert_true(isnan(w.d->solve.residual.relative) == (law != TB_LAW_SOFT));
    tb_world_free(w);
  }
}

// One of three boxes is pressed into a stack that one sweep cannot solve: it is the offender.
static void the_offender_is_where_the_residual_is(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='5 5 .1'/>"
      "<body pos='3 0 .1'><freejoint/><geom type='sphere' size='.1'/></body>"
      "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
      "<body pos='0 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' mass='100'/></body>"
      "</worldbody></mujoco>");
  w.m->opt.solver = TB_SOLVER_PGS;
  w.m->opt.solve_iterations = 3;
  tb_world_run(w, 1);
  assert_int_not_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
  assert_int_equal(w.d->offender.reason, TB_OFFENCE_UNCONVERGED);
  assert_true(w.d->offender.body >= 2);
  assert_true(w.d->offender.geom[0] >= 0 && w.d->offender.geom[1] >= 2);
  w.m->opt.solver = TB_SOLVER_AUTO;
  w.m->opt.solve_iterations = 1000;
  tb_world_run_solved(w, 1);
  assert_int_equal(w.d->offender.reason, TB_OFFENCE_NONE);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(residuals_are_of_the_impulses_applied),
      cmocka_unit_test(a_blow_up_has_a_residual),
      cmocka_unit_test(limits_of_later_stages_count),
      cmocka_unit_test(failed_steps_claim_nothing),
      cmocka_unit_test(closed_forms_have_no_residual_of_their_own),
      cmocka_unit_test(the_offender_is_where_the_residual_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
