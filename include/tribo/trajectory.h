// Writes the states of a simulation to a file, CSV or HDF5 according to the name's ending.
#ifndef TRIBO_TRAJECTORY_H_
#define TRIBO_TRAJECTORY_H_

#include "tribo/data.h"

typedef struct tbTrajectory tbTrajectory;

TB_EXTERN_C_BEGIN

// A recording of the default fields (record.h): one row per state with time, qpos, qvel, ctrl,
// energy (potential, kinetic), number of contacts, relative residual of the exact law (NaN, in CSV
// "nan", for steps without a certificate). Values are taken from the data: after a step, contacts
// and residual are of that step, and energy is that at its start with TB_ENABLE_ENERGY, else zero
// (tb_energy_position and _velocity recompute it).
TB_API tbTrajectory* tb_trajectory_open(const char* path, const tbModel* model, tbError* error);
TB_API tbResult tb_trajectory_append(tbTrajectory* trajectory, const tbModel* model,
                                     const tbData* data, tbError* error);

// Finish and free. Write errors are reported here at the latest.
TB_API tbResult tb_trajectory_close(tbTrajectory* trajectory, tbError* error);

TB_EXTERN_C_END

#endif
