// The matrix M + J^T W J of Newton's method in velocity space, for one island: M of a kinematic
// forest by its factor L^T D L, J by blocks of rows on ancestor-closed supports, W block diagonal.
//
// Dofs outside of the supports are eliminated already: for an ancestor-closed set S the Schur
// complement of M is L_SS^T D_S L_SS. The dofs that remain are grouped into nodes (pieces of chains
// without a branch), ordered so that leaves go first and trees with few neighbours before hubs, and
// factored by linalg/ldu.
#ifndef TRIBO_OPERATOR_VELOCITY_H_
#define TRIBO_OPERATOR_VELOCITY_H_

#include "linalg/ldu.h"
#include "linalg/ltdl.h"

enum { TB_ROWS_DIM = 10 };  // most rows of a block: a friction pyramid in six dimensions

// Rows of one block as its owner has them.
typedef struct {
  int dim, nnz;
  const int* col;  // dofs, ascending, closed under ancestors; of a single row for dense factors the
                   // last of them may stand for all
  const tbReal* J;  // dim x nnz
} tbRows;

// Dofs first ... end - 1 of one tree.
typedef struct {
  int first, end;
} tbRange;

// The inertia of a kinematic forest.
typedef struct {
  tbForest forest;
  const tbReal* M;             // where it is needed: dense factors and impulse space
  const tbReal *LD, *inverse;  // its factor L^T D L, and 1/D
  int ntree;                   // the trees that rows move, where whole ones are: likewise
  const tbRange* tree;
} tbForestInertia;

// Blocks that see a chain of joints through the twist of its last body alone, as contacts with the
// world do: J = P S, with S the motions of that body's dofs. J^T W J of all of them is then summed
// along the chains as inertia is (velocity_chains.c).
typedef struct {
  const tbReal* motion;    // by dof: six numbers, S
  const int* last;         // by block: the last dof that moves its body; -1: none of these
  const tbReal* const* P;  // by block: dim x 6
} tbCompositeChains;

// Rows of a block by nodes: each node that moves it, in order of elimination, with all its dofs.
typedef struct {
  int dim, width, nnode;
  int bodies;  // of a contact of three rows on one free body or two: how many; 0: anything else
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
  int* dof;    // them, ascending
  int* place;  // by dof: its place in a vector of this system
  int nblock;
  const tbRows* block;  // as given
  tbNodeRows* rows;     // NULL until the system is finished; so is all below
  tbLdu ldu;
  tbReal* base;                     // D and U of M
  int* up;                          // by node: the one before it on the way to the root, or -1
  bool apart;                       // every tree is a single node, as free bodies are
  tbReal* scratch;                  // TB_ROWS_DIM x the widest block
  bool symmetric;                   // of what is being assembled or was factored
  struct tbVelocityDense* dense;    // a small island by velocity_dense.h, or NULL
  const tbCompositeChains* chains;  // where sums along them pay, or NULL; with them:
  tbReal* motion;                   // S by place, 6 x size
  tbReal* load;                     // by place: K, P^T W P of the blocks that act there, 6 x 6
  tbReal* weighed;                  // by place: K S and K^T S
} tbVelocity;

// The position of the only entry of a single row that is not zero, or -1.
int tb_rows_only_entry(const tbRows* rows);

// Build the system of some blocks. `place` has an entry per dof of the forest, all -1; entries of
// the dofs used here are taken until tb_velocity_release. False: out of memory.
bool tb_velocity_build(tbVelocity* system, tbArena* arena, const tbForestInertia* inertia,
                       int nblock, const tbRows* block, int* place);
void tb_velocity_release(tbVelocity* system);

// The same in two steps, for what may be solved without factors: only the dofs at first, then, once
// it is needed, the rest, from the same arena. `chains` may be NULL.
bool tb_velocity_open_rows(tbVelocity* system, tbArena* arena, const tbForestInertia* inertia,
                           int nblock, const tbRows* block, const tbCompositeChains* chains,
                           int* place);
bool tb_velocity_analyze(tbVelocity* system);

// Operations of a factor; an estimate while the system is not finished.
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

// Start with M; add J^T W J of a block (W dim x dim, row-major; `W` must be symmetric where the
// system was started so); factor (false: singular); x <- (M + J^T W J)^-1 x.
void tb_velocity_start(tbVelocity* system, bool symmetric);
void tb_velocity_add(tbVelocity* system, int block, const tbReal* W);
bool tb_velocity_factor(tbVelocity* system);
void tb_velocity_solve(const tbVelocity* system, tbReal* x);

#endif
