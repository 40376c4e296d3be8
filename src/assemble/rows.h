// Shared by the files of constraint rows: the list under construction, supports, and the Jacobian
// of a point.
#ifndef TRIBO_ASSEMBLE_ROWS_H_
#define TRIBO_ASSEMBLE_ROWS_H_

#include "assemble/assemble.h"

typedef struct {
  const tbModel* m;
  tbData* d;
  tbArena* arena;
  tbConstraints* out;
  int capacity;
} tbRowBuilder;

// Add a constraint with its rows zeroed; NULL when out of memory. `nnz` < 0 means that an earlier
// allocation failed.
tbConstraint* tb_add_constraint(tbRowBuilder* b, int source, int id, int dim, int nnz,
                                const int* col, uint64_t key);

// Keys of constraints other than contacts: source, id and side; contacts have the top bit set.
uint64_t tb_plain_key(int source, int id, int side);

// Support of a relative motion of two bodies. Returns its size, -1 when out of memory.
int tb_bodies_support(const tbRowBuilder* b, int body1, int body2, const int** col);

// An ascending list of dofs closed under ancestors (the Delassus half-solve needs it). Returns its
// size, -1 when out of memory.
int tb_closed_support(const tbRowBuilder* b, const int* col, int n, const int** out);

// Add `factor` times a sparse row to a constraint of one row.
void tb_scatter_row(const int* col, const tbReal* value, int n, tbReal factor, tbConstraint* c);

// Rows of a point and its body: velocity along the first `linear` rows of `frame`, then angular
// velocity about the first `angular`; each 0, 1 or 3.
typedef struct {
  const tbReal *point, *frame;
  int linear, angular;
} tbPointRows;

// Add sign times the rows of a point of `body` to a constraint, starting with the `first` of the
// body's dofs.
void tb_add_point_rows(const tbRowBuilder* b, tbConstraint* c, const tbPointRows* rows, int body,
                       int first, tbReal sign);

// Whether any dof moves a tendon. If none does, its limit or dry friction has no row.
bool tb_tendon_moves(const tbModel* model, const tbData* data, int tendon);

// All rows of a kind, in MuJoCo's order. False: out of memory.
bool tb_add_equalities(tbRowBuilder* b);
bool tb_add_frictions(tbRowBuilder* b);
bool tb_add_limits(tbRowBuilder* b, tbLookAhead look_ahead);
bool tb_add_contacts(tbRowBuilder* b, const char* pruned);

#endif
