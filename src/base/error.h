// Filling a caller's tbError.
#ifndef TRIBO_BASE_ERROR_H_
#define TRIBO_BASE_ERROR_H_

#include "tribo/types.h"

// Set `error` (may be NULL) from a printf format and return `code`, so that callers can write
// `return tb_fail(error, TB_ERROR_PARSE, "...")`.
tbResult tb_fail(tbError* error, tbResult code, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

void tb_error_clear(tbError* error);

#endif
