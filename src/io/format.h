// Detection of a model file's format, and repair of its XML declaration.
#ifndef TRIBO_IO_FORMAT_H_
#define TRIBO_IO_FORMAT_H_

#include <stddef.h>

typedef enum {
  TB_FORMAT_UNKNOWN,
  TB_FORMAT_MJCF,
  TB_FORMAT_URDF,
  TB_FORMAT_BINARY  // a compiled model
} tbFormat;

// The format by the first bytes or the name of the root element.
tbFormat tb_format_detect(const char* text, size_t size);

// Some published robots have blank lines before <?xml ...?>, or version="0.0", which libxml2
// rejects and other readers skip. Returns a copy of the text with blanks in place of the
// declaration, which the caller frees; NULL if the text needs no change, or if out of memory.
char* tb_format_without_declaration(const char* text, size_t size);

#endif
