// Parsing of URDF robot descriptions, with SRDF poses, to the flat spec.
#ifndef TRIBO_IO_URDF_URDF_H_
#define TRIBO_IO_URDF_URDF_H_

#include "io/flat.h"

// Parses URDF text. `path` names the text in messages; files that it refers to are searched from
// its folder (docs/manual/urdf.md has the rules). The spec is finished. NULL with `error` on
// failure.
tbFlat* tb_flat_parse_urdf(const char* text, size_t size, const char* path,
                           const tbLoadOptions* options, tbError* error);

#endif
