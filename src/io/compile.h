// From the editable spec to the model.
#ifndef TRIBO_IO_COMPILE_H_
#define TRIBO_IO_COMPILE_H_

#include "io/spec.h"
#include "tribo/model.h"

// Compile a finished spec. The spec is not changed and may be freed afterwards. NULL with `error`
// ("file:line: what") where the spec makes no model.
tbModel* tb_compile(const tbSpec* spec, const tbLoadOptions* options, tbError* error);

#endif
