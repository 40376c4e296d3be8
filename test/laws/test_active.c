// The fast path: its sparse matrix against a dense one, its forms against each other.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "common/test.h"
#include "common/worlds.h"
#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "model/workspace.h"
#include "solvers/active_set/state.h"
#include "operator/velocity_dense.h"
#include "forces/implicit_inertia.h"
#include "assemble/twists.h"
#include "world/state.h"
#include "tribo/tribo.h"

// A world somewhere on its way, with a random push.
static void shake(tbWorld w, tbRng* rng, int steps) {
  for (int i = 0; i < w.m->nv; i++) w.d->qvel[i] += tb_rng_uniform(rng, -0.5, 0.5);
  tb_world_run(w, steps);
}

// ---- M + J^T W J -------------------------------------------------------------------------------

static void fill_dense(const tbModel* m, const tbData* d, const tbConstraints* cs, const tbReal* W,
                       double* H) {
  int nv = m->nv;
  memset(H, 0, sizeof(double) * (size_t)(nv * nv));
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k < m->M_rownnz[i]; k++) {
      int j = m->M_colind[m->M_rowadr[i] + k];
      H[i * nv + j] = H[j * nv + i] = d->qM[m->M_rowadr[i] + k];
    }
  }
  for (int b = 0; b < cs->count; b++) {
    const tbConstraint* c = &cs->list[b];
    for (int r = 0; r < c->dim; r++) {
      for (int s = 0; s < c->dim; s++) {
        double w = W[36 * b + r * c->dim + s];
        for (int i = 0; i < c->nnz; i++) {
          for (int j = 0; j < c->nnz; j++) {
            H[c->col[i] * nv + c->col[j]] += c->J[r * c->nnz + i] * w * c->J[s * c->nnz + j];
          }
        }
      }
    }
  }
}

static void random_weights(tbRng* rng, const tbConstraints* cs, bool symmetric, tbReal* W) {
  for (int b = 0; b < cs->count; b++) {
    int d = cs->list[b].dim;
    for (int r = 0; r < d; r++) {
      for (int s = 0; s <= r; s++) {
        tbReal x = r == s ? 3 : 0.2 * tb_rng_normal(rng);
        W[36 * b + r * d + s] = x;
        W[36 * b + s * d + r] = symmetric || r == s ? x : 0.2 * tb_rng_normal(rng);
      }
    }
  }
}

static void check_matrix(tbWorld w, tbRng* rng, bool symmetric) {
  const tbModel* m = w.m;
  assert_int_equal(tb_forward(m, w.d), TB_OK);
  tbStepState* state = w.d->work->step;
  const tbConstraints* cs = &state->constraints;
  if (cs->count == 0) return;
  int nv = m->nv;
  tbArena arena;
  tb_arena_init(&arena);
  tbRows* rows = TB_ARENA_NEW(&arena, tbRows, cs->count);
  tbReal* W = TB_ARENA_NEW(&arena, tbReal, 36 * cs->count);
  int* place = TB_ARENA_NEW(&arena, int, nv);
  int* pivot = TB_ARENA_NEW(&arena, int, nv);
  double* H = TB_ARENA_NEW(&arena, double, nv* nv);
  double* full = TB_ARENA_NEW(&arena, double, nv);
  double* x = TB_ARENA_NEW(&arena, double, nv);
  // Entries that the system does not fill start as NaN, not as zero.
  enum { DIRTY = 1 << 20 };
  tbArenaMark mark = tb_arena_mark(&arena);
  void* dirty = tb_arena_alloc(&arena, DIRTY);
  assert_false(arena.failed);
  memset(dirty, 0xff, DIRTY);
  tb_arena_release(&arena, mark);
  random_weights(rng, cs, symmetric, W);
  for (int i = 0; i < nv; i++) place[i] = -1;
  for (int b = 0; b < cs->count; b++) {
    const tbConstraint* c = &cs->list[b];
    rows[b] = (tbRows){c->dim, c->nnz, c->col, c->J};
  }
  tbForestInertia inertia = {.forest = tb_forest(m), .LD = w.d->qLD, .inverse = w.d->qLDiagInv};
  tbVelocity v;
  assert_true(tb_velocity_build(&v, &arena, &inertia, cs->count, rows, place));

  // A right side J^T f, so that dofs outside of the supports do not matter.
  for (int b = 0; b < cs->count; b++) {
    const tbConstraint* c = &cs->list[b];
    tbReal f[6];
    for (int r = 0; r < c->dim; r++) f[r] = tb_rng_normal(rng);
    tb_velocity_apply_transposed(&v, b, f, x);
    for (int r = 0; r < c->dim; r++) {
      for (int k = 0; k < c->nnz; k++) full[c->col[k]] += c->J[r * c->nnz + k] * f[r];
    }
  }
  tb_velocity_start(&v, symmetric);
  for (int b = 0; b < cs->count; b++) tb_velocity_add(&v, b, W + 36 * b);
  assert_true(tb_velocity_factor(&v));
  tb_velocity_solve(&v, x);
  fill_dense(m, w.d, cs, W, H);
  assert_true(tb_lu(nv, H, nv, pivot));
  tb_lu_solve(nv, H, nv, pivot, full);
  double largest = 0;
  for (int i = 0; i < nv; i++) largest = fmax(largest, fabs(full[i]));
  for (int i = 0; i < v.size; i++) {
    assert_near(x[v.index[v.dof[i]]], full[v.dof[i]], 1e-10 * largest);
  }

  // M and its inverse on the same dofs.
  double *y = H, *z = H + nv;
  tb_velocity_mass(&v, x, y);
  memcpy(z, y, sizeof(double) * (size_t)v.size);
  tb_velocity_inverse(&v, z);
  for (int i = 0; i < v.size; i++) assert_near(z[i], x[i], 1e-9 * largest);
  tb_velocity_release(&v);
  for (int i = 0; i < nv; i++) assert_int_equal(place[i], -1);
  tb_arena_free(&arena);
}

static void sparse_matrix_is_the_dense_one(void** state) {
  (void)state;
  static const char* const SCENES[] = {"humanoid.xml", "stack.xml", "grip.xml", "arm.xml",
                                       "arch.xml"};
  for (int k = 0; k < 5; k++) {
    tbRng rng = {(uint64_t)k + 1};
    tbWorld w = tb_world_scene(SCENES[k], NULL);
    for (int trial = 0; trial < 6; trial++) {
      shake(w, &rng, 20);
      check_matrix(w, &rng, trial % 2 == 0);
    }
    tb_world_free(w);
  }
}

// ---- two forms ---------------------------------------------------------------------------------

// A problem as the fast path gets it, for a world with one island: with more of them the problem's
// blocks are in another order.
typedef struct {
  tbArena arena;
  tbProblem* p;
  tbVelocity system, whole;    // sparse, and dense over whole trees
  tbVelocity linked, chained;  // the same with chains
  tbCompositeChains chains;
  tbRange* tree;
  tbActive a;
} Case;

// All contacts with the world, whether that pays or not.
static void make_chains(tbWorld w, const tbConstraints* cs, Case* c) {
  int* last = TB_ARENA_NEW(&c->arena, int, cs->count);
  const tbReal** P = TB_ARENA_NEW(&c->arena, const tbReal*, cs->count);
  for (int b = 0; b < cs->count; b++) {
    const tbConstraint* k = &cs->list[b];
    bool contact = k->source == TB_SOURCE_CONTACT;
    int body = contact ? tb_contact_body(w.m, &w.d->contact[k->id]) : -1;
    tbReal* rows = TB_ARENA_NEW(&c->arena, tbReal, 6 * k->dim);
    if (body >= 0) tb_contact_rows_of_twist(w.m, w.d, &w.d->contact[k->id], body, k->dim, rows);
    last[b] = body >= 0 ? w.m->body_lastdof[body] : -1;
    P[b] = rows;
  }
  c->chains = (tbCompositeChains){w.d->cdof, last, P};
}

static bool make_case(tbWorld w, Case* c) {
  const tbModel* m = w.m;
  tbError error;
  assert_int_equal(tb_forward(m, w.d), TB_OK);
  tbConstraints* cs = &((tbStepState*)w.d->work->step)->constraints;
  tbIslands islands;
  assert_int_equal(tb_assemble_groups(m, w.d, cs, &islands), TB_OK);
  if (islands.count != 1) return false;
  tb_arena_init(&c->arena);
  c->p = tb_step_problem(m, w.d, &error);
  assert_non_null(c->p);
  tbInertiaFactor factor;
  assert_int_equal(tb_implicit_factor(m, w.d, TB_IMPLICIT_STIFF, &factor), TB_OK);
  tbRows* rows = TB_ARENA_NEW(&c->arena, tbRows, cs->count);
  tbReal* rho = TB_ARENA_NEW(&c->arena, tbReal, c->p->n);
  int *place = TB_ARENA_NEW(&c->arena, int, m->nv), *again = TB_ARENA_NEW(&c->arena, int, m->nv);
  c->tree = TB_ARENA_NEW(&c->arena, tbRange, m->ntree);
  tbForestInertia inertia = {.forest = tb_forest(m),
                             .M = factor.H,
                             .LD = factor.LD,
                             .inverse = factor.inverse,
                             .ntree = m->ntree,
                             .tree = c->tree};
  for (int i = 0; i < m->nv; i++) place[i] = again[i] = -1;
  for (int t = 0; t < m->ntree; t++) {
    // In any order.
    c->tree[m->ntree - 1 - t] = (tbRange){m->tree_dofadr[t], m->tree_dofadr[t] + m->tree_dofnum[t]};
  }
  for (int b = 0, row = 0; b < cs->count; b++) {
    const tbConstraint* k = &cs->list[b];
    rows[b] = (tbRows){k->dim, k->nnz, k->col, k->J};
    tbReal* half = TB_ARENA_NEW(&c->arena, tbReal, k->dim * k->nnz);
    memcpy(half, k->J, sizeof(tbReal) * (size_t)(k->dim * k->nnz));
    tb_ltdl_half_solve_support(inertia.forest, factor.LD, factor.inverse, k->col, k->nnz, half,
                               k->nnz, k->dim);
    for (int r = 0; r < k->dim; r++, row++) {
      for (int j = 0; j < k->nnz; j++) rho[row] += half[r * k->nnz + j] * half[r * k->nnz + j];
    }
  }
  assert_true(tb_velocity_build(&c->system, &c->arena, &inertia, cs->count, rows, place));
  assert_true(tb_velocity_build_dense(&c->whole, &c->arena, &inertia, cs->count, rows, NULL));
  make_chains(w, cs, c);
  assert_true(
      tb_velocity_open_rows(&c->linked, &c->arena, &inertia, cs->count, rows, &c->chains, again));
  assert_true(tb_velocity_analyze(&c->linked));
  assert_true(
      tb_velocity_build_dense(&c->chained, &c->arena, &inertia, cs->count, rows, &c->chains));
  c->a = (tbActive){
      .p = c->p, .block = rows, .inertia = inertia, .rho = rho, .tolerance = 1e-8, .max_iter = 200};
  return true;
}

// From rest, with contacts of three, four and six rows.
static bool shaken_case(tbWorld w, tbRng* rng, int trial, tbLaw law, Case* c) {
  static const int DIMS[] = {3, 3, 4, 6};
  for (int g = 0; g < w.m->ngeom; g++) w.m->geom_condim[g] = DIMS[trial % 4];
  tb_reset(w.m, w.d);
  shake(w, rng, 7 + trial);
  if (!make_case(w, c)) return false;
  c->a.law = law;
  return true;
}

static void free_case(Case* c) {
  tb_problem_free(c->p);
  tb_arena_free(&c->arena);
}

// One iteration of the active set, in the given form, from random impulses of which some lie on
// bounds and on edges of cones.
static void one_round(Case* c, const tbActiveForm* form, uint64_t seed, tbActiveState* s) {
  tbRng rng = {seed};
  size_t n = (size_t)c->p->n;
  *s = (tbActiveState){.a = &c->a, .p = c->p, .form = form, .proximal_weight = 1e-2};
  tbReal** const vectors[] = {&s->lambda, &s->sigma, &s->center, &s->next, &s->next_sigma};
  for (int k = 0; k < 5; k++) *vectors[k] = TB_ARENA_NEW(&c->arena, tbReal, n);
  s->mode = TB_ARENA_NEW(&c->arena, int, n);
  s->slide = TB_ARENA_NEW(&c->arena, tbSlide, c->p->nblock);
  assert_true(form->start(s, &c->arena));
  for (size_t r = 0; r < n; r++) {
    s->lambda[r] = 0.3 * tb_rng_normal(&rng) / c->a.rho[r];
    s->center[r] = s->lambda[r];
  }
  form->velocity(s, s->lambda, s->sigma);
  tb_active_modes(s);
  assert_true(form->factor(s));
  assert_true(form->solve(s));
}

static double largest(const tbReal* x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static void check_round(Case* c, uint64_t seed, int* seen) {
  tbActiveState dense, sparse, square, linked, chained;
  int n = c->p->n;
  c->a.system = NULL;
  one_round(c, &TB_ACTIVE_DUAL, seed, &dense);
  c->a.system = &c->system;
  one_round(c, &TB_ACTIVE_VELOCITY, seed, &sparse);
  c->a.system = &c->whole;
  one_round(c, &TB_ACTIVE_DENSE, seed, &square);
  c->a.system = &c->linked;
  one_round(c, &TB_ACTIVE_VELOCITY, seed, &linked);
  c->a.system = &c->chained;
  one_round(c, &TB_ACTIVE_DENSE, seed, &chained);
  double impulse = largest(dense.next, n), speed = largest(dense.next_sigma, n);
  for (int r = 0; r < n; r++) {
    assert_near(dense.sigma[r], sparse.sigma[r], 1e-9 * (1 + speed));
    assert_near(dense.next[r], sparse.next[r], 1e-7 * impulse);
    assert_near(dense.next_sigma[r], sparse.next_sigma[r], 1e-7 * speed);
    assert_near(dense.sigma[r], square.sigma[r], 1e-9 * (1 + speed));
    assert_near(dense.next[r], square.next[r], 1e-7 * impulse);
    assert_near(dense.next_sigma[r], square.next_sigma[r], 1e-7 * speed);
    assert_near(dense.next[r], linked.next[r], 1e-7 * impulse);
    assert_near(dense.next_sigma[r], linked.next_sigma[r], 1e-7 * speed);
    assert_near(dense.next[r], chained.next[r], 1e-7 * impulse);
    assert_near(dense.next_sigma[r], chained.next_sigma[r], 1e-7 * speed);
  }
  for (int i = 0; i < c->p->nblock; i++) seen[dense.mode[c->p->block[i].row]]++;

  // Once more with the same factors from where that ended.
  tbActiveState* const forms[] = {&dense, &sparse, &square};
  tbVelocity* const systems[] = {NULL, &c->system, &c->whole};
  for (int k = 0; k < 3; k++) {
    tbActiveState* f = forms[k];
    c->a.system = systems[k];
    memcpy(f->lambda, dense.next, sizeof(tbReal) * (size_t)n);
    memcpy(f->center, dense.next, sizeof(tbReal) * (size_t)n);
    f->form->velocity(f, f->lambda, f->sigma);
  }
  for (int k = 0; k < 3; k++) {
    c->a.system = systems[2 - k];
    assert_true(forms[2 - k]->form->refine(forms[2 - k]));
  }
  impulse = largest(dense.next, n);
  for (int r = 0; r < n; r++) {
    assert_near(dense.next[r], sparse.next[r], 1e-7 * impulse);
    assert_near(dense.next[r], square.next[r], 1e-7 * impulse);
  }
}

// Two chains of twelve links from one base, all on the ground: each of several nodes.
static tbWorld two_tails(void) {
  enum { LINKS = 12 };
  char xml[8192];
  int n = sprintf(xml,
                  "<mujoco><worldbody><geom type='plane' size='9 9 1'/>"
                  "<body pos='0 0 .03'><freejoint/><geom type='box' size='.03 .03 .03'/>");
  for (int side = -1; side <= 1; side += 2) {
    for (int k = 0; k < LINKS; k++) {
      n += sprintf(xml + n,
                   "<body pos='%g %g 0'><joint axis='0 %d %d' damping='.01'/>"
                   "<geom type='capsule' fromto='.01 0 0 .05 0 0' size='.03'/>",
                   k ? 0.06 : 0.03, k ? 0 : 0.05 * side, k % 2, 1 - k % 2);
    }
    for (int k = 0; k < LINKS; k++) n += sprintf(xml + n, "</body>");
  }
  sprintf(xml + n, "</body></worldbody></mujoco>");
  return tb_world_text(xml);
}

// The same iteration from the same modes, in either form of the unknowns.
static void all_forms_take_the_same_round(void** state) {
  (void)state;
  static const char* const SCENES[] = {"humanoid.xml", "grip.xml", "arm.xml", "sliding_cube.xml"};
  int seen[6] = {0};
  for (int law = TB_LAW_NCP; law <= TB_LAW_CCP; law++) {
    for (int k = 0; k < 5; k++) {
      tbRng rng = {(uint64_t)k + 3};
      tbWorld w = k < 4 ? tb_world_scene(SCENES[k], NULL) : two_tails();
      // Dry friction everywhere, so that rows between bounds take part.
      for (int i = 0; i < w.m->nv; i++) w.m->dof_frictionloss[i] = i < 6 && k == 0 ? 0 : 0.05;
      for (int trial = 0; trial < 16; trial++) {
        Case c;
        if (!shaken_case(w, &rng, trial, (tbLaw)law, &c)) continue;
        check_round(&c, (uint64_t)(100 * k + trial), seen);
        free_case(&c);
      }
      tb_world_free(w);
    }
  }
  for (int mode = 0; mode < 6; mode++) assert_true(seen[mode] > 20);
}

// On the first look a contact whose impulse is at the edge of its cone slides on, though its
// velocity would have it stick; not where it comes far inside, and not on a second look.
static void what_slid_still_slides(void** state) {
  (void)state;
  tbRng rng = {5};
  for (int trial = 0; trial < 200; trial++) {
    tbReal mu = tb_rng_uniform(&rng, 0.2, 1), turn = tb_rng_uniform(&rng, -3, 3), rho = 2;
    tbReal lambda[3] = {1, mu * cos(turn), mu * sin(turn)};
    // Inside by this share of the edge: along the impulse, to where y = (1 - inside) lambda_T.
    tbReal inside = trial % 2 ? 0.05 : 0.2;
    tbReal sigma[3] = {0, rho * inside * lambda[1], rho * inside * lambda[2]};
    tbBlock block = {.type = TB_BLOCK_CONE, .dim = 3, .mu = {mu, mu}};
    tbReal g[3] = {1, 1, 1}, rhos[3] = {rho, rho, rho};
    tbProblem p = {.n = 3, .nblock = 1, .block = &block, .g = g};
    tbActive a = {.p = &p, .rho = rhos, .law = TB_LAW_NCP};
    int mode[3] = {-1, -1, -1};
    tbSlide slide;
    tbActiveState s = {
        .a = &a, .p = &p, .lambda = lambda, .sigma = sigma, .mode = mode, .slide = &slide};
    s.warm = true;
    tb_active_modes(&s);
    assert_int_equal(mode[0], inside < 0.1 ? TB_MODE_SLIDE : TB_MODE_STICK);
    if (mode[0] == TB_MODE_SLIDE) {
      assert_near(slide.u[1], cos(turn), 1e-12);
      assert_true(slide.stiffness >= 0 && isfinite(slide.stiffness));
    }
    s.warm = false;
    tb_active_modes(&s);
    assert_int_equal(mode[0], TB_MODE_STICK);
    // Off the edge it sticks from the first.
    lambda[1] *= 0.99;
    lambda[2] *= 0.99;
    s.warm = true;
    tb_active_modes(&s);
    assert_int_equal(mode[0], TB_MODE_STICK);
  }
}

// Under lcp every tangent is fixed or at its own share of the normal, which the result of an
// iteration shows, with sparse and with dense factors.
static void check_pyramids(Case* c, uint64_t seed, int* seen) {
  tbActiveState sparse, square;
  c->a.system = &c->system;
  one_round(c, &TB_ACTIVE_VELOCITY, seed, &sparse);
  c->a.system = &c->whole;
  one_round(c, &TB_ACTIVE_DENSE, seed, &square);
  double impulse = largest(square.next, c->p->n), speed = largest(square.next_sigma, c->p->n);
  for (int r = 0; r < c->p->n; r++) assert_near(sparse.next[r], square.next[r], 1e-7 * impulse);
  for (int i = 0; i < c->p->nblock; i++) {
    const tbBlock* b = &c->p->block[i];
    for (int r = b->row; r < b->row + b->dim && b->type == TB_BLOCK_CONE; r++) {
      int mode = square.mode[r];
      bool closed = square.mode[b->row] != TB_MODE_OPEN,
           slides = mode == TB_MODE_LOW || mode == TB_MODE_HIGH;
      seen[mode]++;
      if (!closed) assert_true(square.next[r] == 0);
      if (closed && slides) {
        double share = b->mu[r - b->row - 1] * (mode == TB_MODE_LOW ? -1 : 1);
        assert_near(square.next[r], share * square.next[b->row], 1e-12 * impulse);
      }
      if (closed && !slides) {
        double spring = square.proximal_weight * c->a.rho[r] * (square.next[r] - square.center[r]);
        assert_near(square.next_sigma[r] + spring, 0, 1e-9 * speed);
      }
    }
  }
}

static void tangents_of_a_pyramid_slide_by_themselves(void** state) {
  (void)state;
  tbRng rng = {5};
  int seen[6] = {0};
  tbWorld w = tb_world_scene("humanoid.xml", NULL);
  for (int trial = 0; trial < 24; trial++) {
    Case c;
    if (!shaken_case(w, &rng, trial, TB_LAW_LCP, &c)) continue;
    check_pyramids(&c, (uint64_t)trial, seen);
    free_case(&c);
  }
  assert_true(seen[TB_MODE_OPEN] > 20 && seen[TB_MODE_STICK] > 20 && seen[TB_MODE_SLIDE] > 20);
  assert_true(seen[TB_MODE_LOW] > 20 && seen[TB_MODE_HIGH] > 20);
  tb_world_free(w);
}

// Whole solves from rest: both converge, and where velocities are unique (ccp) they agree.
static void all_forms_find_the_same_velocities(void** state) {
  (void)state;
  tbRng rng = {31};
  tbWorld w = tb_world_scene("humanoid.xml", NULL);
  int converged = 0;
  for (int trial = 0; trial < 36; trial++) {
    static const tbLaw LAWS[] = {TB_LAW_NCP, TB_LAW_CCP, TB_LAW_LCP};
    Case c;
    shake(w, &rng, 11);
    if (!make_case(w, &c)) continue;
    c.a.law = LAWS[trial % 3];
    int n = c.p->n;
    tbReal* lambda = TB_ARENA_NEW(&c.arena, tbReal, 3 * n);
    tbReal* sigma = TB_ARENA_NEW(&c.arena, tbReal, 3 * n);
    int solved = 0;
    // Impulse space has no pyramids.
    for (int form = c.a.law == TB_LAW_LCP; form < 3; form++) {
      tbSolveInfo info;
      tbError error;
      c.a.system = form == 2 ? &c.whole : form ? &c.system : NULL;
      assert_true(tb_active_solve(&c.a, &c.arena, c.p->g, lambda + form * n, &info));
      assert_int_equal(tb_problem_velocity(c.p, lambda + form * n, sigma + form * n, &error),
                       TB_OK);
      tbResidual r = tb_residual(c.p, c.a.law, lambda + form * n, sigma + form * n);
      // The reported residual is that of the problem in Delassus form.
      assert_near(r.relative, info.residual.relative, 1e-9 + 1e-3 * r.relative);
      solved += info.status == TB_SOLVE_CONVERGED;
      if (info.status == TB_SOLVE_CONVERGED) assert_true(r.relative <= 1.01 * c.a.tolerance);
    }
    converged += solved;
    if (c.a.law == TB_LAW_CCP && solved == 3) {
      double fastest = largest(c.p->g, n);
      for (int r = 0; r < n; r++) {
        assert_near(sigma[r], sigma[n + r], 1e-4 * fastest);
        assert_near(sigma[r], sigma[2 * n + r], 1e-4 * fastest);
      }
    }
    free_case(&c);
  }
  // Impulse space alone gives up early.
  assert_true(converged >= 84);
  tb_world_free(w);
}

// ---- contact-space reduction -------------------------------------------------------------------

static tbReducedSpace twists_of(tbWorld w, Case* c) {
  const tbConstraints* cs = &((tbStepState*)w.d->work->step)->constraints;
  int* member = TB_ARENA_NEW(&c->arena, int, cs->count);
  for (int i = 0; i < cs->count; i++) member[i] = i;
  tbIsland island = {.nmember = cs->count, .member = member};
  tbReducedSpace twists;
  assert_true(tb_island_reduced_space(w.m, w.d, cs, &island, &c->arena, &twists));
  return twists;
}

// Random impulses of the reduced problem, and the equality impulses that follow, inserted into the
// whole island: velocities are those of the reduced problem, and equalities hold.
static void check_reduced(Case* c, const tbReducedSpace* twists, tbRng* rng) {
  const tbProblem* p = c->p;
  size_t n = (size_t)p->n;
  tbReal* lambda = TB_ARENA_NEW(&c->arena, tbReal, 3 * n);
  tbReal *sigma = lambda + n, *small = lambda + 2 * n;
  tbReal* x = TB_ARENA_NEW(&c->arena, tbReal, c->whole.size);
  for (size_t r = 0; r < n; r++) lambda[r] = 0.3 * tb_rng_normal(rng) / c->a.rho[r];
  c->a.system = &c->whole;
  tb_active_response(&c->a, lambda, x, sigma);
  tbReduced reduced;
  tbReal* point = TB_ARENA_NEW(&c->arena, tbReal, 2 * n);
  memcpy(point, lambda, sizeof(tbReal) * 2 * n);
  assert_true(tb_active_reduce(&c->a, twists, &c->arena, point, point + n, &reduced));
  assert_true(reduced.possible);
  const tbProblem* left = &reduced.problem;
  for (int r = 0; r < left->n; r++) small[r] = 0.3 * tb_rng_normal(rng) / reduced.reduced.rho[r];
  tb_active_expand(&reduced, small, lambda);
  tb_active_response(&c->a, lambda, x, sigma);
  double speed = 1e-3 + largest(sigma, p->n),
         tall = largest(lambda, p->n) * largest(c->a.rho, p->n);
  double near = 1e-8 * (speed + tall);

  // J J^T of the reduced rows.
  int size = reduced.reduced.inertia.forest.n;
  tbReal* y = TB_ARENA_NEW(&c->arena, tbReal, size + 1);
  for (int k = 0; k < left->nblock; k++) {
    const tbRows* rows = &reduced.reduced.block[k];
    for (int r = 0; r < rows->dim; r++) {
      for (int j = 0; j < rows->nnz; j++) {
        y[rows->col[j]] += rows->J[r * rows->nnz + j] * small[left->block[k].row + r];
      }
    }
  }
  int kept = 0;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row, dim = p->block[i].dim;
    if (p->block[i].type == TB_BLOCK_EQUALITY) {
      for (int r = 0; r < dim; r++) assert_near(sigma[row + r], 0, near);
      continue;
    }
    const tbRows* rows = &reduced.reduced.block[kept];
    for (int r = 0, at = left->block[kept].row; r < dim; r++, at++) {
      double velocity = left->g[at] + left->R[at] * small[at];
      for (int j = 0; j < rows->nnz; j++) velocity += rows->J[r * rows->nnz + j] * y[rows->col[j]];
      assert_near(sigma[row + r], velocity, near);
      assert_near(lambda[row + r], small[at], 0);
    }
    kept++;
  }
  assert_int_equal(kept, left->nblock);
}

// Whole solves in both spaces: where velocities are unique (ccp) they agree.
static int solve_both(Case* c, const tbReducedSpace* twists) {
  size_t n = (size_t)c->p->n;
  tbReal* lambda = TB_ARENA_NEW(&c->arena, tbReal, 4 * n);
  tbReal* x = TB_ARENA_NEW(&c->arena, tbReal, c->whole.size);
  tbReal* sigma = lambda + 2 * n;
  tbSolveInfo info[2];
  c->a.system = &c->whole;
  c->a.tolerance = 1e-8;
  tb_active_response(&c->a, lambda, x, sigma);
  assert_true(tb_active_solve(&c->a, &c->arena, sigma, lambda, &info[0]));
  assert_true(tb_active_solve_reduced(&c->a, twists, &c->arena, sigma, lambda + n, &info[1]));
  if (info[0].status != TB_SOLVE_CONVERGED || info[1].status != TB_SOLVE_CONVERGED) return 0;
  for (size_t k = 0; k < 2; k++) {
    tb_active_response(&c->a, lambda + k * n, x, sigma + k * n);
    tbResidual r = tb_residual(c->p, c->a.law, lambda + k * n, sigma + k * n);
    assert_true(r.relative <= 1.01 * c->a.tolerance);
  }
  double fastest = largest(c->p->g, c->p->n);
  for (size_t r = 0; r < n && c->a.law == TB_LAW_CCP; r++) {
    assert_near(sigma[r], sigma[n + r], 1e-4 * fastest);
  }
  return 1;
}

// A robot of two legs with wide feet, a loop and a weld in each.
static const char TWO_LEGS[] =
    "<mujoco><option timestep='0.002'/><default><joint stiffness='300' damping='5'/></default>"
    "<worldbody><geom type='plane' size='5 5 1'/>"
    "<body pos='0 0 .591'><freejoint/><geom type='box' size='.1 .2 .05' mass='10'/>"
    "<body pos='0 .12 0'><joint axis='0 1 0' range='-40 40'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.3' size='.03'/>"
    "<body name='s1' pos='0 0 -.3'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.25' size='.03' contype='0' conaffinity='0'/>"
    "<body name='f1' pos='0 0 -.27'><joint axis='1 0 0'/><geom type='box' size='.1 .05 "
    ".02'/></body>"
    "</body><body name='r1' pos='.03 0 0'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.3' size='.01' contype='0' conaffinity='0'/></body>"
    "</body>"
    "<body pos='0 -.12 0'><joint axis='0 1 0' range='-40 40'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.3' size='.03'/>"
    "<body name='s2' pos='0 0 -.3'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.25' size='.03' contype='0' conaffinity='0'/>"
    "<body name='f2' pos='0 0 -.27'><joint axis='1 0 0'/><geom type='box' size='.1 .05 "
    ".02'/></body>"
    "</body><body name='r2' pos='.03 0 0'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.3' size='.01' contype='0' conaffinity='0'/></body>"
    "</body></body></worldbody>"
    "<equality><connect body1='r1' body2='s1' anchor='0 0 -.3'/>"
    "<connect body1='r2' body2='s2' anchor='0 0 -.3'/></equality></mujoco>";

static void reduced_problem_is_the_same(void** state) {
  (void)state;
  static const char* const SCENES[] = {"humanoid.xml", "grip.xml", "arm.xml"};
  int solved = 0, twisted = 0, tied = 0;
  for (int k = 0; k < 4; k++) {
    tbRng rng = {(uint64_t)k + 31};
    tbWorld w = k < 3 ? tb_world_scene(SCENES[k], NULL) : tb_world_text(TWO_LEGS);
    for (int trial = 0; trial < 20; trial++) {
      Case c;
      shake(w, &rng, 7);
      if (!make_case(w, &c)) continue;
      c.a.law = trial % 2 ? TB_LAW_CCP : TB_LAW_NCP;
      tbReducedSpace twists = twists_of(w, &c);
      check_reduced(&c, &twists, &rng);
      twisted += twists.count > 0;
      for (int i = 0; i < c.p->nblock; i++) tied += c.p->block[i].type == TB_BLOCK_EQUALITY;
      solved += solve_both(&c, &twists);
      free_case(&c);
    }
    tb_world_free(w);
  }
  print_message("%d solved, %d with twists, %d equalities\n", solved, twisted, tied);
  assert_true(solved > 40 && twisted >= 8 && tied > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_matrix_is_the_dense_one),
                                     cmocka_unit_test(all_forms_take_the_same_round),
                                     cmocka_unit_test(what_slid_still_slides),
                                     cmocka_unit_test(tangents_of_a_pyramid_slide_by_themselves),
                                     cmocka_unit_test(all_forms_find_the_same_velocities),
                                     cmocka_unit_test(reduced_problem_is_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
