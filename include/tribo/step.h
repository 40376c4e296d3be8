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
  TB_SOLVER_DIRECT,
  TB_SOLVER_BISECTION,
  TB_SOLVER_PROX,
  TB_SOLVER_IPM,
  TB_SOLVER_CORRECTED,
  TB_SOLVER_COUNT
} tbSolverKind;

// Which actuators get a length range.
typedef enum {
  TB_LENGTHRANGE_NONE,
  TB_LENGTHRANGE_MUSCLE,
  TB_LENGTHRANGE_MUSCLEUSER,
  TB_LENGTHRANGE_ALL
} tbLengthRangeMode;

// How length ranges are found; the fields are those of MJCF's compiler/lengthrange.
typedef struct {
  int mode;          // tbLengthRangeMode
  int useexisting;   // keep a range that is there
  int uselimit;      // take the limits of a limited joint or tendon
  tbReal accel;      // size of the acceleration that the force gives
  tbReal maxforce;   // largest size of the force; 0: none
  tbReal timeconst;  // velocities decay with this, s
  tbReal timestep;   // s; 0: the model's
  tbReal inttotal;   // how long to pull, s
  tbReal interval;   // the end of it in which lengths count, s
  tbReal tolrange;   // largest change then, relative to the range
} tbLengthRangeOptions;

TB_EXTERN_C_BEGIN

// "ncp", "ccp", "lcp", "raisim", "soft", "comfree", "viscoelastic"; "unknown" out of range.
TB_API const char* tb_step_law_name(int law);

// Advance by one time step. On a non-finite result the state stays as it was, data->status says
// why and data->message names the quantity; the same result is returned. So with an option that has
// no meaning, or a world of another model (TB_ERROR_ARGUMENT). A solver that did not converge is
// not an error: data->solve has its residuals.
TB_API tbResult tb_step(const tbModel* model, tbData* data);

// The same in two halves: after the first, everything that depends on qpos and qvel is current
// (frames, Jacobians, contacts, sensors of position and velocity), so that a controller can set
// ctrl and applied forces before the second (TB_ERROR_ARGUMENT without the first).
TB_API tbResult tb_step1(const tbModel* model, tbData* data);
TB_API tbResult tb_step2(const tbModel* model, tbData* data);

// Everything a step computes, without moving: qacc, contact forces, residuals, sensors.
TB_API tbResult tb_forward(const tbModel* model, tbData* data);

// Everything that the rest of a simulation depends on, as one block of bytes with a checksum:
// state, controls, applied forces, and what the world remembers for warm starts. A world that loads
// it goes on with the bits of the world that saved it. The size changes from step to step. Native
// byte order; for worlds of the same model only.
TB_API size_t tb_snapshot_size(const tbModel* model, const tbData* data);

// `size` is what tb_snapshot_size says. TB_ERROR_ARGUMENT if it is not.
TB_API tbResult tb_snapshot_save(const tbModel* model, const tbData* data, void* bytes,
                                 size_t size);

// On error `error` (may be NULL) says what is wrong with the bytes and the world is as it was,
// except where memory runs out. Contacts and forces are those of the next step.
TB_API tbResult tb_snapshot_load(const tbModel* model, tbData* data, const void* bytes, size_t size,
                                 tbError* error);

// The contact problem of the state at which tb_forward was last called under a rigid law, all
// islands in one: for solvers of your own, for files (fclib.h). The caller frees it with
// tb_problem_free. NULL, and `error` says why, after another law or without tb_forward.
TB_API tbProblem* tb_step_problem(const tbModel* model, tbData* data, tbError* error);

// Set actuator_lengthrange, as loading does: of each actuator of the kinds that `mode` names, by
// pulling the robot at qpos0 to both ends (docs/constants.md). `failed` (may be NULL) gets the
// actuator at fault, else -1. The model's options stay as they are.
TB_API tbLengthRangeOptions tbDefaultLengthRangeOptions(void);
TB_API tbResult tb_set_length_ranges(tbModel* model, const tbLengthRangeOptions* options,
                                     int* failed, tbError* error);

// 1 if kinematic tree `tree` sleeps (tbOption.sleep): its island was at rest and is left out until
// something touches it.
TB_API int tb_tree_asleep(const tbModel* model, const tbData* data, int tree);

// Calls to malloc by steps of this world so far: constant once the world is warm.
TB_API size_t tb_step_allocations(const tbData* data);

// Bytes that a world holds: its arrays, contacts and rows, the solvers' memory, what it remembers.
TB_API size_t tb_step_memory(const tbModel* model, const tbData* data);

TB_EXTERN_C_END

#endif
