// Contacts whose impulses joints take up.
#ifndef TRIBO_STEP_JAM_H_
#define TRIBO_STEP_JAM_H_

#include "step/rigid_fast.h"

// Soften contacts of solved islands that jam; such islands are unsolved then, from no impulses on,
// and *any is set.
tbResult tb_soften_jams(tbRigidStep* step, bool* any);

#endif
