// What other parts of the module do with a batch.
#ifndef TRIBO_PYTHON_BATCH_H_
#define TRIBO_PYTHON_BATCH_H_

#include <nanobind/nanobind.h>

#include "tribo/batch.h"

// The library's batch of a Python object Batch; a TypeError for anything else.
tbBatch* batch_of(nanobind::handle batch);

// Call a function for each world on all threads, the GIL released; worlds stay as they were. An
// error of the first world that failed is raised.
void batch_apply(nanobind::handle batch, tbBatchFunction function, void* argument);

#endif
