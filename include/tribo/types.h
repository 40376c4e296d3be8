// Scalars, results and errors that every public header uses.
#ifndef TRIBO_TYPES_H_
#define TRIBO_TYPES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TB_EXTERN_C_BEGIN extern "C" {
#define TB_EXTERN_C_END }
#else
#define TB_EXTERN_C_BEGIN
#define TB_EXTERN_C_END
#endif

// Exported from the shared library; everything else is hidden.
#define TB_API __attribute__((visibility("default")))

// Every number that is not a count.
typedef double tbReal;

typedef enum {
  TB_OK = 0,
  TB_ERROR_ARGUMENT,     // a caller's argument is out of its documented range
  TB_ERROR_MEMORY,       // an allocation failed or a size limit was exceeded
  TB_ERROR_FILE,         // a file cannot be opened, read or written
  TB_ERROR_PARSE,        // the content of a file is malformed
  TB_ERROR_MODEL,        // a model is well-formed but physically meaningless
  TB_ERROR_UNSUPPORTED,  // a feature Tribo does not have, or was built without
  TB_ERROR_NUMERIC,      // a computation produced a non-finite number or broke down
} tbResult;

// An error: what went wrong, where (file:line for a model) and what was expected.
typedef struct {
  tbResult code;
  char message[512];
} tbError;

TB_EXTERN_C_BEGIN

// A short English name of a result code ("ok", "argument", ...). Never NULL.
TB_API const char* tb_result_name(tbResult result);

TB_EXTERN_C_END

#endif
