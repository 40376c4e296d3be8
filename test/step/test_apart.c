// Islands without the contacts that open: which ones are left out, what the parts are (against
// labels that spread from member to member until nothing changes), that impulses come back to their
// rows; and heaps, whose steps must satisfy the law as a whole whatever was left out at first.
#include "common/test.h"
#include "step/apart.h"
#include "tribo/tribo.h"

enum { TREES = 24, MEMBERS = 60, ROWS = 3 * MEMBERS };

// Contacts of three rows between trees of one dof each.
typedef struct {
  tbModel m;
  int tree[TREES], col[MEMBERS][2], member[MEMBERS];
  tbConstraint list[MEMBERS];
  tbConstraints constraints;
  tbBlock block[MEMBERS];
  tbReal g[ROWS], R[ROWS], rho[ROWS], lambda[ROWS], sigma[ROWS], rest[ROWS];
  tbIsland island;
} Case;

// Contacts `count`; contact k is of trees a[k] and b[k].
static void make_case(Case* c, int count, const int* a, const int* b) {
  memset(c, 0, sizeof *c);
  for (int t = 0; t < TREES; t++) c->tree[t] = t;
  c->m.ntree = c->m.nv = TREES;
  c->m.dof_treeid = c->tree;
  for (int k = 0; k < count; k++) {
    c->col[k][0] = a[k];
    c->col[k][1] = b[k];
    c->list[k] = (tbConstraint){.row = 3 * k, .dim = 3, .nnz = a[k] == b[k] ? 1 : 2};
    c->list[k].col = c->col[k];
    c->member[k] = k;
    c->block[k] = (tbBlock){.type = TB_BLOCK_CONE, .row = 3 * k, .dim = 3, .mu = {0.5, 0.5}};
  }
  for (int r = 0; r < 3 * count; r++) {
    c->g[r] = -1 - 0.001 * r;
    c->R[r] = 1e-6 * r;
    c->rho[r] = 1;
    c->lambda[r] = 1 + r;
    c->sigma[r] = 0.01 * r;
  }
  c->constraints = (tbConstraints){.count = count, .nrow = 3 * count, .list = c->list};
  c->island = (tbIsland){.nmember = count, .member = c->member, .g = c->g, .R = c->R};
  c->island.rho = c->rho;
  c->island.lambda = c->lambda;
  c->island.rest = c->rest;
  c->island.problem = (tbProblem){
      .n = 3 * count, .nblock = count, .block = c->block, .g = c->g, .R = c->R, .dt = 0.002};
}

// A contact that comes apart at 1 m/s.
static void open_contact(Case* c, int k) {
  c->lambda[3 * k] = 0.1;
  c->sigma[3 * k] = 1.1;
}

// A chain that one open contact cuts in two, and that closes again.
static void test_chain(void** state) {
  (void)state;
  static Case c;
  static const int a[] = {0, 1, 2, 3, 4}, b[] = {1, 2, 3, 4, 5};
  tbArena arena;
  tb_arena_init(&arena);
  make_case(&c, 5, a, b);
  open_contact(&c, 2);
  tbApart apart;
  assert_true(tb_apart_open(&apart, &arena, &c.island, c.sigma));
  for (int r = 6; r < 9; r++) assert_true(c.lambda[r] == 0);
  assert_true(c.lambda[5] == 6 && c.lambda[9] == 10);
  assert_true(tb_apart_divide(&apart, &arena, &c.m, &c.constraints, c.sigma));
  assert_int_equal(apart.parts.count, 2);
  for (int i = 0; i < 2; i++) {
    const tbIsland* part = &apart.parts.island[i];
    assert_int_equal(part->nmember, 2);
    assert_int_equal(part->problem.n, 6);
    for (int k = 0; k < 2; k++) assert_int_equal(part->member[k], 3 * i + k);
    for (int r = 0; r < 6; r++) {
      assert_true(part->g[r] == c.g[9 * i + r] && part->R[r] == c.R[9 * i + r]);
      assert_true(part->sigma[r] == c.sigma[9 * i + r]);
    }
  }
  // The part with the smaller velocities is judged by the whole's.
  assert_true(tb_apart_ease(&apart, &apart.parts.island[1]) == 1);
  for (int r = 0; r < 6; r++) apart.parts.island[0].g[r] *= 0.2;
  assert_in_range((int)(100 * tb_apart_ease(&apart, &apart.parts.island[0])), 390, 420);
  // A velocity of its answer that closes the contact.
  assert_false(tb_apart_close(&apart, c.sigma));
  c.sigma[6] = -1e-9;
  assert_true(tb_apart_close(&apart, c.sigma));
  assert_true(tb_apart_divide(&apart, &arena, &c.m, &c.constraints, c.sigma));
  assert_int_equal(apart.parts.count, 1);
  assert_int_equal(apart.parts.island[0].nmember, 5);
  tb_arena_free(&arena);
}

// Labels that spread until nothing changes: the slow way to the parts.
static void spread_labels(const Case* c, const char* closed, int count, int* label) {
  for (int k = 0; k < count; k++) label[k] = closed[k] ? k : -1;
  for (bool again = true; again;) {
    again = false;
    for (int k = 0; k < count; k++) {
      for (int j = 0; j < count; j++) {
        bool meet = false;
        for (int e = 0; e < c->list[k].nnz; e++) {
          for (int f = 0; f < c->list[j].nnz; f++) meet |= c->col[k][e] == c->col[j][f];
        }
        if (!meet || label[k] < 0 || label[j] <= label[k]) continue;
        label[j] = label[k];
        again = true;
      }
    }
  }
}

static void test_random(void** state) {
  (void)state;
  static Case c;
  tbRng rng = {5};
  tbArena arena;
  tb_arena_init(&arena);
  for (int trial = 0; trial < 400; trial++) {
    int a[MEMBERS], b[MEMBERS], label[MEMBERS], count = 1 + tb_rng_int(&rng, MEMBERS);
    for (int k = 0; k < count; k++) {
      int x = tb_rng_int(&rng, TREES), y = tb_rng_int(&rng, TREES);
      a[k] = x < y ? x : y;
      b[k] = x < y ? y : x;
    }
    make_case(&c, count, a, b);
    for (int k = 0; k < count; k++) {
      if (tb_rng_int(&rng, 2)) open_contact(&c, k);
    }
    tbApart apart;
    assert_true(tb_apart_open(&apart, &arena, &c.island, c.sigma));
    assert_true(tb_apart_divide(&apart, &arena, &c.m, &c.constraints, c.sigma));
    spread_labels(&c, apart.closed, count, label);
    int members = 0;
    for (int i = 0; i < apart.parts.count; i++) members += apart.parts.island[i].nmember;
    for (int k = 0; k < count; k++) {
      members -= apart.closed[k];
      assert_int_equal(apart.part[k] < 0, label[k] < 0);
      for (int j = 0; j < count; j++) {
        assert_int_equal(apart.part[k] == apart.part[j], label[k] == label[j]);
      }
    }
    assert_int_equal(members, 0);
    // What is found in the parts comes back to the rows of the island.
    for (int i = 0; i < apart.parts.count; i++) {
      tbIsland* part = &apart.parts.island[i];
      for (int r = 0; r < part->problem.n; r++) {
        part->rest[r] = -part->lambda[r];
        part->lambda[r] *= 2;
      }
    }
    tbReal before[ROWS];
    memcpy(before, c.lambda, sizeof before);
    tb_apart_collect(&apart, &c.island);
    for (int r = 0; r < 3 * count; r++) {
      assert_true(c.lambda[r] == 2 * before[r]);
      assert_true(c.rest[r] == -before[r]);
    }
    tb_arena_reset(&arena);
  }
  tb_arena_free(&arena);
}

// A heap of boxes and balls that falls on a floor.
static tbModel* heap_new(int side) {
  size_t size = 200 + 300 * (size_t)(side * side * side), at = 0;
  char* text = malloc(size);
  assert_non_null(text);
  at += (size_t)snprintf(text, size,
                         "<mujoco><option timestep='0.002'/><worldbody>"
                         "<geom type='plane' size='5 5 1'/>");
  for (int i = 0; i < side * side * side; i++) {
    int x = i % side, y = i / side % side, z = i / side / side;
    const char* geom = i % 3 ? "type='box' size='.04 .035 .045'" : "type='sphere' size='.04'";
    at += (size_t)snprintf(text + at, size - at,
                           "<body pos='%g %g %g' euler='%d %d 0'><freejoint/><geom %s mass='%d'/>"
                           "</body>",
                           0.14 * x, 0.14 * y, 0.1 + 0.14 * z, 37 * i, 61 * i, geom, 1 + i % 5);
  }
  snprintf(text + at, size - at, "</worldbody></mujoco>");
  tbError error;
  tbModel* m = tb_load_string(text, NULL, NULL, &error);
  if (!m) print_error("%s\n", error.message);
  free(text);
  assert_non_null(m);
  return m;
}

// The step's own problem, all contacts in it, is solved by the forces that the step reports.
static void test_heap(void** state) {
  (void)state;
  tbModel* m = heap_new(4);
  m->opt.law = TB_LAW_NCP;
  tbData* d = tb_data_new(m);
  assert_non_null(d);
  int failed = 0, most = 0, opened = 0;
  for (int i = 0; i < 250; i++) {
    assert_int_equal(tb_step(m, d), TB_OK);
    failed += d->solve.status != TB_SOLVE_CONVERGED;
    most = d->ncon > most ? d->ncon : most;
    for (int k = 0; k < d->ncon; k++) opened += d->contact[k].force[0] == 0;
    for (int k = 0; k < d->ncon; k++) assert_true(d->contact[k].dist > -1e-3);
    if (d->solve.status == TB_SOLVE_CONVERGED)
      assert_true(d->solve.residual_exact.relative <= 1.001e-6);
  }
  // The heap is large enough for what is tested, contacts open, and nearly all steps converge.
  assert_true(most > 110);
  assert_true(opened > 500);
  assert_in_range(failed, 0, 10);
  tb_data_free(d);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
