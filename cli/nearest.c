#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static int least(int a, int b, int c) {
  int d = a < b ? a : b;
  return d < c ? d : c;
}

static bool same_letter(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`,
// ignoring case.
static int edit_distance(const char* a, const char* b) {
  int n = (int)strlen(a), m = (int)strlen(b), row[3][LONGEST + 1];
  if (n > LONGEST || m > LONGEST) return n + m;
  for (int j = 0; j <= m; j++) row[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *now = row[i % 3], *above = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= m; j++) {
      now[j] = least(above[j] + 1, now[j - 1] + 1, above[j - 1] + !same_letter(a[i - 1], b[j - 1]));
      bool swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swap) now[j] = least(now[j], before[j - 2] + 1, now[j]);
    }
  }
  return row[n % 3][m];
}

// Whether one of two words begins with the other, of three letters at least.
static bool begins(const char* a, const char* b) {
  int i = 0;
  while (a[i] && b[i] && same_letter(a[i], b[i])) i++;
  return (!a[i] || !b[i]) && i - (int)strspn(a, "-") >= 3;
}

void nearest_offer(Nearest* nearest, const char* candidate) {
  int length = (int)strlen(nearest->word), distance = edit_distance(nearest->word, candidate);
  // An abbreviation or a longer form counts as the last spelling that is accepted.
  if (distance > (length + 2) / 3 && begins(nearest->word, candidate)) distance = (length + 2) / 3;
  if (strcmp(nearest->word, candidate) == 0) distance = -1;
  // If more than a third of the letters are wrong it is probably another word.
  if (!*candidate || distance > (length + 2) / 3 || (distance > 0 && distance >= length)) return;
  if (nearest->best[0] && distance >= nearest->distance) return;
  nearest->distance = distance;
  snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
}

void nearest_offer_list(Nearest* nearest, const char* list) {
  while (*(list += strspn(list, ", "))) {
    char word[LONGEST + 1];
    size_t length = strcspn(list, ", ");
    snprintf(word, sizeof word, "%.*s", length > LONGEST ? 0 : (int)length, list);
    nearest_offer(nearest, word);
    list += length;
  }
}

const char* nearest_hint(const Nearest* nearest) {
  static char hint[LONGEST + 32];
  if (!nearest->best[0]) return "";
  snprintf(hint, sizeof hint, ", did you mean '%s'?", nearest->best);
  return hint;
}
