// The compiled model as bytes. docs/manual/models/binary.md has the layout.
#ifndef TRIBO_MODEL_BINARY_H_
#define TRIBO_MODEL_BINARY_H_

#include "tribo/model.h"

enum { TB_BINARY_VERSION = 6, TB_BINARY_HEADER = 48 };

// Bytes that tb_model_write needs, and writing them.
size_t tb_model_binary_size(const tbModel* model);
void tb_model_write(const tbModel* model, unsigned char* bytes);

// Checksum over all bytes except the checksum itself; `size` is at least TB_BINARY_HEADER.
uint64_t tb_model_checksum(const unsigned char* bytes, size_t size);

#endif
