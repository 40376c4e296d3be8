// The step and its evaluations, for integrators, derivatives and batches, which make them for a
// purpose of their own.
#ifndef TRIBO_STEP_STEP_H_
#define TRIBO_STEP_STEP_H_

#include "laws/law.h"

// The law of that number (tbOption.law), or NULL.
const tbLawType* tb_law_type(int law);

// Make a law's own state in a world if there is none yet. False when out of memory.
bool tb_law_open(const tbModel* model, tbStepState* state, int law);

// Sizes or places of the model's geoms have changed: laws measure them again.
void tb_law_reshape(const tbModel* model, tbStepState* state);

// The context of a world whose state is there, after its options have been checked.
tbStep tb_step_of(const tbModel* model, tbData* data, tbPurpose purpose);

// Bytes of the snapshot that starts here, of which there are at most `room`.
size_t tb_snapshot_length(const void* bytes, size_t room);

// tb_step, tb_step1 and tb_forward for a purpose.
tbResult tb_step_for(const tbModel* model, tbData* data, tbPurpose purpose);
tbResult tb_step1_for(const tbModel* model, tbData* data, tbPurpose purpose);
tbResult tb_forward_for(const tbModel* model, tbData* data, tbPurpose purpose);

// tb_step1 with rows of all contacts, including those that cannot push in this step.
tbResult tb_step1_all_rows(const tbModel* model, tbData* data);

// The second half of a step. The first half ended at clock time `start`; reading the clock takes a
// tenth of a microsecond on virtual machines.
tbResult tb_step_second_half(tbStep* step, tbReal start);

#endif
