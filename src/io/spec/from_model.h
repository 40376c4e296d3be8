// The flat spec of a compiled model.
#ifndef TRIBO_IO_SPEC_FROM_MODEL_H_
#define TRIBO_IO_SPEC_FROM_MODEL_H_

#include "io/flat.h"

// The inverse of tb_compile, for a model that tb_model_check accepts: masses and inertias are
// explicit, meshes have their vertices and `pose`. TB_ERROR_UNSUPPORTED for what an MJCF file
// cannot say, for instance different damping of the axes of one joint. The result uses the model's
// names.
tbFlat* tb_flat_from_model(const tbModel* m, tbError* error);

#endif
