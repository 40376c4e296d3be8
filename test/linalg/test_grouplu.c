// LU with groups of low rank: against the residual of the full system, with large and tiny C, and
// against the plain LU.
#include "common/test.h"
#include "linalg/grouplu.h"

enum { GROUPS = 60, MEMBERS = 8, DIM = 3, RANK = 6, NODES = GROUPS * MEMBERS, N = NODES * DIM };

typedef struct {
  int dim[NODES], row[NODES + 1], start[NODES + 1], column[NODES * 3 * MEMBERS],
      offset[NODES * 3 * MEMBERS];
  tbReal value[NODES * 3 * MEMBERS * DIM * DIM];
  tbReal C[NODES * DIM * DIM], inverse[NODES * DIM * DIM];
} Chain;

// Contacts of neighbouring pairs in a chain of bodies: G = B A B^T, A block tridiagonal, B random
// (3 x 6 a contact). The rank of NONE, ALL or EVERY_OTHER of the groups is full, by a ridge on G's
// diagonal.
enum { NONE, ALL, EVERY_OTHER };

static Chain* make_chain(tbRng* rng, int full) {
  Chain* s = calloc(1, sizeof *s);
  tbReal(*B)[DIM][RANK] = calloc(NODES, sizeof *B);
  for (int i = 0; i < NODES; i++) {
    for (int r = 0; r < DIM; r++) {
      for (int k = 0; k < RANK; k++) B[i][r][k] = tb_rng_normal(rng);
    }
  }
  int entries = 0, values = 0;
  for (int i = 0; i < NODES; i++) {
    s->dim[i] = DIM;
    s->row[i + 1] = s->row[i] + DIM;
    for (int j = 0; j < NODES; j++) {
      int apart = abs(i / MEMBERS - j / MEMBERS);
      if (apart > 1) continue;
      s->column[entries] = j;
      s->offset[entries++] = values;
      for (int r = 0; r < DIM; r++) {
        for (int c = 0; c < DIM; c++) {
          bool ridge = full == ALL || (full == EVERY_OTHER && i / MEMBERS % 2);
          tbReal sum = ridge && i == j && r == c ? 1 : 0;
          for (int k = 0; k < RANK; k++) sum += (apart ? -0.45 : 1) * B[i][r][k] * B[j][c][k];
          s->value[values++] = sum;
        }
      }
    }
    s->start[i + 1] = entries;
  }
  free(B);
  return s;
}

// Diagonal C from `low` to 1, with a skew part of the same size.
static void set_C(tbRng* rng, Chain* s, tbReal low) {
  for (int i = 0; i < NODES; i++) {
    tbReal c = pow(low, tb_rng_uniform(rng, 0, 1)), skew = 0.5 * c;
    tbReal *C = s->C + 9 * i, *inverse = s->inverse + 9 * i, det = c * c + skew * skew;
    memset(C, 0, 9 * sizeof *C);
    memset(inverse, 0, 9 * sizeof *C);
    C[0] = C[4] = C[8] = c;
    C[1] = -skew;
    C[3] = skew;
    inverse[0] = inverse[4] = c / det;
    inverse[1] = skew / det;
    inverse[3] = -skew / det;
    inverse[8] = 1 / c;
  }
}

// The largest entry of b - (G + C) x.
static tbReal error_of(const Chain* s, const tbReal* b, const tbReal* x) {
  tbReal worst = 0;
  for (int i = 0; i < NODES; i++) {
    for (int r = 0; r < DIM; r++) {
      tbReal sum = b[3 * i + r];
      for (int c = 0; c < DIM; c++) sum -= s->C[9 * i + 3 * r + c] * x[3 * i + c];
      for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        for (int c = 0; c < DIM; c++) {
          sum -= s->value[s->offset[k] + 3 * r + c] * x[3 * s->column[k] + c];
        }
      }
      worst = fmax(worst, fabs(sum));
    }
  }
  return worst;
}

// Contacts in files differ a little in their points on the two bodies: J_i = [-B_i, B_i + noise].
// The groups of J J^T are redundant up to noise^2, their couplings up to noise only.
static Chain* make_noisy_chain(tbRng* rng, tbReal noise) {
  Chain* s = calloc(1, sizeof *s);
  tbReal(*B)[2][DIM][RANK] = calloc(NODES, sizeof *B);
  for (int k = 0; k < NODES * DIM * RANK; k++) {
    int i = k / (DIM * RANK), r = k / RANK % DIM, c = k % RANK;
    B[i][0][r][c] = tb_rng_normal(rng);
    B[i][1][r][c] = -B[i][0][r][c] + noise * tb_rng_normal(rng);
  }
  int entries = 0, values = 0;
  for (int i = 0; i < NODES; i++) {
    s->dim[i] = DIM;
    s->row[i + 1] = s->row[i] + DIM;
    for (int j = 0; j < NODES; j++) {
      int group = i / MEMBERS, apart = j / MEMBERS - group;
      if (abs(apart) > 1) continue;
      s->column[entries] = j;
      s->offset[entries++] = values;
      for (int r = 0; r < DIM; r++) {
        for (int c = 0; c < DIM; c++) {
          tbReal sum = 0;
          for (int k = 0; k < RANK; k++) {
            // Side 1 of a group meets side 0 of the next.
            if (apart == 0) sum += B[i][0][r][k] * B[j][0][c][k] + B[i][1][r][k] * B[j][1][c][k];
            if (apart == 1) sum += B[i][1][r][k] * B[j][0][c][k];
            if (apart == -1) sum += B[i][0][r][k] * B[j][1][c][k];
          }
          s->value[values++] = sum;
        }
      }
    }
    s->start[i + 1] = entries;
  }
  free(B);
  return s;
}

static void refines(void** state) {
  (void)state;
  tbRng rng = {4};
  Chain* s = make_noisy_chain(&rng, 1e-8);
  tbBlockPattern p = {NODES, s->dim, s->row, s->start, s->column, s->offset};
  tbArena arena;
  tbGroupLu lu;
  tb_arena_init(&arena);
  assert_true(tb_group_lu_analyze(&lu, &arena, &p, s->value, NULL));
  assert_true(lu.any);
  set_C(&rng, s, 1e-4);
  tb_group_lu_factor(&lu, s->value, s->C, s->inverse, 0);
  tbReal *b = calloc(N, sizeof *b), *x = calloc(N, sizeof *x), error[2];
  for (int i = 0; i < N; i++) b[i] = tb_rng_normal(&rng);
  for (int k = 0; k < 2; k++) {
    memcpy(x, b, N * sizeof *x);
    tb_group_lu_solve(&lu, 3 * k, x);
    error[k] = error_of(s, b, x);
  }
  // The reduced system alone knows G to the noise; refinement with the true G gives the rest.
  assert_true(error[0] > 1e-6);
  assert_true(error[1] < 1e-9);
  free(b);
  free(x);
  tb_arena_free(&arena);
  free(s);
}

static void solves(void** state) {
  (void)state;
  tbRng rng = {3};
  const int size_of[] = {GROUPS * RANK, N, GROUPS / 2 * (RANK + MEMBERS * DIM)};
  for (int full = NONE; full <= EVERY_OTHER; full++) {
    Chain* s = make_chain(&rng, full);
    tbBlockPattern p = {NODES, s->dim, s->row, s->start, s->column, s->offset};
    tbArena arena;
    tbGroupLu lu;
    tb_arena_init(&arena);
    assert_true(tb_group_lu_analyze(&lu, &arena, &p, s->value, NULL));
    // The redundancy is found where it is, and makes the factors much smaller.
    assert_int_equal(lu.any, full != ALL);
    assert_int_equal(lu.lu.size, size_of[full]);
    size_t allocations = arena.allocations;
    for (int k = 0; k < 6; k++) {
      tbReal *b = calloc(N, sizeof *b), *x = calloc(N, sizeof *x), low = pow(10, -2 * k);
      for (int i = 0; i < N; i++) x[i] = b[i] = tb_rng_normal(&rng);
      set_C(&rng, s, low);
      tb_group_lu_factor(&lu, s->value, s->C, s->inverse, 0);
      tb_group_lu_solve(&lu, 3, x);
      tbReal size = 0;
      for (int i = 0; i < N; i++) size = fmax(size, fabs(x[i]));
      if (!(error_of(s, b, x) <= 1e-13 * fmax(size, 1) + 1e-10)) {
        fail_msg("full %d, C from %g: %g of %g", full, low, error_of(s, b, x), size);
      }
      free(b);
      free(x);
    }
    assert_int_equal(arena.allocations, allocations);
    // Nodes that are to be kept are.
    bool* keep = calloc(NODES, sizeof *keep);
    for (int i = 0; i < NODES; i++) keep[i] = true;
    assert_true(tb_group_lu_analyze(&lu, &arena, &p, s->value, keep));
    assert_false(lu.any);
    free(keep);
    tb_arena_free(&arena);
    free(s);
  }
}

// Groups are the nodes with the same neighbours, and their graph is that of any of their members,
// by a matrix instead of lists.
static void groups_are_twins(void** state) {
  (void)state;
  enum { MOST = 40 };
  tbRng rng = {7};
  for (int trial = 0; trial < 300; trial++) {
    int n = 2 + tb_rng_int(&rng, MOST - 1), edges = 0;
    bool next[MOST][MOST] = {{false}};
    int dim[MOST], row[MOST + 1] = {0}, start[MOST + 1] = {0}, column[MOST * MOST];
    for (int i = 0; i < n; i++) {
      next[i][i] = true;
      // A path, sparse or dense graphs, and twins: a node with the neighbours of the one before.
      for (int j = 0; j < i; j++) {
        next[i][j] = trial % 3 == 0 ? j == i - 1 : tb_rng_int(&rng, trial % 3 == 1 ? n : 3) == 0;
      }
      bool twin = i > 0 && trial % 3 && tb_rng_int(&rng, 3) == 0;
      for (int j = 0; twin && j < i; j++) next[i][j] = next[i - 1][j];
      for (int j = 0; j < i; j++) next[j][i] = next[i][j];
    }
    for (int i = 0; i < n; i++) {
      dim[i] = 1 + i % 3;
      row[i + 1] = row[i] + dim[i];
      for (int j = 0; j < n; j++) {
        if (next[i][j]) column[edges++] = j;
      }
      start[i + 1] = edges;
    }
    tbBlockPattern p = {n, dim, row, start, column, NULL};
    tbArena arena;
    tbBlockGroups g;
    tb_arena_init(&arena);
    assert_true(tb_block_groups(&arena, &p, &g));
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        bool same = next[i][j] && memcmp(next[i], next[j], sizeof next[i]) == 0;
        assert_int_equal(g.of[i] == g.of[j], same);
      }
    }
    for (int a = 0; a < g.count; a++) {
      bool listed[MOST] = {false};
      for (int k = g.start[a]; k < g.start[a + 1]; k++) {
        assert_false(listed[g.column[k]]);
        listed[g.column[k]] = true;
      }
      for (int j = 0; j < n; j++) {
        if (g.of[j] == a) continue;
        assert_int_equal(listed[g.of[j]], next[g.member[g.begin[a]]][j]);
      }
    }
    tb_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solves), cmocka_unit_test(refines),
                                     cmocka_unit_test(groups_are_twins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
