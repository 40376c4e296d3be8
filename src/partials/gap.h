// Where the gap term of contacts and limits bends (rigid laws).
#ifndef TRIBO_PARTIALS_GAP_H_
#define TRIBO_PARTIALS_GAP_H_

#include <stdbool.h>

#include "partials/derivatives.h"

// Whether the gap term of a contact or limit is not linear within TB_KINK_REACH of its gap; between
// touch and overlap_allowed, where nothing is corrected, within a quarter of that zone at most.
bool tb_gap_bends(const tbModel* model, const tbData* data, const tbConstraint* c);

// Its least value there.
tbReal tb_gap_least(const tbModel* model, const tbData* data, const tbConstraint* c);

// The step is not differentiable because of that constraint's gap.
void tb_gap_report(tbDerivatives* x, const tbData* d, const tbConstraint* c);

#endif
