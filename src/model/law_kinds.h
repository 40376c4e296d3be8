// Every contact law of a step, once:
//
//   X(LAW, "word", family, TRAITS)
//
// LAW     TB_LAW_LAW: the value of tbOption.law
// "word"  its name in options, files and messages
// family  the folder src/laws/<family>, whose law.c defines tb_law_<family> (laws/law.h)
// TRAITS  what the layers below the laws ask of it, see below
//
// A law of a step is a line here, its enumerator in tribo/step.h and its folder.
#ifndef TRIBO_MODEL_LAW_KINDS_H_
#define TRIBO_MODEL_LAW_KINDS_H_

#include <stdbool.h>

#include "base/kernel.h"
#include "tribo/model.h"
#include "tribo/step.h"

#define TB_STEP_LAWS(X)                                          \
  X(NCP, "ncp", rigid, TB_TRAIT_RIGID)                           \
  X(CCP, "ccp", rigid, TB_TRAIT_RIGID)                           \
  X(LCP, "lcp", rigid, TB_TRAIT_RIGID | TB_TRAIT_BOX)            \
  X(RAISIM, "raisim", rigid, TB_TRAIT_RIGID | TB_TRAIT_POINT)    \
  X(SOFT, "soft", soft, TB_TRAIT_COMPLIANT | TB_TRAIT_UNBOUNDED) \
  X(COMFREE, "comfree", comfree, 0)                              \
  X(VISCOELASTIC, "viscoelastic", viscoelastic, TB_TRAIT_COMPLIANT | TB_TRAIT_ANCHORS)

enum {
  // Impulses solve a contact problem (tbLaw) for the velocity at the end of the step.
  TB_TRAIT_RIGID = 1,
  // Constraints are springs and dampers: forces follow from a state, so that they can be evaluated
  // at several states within a step, and smooth accelerations are those of M alone. The impulses of
  // the other laws follow from the velocity at the end of a step.
  TB_TRAIT_COMPLIANT = 2,
  // Springs have anchors that are remembered between steps, and integrators of their own (EXP).
  TB_TRAIT_ANCHORS = 4,
  // Drag, friction coefficients and Coriolis forces enter as MuJoCo has them, without the bounds
  // that keep long steps stable.
  TB_TRAIT_UNBOUNDED = 8,
  // A contact is a point: it has no torsional and rolling friction.
  TB_TRAIT_POINT = 16,
  // Friction is limited along each tangent: a pyramid instead of a cone.
  TB_TRAIT_BOX = 32,
};

TB_ANY_INLINE bool tb_law_has(const tbOption* option, int trait) {
#define X(LAW, word, family, traits) \
  case TB_LAW_##LAW: return ((traits)&trait) != 0;
  switch (option->law) { TB_STEP_LAWS(X) }
#undef X
  return false;
}

#endif
