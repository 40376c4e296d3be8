// Many worlds of one model, stepped on all cores.
//
// A batch owns the state of its worlds in contiguous arrays, one row per world: read and write them
// directly between calls. Quantities derived from a state live in the workers, one per thread, so
// each further world costs only the memory of its state. Every world gets the same bits as when it
// is simulated alone, with a model of its own, whatever the number of threads.
//
// Functions that take a mask work on the worlds with a nonzero entry (nworld of them); NULL: on
// all. A world that fails keeps its last good state and does not stop the others: the result of the
// call and `message` are those of the first one that failed, `status` and tb_batch_error tell of
// each. A wrong argument changes nothing; `message` names it.
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
  char message[256];       // error of the last call
  tbWorldReport* report;   // nworld: summary of the last call's steps (not a tb_batch_field)
  // The certificate is computed at every certify_every-th step of a call, counted from its first,
  // and always at its last step; 0 or less: at the last step only. Rigid laws get it from their
  // solver in every step; under the other laws it takes 2 to 20 % of a step's time. Steps without a
  // certificate are counted as uncertified.
  int certify_every;
  struct tbBatchState* state;
} tbBatch;

// A field that a rollout records: an array of tbData, or another that tb_batch_request knows.
typedef struct {
  const char* field;
  void* out;  // nworld x (nstep / every) rows, of the field's type
} tbRecord;

// From initial states and sequences of inputs to trajectories. Optional pointers may be NULL.
typedef struct {
  int nstep;
  const unsigned char* mask;        // rows of `out` of the other worlds are left as they are
  const tbReal *qpos, *qvel, *act;  // initial, nworld rows; NULL: continue from the batch's own
                                    // state
  // Inputs before each step, nworld x nstep rows; NULL: the batch's own, held constant.
#define X(type, name, rows, columns, unit, what) const type* name;
  TB_DATA_INPUT(X)
#undef X
  const tbRecord* record;  // what is recorded, at most 64 fields
  int nrecord;
  int every;  // after every such step, counted from the first; 0: after each
} tbRollout;

// The quantities that tb_batch_forward computes.
typedef enum {
  TB_FORWARD_VELOCITY,  // what tb_step1 computes: frames, velocities, contacts, their sensors
  TB_FORWARD_FORCE,     // and forces and accelerations: what tb_forward computes
} tbForwardStage;

// Work on one world: its model, its data and its index. Derived arrays of `data` are stale until
// the function computes them. Threads run it at the same time for different worlds.
typedef tbResult (*tbBatchFunction)(const tbModel* model, tbData* data, int world, void* argument);

TB_EXTERN_C_BEGIN

// `nworld` worlds at the reference pose; `nthread` threads, 0 for one per core. Creation fails if
// the batch would need more than `memory_limit` bytes (0: no limit). A step fails if the limit
// leaves too little memory for it, or if the memory that worlds keep between steps exceeds the
// limit. NULL and `error` on failure. The model must outlive the batch and is not changed. Its
// options are read at each call; its arrays must not change.
TB_API tbBatch* tb_batch_new(const tbModel* model, int nworld, int nthread, size_t memory_limit,
                             tbError* error);
TB_API void tb_batch_free(tbBatch* batch);

// Bytes that the batch holds now: arrays, workers with their solvers' memory, the world memories.
TB_API size_t tb_batch_memory(const tbBatch* batch);

// The array called `name` and its number of columns: one of the fields above, an expanded array of
// the model or a requested field. NULL if there is none. `type` as tb_model_field.
TB_API void* tb_batch_field(const tbBatch* batch, const char* name, const char** type,
                            int* columns);

// Error of the world's last call, "" if it had none.
TB_API const char* tb_batch_error(const tbBatch* batch, int world);

// ---- running -----------------------------------------------------------------------------------

// Advance every world by `nstep` steps with its inputs held.
TB_API tbResult tb_batch_step(tbBatch* batch, int nstep);

// Many steps in one call. If initial states are given, every world starts without warm-start data,
// so that the result depends on the arguments and the worlds' models only.
TB_API tbResult tb_batch_rollout(tbBatch* batch, const tbRollout* rollout);

// Sensors and requested fields at the present states, without moving them.
TB_API tbResult tb_batch_forward(tbBatch* batch, const unsigned char* mask, tbForwardStage stage);

// Call a function for each world. If `keep`, what it does to state, inputs and world memory is kept
// where it returns TB_OK; else the world stays as it was.
TB_API tbResult tb_batch_apply(tbBatch* batch, const unsigned char* mask, tbBatchFunction function,
                               void* argument, int keep);

// Worlds return to the reference pose, or to keyframe `key` >= 0. Their models are kept.
TB_API tbResult tb_batch_reset(tbBatch* batch, const unsigned char* mask, int key);

// The same for `count` worlds by index; `key` has one keyframe (or -1) for each of them, NULL: -1.
TB_API tbResult tb_batch_reset_worlds(tbBatch* batch, const int* world, int count, const int* key);

// ---- models by world ---------------------------------------------------------------------------

// Give each world its own values of an array of the model ("geom_friction") or of an option
// ("opt.gravity"); returns nworld rows, at first the model's values, which stay where they are
// until tb_batch_free. Values are checked when a world is stepped, and derived constants of the
// model (tb_set_constants) are recomputed when rows that they follow from have changed. NULL for
// what all worlds share: integers of arrays, meshes, constants that follow from other arrays, the
// options threads, disableflags and enableflags.
TB_API void* tb_batch_expand(tbBatch* batch, const char* name);

// Check the models of worlds and recompute their derived constants now, whatever has changed.
TB_API tbResult tb_batch_set_constants(tbBatch* batch, const unsigned char* mask);

// Write the model of a world to `model`, a copy of the batch's model (tb_model_copy); and give a
// world the values of such a model, expanding arrays and options where it differs.
TB_API tbResult tb_batch_get_model(tbBatch* batch, int world, tbModel* model);
TB_API tbResult tb_batch_set_model(tbBatch* batch, int world, const tbModel* model);

// ---- fields of the data by world ---------------------------------------------------------------

// Have a field of tbData ("xpos", "qacc", "cfrc_int", ...) copied at the end of every step call,
// rollout and evaluation: returns nworld rows, which stay until tb_batch_free. Also "energy",
// "residual" (of the law), "body_contact_wrench" (nbody x 6: force and torque of all contacts of a
// body, about its centre of mass, world axes), and the batch's own arrays. As after tb_step, frames
// and forces are those of the start of the last step: tb_batch_forward gives those of the present
// state. Zero until then and after a reset. NULL if there is no such field.
TB_API void* tb_batch_request(tbBatch* batch, const char* name);

// ---- worlds ------------------------------------------------------------------------------------

// World `to` becomes a copy of world `from` in everything: state, inputs, world memory, model,
// results. The two continue with the same bits.
TB_API tbResult tb_batch_clone(tbBatch* batch, int from, int to);

// Every world w becomes a copy of the world that index[w] was. Takes memory for a state (below) of
// each world while it runs.
TB_API tbResult tb_batch_gather(tbBatch* batch, const int* index);

// Copy a world's state, inputs and world memory to a tbData and back. `model` is the one with which
// `data` is stepped: the batch's, or from tb_batch_get_model. Either continues with the bits with
// which the other would have.
TB_API tbResult tb_batch_get_world(tbBatch* batch, int world, const tbModel* model, tbData* data);
TB_API tbResult tb_batch_set_world(tbBatch* batch, int world, const tbModel* model,
                                   const tbData* data);

// Everything that worlds remember (state, inputs, warm starts, anchors, sleep, memory of collision
// pairs) as one array: nworld rows of `size` bytes, each a snapshot (tb_snapshot_load) and zeros
// behind it. tb_batch_state_size is the least size for the present worlds, a multiple of 8: it
// changes with the number of contacts, so ask before each get. Rows of worlds that the mask leaves
// out are not touched. A row that is no snapshot of this model is an error of its world.
TB_API size_t tb_batch_state_size(tbBatch* batch);
TB_API tbResult tb_batch_state_get(tbBatch* batch, const unsigned char* mask, void* rows,
                                   size_t size);
TB_API tbResult tb_batch_state_set(tbBatch* batch, const unsigned char* mask, const void* rows,
                                   size_t size);

TB_EXTERN_C_END

#endif
