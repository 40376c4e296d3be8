#include "base/text.h"

#include <stdio.h>
#include <string.h>

int tb_edit_distance(const char* a, const char* b) {
  enum { LONGEST = 63 };
  int na = (int)strnlen(a, LONGEST), nb = (int)strnlen(b, LONGEST);
  int row[LONGEST + 1];
  for (int j = 0; j <= nb; j++) row[j] = j;
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[nb];
}

void tb_nearest_offer(tbNearest* nearest, const char* candidate) {
  int distance = tb_edit_distance(nearest->name, candidate);
  // A suggestion that shares less than half of the letters is no help.
  if (distance > (int)strlen(nearest->name) / 2) return;
  if (nearest->best && distance >= nearest->distance) return;
  nearest->best = candidate;
  nearest->distance = distance;
}

const char* tb_nearest_hint(const tbNearest* nearest, char room[96]) {
  room[0] = 0;
  if (nearest->best) snprintf(room, 96, ", did you mean '%.60s'?", nearest->best);
  return room;
}

bool tb_ends_with(const char* text, const char* end) {
  size_t n = strlen(text), k = strlen(end);
  return n >= k && strcmp(text + n - k, end) == 0;
}
