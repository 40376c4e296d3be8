// Solutions of (G + C) x = b, G symmetric positive semidefinite and sparse in small blocks, C block
// diagonal, with the redundancy of G used: contacts of one pair of bodies see only its relative
// motion, so that however many they are, G has rank six or so on them. See docs/blocklu.md.
#ifndef TRIBO_LINALG_GROUPLU_H_
#define TRIBO_LINALG_GROUPLU_H_

#include "linalg/blockgroups.h"

typedef struct {
  bool reduced;  // L is not the identity: rank < rows
  int rows, rank;
  int node_begin, node_end;  // in groups.member
  int first;                 // first row among the compressed ones
  size_t L;                  // into `L`: rows x rank, row-major, members one after the other
  size_t T;                  // into `T`: rank x rank
} tbGroup;

typedef struct {
  tbBlockPattern pattern;  // of G
  tbBlockGroups groups;
  tbGroup* group;
  int* corner;  // per node: where its block of C starts
  bool any;     // some group is reduced; else `lu` is the plain one of G
  tbReal *L, *K, *T;
  int *K_dim, *K_row, *K_start, *K_column, *K_offset;
  const tbReal *value, *diagonal, *inverse;  // of the last factorization
  tbReal *w, *u, *t, *b, *r;                 // scratch
  tbReal* square;                            // scratch of one group's LU
  int* pivot;
  int size;
  tbBlockLu lu;
} tbGroupLu;

// Analyse a pattern with the values of G, whose rank is looked for, except on the groups of nodes
// marked in `keep` (may be NULL), whose C may be next to zero. Memory comes from `arena`.
// False: out of memory.
bool tb_group_lu_analyze(tbGroupLu* lu, tbArena* arena, const tbBlockPattern* pattern,
                         const tbReal* value, const bool* keep);

// Factor G + C. `diagonal` holds the blocks of C one after the other, row-major, `inverse` those of
// C^-1; both must live until the last solve.
void tb_group_lu_factor(tbGroupLu* lu, const tbReal* value, const tbReal* diagonal,
                        const tbReal* inverse, tbReal floor);

// x = (G + C)^-1 b, with b in x on entry. Where C is far smaller than G digits are lost: up to
// `refinements` rounds of iterative refinement bring them back.
void tb_group_lu_solve(tbGroupLu* lu, int refinements, tbReal* x);

#endif
