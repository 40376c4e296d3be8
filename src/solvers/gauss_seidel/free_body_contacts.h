// Sweeps over contacts on free bodies, by colours: contacts of one colour share no body, so that
// many of them are evaluated and solved before any of them changes the velocity of its bodies.
#ifndef TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACTS_H_
#define TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACTS_H_

#include "solvers/active_set/state.h"
#include "solvers/gauss_seidel/free_body_contact.h"

// A time before the first change.
enum { TB_MOVED_NEVER = -1 };

typedef struct {
  int count;
  tbFreeContact* contact;  // sorted by colour
  int colours, *end;       // one past the last contact of each
  tbFreeBodyFour* lambda;  // impulses at the start,
  tbFreeBodyFour* change;  // and their change since
  // A contact must be evaluated again if its bodies have changed since. By contact: the first dofs
  // of its bodies (`nothing` if there is no second), and the time of the last evaluation.
  int *first, *second, *seen;
  int* moved;  // by dof: when w last changed; for a free body at its first dof
  int clock;   // counts changes
  // Change of the whitened velocity of each dof since the sweeps began (whitening:
  // velocity_sweep.c).
  float* w;
  int nothing;         // an index behind all dofs
  tbReal load, speed;  // units of impulse and velocity; the unit of w is the root of their product
} tbFreeContacts;

// Convergence criterion: velocity errors up to `most`, power errors up to `most` times the largest
// impulse `load`.
typedef struct {
  tbReal most, load;
} tbFreeScale;

// Collect the contacts on free bodies among the blocks of an island, with memory for their changes.
// `index` of a block becomes its index here, or -1; `rows` its whitened rows. False: out of memory.
bool tb_free_body_contacts_open(const tbActiveState* s, tbArena* arena, tbFreeContacts* f,
                                int* index, tbReal** rows);

// Start of the sweeps at impulses lambda, with all changes zero.
void tb_free_body_contacts_begin(tbFreeContacts* f);
void tb_free_body_contact_begin(tbFreeContacts* f, int index, const tbBlock* b,
                                const tbReal* lambda, const tbReal* sigma);

// Solve each contact once; with a scale, only those that violate it and whose velocity may have
// changed since their last evaluation. Returns the number of solved contacts.
int tb_free_body_contacts_sweep(tbFreeContacts* f, const tbFreeScale* scale);

// The impulse of a contact at the end of the sweeps; `lambda` holds its impulse at the start.
void tb_free_body_contact_end(const tbFreeContacts* f, int index, const tbBlock* b, tbReal* lambda);

// The largest normal impulse.
tbReal tb_free_body_contacts_load(const tbFreeContacts* f);

// Mark all contacts for evaluation.
void tb_free_body_contacts_forget(tbFreeContacts* f);

#endif
