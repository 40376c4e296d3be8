// From the editable spec to the model.
#ifndef TRIBO_IO_COMPILE_COMPILE_H_
#define TRIBO_IO_COMPILE_COMPILE_H_

#include "io/spec.h"
#include "tribo/model.h"

// Compile a finished spec. What follows from other fields of the model (sparsity, masses of
// subtrees, inverse weights, lengths) is left to tb_set_constants. The spec is not changed. NULL
// with `error`
// ("file:line: what") where the spec makes no model.
tbModel* tb_compile(const tbSpec* spec, const tbLoadOptions* options, tbError* error);

// What needs the model's constants (tb_set_constants): spring-dampers of joints, where welds
// are held, and the statistics that the file gives.
void tb_compile_finish(const tbSpec* spec, tbModel* model);

#endif
