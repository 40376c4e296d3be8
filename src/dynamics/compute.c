// The position stage and the velocity stage.
#include "dynamics/camera.h"
#include "dynamics/mass.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"

void tb_position_stage(const tbModel* m, tbData* d) {
  tb_stage_kinematics(m, d);
  tb_stage_com_position(m, d);
  tb_camera(m, d);
  tb_stage_tendon(m, d);
  tb_stage_crb(m, d);
  tb_stage_transmission(m, d);
  d->work->unfactored = 1;
}

void tb_compute_position(const tbModel* m, tbData* d) {
  if (!tb_is_world_of(m, d)) return;
  tb_position_stage(m, d);
  tb_factor_m(m, d);
}

// r[i] = row i . v, for rows by a sparsity pattern.
static void mul_rows(int n, const int* adr, const int* nnz, const int* columns, const tbReal* rows,
                     const tbReal* v, tbReal* r) {
  for (int i = 0; i < n; i++) {
    tbReal sum = 0;
    for (int s = adr[i]; s < adr[i] + nnz[i]; s++) sum += rows[s] * v[columns[s]];
    r[i] = sum;
  }
}

void tb_compute_velocity(const tbModel* m, tbData* d) {
  if (!tb_is_data_of(m, d)) return;
  mul_rows(m->ntendon, m->tendon_Jadr, m->tendon_Jnnz, m->Jten_colind, d->ten_J, d->qvel,
           d->ten_velocity);
  mul_rows(m->nu, m->actuator_Jadr, m->actuator_Jnnz, m->Jmom_colind, d->actuator_moment, d->qvel,
           d->actuator_velocity);
  tb_stage_com_velocity(m, d);
  tb_stage_rne(m, d, 0, 0, d->qfrc_bias);
}

void tb_forward_dynamics(const tbModel* m, const tbData* d, const tbReal* tau, tbReal* qacc) {
  if (!tb_is_world_of(m, d) || !tau || !qacc) return;
  for (int i = 0; i < m->nv; i++) qacc[i] = tau[i] - d->qfrc_bias[i];
  tb_solve_m(m, d, qacc, qacc, 1);
}
