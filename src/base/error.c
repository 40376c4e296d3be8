#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

tbResult tb_fail(tbError* error, tbResult code, const char* format, ...) {
  if (error) {
    error->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
  }
  return code;
}

void tb_error_clear(tbError* error) {
  if (error) {
    error->code = TB_OK;
    error->message[0] = 0;
  }
}

const char* tb_result_name(tbResult result) {
  switch (result) {
    case TB_OK: return "ok";
    case TB_ERROR_ARGUMENT: return "argument";
    case TB_ERROR_MEMORY: return "memory";
    case TB_ERROR_FILE: return "file";
    case TB_ERROR_PARSE: return "parse";
    case TB_ERROR_MODEL: return "model";
    case TB_ERROR_UNSUPPORTED: return "unsupported";
    case TB_ERROR_NUMERIC: return "numeric";
  }
  return "unknown";
}
