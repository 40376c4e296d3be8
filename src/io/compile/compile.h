// Compilation of the flat spec to a model.
#ifndef TRIBO_IO_COMPILE_COMPILE_H_
#define TRIBO_IO_COMPILE_COMPILE_H_

#include "io/flat.h"
#include "tribo/model.h"

// Compiles a finished spec, which is not changed. Derived fields of the model (sparsity, masses of
// subtrees, inverse weights, lengths) are left to tb_set_constants. Returns NULL with `error`
// ("file:line: what") if the spec is invalid.
tbModel* tb_compile(const tbFlat* spec, const tbLoadOptions* options, tbError* error);

// Sets what depends on the model's constants (tb_set_constants): spring-dampers of joints, anchor
// points of welds, and the statistics that the file overrides.
void tb_compile_finish(const tbFlat* spec, tbModel* model);

#endif
