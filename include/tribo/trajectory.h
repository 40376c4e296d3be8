// Writes the states of a simulation to a file, CSV or HDF5 according to the name's ending.
#ifndef TRIBO_TRAJECTORY_H_
#define TRIBO_TRAJECTORY_H_

#include "tribo/data.h"

typedef struct tbTrajectory tbTrajectory;

TB_EXTERN_C_BEGIN

// A file with one row per state: time, qpos, qvel, ctrl, energy (potential, kinetic), number of
// contacts, relative residual of the exact law (NaN, in CSV "nan", for steps without a
// certificate). Values are taken from the data: after a step, contacts and residual are of that
// step, and energy is that at its start with TB_ENABLE_ENERGY, else zero (tb_energy_position and
// _velocity recompute it). ".csv" has a line of column names; ".h5" (or ".hdf5") has one dataset
// per quantity; a ".part" behind these is ignored. NULL and `error` if the file cannot be created
// or an HDF5 file is asked for and its library is not installed (fclib.h).
TB_API tbTrajectory* tb_trajectory_open(const char* path, const tbModel* model, tbError* error);
TB_API tbResult tb_trajectory_append(tbTrajectory* trajectory, const tbModel* model,
                                     const tbData* data, tbError* error);

// Finish and free. Write errors are reported here at the latest.
TB_API tbResult tb_trajectory_close(tbTrajectory* trajectory, tbError* error);

TB_EXTERN_C_END

#endif
