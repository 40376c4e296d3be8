#include "model/transmission_kinds.h"

#include "model/joint_kinds.h"

const tbTransmissionKind tb_transmission_kinds[TB_NTRNTYPES] = {
#define X(TYPE, word, FIRST, SECOND, second, ARM, function) \
  [TB_TRN_##TYPE] = {word, second, TB_OBJ_##FIRST, TB_SECOND_##SECOND, TB_ARM_##ARM},
    TB_TRANSMISSIONS(X)
#undef X
};

#define X(TYPE, word, FIRST, SECOND, second, ARM, function) " " word
const char tb_transmission_words[] = TB_TRANSMISSIONS(X);
#undef X

bool tb_transmission_is_constant(const tbModel* m, int actuator) {
  int joint = tb_geared_joint(m, actuator), t = tb_geared_tendon(m, actuator);
  if (t >= 0) return m->tendon_num[t] <= 0 || m->wrap_type[m->tendon_adr[t]] == TB_WRAP_JOINT;
  return joint >= 0 && tb_joint_is_scalar(m->jnt_type[joint]);
}
