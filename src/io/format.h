// What kind of model a text is.
#ifndef TRIBO_IO_FORMAT_H_
#define TRIBO_IO_FORMAT_H_

#include <stddef.h>

typedef enum {
  TB_FORMAT_UNKNOWN,
  TB_FORMAT_MJCF,
  TB_FORMAT_URDF,
  TB_FORMAT_BINARY  // a compiled model
} tbFormat;

// By the first bytes or the name of the root element.
tbFormat tb_format_detect(const char* text, size_t size);

#endif
