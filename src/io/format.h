// What kind of model a text is, and how it starts.
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

// Published robots start with blank lines before <?xml ...?>, or with version="0.0". Other readers
// skip the declaration, libxml2 refuses it: the text with blanks in its place, which the caller
// frees; NULL where the text is fine as it is, or memory is out.
char* tb_format_without_declaration(const char* text, size_t size);

#endif
