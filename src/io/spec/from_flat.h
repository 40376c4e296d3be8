// The editable form of a flat spec, all values resolved: of a URDF, of a compiled model, or of a
// spec with parts that were attached in memory.
#ifndef TRIBO_IO_SPEC_FROM_FLAT_H_
#define TRIBO_IO_SPEC_FROM_FLAT_H_

#include "io/flat.h"
#include "io/spec/tree.h"

// NULL with `error` if out of memory, or if settings of attached models differ where one file
// cannot. `path` and `options` are those of the new spec.
tbSpec* tb_spec_from_flat(const tbFlat* flat, const char* path, const tbLoadOptions* options,
                          tbError* error);

// Numbers that become `unit` when they are normalized `times` times, for a vector of 3 or a
// quaternion of 4 numbers that is of unit length up to rounding. The last bits may have to differ.
void tb_spec_before_normalizing(tbReal* result, const tbReal* unit, int n, int times);

#endif
