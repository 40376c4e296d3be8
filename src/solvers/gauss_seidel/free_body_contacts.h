// Sweeps over contacts on free bodies, by colours: contacts of one colour share no body, so that
// many of them are looked at and solved before any of them moves its bodies.
#ifndef TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACTS_H_
#define TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACTS_H_

#include "solvers/active_set/state.h"
#include "solvers/gauss_seidel/free_body_contact.h"

// Before the first change of anything.
enum { TB_MOVED_NEVER = -1 };

typedef struct {
  int count;
  tbFreeContact* contact;  // those of a colour follow each other
  int colours, *end;       // one past the last contact of each
  tbFreeBodyFour* lambda;  // impulses at the beginning,
  tbFreeBodyFour* change;  // and what has been added
  // What tells whether a contact is to be looked at: the first dofs of its bodies, for want of a
  // second one a place behind all dofs, and when it was last done.
  int *first, *second, *seen;
  int* moved;  // by dof: when w last changed there; for free bodies the first dof stands
  int clock;   // counts changes
  // Whitened velocity (active_sweep.c) by dof, the change since the beginning.
  float* w;
  int nothing;         // the place behind all dofs
  tbReal load, speed;  // units of impulse and velocity; w is in the root of their product
} tbFreeContacts;

// What holds: velocities off by no more than `most`, powers by no more than that times the largest
// impulse `load`.
typedef struct {
  tbReal most, load;
} tbFreeScale;

// The contacts among the blocks of an island, with room for their changes; `place` of a block is
// its index, with `rows` its whitened rows, or -1. False: out of memory.
bool tb_free_body_contacts_open(const tbActiveState* s, tbArena* arena, tbFreeContacts* f,
                                int* place, tbReal** rows);

// Changes begin at impulses lambda, all of them none.
void tb_free_body_contacts_begin(tbFreeContacts* f);
void tb_free_body_contact_begin(tbFreeContacts* f, int place, const tbBlock* b,
                                const tbReal* lambda, const tbReal* sigma);

// Solve each of them once; with a scale only those that do not hold in it and whose velocity may
// have changed since they were last looked at: their number.
int tb_free_body_contacts_sweep(tbFreeContacts* f, const tbFreeScale* scale);

// The impulse of one of them, which was `lambda` at the beginning.
void tb_free_body_contact_end(const tbFreeContacts* f, int place, const tbBlock* b, tbReal* lambda);

// The largest normal impulse.
tbReal tb_free_body_contacts_load(const tbFreeContacts* f);

// All of them are looked at again.
void tb_free_body_contacts_forget(tbFreeContacts* f);

#endif
