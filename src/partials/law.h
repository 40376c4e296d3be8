// One block of a rigid law, linearised: by_sigma dsigma + by_force df = E.
#ifndef TRIBO_PARTIALS_LAW_H_
#define TRIBO_PARTIALS_LAW_H_

#include "partials/derivatives.h"

typedef enum {
  TB_MODE_FREE,   // force constant: separated, or dry friction at its bound
  TB_MODE_STICK,  // velocity constant
  TB_MODE_SLIDE,  // contacts only
} tbLawMode;

typedef struct {
  int kind, dim, law;  // tbBlockType, rows, tbLaw
  const tbReal *force, *sigma;
  const tbReal* mu;  // contacts
  tbReal bound;      // dry friction, N
  tbReal stiffness;  // N s/m: scale between forces and velocities
  tbReal scale;      // N: largest force of the step
  tbReal tolerance, relaxation;
  int near_change;  // out: 1 where the mode is about to change
} tbLawBlock;

// Mode of a block: of two complementary quantities, the smaller one counts as zero.
tbLawMode tb_law_mode(tbLawBlock* block);

// Fill by_sigma, by_force and by_friction. RaiSim's sliding is completed by tb_law_raisim.
void tb_law_linearize(const tbLawBlock* block, tbLawMode mode, tbActiveRows* out);

// RaiSim's sliding contact with the normal column A of its block of G (+ R) and dA (dim x stride)
// by q; adds to E (dim x stride).
void tb_law_raisim(const tbLawBlock* block, const tbReal* A, const tbReal* dA, int stride,
                   tbActiveRows* out, tbReal* E);

// out[k] = d(u^T M u / 2)/dq_k. `scratch`: 12 nbody.
void tb_kinetic_gradient(const tbModel* m, const tbData* d, const tbReal* u, tbReal* out,
                         tbReal* scratch);

#endif
