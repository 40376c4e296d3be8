// A contact on free bodies by itself: its solution against the law and against the general local
// solver, over masses, frictions and lever arms of many decades; its stop test against the residual
// function.
#include "common/test.h"
#include "solvers/free_contact.h"
#include "solvers/local.h"

enum { D = TB_CONTACT_ROWS, CASES = 20000 };

// sigma of impulses lambda at velocities b.
static void velocity(const tbReal* A, const tbReal* b, const tbReal* lambda, tbReal* sigma) {
  for (int r = 0; r < D; r++) {
    sigma[r] = b[r];
    for (int c = 0; c < D; c++) sigma[r] += A[r * D + c] * lambda[c];
  }
}

static tbResidual residual_of(const tbBlock* block, const tbReal* lambda, const tbReal* sigma) {
  tbProblem one = {.n = D, .nblock = 1, .block = (tbBlock*)block, .g = (tbReal*)sigma};
  return tb_residual(&one, TB_LAW_NCP, lambda, sigma);
}

// Rows on one body or two, with the impulses that the bodies feel as velocities.
static void make(tbRng* rng, tbFreeContact* c, tbBlock* block, tbReal* A) {
  memset(c, 0, sizeof *c);
  c->bodies = 1 + tb_rng_int(rng, 2);
  c->body[1] = TB_BODY_DOFS;
  *block = (tbBlock){.type = TB_BLOCK_CONE, .dim = D};
  for (int i = 0; i < 2; i++) block->mu[i] = pow(10, tb_rng_uniform(rng, -3, 1));
  int n = c->bodies * TB_BODY_DOFS;
  tbReal size = pow(10, tb_rng_uniform(rng, -3, 3));
  for (int k = 0; k < D * n; k++) c->B[k] = size * tb_rng_normal(rng);
  for (int r = 0; r < D; r++) {
    c->R[r] = tb_rng_int(rng, 3) == 0 ? size * size * tb_rng_uniform(rng, 0, 1) : 0;
    for (int q = 0; q < D; q++) {
      A[r * D + q] = r == q ? c->R[r] : 0;
      for (int k = 0; k < n; k++) A[r * D + q] += c->B[r * n + k] * c->B[q * n + k];
    }
  }
}

// The law holds, whatever multiplier the search starts from; where it has one answer, that is the
// general solver's. (With much friction on long levers there are several.)
static void obeys_the_law(void** state) {
  (void)state;
  tbRng rng = {31};
  int slides = 0, sticks = 0, opens = 0;
  for (int n = 0; n < CASES; n++) {
    tbFreeContact c;
    tbBlock block;
    tbReal A[D * D], b[D], lambda[D], other[D] = {0}, sigma[D], slip = 0, speed = 0;
    make(&rng, &c, &block, A);
    if (!tb_free_contact_reduce(&block, A, &c)) continue;
    for (int r = 0; r < D; r++) {
      b[r] = pow(10, tb_rng_uniform(&rng, -3, 3)) * tb_rng_normal(&rng);
      speed = fmax(speed, fabs(b[r]));
    }
    if (n % 2) c.slip = pow(10, tb_rng_uniform(&rng, -8, 8));
    tb_free_contact_solve(&c, b, lambda);
    velocity(A, b, lambda, sigma);
    tbResidual law = residual_of(&block, lambda, sigma);
    tbReal load = fmax(lambda[0], fmax(fabs(lambda[1]), fabs(lambda[2])));
    assert_true(law.primal <= 1e-12 * load);
    assert_true(law.dual <= 1e-7 * speed);
    assert_true(law.complementarity <= 1e-7 * speed * load);
    opens += lambda[0] == 0;
    sticks += lambda[0] > 0 && hypot(sigma[1], sigma[2]) <= 1e-10 * speed;
    slides += lambda[0] > 0 && hypot(sigma[1], sigma[2]) > 1e-10 * speed;
    // Less friction than any lever arm could turn into normal impulse: a contraction.
    tbReal h = fmax(fabs(A[1]), fabs(A[2])) / A[0], mu = fmax(block.mu[0], block.mu[1]);
    if (h * mu > 0.3) continue;
    tb_local_solve(&block, TB_LAW_NCP, A, b, other, &slip);
    for (int r = 0; r < D; r++) assert_near(lambda[r], other[r], 1e-6 * load);
  }
  assert_true(slides > CASES / 10 && sticks > CASES / 50 && opens > CASES / 10);
}

// A solved contact holds; one that is not holds as the residual function says.
static void holds_as_the_residual_says(void** state) {
  (void)state;
  tbRng rng = {32};
  int held = 0;
  for (int n = 0; n < CASES; n++) {
    tbFreeContact c;
    tbBlock block;
    tbReal A[D * D], b[D], lambda[D], sigma[D];
    make(&rng, &c, &block, A);
    if (!tb_free_contact_reduce(&block, A, &c)) continue;
    for (int r = 0; r < D; r++) b[r] = tb_rng_normal(&rng);
    tb_free_contact_solve(&c, b, lambda);
    tbReal away = pow(10, tb_rng_uniform(&rng, -8, 0)), most = pow(10, tb_rng_uniform(&rng, -8, 0));
    for (int r = 0; r < D; r++) b[r] += away * tb_rng_normal(&rng);
    velocity(A, b, lambda, sigma);
    tbResidual law = residual_of(&block, lambda, sigma);
    tbReal load = lambda[0] * pow(10, tb_rng_uniform(&rng, -2, 2));
    tbReal off = fmax(-sigma[0], load > 0 ? law.complementarity / load : 0);
    if (fabs(off - most) < 1e-9 * (most + 1)) continue;
    bool holds = tb_free_contact_holds(&c, lambda, sigma, most, load);
    assert_int_equal(holds, off <= most);
    held += holds;
  }
  assert_true(held > CASES / 5 && held < CASES - CASES / 5);
}

// What is pushed is what the velocity then shows.
static void moves_its_bodies(void** state) {
  (void)state;
  tbRng rng = {33};
  for (int n = 0; n < CASES / 10; n++) {
    tbFreeContact c;
    tbBlock block;
    tbReal A[D * D], w[TB_PAIR_DOFS], lambda[D] = {0}, sigma[D], speed = 0;
    make(&rng, &c, &block, A);
    if (!tb_free_contact_reduce(&block, A, &c)) continue;
    for (int k = 0; k < TB_PAIR_DOFS; k++) w[k] = tb_rng_normal(&rng);
    for (int r = 0; r < D; r++) c.g[r] = tb_rng_normal(&rng);
    tb_free_contact_velocity(&c, w, lambda, sigma);
    for (int r = 0; r < D; r++) speed = fmax(speed, fabs(sigma[r]));
    assert_false(tb_free_contact_move(&c, sigma, false, w, lambda));
    tb_free_contact_velocity(&c, w, lambda, sigma);
    assert_true(tb_free_contact_holds(&c, lambda, sigma, 1e-7 * speed, lambda[0]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obeys_the_law),
      cmocka_unit_test(holds_as_the_residual_says),
      cmocka_unit_test(moves_its_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
