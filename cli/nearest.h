// Finds the known word that a mistyped one most likely means.
#ifndef TRIBO_CLI_NEAREST_H_
#define TRIBO_CLI_NEAREST_H_

// State of the search; start with {.word = "..."}.
typedef struct {
  const char* word;
  char best[64];  // "" if no candidate is close
  int distance;   // of `best`
} Nearest;

// Offer one candidate, or all words of a list separated by commas and blanks.
void nearest_offer(Nearest* nearest, const char* candidate);
void nearest_offer_list(Nearest* nearest, const char* list);

// ", did you mean 'BEST'?" or "", valid as long as `nearest` and until the next call.
const char* nearest_hint(const Nearest* nearest);

#endif
