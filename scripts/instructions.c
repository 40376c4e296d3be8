// One case of scripts/instructions.py, built against any version of the library. It loads, prepares,
// and calls one function counted_*, whose instructions valgrind counts. The printed line is equal for
// two versions that did the same work.
//
//   count step|linearize MODEL LAW WARM-UP-STEPS CALLS [INTEGRATOR]
//   count collide TYPE-A TYPE-B          2000 random placements of two shapes
//   count solve FILE LAW SOLVER          a contact problem in FCLIB's format
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tribo/tribo.h"

enum { POSES = 2000 };

static void fail(const char* what) {
  fprintf(stderr, "count: %s\n", what);
  exit(1);
}

static int law_of(const char* word) {
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    if (strcmp(tb_step_law_name(law), word) == 0) return law;
  }
  fail(word);
  return 0;
}

__attribute__((noinline)) void counted_steps(const tbModel* m, tbData* d, int n) {
  for (int i = 0; i < n; i++) tb_step(m, d);
}

__attribute__((noinline)) void counted_linearize(const tbModel* m, tbData* d, tbDerivatives* x,
                                                 int n) {
  for (int i = 0; i < n; i++) tb_step_linearize(m, d, NULL, x, NULL);
}

__attribute__((noinline)) int counted_collide(const tbShape* a, const tbShape* b) {
  tbContactPoint out[TB_MAX_PAIR_CONTACTS];
  int count = 0;
  for (int i = 0; i < POSES; i++) count += tb_collide(a + i, b + i, 0.01, out, NULL);
  return count;
}

__attribute__((noinline)) void counted_solve(const tbProblem* p, const tbSolveSettings* settings,
                                             tbReal* lambda, tbSolveInfo* info) {
  tb_solve(p, settings, lambda, NULL, info, NULL);
}

// Of [-1, 1].
static double uniform(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-52 - 1;
}

static void place(tbShape* s, int type) {
  memset(s, 0, sizeof *s);
  s->type = type;
  for (int i = 0; i < 3; i++) {
    s->size[i] = 0.3 + 0.2 * uniform();
    s->pos[i] = 0.45 * uniform();
  }
  double w = uniform(), x = uniform(), y = uniform(), z = uniform();
  double norm = sqrt(w * w + x * x + y * y + z * z);
  w /= norm, x /= norm, y /= norm, z /= norm;
  const double mat[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                         2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
  memcpy(s->mat, mat, sizeof mat);
}

static void motion(int argc, char** argv) {
  tbError error = {0};
  tbModel* m = tb_load(argv[2], NULL, &error);
  if (!m || argc < 6) fail(error.message);
  m->opt.law = law_of(argv[3]);
  if (argc > 6) m->opt.integrator = atoi(argv[6]);
  tbData* d = tb_data_new(m);
  if (!d) fail("out of memory");
  if (m->nkey > 0) tb_reset_keyframe(m, d, 0);
  for (int i = 0; i < atoi(argv[4]); i++) tb_step(m, d);
  if (strcmp(argv[1], "step") == 0) {
    counted_steps(m, d, atoi(argv[5]));
  } else {
    tbDerivatives* x = tb_derivatives_new(m);
    if (!x) fail("out of memory");
    counted_linearize(m, d, x, atoi(argv[5]));
  }
  double sum = 0;
  for (int i = 0; i < m->nv; i++) sum += d->qvel[i] * (i + 1);
  printf("%d contacts, %.6g\n", d->ncon, sum);
}

static void collide(char** argv) {
  tbShape* a = malloc(sizeof(tbShape) * 2 * POSES);
  if (!a) fail("out of memory");
  for (int i = 0; i < POSES; i++) {
    place(a + i, atoi(argv[2]));
    place(a + POSES + i, atoi(argv[3]));
  }
  printf("%d contacts\n", counted_collide(a, a + POSES));
}

static void solve(char** argv) {
  tbError error = {0};
  tbFclib* file;
  tbProblem* p;
  if (tb_fclib_read(argv[2], &file, &error) != TB_OK) fail(error.message);
  if (tb_fclib_problem(file, &p, &error) != TB_OK) fail(error.message);
  tbSolveSettings settings = tbDefaultSolveSettings();
  settings.law = law_of(argv[3]);
  settings.solver = argv[4];
  tbReal* lambda = calloc((size_t)p->n + 1, sizeof *lambda);
  tbSolveInfo info = {0};
  if (!lambda) fail("out of memory");
  counted_solve(p, &settings, lambda, &info);
  printf("%d rows, %d iterations\n", p->n, info.iterations);
}

int main(int argc, char** argv) {
  if (argc < 4) fail("see the head of this file");
  if (strcmp(argv[1], "collide") == 0) {
    collide(argv);
  } else if (strcmp(argv[1], "solve") == 0 && argc > 4) {
    solve(argv);
  } else {
    motion(argc, argv);
  }
  return 0;
}
