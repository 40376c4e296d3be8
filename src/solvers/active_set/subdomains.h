// Subdomains of a large island, each solved with the impulses of all other contacts fixed
// (subdomains.c), and sweeps over unconverged blocks (gauss_seidel/velocity_sweep.c): the two
// components of domain decomposition (subdomain_layers.c).
#ifndef TRIBO_SOLVERS_ACTIVE_SET_SUBDOMAINS_H_
#define TRIBO_SOLVERS_ACTIVE_SET_SUBDOMAINS_H_

#include "solvers/active_set/state.h"

enum { TB_SUBDOMAIN_DOFS = 600 };  // most of a subdomain without its overlap

typedef struct tbSubdomain tbSubdomain;

// Trees (bodies, robots), the blocks that connect them, and marks on both.
struct tbSubdomains {
  int ntree;
  int *block_start, *block_tree;  // trees of each block
  int *tree_start, *tree_block;   // blocks of each tree
  int* weight;                    // dofs of each tree
  int *seen, *used;               // by tree, by block: the last subdomain that visited it
  int stamp;                      // mark of the present subdomain
  int *unconverged, *seed;        // by tree: the last turn in which it was unconverged, in a seed
  int* failures;                  // by tree: how often a subdomain seeded there failed
  tbReal* residual;               // by block: its fixed-point residual
  int *set, *member;              // trees and blocks of the subdomain under construction
  int* index;                     // by dof, all -1
};

// The scale of the whole island, by which the residual of a subdomain is measured.
typedef struct {
  tbReal load, speed;  // the island's largest impulse and velocity
  tbReal target;       // relative residual
  tbReal better;   // a subdomain that does not converge must get below this times its old residual
  int iterations;  // iteration limit
} tbSubdomainScale;

// The tree graph of an island, built once. NULL: out of memory.
tbSubdomains* tb_subdomains_open(tbActiveState* s, tbArena* arena);

// The scale of the present impulses; a residual relative to that scale.
tbSubdomainScale tb_subdomain_scale(const tbActiveState* s, tbReal target);
tbReal tb_subdomain_residual(const tbResidual* residual, const tbSubdomainScale* scale);

// Sweeps start from the present impulses; impulses and velocities are up to date again at their
// end.
void tb_active_sweeps_begin(tbActiveState* s);
void tb_active_sweeps_end(tbActiveState* s);
// The largest impulse during the sweeps.
tbReal tb_active_sweeps_load(const tbActiveState* s);

// One Gauss-Seidel sweep (gauss_seidel/velocity_sweep.c) over the blocks whose residual in `scale`
// is too large and whose velocity may have changed since their last visit; returns how many were
// too large. After tb_active_forget all blocks are visited again, which a smaller scale requires.
int tb_active_refine(tbActiveState* s, const tbSubdomainScale* scale);
void tb_active_forget(tbActiveState* s);
// The relative residual of a block in `scale`.
tbReal tb_active_fixed_point_residual(const tbActiveState* s, int block,
                                      const tbSubdomainScale* scale);

// Add `layers` layers of neighbours to the first n trees in `set`, which carry the stamp; returns
// the new number of trees.
int tb_subdomain_overlap(tbSubdomains* g, int n, int layers);

// The subdomain of the first `trees` in `set`, which carry the stamp; it occupies its dofs until it
// is solved. NULL: out of memory.
tbSubdomain* tb_subdomain_make(const tbActiveState* s, tbArena* arena, tbSubdomains* g, int trees);

// Solve a subdomain unless it has converged, and copy its impulses to the island. Sets *solved, and
// adds the operations of its factorisations to *work. False: out of memory.
bool tb_subdomain_solve(tbActiveState* s, tbArena* arena, tbSubdomain* subdomain,
                        const tbSubdomainScale* scale, bool* solved, double* work);

// sigma from whitened velocities; `work` counted as factorisations of the whole island.
void tb_subdomains_velocity(tbActiveState* s);
void tb_subdomains_count(const tbActiveState* s, double work, tbSolveInfo* info);

#endif
