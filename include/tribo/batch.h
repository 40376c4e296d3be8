// Many worlds of one model, stepped on all cores.
//
// A batch owns the state of its worlds in contiguous arrays, one row per world: read and write them
// directly between calls. Quantities derived from a state live in the workers, one per thread, so
// each further world costs only the memory of its state. Every world gets the same bits as when it
// is simulated alone, whatever the number of threads.
#ifndef TRIBO_BATCH_H_
#define TRIBO_BATCH_H_

#include "tribo/report.h"
#include "tribo/step.h"

typedef struct {
  const tbModel* model;
  int nworld;
  int nthread;
  // State and input: nworld rows, the columns of tbData's arrays of the same names.
#define X(type, name, rows, columns, unit, what) type* name;
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
  tbReal* time;        // nworld, s
  tbReal* sensordata;  // nworld x nsensordata
  // The certificate of each world's last step.
  int* status;             // nworld: tbResult; a world whose step failed keeps the state before
                           // that step
  int* ncon;               // nworld: contacts
  tbReal* residual_exact;  // nworld: relative residual of the exact law; NaN: not evaluated
  // Parameters of each world, to be set before a step.
  tbReal* friction_scale;     // nworld, times every friction coefficient; 1
  tbReal* mass_scale;         // nworld, times every mass and inertia; 1
  tbReal* comfree_stiffness;  // nworld: k_user; at first that of the model's options
  tbReal* comfree_damping;    // nworld: d_user; at first that of the model's options
  char message[256];          // error of the first world that failed in the last call
  tbWorldReport* report;      // nworld: summary of the last call's steps (not a tb_batch_field)
  // The certificate is computed at every certify_every-th step of a call, counted from its first,
  // and always at its last step; 0 or less: at the last step only. Rigid laws get it from their
  // solver in every step; under the other laws it takes 2 to 20 % of a step's time. Steps without a
  // certificate are counted as uncertified.
  int certify_every;
  struct tbBatchState* state;
} tbBatch;

// From initial states and control sequences to trajectories. Optional pointers may be NULL.
typedef struct {
  int nstep;
  const tbReal *qpos, *qvel, *act;  // initial, nworld rows; NULL: continue from the batch's own
                                    // state
  const tbReal* ctrl;               // nworld x nstep x nu; NULL: the batch's controls, held
                                    // constant
  // Results after each step, nworld x nstep rows.
  tbReal *qpos_out, *qvel_out, *sensordata_out;
} tbRollout;

TB_EXTERN_C_BEGIN

// `nworld` worlds at the reference pose; `nthread` threads, 0 for one per core. Creation fails if
// the batch would need more than `memory_limit` bytes (0: no limit). A step fails if the limit
// leaves too little memory for it, or if the memory that worlds keep between steps exceeds the
// limit. NULL and `error` on failure. The model must outlive the batch and is not changed. Its
// options are read at each call; its arrays must not change.
TB_API tbBatch* tb_batch_new(const tbModel* model, int nworld, int nthread, size_t memory_limit,
                             tbError* error);
TB_API void tb_batch_free(tbBatch* batch);

// Advance every world by `nstep` steps with its controls held. A world that fails keeps its last
// good state and does not stop the others: the result is that of the first one that failed.
TB_API tbResult tb_batch_step(tbBatch* batch, int nstep);

// Worlds with a nonzero mask (NULL: all) return to the reference pose, or to keyframe `key` >= 0.
// Their parameters are kept.
TB_API tbResult tb_batch_reset(tbBatch* batch, const unsigned char* mask, int key);

// Many steps in one call. If initial states are given, every world starts without warm-start data,
// so that the result depends on the arguments and parameters only.
TB_API tbResult tb_batch_rollout(tbBatch* batch, const tbRollout* rollout);

// Bytes that the batch holds now: arrays, workers with their solvers' memory, the world memories.
TB_API size_t tb_batch_memory(const tbBatch* batch);

// The array called `name` (one of the fields above) and its number of columns, as tb_data_field.
// NULL if there is none.
TB_API void* tb_batch_field(const tbBatch* batch, const char* name, const char** type,
                            int* columns);

TB_EXTERN_C_END

#endif
