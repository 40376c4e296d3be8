// One world: its state, everything derived from it, and its memory.
#ifndef TRIBO_DATA_H_
#define TRIBO_DATA_H_

#include "tribo/data_fields.h"
#include "tribo/model.h"
#include "tribo/problem.h"

// A contact as the step sees it. `frame` has the normal first and points from geom 1 to geom 2.
typedef struct {
  tbReal dist;           // m, negative when overlapping
  tbReal pos[3];         // m, midway between the surfaces
  tbReal frame[9];       // rows: normal, t1, t2
  tbReal includemargin;  // m: force acts only where dist is below this; rigid laws use it only if
                         // negative
  tbReal friction[5];    // two sliding, torsional, two rolling
  tbReal solref[TB_NREF];
  tbReal solreffriction[TB_NREF];
  tbReal solimp[TB_NIMP];
  tbReal restitution;        // rigid laws: reduced in a step where it would add kinetic energy
  tbReal compliance;         // m/N, along the normal
  tbReal tangentcompliance;  // m/N, along the tangents, without memory
  tbReal damping;            // N s/m
  tbReal comfree[2];  // comfree law: stiffness and damping of an explicit pair; -1: those of the
                      // options
  tbReal force[6];    // N, N m: applied in the last step, in `frame`
  int dim;            // 1, 3, 4 or 6; law raisim uses the first 3 rows
  int geom[2];
  int exclude;   // 1: detected, but in the gap, so without force
  int row;       // first row in the problem; -1: excluded, or cannot push in this step
  uint64_t key;  // geom pair and feature: identifies the contact across steps
} tbContact;

// The constraint responsible where a step failed or did not converge.
typedef enum {
  TB_OFFENCE_NONE,
  TB_OFFENCE_UNCONVERGED,  // the constraint with the largest residual; soft: the largest impulse
  TB_OFFENCE_FAILED,       // the step was not made; data->message says why
} tbOffence;
typedef struct {
  int reason;   // tbOffence
  int geom[2];  // of the contact; -1: not a contact
  int body;     // moving body of the constraint (geom[1]'s if both move); -1: none in particular
} tbOffender;

// Wall-clock seconds of the last step, by phase.
typedef struct {
  tbReal collide, assemble, solve, dynamics, total;
} tbStepTimes;

typedef struct {
#define X(type, name, rows, columns, unit, what) type* name;
  TB_DATA_ARRAYS(X)
#undef X
  tbReal time;         // s
  tbReal energy[2];    // J: potential, kinetic, at the start of the last step (with
                       // TB_ENABLE_ENERGY, else 0)
  int ncon;            // contacts of the last step
  tbContact* contact;  // ncon of them, in the arena
  // The certificate of the last step.
  tbResult status;    // TB_OK, or why the step failed and the state was kept
  char message[256];  // which quantity of which body failed, when status is not TB_OK
  // Iterations, status, residuals of the solved and of the exact law, for the impulses that the
  // step applied; NaN where no certificate was computed (docs/manual/step.md#the-certificate).
  tbSolveInfo solve;
  tbOffender offender;  // set where the step failed or did not converge
  tbStepTimes seconds;
  void* block;               // owns every array above
  size_t block_size;         // bytes
  struct tbWorkspace* work;  // arena, broad phase, warm-start data: internal
} tbData;

TB_EXTERN_C_BEGIN

// A world at the model's reference pose, or NULL when out of memory. The model must outlive it. The
// world caches shape data for collision: create a new one after changing shapes
// (docs/manual/constants.md).
TB_API tbData* tb_data_new(const tbModel* model);
TB_API void tb_data_free(tbData* data);

// A copy of all arrays of another world of the same model, or NULL. Warm-start data is not copied:
// tb_snapshot_save and tb_snapshot_load carry that too.
TB_API tbData* tb_data_copy(const tbModel* model, const tbData* data);

// Return to the reference pose, or to keyframe `key` (TB_ERROR_ARGUMENT and no change if there is
// none, or if the world is of another model). Controls and forces become zero, or those of the
// keyframe.
TB_API void tb_reset(const tbModel* model, tbData* data);
TB_API tbResult tb_reset_keyframe(const tbModel* model, tbData* data, int key);

// The state as one flat vector: time, then every array of TB_DATA_STATE (data_fields.h) in its
// order. `set` restores exactly what `get` wrote. After a `set` between the halves of a step, the
// first half must be called again. With the data of another model both do nothing.
TB_API int tb_state_size(const tbModel* model);
TB_API void tb_state_get(const tbModel* model, const tbData* data, tbReal* state);
TB_API void tb_state_set(const tbModel* model, tbData* data, const tbReal* state);

// The array called `name`, as tb_model_field.
TB_API const void* tb_data_field(const tbModel* model, const tbData* data, const char* name,
                                 const char** type, int* rows, int* columns);

TB_EXTERN_C_END

#endif
