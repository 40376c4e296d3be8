// Numbers in text, independent of the locale and within given bounds.
#ifndef TRIBO_BASE_NUMBER_H_
#define TRIBO_BASE_NUMBER_H_

#include "tribo/types.h"

// Read a decimal number (sign, digits, point, exponent) at `at`, before `end`. Returns the position
// after it, or NULL if there is no number, it is not finite or it has more than 200 characters.
const char* tb_parse_real(const char* at, const char* end, tbReal* value);

// Read a decimal integer that fits an int. Returns the position after it, or NULL.
const char* tb_parse_int(const char* at, const char* end, int* value);

// Write `value` with as many digits as needed to read the same number back, and a point in any
// locale. The text fits TB_NUMBER_TEXT characters.
enum { TB_NUMBER_TEXT = 40 };
void tb_print_real(char text[TB_NUMBER_TEXT], tbReal value);

// The same with the fewest digits that read back as the same number: 0.1, not 0.10000000000000001.
// Infinity is "inf" or "-inf".
void tb_print_shortest(char text[TB_NUMBER_TEXT], tbReal value);

// The first character at or after `at` that is no white space, at most `end`.
const char* tb_skip_space(const char* at, const char* end);

#endif
