// Parts of loading that the functions of specs share.
#ifndef TRIBO_LOAD_LOAD_H_
#define TRIBO_LOAD_LOAD_H_

#include "io/flat.h"

// The complete model of a flat spec: compiled, with its constants, checked. NULL with `error` on
// failure.
tbModel* tb_load_complete(const tbFlat* spec, const tbLoadOptions* options, tbError* error);

tbResult tb_load_check_options(const tbLoadOptions* options, tbError* error);

#endif
