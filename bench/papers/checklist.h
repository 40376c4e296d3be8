// Every figure and table of the four papers, and which claim of which benchmark stands for it.
#ifndef TRIBO_BENCH_PAPERS_CHECKLIST_H_
#define TRIBO_BENCH_PAPERS_CHECKLIST_H_

#include <stdbool.h>

typedef struct {
  const char* paper;  // "CM", "EXP", "CF", "ADMM"
  const char* item;   // "fig. 9", "table II", "table III (preprint)"
  const char* shows;  // what the paper shows there
  const char* part;   // the benchmark that measures it; NULL: a drawing, see `note`
  const char* table;  // its CSV file, or NULL
  const char* note;   // for drawings and what is left out: where it is instead, and why
  const char* needs;  // a folder below ../shared without which it cannot be measured, or NULL
} Item;

extern const Item CHECKLIST[];
extern const int CHECKLIST_COUNT;

// Whether a claim's figure ("CM fig. 14, table III (preprint)", "EXP fig. 2, 3") names the item.
bool claim_is_about(const char* figure, const Item* item);

// Claims that may be worse than the paper's without failing the run, each with its reason. The list
// is meant to shrink: an entry whose claim holds again is reported, unless it rests on a time,
// which a busy machine may spoil.
typedef struct {
  const char* figure;  // as the claim says it
  const char* claim;   // how its sentence begins; "" for any
  const char* reason;
  bool timed;
} Allowed;
extern const Allowed ALLOWED[];
extern const int ALLOWED_COUNT;

// The entry for a claim, or NULL.
const Allowed* allowed_worse(const char* figure, const char* claim);

#endif
