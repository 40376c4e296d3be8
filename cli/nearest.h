// The known word that a mistyped one most likely stands for.
#ifndef TRIBO_CLI_NEAREST_H_
#define TRIBO_CLI_NEAREST_H_

// The search so far; start with {.word = "..."}.
typedef struct {
  const char* word;
  char best[64];  // "" where none of those offered is close
  int distance;   // of `best`
} Nearest;

// Offer one candidate, or all words of a list separated by commas and blanks.
void nearest_offer(Nearest* nearest, const char* candidate);
void nearest_offer_list(Nearest* nearest, const char* list);

// ", did you mean 'BEST'?" or "", valid as long as `nearest` and until the next call.
const char* nearest_hint(const Nearest* nearest);

#endif
