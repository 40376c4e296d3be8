// A compiled model as URDF.
#ifndef TRIBO_IO_URDF_WRITE_H_
#define TRIBO_IO_URDF_WRITE_H_

#include "tribo/spec.h"

// The implementation of tb_save_urdf, for a model that tb_model_check accepts.
tbResult tb_urdf_write(const tbModel* m, const char* path, char** left_out, tbError* error);

#endif
