// Parts of the position and the velocity stage (tribo/dynamics.h), for a model and data that are
// known to match.
#ifndef TRIBO_DYNAMICS_STAGE_H_
#define TRIBO_DYNAMICS_STAGE_H_

#include "tribo/data.h"

void tb_stage_kinematics(const tbModel* m, tbData* d);
void tb_stage_com_position(const tbModel* m, tbData* d);
void tb_stage_tendon(const tbModel* m, tbData* d);
void tb_stage_crb(const tbModel* m, tbData* d);
void tb_stage_transmission(const tbModel* m, tbData* d);
void tb_stage_com_velocity(const tbModel* m, tbData* d);
void tb_stage_rne(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc, tbReal* tau);

#endif
