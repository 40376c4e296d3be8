// Parts of a large island, each a problem of its own with the impulses of all other contacts held
// (active_parts.c), and sweeps over what is unsettled (active_sweep.c): what repairs here and there
// (active_regions.c) are made of.
#ifndef TRIBO_SOLVERS_ACTIVE_SET_SUBDOMAINS_H_
#define TRIBO_SOLVERS_ACTIVE_SET_SUBDOMAINS_H_

#include "solvers/active_set/state.h"

enum { TB_PART_DOFS = 600 };  // most of a part without its rings

typedef struct tbSubdomain tbSubdomain;

// Trees (bodies, robots), the blocks that join them, and what is known of each.
struct tbSubdomains {
  int ntree;
  int *block_start, *block_tree;  // trees of each block
  int *tree_start, *tree_block;   // blocks of each tree
  int* weight;                    // dofs of each tree
  int *seen, *used;               // by tree, by block: the last part that looked at it
  int stamp;                      // what that part has left there
  int *rough, *core;              // by tree: the last turn in which it was unsettled, in a core
  int* hard;                      // by tree: how often a region around it was not solved
  tbReal* miss;                   // by block: how far off it is
  int *set, *member;              // trees and blocks of the part being made
  int* place;                     // by dof, all -1
};

// What of the whole island a part is judged by.
typedef struct {
  tbReal load, speed;  // its largest impulse and velocity
  tbReal target;       // relative residual
  tbReal better;       // times the residual before: what a part that does not converge must reach
  int iterations;      // most of them
} tbPartScale;

// The trees of an island, found once. NULL: out of memory.
tbSubdomains* tb_subdomains_open(tbActiveState* s, tbArena* arena);

// The scale of the present impulses; a residual over it.
tbPartScale tb_subdomain_scale(const tbActiveState* s, tbReal target);
tbReal tb_subdomain_residual(const tbResidual* residual, const tbPartScale* scale);

// Sweeps begin at the present impulses; impulses and velocities are up to date again when they end.
void tb_active_sweeps_begin(tbActiveState* s);
void tb_active_sweeps_end(tbActiveState* s);
// The largest impulse meanwhile.
tbReal tb_active_sweeps_load(const tbActiveState* s);

// One sweep of Gauss-Seidel (active_sweep.c) over the blocks that do not hold in a scale and whose
// velocity may have changed since they were last looked at: how many did not hold. All blocks are
// looked at again after tb_active_forget, as a smaller scale asks for.
int tb_active_refine(tbActiveState* s, const tbPartScale* scale);
void tb_active_forget(tbActiveState* s);
// The relative residual of a block in a scale.
tbReal tb_active_fixed_point_residual(const tbActiveState* s, int block, const tbPartScale* scale);

// Add rings of neighbours around the first n trees in `set`, which carry the stamp: the number of
// all.
int tb_subdomain_overlap(tbSubdomains* g, int n, int rings);

// The part made of the first `trees` in `set`, which carry the stamp; its dofs are taken until it
// is solved. NULL: out of memory.
tbSubdomain* tb_subdomain_make(const tbActiveState* s, tbArena* arena, tbSubdomains* g, int trees);

// Solve a part where it is not good enough, and give the island its impulses. Sets *solved, and
// adds the operations of its factorisations to *work. False: out of memory.
bool tb_subdomain_solve(tbActiveState* s, tbArena* arena, tbSubdomain* part,
                        const tbPartScale* scale, bool* solved, double* work);

// sigma from whitened velocities; operations as factorisations of the whole.
void tb_subdomains_velocity(tbActiveState* s);
void tb_subdomains_count(const tbActiveState* s, double work, tbSolveInfo* info);

#endif
