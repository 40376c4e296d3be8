// The matrix M + J^T W J of Newton's method in velocity space, for one island: M of a kinematic
// forest by its factor L^T D L, J by blocks of rows on ancestor-closed supports, W block diagonal.
//
// Dofs outside the supports are eliminated beforehand: for an ancestor-closed set S the Schur
// complement of M is L_SS^T D_S L_SS. The remaining dofs are grouped into nodes (pieces of chains
// without a branch), ordered so that leaves are eliminated first and trees with few neighbours
// before hubs, and factored by linalg/ldu.
#ifndef TRIBO_OPERATOR_VELOCITY_H_
#define TRIBO_OPERATOR_VELOCITY_H_

#include "linalg/ldu.h"
#include "linalg/ltdl.h"

enum { TB_ROWS_DIM = 10 };  // most rows of a block: a friction pyramid in six dimensions

// Rows of one block as given by the caller.
typedef struct {
  int dim, nnz;
  const int* col;   // dofs, ascending, closed under ancestors; for dense factors a single row may
                    // list its last dof only
  const tbReal* J;  // dim x nnz
} tbRows;

// Dofs first ... end - 1 of one tree.
typedef struct {
  int first, end;
} tbRange;

// The inertia of a kinematic forest.
typedef struct {
  tbForest forest;
  const tbReal* M;             // for dense factors and impulse space only
  const tbReal *LD, *inverse;  // its factor L^T D L, and 1/D
  int ntree;                   // the trees moved by rows: for dense factors and impulse space only
  const tbRange* tree;
} tbForestInertia;

// Blocks that depend on a chain of joints only through the twist of its last body, such as contacts
// with the world: J = P S, with S the motions of that body's dofs. J^T W J of all these blocks is
// then summed along the chains like composite inertia (velocity_chains.c).
typedef struct {
  const tbReal* motion;    // by dof: six numbers, S
  const int* last;         // per block: the last dof that moves its body; -1: not on a chain
  const tbReal* const* P;  // per block: dim x 6
} tbCompositeChains;

// Rows of a block by nodes: all nodes that move the block, in order of elimination, with all their
// dofs.
typedef struct {
  int dim, width, nnode;
  int bodies;  // free bodies of a contact of three rows: 1 or 2; 0: any other block
  const int* node;
  const int* part;  // first column of each node's part of J; part[nnode] is the width
  const int* pair;  // for p < q: column of node q in U of node p
  const tbReal* J;  // dim x width
} tbNodeRows;

typedef struct {
  tbArena* arena;
  tbForest forest;
  const tbReal *LD, *inverse;
  int size;    // dofs that any block moves
  int* dof;    // these dofs, ascending
  int* index;  // by dof: its index in a vector of this system
  int nblock;
  const tbRows* block;  // as given
  tbNodeRows* rows;     // NULL until the system is analysed, as are all fields below
  tbLdu ldu;
  tbReal* base;                   // D and U of M
  int* parent;                    // by node: its parent on the path to the root, or -1
  bool uncoupled;                 // every tree is a single node, as for free bodies
  tbReal* scratch;                // TB_ROWS_DIM x the widest block
  bool symmetric;                 // whether the matrix in assembly, or last factored, is symmetric
  struct tbVelocityDense* dense;  // a small island by velocity_dense.h, or NULL
  const tbCompositeChains* chains;  // if sums along chains pay, else NULL; with chains:
  tbReal* motion;                   // S by index, 6 x size
  tbReal* load;      // by index: K, the sum of P^T W P of the blocks at this dof, 6 x 6
  tbReal* weighted;  // by index: K S and K^T S
} tbVelocity;

// The position of the only nonzero entry of a single row, or -1.
int tb_rows_only_entry(const tbRows* rows);

// Build the system of some blocks. `index` has an entry per dof of the forest, all -1; the entries
// of the dofs used here are occupied until tb_velocity_release. False: out of memory.
bool tb_velocity_build(tbVelocity* system, tbArena* arena, const tbForestInertia* inertia,
                       int nblock, const tbRows* block, int* index);
void tb_velocity_release(tbVelocity* system);

// The same in two steps, for systems that may be solved without factors: first the dofs only; the
// rest when it is needed, from the same arena. `chains` may be NULL.
bool tb_velocity_open_rows(tbVelocity* system, tbArena* arena, const tbForestInertia* inertia,
                           int nblock, const tbRows* block, const tbCompositeChains* chains,
                           int* index);
bool tb_velocity_analyze(tbVelocity* system);

// Operations of a factorisation; an estimate until the system is analysed.
double tb_velocity_work(const tbVelocity* system);

// out = J x of a block; x += J^T f.
void tb_velocity_mul(const tbVelocity* system, int block, const tbReal* x, tbReal* out);
void tb_velocity_apply_transposed(const tbVelocity* system, int block, const tbReal* f, tbReal* x);

// The same for all blocks, one after the other.
void tb_velocity_mul_all(const tbVelocity* system, const tbReal* x, tbReal* out);
void tb_velocity_apply_transposed_all(const tbVelocity* system, const tbReal* f, tbReal* x);

// The same for a list of blocks of three rows each: `out` and `f` have three entries per block.
void tb_velocity_mul_contacts(const tbVelocity* system, int count, const int* block,
                              const tbReal* x, tbReal* out);
void tb_velocity_push_contacts(const tbVelocity* system, int count, const int* block,
                               const tbReal* f, tbReal* x);

// x <- M^-1 x on the dofs of the system; out = M x (the Schur complement's M).
void tb_velocity_inverse(const tbVelocity* system, tbReal* x);
void tb_velocity_mass(const tbVelocity* system, const tbReal* x, tbReal* out);

// Start with M; add J^T W J of a block (W dim x dim, row-major; `W` must be symmetric if the system
// was started as symmetric); factor (false: singular); x <- (M + J^T W J)^-1 x.
void tb_velocity_start(tbVelocity* system, bool symmetric);
void tb_velocity_add(tbVelocity* system, int block, const tbReal* W);
bool tb_velocity_factor(tbVelocity* system);
void tb_velocity_solve(const tbVelocity* system, tbReal* x);

#endif
