// The system of Newton's method in velocity space: its dofs, listed at first and finished later,
// its factor against dense elimination, and how many operations that takes.
#include "base/rng.h"
#include "common/test.h"
#include "linalg/dense.h"
#include "operator/velocity_dense.h"

enum { MOST = 60, BLOCKS = 40 };

typedef struct {
  tbArena arena;
  int n, nblock;
  int parent[MOST], adr[MOST], nnz[MOST], col[MOST * MOST], place[MOST];
  tbReal LD[MOST * MOST], inverse[MOST], M[MOST * MOST];
  tbForest forest;
  tbForestInertia inertia;
  tbRows rows[BLOCKS];
  int support[BLOCKS][MOST];
  tbReal J[BLOCKS][6 * MOST], W[BLOCKS][36];
  bool used[MOST];  // by any block
} Case;

// Free bodies, or trees of up to n dofs with branches, and M = L^T D L over them.
static void make_forest(Case* c, tbRng* rng, int n, bool bodies) {
  c->n = n;
  for (int i = 0, entries = 0; i < n; i++) {
    int up = bodies ? (i % 6 == 0 ? -1 : i - 1) : tb_rng_int(rng, 5) == 0 ? -1 : i - 1;
    while (!bodies && up >= 0 && tb_rng_int(rng, 4) == 0) up = c->parent[up];
    c->parent[i] = up;
    c->adr[i] = entries;
    c->nnz[i] = up < 0 ? 1 : c->nnz[up] + 1;
    for (int k = 0; k + 1 < c->nnz[i]; k++) c->col[entries++] = c->col[c->adr[up] + k];
    c->col[entries++] = i;
    c->place[i] = -1;
    for (int k = 0; k < c->nnz[i]; k++) c->LD[c->adr[i] + k] = 0.3 * tb_rng_normal(rng);
    c->LD[entries - 1] = tb_rng_uniform(rng, 0.5, 2);
    c->inverse[i] = 1 / c->LD[entries - 1];
    for (int a = 0; a < c->nnz[i]; a++) {
      for (int b = 0; b < c->nnz[i]; b++) {
        tbReal x = a + 1 == c->nnz[i] ? 1 : c->LD[c->adr[i] + a];
        tbReal y = b + 1 == c->nnz[i] ? 1 : c->LD[c->adr[i] + b];
        c->M[c->col[c->adr[i] + a] * n + c->col[c->adr[i] + b]] += x * y / c->inverse[i];
      }
    }
  }
  c->forest = (tbForest){.n = n, .rowadr = c->adr, .rownnz = c->nnz, .colind = c->col};
  c->inertia = (tbForestInertia){.forest = c->forest, .LD = c->LD, .inverse = c->inverse};
}

// A block that moves the chains of two dofs, with a symmetric positive weight.
static void add_block(Case* c, tbRng* rng, int first, int second, int dim) {
  int i = c->nblock++, nnz = 0;
  bool moves[MOST] = {false};
  for (int k = first; k >= 0; k = c->parent[k]) moves[k] = true;
  for (int k = second; k >= 0; k = c->parent[k]) moves[k] = true;
  for (int k = 0; k < c->n; k++) {
    if (moves[k]) c->support[i][nnz++] = k;
    c->used[k] = c->used[k] || moves[k];
  }
  for (int k = 0; k < dim * nnz; k++) c->J[i][k] = tb_rng_normal(rng);
  for (int r = 0; r < dim; r++) {
    for (int s = 0; s < dim; s++) c->W[i][r * dim + s] = r == s ? tb_rng_uniform(rng, 1, 9) : 0.1;
  }
  c->rows[i] = (tbRows){dim, nnz, c->support[i], c->J[i]};
}

static Case* case_new(tbRng* rng, int trial) {
  Case* c = calloc(1, sizeof *c);
  assert_non_null(c);
  tb_arena_init(&c->arena);
  bool bodies = trial % 3 == 0;
  make_forest(c, rng, bodies ? 6 * (1 + tb_rng_int(rng, MOST / 6)) : 1 + tb_rng_int(rng, MOST),
              bodies);
  for (int k = 1 + tb_rng_int(rng, BLOCKS); k > 0; k--) {
    int first = tb_rng_int(rng, c->n), second = tb_rng_int(rng, c->n);
    if (bodies) {
      first += 5 - first % 6;
      second += 5 - second % 6;
    }
    add_block(c, rng, first, second, bodies ? 3 : 1 + tb_rng_int(rng, 6));
  }
  return c;
}

static void case_free(Case* c) {
  tb_arena_free(&c->arena);
  free(c);
}

// x <- (M + J^T W J)^-1 x by the system, x by dof.
static void solve(Case* c, tbVelocity* system, bool symmetric, tbReal* x) {
  tbReal inside[MOST] = {0};
  tb_velocity_start(system, symmetric);
  for (int i = 0; i < c->nblock; i++) tb_velocity_add(system, i, c->W[i]);
  assert_true(tb_velocity_factor(system));
  for (int k = 0; k < system->size; k++) inside[c->place[system->dof[k]]] = x[system->dof[k]];
  tb_velocity_solve(system, inside);
  for (int k = 0; k < system->size; k++) x[system->dof[k]] = inside[c->place[system->dof[k]]];
}

// The same by dense elimination over all dofs.
static void solve_dense(const Case* c, tbReal* x) {
  tbReal A[MOST * MOST];
  int pivot[MOST], n = c->n;
  memcpy(A, c->M, sizeof A);
  for (int i = 0; i < c->nblock; i++) {
    const tbRows* rows = &c->rows[i];
    for (int r = 0; r < rows->dim * rows->dim; r++) {
      const tbReal* left = rows->J + r / rows->dim * rows->nnz;
      const tbReal* right = rows->J + r % rows->dim * rows->nnz;
      for (int a = 0; a < rows->nnz; a++) {
        for (int b = 0; b < rows->nnz; b++) {
          A[rows->col[a] * n + rows->col[b]] += c->W[i][r] * left[a] * right[b];
        }
      }
    }
  }
  assert_true(tb_lu(n, A, n, pivot));
  tb_lu_solve(n, A, n, pivot, x);
}

// Listed, a system has the dofs of all supports, ascending and in place; nothing of a factor.
static void check_listed(const Case* c, const tbVelocity* system) {
  int size = 0;
  for (int k = 0; k < c->n; k++) {
    if (c->used[k]) assert_int_equal(system->dof[size], k);
    assert_int_equal(c->place[k], c->used[k] ? size : -1);
    size += c->used[k];
  }
  assert_int_equal(system->size, size);
  assert_null(system->rows);
  assert_true(tb_velocity_work(system) > 0);
}

// Listed and finished later, a factor has the bits of one that is built at once, and both are that
// of dense elimination.
static void finished_is_built(void** state) {
  (void)state;
  tbRng rng = {11};
  for (int trial = 0; trial < 300; trial++) {
    Case* c = case_new(&rng, trial);
    tbReal b[MOST] = {0}, x[2][MOST], dense[MOST];
    for (int k = 0; k < c->n; k++) b[k] = c->used[k] ? tb_rng_normal(&rng) : 0;
    tbVelocity system[2];
    double work[2];
    for (int lazy = 0; lazy < 2; lazy++) {
      tbVelocity* s = &system[lazy];
      if (lazy) {
        assert_true(
            tb_velocity_open_rows(s, &c->arena, &c->inertia, c->nblock, c->rows, NULL, c->place));
        check_listed(c, s);
        // M^-1 needs no factor: over the dofs of the system, those outside are zero or gone.
        tbReal listed[MOST] = {0}, whole[MOST];
        memcpy(whole, b, sizeof whole);
        for (int k = 0; k < s->size; k++) listed[k] = b[s->dof[k]];
        tb_velocity_inverse(s, listed);
        tb_ltdl_solve(c->forest, c->LD, c->inverse, whole);
        for (int k = 0; k < s->size; k++) assert_near(listed[k], whole[s->dof[k]], 1e-9);
        assert_true(tb_velocity_analyze(s));
        // A finished assembly stays unchanged.
        const tbNodeRows* rows = s->rows;
        assert_true(tb_velocity_analyze(s) && s->rows == rows);
      } else {
        assert_true(tb_velocity_build(s, &c->arena, &c->inertia, c->nblock, c->rows, c->place));
      }
      work[lazy] = tb_velocity_work(s);
      memcpy(x[lazy], b, sizeof b);
      solve(c, s, trial % 2, x[lazy]);
      tb_velocity_release(s);
      for (int k = 0; k < c->n; k++) assert_int_equal(c->place[k], -1);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_true(work[0] == work[1]);
    memcpy(dense, b, sizeof dense);
    solve_dense(c, dense);
    for (int k = 0; k < c->n; k++) {
      if (c->used[k]) assert_near(x[0][k], dense[k], 1e-7);
    }
    case_free(c);
  }
}

// Every tree of a case, and M as its forest has it.
static void list_trees(Case* c, tbRange* tree, tbReal* M) {
  int count = 0;
  for (int i = 0; i < c->n; i++) {
    if (c->parent[i] < 0) tree[count++].first = i;
    tree[count - 1].end = i + 1;
    for (int k = 0; k < c->nnz[i]; k++) M[c->adr[i] + k] = c->M[i * c->n + c->col[c->adr[i] + k]];
  }
  c->inertia.ntree = count;
  c->inertia.tree = tree;
  c->inertia.M = M;
}

// Dense factors of one dof and more, by weights that are symmetric or not; products with all blocks
// are those with each.
static void dense_factors_agree(void** state) {
  (void)state;
  tbRng rng = {13};
  for (int trial = 0; trial < 300; trial++) {
    Case* c = calloc(1, sizeof *c);
    assert_non_null(c);
    tb_arena_init(&c->arena);
    bool symmetric = trial % 2;
    make_forest(c, &rng, 1 + trial % 11, false);
    for (int i = 1 + tb_rng_int(&rng, 4); i > 0; i--) {
      add_block(c, &rng, tb_rng_int(&rng, c->n), tb_rng_int(&rng, c->n), 1 + tb_rng_int(&rng, 6));
      tbReal* W = c->W[c->nblock - 1];
      int dim = c->rows[c->nblock - 1].dim;
      for (int r = 0; r < dim * dim && !symmetric; r++) W[r] += 0.3 * tb_rng_normal(&rng);
    }
    tbRange tree[MOST];
    tbReal M[MOST * MOST], x[MOST], dense[MOST], f[6 * BLOCKS], all[MOST] = {0}, each[MOST] = {0};
    list_trees(c, tree, M);
    tbVelocity s;
    assert_true(tb_velocity_build_dense(&s, &c->arena, &c->inertia, c->nblock, c->rows, NULL));
    assert_int_equal(s.size, c->n);
    for (int k = 0; k < c->n; k++) x[k] = dense[k] = tb_rng_normal(&rng);
    tb_velocity_start(&s, symmetric);
    for (int i = 0; i < c->nblock; i++) tb_velocity_add(&s, i, c->W[i]);
    assert_true(tb_velocity_factor(&s));
    tb_velocity_solve(&s, x);
    solve_dense(c, dense);
    assert_near_array(x, dense, c->n, 1e-7);

    tb_velocity_mul_all(&s, x, f);
    tb_velocity_apply_transposed_all(&s, f, all);
    for (int i = 0, row = 0; i < c->nblock; row += c->rows[i++].dim) {
      const tbRows* rows = &c->rows[i];
      for (int r = 0; r < rows->dim; r++) {
        tbReal sum = 0;
        for (int k = 0; k < rows->nnz; k++) sum += rows->J[r * rows->nnz + k] * x[rows->col[k]];
        assert_near(f[row + r], sum, 1e-9);
      }
      tb_velocity_apply_transposed(&s, i, f + row, each);
    }
    assert_memory_equal(all, each, sizeof(tbReal) * (size_t)c->n);
    case_free(c);
  }
}

// Eliminating node by node, in the order that the places have, links all later neighbours of a node
// with each other; it takes dim x width x width operations, width the dofs of these neighbours.
static void work_is_the_count(void** state) {
  (void)state;
  tbRng rng = {12};
  for (int trial = 0; trial < 300; trial++) {
    Case* c = case_new(&rng, trial);
    tbVelocity s;
    assert_true(tb_velocity_build(&s, &c->arena, &c->inertia, c->nblock, c->rows, c->place));
    int nodes = s.ldu.nodes, node_of[MOST];
    bool linked[MOST][MOST] = {{false}};
    for (int k = 0; k < nodes; k++) {
      for (int i = s.ldu.first[k]; i < s.ldu.first[k + 1]; i++) node_of[i] = k;
    }
    for (int i = 0; i < s.size; i++) {
      int dof = s.dof[i], own = node_of[c->place[dof]];
      for (int k = 0; k < c->nnz[dof]; k++) {
        int up = node_of[c->place[c->col[c->adr[dof] + k]]];
        linked[own][up] = linked[up][own] = true;
      }
    }
    for (int i = 0; i < c->nblock; i++) {
      for (int k = 0; k < c->rows[i].nnz * c->rows[i].nnz; k++) {
        int a = c->rows[i].col[k % c->rows[i].nnz], b = c->rows[i].col[k / c->rows[i].nnz];
        linked[node_of[c->place[a]]][node_of[c->place[b]]] = true;
      }
    }
    double count = 0;
    for (int k = 0; k < nodes; k++) {
      int width = 0;
      for (int a = k + 1; a < nodes; a++) {
        width += linked[k][a] ? s.ldu.dim[a] : 0;
        for (int b = k + 1; b < nodes; b++) linked[a][b] |= linked[k][a] && linked[k][b];
      }
      count += (double)s.ldu.dim[k] * width * width;
    }
    assert_true(tb_velocity_work(&s) == fmax(1, count));
    tb_velocity_release(&s);
    case_free(c);
  }
}

// Without memory both say so, and places are given back.
static void memory_may_end(void** state) {
  (void)state;
  tbRng rng = {13};
  Case* c = case_new(&rng, 3);
  int refused = 0;
  for (size_t bytes = 64; bytes < 65536; bytes *= 2) {
    tbArena arena;
    tbVelocity s;
    tb_arena_init(&arena);
    arena.limit = bytes;
    bool listed =
        tb_velocity_open_rows(&s, &arena, &c->inertia, c->nblock, c->rows, NULL, c->place);
    if (listed) {
      refused += !tb_velocity_analyze(&s);
      tb_velocity_release(&s);
      for (int k = 0; k < c->n; k++) assert_int_equal(c->place[k], -1);
    }
    refused += !listed;
    for (int k = 0; k < c->n; k++) c->place[k] = -1;
    tb_arena_free(&arena);
  }
  assert_true(refused > 0);
  case_free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finished_is_built), cmocka_unit_test(dense_factors_agree),
      cmocka_unit_test(work_is_the_count), cmocka_unit_test(memory_may_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
