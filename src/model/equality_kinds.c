#include "model/equality_kinds.h"

const tbEqualityKind tb_equality_kinds[TB_NEQTYPES] = {
#define X(TYPE, word, ENDS, function) [TB_EQ_##TYPE] = {word, TB_ENDS_##ENDS},
    TB_EQUALITIES(X)
#undef X
};
