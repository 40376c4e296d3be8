// Allocation of a model from its sizes.
#ifndef TRIBO_MODEL_MODEL_H_
#define TRIBO_MODEL_MODEL_H_

#include "tribo/model.h"

// Makes every size of `model` a local variable, for the row and column expressions of the lists.
#define TB_SIZE_LOCAL(name, what)   \
  const int64_t name = model->name; \
  (void)name;

// Take the sizes, options and statistics in `sizes` and return a model with every array zeroed in
// one block. NULL with `error` when a size is negative or the total is beyond what fits in memory.
tbModel* tb_model_new(const tbModel* sizes, tbError* error);

// Check every index and size of a model against its bounds: what a loaded file must pass before any
// algorithm may touch it.
tbResult tb_model_check(const tbModel* model, tbError* error);

// Values that a contact sensor reports of each contact (bits of tbContactDataBit).
int tb_contact_data_size(int bits);

#endif
