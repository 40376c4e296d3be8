// Arrays of the model that each world of a batch has for itself, and the constants that follow from
// them.
#ifndef TRIBO_BATCH_EXPAND_H_
#define TRIBO_BATCH_EXPAND_H_

#include <stdbool.h>

#include "batch/worker.h"

// An array of tbModel by world, or an option, or a number of tbModel itself.
typedef struct {
  const char* name;
  const char* type;  // "real", "int", "float"
  size_t offset;     // in tbModel: of the pointer, or of the value
  int count;         // values of a row
  size_t bytes;      // of a row
  bool by_value;     // copied into the model of a worker; else its pointer is set to the row
  bool own;          // the user's; else a constant that follows from others
  unsigned source;   // group of table.h that it belongs to; 0: no constant follows from it
  unsigned follows;  // groups that it follows from
  char* rows;        // nworld rows
} tbWorldArray;

// Hashes of the rows that a world's model was last checked with.
typedef struct {
  uint64_t values;   // of those from which no constant follows
  uint64_t sources;  // of the others
} tbWorldCheck;

typedef struct {
  tbWorldArray* array;
  int count;
  bool reshapes;        // the shapes that the collision search remembers differ by world
  tbWorldCheck* check;  // nworld, once there is an array
} tbExpansion;

void tb_expansion_free(tbExpansion* expansion);
size_t tb_expansion_bytes(const tbExpansion* expansion, int nworld);

// The array called `name`, or NULL.
const tbWorldArray* tb_expansion_find(const tbExpansion* expansion, const char* name);

// Give the model of a worker the arrays and options of world w.
void tb_expansion_view(const tbExpansion* expansion, tbModel* model, int w);

// Whether a constant only follows from other arrays.
bool tb_expansion_derives(const char* name);

// Where rows of world w have changed, check the values and derive the constants. On failure
// worker->data->message says why.
tbResult tb_expansion_refresh(tbExpansion* expansion, tbBatchWorker* worker, const tbModel* base,
                              int w);

// The same, and what the collision search remembers of the model: for a step.
tbResult tb_expansion_enter(tbExpansion* expansion, tbBatchWorker* worker, const tbModel* base,
                            int w);

// Forget that the rows of world w were checked.
void tb_expansion_touch(tbExpansion* expansion, int w);

#endif
