// The certificate of a step, which is that of its worst island.
#ifndef TRIBO_LAWS_CERTIFICATE_H_
#define TRIBO_LAWS_CERTIFICATE_H_

#include <stdbool.h>

#include "assemble/assemble.h"

void tb_certificate_add(tbSolveInfo* total, const tbSolveInfo* one);

// Residual of an island's lambda under the exact law; sigma is the velocity of its rows. Velocities
// up to `noise` count as zero: in free fall joints move by rounding errors alone.
void tb_certificate_exact(const tbIsland* island, tbReal noise, tbReal* sigma, tbSolveInfo* info);

// Set the residuals to NaN until a certificate has been computed.
void tb_certificate_unknown(tbSolveInfo* info);
void tb_certificate_not_evaluated(tbSolveInfo* info);  // the residual of the exact law only

// Evaluate the exact law for an answer that did not come from a problem solver: impulses in
// islands->lambda that changed v_free to v_next. The residual is NaN when out of memory.
void tb_certificate_answer(const tbModel* model, tbData* data, const tbConstraints* constraints,
                           const tbIslands* islands, const tbReal* v_free, const tbReal* v_next,
                           tbSolveInfo* info);

// The same, but keep the larger of this residual and the one in info.
tbResult tb_certificate_evaluate(const tbModel* model, tbData* data,
                                 const tbConstraints* constraints, const tbIslands* islands,
                                 const tbReal* v_free, const tbReal* v_next, tbSolveInfo* info);

// Under a law that drops rows of contacts (torsion and rolling under raisim), the certificate is
// that of all rows, with zero impulses in the dropped ones. `islands` are those of the law and led
// to v_next. Where the step is not observed (`state_only`), the residual is NaN instead.
tbResult tb_certificate_whole(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, const tbIslands* islands,
                              const tbReal* v_free, const tbReal* v_next, tbSolveInfo* info,
                              bool state_only);

// The constraint of an island whose residual under the law is largest; sigma is the velocity of the
// island's rows.
const tbConstraint* tb_certificate_worst(const tbConstraints* constraints, const tbIsland* island,
                                         tbLaw law, const tbReal* sigma);

// Record this constraint as the reason why the step did not converge.
void tb_certificate_blame(const tbModel* model, tbData* data, const tbConstraint* constraint);

#endif
