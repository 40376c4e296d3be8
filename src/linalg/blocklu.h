// Sparse LU of a matrix of small blocks with a symmetric pattern: A = G + C, G symmetric, C block
// diagonal (not necessarily symmetric). Multifrontal, rows exchanged inside supernodes only; the
// symbolic part is done once per pattern. See docs/notebook/blocklu.md.
#ifndef TRIBO_LINALG_BLOCKLU_H_
#define TRIBO_LINALG_BLOCKLU_H_

#include <stdbool.h>

#include "base/arena.h"
#include "tribo/types.h"

// A block matrix by compressed block rows: entry k of row i is the block (i, column[k]), row-major
// at value + offset[k]. Both halves are stored, and every row has its diagonal.
typedef struct {
  int nodes;
  const int* dim;  // rows of each node
  const int* row;  // first row of each node; row[nodes] is the size
  const int* start;
  const int* column;
  const int* offset;
} tbBlockPattern;

typedef struct {
  int first;         // position of its first row in the elimination order
  int width, below;  // rows eliminated here, rows that remain
  int parent;        // supernode that receives its Schur complement; -1: none
  int entry_begin, entry_end;
  int index;      // into `map`: for each remaining row, its index in the parent's front
  size_t factor;  // into `factors`: width rows of width + below, then below rows of width
} tbSupernode;

typedef struct {
  int block;     // entry of the pattern
  int row, col;  // position in the front
  bool both;     // also transposed at (col, row)
} tbFrontalEntry;

typedef struct {
  tbBlockPattern pattern;
  int size;       // rows
  int* position;  // of each row of the matrix in the elimination order
  int supernodes;
  tbSupernode* node;
  tbFrontalEntry* entry;
  int* row_dim;  // dim of an entry's block: rows, columns
  int* col_dim;
  int* map;             // relative indices
  int* below_rows;      // positions of the remaining rows, same indexing as map
  int* diagonal_front;  // per pattern node: start of its block of C; its position in the front
  int* diagonal_place;
  int* first_diagonal;  // per supernode: nodes in `diagonal_order`
  int* diagonal_order;
  tbReal* factors;
  int* pivot;     // per position, local to its supernode
  tbReal* front;  // scratch: largest front
  tbReal* stack;  // scratch: Schur complements waiting for their parent
  tbReal* work;   // scratch: one vector
  size_t factor_count;
  double flops;  // of one factorization
} tbBlockLu;

// Analyse a pattern; memory comes from `arena`. False: out of memory.
bool tb_block_lu_analyze(tbBlockLu* lu, tbArena* arena, const tbBlockPattern* pattern);

// Factor G + C: `value` holds G's blocks, `diagonal` the blocks of C one after the other, row-major
// dim x dim. Pivots below `floor` are replaced by it; returns their number.
int tb_block_lu_factor(tbBlockLu* lu, const tbReal* value, const tbReal* diagonal, tbReal floor);

// x = A^-1 b, with b in x on entry.
void tb_block_lu_solve(const tbBlockLu* lu, tbReal* x);

#endif
