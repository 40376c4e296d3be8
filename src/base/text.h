// Small helpers over C strings.
#ifndef TRIBO_BASE_TEXT_H_
#define TRIBO_BASE_TEXT_H_

#include <stdbool.h>

// Number of single-character edits between two strings, both cut at 63 characters, for "did you
// mean" hints.
int tb_edit_distance(const char* a, const char* b);

// The candidate that is most like a name with a spelling mistake. Start with {name}, offer every
// known name.
typedef struct {
  const char* name;
  const char* best;  // NULL: none shares half of the letters
  int distance;
} tbNearest;

void tb_nearest_offer(tbNearest* nearest, const char* candidate);

// "" or ", did you mean '...'?" in `room`.
const char* tb_nearest_hint(const tbNearest* nearest, char room[96]);

bool tb_ends_with(const char* text, const char* end);

#endif
