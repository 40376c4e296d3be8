// Many worlds of one model, stepped on all cores.
//
// A batch owns the state of its worlds in contiguous arrays, one row per world: read and write them
// directly between calls. What a step derives from a state lives in the workers, one per thread, so
// that memory grows with the worlds only by their state. Every world gets the bits it would get
// alone, whatever the number of threads.
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
  int* status;             // nworld: tbResult; a world that failed stays where it was
  int* ncon;               // nworld: contacts
  tbReal* residual_exact;  // nworld: relative residual of the exact law; NaN: not judged
  // Parameters of each world, to be set before a step.
  tbReal* friction_scale;     // nworld, times every friction coefficient; 1
  tbReal* mass_scale;         // nworld, times every mass and inertia; 1
  tbReal* comfree_stiffness;  // nworld: k_user; the model's
  tbReal* comfree_damping;    // nworld: d_user; the model's
  char message[256];          // of the first world that failed in the last call
  tbWorldReport* report;      // nworld: of the steps of the last call (not a tb_batch_field)
  // Every how many steps of a call, counted from its first, the certificate is made besides its
  // last one; 0 or less: never. Rigid
  // laws have theirs from the solver in every step; that of the others takes 2 to 20 % of one, and
  // steps that go without are counted as unjudged.
  int judge_every;
  struct tbBatchState* state;
} tbBatch;

// From initial states and control sequences to trajectories. NULL where something is not wanted.
typedef struct {
  int nstep;
  const tbReal *qpos, *qvel, *act;  // initial, nworld rows; NULL: the batch's own, and go on
  const tbReal* ctrl;               // nworld x nstep x nu; NULL: held
  // Results after each step, nworld x nstep rows.
  tbReal *qpos_out, *qvel_out, *sensordata_out;
} tbRollout;

TB_EXTERN_C_BEGIN

// `nworld` worlds at the reference pose; `nthread` threads, 0 for one per core. A batch that would
// need more than `memory_limit` bytes (0: no limit) is refused; a step for which the limit leaves
// too little fails, and a batch that remembers more than it says so. NULL and `error` on failure.
// The model must outlive the batch and is not changed. Its options count as they are at each call;
// its arrays must stay as they are.
TB_API tbBatch* tb_batch_new(const tbModel* model, int nworld, int nthread, size_t memory_limit,
                             tbError* error);
TB_API void tb_batch_free(tbBatch* batch);

// Advance every world by `nstep` steps with its controls held. A world that fails keeps its last
// good state and does not stop the others: the result is that of the first one that failed.
TB_API tbResult tb_batch_step(tbBatch* batch, int nstep);

// Worlds with a nonzero mask (NULL: all) go back to the reference pose, or to keyframe `key` >= 0.
// Parameters stay.
TB_API tbResult tb_batch_reset(tbBatch* batch, const unsigned char* mask, int key);

// Many steps in one call. With initial states every world starts without memories of its past, so
// that the result depends on the arguments and parameters only.
TB_API tbResult tb_batch_rollout(tbBatch* batch, const tbRollout* rollout);

// Bytes that the batch holds now: arrays, workers with their solvers' memory, what worlds remember.
TB_API size_t tb_batch_memory(const tbBatch* batch);

// The array called `name` (one of the fields above) and its columns, as tb_data_field. NULL if
// there is none.
TB_API void* tb_batch_field(const tbBatch* batch, const char* name, const char** type,
                            int* columns);

TB_EXTERN_C_END

#endif
