// Islands that are solved by domain decomposition: against the residual function with velocities
// computed another way, against the same island as a whole where the answer is unique, on islands
// that fall apart, on a body that touches all others, on bad input and without memory; and
// subdomain solves around unconverged contacts.
#include "common/test.h"
#include "solvers/active_set/subdomains.h"
#include "solvers/gauss_seidel/free_body_contacts.h"
#include "solvers/local/local.h"
#include "tribo/tribo.h"

enum { SIDE = 30, BODIES = SIDE * SIDE, NV = 6 * BODIES, MOST = 3 * BODIES, ROWS = 3 * MOST };

// Free bodies of masses over some decades and contacts between neighbours of a square grid.
typedef struct {
  tbArena arena;
  tbForest forest;
  tbReal LD[NV * 6], inverse[NV];
  tbForestInertia inertia;
  int adr[NV], nnz[NV], col[NV * 6], place[NV];
  tbBlock block[MOST];
  tbRows rows[MOST];
  int support[MOST][12];
  tbReal J[MOST][36], g[ROWS], R[ROWS], rho[ROWS], lambda[ROWS], sigma[ROWS];
  tbProblem p;
  tbVelocity system;
  tbActive active;
} Case;

static void make_bodies(Case* c, tbRng* rng, double decades) {
  for (int i = 0; i < NV; i++) {
    c->adr[i] = i == 0 ? 0 : c->adr[i - 1] + c->nnz[i - 1];
    c->nnz[i] = i % 6 + 1;
    c->place[i] = -1;
    for (int k = 0; k < c->nnz[i]; k++) c->col[c->adr[i] + k] = i - i % 6 + k;
  }
  for (int b = 0; b < BODIES; b++) {
    double mass = pow(10, tb_rng_uniform(rng, 0, decades));
    for (int i = 0; i < 6; i++) {
      c->LD[c->adr[6 * b + i] + i] = mass * tb_rng_uniform(rng, 0.5, 2);
      // Positive definite (Gershgorin).
      for (int j = 0; j < i; j++) {
        c->LD[c->adr[6 * b + i] + j] = mass * tb_rng_uniform(rng, -0.09, 0.09);
      }
    }
  }
  c->forest = (tbForest){.n = NV, .rowadr = c->adr, .rownnz = c->nnz, .colind = c->col};
  assert_int_equal(tb_ltdl_factor(c->forest, c->LD, c->inverse, 0), -1);
  c->inertia = (tbForestInertia){.forest = c->forest, .LD = c->LD, .inverse = c->inverse};
}

static void add_contact(Case* c, tbRng* rng, int a, int b, double mu) {
  int i = c->p.nblock++, first = a < b ? a : b, second = a < b ? b : a;
  c->block[i] = (tbBlock){.type = TB_BLOCK_CONE, .row = c->p.n, .dim = 3, .mu = {mu, mu}};
  for (int k = 0; k < 6; k++) {
    c->support[i][k] = 6 * first + k;
    c->support[i][6 + k] = 6 * second + k;
  }
  for (int k = 0; k < 36; k++) c->J[i][k] = tb_rng_normal(rng);
  c->rows[i] = (tbRows){3, 12, c->support[i], c->J[i]};
  c->p.n += 3;
}

// `width`: the grid is cut into strips of that many columns; `hub`: body 0 touches every third.
static Case* case_new(tbRng* rng, int width, bool hub, double mu, double compliance) {
  Case* c = calloc(1, sizeof *c);
  assert_non_null(c);
  tb_arena_init(&c->arena);
  make_bodies(c, rng, 2);
  for (int b = 0; b < BODIES; b++) {
    if (b % SIDE + 1 < SIDE && (b % SIDE + 1) % width != 0) add_contact(c, rng, b, b + 1, mu);
    if (b + SIDE < BODIES) add_contact(c, rng, b, b + SIDE, mu);
    if (hub && b > 0 && b % 3 == 0) add_contact(c, rng, 0, b, mu);
    // A second contact here and there.
    if (b % 3 == 0 && b + SIDE < BODIES) add_contact(c, rng, b, b + SIDE, mu);
  }
  c->p.block = c->block;
  c->p.g = c->g;
  for (int k = 0; k < c->p.n; k++) c->g[k] = tb_rng_normal(rng);
  for (int i = 0; i < c->p.nblock; i++) {
    for (int r = 0; r < 3; r++) {
      tbReal sum = 0, B[12];
      memcpy(B, c->J[i] + 12 * r, sizeof B);
      tb_ltdl_half_solve_support(c->forest, c->LD, c->inverse, c->support[i], 12, B, 12, 1);
      for (int k = 0; k < 12; k++) sum += B[k] * B[k];
      c->rho[c->block[i].row + r] = sum;
      c->R[c->block[i].row + r] = compliance * sum;
    }
  }
  c->p.R = compliance > 0 ? c->R : NULL;
  assert_true(
      tb_velocity_build(&c->system, &c->arena, &c->inertia, c->p.nblock, c->rows, c->place));
  c->active = (tbActive){.p = &c->p, .block = c->rows, .inertia = c->inertia};
  c->active.system = &c->system;
  c->active.rho = c->rho;
  c->active.law = TB_LAW_NCP;
  c->active.tolerance = 1e-6;
  c->active.max_iter = 200;
  return c;
}

static void case_free(Case* c) {
  tb_arena_free(&c->arena);
  free(c);
}

// sigma of lambda by the factor of M alone.
static void true_velocity(const Case* c, const tbReal* lambda, tbReal* sigma) {
  tbReal* v = calloc(NV, sizeof(tbReal));
  assert_non_null(v);
  for (int i = 0; i < c->p.nblock; i++) {
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 12; k++) {
        v[c->support[i][k]] += c->J[i][12 * r + k] * lambda[c->block[i].row + r];
      }
    }
  }
  tb_ltdl_solve(c->forest, c->LD, c->inverse, v);
  for (int i = 0; i < c->p.nblock; i++) {
    for (int r = 0; r < 3; r++) {
      int row = c->block[i].row + r;
      sigma[row] = c->g[row] + (c->p.R ? c->R[row] * lambda[row] : 0);
      for (int k = 0; k < 12; k++) sigma[row] += c->J[i][12 * r + k] * v[c->support[i][k]];
    }
  }
  free(v);
}

// From nothing; the residual by true velocities.
static double solve(Case* c, tbReal* lambda, tbSolveInfo* info) {
  memset(lambda, 0, sizeof(tbReal) * (size_t)c->p.n);
  assert_true(tb_active_solve(&c->active, &c->arena, c->g, lambda, info));
  true_velocity(c, lambda, c->sigma);
  return tb_residual(&c->p, TB_LAW_NCP, lambda, c->sigma).relative;
}

static void islands_are_solved(void** state) {
  (void)state;
  for (int hub = 0; hub < 2; hub++) {
    tbRng rng = {(uint64_t)hub + 5};
    Case* c = case_new(&rng, SIDE, hub, 0.4, 0);
    tbSolveInfo info;
    assert_true(c->p.n > 5000);
    double residual = solve(c, c->lambda, &info);
    print_message("parts: %d rows, %d iterations, %d factorisations, residual %.1e\n", c->p.n,
                  info.iterations, info.factorizations, residual);
    assert_int_equal(info.status, TB_SOLVE_CONVERGED);
    assert_true(residual <= 1.001e-6);
    // The same bits once more.
    tbReal* again = calloc(ROWS, sizeof(tbReal));
    assert_non_null(again);
    solve(c, again, &info);
    assert_memory_equal(again, c->lambda, sizeof(tbReal) * (size_t)c->p.n);
    free(again);
    case_free(c);
  }
}

// Strips that do not touch: sweeps and repairs need no iteration on the whole.
static void islands_apart_need_no_iteration(void** state) {
  (void)state;
  tbRng rng = {9};
  Case* c = case_new(&rng, 3, false, 0.3, 1e-3);
  tbSolveInfo info;
  assert_true(c->p.n > 5000);
  double residual = solve(c, c->lambda, &info);
  print_message("parts: apart %d iterations, residual %.1e\n", info.iterations, residual);
  assert_int_equal(info.status, TB_SOLVE_CONVERGED);
  assert_int_equal(info.iterations, 0);
  assert_true(residual <= 1.001e-6);
  case_free(c);
}

// Without friction and with compliance there is one answer, and impulses are off by no more than
// the velocities over the least stiffness: a hundredth of a diagonal whose entries, as the masses,
// differ by two to three decades. So they are known to some 1e5 tolerances.
static void parts_and_whole_agree(void** state) {
  (void)state;
  tbRng rng = {17};
  Case* c = case_new(&rng, SIDE, true, 0, 1e-2);
  tbReal* whole = calloc(ROWS, sizeof(tbReal));
  tbSolveInfo info;
  assert_non_null(whole);
  c->active.tolerance = 1e-9;
  assert_true(solve(c, c->lambda, &info) <= 1.001e-9);
  c->active.part = true;
  assert_true(solve(c, whole, &info) <= 1.001e-9);
  assert_near_array(c->lambda, whole, c->p.n, 1e-4);
  free(whole);
  case_free(c);
}

static void bad_input_ends(void** state) {
  (void)state;
  static const tbReal BAD[] = {NAN, INFINITY, 1e300};
  for (int k = 0; k < 3; k++) {
    tbRng rng = {23};
    Case* c = case_new(&rng, SIDE, false, 0.4, 0);
    tbSolveInfo info;
    c->g[100] = BAD[k];
    c->active.max_iter = 6;
    assert_true(tb_active_solve(&c->active, &c->arena, c->g, c->lambda, &info));
    assert_true(isfinite(BAD[k]) || info.status != TB_SOLVE_CONVERGED);
    for (int r = 0; r < c->p.n; r++) assert_true(isfinite(c->lambda[r]));
    case_free(c);
  }
}

// However little memory there is: an error, or an answer.
static void memory_may_end(void** state) {
  (void)state;
  tbRng rng = {29};
  Case* c = case_new(&rng, SIDE, false, 0.4, 0);
  size_t before = c->arena.bytes;
  int failed = 0;
  c->active.max_iter = 3;
  for (int k = 0; k < 6; k++) {
    tbSolveInfo info;
    tbArenaMark mark = tb_arena_mark(&c->arena);
    c->arena.limit = before + ((size_t)1 << (16 + 2 * k));
    memset(c->lambda, 0, sizeof c->lambda);
    failed += !tb_active_solve(&c->active, &c->arena, c->g, c->lambda, &info);
    c->arena.failed = false;
    tb_arena_release(&c->arena, mark);
  }
  assert_true(failed > 0);
  case_free(c);
}

// What tb_active_subdomain_layers needs of a state, at the impulses of the case.
static tbActiveState state_of(Case* c) {
  tbActiveState s = {.a = &c->active, .p = &c->p, .form = &TB_ACTIVE_VELOCITY};
  s.lambda = c->lambda;
  s.sigma = c->sigma;
  for (int r = 0; r < c->p.n; r++) s.max_speed = fmax(s.max_speed, fabs(c->g[r]));
  assert_true(tb_active_whiten(&s, &c->arena));
  return s;
}

static int steps_between(int a, int b) {
  return abs(a % SIDE - b % SIDE) + abs(a / SIDE - b / SIDE);
}

// Impulses of a few contacts with errors of a tenth of the largest one, thousands of tolerances,
// are corrected, and impulses far from them keep their bits.
static void repairs_are_local(void** state) {
  (void)state;
  enum { FAR = 12 };
  static const int OFF[] = {310, 1700};
  int off_body[2], kept = 0;
  tbRng rng = {31};
  Case* c = case_new(&rng, SIDE, false, 0.4, 0);
  tbReal load = 0, *before = calloc(ROWS, sizeof(tbReal));
  tbSolveInfo info;
  assert_non_null(before);
  c->active.tolerance = 1e-7;
  assert_true(solve(c, before, &info) <= 1.001e-7);
  c->active.tolerance = 1e-6;
  memcpy(c->lambda, before, sizeof c->lambda);
  for (int r = 0; r < c->p.n; r++) load = fmax(load, fabs(before[r]));
  for (int k = 0; k < 2; k++) {
    c->lambda[c->block[OFF[k]].row] += 0.1 * load;
    off_body[k] = c->support[OFF[k]][0] / 6;
  }
  // Projected on their cones.
  tbActiveState s = state_of(c);
  memcpy(before, c->lambda, sizeof c->lambda);
  true_velocity(c, c->lambda, c->sigma);
  assert_true(tb_residual(&c->p, TB_LAW_NCP, c->lambda, c->sigma).relative > 1e-3);
  info = (tbSolveInfo){0};
  assert_true(tb_active_subdomain_layers(&s, &c->arena, &info));
  true_velocity(c, c->lambda, c->sigma);
  assert_true(tb_residual(&c->p, TB_LAW_NCP, c->lambda, c->sigma).relative <= 1.001e-6);
  for (int i = 0; i < c->p.nblock; i++) {
    int body = c->support[i][0] / 6, row = c->block[i].row;
    if (steps_between(body, off_body[0]) < FAR || steps_between(body, off_body[1]) < FAR) continue;
    assert_memory_equal(c->lambda + row, before + row, 3 * sizeof(tbReal));
    kept++;
  }
  print_message("repairs: %d of %d contacts are as they were\n", kept, c->p.nblock);
  assert_true(kept > c->p.nblock / 4);
  free(before);
  case_free(c);
}

// Whether a tree is in the core of a region of a turn, or shares a block with one that is.
static bool near_core(const tbSubdomains* g, int tree, int turn) {
  bool near = g->seed[tree] == turn;
  for (int k = g->tree_start[tree]; k < g->tree_start[tree + 1]; k++) {
    int b = g->tree_block[k];
    for (int e = g->block_start[b]; e < g->block_start[b + 1]; e++) {
      near = near || g->seed[g->block_tree[e]] == turn;
    }
  }
  return near;
}

// Blocks that sweeps leave unconverged are solved alone if they are of a few bodies, with their
// neighbours if they are of more, and with no others, if that succeeds: always without friction. In
// half of the samples sweeps leave such blocks.
static void regions_are_small(void** state) {
  (void)state;
  int few = 0, more = 0;
  for (uint64_t seed = 37; seed < 137 && (few == 0 || more == 0); seed++) {
    tbRng rng = {seed};
    Case* c = case_new(&rng, SIDE, false, 0, 1e-4);
    tbSolveInfo info = {0};
    int last = 0, turn = 0, core = 0, trees = 0;
    c->active.tolerance = seed % 2 ? 1e-9 : 1e-10;
    tbActiveState s = state_of(c);
    assert_true(tb_active_subdomain_layers(&s, &c->arena, &info));
    const tbSubdomains* g = s.subdomains;
    for (int t = 0; t < g->ntree; t++) {
      last = g->seen[t] > last ? g->seen[t] : last;
      turn = g->seed[t] > turn ? g->seed[t] : turn;
    }
    for (int t = 0; t < g->ntree && turn > 0; t++) {
      if (g->seen[t] != last) continue;
      assert_true(near_core(g, t, turn));
      core += g->seed[t] == turn;
      trees++;
    }
    if (turn > 0) {
      print_message("regions: a core of %d bodies among %d\n", core, trees);
      assert_true(core > 0 && (core <= 10 ? trees == core : trees > core));
      few += core <= 10;
      more += core > 10;
    }
    case_free(c);
  }
  assert_true(few > 0 && more > 0);
}

// The part made of a body and its neighbours.
static tbSubdomain* part_around(tbActiveState* s, tbArena* arena, int body) {
  tbSubdomains* g = tb_subdomains_open(s, arena);
  assert_non_null(g);
  g->set[0] = body;
  g->seen[body] = ++g->stamp;
  return tb_subdomain_make(s, arena, g, tb_subdomain_overlap(g, 1, 1));
}

// Where active-set iterations fail (here none is allowed), a subdomain of a few bodies is solved
// nonetheless.
static void hard_parts_are_solved(void** state) {
  (void)state;
  enum { BODY = 13 * SIDE + 17 };
  for (uint64_t seed = 41; seed < 61; seed++) {
    tbRng rng = {seed};
    Case* c = case_new(&rng, SIDE, false, seed % 2 ? 0.4 : 1, seed % 3 ? 0 : 1e-3);
    tbActiveState s = state_of(c);
    tbSubdomainScale scale = {.load = 1, .speed = s.max_speed, .target = 1e-6, .better = 0.1};
    tbSubdomain* part = part_around(&s, &c->arena, BODY);
    double work = 0;
    bool solved = false;
    assert_non_null(part);
    assert_true(tb_subdomain_solve(&s, &c->arena, part, &scale, &solved, &work));
    assert_true(solved);
    scale.target *= 1.001;
    for (int k = s.subdomains->tree_start[BODY]; k < s.subdomains->tree_start[BODY + 1]; k++) {
      assert_true(tb_active_fixed_point_residual(&s, s.subdomains->tree_block[k], &scale) <=
                  scale.target);
    }
    case_free(c);
  }
}

// A tolerance that nothing can meet, and velocities that are no numbers, of one contact and, where
// the worst come first, of many: turns come to an end, and impulses are numbers.
static void repairs_end(void** state) {
  (void)state;
  for (int bad = 0; bad < 3; bad++) {
    tbRng rng = {37};
    Case* c = case_new(&rng, SIDE, false, 0.4, 0);
    tbSolveInfo info;
    solve(c, c->lambda, &info);
    c->active.tolerance = bad ? 1e-6 : 1e-18;
    static const int COUNT[] = {0, 1, 900};
    for (int r = 900; r < 900 + COUNT[bad]; r++) c->g[r] = NAN;
    tbActiveState s = state_of(c);
    if (bad == 2) s.guess_residual = 1;
    info = (tbSolveInfo){0};
    assert_true(tb_active_subdomain_layers(&s, &c->arena, &info));
    for (int r = 0; r < c->p.n; r++) assert_true(isfinite(c->lambda[r]));
    case_free(c);
  }
}

// Contacts of one colour share no body; with a body that touches more than there are colours, the
// rest come one by one.
static void colours_share_no_body(void** state) {
  (void)state;
  for (int hub = 0; hub < 2; hub++) {
    tbRng rng = {(uint64_t)hub + 71};
    Case* c = case_new(&rng, SIDE, hub, 0.4, 0);
    tbActiveState s = {.a = &c->active, .p = &c->p};
    tbFreeContacts f;
    // In any order.
    for (int i = c->p.nblock - 1; i > 0; i--) {
      int j = tb_rng_int(&rng, i + 1);
      tbBlock block = c->block[i];
      tbRows rows = c->rows[i];
      c->block[i] = c->block[j];
      c->rows[i] = c->rows[j];
      c->block[j] = block;
      c->rows[j] = rows;
    }
    int* place = tb_arena_alloc(&c->arena, sizeof(int) * MOST);
    tbReal** rows = tb_arena_alloc(&c->arena, sizeof(tbReal*) * MOST);
    assert_true(tb_free_body_contacts_open(&s, &c->arena, &f, place, rows));
    assert_int_equal(f.count, c->p.nblock);
    assert_true(f.colours <= 64 && (f.end[f.colours - 1] < f.count) == hub);
    int* block = tb_arena_alloc(&c->arena, sizeof(int) * MOST);
    for (int i = 0; i < f.count; i++) block[i] = -1;
    for (int i = 0; i < f.count; i++) block[place[i]] = i;
    for (int k = 0, begin = 0; k < f.colours; begin = f.end[k++]) {
      char taken[BODIES] = {0};
      for (int at = begin; at < f.end[k]; at++) {
        const int* col = c->rows[block[at]].col;
        assert_false(taken[col[0] / 6] || taken[col[6] / 6]);
        taken[col[0] / 6] = taken[col[6] / 6] = 1;
        assert_true(f.first[at] == col[0] && f.second[at] == col[6]);
      }
    }
    case_free(c);
  }
}

// A sweep by colours is Gauss-Seidel in that order, block by block.
static void sweep_is_gauss_seidel(void** state) {
  (void)state;
  for (int hub = 0; hub < 2; hub++) {
    tbRng rng = {(uint64_t)hub + 81};
    Case* c = case_new(&rng, SIDE, hub, 0.1, 0.01);
    tbActiveState s = {.a = &c->active, .p = &c->p};
    tbFreeContacts f;
    int n = c->p.nblock, *place = tb_arena_alloc(&c->arena, sizeof(int) * MOST);
    int* block = tb_arena_alloc(&c->arena, sizeof(int) * MOST);
    tbReal** rows = tb_arena_alloc(&c->arena, sizeof(tbReal*) * MOST);
    tbReal *plain = calloc(NV, sizeof(tbReal)), *other = calloc(ROWS, sizeof(tbReal));
    assert_true(plain && other);
    assert_true(tb_free_body_contacts_open(&s, &c->arena, &f, place, rows));
    for (int i = 0; i < n; i++) block[place[i]] = i;
    tb_free_body_contacts_begin(&f);
    for (int i = 0; i < n; i++) {
      int row = c->block[i].row;
      tb_free_body_contact_begin(&f, place[i], &c->block[i], c->lambda + row, c->g + row);
    }
    for (int turn = 0; turn < 3; turn++) {
      assert_int_equal(tb_free_body_contacts_sweep(&f, NULL), n);
      for (int k = 0; k < n; k++) {
        int i = block[k], row = c->block[i].row;
        tbReal B[36], A[9] = {0}, b[3], before[3], slip = 0;
        memcpy(B, c->J[i], sizeof B);
        tb_ltdl_half_solve_support(c->forest, c->LD, c->inverse, c->support[i], 12, B, 12, 3);
        for (int r = 0; r < 3; r++) {
          for (int q = 0; q < 3; q++) {
            for (int j = 0; j < 12; j++) A[3 * r + q] += B[12 * r + j] * B[12 * q + j];
          }
          b[r] = c->g[row + r];
          for (int j = 0; j < 12; j++) b[r] += B[12 * r + j] * plain[c->support[i][j]];
          for (int q = 0; q < 3; q++) b[r] -= A[3 * r + q] * other[row + q];
          before[r] = other[row + r];
        }
        for (int r = 0; r < 3; r++) A[4 * r] += c->R[row + r];
        tb_local_solve(&c->block[i], TB_LAW_NCP, A, b, other + row, &slip);
        for (int r = 0; r < 3; r++) {
          tbReal change = other[row + r] - before[r];
          for (int j = 0; j < 12; j++) plain[c->support[i][j]] += B[12 * r + j] * change;
        }
      }
      tbReal load = 0;
      for (int k = 0; k < c->p.n; k++) load = fmax(load, fabs(other[k]));
      for (int i = 0; i < n; i++) {
        tbReal lambda[3] = {0}, *row = other + c->block[i].row;
        tb_free_body_contact_end(&f, place[i], &c->block[i], lambda);
        for (int r = 0; r < 3; r++) assert_near(lambda[r], row[r], 1e-5 * load);
      }
    }
    free(plain);
    free(other);
    case_free(c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(islands_are_solved),    cmocka_unit_test(islands_apart_need_no_iteration),
      cmocka_unit_test(parts_and_whole_agree), cmocka_unit_test(bad_input_ends),
      cmocka_unit_test(memory_may_end),        cmocka_unit_test(repairs_are_local),
      cmocka_unit_test(regions_are_small),     cmocka_unit_test(hard_parts_are_solved),
      cmocka_unit_test(repairs_end),           cmocka_unit_test(colours_share_no_body),
      cmocka_unit_test(sweep_is_gauss_seidel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
