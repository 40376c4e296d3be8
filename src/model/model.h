// Allocation of a model from its sizes.
#ifndef TRIBO_MODEL_MODEL_H_
#define TRIBO_MODEL_MODEL_H_

#include <stdbool.h>

#include "tribo/model.h"

// How many sizes a model has; they stand first in it, in the order of their list.
#define TB_X(name, what) +1
enum { TB_MODEL_NSIZES = 0 TB_MODEL_SIZES(TB_X) };
#undef TB_X

// Makes every size of `model` a local variable, for the row and column expressions of the lists.
#define TB_SIZE_LOCAL(name, what)   \
  const int64_t name = model->name; \
  (void)name;

// Take the sizes, options and statistics in `sizes` and return a model with every array zeroed in
// one block. NULL with `error` when a size is negative or the total is beyond what fits in memory.
tbModel* tb_model_new(const tbModel* sizes, tbError* error);

// Whether the sizes are those that the block was made for (it keeps them at its end), and every
// array stands where they say or outside of the block.
bool tb_model_is_laid_out(const tbModel* model);

// A hash of the sizes and of every integer that an algorithm follows, without the bodies of meshes.
// The model is laid out.
uint64_t tb_model_structure(const tbModel* model);

// tb_model_check without the note that it leaves: nothing is written.
tbResult tb_model_check_only(const tbModel* model, tbError* error);

// The structure with which the model last passed tb_model_check, 0 if it never did: a note in its
// block. The model is laid out.
uint64_t tb_model_passed(const tbModel* model);
void tb_model_set_passed(const tbModel* model, uint64_t structure);

// Values that a contact sensor reports of each contact (bits of tbContactDataBit).
int tb_contact_data_size(int bits);

#endif
