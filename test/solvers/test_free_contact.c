// Contacts on free bodies by themselves: their solution against the law and against the general
// local solver, over masses, frictions and lever arms of many decades; their stop test against the
// residual function; over-relaxation within the cone; the same bits in registers of two and four.
#include "common/test.h"
#include "solvers/local.h"

#define LANES 2
#include "solvers/free_lanes.h"
#undef LANES
#define LANES 4
#include "solvers/free_lanes.h"
#undef LANES

enum { D = TB_CONTACT_ROWS, LANES4 = TB_FREE_LANES, CASES = 5000 };

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

// Four contacts as a sweep looks at them: at velocities b without their own impulses.
typedef struct {
  tbFreeContact contact[LANES4];
  tbBlock block[LANES4];
  tbReal A[LANES4][D * D], b[LANES4][D], lambda[LANES4][D];
  tbFreeLook look[LANES4];
  const tbFreeLook* pointer[LANES4];
} Four;

static void look(Four* f) {
  for (int l = 0; l < LANES4; l++) {
    f->look[l].contact = &f->contact[l];
    f->look[l].lambda = f->lambda[l];
    velocity(f->A[l], f->b[l], f->lambda[l], f->look[l].sigma);
    f->pointer[l] = &f->look[l];
  }
}

static void make_four(tbRng* rng, Four* f, bool far) {
  for (int l = 0; l < LANES4; l++) {
    do make(rng, &f->contact[l], &f->block[l], f->A[l]);
    while (!tb_free_contact_reduce(&f->block[l], f->A[l], &f->contact[l]));
    for (int r = 0; r < D; r++) {
      f->b[l][r] = (far ? pow(10, tb_rng_uniform(rng, -3, 3)) : 1) * tb_rng_normal(rng);
      f->lambda[l][r] = 0;
    }
    // From other impulses, too, whatever multiplier the search starts from.
    if (l % 2) f->contact[l].slip = pow(10, tb_rng_uniform(rng, -8, 8));
    if (l % 2) f->lambda[l][0] = tb_rng_uniform(rng, 0, 1) * fabs(f->b[l][0]) / f->A[l][0];
  }
  look(f);
}

static void take(const tbFreeMove* move, int l, tbReal* lambda) {
  for (int r = 0; r < D; r++) lambda[r] = move->lambda[r][l];
}

// The law holds wherever the multiplier is found, which is nearly everywhere; where it has one
// answer, that is the general solver's. (With much friction on long levers there are several.)
static void obeys_the_law(void** state) {
  (void)state;
  tbRng rng = {31};
  int slides = 0, sticks = 0, opens = 0, lost = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    tbFreeMove move;
    make_four(&rng, &f, true);
    solve_4(f.pointer, &move);
    for (int l = 0; l < LANES4; l++) {
      const tbReal *A = f.A[l], *b = f.b[l];
      tbReal lambda[D], other[D] = {0}, sigma[D], slip = 0;
      tbReal speed = fmax(fabs(b[0]), fmax(fabs(b[1]), fabs(b[2])));
      lost += move.found[l] == 0;
      if (move.found[l] == 0) continue;
      take(&move, l, lambda);
      velocity(A, b, lambda, sigma);
      tbResidual law = residual_of(&f.block[l], lambda, sigma);
      tbReal load = fmax(lambda[0], fmax(fabs(lambda[1]), fabs(lambda[2])));
      assert_true(law.primal <= 1e-12 * load);
      assert_true(law.dual <= 1e-7 * speed);
      assert_true(law.complementarity <= 1e-7 * speed * load);
      for (int r = 0; r < D; r++) {
        assert_near(move.change[r][l], lambda[r] - f.lambda[l][r], 1e-12 * load);
      }
      opens += lambda[0] == 0;
      sticks += lambda[0] > 0 && hypot(sigma[1], sigma[2]) <= 1e-10 * speed;
      slides += lambda[0] > 0 && hypot(sigma[1], sigma[2]) > 1e-10 * speed;
      // Less friction than any lever arm could turn into normal impulse: a contraction.
      tbReal h = fmax(fabs(A[1]), fabs(A[2])) / A[0];
      if (h * fmax(f.block[l].mu[0], f.block[l].mu[1]) > 0.3) continue;
      tb_local_solve(&f.block[l], TB_LAW_NCP, A, b, other, &slip);
      for (int r = 0; r < D; r++) assert_near(lambda[r], other[r], 1e-6 * load);
    }
  }
  assert_true(slides > CASES / 4 && sticks > CASES / 50 && opens > CASES / 4);
  assert_true(lost < CASES / 50);
}

// A solved contact holds; one that is not holds as the residual function says.
static void holds_as_the_residual_says(void** state) {
  (void)state;
  tbRng rng = {32};
  int held = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    tbFreeMove move;
    Mask_4 misses;
    make_four(&rng, &f, false);
    solve_4(f.pointer, &move);
    tbReal away = pow(10, tb_rng_uniform(&rng, -8, 0)), most = pow(10, tb_rng_uniform(&rng, -8, 0));
    tbReal load = fmax(move.lambda[0][0], 1) * pow(10, tb_rng_uniform(&rng, -2, 2));
    for (int l = 0; l < LANES4; l++) {
      take(&move, l, f.lambda[l]);
      for (int r = 0; r < D; r++) f.b[l][r] += away * tb_rng_normal(&rng);
    }
    look(&f);
    misses_4(f.pointer, most, load, &misses);
    for (int l = 0; l < LANES4; l++) {
      tbResidual law = residual_of(&f.block[l], f.lambda[l], f.look[l].sigma);
      tbReal off = fmax(-f.look[l].sigma[0], law.complementarity / load);
      if (move.found[l] == 0 || fabs(off - most) < 1e-9 * (most + 1)) continue;
      assert_int_equal(misses[l] == 0, off <= most);
      held += misses[l] == 0;
    }
  }
  assert_true(held > CASES / 5 && held < 4 * CASES - CASES / 5);
}

// Farther only along the last change, by less than it, and within the cone.
static void goes_farther_within_the_cone(void** state) {
  (void)state;
  tbRng rng = {34};
  int farther = 0;
  for (int n = 0; n < CASES; n++) {
    Four f;
    tbFreeMove plain, move;
    Mask_4 far = {0, -1, -1, -1};
    make_four(&rng, &f, false);
    solve_4(f.pointer, &plain);
    for (int l = 0; l < LANES4; l++) {
      for (int r = 0; r < D; r++) {
        f.contact[l].last[r] = 1.5 * plain.change[r][l] + (l > 2) * tb_rng_normal(&rng);
      }
    }
    move = plain;
    relax_4(f.pointer, &far, &move);
    for (int l = 0; l < LANES4; l++) {
      tbReal lambda[D], load = 0;
      if (move.found[l] == 0) continue;
      take(&move, l, lambda);
      for (int r = 0; r < D; r++) {
        load = fmax(load, fabs(lambda[r]));
        assert_near(move.change[r][l], lambda[r] - f.lambda[l][r], 1e-12 * load);
        assert_true(move.last[r][l] == (far[l] ? plain.change[r][l] : f.contact[l].last[r]));
        if (move.farther[l] == 0) assert_true(lambda[r] == plain.lambda[r][l]);
      }
      assert_true(hypot(lambda[1] / f.block[l].mu[0], lambda[2] / f.block[l].mu[1]) <=
                  lambda[0] + 1e-12 * load);
      if (l == 0) assert_true(move.farther[l] == 0);
      if (move.farther[l] == 0) continue;
      assert_near(lambda[0] - plain.lambda[0][l], 0.8 * plain.change[0][l], 1e-12 * load);
      farther++;
    }
  }
  assert_true(farther > CASES / 5);
}

// What a lane computes does not depend on the others, nor on how many they are.
static void widths_agree(void** state) {
  (void)state;
  tbRng rng = {35};
  for (int n = 0; n < CASES; n++) {
    Four f;
    tbFreeMove four, two;
    Mask_4 misses, far = {0, -1, -1, 0};
    make_four(&rng, &f, n % 2);
    misses_4(f.pointer, 0.1, 1, &misses);
    solve_4(f.pointer, &four);
    for (int l = 0; l < LANES4; l++) {
      for (int r = 0; r < D; r++) f.contact[l].last[r] = 2 * four.change[r][l];
    }
    relax_4(f.pointer, &far, &four);
    for (int at = 0; at < LANES4; at += 2) {
      Mask_2 off, some = {far[at], far[at + 1]};
      misses_2(f.pointer + at, 0.1, 1, &off);
      solve_2(f.pointer + at, &two);
      relax_2(f.pointer + at, &some, &two);
      for (int l = 0; l < 2; l++) {
        assert_int_equal(off[l], misses[at + l]);
        assert_true(two.found[l] == four.found[at + l]);
        if (two.found[l] == 0) continue;
        assert_true(two.slip[l] == four.slip[at + l] && two.farther[l] == four.farther[at + l]);
        for (int r = 0; r < D; r++) {
          assert_true(two.lambda[r][l] == four.lambda[r][at + l]);
          assert_true(two.change[r][l] == four.change[r][at + l]);
          assert_true(two.last[r][l] == four.last[r][at + l]);
        }
      }
    }
  }
}

// What is pushed is what the velocity then shows.
static void moves_its_bodies(void** state) {
  (void)state;
  tbRng rng = {33};
  for (int n = 0; n < CASES / 10; n++) {
    tbFreeContact c;
    tbBlock block;
    tbReal A[D * D], w[TB_PAIR_DOFS], lambda[D], change[D], before[D], sigma[D], wanted[D];
    make(&rng, &c, &block, A);
    for (int k = 0; k < TB_PAIR_DOFS; k++) w[k] = tb_rng_normal(&rng);
    for (int r = 0; r < D; r++) {
      c.g[r] = tb_rng_normal(&rng);
      lambda[r] = tb_rng_normal(&rng);
      change[r] = tb_rng_normal(&rng);
    }
    tb_free_contact_velocity(&c, w, lambda, before);
    for (int r = 0; r < D; r++) lambda[r] += change[r];
    tb_free_contact_push(&c, change, w);
    tb_free_contact_velocity(&c, w, lambda, sigma);
    velocity(A, before, change, wanted);
    for (int r = 0; r < D; r++) assert_near(sigma[r], wanted[r], 1e-9 * (1 + A[0] + A[4] + A[8]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obeys_the_law),
      cmocka_unit_test(holds_as_the_residual_says),
      cmocka_unit_test(goes_farther_within_the_cone),
      cmocka_unit_test(widths_agree),
      cmocka_unit_test(moves_its_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
