// Kinks of the gap term of contacts and limits (rigid laws).
#ifndef TRIBO_PARTIALS_GAP_H_
#define TRIBO_PARTIALS_GAP_H_

#include <stdbool.h>

#include "partials/derivatives.h"

// Whether the gap term of a contact or limit is not linear within TB_KINK_REACH of its gap; between
// zero and overlap_allowed, where no correction acts, within a quarter of that interval at most.
bool tb_gap_has_kink(const tbModel* model, const tbData* data, const tbConstraint* c);

// The smallest value of the gap term there.
tbReal tb_gap_least(const tbModel* model, const tbData* data, const tbConstraint* c);

// Report that the step is not differentiable because of this constraint's gap.
void tb_gap_report(tbDerivatives* x, const tbData* d, const tbConstraint* c);

#endif
