// The certificate of a step: that of its worst island.
#ifndef TRIBO_LAWS_CERTIFICATE_H_
#define TRIBO_LAWS_CERTIFICATE_H_

#include <stdbool.h>

#include "assemble/assemble.h"

void tb_certificate_add(tbSolveInfo* total, const tbSolveInfo* one);

// Residual of an island's lambda, whose velocity is sigma, under the exact law. Velocities up to
// `noise` are none: in free fall joints move by rounding alone, and that is no error.
void tb_certificate_exact(const tbIsland* island, tbReal noise, tbReal* sigma, tbSolveInfo* info);

// Until somebody has judged a step, its residuals are not numbers.
void tb_certificate_unknown(tbSolveInfo* info);
void tb_certificate_unjudged(tbSolveInfo* info);  // of the exact law only

// The residual of the exact law of an answer that no solver of a problem gave: impulses in
// islands->lambda that led from v_free to v_next. Out of memory, it is unjudged.
void tb_certificate_answer(const tbModel* model, tbData* data, const tbConstraints* constraints,
                           const tbIslands* islands, const tbReal* v_free, const tbReal* v_next,
                           tbSolveInfo* info);

// The same, where it is worse than what info has.
tbResult tb_certificate_judge(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              const tbIslands* islands, const tbReal* v_free, const tbReal* v_next,
                              tbSolveInfo* info);

// Under a law that leaves rows of contacts out (torsion and rolling under raisim) impulses are
// judged by all of them, which bear nothing. `islands` are those of the law, led to v_next. Where
// nobody looks at this step (`unseen`) it stays unjudged instead.
tbResult tb_certificate_whole(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, const tbIslands* islands,
                              const tbReal* v_free, const tbReal* v_next, tbSolveInfo* info,
                              bool unseen);

// The constraint of an island whose residual under the law is largest; sigma is its velocity.
const tbConstraint* tb_certificate_worst(const tbConstraints* constraints, const tbIsland* island,
                                         tbLaw law, const tbReal* sigma);

// Say that the step did not converge because of this constraint.
void tb_certificate_blame(const tbModel* model, tbData* data, const tbConstraint* constraint);

#endif
