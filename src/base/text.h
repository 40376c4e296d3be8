// Small helpers over C strings.
#ifndef TRIBO_BASE_TEXT_H_
#define TRIBO_BASE_TEXT_H_

#include <stdbool.h>

// Number of single-character edits between two strings, both cut at 63 characters, for "did you
// mean" hints.
int tb_edit_distance(const char* a, const char* b);

bool tb_ends_with(const char* text, const char* end);

#endif
