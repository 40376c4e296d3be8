// Values of attributes as text: numbers, words, and the messages for invalid ones.
#ifndef TRIBO_IO_SPEC_VALUE_H_
#define TRIBO_IO_SPEC_VALUE_H_

#include <stdbool.h>

#include "io/flat_tables.h"

// Why a value is invalid: "attribute 'size': 'x' is not a finite number".
typedef struct {
  char text[400];
} tbWhy;

// `least` to `most` numbers; *count is 0 for an empty text, which counts as absent, as in MuJoCo.
// Stores the first `most` of them. Infinity is accepted where the attribute's name ends in "range".
bool tb_value_reals(const char* name, const char* text, int least, int most, tbReal* values,
                    int* count, tbWhy* why);
// The same for whole numbers that an int can hold; bit masks may use all 32 bits.
bool tb_value_ints(const char* name, const char* text, int least, int most, int* values, int* count,
                   tbWhy* why);
// The number of numbers of a list of any length, -1 if it is not one; `values` (may be NULL) has
// room for `most`.
int tb_value_list(const char* name, const char* text, tbReal* values, int most, tbWhy* why);
// The value of a word of a table, which the message lists with the nearest one.
bool tb_value_word(const char* name, const char* text, const tbFlatWord* words, int* value,
                   tbWhy* why);
// Whether a text is a value of the field.
bool tb_value_check(const tbFlatField* field, const char* text, tbWhy* why);

// Keeps in *best the candidate nearest to `word`, the first of equal ones; *distance starts at
// INT_MAX.
void tb_nearest(const char* word, const char* candidate, const char** best, int* distance);

#endif
