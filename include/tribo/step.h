// One step of a world, in whole or in two halves.
#ifndef TRIBO_STEP_H_
#define TRIBO_STEP_H_

#include "tribo/data.h"

// Laws of a step beyond those of a problem (tbLaw), for tbOption.law.
enum {
  TB_LAW_SOFT = TB_LAW_COUNT,  // MuJoCo's regularised convex model
  TB_LAW_COMFREE,              // complementarity-free: forces in closed form
  TB_LAW_VISCOELASTIC,         // springs and dampers with anchor points
  TB_STEP_LAW_COUNT
};

// tbOption.solver.
typedef enum {
  TB_SOLVER_AUTO,
  TB_SOLVER_PGS,
  TB_SOLVER_ADMM,
  TB_SOLVER_NEWTON,
  TB_SOLVER_STAGGERED,
  TB_SOLVER_LEMKE,
  TB_SOLVER_PGS_EXACT,
  TB_SOLVER_PROX_NEWTON,
  TB_SOLVER_IPM,
  TB_SOLVER_COUNT
} tbSolverKind;

// Actuators for which length ranges are computed.
typedef enum {
  TB_LENGTHRANGE_NONE,
  TB_LENGTHRANGE_MUSCLE,
  TB_LENGTHRANGE_MUSCLEUSER,
  TB_LENGTHRANGE_ALL
} tbLengthRangeMode;

// How length ranges are computed; the fields are those of MJCF's compiler/lengthrange.
typedef struct {
  int mode;          // tbLengthRangeMode
  int useexisting;   // keep ranges that the file gives
  int uselimit;      // use the limits of a limited joint or tendon
  tbReal accel;      // magnitude of the acceleration that the force produces
  tbReal maxforce;   // largest magnitude of the force; 0: unlimited
  tbReal timeconst;  // time constant of the velocities' decay, s
  tbReal timestep;   // s; 0: the model's
  tbReal inttotal;   // simulated time per direction, s
  tbReal interval;   // final interval in which lengths are recorded, s
  tbReal tolrange;   // largest variation in that interval, relative to the range
} tbLengthRangeOptions;

TB_EXTERN_C_BEGIN

// "ncp", "ccp", "lcp", "raisim", "soft", "comfree", "viscoelastic"; "unknown" out of range.
TB_API const char* tb_step_law_name(int law);

// Advance by one time step. On a non-finite result the state stays as it was, data->status says why
// and data->message names the quantity; the same result is returned. An invalid option or a world
// of another model is handled in the same way (TB_ERROR_ARGUMENT). A solver that did not converge
// is not an error: data->solve has its residuals.
TB_API tbResult tb_step(const tbModel* model, tbData* data);

// The same in two halves: after the first, everything that depends on qpos and qvel is current
// (frames, Jacobians, contacts, sensors of position and velocity), so that a controller can set
// ctrl and applied forces before the second (TB_ERROR_ARGUMENT without the first).
TB_API tbResult tb_step1(const tbModel* model, tbData* data);
TB_API tbResult tb_step2(const tbModel* model, tbData* data);

// Everything a step computes, without moving the state: qacc, contact forces, residuals, sensors.
TB_API tbResult tb_forward(const tbModel* model, tbData* data);

// Everything that the further simulation depends on, as one block of bytes with a checksum: state,
// controls, applied forces, and the world memory (warm starts and the like). A world that loads the
// snapshot continues with the bits of the world that saved it. The size changes from step to step.
// Native byte order; for worlds of the same model only.
TB_API size_t tb_snapshot_size(const tbModel* model, const tbData* data);

// `size` must be tb_snapshot_size, else TB_ERROR_ARGUMENT.
TB_API tbResult tb_snapshot_save(const tbModel* model, const tbData* data, void* bytes,
                                 size_t size);

// On error `error` (may be NULL) says what is wrong with the bytes and the world is unchanged,
// except when memory runs out. Contacts and forces are computed by the next step.
TB_API tbResult tb_snapshot_load(const tbModel* model, tbData* data, const void* bytes, size_t size,
                                 tbError* error);

// The contact problem of the state at which tb_forward was last called under a rigid law, all
// islands in one: for solvers of your own, for files (fclib.h). The caller frees it with
// tb_problem_free. NULL, and `error` says why, after another law or without tb_forward.
TB_API tbProblem* tb_step_problem(const tbModel* model, tbData* data, tbError* error);

// Compute actuator_lengthrange, as loading does, for the actuators that `mode` selects: a
// simulation from qpos0 drives each of them to both ends of its range (docs/manual/constants.md).
// `failed` (may be NULL) gets the actuator at fault, else -1. The model's options are unchanged.
TB_API tbLengthRangeOptions tbDefaultLengthRangeOptions(void);
TB_API tbResult tb_set_length_ranges(tbModel* model, const tbLengthRangeOptions* options,
                                     int* failed, tbError* error);

// 1 if kinematic tree `tree` sleeps (tbOption.sleep): its island was at rest and is skipped until
// something touches it.
TB_API int tb_tree_asleep(const tbModel* model, const tbData* data, int tree);

// Calls to malloc by steps of this world so far: constant after the first steps.
TB_API size_t tb_step_allocations(const tbData* data);

// Bytes that a world holds: its arrays, contacts and rows, the solvers' memory, the world memory.
TB_API size_t tb_step_memory(const tbModel* model, const tbData* data);

TB_EXTERN_C_END

#endif
