// Allocation of a model from its sizes.
#ifndef TRIBO_MODEL_MODEL_H_
#define TRIBO_MODEL_MODEL_H_

#include <stdbool.h>

#include "tribo/model.h"

// Number of sizes of a model; they are its first members, in the order of their list.
#define TB_X(name, what) +1
enum { TB_MODEL_NSIZES = 0 TB_MODEL_SIZES(TB_X) };
#undef TB_X

// Makes every size of `model` a local variable, for the row and column expressions of the lists.
#define TB_SIZE_LOCAL(name, what)   \
  const int64_t name = model->name; \
  (void)name;

// Creates a model with the sizes, options and statistics in `sizes` and every array zeroed in one
// block. NULL with `error` if a size is negative or the total does not fit in memory.
tbModel* tb_model_new(const tbModel* sizes, tbError* error);

// Whether the sizes are those for which the block was allocated (stored at its end), and every
// array is at the corresponding address or outside of the block.
bool tb_model_is_laid_out(const tbModel* model);

// A hash of the sizes and of every integer that algorithms use as an index or type, without the
// arrays of meshes. Requires tb_model_is_laid_out.
uint64_t tb_model_structure(const tbModel* model);

// "KIND ID 'NAME'", or "KIND ID" of an object without a name, for messages. Returns `text`.
enum { TB_OBJECT_TEXT = 128 };
const char* tb_object_text(const tbModel* model, tbObjType type, const char* kind, int id,
                           char text[TB_OBJECT_TEXT]);

// tb_model_check without storing that the model passed: nothing is written.
tbResult tb_model_check_only(const tbModel* model, tbError* error);

// The structure hash with which the model last passed tb_model_check, 0 if it never did; stored in
// its block. Requires tb_model_is_laid_out.
uint64_t tb_model_passed(const tbModel* model);
void tb_model_set_passed(const tbModel* model, uint64_t structure);

// Number of values that a contact sensor reports for each contact (bits of tbContactDataBit).
int tb_contact_data_size(int bits);

#endif
