// MuJoCo's impedance r(|violation|) in (0, 1), from solimp (CF eq. 13).
#ifndef TRIBO_LAWS_IMPEDANCE_H_
#define TRIBO_LAWS_IMPEDANCE_H_

#include "tribo/model.h"

// Clamp solimp to its valid range.
void tb_impedance_check(tbReal imp[TB_NIMP]);

// The impedance rises from imp[0] to imp[1] over the width imp[2], by a power sigmoid with midpoint
// imp[3] and power imp[4]. `imp` must have passed tb_impedance_check.
tbReal tb_impedance(const tbReal imp[TB_NIMP], tbReal violation);

// Its derivative by the violation.
tbReal tb_impedance_slope(const tbReal imp[TB_NIMP], tbReal violation);

#endif
