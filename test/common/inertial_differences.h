// Derivatives of a step by the inertial parameters of a body as differences of whole steps of
// models that have others; inverse weights stay as they are. Header only.
#ifndef TRIBO_TEST_INERTIAL_DIFFERENCES_H_
#define TRIBO_TEST_INERTIAL_DIFFERENCES_H_

#include "common/test.h"
#include "tribo/tribo.h"

static inline void tb_test_step_with_inertia(const tbModel* like, int body,
                                             const tbReal* parameters, const void* start,
                                             size_t size, tbReal* qpos, tbReal* qvel) {
  tbModel* m = tb_model_copy(like);
  tbError error;
  assert_non_null(m);
  assert_int_equal(tb_inertial_set(m, body, parameters), TB_OK);
  assert_int_equal(tb_set_constants(m, &error), TB_OK);
  memcpy(m->body_invweight0, like->body_invweight0, sizeof(tbReal) * 2 * (size_t)m->nbody);
  memcpy(m->dof_invweight0, like->dof_invweight0, sizeof(tbReal) * (size_t)m->nv);
  memcpy(m->tendon_invweight0, like->tendon_invweight0, sizeof(tbReal) * (size_t)m->ntendon);
  tbData* d = tb_data_new(m);
  assert_int_equal(tb_snapshot_load(m, d, start, size, NULL), TB_OK);
  assert_int_equal(tb_step(m, d), TB_OK);
  memcpy(qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(qvel, d->qvel, sizeof(tbReal) * (size_t)m->nv);
  tb_data_free(d);
  tb_model_free(m);
}

// One column per parameter (2 nv x TB_NINERTIAL) from a snapshot, with increments of `share` of the
// body's size.
static inline void tb_test_inertial_differences(const tbModel* m, int body, tbReal share,
                                                const void* start, size_t size, tbReal* out) {
  int nv = m->nv;
  tbReal qpos[2][32], qvel[2][32], column[64], at[TB_NINERTIAL], moved[TB_NINERTIAL];
  tb_inertial_get(m, body, at);
  for (int p = 0; p < TB_NINERTIAL; p++) {
    tbReal e = share * (p == 0 ? at[0] : p < 4 ? 0.1 * at[0] : at[4] + at[6] + at[9]);
    for (int side = 0; side < 2; side++) {
      memcpy(moved, at, sizeof moved);
      moved[p] += side ? e : -e;
      tb_test_step_with_inertia(m, body, moved, start, size, qpos[side], qvel[side]);
    }
    tb_differentiate_pos(m, column, 2 * e, qpos[0], qpos[1]);
    for (int i = 0; i < nv; i++) column[nv + i] = (qvel[1][i] - qvel[0][i]) / (2 * e);
    for (int i = 0; i < 2 * nv; i++) out[i * TB_NINERTIAL + p] = column[i];
  }
}

#endif
