// Solutions of (G + C) x = b, G symmetric positive semidefinite and sparse in small blocks, C block
// diagonal, using the redundancy of G: contacts of one pair of bodies depend only on its relative
// motion, so that G has a rank of about six on them, however many they are. See
// docs/notebook/blocklu.md.
#ifndef TRIBO_LINALG_GROUPLU_H_
#define TRIBO_LINALG_GROUPLU_H_

#include "linalg/blockgroups.h"

typedef struct {
  bool reduced;  // L is not the identity: rank < rows
  int rows, rank;
  int node_begin, node_end;  // in groups.member
  int first;                 // first row among the compressed rows
  size_t L;                  // into `L`: rows x rank, row-major, members one after the other
  size_t T;                  // into `T`: rank x rank
} tbGroup;

typedef struct {
  tbBlockPattern pattern;  // of G
  tbBlockGroups groups;
  tbGroup* group;
  int* corner;  // per node: start of its block of C
  bool any;     // some group is reduced; otherwise `lu` is the plain LU of G
  tbReal *L, *K, *T;
  int *K_dim, *K_row, *K_start, *K_column, *K_offset;
  const tbReal *value, *diagonal, *inverse;  // of the last factorization
  tbReal *w, *u, *t, *b, *r;                 // scratch
  tbReal* square;                            // scratch of one group's LU
  int* pivot;
  int size;
  tbBlockLu lu;
} tbGroupLu;

// Analyse a pattern with the values of G, whose rank is determined, except on the groups of nodes
// marked in `keep` (may be NULL), for which C may be nearly zero. Memory comes from `arena`. False:
// out of memory.
bool tb_group_lu_analyze(tbGroupLu* lu, tbArena* arena, const tbBlockPattern* pattern,
                         const tbReal* value, const bool* keep);

// Factor G + C. `diagonal` holds the blocks of C one after the other, row-major, `inverse` those of
// C^-1; both must live until the last solve.
void tb_group_lu_factor(tbGroupLu* lu, const tbReal* value, const tbReal* diagonal,
                        const tbReal* inverse, tbReal floor);

// x = (G + C)^-1 b, with b in x on entry. If C is far smaller than G digits are lost: up to
// `refinements` steps of iterative refinement recover them.
void tb_group_lu_solve(tbGroupLu* lu, int refinements, tbReal* x);

#endif
