// Contacts on free bodies by themselves, in single precision: their solution against the law and
// against the general local solver, over masses, frictions and lever arms of many decades; small
// changes of large impulses; their stop test against the residual function; over-relaxation within
// the cone; lanes that do not depend on each other.
#include "common/test.h"
#include "problem/cone.h"
#include "solvers/gauss_seidel/free_body_lanes.h"
#include "solvers/local/local.h"

enum { D = TB_CONTACT_ROWS, LANES = TB_FREE_LANES, CASES = 5000 };

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

// Four contacts as a sweep looks at them: at velocities b without their own impulses.
typedef struct {
  tbFreeContact contact[LANES];
  tbBlock block[LANES];
  tbReal A[LANES][D * D], b[LANES][D], lambda[LANES][D], sigma[LANES][D];
  tbFreeLook look;
  tbFreeMove move;
} Four;

// Rows on one body or two, with the impulses that the bodies feel as velocities.
static void make(tbRng* rng, tbFreeContact* c, tbBlock* block, tbReal* A) {
  tbReal B[D * TB_PAIR_DOFS], R[D];
  int bodies = 1 + tb_rng_int(rng, 2);
  bool known = false;
  while (!known) {
    tbReal size = pow(10, tb_rng_uniform(rng, -3, 3));
    *block = (tbBlock){.type = TB_BLOCK_CONE, .dim = D};
    for (int i = 0; i < 2; i++) block->mu[i] = pow(10, tb_rng_uniform(rng, -3, 1));
    for (int k = 0; k < D * TB_PAIR_DOFS; k++) B[k] = size * tb_rng_normal(rng);
    for (int r = 0; r < D; r++) {
      R[r] = tb_rng_int(rng, 3) == 0 ? size * size * tb_rng_uniform(rng, 0, 1) : 0;
    }
    tb_free_body_contact_square(bodies, B, R, A);
    tb_free_body_contact_rows(bodies, block->mu, B, R, 1, c);
    known = tb_free_body_contact_reduce(block->mu, A, c);
  }
}

static void look(Four* f) {
  for (int l = 0; l < LANES; l++) {
    velocity(f->A[l], f->b[l], f->lambda[l], f->sigma[l]);
    for (int r = 0; r < D; r++) {
      tbReal mu = r == 0 ? 1 : f->block[l].mu[r - 1];
      f->look.sigma[r][l] = (float)(mu * f->sigma[l][r]);
      f->look.lambda[r][l] = (float)(f->lambda[l][r] / mu);
    }
    for (int k = 0; k < LANES; k++) {
      f->move.normal[k][l] = f->contact[l].normal[k];
      f->move.S[k][l] = f->contact[l].S[k];
      f->move.last[k][l] = f->contact[l].last[k];
    }
  }
}

static void make_four(tbRng* rng, Four* f, bool far) {
  for (int l = 0; l < LANES; l++) {
    make(rng, &f->contact[l], &f->block[l], f->A[l]);
    for (int r = 0; r < D; r++) {
      f->b[l][r] = (far ? pow(10, tb_rng_uniform(rng, -3, 3)) : 1) * tb_rng_normal(rng);
      f->lambda[l][r] = 0;
    }
    // From other impulses, too, whatever multiplier the search starts from.
    if (l % 2) f->contact[l].normal[D] = (float)pow(10, tb_rng_uniform(rng, -8, 8));
    if (l % 2) f->lambda[l][0] = tb_rng_uniform(rng, 0, 1) * fabs(f->b[l][0]) / f->A[l][0];
  }
  look(f);
}

// Solves the four contacts at their velocities; the next search starts from this multiplier.
static void go(Four* f) {
  tb_free_solve(&f->look, &f->move);
  for (int l = 0; l < LANES; l++) f->contact[l].normal[D] = f->move.normal[D][l];
}

static void take(Four* f) {
  for (int l = 0; l < LANES; l++) {
    for (int r = 0; r < D; r++) {
      tbReal mu = r == 0 ? 1 : f->block[l].mu[r - 1];
      f->lambda[l][r] += mu * f->move.change[r][l];
    }
  }
}

static tbReal largest(const tbReal* x) {
  return fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
}

// The law holds after a solution or two from where the first one ended; where it has one answer,
// that is the general solver's. (With much friction on long levers there are several.)
static void obeys_the_law(void** state) {
  (void)state;
  tbRng rng = {31};
  int slides = 0, sticks = 0, opens = 0, lost = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    make_four(&rng, &f, true);
    for (int k = 0; k < 3; k++) {
      look(&f);
      go(&f);
      take(&f);
    }
    look(&f);
    for (int l = 0; l < LANES; l++) {
      const tbReal *A = f.A[l], *b = f.b[l], *lambda = f.lambda[l], *sigma = f.sigma[l];
      tbReal other[D] = {0}, slip = 0, speed = largest(b), load = largest(lambda);
      tbResidual law = residual_of(&f.block[l], lambda, sigma);
      bool holds = law.primal <= 2e-6 * load && law.dual <= 2e-6 * speed &&
                   law.complementarity <= 2e-6 * speed * load;
      lost += !holds;
      if (!holds) continue;
      tbReal slow = 1e-5 * speed;
      opens += lambda[0] == 0;
      sticks += lambda[0] > 0 && hypot(sigma[1], sigma[2]) <= slow;
      slides += lambda[0] > 0 && hypot(sigma[1], sigma[2]) > slow;
      // Less friction than any lever arm could turn into normal impulse: a contraction.
      tbReal h = fmax(fabs(A[1]), fabs(A[2])) / A[0];
      if (h * fmax(f.block[l].mu[0], f.block[l].mu[1]) > 0.3) continue;
      tb_local_solve(&f.block[l], TB_LAW_NCP, A, b, other, &slip);
      for (int r = 0; r < D; r++) assert_near(lambda[r], other[r], 1e-4 * load);
    }
  }
  print_message("%d slide, %d stick, %d open, %d of %d lost\n", slides, sticks, opens, lost,
                LANES * CASES);
  assert_true(slides > CASES / 4 && sticks > CASES / 50 && opens > CASES / 4);
  assert_true(lost < LANES * CASES / 50);
}

// Impulses that carry many times what velocities ask for are changed as exactly as small ones.
static void small_changes_are_exact(void** state) {
  (void)state;
  tbRng rng = {36};
  int sticks = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    make_four(&rng, &f, false);
    for (int l = 0; l < LANES; l++) {
      f.lambda[l][0] = 1e5 / f.A[l][0];
      for (int r = 0; r < D; r++) {
        for (int c = 0; c < D; c++) f.b[l][r] -= f.A[l][r * D + c] * f.lambda[l][c];
      }
    }
    look(&f);
    tbReal before[LANES];
    for (int l = 0; l < LANES; l++) before[l] = largest(f.sigma[l]);
    for (int k = 0; k < 2; k++) {
      go(&f);
      take(&f);
      look(&f);
    }
    for (int l = 0; l < LANES; l++) {
      tbReal tail = hypot(f.lambda[l][1] / f.block[l].mu[0], f.lambda[l][2] / f.block[l].mu[1]);
      if (tail > 0.9 * f.lambda[l][0]) continue;
      assert_true(largest(f.sigma[l]) <= 1e-6 * before[l]);
      sticks++;
    }
  }
  assert_true(sticks > CASES);
}

// A solved contact holds; one that is not holds as the residual function says.
static void holds_as_the_residual_says(void** state) {
  (void)state;
  tbRng rng = {32};
  int held = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    make_four(&rng, &f, false);
    go(&f);
    take(&f);
    tbReal away = pow(10, tb_rng_uniform(&rng, -6, 0)), most = pow(10, tb_rng_uniform(&rng, -5, 0));
    tbReal load = fmax(f.lambda[0][0], 1) * pow(10, tb_rng_uniform(&rng, -2, 2));
    for (int l = 0; l < LANES; l++) {
      tb_block_project(&f.block[l], TB_LAW_NCP, f.lambda[l], f.lambda[l]);
      for (int r = 0; r < D; r++) f.b[l][r] += away * tb_rng_normal(&rng);
    }
    look(&f);
    tbMask misses = tb_free_unconverged(&f.look, (float)most, (float)load);
    for (int l = 0; l < LANES; l++) {
      tbResidual law = residual_of(&f.block[l], f.lambda[l], f.sigma[l]);
      tbReal off = fmax(-f.sigma[l][0], law.complementarity / load);
      tbReal power = largest(f.sigma[l]) * largest(f.lambda[l]) / load;
      if (fabs(off - most) < 1e-5 * (most + 1 + power)) continue;
      assert_int_equal(misses[l] == 0, off <= most);
      held += misses[l] == 0;
    }
  }
  assert_true(held > CASES / 5 && held < LANES * CASES - CASES / 5);
}

// Farther only along the last change, by less than it, and within the cone; half of the way where
// the last one is gone back on.
static void relaxes_within_the_cone(void** state) {
  (void)state;
  tbRng rng = {34};
  int farther = 0, back = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    tbMask far = {0, -1, -1, -1};
    make_four(&rng, &f, false);
    go(&f);
    tbFreeMove plain = f.move;
    for (int l = 0; l < LANES; l++) {
      float share = n % 3 == 0 ? -1.5f : 1.5f;
      for (int r = 0; r < D; r++) {
        float other = (l > 2) * (float)tb_rng_normal(&rng);
        f.move.last[r][l] = share * plain.change[r][l] + other;
      }
    }
    tbFreeMove move = f.move;
    tb_free_relax(&f.look, far, &move);
    for (int l = 0; l < LANES; l++) {
      float lambda[D], whole[D], load = 0, along = 0;
      for (int r = 0; r < D; r++) {
        whole[r] = f.look.lambda[r][l] + plain.change[r][l];
        lambda[r] = f.look.lambda[r][l] + move.change[r][l];
        load = fmaxf(load, fmaxf(fabsf(lambda[r]), fabsf(f.look.lambda[r][l])));
        along += plain.change[r][l] * f.move.last[r][l];
        assert_true(move.last[r][l] == (far[l] ? plain.change[r][l] : f.move.last[r][l]));
        if (move.again[l] == 0) assert_true(move.change[r][l] == plain.change[r][l]);
      }
      if (l == 0) assert_true(move.again[l] == 0 || along < 0);
      if (move.again[l] == 0) continue;
      // As far as the solution is.
      float out = fmaxf(0, hypotf(whole[1], whole[2]) - whole[0]);
      assert_true(hypotf(lambda[1], lambda[2]) <= lambda[0] + out + 1e-6f * load);
      float part = along < 0 ? 0.5f : 1.8f;
      assert_near(move.change[0][l], part * plain.change[0][l], 1e-6f * load);
      farther += along > 0;
      back += along < 0;
    }
  }
  assert_true(farther > CASES / 5 && back > CASES / 5);
}

// The result of a lane does not depend on the others; NaN stays NaN.
static void lanes_are_alone(void** state) {
  (void)state;
  tbRng rng = {35};
  for (int n = 0; n < CASES; n++) {
    Four f, one;
    tbMask far = {-1, -1, -1, -1};
    make_four(&rng, &f, n % 2);
    tbFreeMove move = f.move;
    tb_free_solve(&f.look, &move);
    tb_free_relax(&f.look, far, &move);
    int at = tb_rng_int(&rng, LANES), bad = (at + 1) % LANES;
    one = f;
    for (int l = 0; l < LANES; l++) {
      for (int k = 0; k < LANES; k++) {
        one.move.normal[k][l] = f.move.normal[k][at];
        one.move.S[k][l] = f.move.S[k][at];
        one.move.last[k][l] = f.move.last[k][at];
      }
      for (int r = 0; r < D; r++) {
        one.look.sigma[r][l] = l == bad ? NAN : f.look.sigma[r][at];
        one.look.lambda[r][l] = f.look.lambda[r][at];
      }
    }
    tb_free_solve(&one.look, &one.move);
    tb_free_relax(&one.look, far, &one.move);
    assert_true(one.move.again[at] == move.again[at]);
    assert_true(one.move.normal[D][at] == move.normal[D][at]);
    for (int r = 0; r < D; r++) {
      assert_true(one.move.change[r][at] == move.change[r][at]);
      assert_true(one.move.change[r][bad] == 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obeys_the_law),
      cmocka_unit_test(small_changes_are_exact),
      cmocka_unit_test(holds_as_the_residual_says),
      cmocka_unit_test(relaxes_within_the_cone),
      cmocka_unit_test(lanes_are_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
