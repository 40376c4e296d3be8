// Elementary functions from IEEE operations alone: the same bits on every machine, with every C
// library and in a browser, whereas those of libm differ in the last place.
//
// Errors stay below 0.8 units in the last place (sin, cos, exp, log, log2, pow), 1.5 (atan, atan2,
// hypot) or 2.3 (tan, asin, acos), and slightly above 1 if exp or pow is subnormal. Arguments
// without a value give NaN; infinities and signed zeros are those of C17, annex F. No function sets
// errno.
#ifndef TRIBO_BASE_ELEMENTARY_H_
#define TRIBO_BASE_ELEMENTARY_H_

#include "base/kernel.h"
#include "tribo/types.h"

TB_HOST_DEVICE tbReal tb_sin(tbReal x);
TB_HOST_DEVICE tbReal tb_cos(tbReal x);
TB_HOST_DEVICE tbReal tb_tan(tbReal x);
TB_HOST_DEVICE tbReal tb_asin(tbReal x);
TB_HOST_DEVICE tbReal tb_acos(tbReal x);
TB_HOST_DEVICE tbReal tb_atan(tbReal x);
TB_HOST_DEVICE tbReal tb_atan2(tbReal y, tbReal x);
TB_HOST_DEVICE tbReal tb_exp(tbReal x);
TB_HOST_DEVICE tbReal tb_log(tbReal x);
TB_HOST_DEVICE tbReal tb_log2(tbReal x);  // exact for powers of two
TB_HOST_DEVICE tbReal tb_pow(tbReal x, tbReal y);
TB_HOST_DEVICE tbReal tb_hypot(tbReal x, tbReal y);

#endif
