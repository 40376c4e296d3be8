// An island without the contacts that open. These carry nothing, and so couple no bodies: what is
// left is smaller, and mostly falls apart. See docs/solver-interior.md.
#ifndef TRIBO_STEP_APART_H_
#define TRIBO_STEP_APART_H_

#include "contact/assemble.h"

typedef struct {
  const tbIsland* whole;
  tbReal speed;     // m/s: its largest free velocity
  char* closed;     // by member: 1: it takes part
  int* part;        // by member: which part it is in, or -1
  tbIslands parts;  // islands of their own
} tbApart;

// Leave out the contacts that, by the velocity sigma that the island's impulses lead to, clearly
// come apart; their impulses become zero. False: out of memory.
bool tb_apart_open(tbApart* apart, tbArena* arena, tbIsland* island, const tbReal* sigma);

// Let those take part that the velocity of the parts' answer closes. False: there are none.
bool tb_apart_close(tbApart* apart, const tbReal* sigma);

// The parts, each with its share of the island's impulses and of their velocity `sigma`. False: out
// of memory.
bool tb_apart_divide(tbApart* apart, tbArena* arena, const tbModel* model,
                     const tbConstraints* constraints, const tbReal* sigma);

// By how much the tolerance of a part may be larger than that of the whole, which is judged by the
// largest velocity of the whole.
tbReal tb_apart_ease(const tbApart* apart, const tbIsland* part);

// Give the island the impulses of its parts, and where the next step starts.
void tb_apart_collect(const tbApart* apart, tbIsland* island);

#endif
